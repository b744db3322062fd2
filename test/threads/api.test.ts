/**
 * The tests of `test/api` once more, with two threads that answer buyers beside the engine's: what buyers and operators
 * are promised does not depend on it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiFiles, passApiTests, shareOut } from '../fixtures/api-suite.ts';

/** Files that are about something else, and why; single tests say so with `ofOneThread`. */
const ofOneThread: Readonly<Record<string, string>> = {
  'heap.test.ts': 'the heaps of the threads of one process are looked at',
  'walkthrough.test.ts': 'the README starts one thread',
};

describe('Two threads beside the engine', { concurrency: true }, () => {
  for (const files of shareOut(apiFiles.filter((file) => ofOneThread[file] === undefined))) {
    it(`pass ${files.join(', ')}`, () => passApiTests(files, { TEST_THREADS: 'on' }));
  }

  it('leave out files that exist', () => {
    for (const file of Object.keys(ofOneThread)) assert.ok(apiFiles.includes(file), file);
  });
});
