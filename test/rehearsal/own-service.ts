/**
 * The service of a rehearsal in this process, for tests of all that a process of its own has no part in. It is not
 * metered.
 */
import { pino } from 'pino';
import { operatorAt, startClock, type RehearsalClock, type RehearsedService } from '#rehearsal/server/service.ts';
import { readConfig } from '#service/config.ts';
import { startService } from '#service/service.ts';
import { makeFolder, removeFolder } from '../fixtures/folders.ts';
import { environmentOf } from '../fixtures/test-service.ts';

export async function startHere(setting: RehearsalClock): Promise<RehearsedService> {
  const clock = startClock(setting);
  const folder = makeFolder();
  const reading = readConfig(environmentOf(folder));
  if ('problems' in reading) throw new Error(reading.problems.join('\n'));
  const service = await startService(reading.config, {
    log: pino({ level: 'silent' }),
    engine: { clockSource: clock.source },
  });
  return {
    url: service.publicUrl,
    operate: operatorAt(service.adminUrl, service.adminToken),
    beginMeter: async () => clock.begin(),
    readMeter: async () => null,
    async close() {
      await service.stop();
      removeFolder(folder);
    },
  };
}
