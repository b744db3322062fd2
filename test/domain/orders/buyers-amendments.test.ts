/** Buyers amend their paid orders by themselves, where their event offers it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRefusal } from '#domain/refusal.ts';
import type { AmendmentQuote, AmendmentRequest, TicketChange } from '#domain/amendment-request.ts';
import type { BuyerChanges, ChangeRule } from '#domain/catalogue/definition.ts';
import type { OrderView } from '#domain/view.ts';
import {
  amend,
  amended,
  bought,
  idsOf,
  oddEvent,
  oddHall,
  orderOf,
  quoted,
  type Amend,
} from '../../fixtures/amendments.ts';
import { buy, item, openSession, recordPayment, report, visitor } from '../../fixtures/commands.ts';
import { given, MINUTE, START, type EventFixture } from '../../fixtures/event-state.ts';

const HOUR = 60 * MINUTE;
const rule = (more: Partial<ChangeRule> = {}): ChangeRule => ({
  untilMinutes: 0,
  fee: 0,
  feePercent: 0,
  ticketTypeIds: null,
  ...more,
});

/** Both dates begin in 1e9 ms. */
function eventWith(changes: Partial<BuyerChanges>, more: object = {}): EventFixture {
  const definition = oddEvent(more);
  const buyerChanges = { cancel: null, change: null, attendees: null, withdrawalDays: 0, ...changes };
  return given({ ...definition, buyerChanges });
}

function ask(orderId: string, request: Partial<AmendmentRequest>): Amend {
  return amend(orderId, [], { by: 'BUYER', operator: null, request: { cancel: [], feeCents: 0, ...request } });
}

const cancel = (orderId: string, ids: readonly string[]): Amend => ask(orderId, { cancel: ids });

const move = (orderId: string, ticketIds: readonly string[], to: Partial<TicketChange>): Amend => {
  const stays = { performanceId: null, ticketTypeId: null, sellingStageId: null, seatIds: null };
  return ask(orderId, { change: [{ ticketIds, ...stays, ...to }] });
};

/** Asks for a quote, and uses it. */
function done(fixture: EventFixture, command: Amend): readonly [AmendmentQuote, OrderView] {
  const quote = quoted(fixture, command);
  return [quote, amended(fixture, { ...command, quote: quote.quote })];
}

function notAllowed(fixture: EventFixture, command: Amend, reason: string, until: number | null = null): void {
  fixture.when(command).refuses('AMENDMENT_NOT_ALLOWED', { reason, until });
}

