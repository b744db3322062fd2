/** An operator cancels tickets of paid orders: money, stock, codes, void tickets, refusals and quotes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { auditEventState } from '#domain/event/audit.ts';
import { read } from '#domain/event/read.ts';
import { ORDER_AMENDMENTS_MAX } from '#domain/orders/amendments/plan.ts';
import { findTicket } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView } from '#domain/view.ts';
import { createHashing } from '#actors/crypto.ts';
import type { AmendmentQuote } from '#domain/amendment-request.ts';
import type { ReplyTo } from '#domain/command.ts';
import { assertSameAfterReplay, given, MINUTE } from '../../fixtures/event-state.ts';
import {
  buy,
  cancelByOperator,
  checkOut,
  checkoutEvent,
  item,
  openCheckoutEvent,
  openSession,
  paymentOf,
  recordPayment,
  refundNote,
  report,
  sessionOf,
} from '../../fixtures/commands.ts';
import {
  amend,
  amended,
  bought,
  idsOf,
  left,
  oddEvent,
  oddHall,
  orderOf,
  quoted,
  voidTicketsOf,
  withFee,
  type Amend,
} from '../../fixtures/amendments.ts';

describe('An amendment that cancels tickets', () => {
  it('gives back what they cost, and keeps the others as they are', () => {
    const fixture = openCheckoutEvent();
    const order = bought(fixture, [item('adult', 3)]);
    const [first = '', second = '', third = ''] = idsOf(order);
    const unit = order.totalCents / 3;
    const before = left(fixture, 'adult');
    const now = amended(fixture, amend(order.id, [second]));
    assert.deepEqual(idsOf(now), [first, third]);
    assert.deepEqual([now.status, now.paymentStatus], ['CONFIRMED', 'COMPLETED']);
    assert.deepEqual([now.totalCents, now.remainingCents, now.refundDueCents], [2 * unit, 0, unit]);
    assert.equal(left(fixture, 'adult'), before + 1);
    assert.deepEqual(voidTicketsOf(fixture), [second]);
    const voided = findTicket(fixture.state, second);
    assert.deepEqual([voided?.ticket.isValid, voided?.voidReason], [false, 'TICKET_CANCELLED']);
    assert.deepEqual(
      now.voidTickets.map(({ id, voidReason }) => [id, voidReason]),
      [[second, 'TICKET_CANCELLED']],
    );
    const [amendment] = now.amendments;
    assert.deepEqual(
      [amendment?.status, amendment?.by, amendment?.differenceCents, amendment?.toRefundCents, amendment?.tickets],
      ['APPLIED', 'OPERATOR', -unit, unit, [{ ticketId: second, action: 'CANCEL' }]],
    );
  });

  it('credits parts that are given back one after another so that they add up to the whole', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('stand', 3, { discountCode: 'TEN' })]);
    assert.equal(order.totalCents, 8999);
    // 9999 − 1000, 6666 − 667, 3333 − 333.
    const totals = idsOf(order).map((ticketId) => amended(fixture, amend(order.id, [ticketId])).totalCents);
    assert.deepEqual(totals, [5999, 3000, 0]);
    const now = orderOf(fixture, order);
    assert.deepEqual([now.status, now.refundDueCents], ['CANCELLED', 8999]);
    assert.deepEqual(
      now.amendments.map(({ differenceCents }) => differenceCents),
      [-3000, -2999, -3000],
    );
  });

  it('gives back in any order and in any parts all that was paid less the fees', () => {
    const property = fc.property(
      fc.array(
        fc.record({ type: fc.constantFrom('stand', 'crew', 'seat'), quantity: fc.integer({ min: 1, max: 4 }) }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
      fc.constantFrom(null, 'TEN', 'SEVENTH'),
      fc.constantFrom(null, 'TEN', 'SEVENTH'),
      fc.integer({ min: 0, max: 4 }),
      fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 0, max: 50 }),
      (wanted, own, promo, beers, picks, feeCents) => {
        const fixture = given(oddEvent());
        const items = wanted.map(({ type, quantity }, index) =>
          item(type, Math.min(quantity, 2), {
            discountCode: index === 0 ? own : null,
            barPerks:
              type === 'stand' && index === 0 && beers > 0 ? [{ barPerkId: 'beer', quantity: Math.min(beers, 2) }] : [],
          }),
        );
        const started = fixture.execute(buy(items, { promoCode: promo === own ? null : promo }));
        if (isRefusal(started)) return;
        if (started.payment !== null) openSession(fixture, started.order, started.payment);
        if (started.payment !== null) recordPayment(fixture, report(started.payment, 'paid'));
        const { id } = started.order;
        let fees = 0;
        let credits = 0;
        for (const pick of [...picks, ...Array.from({ length: 30 }, () => 0)]) {
          const { tickets, status } = orderOf(fixture, { id });
          if (status === 'CANCELLED') break;
          const { unit } = tickets[pick % tickets.length]!;
          const command = withFee(
            id,
            tickets.filter((ticket) => ticket.unit === unit).map((ticket) => ticket.id),
            0,
          );
          const { creditCents } = quoted(fixture, command);
          const fee = Math.min(creditCents, feeCents);
          fixture.do(withFee(id, command.request.cancel, fee));
          fees += fee;
          credits += creditCents;
          const now = orderOf(fixture, { id });
          assert.equal(now.totalCents, started.order.totalCents - credits + fees);
          assert.equal(now.refundDueCents, credits - fees);
          assert.equal(now.feesCents, fees);
        }
        assert.equal(credits, started.order.totalCents);
        assert.equal(orderOf(fixture, { id }).status, 'CANCELLED');
        assert.deepEqual(auditEventState(fixture.state), []);
        assertSameAfterReplay(fixture);
      },
    );
    fc.assert(property, { numRuns: 60 });
  });

  it('returns the seats, the uses of codes and the perks that nothing of the order has any more', () => {
    const fixture = given(oddEvent());
    const perks = { barPerks: [{ barPerkId: 'beer', quantity: 3 }] };
    const order = bought(fixture, [item('stand', 2, { ...perks, discountCode: 'TEN' }), item('seat', 3)]);
    const [one = '', two = '', , seat = ''] = idsOf(order);
    const { seatId } = order.tickets.find(({ id }) => id === seat)!;
    amended(fixture, amend(order.id, [one, seat]));
    assert.deepEqual(fixture.state.perksSold, new Map([['stand\nbeer', 1]]));
    assert.deepEqual(fixture.state.orders.usesByCode, new Map([['ten', 1]]));
    assert.equal(fixture.state.performances.get('d1')!.inventory.seatState(seatId!), 'AVAILABLE');
    const now = amended(fixture, amend(order.id, [two]));
    assert.deepEqual([fixture.state.perksSold.size, fixture.state.orders.usesByCode.size], [0, 0]);
    assert.deepEqual(
      now.items.map(({ ticketTypeId, quantity, seatIds }) => [ticketTypeId, quantity, seatIds.length]),
      [['seat', 2, 2]],
    );
    const hold = fixture.state.holds.byId.get(now.holdId);
    assert.deepEqual(
      hold?.lines.map(({ quantity, seatIds }) => [quantity, seatIds]),
      [[2, [...now.items[0]!.seatIds]]],
    );
  });

  it('makes room for the address again', () => {
    const fixture = openCheckoutEvent({ maxTicketsPerEmail: 2 });
    const order = bought(fixture, [item('adult', 2)]);
    fixture.when(buy([item('adult', 1)])).refuses('MAX_TICKETS_PER_EMAIL_EXCEEDED');
    amended(fixture, amend(order.id, idsOf(order).slice(0, 1)));
    bought(fixture, [item('adult', 1)]);
  });

  it('credits the perks of a ticket in the share that its card shows', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('stand', 2, { barPerks: [{ barPerkId: 'beer', quantity: 3 }] })]);
    const [one = '', two = ''] = idsOf(order);
    assert.deepEqual(
      order.tickets.map(({ barPerks }) => barPerks[0]?.quantity),
      [2, 1],
    );
    const { perksCreditCents, creditCents, tickets } = quoted(fixture, amend(order.id, [one]));
    assert.deepEqual([perksCreditCents, creditCents, tickets[0]?.creditCents], [1000, 4333, 3333]);
    assert.equal(quoted(fixture, amend(order.id, [two])).perksCreditCents, 500);
    const now = amended(fixture, amend(order.id, [one]));
    assert.deepEqual(
      now.tickets[0]?.barPerks.map(({ quantity }) => quantity),
      [1],
    );
    assert.deepEqual(
      now.items[0]?.barPerks.map(({ quantity }) => quantity),
      [1],
    );
  });

  it('takes a group whole, and says which of its tickets are missing', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('stand', 1), item('crew', 2)]);
    assert.deepEqual(
      order.tickets.map(({ unit }) => unit),
      [1, 2, 2, 2, 2, 3, 3, 3, 3],
    );
    const ids = idsOf(order);
    fixture.when(amend(order.id, ids.slice(1, 3))).refuses('UNIT_INCOMPLETE', { ticketIds: ids.slice(3, 5) });
    const { tickets } = quoted(fixture, amend(order.id, ids.slice(1, 5)));
    assert.deepEqual(
      tickets.map(({ creditCents }) => creditCents),
      [9999, 0, 0, 0],
    );
    const now = amended(fixture, amend(order.id, ids.slice(1, 5)));
    assert.deepEqual(
      now.tickets.map(({ unit }) => unit),
      [1, 2, 2, 2, 2],
    );
  });

  it('splits what is left of an order in installments anew, and closes sessions of other amounts', () => {
    const fixture = given(oddEvent());
    const started = checkOut(fixture, buy([item('stand', 4)], { installmentCount: 4 }));
    recordPayment(fixture, report(paymentOf(started), 'paid'));
    const { id } = started.order;
    const { order, payment } = fixture.do({ type: 'OpenPayment', orderId: id });
    openSession(fixture, order, payment);
    assert.deepEqual(order.installmentsCents, [3333, 3333, 3333, 3333]);
    const now = amended(fixture, withFee(id, idsOf(order).slice(0, 1), 1000));
    // 9999 and a fee of 1000, of which 3333 are paid.
    assert.deepEqual(now.installmentsCents, [3333, 2556, 2555, 2555]);
    assert.deepEqual([now.status, now.remainingCents, now.refundDueCents], ['PARTIALLY_PAID', 7666, 0]);
    assert.equal(now.payments[1]?.status, 'EXPIRED');
    const useless = read(
      fixture.state,
      { type: 'FindUselessSessions', orderId: id },
      { now: fixture.now, activation: 'a', hashing: createHashing(), sealing: null },
    );
    assert.deepEqual(
      useless.map(({ checkoutSessionId }) => checkoutSessionId),
      [sessionOf(payment)],
    );
    // Its money comes all the same, and counts.
    const paid = recordPayment(fixture, report(payment, 'paid'));
    assert.deepEqual(paid.installmentsCents, [3333, 3333, 2167, 2166]);
    assert.deepEqual([paid.status, paid.remainingCents], ['PARTIALLY_PAID', 4333]);
    assertSameAfterReplay(fixture);
  });

  it('confirms an order in installments where nothing is left to pay', () => {
    const fixture = given(oddEvent());
    const started = checkOut(fixture, buy([item('stand', 3)], { installmentCount: 2 }));
    recordPayment(fixture, report(paymentOf(started), 'paid'));
    const { id } = started.order;
    const now = amended(fixture, amend(id, idsOf(orderOf(fixture, { id })).slice(0, 2)));
    assert.deepEqual([now.status, now.paymentStatus, now.remainingCents], ['CONFIRMED', 'COMPLETED', 0]);
    assert.deepEqual([now.installmentsCents, now.refundDueCents], [[5000], 5000 - 3333]);
    fixture.when({ type: 'OpenPayment', orderId: id }).refuses('ORDER_NOT_PAYABLE', { status: 'CONFIRMED' });
  });

  /** Three tickets in installments, of which two are cancelled while the second installment is paid. */
  function paidMeanwhile(installmentCount: number, fee: number, more: object = {}): OrderView {
    const fixture = given(oddEvent(more));
    const started = checkOut(fixture, buy([item('stand', 3)], { installmentCount }));
    recordPayment(fixture, report(paymentOf(started), 'paid'));
    const { order, payment } = fixture.do({ type: 'OpenPayment', orderId: started.order.id });
    openSession(fixture, order, payment);
    amended(fixture, withFee(order.id, idsOf(order).slice(0, 2), fee));
    const paid = recordPayment(fixture, report(payment, 'paid'));
    assertSameAfterReplay(fixture);
    return paid;
  }

  it('counts money of a session with an old amount up to what is left', () => {
    const { status, totalCents, refundDueCents } = paidMeanwhile(3, 1000);
    assert.deepEqual([status, totalCents, refundDueCents], ['CONFIRMED', 4333, 6666 - 4333]);
  });

  it('has money due that comes when nothing is left to pay', () => {
    const { status, totalCents, refundDueCents } = paidMeanwhile(2, 0);
    assert.deepEqual([status, totalCents, refundDueCents], ['CONFIRMED', 3333, 9999 - 3333]);
  });

  it('gives back at once what such money brings more than was left to pay, where the event refunds by itself', () => {
    const refunds = paidMeanwhile(3, 1000, { refunds: 'AUTOMATIC' }).refunds.map((each) => [
      each.status,
      each.amountCents,
    ]);
    assert.deepEqual(refunds, [['PENDING', 6666 - 4333]]);
  });

  it('keeps the fees of an order without tickets, which stays cancelled', () => {
    const fixture = openCheckoutEvent();
    const order = bought(fixture, [item('adult', 2)]);
    const now = amended(fixture, withFee(order.id, idsOf(order), 300));
    assert.deepEqual([now.status, now.cancellation?.cause], ['CANCELLED', 'OPERATOR']);
    assert.deepEqual([now.totalCents, now.feesCents, now.refundDueCents], [300, 300, order.paidCents - 300]);
    assert.deepEqual(idsOf(now), idsOf(order));
    assert.deepEqual(
      now.tickets.map(({ isValid }) => isValid),
      [false, false],
    );
    assert.equal(findTicket(fixture.state, idsOf(order)[0]!)?.voidReason, 'TICKET_CANCELLED');
    assert.deepEqual(voidTicketsOf(fixture), idsOf(order));
    fixture.when(amend(order.id, idsOf(order))).refuses('ORDER_NOT_AMENDABLE', { status: 'CANCELLED' });
  });

  it('has all money due, fees too, once the order is cancelled otherwise', () => {
    const fixture = openCheckoutEvent();
    const order = bought(fixture, [item('adult', 2)]);
    const [first = ''] = idsOf(order);
    amended(fixture, withFee(order.id, [first], 300));
    fixture.do(cancelByOperator(order.id));
    assert.equal(orderOf(fixture, order).refundDueCents, order.paidCents);
    assert.deepEqual(auditEventState(fixture.state), []);
  });

  it('takes late money of an order that an amendment ended as due back', () => {
    const fixture = given(oddEvent());
    const started = checkOut(fixture, buy([item('stand', 2)], { installmentCount: 2 }));
    recordPayment(fixture, report(paymentOf(started), 'paid'));
    const { order, payment } = fixture.do({ type: 'OpenPayment', orderId: started.order.id });
    openSession(fixture, order, payment);
    amended(fixture, withFee(order.id, idsOf(order), 100));
    const late = recordPayment(fixture, report(payment, 'paid'));
    assert.deepEqual([late.status, late.paidCents, late.refundDueCents], ['CANCELLED', 6666, 6566]);
  });

  it('says what becomes due beside what was given back already', () => {
    const fixture = openCheckoutEvent();
    const order = bought(fixture, [item('adult', 2)]);
    const unit = order.totalCents / 2;
    fixture.do(refundNote(order.id, 700));
    const now = amended(fixture, amend(order.id, idsOf(order).slice(0, 1)));
    assert.deepEqual([now.refundDueCents, now.amendments[0]?.toRefundCents], [unit - 700, unit - 700]);
  });

  it('has the provider give it back at once, where the event refunds by itself', () => {
    const fixture = openCheckoutEvent({ refunds: 'AUTOMATIC' });
    const order = bought(fixture, [item('adult', 2)]);
    const unit = order.totalCents / 2;
    const now = amended(fixture, withFee(order.id, idsOf(order).slice(0, 1), 200));
    assert.deepEqual(
      now.refunds.map(({ status, amountCents }) => [status, amountCents]),
      [['PENDING', unit - 200]],
    );
    const ended = amended(fixture, withFee(order.id, idsOf(now), 200));
    assert.deepEqual(
      ended.refunds.map(({ amountCents }) => amountCents),
      [unit - 200, unit - 200],
    );
    assert.deepEqual([ended.refundDueCents, ended.refundPendingCents], [2 * unit - 400, 2 * unit - 400]);
  });

  it('is free for a free order', () => {
    const free = checkoutEvent().sellingStages.map((stage) => ({ ...stage, prices: { ...stage.prices, adult: 0 } }));
    const fixture = openCheckoutEvent({ sellingStages: free });
    const order = bought(fixture, [item('adult', 2)]);
    const now = amended(fixture, amend(order.id, idsOf(order).slice(0, 1)));
    assert.deepEqual([now.status, now.totalCents, now.refundDueCents], ['CONFIRMED', 0, 0]);
  });

  it('leaves the answers that requests got before as they were', () => {
    const fixture = openCheckoutEvent();
    const order = bought(fixture, [item('adult', 3)]);
    const ids = idsOf(order);
    const refund = (key: string) =>
      fixture.do(refundNote(order.id, 100, { reference: key, idempotency: { key, digest: 'd' } })).order;
    const first = refund('a');
    fixture.do(amend(order.id, ids.slice(0, 1)));
    const second = refund('b');
    fixture.do(amend(order.id, ids.slice(1, 2)));
    assert.deepEqual(refund('a'), first);
    assert.deepEqual(refund('b'), second);
    assert.equal(orderOf(fixture, order).tickets.length, 1);
    assertSameAfterReplay(fixture);
  });

  it('keeps the note sealed, and erases it with the order', () => {
    const fixture = openCheckoutEvent();
    const order = bought(fixture, [item('adult', 2)]);
    fixture.do(amend(order.id, idsOf(order).slice(0, 1), { note: 'her sister is ill' }));
    assert.ok(!JSON.stringify(fixture.journal).includes('sister'));
    const [sealed] = orderOf(fixture, order).amendments;
    assert.ok(sealed?.sealedNote !== undefined && sealed.operator === 'olga');
    fixture.do({ type: 'EraseOrder', orderId: order.id, operator: null, note: null });
    const erased = fixture.journal.at(-1)!.fact;
    assert.ok(erased.type === 'OrderErased' && erased.data.keyIds.length === 2);
    assert.equal(orderOf(fixture, order).amendments[0]?.sealedNote, undefined);
    assertSameAfterReplay(fixture);
  });
});

