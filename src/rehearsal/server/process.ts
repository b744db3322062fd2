/**
 * The process of an own service: this version's service, whose clock shows the time of the trace.
 *
 * 1. Its clock stands still until the rehearsal begins, and then goes `speed` times as fast as the machine's. So every
 *    moment and every window of the definition keeps its meaning, whatever the speed: holds run out and the waiting
 *    room advances as they did.
 * 2. Bounds that protect the process (how long a claim may wait, how long a request may take) are in real time.
 */
import { keepCompiledModules } from '#service/v8.ts';
import type { RehearsalClock } from './service.ts';

keepCompiledModules();
const [{ readConfig }, { startService }, { CLOCK_SETTING, startClock }] = await Promise.all([
  import('#service/config.ts'),
  import('#service/service.ts'),
  import('./service.ts'),
]);
await run(JSON.parse(process.env[CLOCK_SETTING]!) as RehearsalClock);

async function run(setting: RehearsalClock): Promise<void> {
  const clock = startClock(setting);
  process.on('message', (message) => {
    if (message === 'begin') clock.begin();
  });
  const reading = readConfig(process.env);
  if ('problems' in reading) throw new Error(reading.problems.join('\n'));
  const service = await startService(reading.config, {
    engine: { clockSource: clock.source },
    onFatal: () => process.exit(1),
  });
  const stop = (): void => void service.stop().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  // Whoever started it decides when it ends; without them it has nothing to do.
  process.on('SIGINT', () => {});
  process.once('disconnect', stop);
  service.log.info({ public: service.publicUrl, admin: service.adminUrl }, 'ready');
}
