/**
 * Personal data of orders: sealed in facts, counted by its hash, erased with every key that is named, and by retention.
 * What an erasure changes in answers is in scenarios (`scenarios/erasure.ts`).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditEventState } from '#domain/event/audit.ts';
import { findOrder, listOrders } from '#domain/orders/view.ts';
import { keyIdOf } from '#domain/personal.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { CommandOf } from '#domain/command.ts';
import type { Customer } from '#domain/personal.ts';
import type { FactData } from '#domain/fact.ts';
import type { OrderView } from '#domain/view.ts';
import {
  anna,
  bothDates,
  buy,
  checkOut,
  erase,
  item,
  openCheckoutEvent,
  paymentOf,
  recordPayment,
  refundNote,
  report,
  visitor,
} from '../../fixtures/commands.ts';
import { assertSameAfterReplay, fingerprint, MINUTE, START, type EventFixture } from '../../fixtures/event-state.ts';

const DAY = 24 * 60 * MINUTE;

const eraseDue = (after: number | null, limit: number): CommandOf<'EraseDueOrders'> => ({
  type: 'EraseDueOrders',
  after,
  limit,
});

const maria: Customer = {
  email: 'Maria@Example.com',
  name: 'Maria Musterfrau',
  documentNumber: 'X 1234',
  phone: '+49 30 1234',
};

/** Every text that the tests give of people. */
const PEOPLE = /maria|musterfrau|1234|bernd|utm_source|cash for/i;

/** A paid order with everything that is personal on it: customer, attendees, tracking, and notes. */
function soldTo(fixture: EventFixture, customer = maria): OrderView {
  const attendees = [visitor('Bernd'), visitor('Maria')];
  const started = checkOut(
    fixture,
    buy([item('seat', 2, { attendees }), item('adult', 1)], { customer, tracking: { utm_source: 'letter' } }),
  );
  return recordPayment(fixture, report(paymentOf(started), 'paid'));
}

/** The order with a refund and a cancellation that operators wrote notes about. */
function cancelledWithNotes(fixture: EventFixture, { id: orderId }: OrderView): OrderView {
  fixture.do(refundNote(orderId, 100, { note: 'cash for Maria' }));
  return fixture.do({ type: 'CancelOrder', orderId, operator: 'olga', note: 'Maria is ill' }).order;
}

function orderOf(fixture: EventFixture, orderId: string): OrderView {
  const order = findOrder(fixture.state, orderId);
  assert.ok(!isRefusal(order));
  return order;
}

function factOf<Type extends keyof FactData>(fixture: EventFixture, type: Type): FactData[Type] {
  return fixture.journal.findLast(({ fact }) => fact.type === type)!.fact.data as FactData[Type];
}

