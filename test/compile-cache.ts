/**
 * Preloaded by the runner: the suite starts some hundred processes that all read the same modules, so they share what
 * was compiled once. Measured on two cores, that saves a quarter of the suite's CPU.
 */
import { fileURLToPath } from 'node:url';

process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));
