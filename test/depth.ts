/**
 * How long the tests that could go on for hours go on: simulated sales, kill -9, histories, fuzzing.
 *
 * `npm test` and `.ci/run` run them briefly; `TEST_DEPTH=100 npm run test:only -- FILE` searches for what nobody has
 * seen yet, best with `FC_SEED=random`. From 2 on `.ci/run` runs all of `test/api` with threads and
 * in a cluster, too.
 */
const DEPTH = Number(process.env['TEST_DEPTH'] ?? 1);
if (!(DEPTH > 0)) throw new Error(`TEST_DEPTH is ${process.env['TEST_DEPTH']}: it must be a number above 0`);

/** How many runs a test makes that makes so many in a short suite; at least one. */
export function deep(runs: number): number {
  return Math.max(1, Math.round(runs * DEPTH));
}
