/** Seeds of a simulation in the suite. */
import assert from 'node:assert/strict';

interface Outcome {
  readonly failure: Error | null;
  /** How often each case happened. */
  readonly seen: ReadonlyMap<string, number>;
}

/** How many times as many seeds are played at most: after every change of what is drawn, rare cases are elsewhere. */
const LONGER_AT_MOST = 10;

/**
 * Plays seeds from 1 on, and goes on until every case that must be seen has happened: a simulation proves nothing about
 * a case that it never reaches. `repeat` is the command that plays a seed again.
 */
export async function playSeeds(
  seeds: number,
  mustBeSeen: readonly string[],
  play: (seed: number) => Promise<Outcome>,
  repeat: (seed: number) => string,
): Promise<void> {
  const missing = new Set(mustBeSeen);
  for (let seed = 1; seed <= seeds || (seed <= LONGER_AT_MOST * seeds && missing.size > 0); seed += 1) {
    const { failure, seen } = await play(seed);
    if (failure !== null) assert.fail(`${failure.stack}\nrepeat it: ${repeat(seed)}`);
    for (const [what, count] of seen) if (count > 0) missing.delete(what);
  }
  assert.deepEqual([...missing], [], 'these cases never happened');
}
