/**
 * Any sale: purchases, payments, refunds and reports in any order, each compared with a book of the money and the stock
 * that shares no code with the service.
 */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { deep } from '../depth.ts';
import { fc } from '../property.ts';
import { refundDue, type ItemRequest, type Order, type Payment, type Purchase, type Refund } from './book.ts';
import { CODES, CURRENCY, PERFORMANCES, SEATS, STAGES, TYPES } from './event.ts';
import { Sale, type Outcome } from './sale.ts';

const MINUTE = 60_000;

/** The actions; an action that is listed more often is drawn more often. */
// prettier-ignore
const actions = [
  'buy', 'buy', 'buy', 'buy', 'pay', 'pay', 'pay', 'pay', 'open', 'open', 'decline', 'call off', 'pay other', 'wait', 'cancel', 'cancel',
  'note', 'execute', 'execute', 'execute due', 'execute due', 'try', 'try', 'try', 'resolve', 'settle refund', 'fail refund', 'replay',
] as const;

const wish = fc.record({
  what: fc.constantFrom(...actions),
  which: fc.nat({ max: 50 }),
  other: fc.nat({ max: 50 }),
  items: fc.array(
    fc.record({
      type: fc.constantFrom(...TYPES.map(({ id }) => id)),
      stage: fc.constantFrom('general', 'general', ...STAGES.map(({ id }) => id)),
      date: fc.constantFrom(...PERFORMANCES.map(({ id }) => id)),
      quantity: fc.integer({ min: 1, max: 3 }),
      seat: fc.nat({ max: SEATS.length - 1 }),
      code: fc.constantFrom(null, null, ...CODES.map(({ code }) => code)),
      beers: fc.nat({ max: 3 }),
      glasses: fc.nat({ max: 3 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  email: fc.constantFrom('anna@example.org', 'Anna+two@example.org', 'bo@example.org', 'cy@example.org'),
  promo: fc.constantFrom(null, null, ...CODES.map(({ code }) => code)),
  installments: fc.constantFrom(1, 1, 2, 3, 4),
  cents: fc.integer({ min: 1, max: 9000 }),
  outcome: fc.constantFrom<Outcome>('succeeded', 'succeeded', 'pending', 'failed', 'refused', 'lost'),
});
type Wish = typeof wish extends fc.Arbitrary<infer Value> ? Value : never;

const pick = <Item>(items: readonly Item[], which: number): Item | undefined =>
  items[which % Math.max(1, items.length)];

/** Named seats, mostly free ones: a row is short of neighbours soon, and a seat is not chosen by the book. */
function purchaseOf(sale: Sale, { items, email, promo, installments, other }: Wish): Purchase {
  const named = new Set<string>();
  const requested = items.flatMap(({ type, stage, date, quantity, seat, code, beers, glasses }): ItemRequest[] => {
    const base = { ticket_type_id: type, selling_stage_id: stage, performance_id: date };
    const coded = code === null ? base : { ...base, discount_code: code };
    if (TYPES.find(({ id }) => id === type)!.locality_id === 'hall') {
      const isFree = (id: string): boolean => other === 0 || sale.book.freeSeats(date).includes(id);
      const seats = [...SEATS.slice(seat), ...SEATS.slice(0, seat)]
        .filter((id) => isFree(id) && !named.has(`${date} ${id}`))
        .slice(0, quantity);
      for (const id of seats) named.add(`${date} ${id}`);
      return seats.length === 0 ? [] : [{ ...coded, quantity: seats.length, seat_ids: seats }];
    }
    const perks = [
      { bar_perk_id: 'beer', quantity: beers },
      { bar_perk_id: 'glass', quantity: glasses },
    ].filter((perk) => type === 'adult' && perk.quantity > 0);
    return [{ ...coded, quantity, bar_perks: perks }];
  });
  const [first] = requested;
  const fallback = { ticket_type_id: 'adult', selling_stage_id: 'general', performance_id: 'd1', quantity: 1 };
  return {
    items: first === undefined ? [fallback] : requested,
    email,
    installment_count: installments,
    ...(promo !== null && { promo_code: promo }),
  };
}

/** Plays a step; answers the order that it was about. */
async function play(sale: Sale, step: Wish): Promise<Order | null> {
  const { what, which, other, cents, outcome } = step;
  const { orders } = sale.book;
  const order = pick(orders, which);
  if (what === 'buy') return sale.buy(purchaseOf(sale, step));
  if (what === 'wait') sale.wait((1 + (which % 3)) * 12 * MINUTE);
  if (what === 'try') await sale.tryRefunds(outcome);
  if (what === 'replay') sale.replay();
  if (order === undefined) return null;
  const payment = pick<Payment>(
    order.payments.filter(({ sessionId }) => sessionId !== null),
    other,
  );
  const refunds = orders.flatMap((each) => each.refunds.map((refund) => ({ order: each, refund })));
  const refundOf = (isMeant: (refund: Refund) => boolean) =>
    pick(
      refunds.filter(({ refund }) => isMeant(refund)),
      which,
    );
  if (what === 'open') await sale.openPayment(order);
  else if (what === 'cancel') await sale.cancelByOperator(order);
  else if (what === 'note') await sale.noteRefund(order, cents, other % 8 === 0 ? 'USD' : CURRENCY);
  else if (what === 'execute') {
    const isPaid = payment?.state === 'PAID';
    await sale.execute(order, other % 2 === 0 ? cents : null, isPaid && other % 3 === 0 ? payment : null);
  } else if (what === 'execute due') {
    const owing = pick(
      orders.filter((each) => refundDue(each) > 0),
      which,
    );
    if (owing !== undefined) await sale.execute(owing, null, null);
    return owing ?? null;
  } else if (what === 'resolve') {
    const found = refundOf(({ status }) => status === 'NEEDS_OPERATOR') ?? refundOf(() => true);
    const how = pick(['RETRY', 'GIVEN_BACK', 'NOT_GIVEN_BACK'] as const, other)!;
    if (found !== undefined) await sale.resolve(found.order, found.refund, how);
    return found?.order ?? null;
  } else if (what === 'settle refund') {
    const found = refundOf(({ there, status }) => there === 'PENDING' && status === 'PENDING');
    if (found !== undefined) await sale.settleRefund(found.refund, other % 2 === 0 ? 'succeeded' : 'failed');
    return found?.order ?? null;
  } else if (what === 'fail refund') {
    const found = refundOf(({ there, status }) => there === 'SUCCEEDED' && status === 'SUCCEEDED');
    if (found !== undefined && other % 2 === 0) await sale.failRefund(found.refund);
    return found?.order ?? null;
  } else if (payment === undefined) return order;
  else if (what === 'pay') {
    const waiting = order.payments.findLast(({ state }) => state === 'WAITING');
    await sale.settle(order, other % 5 === 0 ? payment : (waiting ?? payment), 'paid');
  } else if (what === 'decline') await sale.settle(order, payment, 'declined');
  else if (what === 'call off') await sale.settle(order, payment, 'cancelled');
  else if (what === 'pay other') await sale.payOther(order, payment, cents, other % 3 === 0 ? 'USD' : CURRENCY);
  return order;
}

/** What happened in all sales; each must have. */
const seen = new Map<string, number>();
const note = (what: string): unknown => seen.set(what, (seen.get(what) ?? 0) + 1);

/** A sale that fails is not made smaller, which would take minutes: the error has every call that changed something. */
describe('Any sale', () => {
  it('shows the money, the tickets and the stock of the book after each step', async () => {
    const terms = fc.record({ refunds: fc.constantFrom('MANUAL' as const, 'AUTOMATIC' as const) });
    await fc.assert(
      fc.asyncProperty(terms, fc.array(wish, { minLength: 25, maxLength: 50, size: 'max' }), async (chosen, steps) => {
        const sale = await Sale.open(chosen);
        try {
          for (const step of steps) {
            sale.wait(1_000);
            await sale.check(await play(sale, step));
            note(step.what);
          }
          sale.replay();
          for (const order of sale.book.orders) {
            note(`order ${order.status}`);
            if (order.status === 'CANCELLED' && order.isIssued) note('void tickets');
            for (const refund of order.refunds) note(`refund ${refund.status}`);
          }
        } catch (error) {
          throw new Error(sale.calls.join('\n'), { cause: error });
        } finally {
          await sale.close();
        }
      }),
      { numRuns: deep(30), endOnFailure: true },
    );
    const statuses = ['PENDING', 'PARTIALLY_PAID', 'CONFIRMED', 'EXPIRED', 'CANCELLED'].map((each) => `order ${each}`);
    const refunds = ['PENDING', 'SUCCEEDED', 'FAILED', 'NEEDS_OPERATOR'].map((each) => `refund ${each}`);
    for (const what of [...actions, ...statuses, ...refunds, 'void tickets']) {
      assert.ok((seen.get(what) ?? 0) > 0, `${what} never happened`);
    }
  });
});
