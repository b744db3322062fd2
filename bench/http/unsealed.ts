/**
 * The service as it is without sealing: personal data stands open in facts, and no key is made. It shows what sealing
 * costs.
 */
import { serveWith } from './serve-with.ts';

await serveWith({ engine: { isSealing: false } });
