/** The facts of a sale are read once, in slices, and what an archive has lost is told. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { SalesByMinute } from '#engine/sales-by-minute.ts';
import { JournalDamaged } from '#persistence/faults.ts';
import type { FactRow } from '#persistence/journal.ts';

const ALL = { eventId: 'evt_1', from: 0, to: null, stepMs: null };

function row(seq: number): FactRow {
  const data = JSON.stringify({ orderId: `ord_${seq}`, ticketIds: ['tkt'] });
  return { seq, at: seq, eventId: 'evt_1', type: 'TicketsIssued', data };
}

type FactsAfter = (afterSeq: number, eventId: string) => Iterable<FactRow> | AsyncIterable<FactRow>;

function readingsOf(rows: readonly FactRow[], factsAfter: FactsAfter) {
  const durableSeq = () => rows.at(-1)?.seq ?? 0;
  const read = (eventId: string, afterSeq: number) => factsAfter(afterSeq, eventId);
  return new SalesByMinute({ factsAfter: read, durableSeq, archivedSeq: () => 5, now: () => rows.length });
}

const newRows = (count: number): FactRow[] => Array.from({ length: count }, (_, n) => row(n + 1));

/** Readings of rows that are given one by one, each when the test says so. */
function heldReadings(t: TestContext, rows: readonly FactRow[]) {
  const waiting: (() => void)[] = [];
  const began: string[] = [];
  let isHeld = true;
  const readings = readingsOf(rows, async function* (afterSeq, eventId) {
    began.push(eventId);
    for (const each of rows.filter(({ seq }) => seq > afterSeq)) {
      if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
      yield each;
    }
  });
  const release = () => {
    isHeld = false;
    for (const go of waiting.splice(0)) go();
  };
  t.after(release);
  return { readings, began, release };
}

describe('The readings of a sale', () => {
  it('go on where the last one ended', async () => {
    const rows = newRows(10);
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
    const rows = newRows(900);
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
    const rows = newRows(10);
    let lostThrough = 5;
    const readings = readingsOf(rows, (afterSeq) => {
      if (afterSeq < lostThrough) throw new JournalDamaged({ message: 'gone', lastGoodSeq: 0 });
      return rows.filter(({ seq }) => seq > afterSeq);
    });
    const { totals, isPartial } = await readings.read(ALL);
    assert.deepEqual([totals.tickets, isPartial], [5, true]);
    rows.push(row(11));
    lostThrough = 20;
    await assert.rejects(readings.read(ALL), JournalDamaged);
  });

  it('try again what an archive has lost after a minute, also while somebody looks', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let isLost = true;
    const rows = newRows(10);
    const readings = readingsOf(rows, (afterSeq) => {
      if (isLost && afterSeq < 5) throw new JournalDamaged({ message: 'gone', lastGoodSeq: 0 });
      return rows.slice(afterSeq);
    });
    await readings.read(ALL);
    isLost = false;
    t.mock.timers.tick(40_000);
    assert.equal((await readings.read(ALL)).isPartial, true);
    t.mock.timers.tick(20_000);
    const { totals, isPartial } = await readings.read(ALL);
    assert.deepEqual([totals.tickets, isPartial], [10, false]);
  });

  it('pause after each fact that took long, whatever it was', async () => {
    const data = JSON.stringify({ orderId: 'ord_1', ticketIds: Array.from({ length: 60_000 }, (_, n) => `tkt_${n}`) });
    const rows = Array.from({ length: 12 }, (_, n) => ({ ...row(n + 1), type: 'OrderAmended', data }));
    let rounds = 0;
    const counting = setInterval(() => (rounds += 1), 1);
    await readingsOf(rows, (afterSeq) => rows.slice(afterSeq)).read(ALL);
    clearInterval(counting);
    assert.ok(rounds >= 8, `${rounds} rounds`);
  });

  it('are made one at a time, and every one becomes whole however many are asked for', async (t) => {
    const rows = newRows(10);
    const { readings, began, release } = heldReadings(t, rows);
    const ids = Array.from({ length: 12 }, (_, n) => `evt_${n}`);
    const answers = ids.map((eventId) => readings.read({ ...ALL, eventId }));
    await pause(20);
    assert.deepEqual(began, ['evt_0']);
    release();
    for (const { isWhole, totals } of await Promise.all(answers))
      assert.deepEqual([isWhole, totals.tickets], [true, 10]);
    assert.deepEqual(began, ids, 'each is read once');
  });

  it('tell a request that everything was read only where it began after it', async (t) => {
    const rows = newRows(3);
    const { readings, release } = heldReadings(t, rows);
    const first = readings.read(ALL);
    await pause(20);
    rows.push(row(4));
    const second = readings.read(ALL);
    release();
    assert.ok((await first).totals.tickets >= 3);
    const { isWhole, throughSeq } = await second;
    assert.deepEqual([isWhole, throughSeq], [true, 4]);
  });

  it('end when they are forgotten, also those under way, and begin anew afterwards', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const rows = newRows(3);
    const { readings, began, release } = heldReadings(t, rows);
    const first = readings.read(ALL);
    await pause(20);
    t.mock.timers.tick(16 * 60_000);
    const second = readings.read(ALL);
    release();
    const [{ isWhole, totals }, later] = await Promise.all([first, second]);
    assert.deepEqual([isWhole, totals.tickets], [false, 0]);
    assert.deepEqual([later.isWhole, later.totals.tickets, began.length], [true, 3, 2]);
    t.mock.timers.tick(10 * 60_000);
    await readings.read(ALL);
    t.mock.timers.tick(10 * 60_000);
    rows.push(row(4));
    const { totals: kept } = await readings.read(ALL);
    assert.deepEqual([kept.tickets, began.length], [4, 4], 'the timer of the first ended with it');
    readings.stop();
  });
});