describe('The personal data of an order', () => {
  it('stand in facts, snapshots and views as sealed texts alone, each with a key of its own', () => {
    const fixture = openCheckoutEvent();
    const order = cancelledWithNotes(fixture, soldTo(fixture));
    for (const kept of [fixture.journal, fingerprint(fixture.state), order]) {
      assert.doesNotMatch(JSON.stringify(kept), PEOPLE);
    }
    const placed = factOf(fixture, 'OrderPlaced');
    assert.deepEqual([placed.customer, placed.tracking], [null, null]);
    assert.deepEqual(
      placed.items.map(({ attendees, isNamed }) => [attendees, isNamed]),
      [
        [null, true],
        [null, undefined],
      ],
    );
    const { sealing } = fixture;
    assert.deepEqual(sealing.personalOf(order), {
      customer: maria,
      attendees: [[visitor('Bernd'), visitor('Maria')], null],
      tracking: { utm_source: 'letter' },
    });
    assert.equal(sealing.refundsOf(order)[0]!.note, 'cash for Maria');
    const cancelled = factOf(fixture, 'OrderCancelled');
    assert.equal(sealing.open(order.id, 'OrderCancelled', cancelled.sealedNote!), 'Maria is ill');
    const texts = [placed.personal!.sealed!, cancelled.sealedNote!, factOf(fixture, 'RefundRecorded').sealedNote!];
    assert.equal(new Set(texts.map(keyIdOf)).size, 3);
    assert.deepEqual(auditEventState(fixture.state), []);
    assertSameAfterReplay(fixture);
  });

  it('cannot be guessed from the digests of requests, which are keyed; repeats are recognized, older ones too', () => {
    const fixture = openCheckoutEvent();
    const digest = 'digest-of-a-body';
    const command = (key: string) => buy([item('adult', 1)], { customer: maria, idempotency: { key, digest } });
    const first = checkOut(fixture, command('k'));
    const cancel = { type: 'CancelOrder', orderId: first.order.id, operator: null, note: 'Maria is ill' } as const;
    fixture.do({ ...cancel, idempotency: { key: 'c', digest } });
    assert.doesNotMatch(JSON.stringify([fixture.journal, fingerprint(fixture.state)]), /digest-of-a-body/);
    assert.equal(fixture.do(command('k')).replayed, true);
    const other = { ...command('k'), idempotency: { key: 'k', digest: 'of another body' } };
    fixture.when(other).refuses('IDEMPOTENCY_KEY_REUSED', {});
    fixture.seals = false;
    const older = checkOut(fixture, command('older'));
    fixture.seals = true;
    assert.equal(fixture.do(command('older')).order.id, older.order.id);
    assertSameAfterReplay(fixture);
  });

  it('are found by an address however it is written, also beside orders of older versions', () => {
    const fixture = openCheckoutEvent();
    const list = (email: string) => {
      const wanted = { status: null, email, after: null, limit: 10 };
      return listOrders(fixture.state, wanted, fixture.sealing.sealing).orders.map(({ id: orderId }) => orderId);
    };
    fixture.seals = false;
    const older = soldTo(fixture);
    fixture.seals = true;
    const newer = soldTo(fixture);
    soldTo(fixture, anna);
    assert.deepEqual(list(' MARIA+x@example.com'), [older.id, newer.id]);
  });

  it('count for the limit of their address, beside the open ones of older orders', () => {
    const fixture = openCheckoutEvent({ maxTicketsPerEmail: 7 });
    fixture.seals = false;
    soldTo(fixture);
    fixture.seals = true;
    soldTo(fixture, { ...maria, email: 'maria+two@example.com' });
    const detail = { limit: 7, requested: 2 };
    fixture.when(buy([item('adult', 2)], { customer: maria })).refuses('MAX_TICKETS_PER_EMAIL_EXCEEDED', detail);
    fixture.do(buy([item('adult', 1)], { customer: maria }));
    assertSameAfterReplay(fixture);
  });
});

