/**
 * Refunds of one service from a seed: operators who execute, record and resolve them, a provider behind a bad network
 * (`provider.ts`), and a service that is killed, fills its disk and drops its events from memory.
 *
 * The service is the simulated one of `service-world.ts`, over which the real outbox of refunds runs: it looks after
 * each step.
 *
 * At the end faults stop, operators settle what is open and have everything given back that is due. Then, for every
 * order, what the provider has on its own list and what was paid by hand is what the journal says was given back, to
 * the cent, nothing is due, and no refund was asked for again after it was given back (promise 15).
 *
 * 1. Operators are honest: they look at the provider's page before they resolve a refund, wait while a request may be
 *    under way, and do not give back by hand what was paid in cash, or the other way round. They may leave out how the
 *    provider calls a refund.
 */
import assert from 'node:assert/strict';
import { isRefusal } from '#domain/refusal.ts';
import { openRefundOutbox, type RefundOutbox } from '#payments/refund-outbox.ts';
import type { Chance } from '../chance.ts';
import { drawEvent, MINUTE } from '../events.ts';
import type { SaleModel } from '../model.ts';
import { paidOf, refundedOf, type ModelOrder } from '../model-order.ts';
import {
  NOBODY,
  OLGA,
  outcomeOf,
  PLAIN_CHECKOUT,
  ServiceWorld,
  type Sight,
  type WorldEvents,
} from '../service-world.ts';
import { SimulatedProvider, type GivenBack } from './provider.ts';
import type { Command, CommandOf } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { RefundSum, RefundView } from '#domain/view.ts';
import type { Outcome, Scenario } from '../run.ts';
import type { Payment } from '#domain/orders/order.ts';
import type { PaymentProvider, RefundReport } from '#payments/provider.ts';

const HOUR = 60 * MINUTE;

/** Everything that the provider has under way, and its reports, has come by then. */
const ALL_CAME_MS = 175 * HOUR;
const SETTLE_STEP_MS = 5 * HOUR;

/** A refund that fails is due again; the provider is healthy by then. */
const SETTLE_ROUNDS_MAX = 30;

const ACTIONS = {
  cancel: 4, execute: 5, amount: 2, due: 3, cash: 2, hand: 4, note: 2, resolve: 6, pay: 3, 'call-off': 0.4,
  crash: 2, full: 0.7, snapshot: 2, absent: 0.5, wait: 2,
}; // prettier-ignore

type Action = keyof typeof ACTIONS;

interface OrderInSight {
  readonly id: string;
  readonly status: string;
  readonly currency: string;
  readonly refunds: readonly RefundView[];
  readonly payments: readonly Pick<Payment, 'id' | 'status' | 'amountCents' | 'paidAt'>[];
}

/** An execution of everything that is due, and the orders to which something was due that was not asked for. */
interface Execution {
  readonly eventId: string;
  readonly at: number;
  readonly orderIds: readonly string[];
}

/** A session that a buyer may pay through. */
interface OpenSession {
  readonly eventId: string;
  readonly orderId: string;
  readonly id: string;
  readonly amountCents: number;
  readonly currency: string;
}

/** Runs the refunds of a seed to their end, or to the first failure. */
export const simulateRefunds = (scenario: Scenario): Promise<Outcome> => new Refunds(scenario).outcome();

class Refunds {
  readonly #world: ServiceWorld;
  readonly #provider: SimulatedProvider;
  readonly #weights: Readonly<Record<Action, number>>;
  readonly #sessions: OpenSession[] = [];
  /** Sessions whose money the service knows of: nobody gives back by hand what no page shows. */
  readonly #known = new Set<string>();
  readonly #executions: Execution[] = [];
  #outbox!: RefundOutbox;
  #look: (() => void) | null = null;
  #isAbsent = false;

  constructor(scenario: Scenario) {
    const pauses = [100, 4_000, 60_000, 20 * MINUTE, 10 * HOUR];
    const world = (this.#world = new ServiceWorld(scenario, (chance) => drawEvents(chance, scenario), pauses));
    const { chance } = world;
    world.onRest = () => this.#look?.();
    world.onCrash = () => {
      this.#outbox.stop();
      this.#look = null;
    };
    world.onLoss = () => {
      if (this.#look === null) this.#openOutbox();
    };
    this.#weights = { ...this.#world.drawWeights(ACTIONS), wait: 1 };
    this.#provider = new SimulatedProvider({
      chance,
      schedule: (ms, work) => this.#world.schedule(ms, work),
      report: (report) => this.#deliverReport(report),
      count: (what) => this.#world.count(what),
    });
    this.#openOutbox();
  }

