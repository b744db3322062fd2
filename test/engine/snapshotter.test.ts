import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createSnapshotter, startSnapshotter, type SnapshotRequest } from '#engine/snapshotter.ts';
import type { SnapshotJob, SnapshotOutcome } from '#actors/activation.ts';
import { snapshotPieces } from '#domain/event/snapshot.ts';
import type { FactRow } from '#persistence/journal.ts';
import { fingerprintOf, listSnapshots } from '#persistence/snapshots.ts';
import { openActors, openConcert, place, START } from '../fixtures/actors.ts';
import { newFolder } from '../fixtures/folders.ts';

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

describe('Facts that are given with a snapshot', () => {
  const rowsOf = (first: number, count: number): FactRow[] =>
    Array.from({ length: count }, (_, n) => ({
      seq: first + n,
      at: 0,
      eventId: 'evt_1',
      type: 'HoldPlaced',
      data: '{}',
    }));
  const given = (rows: readonly FactRow[]) => ({ folder: '/nowhere', afterSeq: rows[0]!.seq - 1, rows });

  it('are posted in slices, so that other work runs in between, and end with the job', async () => {
    const { snapshotter, threads, finish } = openThreads();
    const rows = rowsOf(8, 1_201);
    const taken = snapshotter.take({ ...jobOf(1), given: given(rows) });
    const { jobs } = threads[0]!;
    assert.equal(jobs.length, 1);
    assert.equal(jobs[0]!.isPart, true);
    while (jobs.at(-1)!.isPart === true) await new Promise(setImmediate);
    assert.deepEqual(
      jobs.map((job) => job.rows!.length),
      [500, 500, 201],
    );
    assert.deepEqual(
      jobs.flatMap((job) => job.rows!),
      rows,
    );
    assert.ok(
      jobs.every(({ job }) => job.given!.rows.length === 0),
      'rows are posted once',
    );
    finish(jobs.at(-1)!);
    assert.equal((await taken).trouble, null);
  });

  it('are not posted to a thread that took over from a failed one', async () => {
    const { snapshotter, threads, finish } = openThreads();
    const first = snapshotter.take({ ...jobOf(1), given: given(rowsOf(8, 2_000)) });
    const second = snapshotter.take(jobOf(2));
    threads[0]!.fail('out of memory');
    assert.equal((await first).trouble, 'out of memory');
    await new Promise(setImmediate);
    assert.deepEqual([threads[0]!.jobs.length, threads[1]!.jobs.length], [1, 1]);
    finish(threads[1]!.jobs[0]!);
    assert.equal((await second).trouble, null);
  });

  it('give the same state as the journal of a folder, from the newest snapshot on', async (t) => {
    const folder = newFolder(t);
    const actors = openActors();
    const { actor } = await openConcert(actors, {
      localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 5_000 }],
    });
    const snapshotter = startSnapshotter(folder, () => 0);
    t.after(() => snapshotter.stop());
    const placeHolds = async (count: number): Promise<number> => {
      for (let n = 0; n < count; n += 1) {
        const reply = await actor.execute(place(`session-${actors.journal.appendedSeq}`));
        assert.equal(reply.outcome, 'DONE');
      }
      return actors.journal.durableSeq;
    };
    const take = async (afterSeq: number, seq: number): Promise<SnapshotOutcome> => {
      const rows = [...actors.journal.read({ eventId: 'evt_concert', afterSeq })];
      const about = { eventId: 'evt_concert', eventNumber: 1, slug: 'concert' };
      const own = path.join(folder, 'shards', '7');
      return snapshotter.take({
        eventId: 'evt_concert',
        eventNumber: 1,
        seq,
        at: START,
        about,
        given: { folder: own, afterSeq, rows },
      });
    };
    const fingerprint = (): string => actor.inspect((state) => fingerprintOf(snapshotPieces(state)));
    const seq1 = await placeHolds(600);
    assert.deepEqual(await take(0, seq1), {
      eventId: 'evt_concert',
      seq: seq1,
      fingerprint: fingerprint(),
      trouble: null,
    });
    const seq2 = await placeHolds(5);
    assert.equal((await take(seq1, seq2)).fingerprint, fingerprint());
    const seq3 = await placeHolds(5);
    assert.match(
      (await take(seq2 + 2, seq3)).trouble!,
      /its facts are given from \d+ on, and its newest good snapshot is of/,
    );
    assert.equal((await take(seq1, seq3)).fingerprint, fingerprint());
    assert.equal(listSnapshots(path.join(folder, 'shards', '7')).length, 3);
    assert.equal(listSnapshots(folder).length, 0);
  });
});
