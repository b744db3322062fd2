/**
 * A sale over HTTP beside its book: every call goes to both apps by injection, is told to the book, and whatever the
 * service shows must be what the book says.
 *
 * The clock stands until the sale moves it. Refunds are executed by the service's own outbox, and only while
 * `tryRefunds` waits for it.
 */
import assert from 'node:assert/strict';
import { setImmediate as nextRound } from 'node:timers/promises';
import { activationChannel, type ActivationMessage } from '#actors/channels.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import type { OrderStatusBody } from '#http/buyers/orders/schema.ts';
import type { Static } from 'typebox';
import type { Amendment, AmendmentQuoteBody } from '#http/buyers/orders/amendments.ts';
import { signatureOf } from '../fixtures/checkout.ts';
import { callerOf, type Answer, type Caller, type Json } from '../fixtures/client.ts';
import { assertSameAfterReplay, START } from '../fixtures/event-state.ts';
import { ADMIN_TOKEN, openApps, WEBHOOK_SECRET, type Apps } from '../http/apps.ts';
import {
  Book,
  type By,
  currenciesOf,
  discountOf,
  isLive,
  paidAmount,
  paidInstallments,
  paymentStatus,
  refundDue,
  refunded,
  refundPending,
  remainingAmount,
  ticketIdsOf,
  ticketsOfLine,
  totalOf,
  type Order,
  type Payment,
  type Purchase,
  type Refund,
} from './book.ts';
import { enterAmendment, enterPending, planOf, type Plan, type Refused, type Request } from './amendment.ts';
import { sum } from './cents.ts';
import {
  CURRENCY,
  definitionWith,
  EVENT_ID,
  PAYMENT_MINUTES,
  PERFORMANCES,
  SLUG,
  STAGES,
  TYPES,
  type Terms,
} from './event.ts';

/** What a quote said, and of what it is. */
export interface Quote {
  readonly order: Order;
  readonly request: Request;
  readonly by: By;
  readonly body: QuoteBody;
}

type QuoteBody = Static<typeof AmendmentQuoteBody>;
type AmendmentBody = Static<typeof Amendment>;

interface Amount {
  readonly amount: number;
  readonly currency: string;
}

const ROUNDS_MAX = 2_000;

export type Outcome = Parameters<Book['tryAll']>[0];

export class Sale {
  readonly book: Book;
  /** What was asked for, for the message of a failure. */
  readonly calls: string[] = [];
  /** What amendments came to. */
  readonly outcomes: string[] = [];
  readonly #apps: Apps;
  readonly #buyer: Caller;
  readonly #admin: Caller;
  #reports = 0;
  /** The list of void tickets as it was shown last. */
  #revoked: readonly string[] = [];

  private constructor(apps: Apps, terms: Terms) {
    this.#apps = apps;
    this.book = new Book(terms, START);
    const through = (app: Apps['app'], more: object) =>
      callerOf(async (method, url, { body, headers } = {}) => {
        const type = body === undefined ? {} : { 'content-type': 'application/json' };
        const payload = typeof body === 'string' ? body : JSON.stringify(body);
        const request = { method: method as 'GET', url, headers: { ...type, ...more, ...headers } };
        const response = await app.inject(body === undefined ? request : { ...request, payload: payload! });
        if (method !== 'GET') this.calls.push(`${method} ${url} ${payload ?? ''} ${response.statusCode}`);
        return { status: response.statusCode, headers: new Headers(), body: response.json() };
      });
    this.#buyer = through(apps.app, {});
    this.#admin = through(apps.admin, { authorization: `Bearer ${ADMIN_TOKEN}` });
  }

