/** Serves as `src/main.ts` does, with options that no setting asks for: what a bench compares the service with. */
import { keepMemory, makeObjectsYoung } from '#service/v8.ts';
import { readConfig } from '#service/config.ts';
import { startService, type ServiceOptions } from '#service/service.ts';

export async function serveWith(options: ServiceOptions): Promise<void> {
  const reading = readConfig(process.env);
  if ('problems' in reading) throw new Error(reading.problems.join('\n'));
  keepMemory();
  if (options.threads?.evenOne === true) makeObjectsYoung();
  const service = await startService(reading.config, options);
  process.once('SIGTERM', () => void service.stop());
  service.log.info({ public: service.publicUrl, admin: service.adminUrl }, 'ready');
}
