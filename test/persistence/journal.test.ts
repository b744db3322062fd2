/** The contract of a journal, checked on the journal on disk, on its twin in memory, and on the journal of a shard. */

import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import { fc } from '../property.ts';
import type { FactRow, Journal, JournalStatus, Unit } from '#persistence/journal.ts';
import { JournalFault } from '#persistence/journal.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { openSqliteJournal, type SqliteJournal } from '#persistence/sqlite/journal.ts';
import type { ShardLog } from '#persistence/shard-log.ts';
import { newDataFolder } from '../fixtures/folders.ts';
import { nats } from '../fixtures/nats.ts';
import { claimed, streamLogs } from './shards.ts';
import { appendAll, durable, outcome, unitOf } from './journals.ts';

interface Kind {
  readonly name: string;
  readonly runs: number;
  /** Why it is skipped. */
  readonly missing?: string | false;
  /** After the last test. */
  close?(): Promise<void>;
  open(t: TestContext): Promise<Journal>;
  /** Opens a journal on what the given one left on its disk. */
  reopen(journal: Journal): Promise<Journal>;
}

/** The journal of a shard on a log; opened again, it is claimed by another node. */
function shardKind(
  name: string,
  runs: number,
  newLog: (t: TestContext) => Promise<ShardLog>,
  needs: Pick<Kind, 'missing' | 'close'> = {},
): Kind {
  const logs = new WeakMap<Journal, ShardLog>();
  const open = async (log: ShardLog): Promise<Journal> => {
    const { journal } = await claimed(log, { batchUnitsMax: 3 });
    logs.set(journal, log);
    return journal;
  };
  return {
    name,
    runs,
    ...needs,
    open: async (t) => open(await newLog(t)),
    reopen: async (journal) => open(logs.get(journal)!),
  };
}

const streams = streamLogs();

const kinds: readonly Kind[] = [
  {
    name: 'in memory',
    runs: 200,
    open: async () => new MemoryJournal(),
    reopen: async (journal) => (journal as MemoryJournal).crashAfter(),
  },
  {
    name: 'on disk',
    runs: 8,
    open: async (t) => openSqliteJournal({ folder: newDataFolder(t), batchFactsMax: 7 }),
    reopen: async (journal) => openSqliteJournal({ folder: (journal as SqliteJournal).folder }),
  },
  shardKind('of a shard', 60, async () => new MemoryLog()),
  shardKind('of a shard on a NATS server', 3, streams.newLog, { missing: nats.missing, close: streams.close }),
];

const anyUnit: fc.Arbitrary<Unit> = fc.record({
  eventId: fc.constantFrom('', 'evt_a', 'evt_b', 'evt ü/\u{1f3ab}'),
  at: fc.integer({ min: 0, max: 2 ** 45 }),
  facts: fc.array(fc.record({ type: fc.constantFrom('HoldPlaced', 'HoldReleased'), data: fc.json({ maxDepth: 2 }) }), {
    minLength: 1,
    maxLength: 9,
  }),
});

function rowsOf(units: readonly Unit[]): FactRow[] {
  const facts = units.flatMap(({ eventId, at, facts }) => facts.map((fact) => ({ at, eventId, ...fact })));
  return facts.map((fact, index) => ({ seq: index + 1, ...fact }));
}

