/**
 * The service as it is without sealing: personal data stands open in facts, and no key is made. It shows what sealing
 * costs.
 */
import { readConfig } from '#service/config.ts';
import { startService } from '#service/service.ts';

const reading = readConfig(process.env);
if ('problems' in reading) throw new Error(reading.problems.join('\n'));
const service = await startService(reading.config, { engine: { isSealing: false } });
process.once('SIGTERM', () => void service.stop());
service.log.info({ public: service.publicUrl, admin: service.adminUrl }, 'ready');