describe('An amendment is refused', () => {
  const setUp = () => {
    const fixture = openCheckoutEvent();
    const order = bought(fixture, [item('adult', 3)]);
    return { fixture, order, ids: idsOf(order) };
  };

  it('for an order that there is not', () => {
    setUp()
      .fixture.when(amend('ord_1_unknown', ['tkt_1']))
      .refuses('ORDER_NOT_FOUND', {});
  });

  it('for an order that is not paid, or over', () => {
    const { fixture, order, ids } = setUp();
    const { order: pending } = checkOut(fixture, buy([item('adult', 1)]));
    fixture.when(amend(pending.id, ids)).refuses('ORDER_NOT_AMENDABLE', { status: 'PENDING' });
    fixture.do(cancelByOperator(order.id));
    fixture.when(amend(order.id, ids)).refuses('ORDER_NOT_AMENDABLE', { status: 'CANCELLED' });
  });

  it('for an order that was amended too often', () => {
    const fixture = given(
      oddEvent({ localities: [{ id: 'floor', name: 'F', seating: 'GENERAL', capacity: 200 }, ...oddHall] }),
    );
    const order = bought(fixture, [item('stand', ORDER_AMENDMENTS_MAX + 2)]);
    const ids = idsOf(order);
    for (const ticketId of ids.slice(0, ORDER_AMENDMENTS_MAX)) fixture.do(amend(order.id, [ticketId]));
    fixture.when(amend(order.id, ids.slice(-1))).refuses('ORDER_NOT_AMENDABLE', { status: 'CONFIRMED' });
    assert.equal(orderOf(fixture, order).amendments.length, 20);
    assertSameAfterReplay(fixture);
  });

  it('for tickets that are not of the order, or void', () => {
    const { fixture, order, ids } = setUp();
    const other = bought(fixture, [item('adult', 1)]);
    const strange = [idsOf(other)[0]!, 'tkt_1_unknown'];
    fixture.when(amend(order.id, [ids[0]!, ...strange])).refuses('TICKET_NOT_FOUND', { ticketIds: strange });
    fixture.do(amend(order.id, ids.slice(0, 1)));
    fixture.when(amend(order.id, ids.slice(0, 2))).refuses('TICKET_VOID', { ticketIds: ids.slice(0, 1) });
  });

  it('for a fee over the credit', () => {
    const { fixture, order, ids } = setUp();
    const credit = order.totalCents / 3;
    fixture.when(withFee(order.id, ids.slice(0, 1), credit + 1)).refuses('VALIDATION_ERROR', {
      errors: [{ path: ['fee'], message: `must be at most the credit of ${credit}` }],
    });
    assert.equal(amended(fixture, withFee(order.id, ids.slice(0, 1), credit)).refundDueCents, 0);
  });

  it('under an idempotency key once, and repeated with the first answer', () => {
    const { fixture, order, ids } = setUp();
    const idempotency = { key: 'k', digest: 'd' };
    const { amendment } = fixture.do(amend(order.id, ids.slice(0, 1), { idempotency }));
    fixture.do(amend(order.id, ids.slice(1, 2)));
    const again = fixture.do(amend(order.id, ids.slice(0, 1), { idempotency }));
    assert.deepEqual([again.amendment, again.replayed], [amendment, true]);
    assert.equal(orderOf(fixture, order).tickets.length, 1);
    const other = { ...amend(order.id, ids.slice(2)), idempotency: { key: 'k', digest: 'other' } };
    fixture.when(other).refuses('IDEMPOTENCY_KEY_REUSED', {});
    fixture.when({ ...other, orderId: 'ord_1_unknown' }).refuses('ORDER_NOT_FOUND', {});
  });

  it('leaves the answers to earlier requests as they were, which their keys give again', () => {
    const fixture = given(oddEvent());
    const begin = buy([item('stand', 3)], { installmentCount: 2, idempotency: { key: 'start', digest: 'd' } });
    const started = checkOut(fixture, begin);
    const order = recordPayment(fixture, report(paymentOf(started), 'paid'));
    const [first, second] = idsOf(order);
    assert.equal(amended(fixture, amend(order.id, [first!])).totalCents, 2 * 3333);
    const open = { type: 'OpenPayment', orderId: order.id, idempotency: { key: 'pay', digest: 'd' } } as const;
    const opened = fixture.do(open);
    openSession(fixture, opened.order, opened.payment);
    assert.equal(amended(fixture, amend(order.id, [second!])).totalCents, 3333);
    for (const [command, { order: then }] of [
      [begin, started],
      [open, opened],
    ] as const) {
      const again = fixture.do(command) as ReplyTo<'OpenPayment'>;
      const shown = [again.replayed, again.order.totalCents, again.order.installmentsCents];
      assert.deepEqual(shown, [true, then.totalCents, then.installmentsCents]);
    }
    assertSameAfterReplay(fixture);
  });
});

