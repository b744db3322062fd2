/** The facts of a sale are read once, in slices, and what an archive has lost is told. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SalesByMinute } from '#engine/sales-by-minute.ts';
import { JournalDamaged } from '#persistence/faults.ts';
import type { FactRow } from '#persistence/journal.ts';

const ALL = { eventId: 'evt_1', from: 0, to: null, stepMs: null };

function row(seq: number): FactRow {
  const data = JSON.stringify({ orderId: `ord_${seq}`, ticketIds: ['tkt'] });
  return { seq, at: seq, eventId: 'evt_1', type: 'TicketsIssued', data };
}

function readingsOf(rows: FactRow[], factsAfter: (afterSeq: number) => Iterable<FactRow>) {
  const source = { factsAfter: (_: string, afterSeq: number) => factsAfter(afterSeq) };
  return new SalesByMinute({ source, archivedSeq: () => 5, now: () => rows.length });
}

describe('The readings of a sale', () => {
  it('go on where the last one ended', async () => {
    const rows = Array.from({ length: 10 }, (_, n) => row(n + 1));
    const asked: number[] = [];
    const readings = readingsOf(rows, (afterSeq) => {
      asked.push(afterSeq);
      return rows.filter(({ seq }) => seq > afterSeq);
    });
    assert.equal((await readings.read(ALL)).totals.tickets, 10);
    rows.push(row(11));
    const { totals, throughSeq, isWhole, isPartial } = await readings.read(ALL);
    assert.deepEqual([totals.tickets, throughSeq, isWhole, isPartial, asked], [11, 11, true, false, [0, 10]]);
  });

  it('let other work run between slices, and answer with what was read until then', async () => {
    const rows = Array.from({ length: 2_400 }, (_, n) => row(n + 1));
    const slow = function* (afterSeq: number): Iterable<FactRow> {
      for (const each of rows.slice(afterSeq)) {
        const begin = performance.now();
        while (performance.now() - begin < 0.5);
        yield each;
      }
    };
    const readings = readingsOf(rows, slow);
    let rounds = 0;
    const counting = setInterval(() => (rounds += 1), 1);
    const first = await readings.read(ALL);
    clearInterval(counting);
    assert.ok(rounds >= 10, `${rounds} rounds`);
    assert.equal(first.isWhole, false);
    assert.ok(first.totals.tickets > 0 && first.totals.tickets < rows.length);
    let last = first;
    while (!last.isWhole) last = await readings.read(ALL);
    assert.equal(last.totals.tickets, rows.length);
  });

  it('leave out what the archive has lost and say so; lost facts of the journal are a fault', async () => {
    const rows = Array.from({ length: 10 }, (_, n) => row(n + 1));
    let lostThrough = 5;
    const readings = readingsOf(rows, (afterSeq) => {
      if (afterSeq < lostThrough) throw new JournalDamaged({ message: 'gone', lastGoodSeq: 0 });
      return rows.filter(({ seq }) => seq > afterSeq);
    });
    const { totals, isPartial } = await readings.read(ALL);
    assert.deepEqual([totals.tickets, isPartial], [5, true]);
    lostThrough = 20;
    await assert.rejects(readings.read(ALL), JournalDamaged);
  });
});
