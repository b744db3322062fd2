/**
 * The service with one thread that answers requests beside that of the engine, which no setting asks for:
 * `HTTP_THREADS=1` is one thread for all. It shows what handing over costs before threads share anything.
 */
import { keepMemory, makeObjectsYoung } from '#service/collector.ts';
import { readConfig } from '#service/config.ts';
import { startService } from '#service/service.ts';

const reading = readConfig(process.env);
if ('problems' in reading) throw new Error(reading.problems.join('\n'));
keepMemory();
makeObjectsYoung();
const service = await startService(reading.config, { threads: { evenOne: true } });
process.once('SIGTERM', () => void service.stop());
service.log.info({ public: service.publicUrl, admin: service.adminUrl }, 'ready');