  async outcome(): Promise<Outcome> {
    const outcome = await outcomeOf(this.#world, () => this.#run());
    this.#outbox.stop();
    return outcome;
  }

  async #run(): Promise<void> {
    for (const definition of this.#world.events) {
      await this.#world.driven(this.#world.service.events.define(definition, NOBODY));
      const orders = this.#world.chance.between(1, 6);
      for (let n = 0; n < orders; n += 1) await this.#buy(definition.id, n);
    }
    for (; this.#world.steps < this.#world.scenario.stepsMax; this.#world.steps += 1) {
      await this.#world.pass(this.#world.chance.between(0, this.#world.pauseMs));
      this.#act(this.#world.chance.weighted(this.#weights));
      await this.#world.rest();
      if (this.#world.service.status === 'OPEN' && this.#world.chance.percent(3)) await this.#world.proveState();
    }
    await this.#settle();
    for (const { id } of this.#world.events) await this.#compare(id);
  }

  // ── the service ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Every process has an outbox of its own; what it asked the provider for is not called back. */
  #openOutbox(): void {
    const { events } = this.#world.service;
    const openSession = (): never => assert.fail('the simulation opens sessions itself');
    const provider = { openSession, expireSession: null, readWebhook: openSession };
    const isAbsent = (): boolean => this.#isAbsent;
    const refunds = this.#provider;
    const asked: PaymentProvider = {
      ...provider,
      get refunds() {
        return isAbsent() ? null : refunds;
      },
    };
    this.#outbox = openRefundOutbox({
      providers: { provider_a: asked, provider_b: asked },
      events,
      owns: () => true,
      clock: { now: () => this.#world.service.now },
      elapsedMs: () => this.#world.service.now,
      lookAfter: (look) => (this.#look = look),
    });
  }

  /** Sends it again until it was answered, as a provider does with its webhooks. */
  #deliver(eventId: string, command: Command): void {
    let isAnswered = false;
    const attempt = (): void => {
      if (isAnswered) return;
      this.#world.send(eventId, command as CommandOf<'RecordRefund'>, () => {
        isAnswered = true;
        if (command.type === 'RecordPayment') this.#known.add(command.checkoutSessionId!);
      });
      this.#world.schedule(MINUTE, attempt);
    };
    attempt();
  }

  #deliverReport({ of: _of, orderId, ...report }: RefundReport): void {
    const { eventId } = this.#sessions.find((session) => session.orderId === orderId)!;
    const isNamed = report.checkoutSessionId === undefined || this.#world.chance.percent(80);
    const about = { orderId: isNamed ? orderId : null, ...report };
    this.#deliver(eventId, { type: 'RecordRefund', provider: 'provider_a', ...NOBODY, ...about });
  }

  // ── buyers ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** An order, of which some installments are paid. */
  async #buy(eventId: string, n: number): Promise<void> {
    const chance = this.#world.chance;
    const dates = this.#world.events.find(({ id }) => id === eventId)!.performances;
    const item = {
      ...{ ticketTypeId: chance.pick(['adult', 'group']), sellingStageId: 'general', seatIds: null },
      ...{ discountCode: null, attendees: null, barPerks: [], quantity: chance.between(1, 3) },
      performanceId: chance.pick(dates).id,
    };
    const answer = await this.#world.ask(eventId, {
      ...PLAIN_CHECKOUT,
      items: [item],
      customer: { email: `buyer-${n}@example.org`, name: 'Anna B', documentNumber: null, phone: null },
      installmentCount: chance.between(1, 3),
    });
    if (isRefusal(answer)) return;
    let { order, payment } = answer;
    // A session takes money once, whatever its currency.
    const isOpen = (sessionId: string): boolean => this.#sessions.some(({ id }) => id === sessionId);
    while (payment !== null && !isOpen(sessionOf(payment))) {
      const session = this.#opened(eventId, order.id, payment);
      const opening = { orderId: order.id, paymentId: payment.id, checkoutSessionId: session.id };
      const redirect = { redirectUrl: 'https://pay.example/', expiresAt: null };
      await this.#world.ask(eventId, { type: 'RecordCheckoutSession', ...opening, ...redirect });
      if (chance.percent(15)) return;
      await this.#world.ask(eventId, this.#paid(session));
      this.#known.add(session.id);
      const next = await this.#world.ask(eventId, { type: 'OpenPayment', orderId: order.id });
      if (isRefusal(next)) return;
      ({ order, payment } = next);
    }
  }

  #opened(
    eventId: string,
    orderId: string,
    payment: { readonly id: string; readonly amountCents: number; readonly currency: string },
  ): OpenSession {
    const { amountCents, currency } = payment;
    const session = { eventId, orderId, id: sessionOf(payment), amountCents, currency };
    this.#sessions.push(session);
    return session;
  }

  /** The money has moved from here on, whatever becomes of the report. */
  #paid({ orderId, id, amountCents, currency: asked }: OpenSession): CommandOf<'RecordPayment'> {
    const currency = this.#world.chance.percent(8) ? 'USD' : asked;
    this.#provider.notePaid(id, { orderId, amountCents, currency });
    const about = { checkoutSessionId: id, paymentId: null, outcome: 'paid', webhookId: null } as const;
    return { type: 'RecordPayment', provider: 'provider_a', ...about, amountCents, currency };
  }

  // ── operators, and what happens beside them ────────────────────────────────────────────────────────────────────────

  #act(action: Action): void {
    const event = this.#world.chance.pick(this.#world.events);
    switch (action) {
      case 'wait':
        return;
      case 'crash':
        return this.#world.schedule(this.#world.chance.between(0, 15_000), () => this.#world.crash());
      case 'full':
        return this.#world.fill();
      case 'snapshot':
        return this.#world.snapshotAll();
      case 'absent':
        this.#isAbsent = true;
        return this.#world.schedule(this.#world.chance.between(1, HOUR), () => (this.#isAbsent = false));
      case 'pay': {
        const unpaid = this.#sessions.filter(({ orderId, id }) => !this.#provider.sessionsOf(orderId).includes(id));
        if (unpaid.length === 0) return;
        const session = this.#world.chance.pick(unpaid);
        this.#world.count('late money');
        return this.#deliver(session.eventId, this.#paid(session));
      }
      case 'call-off': {
        const { id: performanceId } = this.#world.chance.pick(event.performances);
        return this.#world.send(event.id, { type: 'CancelPerformance', performanceId, ...OLGA });
      }
      case 'due':
        return this.#world.at(event.id, (sight) => this.#executeDue(sight));
      default:
        return this.#world.at(event.id, (sight) => {
          const orders = ordersIn(sight);
          if (orders.length > 0) this.#actOn(action, sight, this.#world.chance.pick(orders));
        });
    }
  }

  #actOn(action: Action, sight: Sight, order: OrderInSight): void {
    const { eventId, model } = sight;
    const chance = this.#world.chance;
    const { id: orderId } = order;
    switch (action) {
      case 'cancel':
        return this.#world.send(eventId, { type: 'CancelOrder', orderId, ...OLGA });
      case 'execute':
        return this.#world.send(eventId, {
          type: 'ExecuteRefund',
          orderId,
          amountCents: null,
          paymentId: null,
          ...OLGA,
        });
      case 'amount': {
        const payments = order.payments.filter(({ status }) => status === 'PAID');
        if (payments.length === 0) return;
        const { id, amountCents: paid } = chance.pick(payments);
        const asked = { amountCents: chance.between(1, paid), paymentId: chance.percent(50) ? id : null };
        return this.#world.send(eventId, { type: 'ExecuteRefund', orderId, ...asked, ...OLGA });
      }
      case 'cash': {
        if (!isPaidBackInCash(orderId)) return;
        const left = paidOf(model.orders.get(orderId)!) - refundedOf(model.orders.get(orderId)!) - reservedOf(order);
        if (left <= 0) return;
        const reference = `cash-${this.#world.newNumber()}`;
        return this.#record(eventId, orderId, chance.between(1, left), reference);
      }
      case 'hand': {
        if (isPaidBackInCash(orderId)) return;
        const session = this.#sessionWith(orderId, 1);
        if (session === null) return;
        const left = this.#provider.leftOf(session);
        this.#world.count('given back by hand');
        this.#provider.giveBackByHand(session, chance.percent(50) ? left : chance.between(1, left), false);
        return;
      }
      case 'note': {
        // Which of two equal installments a note and a report that names no refund are of, nobody can tell.
        if (isPaidBackInCash(orderId) || this.#provider.reportsCharges) return;
        const session = this.#sessionWith(orderId, 1);
        const currency = this.#sessions.find(({ id }) => id === session)?.currency;
        if (session === null || currency !== order.currency) return;
        const left = this.#provider.leftOf(session);
        const { reference, amountCents, ...given } = this.#provider.giveBackByHand(session, left, true);
        if (given.currency !== order.currency) return;
        return this.#record(eventId, orderId, amountCents, chance.percent(50) ? reference : null);
      }
      case 'resolve': {
        const open = order.refunds.filter(({ status }) => status === 'NEEDS_OPERATOR');
        return open.length === 0 ? undefined : this.#resolve(sight, order, chance.pick(open));
      }
      default:
        return assert.fail(action);
    }
  }

  /** A paid session of an order that has so much left. */
  #sessionWith(orderId: string, amountCents: number): string | null {
    const known = this.#provider.sessionsOf(orderId).filter((id) => this.#known.has(id));
    const sessions = known.filter((id) => this.#provider.leftOf(id) >= amountCents);
    return sessions.length === 0 ? null : this.#world.chance.pick(sessions);
  }

  #record(eventId: string, orderId: string, amountCents: number, reference: string | null): void {
    const about = { orderId, amountCents, reference, currency: null, provider: null };
    this.#world.send(eventId, { type: 'RecordRefund', ...about, ...OLGA });
  }

  /** Rule 1. */
  #resolve({ eventId }: Sight, { id: orderId }: OrderInSight, refund: RefundView): void {
    const { id: refundId, amountCents, paymentId } = refund;
    if (this.#provider.isOnTheWay(refundId)) return;
    const own = this.#provider.findOwn(refundId);
    const resolve = (outcome: CommandOf<'ResolveRefund'>['outcome'], reference: string | null = null): void =>
      this.#world.send(eventId, { type: 'ResolveRefund', orderId, refundId, outcome, reference, ...OLGA });
    const note = ({ reference }: GivenBack): void => {
      const isNamed = this.#world.chance.percent(50);
      if (!isNamed) this.#world.count('resolved without a reference');
      resolve('GIVEN_BACK', isNamed ? reference : null);
    };
    if (own?.status === 'SUCCEEDED' && this.#world.chance.percent(50)) return note(own);
    if (own !== undefined) return resolve('RETRY');
    const session = `cs_of_${paymentId}`;
    const isPossible = !isPaidBackInCash(orderId) && this.#provider.leftOf(session) >= amountCents;
    const choice = this.#world.chance.weighted({ RETRY: 5, NOT_GIVEN_BACK: 2, BY_HAND: isPossible ? 6 : 0 });
    if (choice !== 'BY_HAND') return resolve(choice);
    note(this.#provider.giveBackByHand(session, amountCents, true));
  }

  /** What is confirmed is sometimes out of date. A crash may follow, which would hardly ever meet it otherwise. */
  #executeDue({ eventId, actor, model }: Sight): void {
    const dates = [...model.definition.performances.map(({ id }) => id), null];
    const performanceId = this.#world.chance.pick(dates);
    const toAsk = actor.inspect(({ orders }) => orders.refunds.toAsk(performanceId));
    const confirm = this.#world.chance.percent(10) ? [{ amountCents: 1, currency: 'EUR' }] : toAsk;
    const at = this.#world.service.now;
    const orderIds = ordersIn({ eventId, actor, model })
      .filter((order) => model.refundDue(model.orders.get(order.id)!, at) > reservedOf(order))
      .filter(({ id }) => performanceId === null || datesOf(model, id).includes(performanceId))
      .map(({ id }) => id);
    this.#world.send(eventId, { type: 'ExecuteDueRefunds', performanceId, confirm, ...OLGA }, (answer) => {
      if (!isRefusal(answer)) this.#executions.push({ eventId, at, orderIds });
    });
    if (this.#world.scenario.without.has('crash') || this.#world.chance.percent(60)) return;
    if (this.#world.chance.percent(50))
      this.#world.schedule(this.#world.chance.between(0, 100), () => this.#world.snapshotAll());
    this.#world.schedule(this.#world.chance.between(1, 300), () => this.#world.crash());
  }

  // ── what must be so ────────────────────────────────────────────────────────────────────────────────────────────────

  /** Faults stop; operators resolve what is open, and then have everything given back that is due. */
  async #settle(): Promise<void> {
    this.#provider.isHealthy = true;
    this.#isAbsent = false;
    this.#world.free();
    this.#world.activateAll();
    for (let ms = 0; ms < ALL_CAME_MS; ms += SETTLE_STEP_MS) await this.#world.pass(SETTLE_STEP_MS);
    this.#assertExecuted();
    for (let round = 0; ; round += 1) {
      assert.ok(round < SETTLE_ROUNDS_MAX, `refunds come to an end: ${JSON.stringify(await this.#open(), null, 1)}`);
      let isOpen = false;
      for (const { id } of this.#world.events) isOpen = (await this.#settleEvent(id)) || isOpen;
      if (!isOpen) return;
      for (let n = 0; n < 10; n += 1) await this.#world.pass(SETTLE_STEP_MS);
    }
  }

  /** What is not at an end, with what the provider has of it. */
  async #open(): Promise<readonly unknown[]> {
    const open: unknown[] = [];
    for (const { id } of this.#world.events) {
      for (const order of ordersIn(await this.#world.sight(id))) {
        if (reservedOf(order) === 0 && this.#dueOf(this.#world.service.models.get(id)!.orders.get(order.id)!) === 0)
          continue;
        const sessions = this.#provider.sessionsOf(order.id);
        const given = this.#provider.all.filter((refund) => sessions.includes(refund.checkoutSessionId));
        open.push({ order, given });
      }
    }
    return open;
  }

  /** Whether anything was left to do. */
  async #settleEvent(eventId: string): Promise<boolean> {
    const sight = await this.#world.sight(eventId);
    const open = ordersIn(sight).flatMap((order) => order.refunds.map((refund) => ({ order, refund })));
    const waiting = open.filter(({ refund }) => refund.status === 'NEEDS_OPERATOR');
    for (const { order, refund } of waiting) this.#resolve(sight, order, refund);
    const toAsk: readonly RefundSum[] = sight.actor.inspect(({ orders }) => orders.refunds.toAsk(null));
    this.#world.send(eventId, { type: 'ExecuteDueRefunds', performanceId: null, confirm: toAsk, ...OLGA });
    const isPending = open.some(({ refund }) => refund.status === 'PENDING');
    return isPending || waiting.length > 0 || toAsk.length > 0;
  }

  /** Every execution of all that was due went through its orders, whatever happened to the service meanwhile. */
  #assertExecuted(): void {
    this.#world.seen.set('refunds', this.#world.service.durableFacts('RefundRequested').length);
    for (const { eventId, at, orderIds } of this.#executions) {
      this.#world.at(eventId, (sight) => {
        const orders = ordersIn(sight).filter(({ id }) => orderIds.includes(id));
        for (const order of orders) {
          const isAsked = order.refunds.some((refund) => refund.status !== undefined && refund.at >= at);
          // What was reserved then, and did not go, is due again.
          const hasFailed = order.refunds.some(({ status, finishedAt = 0 }) => status === 'FAILED' && finishedAt >= at);
          const due = sight.model.refundDue(sight.model.orders.get(order.id)!, this.#world.service.now);
          const ofLate = order.payments.filter(({ paidAt }) => paidAt !== null && paidAt >= at);
          const late = ofLate.reduce((sum, { amountCents }) => sum + amountCents, 0);
          assert.ok(
            isAsked || hasFailed || due - late <= reservedOf(order),
            `everything due was executed, and ${order.id} was forgotten`,
          );
        }
      });
    }
  }

  /** The provider's own list against the journal. */
  async #compare(eventId: string): Promise<void> {
    assert.deepEqual(this.#provider.asksTwice, [], 'nothing is asked for again that was given back');
    await this.#world.driven(this.#world.service.proveReplay(eventId));
    const sight = await this.#world.sight(eventId);
    this.#world.assertSight(sight);
    for (const order of ordersIn(sight)) {
      const ofOrder = sight.model.orders.get(order.id)!;
      const given = this.#provider.all.filter(({ checkoutSessionId, status }) => {
        return status !== 'FAILED' && this.#provider.sessionsOf(order.id).includes(checkoutSessionId);
      });
      for (const currency of new Set([order.currency, 'USD'])) this.#compareSums(order, ofOrder, given, currency);
      for (const refund of order.refunds) this.#compareRefund(refund, given, order);
      this.#world.count('orders compared');
    }
  }

  #compareSums(order: OrderInSight, ofOrder: ModelOrder, given: readonly GivenBack[], currency: string): void {
    const there = sumOfCents(given.filter((refund) => refund.currency === currency));
    const recorded = order.refunds.filter((refund) => (refund.currency ?? order.currency) === currency);
    const isStanding = ({ status = 'SUCCEEDED' }: RefundView): boolean => status === 'SUCCEEDED';
    const cash = sumOfCents(recorded.filter((refund) => refund.reference?.startsWith('cash-') === true));
    const here = sumOfCents(recorded.filter(isStanding));
    const context = (): string => JSON.stringify({ order, given, currency }, null, 1);
    assert.equal(here, there + cash, `the journal says what the provider says: ${context()}`);
    assert.ok(here <= paidOf(ofOrder, currency), `no more is given back than came: ${context()}`);
    const isOwn = currency === order.currency;
    const due = isOwn ? this.#dueOf(ofOrder) : paidOf(ofOrder, currency) - refundedOf(ofOrder, currency);
    assert.equal(due, 0, `nothing that is due is forgotten: ${context()}`);
  }

  #dueOf(ofOrder: ModelOrder): number {
    const model = [...this.#world.service.models.values()].find(({ orders }) => orders.has(ofOrder.id))!;
    return model.refundDue(ofOrder, this.#world.service.now);
  }

  #compareRefund(
    { id, status, reference, amountCents, operator }: RefundView,
    given: readonly GivenBack[],
    order: OrderInSight,
  ) {
    const [own, ...others] = given.filter(({ refundId }) => refundId === id);
    assert.equal(others.length, 0, `${id} was given back twice`);
    if (status === undefined) return assert.equal(own, undefined);
    this.#world.count(`refund ${status}`);
    assert.ok(status === 'SUCCEEDED' || status === 'FAILED', `${id} ended`);
    // What was found there under the id of one that has failed is recorded as another one, perhaps by a report that
    // names no refund.
    const isElsewhere = order.refunds.some(
      (other) =>
        other.id !== id &&
        (other.reference === own?.reference ||
          (other.reference === undefined && other.provider !== undefined && other.amountCents === own?.amountCents)),
    );
    if (status === 'FAILED') return assert.ok(own === undefined || isElsewhere, `${id} did not go`);
    // Of one that was resolved without a reference, and of which no report came since, the sums are known alone.
    if (reference === undefined) return assert.equal(operator, OLGA.operator);
    const stands = given.find((refund) => refund.reference === reference);
    return assert.equal(stands?.amountCents, amountCents, `${id} is as at the provider`);
  }
}

