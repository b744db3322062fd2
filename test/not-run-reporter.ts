/**
 * A reporter for the end of a run: one line that names the tests that were not run and what the machine lacks for them.
 *
 * Runs beside the runner's own reporter, which counts skipped tests but does not say at the end why they were skipped.
 */
import type { TestEvent } from 'node:test/reporters';

/** Yields nothing when every test was run. */
export default async function* reportNotRun(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const namesByReason = new Map<string, string[]>();
  for await (const { type, data } of events) {
    if (type !== 'test:pass' || data.skip === undefined || data.skip === false) continue;
    const reason = typeof data.skip === 'string' ? data.skip : 'no reason given';
    const names = namesByReason.get(reason) ?? [];
    namesByReason.set(reason, [...names, data.name]);
  }
  if (namesByReason.size === 0) return;
  const parts = Array.from(namesByReason, ([reason, names]) => `${names.join(', ')} (${reason})`);
  yield `Not run here: ${parts.join('; ')}\n`;
}
