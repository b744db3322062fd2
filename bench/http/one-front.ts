/**
 * The service with one thread that answers requests beside that of the engine: `HTTP_THREADS=1` is one thread for all.
 * It shows what handing over costs before threads share anything.
 */
import { serveWith } from './serve-with.ts';

await serveWith({ threads: { evenOne: true } });
