import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createSnapshotter,
  type SnapshotJob,
  type SnapshotOutcome,
  type SnapshotRequest,
} from '#actors/snapshotter.ts';

/** A thread that the test controls: jobs stay with it until the test finishes them, in any order. */
function openThreads(baseSeq = () => 0) {
  const threads: { readonly jobs: SnapshotRequest[]; fail(reason: string): void; isEnded: boolean }[] = [];
  let finish: (request: SnapshotRequest, outcome?: Partial<SnapshotOutcome>) => void = () => {};
  const snapshotter = createSnapshotter({
    baseSeq,
    startThread: ({ reply, failed }) => {
      const thread = { jobs: [] as SnapshotRequest[], fail: failed, isEnded: false };
      threads.push(thread);
      finish = ({ jobId, job }, outcome = {}) =>
        reply({ jobId, outcome: { eventId: job.eventId, seq: job.seq, fingerprint: 'f', trouble: null, ...outcome } });
      return {
        post: (request) => thread.jobs.push(request),
        end: async () => {
          thread.isEnded = true;
        },
      };
    },
  });
  return {
    snapshotter,
    threads,
    finish: (request: SnapshotRequest, outcome?: Partial<SnapshotOutcome>) => finish(request, outcome),
  };
}

const jobOf = (n: number): SnapshotJob => ({ eventId: `evt_${n}`, eventNumber: n, seq: n * 10, at: 0, about: null });

describe('Snapshots that are requested at once', () => {
  it('are taken one at a time, in order, and each outcome reaches its own request', async () => {
    let base = 0;
    const { snapshotter, threads, finish } = openThreads(() => base);
    const taken = [1, 2, 3].map((n) => snapshotter.take(jobOf(n)));
    assert.equal(threads.length, 1);
    const { jobs } = threads[0]!;
    for (const n of [1, 2, 3]) {
      assert.equal(jobs.length, n, 'one job is with the thread at a time');
      base = n;
      finish(jobs.at(-1)!);
    }
    assert.deepEqual(
      jobs.map(({ baseSeq }) => baseSeq),
      [0, 1, 2],
      'each knows what was pruned by the time it begins',
    );
    const outcomes = await Promise.all(taken);
    assert.deepEqual(
      outcomes.map(({ eventId, seq }) => [eventId, seq]),
      [1, 2, 3].map((n) => [`evt_${n}`, n * 10]),
    );
  });

  it('are not mixed up by an outcome of a job that was given up', async () => {
    const { snapshotter, threads, finish } = openThreads();
    const first = snapshotter.take(jobOf(1));
    const second = snapshotter.take(jobOf(2));
    const [job] = threads[0]!.jobs;
    finish(job!);
    finish(job!);
    finish(threads[0]!.jobs[1]!);
    assert.equal((await first).eventId, 'evt_1');
    assert.equal((await second).eventId, 'evt_2');
  });

  it('go on with a new thread after one that failed, which costs its own job alone', async () => {
    const { snapshotter, threads, finish } = openThreads();
    const taken = [1, 2].map((n) => snapshotter.take(jobOf(n)));
    threads[0]!.fail('out of memory');
    threads[0]!.fail('its thread ended');
    assert.equal(threads.length, 2);
    finish(threads[1]!.jobs[0]!);
    const outcomes = await Promise.all(taken);
    assert.deepEqual(
      outcomes.map(({ eventId, trouble }) => [eventId, trouble]),
      [
        ['evt_1', 'out of memory'],
        ['evt_2', null],
      ],
    );
  });

  it('are finished as far as there is time when the service stops', async () => {
    const { snapshotter, threads, finish } = openThreads();
    const taken = Array.from({ length: 40 }, (_, n) => snapshotter.take(jobOf(n)));
    for (let n = 0; n < 25; n += 1) finish(threads[0]!.jobs[n]!);
    await snapshotter.stop();
    assert.equal(threads[0]!.isEnded, true);
    const outcomes = await Promise.all(taken);
    assert.equal(outcomes.filter(({ trouble }) => trouble === null).length, 25);
    assert.match((await snapshotter.take(jobOf(41))).trouble!, /was stopped/);
  });
});
