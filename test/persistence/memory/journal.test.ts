import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { durable, outcome, unitOf } from '../journals.ts';

describe('The faults that a journal in memory can inject', () => {
  it('leave everything to commit in manual mode, which makes whole units durable', async () => {
    const journal = new MemoryJournal({ manual: true });
    const settled: number[] = [];
    for (const seq of [journal.append(unitOf('a', 2)), journal.append(unitOf('a', 2))]) {
      void journal.durable(seq).then(() => settled.push(seq));
    }
    await nextRound();
    assert.deepEqual(settled, []);
    journal.commit(3);
    await nextRound();
    assert.deepEqual(settled, [2], 'a unit is durable whole or not at all');
    journal.commit();
    await nextRound();
    assert.deepEqual(settled, [2, 4]);
  });

  it('leaves only durable facts after a crash, or whole units of what was pending', () => {
    const journal = new MemoryJournal({ manual: true });
    journal.append(unitOf('a', 2));
    journal.commit();
    journal.append(unitOf('b', 2));
    journal.append(unitOf('a', 3));
    assert.equal(journal.crashAfter().appendedSeq, 2);
    assert.equal(journal.crashAfter(1).appendedSeq, 2);
    assert.equal(journal.crashAfter(5).appendedSeq, 4);
    assert.equal(journal.crashAfter(7).appendedSeq, 7);
    assert.deepEqual(
      [...journal.crashAfter(5).streams()],
      [
        { eventId: 'a', lastSeq: 2 },
        { eventId: 'b', lastSeq: 4 },
      ],
    );
    assert.equal(journal.appendedSeq, 7);
  });

  it('forgets what is pending when the disk is full and goes on with what survived', async () => {
    const journal = new MemoryJournal({ manual: true });
    const statuses: string[] = [];
    journal.onStatus((status) => statuses.push(status));
    journal.append(unitOf('a', 2));
    journal.commit();
    const waits = [journal.append(unitOf('b', 2)), journal.append(unitOf('a', 1))].map((seq) => journal.durable(seq));
    journal.full(true);
    await Promise.all(waits.map((wait) => assert.rejects(wait, { kind: 'FULL' })));
    assert.equal(journal.appendedSeq, 2);
    assert.throws(() => journal.append(unitOf('a')), { kind: 'FULL' });
    assert.equal(journal.crashAfter(4).appendedSeq, 4);
    journal.full(false, 4);
    assert.deepEqual(statuses, ['FULL', 'OPEN']);
    assert.equal(journal.durableSeq, 4);
    assert.equal(journal.append(unitOf('b')), 5);
    journal.commit();
    assert.deepEqual(
      [...journal.read({ eventId: 'b' })].map(({ seq }) => seq),
      [3, 4, 5],
    );
  });

  it('rejects waits for forgotten facts', async () => {
    const journal = new MemoryJournal({ manual: true });
    const seq = journal.append(unitOf('a'));
    journal.full(true);
    journal.full(false);
    await assert.rejects(journal.durable(seq), { kind: 'FULL' });
  });

  it('takes nothing after an I/O error', async () => {
    const journal = new MemoryJournal();
    journal.append(unitOf('a'));
    await durable(journal);
    const pending = outcome(journal, journal.append(unitOf('a')));
    journal.breakDown();
    assert.equal((await pending)?.kind, 'BROKEN');
    assert.equal(journal.status, 'BROKEN');
    assert.throws(() => journal.append(unitOf('a')), { kind: 'BROKEN' });
    assert.equal([...journal.read()].length, 1);
  });

  it('commits after a while when it is slow', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const journal = new MemoryJournal();
    journal.slow(20);
    const seq = journal.append(unitOf('a'));
    await nextRound();
    t.mock.timers.tick(19);
    assert.equal(journal.durableSeq, 0);
    t.mock.timers.tick(1);
    await journal.durable(seq);
    assert.equal(journal.durableSeq, 1);
  });
});
