/**
 * Any sale: purchases, payments, amendments, refunds and reports in any order, each compared with a book of the money
 * and the stock that shares no code with the service.
 */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { deep } from '../depth.ts';
import { fc } from '../property.ts';
import type { Change, Request } from './amendment.ts';
import {
  refundDue,
  type By,
  type ItemRequest,
  type Order,
  type Payment,
  type Purchase,
  type Refund,
  type Unit,
} from './book.ts';
import { CODES, CURRENCY, PERFORMANCES, SEATS, STAGES, TYPES, type Rule } from './event.ts';
import { Sale, type Outcome, type Quote } from './sale.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The actions; an action that is listed more often is drawn more often. */
// prettier-ignore
const actions = [
  'buy', 'buy', 'buy', 'buy', 'pay', 'pay', 'pay', 'pay', 'open', 'open', 'decline', 'call off', 'pay other', 'wait', 'cancel',
  'amend', 'amend', 'amend', 'amend', 'amend', 'amend', 'amend', 'amend', 'amend', 'amend', 'use quote', 'use quote', 'withdraw', 'sleep',
  'note', 'execute', 'execute', 'execute due', 'execute due', 'try', 'try', 'try', 'resolve', 'settle refund', 'fail refund', 'replay',
] as const;

/** What an amendment may do to some units of one line and date. */
// prettier-ignore
const kinds = [
  'cancel', 'cancel', 'cancel', 'cancel', 'date', 'date', 'seat', 'seat', 'type', 'type', 'type', 'type', 'stage', 'stage', 'reissue', 'rename', 'rename', 'nothing',
] as const;

const part = fc.record({
  kind: fc.constantFrom(...kinds),
  unit: fc.nat({ max: 20 }),
  count: fc.constantFrom(1, 1, 1, 2, 3),
  type: fc.constantFrom(...TYPES.map(({ id }) => id)),
  stage: fc.constantFrom(...STAGES.map(({ id }) => id)),
  date: fc.constantFrom(...PERFORMANCES.map(({ id }) => id)),
  seat: fc.option(fc.nat({ max: SEATS.length - 1 })),
  isRenamed: fc.boolean(),
});

const amendment = fc.record({
  by: fc.constantFrom<By>('BUYER', 'OPERATOR'),
  parts: fc.array(part, { minLength: 1, maxLength: 3 }),
  fee: fc.constantFrom(0, 0, 0, 150, 6_000),
  goodwill: fc.boolean(),
  flaw: fc.constantFrom(...Array.from({ length: 15 }, () => null), 'part', 'void', 'strange', 'seats'),
  how: fc.constantFrom('blind', 'quoted', 'quoted', 'quoted', 'kept', 'kept', 'repeated'),
});
type Asked = typeof amendment extends fc.Arbitrary<infer Value> ? Value : never;

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
  amendment,
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
  const requested = items.flatMap(
    ({ type, stage: wanted, date, quantity, seat, code, beers, glasses }): ItemRequest[] => {
      const stages = STAGES.filter(
        ({ id, prices }) => other % 8 === 0 || (prices[type] !== undefined && id === wanted),
      );
      const stage = pick(stages, quantity)?.id ?? (type === 'bench' ? 'early' : 'general');
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
    },
  );
  const [first] = requested;
  const fallback = { ticket_type_id: 'adult', selling_stage_id: 'general', performance_id: 'd1', quantity: 1 };
  return {
    items: first === undefined ? [fallback] : requested,
    email,
    installment_count: installments,
    ...(promo !== null && { promo_code: promo }),
  };
}