for (const kind of kinds) {
  describe(`A journal ${kind.name}`, { skip: kind.missing ?? false }, () => {
    after(() => kind.close?.());

    it('gives sequence numbers at once, without gaps, in the order of the calls', async (t) => {
      const journal = await kind.open(t);
      assert.equal(journal.status, 'OPEN');
      assert.equal(journal.appendedSeq, 0);
      assert.equal(journal.append(unitOf('evt_a', 3)), 3);
      assert.equal(journal.append(unitOf('evt_b', 1)), 4);
      assert.equal(journal.appendedSeq, 4);
      assert.equal(journal.durableSeq, 0);
      await durable(journal);
      assert.equal(journal.durableSeq, 4);
      await journal.close();
    });

    it('refuses a unit without a moment at once', async (t) => {
      const journal = await kind.open(t);
      for (const at of [-1, 0.5, NaN]) assert.throws(() => journal.append(unitOf('evt_a', 1, at)), /moment since 1970/);
      await appendAll(journal, [unitOf('evt_a', 1, 0)]);
      assert.equal(journal.durableSeq, 1);
      await journal.close();
    });

    it('reads back what was appended, whole and by stream, and finds it again after a restart', async (t) => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyUnit, { maxLength: 12 }), fc.nat(20), async (units, afterSeq) => {
          const first = await kind.open(t);
          await appendAll(first, units);
          const rows = rowsOf(units);
          for (const journal of [first, null]) {
            if (journal === null) await first.close();
            const open = journal ?? (await kind.reopen(first));
            assert.equal(open.appendedSeq, rows.length);
            assert.equal(open.durableSeq, rows.length);
            assert.deepEqual([...open.read({ afterSeq })], rows.slice(afterSeq));
            const lastSeqs = new Map(rows.map(({ eventId, seq }) => [eventId, seq]));
            assert.deepEqual(new Map([...open.streams()].map((stream) => [stream.eventId, stream.lastSeq])), lastSeqs);
            for (const eventId of ['evt_unknown', ...lastSeqs.keys()]) {
              const own = rows.filter((row) => row.eventId === eventId && row.seq > afterSeq);
              assert.deepEqual([...open.read({ afterSeq, eventId })], own);
            }
            if (journal === null) await open.close();
          }
        }),
        { numRuns: kind.runs },
      );
    });

    it('settles waits in order of sequence and never before the facts are durable', async (t) => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(fc.nat(4), fc.nat(9)), { minLength: 1, maxLength: 30 }), async (steps) => {
          const journal = await kind.open(t);
          const settled: number[] = [];
          let highest = 0;
          const waits = steps.map(([appends, back]) => {
            for (let count = 0; count < appends; count++) journal.append(unitOf('evt_a', 2));
            highest = Math.max(highest, journal.appendedSeq - back);
            const seq = highest;
            return journal.durable(seq).then(() => {
              assert.ok(journal.durableSeq >= seq, 'settled too early');
              settled.push(seq);
            });
          });
          await Promise.all(waits);
          assert.deepEqual(
            settled,
            [...settled].sort((a, b) => a - b),
          );
          await journal.close();
        }),
        { numRuns: kind.runs },
      );
    });

    it('resolves for a fact that is durable already and rejects for one that was never appended', async (t) => {
      const journal = await kind.open(t);
      journal.append(unitOf('evt_a'));
      await durable(journal);
      await journal.durable(1);
      await journal.durable(0);
      await assert.rejects(journal.durable(2), JournalFault);
      await journal.close();
    });

    it('shows no fact to a reader before it is durable, and lets a reader leave early', async (t) => {
      const journal = await kind.open(t);
      await appendAll(journal, [unitOf('evt_a', 4), unitOf('evt_b', 4)]);
      journal.append(unitOf('evt_a', 2));
      assert.equal([...journal.read()].length, 8);
      assert.equal([...journal.read({ eventId: 'evt_a' })].length, 4);
      assert.deepEqual(
        [...journal.streams()],
        [
          { eventId: 'evt_a', lastSeq: 4 },
          { eventId: 'evt_b', lastSeq: 8 },
        ],
      );
      for (const row of journal.read()) {
        assert.equal(row.seq, 1);
        break;
      }
      await durable(journal);
      assert.equal([...journal.read({ eventId: 'evt_a' })].length, 6);
      await journal.close();
    });

    it('takes facts again right after a wait', async (t) => {
      const journal = await kind.open(t);
      const seqs: number[] = [];
      for (let count = 0; count < 5; count++) {
        await journal.durable(journal.append(unitOf('evt_a')));
        seqs.push(journal.durableSeq);
      }
      assert.deepEqual(seqs, [1, 2, 3, 4, 5]);
      await journal.close();
    });

    it('writes what was appended when it is closed, and takes nothing afterwards', async (t) => {
      const journal = await kind.open(t);
      const statuses: JournalStatus[] = [];
      journal.onStatus((status, fault) => {
        statuses.push(status);
        assert.equal(fault, null);
      });
      for (let count = 0; count < 40; count++) journal.append(unitOf('evt_a', 3));
      const last = outcome(journal, 120);
      const closed = journal.close();
      assert.equal(journal.status, 'CLOSED');
      assert.throws(
        () => journal.append(unitOf('evt_a')),
        (error) => error instanceof JournalFault && error.kind === 'CLOSED',
      );
      assert.equal(await last, null);
      await closed;
      assert.deepEqual(statuses, ['CLOSED']);
      const again = await kind.reopen(journal);
      assert.equal([...again.read()].length, 120);
      await again.close();
    });

    it('refuses a unit without facts', async (t) => {
      const journal = await kind.open(t);
      assert.throws(() => journal.append({ eventId: 'evt_a', at: 1, facts: [] }), /at least one fact/);
      await journal.close();
    });
  });
}
