/**
 * States that are made while another node owns the shard: equal to those of an activation, for some events, handed out
 * once.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { activate, type ActivationSource } from '#actors/activation.ts';
import { StatesAhead, type SnapshotsAhead, type StatesAheadPorts } from '#cluster/shards/states-ahead.ts';
import { snapshotPieces } from '#domain/event/snapshot.ts';
import { emptyHead } from '#persistence/nats/log/head.ts';
import { machineTiming } from '#persistence/nats/timing.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { Snapshot } from '#persistence/snapshots.ts';
import { openConcert, place } from '../../fixtures/actors.ts';

const NONE: SnapshotsAhead = { newest: async () => null, newestSeq: () => 0 };

/** The facts of an event with so many holds. */
async function factsOf(holds: number): Promise<readonly FactRow[]> {
  const { actor, journal } = await openConcert();
  await Promise.all(Array.from({ length: holds }, (_, n) => actor.execute(place(`session-${n}`))));
  await journal.durable(journal.appendedSeq);
  return [...journal.read({ eventId: 'evt_concert' })];
}

function statesAhead(changes: Partial<StatesAheadPorts> = {}): StatesAhead {
  return new StatesAhead({ snapshots: NONE, time: machineTiming, eventsMax: 10, ...changes });
}

const contentOf = (rows: readonly FactRow[]) => ({ head: emptyHead(), rows, executed: [] });

function sourceOf(rows: readonly FactRow[], states: StatesAhead | null): ActivationSource {
  return {
    newestSnapshot: () => Promise.resolve(null),
    factsAfter: (_, afterSeq) => rows.filter(({ seq }) => seq > afterSeq),
    takeAhead: (eventId) => states?.take(eventId) ?? null,
  };
}

describe('States that are made ahead', () => {
  it('become, with what came afterwards, the state of an activation', async () => {
    const rows = await factsOf(40);
    const expected = await activate(sourceOf(rows, null), 'evt_concert', 1);
    for (const known of [1, 20, rows.length]) {
      const states = statesAhead();
      await states.make(contentOf(rows.slice(0, known)));
      const { state, lastSeq, factsReplayed } = await activate(sourceOf(rows, states), 'evt_concert', 1);
      assert.deepEqual([...snapshotPieces(state)], [...snapshotPieces(expected.state)]);
      assert.deepEqual([lastSeq, factsReplayed], [expected.lastSeq, expected.factsReplayed]);
    }
  });

  it('are handed out once, and not for a state of a moment before', async () => {
    const rows = await factsOf(5);
    const states = statesAhead();
    await states.make(contentOf(rows));
    const lastSeq = rows[2]!.seq;
    assert.equal((await activate(sourceOf(rows, states), 'evt_concert', 1, lastSeq)).lastSeq, lastSeq);
    const first = await states.take('evt_concert');
    assert.equal(first?.lastSeq, rows.at(-1)!.seq);
    assert.equal(states.take('evt_concert'), null);
  });

  it('are those of the events that changed last, as many as stay in memory', async () => {
    const rows = await factsOf(3);
    const all = ['a', 'b', 'c'].flatMap((eventId) => rows.map((row) => ({ ...row, eventId })));
    const states = statesAhead({ eventsMax: 2 });
    await states.make(contentOf([...all, { ...rows.at(-1)!, eventId: '' }]));
    assert.equal(states.take('a'), null);
    assert.equal((await states.take('b'))?.state.eventId, 'b');
    assert.equal((await states.take('c'))?.state.eventId, 'c');
  });

  it('are not made where the newest snapshot cannot be read, nor of facts that do not follow', async () => {
    const rows = await factsOf(5);
    const older = { header: { seq: 1 }, pieces: [] } as unknown as Snapshot;
    for (const newest of [async () => null, async () => older, () => Promise.reject(new Error('no server'))]) {
      const states = statesAhead({ snapshots: { newest, newestSeq: () => 3 } });
      await states.make(contentOf(rows.slice(3)));
      assert.equal(await states.take('evt_concert'), null);
    }
    const broken = statesAhead();
    await broken.make(contentOf(rows.slice(2)));
    assert.equal(await broken.take('evt_concert'), null);
  });

  it('can be taken while the next ones are made, of which none is begun after the end', async () => {
    const rows = await factsOf(3);
    const all = ['a', 'b', 'c'].flatMap((eventId) => rows.map((row) => ({ ...row, eventId })));
    const reading = Promise.withResolvers<null>();
    const states = statesAhead({ snapshots: { newest: () => reading.promise, newestSeq: () => 0 } });
    const making = states.make(contentOf(all));
    const first = states.take('c');
    states.end();
    reading.resolve(null);
    await making;
    assert.equal((await first)?.state.eventId, 'c');
    assert.equal(states.take('b'), null);
  });

  it('are forgotten where nobody has taken them', async () => {
    const states = statesAhead();
    await states.make(contentOf(await factsOf(2)));
    states.clear();
    assert.equal(states.take('evt_concert'), null);
  });
});
