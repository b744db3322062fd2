/**
 * The tests of `test/api` once more, with two threads that answer buyers beside the engine's: what buyers and operators
 * are promised does not depend on it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deep } from '../depth.ts';
import { apiFiles, passApiTests, shareOut } from '../fixtures/api-suite.ts';

/** Files that are about something else, and why; single tests say so with `ofOneThread`. */
const ofOneThread: Readonly<Record<string, string>> = {
  'heap.test.ts': 'the heaps of the threads of one process are looked at',
  'walkthrough.test.ts': 'the README starts one thread',
};

/** Files about what the main thread does alone, and where threads are tested for it; run from TEST_DEPTH=2 on. */
const ofMainThread: Readonly<Record<string, string>> = {
  'crash.test.ts': 'the journal; linearizability/history.test.ts kills a process with threads',
  'erasure.test.ts': 'keys, which the main thread has; checkout.test.ts reads through threads what they seal',
  'notifications.test.ts': 'messages sent from the journal',
  'operators-secrets.test.ts': 'the operators’ listener',
  'operators-views.test.ts': 'the operators’ listener',
  'serving.test.ts': 'settings, secrets and exit codes; service/http-threads.test.ts shares a port',
  'subject.test.ts': 'the operators’ listener',
};

const leftOut: Readonly<Record<string, string>> = deep(1) > 1 ? ofOneThread : { ...ofOneThread, ...ofMainThread };

describe('Two threads beside the engine', { concurrency: true }, () => {
  for (const files of shareOut(apiFiles.filter((file) => leftOut[file] === undefined))) {
    it(`pass ${files.join(', ')}`, () => passApiTests(files, { TEST_THREADS: 'on' }));
  }

  it('leave out files that exist', () => {
    for (const file of Object.keys({ ...ofOneThread, ...ofMainThread })) assert.ok(apiFiles.includes(file), file);
  });
});