/** An amendment of an order, mostly of its valid tickets; null where it has none. */
function requestOf(sale: Sale, order: Order, { parts, fee, goodwill, flaw, by }: Asked): Request | null {
  const all = order.lines.flatMap((line) => line.units.map((unit) => ({ line, unit })));
  if (all.length === 0 || all[0]!.unit.ticketIds.length === 0) return null;
  const named = new Set<Unit>();
  const request = { cancel: [] as string[], reissue: [] as string[], change: [] as Change[] };
  const renamed: string[] = [];
  for (const { kind, unit: place, count, type, stage, date, seat, isRenamed } of parts) {
    const first = pick(all, place)!;
    const units = all
      .filter(({ line, unit }) => line === first.line && unit.performanceId === first.unit.performanceId)
      .filter(({ unit }) => !named.has(unit))
      .slice(0, count);
    if (units.length === 0) continue;
    for (const { unit } of units) named.add(unit);
    const ids = units.flatMap(({ unit }) => unit.ticketIds);
    const isToHall =
      TYPES.find(({ id }) => id === (kind === 'type' ? type : first.line.type.id))!.locality_id === 'hall';
    const to = kind === 'date' || isRenamed ? date : first.unit.performanceId;
    const free = [...SEATS.slice(seat ?? 0), ...SEATS.slice(0, seat ?? 0)].filter(
      (id) => sale.book.freeSeats(to).includes(id) || first.unit.seatIds.includes(id),
    );
    const wrong = count === 1 ? SEATS.slice(-ids.length) : free.slice(0, ids.length + 1);
    const chosen = flaw === 'seats' ? wrong : free.slice(0, ids.length);
    const seats = isToHall && (seat !== null || kind === 'seat') ? { seat_ids: chosen } : {};
    if (seats.seat_ids?.length === 0) continue;
    const change = { ticket_ids: ids, ...(to !== first.unit.performanceId && { performance_id: to }) };
    if (kind === 'cancel') request.cancel.push(...ids);
    else if (kind === 'reissue') request.reissue.push(...ids.slice(0, count));
    else if (kind === 'date' || kind === 'seat') request.change.push({ ...change, performance_id: to, ...seats });
    else if (kind === 'type')
      request.change.push({
        ...change,
        ticket_type_id: type,
        ...(place % 2 === 0 && { selling_stage_id: stage }),
        ...seats,
      });
    else if (kind === 'stage') request.change.push({ ...change, selling_stage_id: stage });
    else if (kind === 'nothing') request.change.push({ ticket_ids: ids, ticket_type_id: first.line.type.id });
    if (kind === 'rename' || (isRenamed && kind !== 'cancel')) renamed.push(ids[0]!);
  }
  const strangers = sale.book.orders.filter((other) => other !== order).flatMap(({ listed }) => listed);
  const flawed = flaw === 'void' ? [...order.voided.keys()][0] : flaw === 'strange' ? strangers[0] : undefined;
  if (flawed !== undefined) request.cancel.push(flawed);
  if (flaw === 'part' && request.cancel.length > 1) request.cancel.pop();
  const attendees = renamed.map((id, index) => ({
    ticket_id: id,
    attendee: { name: `Guest ${index} of ${id.slice(-5)}` },
  }));
  const asked = { ...request, attendees, ...(by === 'OPERATOR' && { fee, goodwill }) };
  return [...request.cancel, ...request.reissue, ...request.change, ...renamed].length === 0 ? null : asked;
}

/** Amends an order as it was quoted just now, without a quote, or keeps the quote for later. */
async function amend(sale: Sale, order: Order, asked: Asked, quotes: Quote[]): Promise<void> {
  const { by, how } = asked;
  const request = requestOf(sale, order, asked);
  if (request === null) return;
  if (how === 'blind') return sale.amend(order, request, by, null);
  const quote = await sale.quote(order, request, by);
  await sale.check(order);
  if (quote === null || how === 'kept') return void (quote !== null && quotes.push(quote));
  await sale.amend(order, request, by, quote, how === 'repeated');
}

/** Uses a quote of before, mostly for what it is of. */
async function useQuote(sale: Sale, { which, other }: Wish, quotes: Quote[]): Promise<Order | null> {
  const quote = pick(quotes.slice(-2), which);
  if (quote === undefined) return null;
  const { order, by, request } = quote;
  const another = { ...request, fee: (request.fee ?? 0) + 1 };
  await sale.amend(order, other % 6 === 0 && by === 'OPERATOR' ? another : request, by, quote);
  return order;
}