describe('The erasure of an order', () => {
  it('names every key of it, and takes what was sealed out of the state; all else stays', () => {
    const fixture = openCheckoutEvent();
    const before = cancelledWithNotes(fixture, soldTo(fixture));
    const texts = [before.personal.sealed!, before.refunds[0]!.sealedNote!, before.cancellation!.sealedNote!];
    fixture.wait(MINUTE);
    const { order, repeated } = fixture.do(erase(before.id));
    assert.equal(repeated, false);
    const { keyIds, ...fact } = factOf(fixture, 'OrderErased');
    assert.deepEqual(fact, { orderId: before.id, operator: 'olga', cause: 'REQUEST' });
    assert.deepEqual([...keyIds].sort(), texts.map(keyIdOf).sort());
    const { personal, cancellation, refunds, ...others } = order;
    assert.deepEqual(personal, {
      orderId: before.id,
      sealed: null,
      open: null,
      erasure: { at: fixture.now, operator: 'olga', cause: 'REQUEST' },
    });
    assert.ok(!('sealedNote' in cancellation!) && !('sealedNote' in refunds[0]!));
    assert.deepEqual({ ...before, personal, cancellation, refunds }, { ...others, personal, cancellation, refunds });
    const state = fingerprint(fixture.state).join('\n');
    for (const text of texts) assert.ok(!state.includes(text), 'no sealed text is left in the state');
    assert.deepEqual(auditEventState(fixture.state), []);
    assertSameAfterReplay(fixture);
  });

  it('names the key of a note that was written after an earlier one', () => {
    const fixture = openCheckoutEvent();
    const { id: orderId } = soldTo(fixture);
    fixture.do(erase(orderId));
    fixture.do(refundNote(orderId, 100, { note: 'cash for Maria' }));
    const { sealedNote } = factOf(fixture, 'RefundRecorded');
    fixture.when(erase(orderId)).then(['OrderErased']);
    assert.deepEqual(factOf(fixture, 'OrderErased').keyIds, [keyIdOf(sealedNote!)]);
    assertSameAfterReplay(fixture);
  });

  it('also names the key of a second note on one refund', () => {
    const fixture = openCheckoutEvent();
    const { id: orderId } = soldTo(fixture);
    fixture.do(refundNote(orderId, 100, { note: 'cash for Maria' }));
    fixture.do(refundNote(orderId, 100, { note: 'seen by Bernd', provider: 'provider_a', reference: 're_1' }));
    const notes = fixture.journal.flatMap(({ fact }) => (fact.type === 'RefundRecorded' ? fact.data.sealedNote! : []));
    assert.equal(orderOf(fixture, orderId).refunds.length, 1);
    assertSameAfterReplay(fixture);
    fixture.do(erase(orderId));
    const { keyIds } = factOf(fixture, 'OrderErased');
    assert.ok(notes.length === 2 && notes.every((note) => keyIds.includes(keyIdOf(note))));
    assertSameAfterReplay(fixture);
  });

  it('is refused of older orders', () => {
    const fixture = openCheckoutEvent();
    fixture.seals = false;
    fixture.when(erase(soldTo(fixture).id)).refuses('ORDER_NOT_SEALED', {});
  });
});

describe('The retention of an event', () => {
  const ended = (definition: object = {}) => openCheckoutEvent({ retentionDays: 30, ...definition });
  const endsAt = bothDates[0]!.endsAt + 30 * DAY;

  it('erases all orders once it has passed, some in each turn, and those that are paid for later in the next round', () => {
    const fixture = ended({ paymentMinutes: 60 * 24 * 90 });
    const orders = [soldTo(fixture), soldTo(fixture, anna)];
    const pending = checkOut(fixture, buy([item('adult', 1)]));
    orders.push(soldTo(fixture));
    fixture.now = endsAt - 1;
    fixture.when(eraseDue(null, 10)).then([]);
    fixture.now = endsAt;
    assert.deepEqual(fixture.do(eraseDue(null, 2)), {
      outcome: 'DONE',
      erasedOrders: 2,
      unsealedOrders: 0,
      nextAfter: 1,
    });
    assert.deepEqual(fixture.do(eraseDue(1, 2)), {
      outcome: 'DONE',
      erasedOrders: 1,
      unsealedOrders: 0,
      nextAfter: null,
    });
    for (const { id: orderId } of orders) {
      const { personal } = orderOf(fixture, orderId);
      assert.deepEqual(personal.erasure, { at: endsAt, operator: null, cause: 'RETENTION' });
    }
    fixture.when(eraseDue(null, 10)).then([]);
    recordPayment(fixture, report(paymentOf(pending), 'paid'));
    fixture.when(eraseDue(null, 10)).then(['OrderErased']);
    assert.equal(fixture.state.orders.sealedCount, 0);
    assertSameAfterReplay(fixture);
  });

  it('counts the orders that cannot be erased because older facts have them open', () => {
    const fixture = ended();
    fixture.seals = false;
    soldTo(fixture);
    fixture.seals = true;
    soldTo(fixture, anna);
    fixture.now = endsAt;
    const { erasedOrders, unsealedOrders } = fixture.do(eraseDue(null, 10));
    assert.deepEqual([erasedOrders, unsealedOrders], [1, 1]);
    assert.deepEqual(fixture.do(eraseDue(null, 10)).unsealedOrders, 1);
  });

  it('is none where it is not set', () => {
    const fixture = ended({ retentionDays: null });
    soldTo(fixture);
    fixture.now = START + 4_000 * DAY;
    fixture.when(eraseDue(null, 10)).then([]);
  });
});