  static async open(terms: Terms): Promise<Sale> {
    const apps = await openApps({ clientLimits: false }, []);
    apps.isOwner = false;
    const sale = new Sale(apps, terms);
    expect(await sale.#admin.put(`/admin/events/${EVENT_ID}`, definitionWith(terms)), 201);
    return sale;
  }

  close(): Promise<void> {
    return this.#apps.close();
  }

  wait(ms: number): void {
    this.#apps.clock.ms += ms;
    this.book.wait(ms);
  }

  // ── purchases and payments ─────────────────────────────────────────────────────────────────────────────────────────

  /** Places an order, or is refused as the book says. */
  async buy({ email, ...asked }: Purchase): Promise<Order | null> {
    const refusal = this.book.refusalOf({ email, ...asked });
    const customer = { email, name: 'Anna' };
    const body = { event_id: EVENT_ID, accept_terms: true, customer, ...asked };
    const answer = await this.#buyer.post<Record<string, string>>('/api/checkout/start', body);
    if (refusal !== null) {
      assert.deepEqual([answer.body['code'], answer.status < 500], [refusal, true], JSON.stringify(answer.body));
      return null;
    }
    const { order_id: id, checkout_session_id: session } = expect(answer, 201);
    const order = this.book.place(id!, { email, ...asked });
    if (order.status === 'PENDING') this.book.open(order, session!);
    return order;
  }

  /** Opens what is to be paid next. */
  async openPayment(order: Order): Promise<void> {
    const answer = await this.#buyer.post<Record<string, string>>(`/api/checkout/orders/${order.id}/payments`);
    if (this.book.toPay(order) === null) return assertCode(answer, 409, 'ORDER_NOT_PAYABLE');
    const { waiting } = this.book.toPay(order)!;
    const payment = this.book.open(order, expect(answer, 201)['checkout_session_id']!);
    if (waiting !== null) assert.equal(answer.body['checkout_session_id'], payment.sessionId);
  }

  async settle(order: Order, payment: Payment, outcome: 'paid' | 'declined' | 'cancelled'): Promise<void> {
    expect(await this.#buyer.post(`/sandbox/payments/${payment.sessionId}`, { outcome }), 200);
    if (outcome === 'paid') await this.#enterPaid(order, this.book.pay(order, payment));
    else this.book.close(order, payment, outcome);
  }

  /** Money brought about an amendment: which tickets were issued, and where. */
  async #enterPaid(order: Order, amendment: ReturnType<Book['pay']>): Promise<void> {
    if (amendment === null) return;
    const shown = expect(await this.#admin.get<AdminOrderBody>(`/admin/orders/${order.id}`), 200);
    const { tickets } = shown.amendments.find(({ id }) => id === amendment.id)!;
    const newIds = new Map(tickets.flatMap(({ ticket_id: id, new_ticket_id: to }) => (to === null ? [] : [[id, to]])));
    amendment.wanted!.enter(newIds, new Map());
    this.outcomes.push(`paid by ${amendment.by}`);
  }

  /** Withdraws an amendment that is yet to be paid. */
  async withdraw(order: Order, { id, status }: Order['amendments'][number], by: By): Promise<void> {
    const answer = await this.#callerOf(by).delete<AmendmentBody>(`${pathOf(order, by)}/${id}`);
    if (status === 'APPLIED' || status === 'EXPIRED')
      return assertCode(answer, 409, 'AMENDMENT_NOT_PENDING', { status });
    assert.equal(expect(answer, 200).status, 'CANCELLED');
    if (status === 'PENDING') this.book.endPending(order, 'CANCELLED');
    this.outcomes.push(`withdrawn when ${status}`);
  }

  /** The provider reports another amount or currency than was asked for. */
  async payOther(order: Order, payment: Payment, amount: number, currency: string): Promise<void> {
    await this.#report('payment.paid', { checkout_session_id: payment.sessionId, amount, currency });
    await this.#enterPaid(order, this.book.pay(order, payment, amount, currency));
  }

  async cancelByOperator(order: Order): Promise<void> {
    const answer = await this.#admin.post(`/admin/orders/${order.id}/cancel`);
    const { status, endedBy } = order;
    if (!isLive(order) && endedBy !== 'OPERATOR') return assertCode(answer, 409, 'ORDER_NOT_CANCELLABLE', { status });
    expect(answer, 200);
    this.book.cancelByOperator(order);
  }

  // ── amendments ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Asks what an amendment would do; null where it is refused, as the book says. */
  async quote(order: Order, request: Request, by: By): Promise<Quote | null> {
    const plan = planOf(this.book, order, request, by);
    const answer = await this.#callerOf(by).post<QuoteBody>(`${pathOf(order, by)}/quote`, request as Json);
    if ('refusal' in plan) {
      this.#assertRefused(answer, plan);
      return null;
    }
    this.#checkQuote(order, expect(answer, 200), plan);
    return { order, request, by, body: answer.body };
  }

  /** Amends an order, with a quote where one is given; twice under one key where that is asked for. */
  async amend(order: Order, request: Request, by: By, quote: Quote | null, isRepeated = false): Promise<void> {
    const plan = planOf(this.book, order, request, by);
    const key = isRepeated ? { 'idempotency-key': `key ${(this.#reports += 1)}` } : {};
    const send = () => {
      const body = { ...request, ...(quote !== null && { quote: quote.body.quote }) };
      return this.#callerOf(by).post<AmendmentBody>(pathOf(order, by), body as Json, key);
    };
    if ('quoted' in plan && plan.quoted.to_pay > 0) await this.#learnSeats(order, request, by, plan);
    const answer = await send();
    if (by === 'BUYER' && quote === null) return this.#assertRefused(answer, { refusal: 'VALIDATION_ERROR' });
    if ('refusal' in plan) return this.#assertRefused(answer, plan);
    if (quote !== null && this.#checkStale(order, plan, { request, by, quote }, answer)) return;
    const amendment = expect(answer, 201);
    if (plan.quoted.to_pay > 0) this.#enterPending(order, plan, { request, by, amendment });
    else await this.#enter(order, plan, { request, by, amendment, quote });
    if (!isRepeated) return;
    const again = await send();
    assert.deepEqual([again.status, again.body], [201, amendment], 'the answer again');
  }

  /** The seats that the service chooses for an amendment now: what is held of them until it is paid is compared. */
  async #learnSeats(order: Order, request: Request, by: By, { after, quoted }: Plan): Promise<void> {
    if (quoted.tickets.every(({ seat_id: seat }) => seat !== undefined)) return;
    const answer = await this.#callerOf(by).post<QuoteBody>(`${pathOf(order, by)}/quote`, request as Json);
    const seats = new Map(expect(answer, 200).tickets.map(({ ticket_id: id, seat_id: seat }) => [id, seat]));
    for (const { type, units } of after.lines) {
      for (const unit of units) {
        if (type.locality_id !== 'hall' || unit.seatIds.length > 0) continue;
        unit.seatIds = unit.ticketIds.map((id) => seats.get(id)!);
      }
    }
  }

  #enterPending(
    order: Order,
    plan: Plan,
    { request, by, amendment }: Omit<Quote, 'order' | 'body'> & { readonly amendment: AmendmentBody },
  ): void {
    const { difference, fee, to_pay: toPay, tickets } = plan.quoted;
    const { id, redirect_url: url, checkout_session_id: sessionId } = amendment;
    assert.ok(url !== null && sessionId !== null, 'a session is open');
    const { to_refund: _refund, ...shown } = amendment;
    assert.deepEqual(shown, {
      id,
      status: 'PENDING',
      by,
      created_at: new Date(this.book.now).toISOString(),
      applied_at: null,
      expires_at: new Date(this.book.now + PAYMENT_MINUTES * 60_000).toISOString(),
      difference,
      fee,
      to_pay: toPay,
      tickets: tickets.map(({ ticket_id: ticketId, action }) => ({ ticket_id: ticketId, action, new_ticket_id: null })),
      payment_provider: 'provider_a',
      redirect_url: url,
      checkout_session_id: sessionId,
    });
    enterPending(this.book, order, plan, request, { id, by, sessionId });
    this.outcomes.push(`pending by ${by}`);
  }

  #callerOf(by: By): Caller {
    return by === 'BUYER' ? this.#buyer : this.#admin;
  }

