/**
 * Refunds of one service from a seed: operators who execute, record and resolve them, a provider behind a bad network
 * (`provider.ts`), and a service that is killed, fills its disk and drops its events from memory.
 *
 * Owns the schedule. The service is the simulated one, over which the real outbox of refunds runs: it looks after
 * each step. At random steps every order owes what the reference model says, and a replay gives the state.
 *
 * At the end faults stop, operators settle what is open and have everything given back that is due. Then, for every
 * order, what the provider has on its own list and what was paid by hand is what the journal says was given back, to
 * the cent, nothing is due, and no refund was asked for again after it was given back (promise 15).
 *
 * 1. Operators are honest: they look at the provider's page before they resolve a refund, wait while a request may be
 *    under way, and do not give back by hand what was paid in cash, or the other way round.
 */
import assert from 'node:assert/strict';
import { setImmediate as nextRound } from 'node:timers/promises';
import { Overloaded } from '#actors/admission.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { openRefundOutbox, type RefundOutbox } from '#payments/refund-outbox.ts';
import { assertState, assertStock } from '../checks.ts';
import { chanceOf, type Chance } from '../chance.ts';
import { drawEvent, MINUTE, START } from '../events.ts';
import { AT_ONCE } from '../keys.ts';
import type { SaleModel } from '../model.ts';
import { paidOf, refundedOf, type ModelOrder } from '../model-order.ts';
import { SimulatedService } from '../service.ts';
import { SimulatedProvider, type GivenBack } from './provider.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { Command, CommandOf, CommandType, ReplyTo } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { RefundSum, RefundView } from '#domain/view.ts';
import type { Outcome, Scenario } from '../run.ts';
import type { PaymentProvider, RefundReport } from '#payments/provider.ts';

const HOUR = 60 * MINUTE;

/** Everything that the provider has under way, and its reports, has come by then. */
const ALL_CAME_MS = 175 * HOUR;
const SETTLE_STEP_MS = 5 * HOUR;

/** A refund that fails is due again; the provider is healthy by then. */
const SETTLE_ROUNDS_MAX = 30;

/** Rounds of the event loop in which what one moment begins has come to rest. */
const ROUNDS = 8;

const TICK_MS = 50;

const NOBODY = { operator: null, note: null };
const OLGA = { operator: 'olga', note: null };

const ACTIONS = {
  cancel: 4, execute: 5, amount: 2, due: 3, cash: 2, hand: 4, note: 2, resolve: 6, pay: 3, 'call-off': 0.4,
  crash: 2, full: 0.7, snapshot: 2, absent: 0.5, wait: 2,
}; // prettier-ignore

type Action = keyof typeof ACTIONS;

/** What an operator or a provider does to an event, with the state as it is then. */
interface Sight {
  readonly eventId: string;
  readonly actor: EventActor;
  readonly model: SaleModel;
}

