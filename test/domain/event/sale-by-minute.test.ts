/** A sale by minute agrees with the event's own books, and keeps its sums when minutes become hours. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SaleByMinute } from '#domain/event/sale-by-minute.ts';
import { fact, type Fact } from '#domain/fact.ts';
import { clubNight, definitionOf } from '../../fixtures/events.ts';
import { MINUTE, START } from '../../fixtures/service.ts';
import { goldenJournals, readGolden, replayGolden } from '../../golden/golden.ts';
import { assertSaleByMinute } from '../../fixtures/checks.ts';

const HOUR = 60 * MINUTE;
const ALL = { from: null, to: null, stepMs: null };

/** A sale of these facts, each at its moment after the start. */
function saleOf(facts: readonly (readonly [at: number, Fact])[]): SaleByMinute {
  const sale = new SaleByMinute();
  const definition = definitionOf(clubNight({ status: 'PUBLISHED' }));
  const defined = fact('EventDefined', { eventNumber: 1, version: 1, definition, operator: null, note: null });
  for (const [at, { type, data }] of [[0, defined] as const, ...facts]) {
    sale.note({ at: START + at, type, data: JSON.stringify(data) });
  }
  return sale;
}

const sold = (orderId: string, count: number) =>
  fact('TicketsIssued', { orderId, ticketIds: Array.from({ length: count }, (_, n) => `tkt_${n}`) });
const joined = (entryId: string) => fact('QueueEntryJoined', { entryId, sessionKey: 'session-1' });
const paid = (amountCents: number) =>
  fact('PaymentRecorded', {
    orderId: 'ord_1',
    paymentId: 'pay_1',
    amountCents,
    currency: 'EUR',
    isCounted: true,
    reference: null,
    webhookId: null,
    refundDueCents: 0,
  });

describe('A sale by minute', () => {
  for (const name of goldenJournals()) {
    it(`agrees with the books that ${name} leads to`, () => {
      const rows = readGolden(name);
      for (const [eventId, state] of replayGolden(rows)) {
        assertSaleByMinute(
          state,
          rows.filter((row) => row.eventId === eventId),
        );
      }
    });
  }

  it('has a point for each step since the sale opened, and says who waits at its end', () => {
    const sale = saleOf([
      [10, joined('que_1')],
      [20, joined('que_2')],
      [2 * MINUTE, fact('QueueEntriesAdmitted', { entryIds: ['que_1'], passExpiresAt: 0 })],
      [2 * MINUTE + 5, sold('ord_1', 3)],
      [2 * MINUTE + 5, paid(5_700)],
      [4 * MINUTE, fact('QueueEntryLeft', { entryId: 'que_2' })],
      [4 * MINUTE, fact('QueueEntryLeft', { entryId: 'que_1' })],
    ]);
    const { points, from, pace, totals, opensAt } = sale.view(ALL, START + 4 * MINUTE + 1);
    assert.deepEqual([from, opensAt], [START, START]);
    assert.deepEqual(
      points.map(({ at, tickets, joined, admitted, waiting }) => [at - START, tickets, joined, admitted, waiting]),
      [
        [0, 0, 2, 0, 2],
        [MINUTE, 0, 0, 0, 2],
        [2 * MINUTE, 3, 0, 1, 1],
        [3 * MINUTE, 0, 0, 0, 1],
        [4 * MINUTE, 0, 0, 0, 0],
      ],
    );
    assert.deepEqual(pace, { tickets: 3, minutes: 4 });
    assert.deepEqual(totals.money, [{ currency: 'EUR', paidCents: 5_700, refundedCents: 0 }]);
    const later = { from: START + 3 * MINUTE, to: START + 4 * MINUTE, stepMs: MINUTE };
    assert.deepEqual(
      sale.view(later, START + 9 * MINUTE).points.map(({ at, waiting }) => [at - START, waiting]),
      [[3 * MINUTE, 1]],
    );
  });

  it('shows nothing of what happened after its range, and no point of a range without a part of the sale', () => {
    const sale = saleOf([
      [MINUTE, sold('ord_1', 1)],
      [7 * MINUTE, sold('ord_2', 2)],
    ]);
    const now = START + 9 * MINUTE;
    const ticketsIn = (from: number | null, to: number | null) =>
      sale
        .view(
          { from: from === null ? null : START + from, to: to === null ? null : START + to, stepMs: 5 * MINUTE },
          now,
        )
        .points.map(({ tickets }) => tickets);
    assert.deepEqual(ticketsIn(0, 6 * MINUTE), [1, 0], 'the second step ends in the middle');
    assert.deepEqual(ticketsIn(0, null), [1, 2]);
    assert.deepEqual(ticketsIn(null, -MINUTE), [], 'before the opening');
    assert.deepEqual(ticketsIn(10 * MINUTE, null), [], 'in the future');
    assert.deepEqual(ticketsIn(10 * MINUTE, 20 * MINUTE), []);
  });

  it('counts what was given back once, and takes a refund that failed off in its minute', () => {
    const by = { operator: null, note: null };
    const refund = { orderId: 'ord_1', refundId: 'ref_1', amountCents: 500 };
    const sale = saleOf([
      [0, sold('ord_1', 3)],
      [0, paid(5_700)],
      [MINUTE, fact('RefundRecorded', { ...by, ...refund, refundDueCents: 0, isExecuted: true })],
      [2 * MINUTE, fact('OrderCancelled', { ...by, orderId: 'ord_1', cause: 'OPERATOR', refundDueCents: 0 })],
      [2 * MINUTE, fact('OrderCancelled', { ...by, orderId: 'ord_2', cause: 'BUYER', refundDueCents: 0 })],
      [3 * MINUTE, fact('RefundAnswered', { ...by, ...refund, answer: 'FAILED', tries: 1 })],
    ]);
    const { points, totals } = sale.view(ALL, START + 3 * MINUTE);
    assert.deepEqual([totals.tickets, totals.returned, totals.orders], [3, 3, 1]);
    assert.deepEqual(
      points.map(({ returned, money }) => [returned, money[0]?.refundedCents]),
      [
        [0, 0],
        [0, 0],
        [3, undefined],
        [0, undefined],
      ],
    );
  });

  it('keeps its sums when minutes become hours and hours one, and lengthens steps that are too many', () => {
    const days = 120;
    const sale = saleOf(
      Array.from({ length: days * 24 * 2 }, (_, n) => [n * 30 * MINUTE, sold(`ord_${n}`, 2)] as const).concat(
        Array.from({ length: 11_000 }, (_, n) => [days * 24 * HOUR + n * MINUTE, sold(`ord_b${n}`, 1)] as const),
      ),
    );
    const end = START + days * 24 * HOUR + 11_000 * MINUTE;
    const view = sale.view({ ...ALL, stepMs: MINUTE }, end);
    const inAll = days * 24 * 2 * 2 + 11_000;
    assert.equal(view.totals.tickets, inAll);
    assert.equal(
      view.points.reduce((sum, { tickets }) => sum + tickets, 0),
      inAll,
    );
    assert.ok(view.points.length <= 241, `${view.points.length} points`);
    assert.ok(view.minutesSince! > START + days * 24 * HOUR);
    const hours = { from: START + days * 24 * HOUR, to: START + (days * 24 + 2) * HOUR, stepMs: HOUR };
    assert.deepEqual(
      sale.view(hours, end).points.map(({ tickets }) => tickets),
      [60, 60],
    );
  });
});