describe('A quote of an amendment', () => {
  const setUp = () => {
    const fixture = openCheckoutEvent();
    const order = bought(fixture, [item('adult', 3)]);
    const ids = idsOf(order);
    return { fixture, order, ids, asked: amend(order.id, ids.slice(0, 1)) };
  };

  it('changes nothing, and says what then happens', () => {
    const { fixture, order, asked } = setUp();
    const facts = fixture.journal.length;
    const quote = quoted(fixture, asked);
    assert.equal(fixture.journal.length, facts);
    assert.deepEqual(quote, quoted(fixture, asked));
    assert.equal(quote.expiresAt, fixture.now + 10 * MINUTE);
    fixture.wait(9 * MINUTE);
    const now = amended(fixture, { ...asked, quote: quote.quote });
    assert.deepEqual(
      [now.totalCents, now.refundDueCents, now.amendments[0]?.differenceCents],
      [quote.totalCents, quote.toRefundCents, quote.differenceCents],
    );
    assert.equal(quote.creditCents, order.totalCents / 3);
  });

  const staleCases: Record<string, (of: ReturnType<typeof setUp>) => Amend> = {
    'ran out': ({ fixture, asked }) => {
      const { quote } = quoted(fixture, asked);
      fixture.wait(10 * MINUTE);
      return { ...asked, quote };
    },
    'is of another request': ({ fixture, order, ids, asked }) => ({
      ...amend(order.id, ids.slice(1, 2)),
      quote: quoted(fixture, asked).quote,
    }),
    'is of another order': ({ fixture, asked }) => {
      const other = bought(fixture, [item('adult', 3)]);
      return { ...asked, quote: quoted(fixture, amend(other.id, idsOf(other).slice(0, 1))).quote };
    },
    'says something that has changed': ({ fixture, order, ids, asked }) => {
      const { quote } = quoted(fixture, asked);
      fixture.do(amend(order.id, ids.slice(2)));
      return { ...asked, quote };
    },
    'was prolonged': ({ fixture, asked }) => {
      const { quote, expiresAt } = quoted(fixture, asked);
      return { ...asked, quote: `${(expiresAt - 1).toString(36)}${quote.slice(quote.indexOf('.'))}` };
    },
    'is no quote': ({ asked }) => ({ ...asked, quote: 'please' }),
  };
  for (const [what, make] of Object.entries(staleCases)) {
    it(`that ${what} is stale, and the new one holds`, () => {
      const of = setUp();
      const command = make(of);
      const refused = of.fixture.execute(command);
      assert.ok(isRefusal(refused) && refused.code === 'QUOTE_STALE', JSON.stringify(refused));
      const { quote } = refused.detail.quote as AmendmentQuote;
      assert.deepEqual(refused.detail.quote, quoted(of.fixture, command));
      amended(of.fixture, { ...command, quote });
    });
  }
});