describe('A buyer', () => {
  it('may change nothing that the event does not offer', () => {
    for (const fixture of [given(oddEvent()), eventWith({})]) {
      const order = bought(fixture, [item('stand', 2)]);
      const [first = ''] = idsOf(order);
      notAllowed(fixture, cancel(order.id, [first]), 'NOT_OFFERED');
      notAllowed(fixture, move(order.id, [first], { performanceId: 'd2' }), 'NOT_OFFERED');
      notAllowed(fixture, ask(order.id, { reissue: [first] }), 'NOT_OFFERED');
      const attendees = [{ ticketId: first, attendee: visitor('Ann') }];
      notAllowed(fixture, ask(order.id, { attendees }), 'NOT_OFFERED');
    }
  });

  it('gives tickets back for the fee of each and a part of the credit, never more than that', () => {
    const fixture = eventWith({ cancel: rule({ fee: 100, feePercent: 10 }) });
    const order = bought(fixture, [item('stand', 3, { barPerks: [{ barPerkId: 'beer', quantity: 3 }] })]);
    const [first = '', second = '', third = ''] = idsOf(order);
    const [quote, now] = done(fixture, cancel(order.id, [first, second]));
    // Two times 3333 and a beer for 500, of which 10 %, and 100 each.
    assert.deepEqual([quote.creditCents, quote.feeCents, quote.toRefundCents], [7666, 967, 6699]);
    assert.deepEqual([now.feesCents, now.refundDueCents, now.amendments[0]?.by], [967, 6699, 'BUYER']);
    const [, ended] = done(fixture, cancel(order.id, [third]));
    assert.deepEqual([ended.status, ended.cancellation?.cause], ['CANCELLED', 'BUYER']);
    const dear = eventWith({ cancel: rule({ fee: 5000 }) });
    const other = bought(dear, [item('stand', 1)]);
    assert.deepEqual([done(dear, cancel(other.id, idsOf(other)))[1].refundDueCents], [0]);
  });

  it('does so until so long before the start, and only with tickets of the types', () => {
    const fixture = eventWith({ cancel: rule({ untilMinutes: 60, ticketTypeIds: ['stand'] }) });
    const order = bought(fixture, [item('stand', 2), item('seat', 1)]);
    const [first = '', second = '', seat = ''] = idsOf(order);
    notAllowed(fixture, cancel(order.id, [seat]), 'TICKET_TYPE');
    const until = START + 1e9 - HOUR;
    fixture.now = until - MINUTE;
    assert.equal(quoted(fixture, cancel(order.id, [first])).expiresAt, until);
    fixture.now = until - 1;
    done(fixture, cancel(order.id, [first]));
    const { quote } = quoted(fixture, cancel(order.id, [second]));
    fixture.now = until;
    notAllowed(fixture, { ...cancel(order.id, [second]), quote }, 'TOO_LATE', until);
    // The organizer still can.
    amended(fixture, amend(order.id, [second]));
  });

  it('withdraws without a fee in the first days, from dates that have not begun', () => {
    const withdrawalDays = 2;
    const fixture = eventWith({ withdrawalDays, cancel: rule({ fee: 300 }) });
    const order = bought(fixture, [item('stand', 3)]);
    const [first = '', second = ''] = idsOf(order);
    const [quote, now] = done(fixture, cancel(order.id, [first]));
    assert.deepEqual([quote.feeCents, now.refundDueCents], [0, 3333]);
    const fact = fixture.journal.at(-1)!.fact;
    assert.ok(fact.type === 'OrderAmended' && fact.data.isWithdrawal === true);
    fixture.now = START + withdrawalDays * 24 * HOUR;
    const stale = fixture.execute({ ...cancel(order.id, [second]), quote: quote.quote });
    assert.ok(isRefusal(stale) && stale.code === 'QUOTE_STALE');
    assert.equal(done(fixture, cancel(order.id, [second]))[0].feeCents, 300);
    const alone = eventWith({ withdrawalDays });
    const other = bought(alone, [item('stand', 1)]);
    alone.now += withdrawalDays * 24 * HOUR;
    notAllowed(alone, cancel(other.id, idsOf(other)), 'NOT_OFFERED');
    const begun = eventWith({ withdrawalDays: 60 });
    const late = bought(begun, [item('stand', 1)]);
    begun.now = START + 1e9;
    notAllowed(begun, cancel(late.id, idsOf(late)), 'NOT_OFFERED');
    const dates = [{ id: 'd1', name: 'd1', ends_at: new Date(START + 1e9).toISOString() }];
    const over = eventWith({ withdrawalDays: 60 }, { performances: dates });
    const open = bought(over, [item('stand', 2)]);
    over.now = START + 1e9 - 1;
    done(over, cancel(open.id, idsOf(open).slice(0, 1)));
    over.now += 1;
    notAllowed(over, cancel(open.id, idsOf(open).slice(1)), 'NOT_OFFERED');
  });

  it('changes dates, types and names within the limits of the event', () => {
    const types = (maxPerOrder: number | null) => ({
      ticketTypes: [
        { id: 'stand', name: 'Standing', locality_id: 'floor' },
        { id: 'crew', name: 'Crew', locality_id: 'floor', group_size: 4 },
        { id: 'seat', name: 'Seat', locality_id: 'hall', max_per_order: maxPerOrder },
        { id: 'gift', name: 'Gift', locality_id: 'floor' },
      ],
      sellingStages: [{ id: 'general', name: 'General', prices: { stand: 3333, crew: 9999, seat: 3000, gift: 100 } }],
    });
    const fixture = eventWith({ change: rule({ feePercent: 50 }), attendees: rule() }, types(1));
    const order = bought(fixture, [item('stand', 3)]);
    const [first = '', second = '', third = ''] = idsOf(order);
    const [moved] = done(fixture, move(order.id, [first], { performanceId: 'd2' }));
    assert.deepEqual([moved.feeCents, moved.differenceCents], [0, 0]);
    fixture.when(move(order.id, [second, third], { ticketTypeId: 'seat' })).refuses('MAX_PER_ORDER_EXCEEDED');
    amended(fixture, {
      ...move(order.id, [second, third], { ticketTypeId: 'gift' }),
      ...quotedFor(fixture, order, [second, third]),
    });
    const named = ask(order.id, {
      attendees: [{ ticketId: idsOf(orderOf(fixture, order))[0]!, attendee: visitor('Eve') }],
    });
    done(fixture, named);
    const few = eventWith({ change: rule() }, { ...types(null), max_tickets_per_order: 1 });
    const single = bought(few, [item('stand', 1)]);
    done(few, move(single.id, idsOf(single), { performanceId: 'd2' }));
  });

  const quotedFor = (fixture: EventFixture, { id }: OrderView, ids: readonly string[]) => {
    const quote = quoted(fixture, move(id, ids, { ticketTypeId: 'gift' }));
    // Half of what is credited for them.
    assert.deepEqual([quote.creditCents, quote.chargeCents, quote.feeCents], [6666, 200, 3333]);
    return { quote: quote.quote };
  };

  it('is to pay what costs something', () => {
    const fixture = eventWith({ change: rule({ fee: 100 }) });
    const order = bought(fixture, [item('stand', 1)]);
    const toPay = (to: Partial<TicketChange>): number => quoted(fixture, move(order.id, idsOf(order), to)).toPayCents;
    assert.deepEqual([toPay({ performanceId: 'd2' }), toPay({ ticketTypeId: 'seat' })], [100, 768]);
  });

  it('changes to what is open now, and to dates that are on sale and early enough', () => {
    const closed = { id: 'past', name: 'P', ends_at: new Date(START - 1).toISOString(), prices: { stand: 10 } };
    const general = { id: 'general', name: 'General', prices: { stand: 3333, crew: 9999, seat: 4001 } };
    const soon = { id: 'd3', name: 'd3', starts_at: new Date(START + 2 * HOUR).toISOString() };
    const dates = oddEvent().performances.map(({ id, name, startsAt }) => ({
      id,
      name,
      starts_at: new Date(startsAt!).toISOString(),
    }));
    const fixture = eventWith(
      { change: rule({ untilMinutes: 180 }) },
      { sellingStages: [general, closed], performances: [...dates, soon] },
    );
    const order = bought(fixture, [item('stand', 1)]);
    const ids = idsOf(order);
    fixture.when(move(order.id, ids, { sellingStageId: 'past' })).refuses('TICKET_NOT_ON_SALE');
    notAllowed(fixture, move(order.id, ids, { performanceId: 'd3' }), 'TOO_LATE', START - HOUR);
    fixture.when(move(order.id, ids, { performanceId: 'd9' })).refuses('PERFORMANCE_NOT_FOUND');
  });

  it('cancels tickets of an order in installments, and late money of an ended one is due back', () => {
    const fixture = eventWith(
      { cancel: rule() },
      { localities: [{ id: 'floor', name: 'F', seating: 'GENERAL', capacity: 9 }, ...oddHall] },
    );
    const started = fixture.do({ ...buyIn(2), installmentCount: 2 });
    openSession(fixture, started.order, started.payment!);
    recordPayment(fixture, report(started.payment!, 'paid'));
    const { order, payment } = fixture.do({ type: 'OpenPayment', orderId: started.order.id });
    openSession(fixture, order, payment);
    const [, now] = done(fixture, cancel(order.id, idsOf(order)));
    assert.equal(now.status, 'CANCELLED');
    const late = recordPayment(fixture, report(payment, 'paid'));
    assert.deepEqual([late.status, late.refundDueCents], ['CANCELLED', 6666]);
  });
});

const buyIn = (quantity: number) => buy([item('stand', quantity)]);
