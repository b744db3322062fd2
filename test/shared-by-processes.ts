/**
 * Preloaded by the runner, for all processes of the suite: what they share.
 *
 * 1. Some hundred processes read the same modules, so they share what was compiled once. Measured on two cores, that
 *    saves a quarter of the suite's CPU.
 * 2. Their folders are in memory where the system has room for that: the suite waits for some ten thousand writes to a
 *    disk, each for milliseconds. Nothing here takes the power away from a machine: `kill -9` loses no file either way.
 * 3. The programs and threads that tests start are built before the first group needs them: several would at once.
 * 4. The product is loaded as a service loads it, by Node alone: tsx gives each function its name whenever it is made,
 *    which takes a thirtieth of the processor time of a group.
 */
import { readFileSync, statfsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));

const MEMORY = '/dev/shm';
/** More than all folders of a run have at once. */
const BYTES_MIN = 4 * 1024 ** 3;

if (hasRoom()) process.env['TMPDIR'] ??= MEMORY;

const root = new URL('../', import.meta.url).href;
const product = ['machines', 'persistence', 'src'].map((folder) => `${root}${folder}/`);

registerHooks({
  load(url, context, nextLoad) {
    const isOfProduct = url.endsWith('.ts') && product.some((folder) => url.startsWith(folder));
    if (!isOfProduct) return nextLoad(url, context);
    return { format: 'module-typescript', source: readFileSync(fileURLToPath(url)), shortCircuit: true };
  },
});

const isRunner = process.env['NODE_TEST_CONTEXT'] === undefined;
if (isRunner) await import('./fixtures/program.ts').then(({ builtProgram }) => builtProgram());

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= BYTES_MIN;
  } catch {
    return false;
  }
}
