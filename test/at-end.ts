/**
 * What the test files of one process share until all of them have run. Imported by `groups.ts` too, because a hook
 * belongs to the suite in which its module is loaded first.
 */
import { after } from 'node:test';

/** False in a program that uses what tests do: there nobody runs the hook. */
export const isOfTests = process.env['NODE_TEST_CONTEXT'] !== undefined;

const closings: (() => Promise<unknown>)[] = [];
if (isOfTests) after(() => Promise.all(closings.map((close) => close())));

export function atEnd(close: () => Promise<unknown>): void {
  closings.push(close);
}