interface OrderInSight {
  readonly id: string;
  readonly status: string;
  readonly currency: string;
  readonly refunds: readonly RefundView[];
  readonly payments: readonly { readonly id: string; readonly status: string; readonly amountCents: number }[];
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
export async function simulateRefunds(scenario: Scenario): Promise<Outcome> {
  const world = new Refunds(scenario);
  let failure: Error | null = null;
  try {
    await world.run();
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  } finally {
    world.close();
  }
  return { steps: world.steps, simulatedMs: world.service.now - START, seen: world.seen, failure };
}

class Refunds {
  readonly seen = new Map<string, number>();
  readonly service: SimulatedService;
  steps = 0;
  readonly #scenario: Scenario;
  readonly #chance: Chance;
  readonly #events: readonly EventDefinition[];
  readonly #provider: SimulatedProvider;
  readonly #weights: Readonly<Record<Action, number>>;
  readonly #moments: { readonly at: number; readonly order: number; readonly happen: () => unknown }[] = [];
  readonly #sessions: OpenSession[] = [];
  /** Sessions whose money the service knows of: nobody gives back by hand what no page shows. */
  readonly #known = new Set<string>();
  readonly #executions: Execution[] = [];
  readonly #wakes = new Map<string, number>();
  readonly #pauseMs: number;
  readonly #slowShare: number;
  #outbox!: RefundOutbox;
  #look: (() => void) | null = null;
  #isAbsent = false;
  #isCommitScheduled = false;
  #names = 0;
  #failure: unknown = null;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    const chance = (this.#chance = chanceOf(scenario.seed));
    const evicts = chance.percent(40) && !scenario.without.has('evict');
    this.#events = Array.from({ length: evicts ? 2 : 1 }, (_, n) => drawRefundingEvent(chance, n + 1));
    const bounds = { liveEventsMax: evicts ? 1 : 10, waitingRepliesMax: 1_000 };
    this.service = new SimulatedService(chance, this.#events, bounds, START);
    this.service.onAppend = () => this.#scheduleCommit();
    this.service.onWake = (eventId, at) => this.#wakeAt(eventId, at);
    this.service.onSnapshotJob = (finish) => this.#schedule(chance.between(0, 200), finish);
    this.service.onKeyJob = AT_ONCE;
    this.service.onLater = (work, ms) => this.#schedule(ms, work);
    this.#pauseMs = chance.pick([100, 4_000, 60_000, 20 * MINUTE, 10 * HOUR]);
    this.#slowShare = chance.percent(40) ? chance.between(0, 40) : 0;
    const draw = (action: Action): number =>
      scenario.without.has(action) || chance.percent(20) ? 0 : ACTIONS[action] * (0.25 + chance.next() * 2);
    this.#weights = {
      ...(Object.fromEntries(Object.keys(ACTIONS).map((name) => [name, draw(name as Action)])) as typeof ACTIONS),
      wait: 1,
    };
    this.#provider = new SimulatedProvider({
      chance,
      schedule: (ms, work) => this.#schedule(ms, work),
      report: (report) => this.#deliverReport(report),
      count: (what) => this.#count(what),
    });
    this.#openOutbox();
  }

  async run(): Promise<void> {
    for (const definition of this.#events) {
      await this.#driven(this.service.events.define(definition, NOBODY));
      const orders = this.#chance.between(1, 6);
      for (let n = 0; n < orders; n += 1) await this.#buy(definition.id, n);
    }
    for (; this.steps < this.#scenario.stepsMax; this.steps += 1) {
      await this.#pass(this.#chance.between(0, this.#pauseMs));
      this.#act(this.#chance.weighted(this.#weights));
      await this.#rest();
      if (this.service.status === 'OPEN' && this.#chance.percent(3)) await this.#proveState();
    }
    await this.#settle();
    for (const { id } of this.#events) await this.#compare(id);
  }

  close(): void {
    this.#outbox.stop();
  }

  #count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  // ── time ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  #schedule(afterMs: number, happen: () => unknown): void {
    const moment = { at: this.service.now + afterMs, order: (this.#names += 1), happen };
    let index = this.#moments.length;
    while (index > 0 && this.#moments[index - 1]!.at <= moment.at) index -= 1;
    this.#moments.splice(index, 0, moment);
  }

  /** Lets time pass, with everything that happens meanwhile. */
  async #pass(ms: number): Promise<void> {
    const end = this.service.now + ms;
    while ((this.#moments.at(-1)?.at ?? Infinity) <= end) {
      const { at, happen } = this.#moments.pop()!;
      this.service.now = Math.max(this.service.now, at);
      await happen();
      await this.#rest();
    }
    this.service.now = Math.max(this.service.now, end);
    await this.#rest();
  }

  async #rest(): Promise<void> {
    this.#look?.();
    for (let round = 0; round < ROUNDS; round += 1) await nextRound();
    if (this.#failure !== null) throw this.#failure;
  }

  #wakeAt(eventId: string, at: number): void {
    const { generation } = this.service;
    const due = Math.max(at, this.service.now + TICK_MS);
    const key = `${generation} ${eventId}`;
    if ((this.#wakes.get(key) ?? Infinity) <= due) return;
    this.#wakes.set(key, due);
    this.#schedule(due - this.service.now, () => {
      if (generation !== this.service.generation || this.#wakes.get(key) !== due) return;
      this.#wakes.delete(key);
      this.#at(eventId, ({ actor }) => actor.settleDue());
    });
  }

  #scheduleCommit(): void {
    if (this.#isCommitScheduled) return;
    this.#isCommitScheduled = true;
    const isSlow = this.#chance.percent(this.#slowShare);
    this.#schedule(this.#chance.between(0, isSlow ? 5_000 : 20), () => {
      this.#isCommitScheduled = false;
      this.service.commit(this.#chance.percent(20) ? this.#chance.next() : 1);
      if (this.service.hasPending) this.#scheduleCommit();
    });
  }

  // ── the service ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Every process has an outbox of its own; what it asked the provider for is not called back. */
  #openOutbox(): void {
    const { events } = this.service;
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
      clock: { now: () => this.service.now },
      elapsedMs: () => this.service.now,
      lookAfter: (look) => (this.#look = look),
    });
  }

  async #crash(): Promise<void> {
    this.#count('crash');
    this.#outbox.stop();
    this.#look = null;
    await this.service.crash(this.#chance.percent(30), null);
    this.#openOutbox();
    this.#activateAll();
  }

  /** As the start of a service does, with every event in which something is due. */
  #activateAll(): void {
    for (const { id } of this.#events) this.#at(id, ({ actor }) => actor.settleDue());
  }

  #fill(): void {
    if (this.service.status !== 'OPEN') return;
    this.#count('full disk');
    this.service.fillDisk();
    const { generation } = this.service;
    this.#schedule(this.#chance.between(10, 90_000), () => {
      if (generation === this.service.generation) this.#free();
    });
  }

  #free(): void {
    if (this.service.status !== 'FULL') return;
    this.service.freeDisk();
    this.#activateAll();
  }

  #snapshotAll(): void {
    const { generation } = this.service;
    this.service.takeSnapshots().then(
      () => this.#count('snapshot'),
      (error: unknown) => {
        if (generation === this.service.generation) this.#fail(error);
      },
    );
  }

  /** An event that is not there just now is no failure. */
  #fail(error: unknown): void {
    if (!(error instanceof Overloaded)) this.#failure ??= error;
  }

  /** Does something with an event once it is in memory, unless the process ends before. */
  #at(eventId: string, act: (sight: Sight) => void): void {
    const { generation } = this.service;
    const isOver = (): boolean => generation !== this.service.generation;
    Promise.resolve(this.service.events.byEventId(eventId)).then(
      (actor) => {
        if (isOver() || this.service.status !== 'OPEN' || actor!.isRetired) return;
        try {
          act({ eventId, actor: actor!, model: this.service.models.get(eventId)! });
        } catch (error) {
          this.#fail(error);
        }
      },
      (error: unknown) => {
        if (!isOver()) this.#fail(error);
      },
    );
  }

  /** Sends a command; `answered` is called once its answer has come, which a crash may prevent. */
  #send<Type extends CommandType>(
    eventId: string,
    command: CommandOf<Type>,
    answered: (answer: ReplyTo<Type> | Refusal) => void = () => {},
  ): void {
    const { generation } = this.service;
    this.#at(eventId, ({ actor }) => {
      actor.execute(command).then(
        (answer) => {
          if (generation !== this.service.generation) return;
          this.#count(isRefusal(answer) ? `${command.type}: ${answer.code}` : command.type);
          answered(answer);
        },
        (error: unknown) => {
          if (generation === this.service.generation) this.#fail(error);
        },
      );
    });
  }

  /** Sends it again until it was answered, as a provider does with its webhooks. */
  #deliver(eventId: string, command: Command): void {
    let isAnswered = false;
    const attempt = (): void => {
      if (isAnswered) return;
      this.#send(eventId, command as CommandOf<'RecordRefund'>, () => {
        isAnswered = true;
        if (command.type === 'RecordPayment') this.#known.add(command.checkoutSessionId!);
      });
      this.#schedule(MINUTE, attempt);
    };
    attempt();
  }

  #deliverReport({ of: _of, orderId, ...report }: RefundReport): void {
    const { eventId } = this.#sessions.find((session) => session.orderId === orderId)!;
    const isNamed = report.checkoutSessionId === undefined || this.#chance.percent(80);
    const about = { orderId: isNamed ? orderId : null, ...report };
    this.#deliver(eventId, { type: 'RecordRefund', provider: 'provider_a', ...NOBODY, ...about });
  }

  /** Has facts made durable until something is done that waits for them. */
  async #driven<Result>(work: Result | Promise<Result>): Promise<Result> {
    const done = Promise.resolve(work);
    const hasCome = done.then(
      () => true,
      () => true,
    );
    do this.service.commit();
    while (!(await Promise.race([hasCome, nextRound(false)])));
    return done;
  }

  async #sight(eventId: string): Promise<Sight> {
    for (;;) {
      const actor = (await this.#driven(this.service.events.byEventId(eventId)))!;
      if (!actor.isRetired) return { eventId, actor, model: this.service.models.get(eventId)! };
    }
  }

  /** Asks when nothing fails. */
  async #ask<Type extends CommandType>(eventId: string, command: CommandOf<Type>): Promise<ReplyTo<Type> | Refusal> {
    const { actor } = await this.#sight(eventId);
    return this.#driven(actor.execute(command));
  }

  // ── buyers ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** An order, of which some installments are paid. */
  async #buy(eventId: string, n: number): Promise<void> {
    const chance = this.#chance;
    const dates = this.#events.find(({ id }) => id === eventId)!.performances;
    const item = {
      ...{ ticketTypeId: chance.pick(['adult', 'group']), sellingStageId: 'general', seatIds: null },
      ...{ discountCode: null, attendees: null, barPerks: [], quantity: chance.between(1, 3) },
      performanceId: chance.pick(dates).id,
    };
    const nothing = { holdId: null, sessionKey: null, successUrl: null, cancelUrl: null, promoCode: null };
    const answer = await this.#ask(eventId, {
      type: 'StartCheckout',
      ...nothing,
      ...{ tracking: null, queuePass: null, idempotency: null, acceptTerms: true },
      ...{ promoterCode: null, referralCode: null },
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
      await this.#ask(eventId, { type: 'RecordCheckoutSession', ...opening, ...redirect });
      if (chance.percent(15)) return;
      await this.#ask(eventId, this.#paid(session));
      this.#known.add(session.id);
      const next = await this.#ask(eventId, { type: 'OpenPayment', orderId: order.id });
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
    const currency = this.#chance.percent(8) ? 'USD' : asked;
    this.#provider.notePaid(id, { orderId, amountCents, currency });
    const about = { checkoutSessionId: id, paymentId: null, outcome: 'paid', webhookId: null } as const;
    return { type: 'RecordPayment', provider: 'provider_a', ...about, amountCents, currency };
  }

  // ── operators, and what happens beside them ────────────────────────────────────────────────────────────────────────

  #act(action: Action): void {
    const event = this.#chance.pick(this.#events);
    switch (action) {
      case 'wait':
        return;
      case 'crash':
        return this.#schedule(this.#chance.between(0, 15_000), () => this.#crash());
      case 'full':
        return this.#fill();
      case 'snapshot':
        return this.#snapshotAll();
      case 'absent':
        this.#isAbsent = true;
        return this.#schedule(this.#chance.between(1, HOUR), () => (this.#isAbsent = false));
      case 'pay': {
        const unpaid = this.#sessions.filter(({ orderId, id }) => !this.#provider.sessionsOf(orderId).includes(id));
        if (unpaid.length === 0) return;
        const session = this.#chance.pick(unpaid);
        this.#count('late money');
        return this.#deliver(session.eventId, this.#paid(session));
      }
      case 'call-off': {
        const { id: performanceId } = this.#chance.pick(event.performances);
        return this.#send(event.id, { type: 'CancelPerformance', performanceId, ...OLGA });
      }
      case 'due':
        return this.#at(event.id, (sight) => this.#executeDue(sight));
      default:
        return this.#at(event.id, (sight) => {
          const orders = ordersIn(sight);
          if (orders.length > 0) this.#actOn(action, sight, this.#chance.pick(orders));
        });
    }
  }

  #actOn(action: Action, sight: Sight, order: OrderInSight): void {
    const { eventId, model } = sight;
    const chance = this.#chance;
    const { id: orderId } = order;
    switch (action) {
      case 'cancel':
        return this.#send(eventId, { type: 'CancelOrder', orderId, ...OLGA });
      case 'execute':
        return this.#send(eventId, { type: 'ExecuteRefund', orderId, amountCents: null, paymentId: null, ...OLGA });
      case 'amount': {
        const payments = order.payments.filter(({ status }) => status === 'PAID');
        if (payments.length === 0) return;
        const { id, amountCents: paid } = chance.pick(payments);
        const asked = { amountCents: chance.between(1, paid), paymentId: chance.percent(50) ? id : null };
        return this.#send(eventId, { type: 'ExecuteRefund', orderId, ...asked, ...OLGA });
      }
      case 'cash': {
        if (!isPaidBackInCash(orderId)) return;
        const left = paidOf(model.orders.get(orderId)!) - refundedOf(model.orders.get(orderId)!) - reservedOf(order);
        if (left <= 0) return;
        const reference = `cash-${(this.#names += 1)}`;
        return this.#record(eventId, orderId, chance.between(1, left), reference);
      }
      case 'hand': {
        if (isPaidBackInCash(orderId)) return;
        const session = this.#sessionWith(orderId, 1);
        if (session === null) return;
        const left = this.#provider.leftOf(session);
        this.#count('given back by hand');
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
    return sessions.length === 0 ? null : this.#chance.pick(sessions);
  }

  #record(eventId: string, orderId: string, amountCents: number, reference: string | null): void {
    const about = { orderId, amountCents, reference, currency: null, provider: null };
    this.#send(eventId, { type: 'RecordRefund', ...about, ...OLGA });
  }

  /** Rule 1. */
  #resolve({ eventId }: Sight, { id: orderId }: OrderInSight, refund: RefundView): void {
    const { id: refundId, amountCents, paymentId } = refund;
    if (this.#provider.isOnTheWay(refundId)) return;
    const own = this.#provider.findOwn(refundId);
    const resolve = (outcome: CommandOf<'ResolveRefund'>['outcome'], reference: string | null = null): void =>
      this.#send(eventId, { type: 'ResolveRefund', orderId, refundId, outcome, reference, ...OLGA });
    if (own?.status === 'SUCCEEDED' && this.#chance.percent(50)) return resolve('GIVEN_BACK', own.reference);
    if (own !== undefined) return resolve('RETRY');
    const session = `cs_of_${paymentId}`;
    const isPossible = !isPaidBackInCash(orderId) && this.#provider.leftOf(session) >= amountCents;
    const choice = this.#chance.weighted({ RETRY: 6, NOT_GIVEN_BACK: 2, BY_HAND: isPossible ? 1 : 0 });
    if (choice !== 'BY_HAND') return resolve(choice);
    resolve('GIVEN_BACK', this.#provider.giveBackByHand(session, amountCents, true).reference);
  }

  /** What is confirmed is sometimes out of date. A crash may follow, which would hardly ever meet it otherwise. */
  #executeDue({ eventId, actor, model }: Sight): void {
    const dates = [...model.definition.performances.map(({ id }) => id), null];
    const performanceId = this.#chance.pick(dates);
    const toAsk = actor.inspect(({ orders }) => orders.refunds.toAsk(performanceId));
    const confirm = this.#chance.percent(10) ? [{ amountCents: 1, currency: 'EUR' }] : toAsk;
    const at = this.service.now;
    const orderIds = ordersIn({ eventId, actor, model })
      .filter((order) => model.refundDue(model.orders.get(order.id)!, at) > reservedOf(order))
      .filter(({ id }) => performanceId === null || datesOf(model, id).includes(performanceId))
      .map(({ id }) => id);
    this.#send(eventId, { type: 'ExecuteDueRefunds', performanceId, confirm, ...OLGA }, (answer) => {
      if (!isRefusal(answer)) this.#executions.push({ eventId, at, orderIds });
    });
    if (this.#scenario.without.has('crash') || this.#chance.percent(60)) return;
    if (this.#chance.percent(50)) this.#schedule(this.#chance.between(0, 100), () => this.#snapshotAll());
    this.#schedule(this.#chance.between(1, 300), () => this.#crash());
  }

  // ── what must be so ────────────────────────────────────────────────────────────────────────────────────────────────

  async #proveState(): Promise<void> {
    this.#count('replay');
    for (const { id } of this.#events) {
      await this.#driven(this.service.proveReplay(id));
      this.#at(id, (sight) => this.#assertSight(sight));
      await this.#rest();
    }
  }

  #assertSight({ actor, model }: Sight): void {
    const { now } = this.service;
    assertStock({ actor, model, now });
    assertState({ actor, model, now }, null);
  }

  /** Faults stop; operators resolve what is open, and then have everything given back that is due. */
  async #settle(): Promise<void> {
    this.#provider.isHealthy = true;
    this.#isAbsent = false;
    this.#free();
    this.#activateAll();
    for (let ms = 0; ms < ALL_CAME_MS; ms += SETTLE_STEP_MS) await this.#pass(SETTLE_STEP_MS);
    this.#assertExecuted();
    for (let round = 0; ; round += 1) {
      assert.ok(round < SETTLE_ROUNDS_MAX, `refunds come to an end: ${JSON.stringify(await this.#open(), null, 1)}`);
      let isOpen = false;
      for (const { id } of this.#events) isOpen = (await this.#settleEvent(id)) || isOpen;
      if (!isOpen) return;
      for (let n = 0; n < 10; n += 1) await this.#pass(SETTLE_STEP_MS);
    }
  }

  /** What is not at an end, with what the provider has of it. */
  async #open(): Promise<readonly unknown[]> {
    const open: unknown[] = [];
    for (const { id } of this.#events) {
      for (const order of ordersIn(await this.#sight(id))) {
        if (reservedOf(order) === 0 && this.#dueOf(this.service.models.get(id)!.orders.get(order.id)!) === 0) continue;
        const sessions = this.#provider.sessionsOf(order.id);
        const given = this.#provider.all.filter((refund) => sessions.includes(refund.checkoutSessionId));
        open.push({ order, given });
      }
    }
    return open;
  }

  /** Whether anything was left to do. */
  async #settleEvent(eventId: string): Promise<boolean> {
    const sight = await this.#sight(eventId);
    const open = ordersIn(sight).flatMap((order) => order.refunds.map((refund) => ({ order, refund })));
    const waiting = open.filter(({ refund }) => refund.status === 'NEEDS_OPERATOR');
    for (const { order, refund } of waiting) this.#resolve(sight, order, refund);
    const toAsk: readonly RefundSum[] = sight.actor.inspect(({ orders }) => orders.refunds.toAsk(null));
    this.#send(eventId, { type: 'ExecuteDueRefunds', performanceId: null, confirm: toAsk, ...OLGA });
    const isPending = open.some(({ refund }) => refund.status === 'PENDING');
    return isPending || waiting.length > 0 || toAsk.length > 0;
  }

  /** Every execution of all that was due went through its orders, whatever happened to the service meanwhile. */
  #assertExecuted(): void {
    this.seen.set('refunds', this.service.durableFacts('RefundRequested').length);
    for (const { eventId, at, orderIds } of this.#executions) {
      this.#at(eventId, (sight) => {
        const orders = ordersIn(sight).filter(({ id }) => orderIds.includes(id));
        for (const order of orders) {
          const isAsked = order.refunds.some((refund) => refund.status !== undefined && refund.at >= at);
          // What was reserved then, and did not go, is due again.
          const hasFailed = order.refunds.some(({ status, finishedAt = 0 }) => status === 'FAILED' && finishedAt >= at);
          const due = sight.model.refundDue(sight.model.orders.get(order.id)!, this.service.now);
          assert.ok(
            isAsked || hasFailed || due <= reservedOf(order),
            `everything due was executed, and ${order.id} was forgotten`,
          );
        }
      });
    }
  }

  /** The provider's own list against the journal. */
  async #compare(eventId: string): Promise<void> {
    assert.deepEqual(this.#provider.asksTwice, [], 'nothing is asked for again that was given back');
    await this.#driven(this.service.proveReplay(eventId));
    const sight = await this.#sight(eventId);
    this.#assertSight(sight);
    for (const order of ordersIn(sight)) {
      const ofOrder = sight.model.orders.get(order.id)!;
      const given = this.#provider.all.filter(({ checkoutSessionId, status }) => {
        return status !== 'FAILED' && this.#provider.sessionsOf(order.id).includes(checkoutSessionId);
      });
      for (const currency of new Set([order.currency, 'USD'])) this.#compareSums(order, ofOrder, given, currency);
      for (const refund of order.refunds) this.#compareRefund(refund, given, order);
      this.#count('orders compared');
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
    const model = [...this.service.models.values()].find(({ orders }) => orders.has(ofOrder.id))!;
    return model.refundDue(ofOrder, this.service.now);
  }

  #compareRefund({ id, status, reference, amountCents }: RefundView, given: readonly GivenBack[], order: OrderInSight) {
    const [own, ...others] = given.filter(({ refundId }) => refundId === id);
    assert.equal(others.length, 0, `${id} was given back twice`);
    if (status === undefined) return assert.equal(own, undefined);
    this.#count(`refund ${status}`);
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
    const stands = given.find((refund) => refund.reference === reference);
    return assert.equal(stands?.amountCents, amountCents, `${id} is as at the provider`);
  }
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