/** Plays a step; answers the order that it was about. */
async function play(sale: Sale, step: Wish, quotes: Quote[]): Promise<Order | null> {
  const { what, which, other, cents, outcome } = step;
  const { orders } = sale.book;
  const pending = orders.filter((each) => each.amendments.some(({ status }) => status === 'PENDING'));
  const isOfSession = what === 'pay' || what === 'open' || what === 'decline' || what === 'call off';
  const order = pick(isOfSession && other % 2 === 0 && pending.length > 0 ? pending : orders, which);
  if (what === 'buy') return sale.buy(purchaseOf(sale, step));
  if (what === 'wait') sale.wait((1 + (which % 3)) * 12 * MINUTE);
  if (what === 'sleep') sale.wait((1 + (which % 3)) * 9 * HOUR);
  if (what === 'use quote') return useQuote(sale, step, quotes);
  if (what === 'amend') {
    const live = orders.filter(({ status }) => status === 'CONFIRMED' || status === 'PARTIALLY_PAID');
    const amended = other % 8 === 0 ? order : pick(live, which);
    if (amended !== undefined) await amend(sale, amended, step.amendment, quotes);
    return amended ?? null;
  }
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
  if (what === 'withdraw') {
    const withdrawn = pick(other % 4 === 0 ? orders : pending, which);
    const amendment = withdrawn?.amendments.at(-1);
    if (amendment !== undefined) await sale.withdraw(withdrawn!, amendment, step.amendment.by);
    return withdrawn ?? null;
  }
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

const rule = fc.option(
  fc.record<Rule>({
    until_minutes: fc.constantFrom(0, 20 * 60, 28 * 60),
    fee: fc.constantFrom(0, 0, 199, 5_000),
    fee_percent: fc.constantFrom(0, 0, 10, 33, 100),
    ticket_type_ids: fc.constantFrom(null, null, ['adult', 'seat', 'group', 'guest']),
  }),
  { freq: 4 },
);
const changes = fc.option(
  fc.record({ cancel: rule, change: rule, attendees: rule, withdrawal_days: fc.constantFrom(0, 0, 1, 2) }),
  { freq: 6 },
);

/** What happened in all sales; each must have. */
const seen = new Map<string, number>();
const note = (what: string): unknown => seen.set(what, (seen.get(what) ?? 0) + 1);

/** A sale that fails is not made smaller, which would take minutes: the error has every call that changed something. */
describe('Any sale', () => {
  it('shows the money, the tickets and the stock of the book after each step', async () => {
    const terms = fc.record({
      refunds: fc.constantFrom('MANUAL' as const, 'AUTOMATIC' as const),
      buyer_changes: changes,
    });
    const purchases = fc.array(wish, { minLength: 2, maxLength: 4 });
    const anySteps = fc.array(wish, { minLength: 25, maxLength: 45, size: 'max' });
    await fc.assert(
      fc.asyncProperty(terms, purchases, anySteps, async (chosen, first, steps) => {
        const sale = await Sale.open(chosen);
        try {
          const quotes: Quote[] = [];
          for (const step of first) {
            const order = await sale.buy(purchaseOf(sale, step));
            if (order?.status === 'PENDING') await sale.settle(order, order.payments[0]!, 'paid');
            await sale.check(order);
          }
          for (const step of steps) {
            sale.wait(1_000);
            await sale.check(await play(sale, step, quotes));
            note(step.what);
          }
          sale.replay();
          for (const outcome of sale.outcomes) note(outcome);
          for (const order of sale.book.orders) {
            note(`order ${order.status}`);
            if (order.status === 'CANCELLED' && order.isIssued) note('void tickets');
            if (order.goodwill > 0) note('goodwill');
            if (order.isEndedByAmendment) note('ended by amendment');
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
    // prettier-ignore
    const amended = [
      'CANCEL by BUYER', 'CANCEL by OPERATOR', 'CHANGE by BUYER', 'CHANGE by OPERATOR', 'REISSUE by OPERATOR', 'RENAME by OPERATOR',
      'pending by BUYER', 'pending by OPERATOR', 'paid by OPERATOR', 'withdrawn when PENDING', 'refused AMENDMENT_PENDING',
      'ended by amendment', 'goodwill', 'withdrawal', 'refused AMENDMENT_NOT_ALLOWED NOT_OFFERED', 'refused TICKET_VOID',
    ];
    for (const what of [...actions, ...statuses, ...refunds, ...amended, 'void tickets']) {
      assert.ok((seen.get(what) ?? 0) > 0, `${what} never happened`);
    }
  });
});