function drawEvents(chance: Chance, { without }: Scenario): WorldEvents {
  const evicts = chance.percent(40) && !without.has('evict');
  const events = Array.from({ length: evicts ? 2 : 1 }, (_, n) => drawRefundingEvent(chance, n + 1));
  return { events, liveEventsMax: evicts ? 1 : 10 };
}

/** No seat, limit or code matters to refunds. */
function drawRefundingEvent(chance: Chance, n: number): EventDefinition {
  const event = drawEvent(chance, n, false);
  const [floor, ...others] = event.localities;
  const unlimited = { maxTicketsPerEmail: null, maxTicketsPerOrder: null, retentionDays: null, maxInstallments: 3 };
  return {
    ...event,
    ...unlimited,
    refunds: chance.percent(35) ? 'AUTOMATIC' : 'MANUAL',
    localities: [{ ...floor!, seating: 'GENERAL', capacity: 100 }, ...others] as EventDefinition['localities'],
    ticketTypes: event.ticketTypes.map((type) => ({ ...type, quota: null, maxPerOrder: null })),
  };
}

function ordersIn({ actor }: Sight): readonly OrderInSight[] {
  return actor.inspect(({ orders }) =>
    [...orders.inOrder].map(({ id, status, purchase, refunds, payments }) => {
      return { id, status, currency: purchase.currency, refunds: [...refunds], payments: [...payments] };
    }),
  );
}

const sessionOf = ({ id }: { readonly id: string }): string => `cs_of_${id}`;

function datesOf(model: SaleModel, orderId: string): readonly string[] {
  const { holdId } = model.orders.get(orderId)!;
  return model.holds.get(holdId)!.lines.map(({ performanceId }) => performanceId);
}

const sumOfCents = (refunds: readonly { readonly amountCents: number }[]): number =>
  refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);

function reservedOf({ refunds }: OrderInSight): number {
  return sumOfCents(refunds.filter(({ status }) => status === 'PENDING' || status === 'NEEDS_OPERATOR'));
}

/** By its id: half of the orders (rule 1). */
const isPaidBackInCash = (orderId: string): boolean => parseInt(orderId.split('_').at(-1)!.slice(0, 24), 16) % 2 === 0;