  #assertRefused({ status, body }: Answer<unknown>, { refusal, detail, isAnywhere }: Refused): void {
    const refused = body as { readonly code?: string; readonly detail?: { readonly reason?: string } };
    const code = isAnywhere === true ? refused.code : refusal;
    assert.deepEqual([refused.code, status >= 400 && status < 500], [code, true], JSON.stringify(body));
    if (detail !== undefined) assert.deepEqual(refused.detail, detail);
    this.outcomes.push(`refused ${code} ${refused.detail?.reason ?? ''}`.trim());
  }

  #checkQuote(order: Order, { quote, expires_at: expiresAt, tickets, ...sums }: QuoteBody, plan: Plan): void {
    const { tickets: planned, ...plannedSums } = plan.quoted;
    assert.deepEqual(sums, { ...plannedSums, currency: CURRENCY }, `the quote for ${order.id}`);
    assert.equal(expiresAt, new Date(plan.endsAt).toISOString(), 'until when the quote lasts');
    assert.ok(quote.length > 0);
    assert.deepEqual(tickets.map(toQuotedTicket), planned.map(withSeatsOf(tickets)));
    for (const [index, { seat_id: seat }] of planned.entries()) {
      const { performance_id: date, seat_id: chosen } = tickets[index]!;
      const own = order.lines.flatMap(({ units }) => units.flatMap(({ seatIds }) => seatIds));
      const isFree = [...this.book.freeSeats(date), ...own].includes(chosen!);
      assert.ok(seat !== undefined || isFree, `seat ${chosen} of ${date} is free`);
    }
  }

  /** Whether a quote is stale: it ran out, is of something else, or what it said would be another. */
  #checkStale(
    order: Order,
    plan: Plan,
    { request, by, quote }: Omit<Quote, 'order' | 'body'> & { readonly quote: Quote },
    answer: Answer<unknown>,
  ): boolean {
    const { body } = quote;
    const { tickets, ...sums } = body;
    const planned = plan.quoted.tickets.map(withSeatsOf(tickets));
    const isOfThis =
      quote.order === order && quote.by === by && JSON.stringify(quote.request) === JSON.stringify(request);
    const isInTime = this.book.now < Date.parse(body.expires_at);
    const { tickets: _tickets, ...plannedSums } = plan.quoted;
    const isSame =
      Object.entries(plannedSums).every(([field, value]) => sums[field as keyof typeof sums] === value) &&
      JSON.stringify(tickets.map(toQuotedTicket)) === JSON.stringify(planned);
    const { code, detail } = answer.body as { readonly code?: string; readonly detail: { readonly quote: QuoteBody } };
    const mayHaveOtherSeats = plan.quoted.tickets.some(({ seat_id: seat }) => seat === undefined);
    if (isOfThis && isInTime && isSame && !(mayHaveOtherSeats && code === 'QUOTE_STALE')) return false;
    assert.deepEqual(
      [code, answer.status],
      ['QUOTE_STALE', 409],
      `${JSON.stringify(answer.body)} for ${JSON.stringify(body)}`,
    );
    this.#checkQuote(order, detail.quote, plan);
    if (isOfThis && isInTime && isSame) {
      assert.notDeepEqual(detail.quote.tickets, tickets, 'nothing of the quote would be another');
    }
    this.outcomes.push(isInTime ? (isOfThis ? 'stale: another' : 'stale: of something else') : 'stale: ran out');
    return true;
  }

  async #enter(
    order: Order,
    plan: Plan,
    {
      request,
      by,
      amendment,
      quote,
    }: Omit<Quote, 'order' | 'body'> & { readonly amendment: AmendmentBody; readonly quote: Quote | null },
  ): Promise<void> {
    const { difference, fee, to_pay, to_refund, tickets } = plan.quoted;
    const at = new Date(this.book.now).toISOString();
    const newIds = new Map(
      amendment.tickets.flatMap(({ ticket_id: id, new_ticket_id: to }) => (to === null ? [] : [[id, to]])),
    );
    assert.deepEqual(amendment, {
      id: amendment.id,
      status: 'APPLIED',
      by,
      created_at: at,
      applied_at: at,
      expires_at: null,
      difference,
      fee,
      to_pay,
      to_refund,
      tickets: tickets.map(({ ticket_id: id, action }) => ({
        ticket_id: id,
        action,
        new_ticket_id: newIds.get(id) ?? null,
      })),
      payment_provider: null,
      redirect_url: null,
      checkout_session_id: null,
    });
    const isNew = ({ action }: { readonly action: string }): boolean => action === 'CHANGE' || action === 'REISSUE';
    assert.deepEqual(
      [...newIds.keys()],
      tickets.filter(isNew).map(({ ticket_id: id }) => id),
      'tickets that were issued',
    );
    assert.equal(new Set([...newIds.values(), ...this.book.revoked]).size, newIds.size + this.book.revoked.length);
    const shown = expect(await this.#admin.get<AdminOrderBody>(`/admin/orders/${order.id}`), 200);
    const seats = new Map(shown.ticket_objects.flatMap(({ id, seat_id: seat }) => (seat === null ? [] : [[id, seat]])));
    for (const { ticket_id: id, performance_id: date, seat_id: seat } of tickets) {
      if (seat !== undefined) continue;
      const chosen = seats.get(newIds.get(id)!)!;
      const quoted = quote?.body.tickets.find((each) => each.ticket_id === id);
      assert.equal(quoted?.seat_id ?? chosen, chosen, 'the seat that was quoted');
      const own = order.lines.flatMap(({ units }) => units.flatMap(({ seatIds }) => seatIds));
      assert.ok([...this.book.freeSeats(date), ...own].includes(chosen), `seat ${chosen} of ${date} is free`);
    }
    for (const { action } of tickets) this.outcomes.push(`${action} by ${by}`);
    if (plan.isWithdrawal) this.outcomes.push('withdrawal');
    if (quote !== null && Date.parse(quote.body.expires_at) - this.book.now < 590_000)
      this.outcomes.push('quote of before');
    enterAmendment(this.book, order, plan, request, { id: amendment.id, by, newIds, seats });
  }

  // ── refunds ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** An operator records money that was given back. */
  async noteRefund(order: Order, amount: number, currency: string): Promise<void> {
    const body = { amount, currency, reference: `note ${(this.#reports += 1)}` };
    const answer = await this.#admin.post<AdminOrderBody>(`/admin/orders/${order.id}/refunds`, body);
    const refundable = this.book.refundable(order, currency);
    if (amount > refundable) return assertCode(answer, 409, 'REFUND_TOO_HIGH', { refundable, requested: amount });
    const { refunds } = expect(answer, 200);
    this.book.note(order, refunds.at(-1)!.id, amount, currency);
  }

  /** An operator has money given back; all that is due where no amount is named. */
  async execute(order: Order, amount: number | null, payment: Payment | null): Promise<void> {
    const named = payment === null ? {} : { payment_id: await this.#idOf(order, payment) };
    const body = { execute: true, ...(amount !== null && { amount }), ...named };
    const answer = await this.#admin.post(`/admin/orders/${order.id}/refunds`, body);
    const { book } = this;
    const refundable = book.refundable(order, payment?.currency ?? CURRENCY, payment);
    const isNothing = amount === null ? book.toAsk(order, payment).length === 0 : amount > refundable;
    if (isNothing) return assertCode(answer, 409, 'REFUND_TOO_HIGH', { refundable, requested: amount ?? 0 });
    expect(answer, 200);
    book.execute(order, amount, payment);
  }

  async #idOf(order: Order, { sessionId }: Payment): Promise<string> {
    const { payments } = expect(await this.#admin.get<AdminOrderBody>(`/admin/orders/${order.id}`), 200);
    return payments.find((each) => each.checkout_session_id === sessionId)!.id;
  }

  /** The outbox makes every try that is due, and each that asks comes to the same. */
  async tryRefunds(outcome: Outcome): Promise<void> {
    this.wait(1_000);
    await this.#learnRefunds();
    expect(await this.#buyer.post('/sandbox/refunds', { next: outcome, times: 1_000 }), 200);
    const activated: ActivationMessage = { eventId: EVENT_ID, alive: true, factsReplayed: 0, tookMs: 0 };
    this.#apps.isOwner = true;
    activationChannel.publish(activated);
    for (let round = 0; await this.#hasDue(); round += 1) {
      assert.ok(round < ROUNDS_MAX, 'a refund that is due was not tried');
      for (let n = 0; n < 5; n += 1) await nextRound();
    }
    this.#apps.isOwner = false;
    this.book.tryAll(outcome);
  }

  async #hasDue(): Promise<boolean> {
    type Page = { readonly refunds: readonly { readonly next_try_at: string }[] };
    const path = `/admin/events/${EVENT_ID}/refunds?status=PENDING&limit=500`;
    const { refunds } = expect(await this.#admin.get<Page>(path), 200);
    return refunds.some(({ next_try_at: at }) => Date.parse(at) <= this.book.now);
  }

  async resolve(order: Order, refund: Refund, outcome: 'RETRY' | 'GIVEN_BACK' | 'NOT_GIVEN_BACK'): Promise<void> {
    await this.#learnRefunds();
    const body = { outcome, ...(outcome !== 'RETRY' && { reference: `resolved ${(this.#reports += 1)}` }) };
    const answer = await this.#admin.post(`/admin/orders/${order.id}/refunds/${refund.id}/resolve`, body);
    const { status } = refund;
    if (status !== 'NEEDS_OPERATOR') return assertCode(answer, 409, 'REFUND_NOT_OPEN', { status });
    expect(answer, 200);
    this.book.resolve(refund, outcome);
  }

  /** The provider settles a refund that it works on, and reports it. */
  async settleRefund(refund: Refund, outcome: 'succeeded' | 'failed'): Promise<void> {
    expect(await this.#buyer.post(`/sandbox/refunds/${await this.#referenceOf(refund)}`, { outcome }), 200);
    this.book.settleRefund(refund, outcome);
  }

  /** The provider reports that a refund which had succeeded has failed since. */
  async failRefund(refund: Refund): Promise<void> {
    const { amount, currency, payment } = refund;
    const session = payment!.sessionId ?? payment!.strayOf;
    const about = { refund_id: refund.id, reference: await this.#referenceOf(refund), amount, currency };
    await this.#report('refund.failed', { ...about, checkout_session_id: session });
    this.book.failRefund(refund);
  }

  async #referenceOf(refund: Refund): Promise<string> {
    await this.#learnRefunds();
    type List = { readonly refunds: readonly { readonly refund_id: string; readonly reference: string }[] };
    const { refunds } = expect(await this.#buyer.get<List>('/sandbox/refunds'), 200);
    return refunds.find((each) => each.refund_id === refund.id)!.reference;
  }

  async #report(type: string, data: object): Promise<void> {
    const at = this.book.now;
    const timestamp = String(Math.floor(at / 1000));
    const id = `msg_${(this.#reports += 1)}`;
    const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
    const signature = `v1,${signatureOf(WEBHOOK_SECRET, `${id}.${timestamp}.${body}`)}`;
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    expect(await this.#buyer.post('/api/payments/webhooks/provider_a', body, headers), 200);
  }

  // ── what is shown ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** Compares everything that the service shows with the book; of one order what its buyer sees as well. */
  async check(order: Order | null): Promise<void> {
    await this.#checkOrders();
    if (order !== null) await this.#checkBuyersView(order);
    await this.#checkStock();
    await this.#checkMoney();
    const revoked = await this.#buyer.get<{ tickets: string[] }>(`/api/tickets/revoked?event_id=${EVENT_ID}`);
    const { tickets } = expect(revoked, 200);
    const known = this.#revoked.length;
    assert.deepEqual(tickets.slice(0, known), this.#revoked, 'void tickets stay where they are in the list');
    assert.deepEqual(tickets.slice(known).toSorted(), this.book.revoked.slice(known).toSorted(), 'void tickets');
    this.#revoked = tickets;
  }

  /** A replay of the facts, and a restored snapshot, give the state in memory. */
  replay(): void {
    assertSameAfterReplay(this.#apps.fixtures.get(EVENT_ID)!);
  }

  /** The orders as they are listed, of which the book learns the ids of refunds that were asked for since. */
  async #learnRefunds(): Promise<readonly AdminOrderBody[]> {
    type List = { readonly orders: readonly AdminOrderBody[] };
    const { orders } = expect(await this.#admin.get<List>(`/admin/events/${EVENT_ID}/orders?limit=500`), 200);
    for (const [index, { refunds }] of this.book.orders.entries()) {
      for (const [place, refund] of refunds.entries()) refund.id ||= orders[index]?.refunds[place]?.id ?? '';
    }
    return orders;
  }

  async #checkOrders(): Promise<void> {
    const shown = await this.#learnRefunds();
    assert.deepEqual(
      shown.map(({ order_id: id }) => id),
      this.book.orders.map(({ id }) => id),
    );
    for (const [index, order] of this.book.orders.entries()) this.#checkOrder(order, shown[index]!);
  }

  #checkOrder(order: Order, shown: AdminOrderBody): void {
    if (order.isIssued) learnTickets(order, shown);
    this.#checkTickets(order, shown);
    const items = itemsOf(order.isEndedByAmendment ? order.lastLines : order.lines);
    assert.deepEqual(itemsShown(shown), items, `items of order ${order.id}`);
    const voided = [...order.voided].filter(([id]) => !shown.tickets.includes(id)).toReversed();
    assert.deepEqual(
      shown.void_tickets.map(({ id, void_reason: reason, valid, code }) => [id, reason, valid, code]),
      voided.map(([id, reason]) => [id, reason, false, null]),
      `void tickets of order ${order.id}`,
    );
    const all = { ...sumsOf(order), refunded_amount: refunded(order), refunds_due: refundsDueOf(order) };
    for (const [field, value] of Object.entries(all)) {
      assert.deepEqual(shown[field as keyof AdminOrderBody], value, `${field} of order ${order.id}, for operators`);
    }
    assert.deepEqual(shown.payments.map(toPayment), order.payments.map(toBookedPayment));
    assert.deepEqual(shown.refunds.map(toRefund), order.refunds.map(toRefund));
  }

  async #checkBuyersView(order: Order): Promise<void> {
    const shown = expect(await this.#buyer.get<OrderStatusBody>(`/api/checkout/status/${order.id}`), 200);
    for (const [field, value] of Object.entries(sumsOf(order))) {
      assert.deepEqual(shown[field as keyof OrderStatusBody], value, `${field} of order ${order.id}, for its buyer`);
    }
    assert.deepEqual(shown.payments.map(toPayment), order.payments.map(toBookedPayment));
    assert.deepEqual(shown.refunds.map(toRefund), order.refunds.map(toRefund));
    this.#checkTickets(order, shown);
    const isValid = isLive(order);
    for (const { id, valid, code } of shown.ticket_objects) {
      assert.deepEqual([valid, code !== null], [isValid, isValid], `ticket ${id}`);
    }
    assert.equal(
      sum(shown.discounts.map(({ amount }) => amount)),
      sum(
        (order.isEndedByAmendment ? order.lastLines : order.lines).map((line) => discountOf(line, line.units.length)),
      ),
      'discounts',
    );
  }

  /** Tickets as they are listed: place, person and predecessor of each, and which form a unit. */
  #checkTickets(
    order: Order,
    shown: Pick<OrderStatusBody, 'tickets' | 'ticket_objects' | 'ticket_count' | 'amendments'>,
  ): void {
    const ids = shownTicketsOf(order);
    assert.deepEqual(
      [shown.tickets.toSorted(), shown.ticket_count],
      [ids.toSorted(), ids.length],
      `tickets of ${order.id}`,
    );
    assert.deepEqual(
      shown.ticket_objects.map(({ id }) => id),
      shown.tickets,
    );
    const places = order.lines.flatMap(({ type, units }) =>
      units.flatMap(({ performanceId: date, seatIds, ticketIds }) =>
        ticketIds.map(
          (id, index) => [id, { type: type.id, date, seat: seatIds[index] ?? null, unit: ticketIds[0] }] as const,
        ),
      ),
    );
    const placeOf = new Map(places);
    const units = new Map<number | null, string>();
    for (const ticket of shown.ticket_objects) {
      const { id, ticket_type_id: type, performance_id: date, seat_id: seat, unit, replaces, attendee } = ticket;
      assert.deepEqual(
        [replaces, attendee?.name ?? null],
        [order.replaces.get(id) ?? null, order.names.get(id) ?? null],
        `ticket ${id}`,
      );
      const place = placeOf.get(id);
      if (place === undefined) continue;
      assert.deepEqual([type, date, seat], [place.type, place.date, place.seat], `place of ticket ${id}`);
      assert.ok(unit !== null && (units.get(unit) ?? place.unit) === place.unit, `unit of ticket ${id}`);
      units.set(unit, place.unit!);
    }
    assert.equal(units.size, order.isEndedByAmendment ? 0 : new Set(places.map(([, { unit }]) => unit)).size);
    order.listed = shown.tickets;
    assert.deepEqual(
      shown.amendments.map(({ id, by, status, difference, fee }) => [id, by, status, difference, fee]),
      order.amendments
        .toReversed()
        .slice(0, 20)
        .map(({ id, by, status, difference, fee }) => [id, by, status, difference, fee]),
    );
  }

  async #checkStock(): Promise<void> {
    type Row = Record<'ticket_type_id' | 'selling_stage_id' | 'performance_id', string> &
      Record<'available' | 'reserved', number>;
    for (const { id: date } of PERFORMANCES) {
      const path = `/api/events/public/${SLUG}?performance_id=${date}`;
      const { ticketAvailability } = expect(await this.#buyer.get<{ ticketAvailability: Row[] }>(path), 200);
      for (const { ticket_type_id: typeId, selling_stage_id: stageId, available, reserved } of ticketAvailability) {
        const [type, stage] = [TYPES.find(({ id }) => id === typeId)!, STAGES.find(({ id }) => id === stageId)!];
        const row = `${typeId} in ${stageId} on ${date}`;
        assert.deepEqual({ available, reserved }, this.book.availability(type, stage, date), row);
      }
      const occupancy = await this.#buyer.get<{ held: string[]; sold: string[] }>(
        `/api/events/public/${SLUG}/seating/occupancy?performance_id=${date}`,
      );
      const { held, sold } = expect(occupancy, 200);
      assert.deepEqual(
        { held: held.toSorted(), sold: sold.toSorted() },
        this.book.takenSeats(date),
        `seats of ${date}`,
      );
    }
    type Counters = { id: string; available: number; held: number; sold: number };
    const { performances } = expect(
      await this.#admin.get<{ performances: Counters[] }>(`/admin/events/${EVENT_ID}`),
      200,
    );
    for (const { id, available, held, sold } of performances) {
      assert.deepEqual({ available, held, sold }, this.book.counters(id), `counters of ${id}`);
    }
  }

  async #checkMoney(): Promise<void> {
    type Totals = Amount & { readonly count: number };
    const sums = expect(
      await this.#admin.get<Record<string, Totals[]>>(`/admin/events/${EVENT_ID}/refunds?limit=1`),
      200,
    );
    for (const [kind, booked] of Object.entries(this.book.refundSums())) {
      const shown = sums[kind]!.toSorted((one, other) => one.currency.localeCompare(other.currency));
      assert.deepEqual(shown, booked, `${kind} of the event`);
    }
    type Money = { readonly totals: readonly Record<string, number | string>[] };
    const { totals } = expect(await this.#admin.get<Money>(`/admin/events/${EVENT_ID}/money`), 200);
    for (const { currency, ...shown } of totals) {
      const { paid, back, pending, fees } = this.book.money(currency as string);
      const { paid_amount, refunded_amount, refunds_pending_amount, fees_amount } = shown;
      const sums = [paid_amount, refunded_amount, refunds_pending_amount, fees_amount];
      assert.deepEqual(sums, [paid, back, pending, fees], 'money');
    }
  }
}

/** What operators and buyers see of an order's money. */
function sumsOf(order: Order): Partial<AdminOrderBody> {
  return {
    status: order.status,
    payment_status: paymentStatus(order),
    total_amount: totalOf(order),
    fees_amount: order.fees,
    goodwill_amount: order.goodwill,
    paid_amount: paidAmount(order),
    remaining_amount: remainingAmount(order),
    refund_due: refundDue(order),
    refund_pending: refundPending(order),
    currency: CURRENCY,
    total_installments: order.installments.length,
    paid_installments: paidInstallments(order),
  };
}

/** The tickets that an order shows: those valid now, of one that ended the last it had. */
function shownTicketsOf(order: Order): readonly string[] {
  if (order.isEndedByAmendment) return order.lastTickets;
  return order.isIssued ? ticketIdsOf(order) : [];
}

/** The items that operators see, those alike added up. */
function itemsShown({ items }: AdminOrderBody): readonly object[] {
  const all = items.flatMap((item): (readonly [string, number])[] => {
    const { ticket_type_id: type, selling_stage_id: stage, performance_id: date, quantity, unit_price: price } = item;
    const perks = item.bar_perks.map((perk) => [`perk ${type} ${date} ${perk.bar_perk_id}`, perk.quantity] as const);
    return [[`${type} ${stage} ${date} ${price}`, quantity], ...perks];
  });
  return addedUp(all);
}

function itemsOf(lines: Order['lines']): readonly object[] {
  const all = lines.flatMap(({ type, stage, price, units }) =>
    units.flatMap(({ performanceId: date, perks }) => [
      [`${type.id} ${stage.id} ${date} ${price}`, 1] as const,
      ...[...perks].map(([perk, count]) => [`perk ${type.id} ${date} ${perk}`, count] as const),
    ]),
  );
  return addedUp(all);
}

function addedUp(all: readonly (readonly [string, number])[]): readonly object[] {
  const sums = new Map<string, number>();
  for (const [key, count] of all) sums.set(key, (sums.get(key) ?? 0) + count);
  return [...sums].filter(([, count]) => count > 0).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

const pathOf = ({ id }: Order, by: By): string =>
  by === 'BUYER' ? `/api/checkout/orders/${id}/amendments` : `/admin/orders/${id}/amendments`;

const toQuotedTicket = (ticket: QuoteBody['tickets'][number]) => {
  const { section: _section, row_label: _row, seat_label: _label, ...quoted } = ticket;
  return quoted;
};

/** A planned ticket with the seat that the service chose, where it chooses one. */
const withSeatsOf = (tickets: QuoteBody['tickets']) => (planned: Plan['quoted']['tickets'][number], index: number) =>
  planned.seat_id === undefined ? { ...planned, seat_id: tickets[index]?.seat_id } : planned;

const refundsDueOf = (order: Order): Amount[] =>
  currenciesOf(order)
    .map((currency) => ({ amount: refundDue(order, currency), currency }))
    .filter(({ amount }) => amount > 0);

/** The tickets of an order in the order of its items: each once, and the same ever after. */
function learnTickets({ lines }: Order, { tickets }: AdminOrderBody): void {
  if (lines.every(({ units }) => units.every(({ ticketIds }) => ticketIds.length > 0))) return;
  assert.equal(tickets.length, sum(lines.map(ticketsOfLine)), 'as many tickets as were bought');
  let begin = 0;
  for (const line of lines) {
    const size = ticketsOfLine(line) / line.units.length;
    for (const unit of line.units) unit.ticketIds = tickets.slice(begin, (begin += size));
  }
}

const toPayment = ({ installment, amendment_id, amount, currency, status }: OrderStatusBody['payments'][number]) => ({
  amendment_id,
  installment,
  amount,
  currency,
  isPaid: status === 'PAID',
});
const toBookedPayment = ({ installment, amendmentId, amount, currency, state }: Payment) => ({
  amendment_id: amendmentId,
  installment,
  amount,
  currency,
  isPaid: state === 'PAID',
});
const toRefund = ({ id, amount, currency, status }: Amount & { readonly id: string; readonly status: string }) => ({
  id,
  amount,
  currency,
  status,
});

/** The body of an answer that must have a status. */
function expect<Body>({ status, body }: Answer<Body>, wanted: number): Body {
  assert.equal(status, wanted, JSON.stringify(body));
  return body;
}

function assertCode(answer: Answer<unknown>, status: number, code: string, detail?: object): void {
  const body = answer.body as { readonly code?: string; readonly detail?: object };
  assert.deepEqual([answer.status, body.code], [status, code], JSON.stringify(body));
  if (detail !== undefined) assert.deepEqual(body.detail, detail);
}
