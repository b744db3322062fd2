/**
 * One simulated sale: people, network, disk and clock from one seed, and an oracle that looks at every answer.
 *
 * Owns the order of things: a queue of moments, each of which happens whole before the next. Requests and answers travel with
 * delay, get lost, come twice and overtake one another; the disk is slow, fills up, breaks; the process crashes.
 *
 * After every turn: what the oracle foretold has come, the counters of every date add up and are the ledger's; now and then the
 * whole state is, and a replay gives it. Answers of some sales pass the real counter window, and the disk of some is a real
 * one. At the end faults stop, everything that has a window has run out of it, and whoever comes then is served.
 */
import assert from 'node:assert/strict';
import { Overloaded } from '#actors/overloaded.ts';
import { stockOfPerformances } from '#domain/inventory/view.ts';
import { findHold } from '#domain/holds/holds.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { viewOrder } from '#domain/orders/view.ts';
import { chanceOf, type Chance } from './chance.ts';
import {
  BOT_HABITS,
  drawBuyers,
  drawHabits,
  learn,
  nextCommand,
  placeOne,
  type Buyer,
  type Habits,
  type People,
} from './buyers.ts';
import { assertBooks, assertNobodyForgotten, assertShown, assertState, piecesOf } from './checks.ts';
import { drawEvent, MINUTE, START } from './events.ts';
import { openHttpCheck, type HttpCheck } from './http.ts';
import { predict, type Prediction } from './prediction.ts';
import { SimulatedService } from './service.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { Command, CommandOf, Reply, ReplyTo } from '#domain/command.ts';
import type { OrderView, PaymentView } from '#domain/views.ts';

export interface Scenario {
  readonly seed: number;
  readonly stepsMax: number;
  readonly buyersMax: number;
  /** Habits and faults that are left out. */
  readonly without: ReadonlySet<string>;
}

export const FAULTS = [
  'crash',
  'full',
  'slow',
  'loss',
  'twice',
  'room',
  'sleep',
  'mailbox',
  'window',
  'disk',
  'leap',
  'snapshot',
] as const;

export interface Outcome {
  readonly steps: number;
  readonly simulatedMs: number;
  /** How often each reply, refusal and fault was seen. */
  readonly seen: ReadonlyMap<string, number>;
  readonly failure: Error | null;
}

/** An activation gives the loop back now and then, as time on the machine has it. */
const ACTIVATION_BREATHS_MAX = 16;

/** Far more than happens in a sale; one that never comes to rest is stopped here. */
const MOMENTS_PER_STEP_MAX = 100;

/** After so many moments in a hundred a replay is held against the living state, in so many turns the whole state against the books. */
const PROOF_SHARE = 1;
const BOOKS_SHARE = 10;

/** Timers look at the clock so often. */
const TICK_MS = 50;

/** The longest that the snapshot thread has a job. */
const SNAPSHOT_MS_MAX = 3_000;

const DAY = 24 * 60 * MINUTE;

/** Who could not be woken is tried again so much later. */
const WAKE_AGAIN_MS = 1_000;

interface Moment {
  readonly at: number;
  readonly order: number;
  readonly happen: () => void | Promise<void>;
}

let window: Promise<HttpCheck> | null = null;

/** One window serves all sales of the process: it keeps nothing. */
function theWindow(): Promise<HttpCheck> {
  return (window ??= openHttpCheck());
}

/** Runs a sale to its end, or to the first thing that is wrong. */
export async function simulate(scenario: Scenario): Promise<Outcome> {
  const sale = new Sale(scenario);
  let failure: Error | null = null;
  try {
    await sale.run();
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  return { steps: sale.steps, simulatedMs: sale.service.now - START, seen: sale.seen, failure };
}

class Sale {
  readonly seen = new Map<string, number>();
  readonly service: SimulatedService;
  steps = 0;
  readonly #scenario: Scenario;
  readonly #chance: Chance;
  readonly #people: People;
  readonly #habits: Habits;
  readonly #eventIds: readonly string[];
  readonly #mailboxMax: number;
  readonly #moments: Moment[] = [];
  readonly #unanswered = new Map<string, number>();
  /** When the timers wake each event next. */
  readonly #wakes = new Map<string, number>();
  #activations = 0;
  #order = 0;
  #happened = 0;
  #isCommitPlanned = false;
  #failure: unknown = null;
  /** Answers that still have to pass the counter window. */
  readonly #passing: (() => Promise<void>)[] = [];
  readonly #hasHttp: boolean;
  readonly #hasDisk: boolean;
  readonly #pauseMs: number;
  readonly #lossShare: number;
  readonly #twiceShare: number;
  readonly #slowShare: number;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    const chance = chanceOf(scenario.seed);
    this.#chance = chance;
    const share = (name: string, most: number): number => {
      const drawn = chance.percent(60) ? chance.between(0, most) : 0;
      return scenario.without.has(name) ? 0 : drawn;
    };
    this.#lossShare = share('loss', 25);
    this.#twiceShare = share('twice', 25);
    this.#slowShare = share('slow', 30);
    this.#hasHttp = chance.percent(20) && !scenario.without.has('window');
    this.#hasDisk = chance.percent(5) && !scenario.without.has('disk');
    const sleeps = share('sleep', 100) > 30;
    const count = sleeps ? 2 : 1;
    this.#mailboxMax = share('mailbox', 100) > 60 ? chance.between(1, 4) : 1000;
    const hasRoom = share('room', 100) > 40;
    const events = Array.from({ length: count }, (_, n) => drawEvent(chance, n + 1, hasRoom));
    this.#eventIds = events.map(({ id }) => id);
    this.service = new SimulatedService(
      chance,
      events,
      { liveEventsMax: sleeps ? 1 : 10, mailboxCommandsMax: this.#mailboxMax },
      START,
    );
    const buyers = drawBuyers(chance, chance.between(2, scenario.buyersMax), this.#eventIds);
    const definitionOf = (eventId: string) => this.service.models.get(eventId)!.definition;
    this.#people = { chance, buyers, knownPayments: [], definitionOf };
    this.#habits = drawHabits(chance, scenario.without);
    this.#pauseMs = chance.pick([500, 5_000, 40_000, 400_000]);
    this.service.onWake = (eventId, at) => this.#wakeAt(eventId, at);
    this.service.onAppend = () => this.#planCommit();
    this.service.onSnapshotJob = (finish) => this.#plan(chance.between(0, SNAPSHOT_MS_MAX), finish);
    for (const definition of events) this.#plan(0, () => this.#define(definition));
  }

  async run(): Promise<void> {
    // The events are defined before anybody comes; what falls due later, such as an opening, finds people there.
    while ((this.#moments.at(-1)?.at ?? Infinity) <= START) await this.#next();
    const crashes = this.#scenario.without.has('crash') ? 0 : this.#chance.between(0, 3);
    const fills = this.#scenario.without.has('full') ? 0 : this.#chance.between(0, 2);
    const spanMs = (this.#scenario.stepsMax * this.#pauseMs) / 4;
    for (let n = 0; n < crashes; n += 1) this.#plan(this.#chance.between(1, spanMs), () => this.#crash());
    for (let n = 0; n < fills; n += 1) this.#plan(this.#chance.between(1, spanMs), () => this.#fill());
    const leaps = !this.#chance.percent(30) || this.#scenario.without.has('leap') ? 0 : this.#chance.between(1, 3);
    const rounds = this.#scenario.without.has('snapshot') ? 0 : this.#chance.between(0, 6);
    for (let n = 0; n < leaps; n += 1) this.#plan(this.#chance.between(1, spanMs), () => this.#leap());
    for (let n = 0; n < rounds; n += 1) this.#plan(this.#chance.between(1, spanMs), () => this.#snapshotAll());
    for (const buyer of this.#people.buyers) {
      this.#comeEarly(buyer);
      this.#live(buyer);
    }
    while (this.#moments.length > 0) await this.#next();
    await this.#assertQuiet();
  }

  // ── time ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  #plan(afterMs: number, happen: Moment['happen']): void {
    this.#planAt(this.service.now + afterMs, happen);
  }

  #planAt(at: number, happen: Moment['happen']): void {
    const moment = { at, order: (this.#order += 1), happen };
    let index = this.#moments.length;
    while (index > 0 && this.#moments[index - 1]!.at <= at) index -= 1;
    this.#moments.splice(index, 0, moment);
  }

  async #next(): Promise<void> {
    const moment = this.#moments.pop()!;
    this.#happened += 1;
    const momentsMax = 10_000 + this.#scenario.stepsMax * MOMENTS_PER_STEP_MAX;
    assert.ok(this.#happened <= momentsMax, 'the sale never comes to rest');
    this.service.now = Math.max(this.service.now, moment.at);
    await moment.happen();
    await this.#breathe();
    if (this.#failure !== null) throw this.#failure;
    this.service.assertBounds();
    this.service.assertTime();
    if (this.service.status === 'OPEN' && this.#chance.percent(PROOF_SHARE)) await this.#proveReplays();
  }

  async #proveReplays(): Promise<void> {
    this.#count('replay');
    for (const eventId of this.#eventIds) if (this.service.headOf(eventId) > 0) await this.service.proveReplay(eventId);
  }

  /** Lets everything that was promised come to its end; an activation takes a few breaths, or waits for the disk. */
  async #breathe(): Promise<void> {
    for (let breaths = 0; breaths === 0 || (this.#activations > 0 && breaths < ACTIVATION_BREATHS_MAX); breaths += 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (let pass = this.#passing.shift(); pass !== undefined; pass = this.#passing.shift()) await pass();
  }

  /** Does something at an event's box office once it is awake, unless the process ends before. */
  #visit(eventId: string, act: (actor: EventActor) => void, turnedAway = () => {}): void {
    const { generation } = this.service;
    this.#activations += 1;
    const settle = (then: () => void): void => {
      this.#activations -= 1;
      if (generation !== this.service.generation) return;
      try {
        then();
      } catch (error) {
        this.#failure ??= error;
      }
    };
    this.service.directory.byEventId(eventId).then(
      (actor) => settle(() => act(actor!)),
      (error: unknown) =>
        settle(() => {
          if (!(error instanceof Overloaded)) throw error;
          this.#count('OVERLOADED');
          turnedAway();
        }),
    );
  }

  #count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  /** Timers are late now and then, and are gone with the process that set them. */
  #wakeAt(eventId: string, at: number): void {
    const { generation } = this.service;
    const late = this.#chance.percent(20) ? this.#chance.between(0, 400) : 0;
    const due = Math.max(at, this.service.now + TICK_MS) + late;
    const key = `${generation} ${eventId}`;
    if ((this.#wakes.get(key) ?? Infinity) <= due) return;
    this.#wakes.set(key, due);
    this.#planAt(due, () => {
      if (generation !== this.service.generation || this.#wakes.get(key) !== due) return;
      this.#wakes.delete(key);
      this.#wake(eventId);
    });
  }

  // ── the disk and the process ───────────────────────────────────────────────────────────────────────────────────────

  #planCommit(): void {
    if (this.#isCommitPlanned) return;
    this.#isCommitPlanned = true;
    const isSlow = this.#chance.percent(this.#slowShare);
    this.#plan(isSlow ? this.#chance.between(100, 20_000) : this.#chance.between(0, 20), () => {
      this.#isCommitPlanned = false;
      this.service.commit(this.#chance.percent(20) ? this.#chance.next() : 1);
      if (this.service.hasPending) this.#planCommit();
    });
  }

  /** In some sales the disk is a real one, and hurt before the process begins again. */
  async #crash(): Promise<void> {
    this.#count('crash');
    const survivorsSeq = this.#hasDisk ? await this.service.hurtDisk() : null;
    if (this.#hasDisk) this.#count('hurt disk');
    this.service.crash(this.#chance.percent(30), survivorsSeq);
    this.#unanswered.clear();
    this.#wakeAll();
  }

  /** The machine's clock is set wrong, or right again. */
  #leap(): void {
    this.#count('leap');
    this.service.leap(this.#chance.pick([-2 * DAY, -90_000, 0, 61_000, 20 * MINUTE, 2 * DAY]));
  }

  /** Every event is snapshot at once; the thread may be given the same again before it is done. */
  #snapshotAll(): void {
    const { generation } = this.service;
    this.service.takeSnapshots().then(
      (outcomes) => outcomes.forEach(() => this.#count('snapshot')),
      (error: unknown) => {
        if (generation === this.service.generation) this.#failure ??= error;
      },
    );
  }

  #fill(): void {
    if (this.service.status !== 'OPEN') return;
    this.#count('full disk');
    this.service.fillDisk();
    const { generation } = this.service;
    this.#plan(this.#chance.between(10, 90_000), () => {
      if (generation !== this.service.generation) return;
      this.service.makeRoom();
      this.#wakeAll();
    });
  }

  #wake(eventId: string): void {
    const wakeAgain = (): void => this.#wakeAt(eventId, this.service.now + WAKE_AGAIN_MS);
    const settle = (actor: EventActor): void => {
      this.service.turns = [];
      actor.wake();
    };
    this.#visit(eventId, settle, wakeAgain);
  }

  #wakeAll(): void {
    for (const eventId of this.#eventIds) this.#wake(eventId);
  }

  // ── people ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #define(definition: CommandOf<'DefineEvent'>['definition']): Promise<void> {
    const defined = this.service.directory.define(definition, { operator: 'olga', note: null });
    await this.#breathe();
    this.service.commit();
    assert.ok(!isRefusal(await defined));
  }

  /** Where the doors open at a set time, some join before, so that there is somebody to draw. */
  #comeEarly(buyer: Buyer): void {
    const { waitingRoomOpensAt } = this.#people.definitionOf(buyer.eventId);
    if (waitingRoomOpensAt === null || this.#scenario.without.has('join') || this.#chance.percent(50)) return;
    const command = { type: 'JoinQueue', sessionKey: buyer.sessionKey } as const;
    this.#plan(this.#chance.between(1, 4_000), () => this.#send(buyer, command));
  }

  #live(buyer: Buyer): void {
    this.#plan(this.#chance.between(1, buyer.isBot ? this.#pauseMs / 4 : this.#pauseMs), () => {
      if (this.steps >= this.#scenario.stepsMax) return;
      this.#act(buyer);
      this.#live(buyer);
    });
  }

  #act(buyer: Buyer): void {
    this.steps += 1;
    const habit = buyer.isBot ? this.#chance.pick(BOT_HABITS) : this.#chance.weighted(this.#habits);
    if (habit === 'read') {
      this.#plan(this.#chance.between(0, 50), () => {
        this.#visit(buyer.eventId, (actor) => this.#read(actor, buyer));
      });
      return;
    }
    const command = nextCommand(this.#people, habit, buyer);
    if (command !== null) this.#send(buyer, command);
  }

  /** Puts a request on its way; it may come late, twice or never. */
  #send(buyer: Buyer, command: Command): void {
    const times = this.#chance.percent(this.#lossShare) ? 0 : this.#chance.percent(this.#twiceShare) ? 2 : 1;
    for (let n = 0; n < times; n += 1) {
      this.#plan(this.#chance.between(0, n === 0 ? 40 : 5_000), () => this.#arrive(buyer, command));
    }
  }

  /** A request is at the counter. */
  #arrive(buyer: Buyer, command: Command): void {
    this.#visit(buyer.eventId, (actor) => this.#execute(actor, buyer, command));
  }

  #execute(actor: EventActor, buyer: Buyer, command: Command): void {
    if (actor.isRetired) return;
    const { eventId } = buyer;
    const model = this.service.models.get(eventId)!;
    const prediction = predict(model, command, this.service.now);
    const waiting = this.#unanswered.get(eventId) ?? 0;
    const wasOpen = this.service.status === 'OPEN';
    const before = wasOpen && this.#chance.percent(BOOKS_SHARE) ? actor.look(piecesOf) : null;
    this.service.turns = [];
    const asked = actor.execute(command as CommandOf<'PlaceHold'>) as Promise<Reply | Refusal>;
    const facts = this.#factsOf(eventId);
    const { now } = this.service;
    if (before !== null && !actor.isRetired) assertState({ actor, model, now }, facts.length === 0 ? before : null);
    this.#noteSeen(buyer, command, asked);
    this.#awaitAnswer(eventId, asked, {
      told: (answer) => {
        this.#checkAnswer(command, prediction, answer, facts);
        this.#checkOverHttp(eventId, command, answer);
        this.#deliver(buyer, command, answer);
      },
      overloaded: () => {
        assert.ok(facts.length === 0 || this.service.status !== 'OPEN', 'a refusal for lack of room changes nothing');
        assert.ok(
          !wasOpen || this.service.status !== 'OPEN' || waiting >= this.#mailboxMax || facts.length > 0,
          'turned away without need',
        );
      },
    });
    if (this.service.status === 'OPEN') this.#inspect(actor, eventId);
  }

  /** The facts that the command itself left behind, without those of what had run out before it. */
  #factsOf(eventId: string): readonly string[] {
    const settled = new Set(['HoldExpired', 'OrderExpired', 'QueueEntriesDropped', 'QueuePassExpired', 'DrawStarted']);
    const last = this.service.turns.filter((turn) => turn.eventId === eventId).at(-1)?.facts ?? [];
    const isOwn = last.length > 0 && !settled.has(last[0]!.type);
    return isOwn ? last.map(({ type }) => type) : [];
  }

  #noteSeen({ eventId, sessionKey }: Buyer, command: Command, asked: Promise<unknown>): void {
    if (command.type !== 'PollQueue' && command.type !== 'JoinQueue') return;
    if (this.service.status !== 'OPEN' || (this.#unanswered.get(eventId) ?? 0) >= this.#mailboxMax) return;
    asked.catch(() => {});
    for (const [entryId, entry] of this.service.models.get(eventId)!.entries) {
      const isMeant = command.type === 'JoinQueue' || command.entryId === entryId;
      if (isMeant && entry.sessionKey === sessionKey && entry.status === 'WAITING')
        this.service.noteSeen(eventId, entryId);
    }
  }

  /** Waits for an answer of this process; it must not come before all that it depends on is durable (I4). */
  #awaitAnswer<Answer>(
    eventId: string,
    asked: Promise<Answer>,
    then: { told: (answer: Answer) => void; overloaded: () => void },
  ): void {
    const { generation } = this.service;
    const headSeq = this.service.headOf(eventId);
    const waits = this.service.status === 'OPEN' && headSeq > this.service.durableSeq;
    if (waits) this.#unanswered.set(eventId, (this.#unanswered.get(eventId) ?? 0) + 1);
    const settle = (act: () => void): void => {
      if (generation !== this.service.generation) return;
      if (waits) this.#unanswered.set(eventId, this.#unanswered.get(eventId)! - 1);
      try {
        act();
      } catch (error) {
        this.#failure ??= error;
      }
    };
    asked.then(
      (answer) =>
        settle(() => {
          assert.ok(headSeq <= this.service.durableSeq, 'answered before it was durable (I4)');
          this.service.answeredSeq = Math.max(this.service.answeredSeq, headSeq);
          then.told(answer);
        }),
      (error: unknown) =>
        settle(() => {
          if (!(error instanceof Overloaded)) throw error;
          this.#count('OVERLOADED');
          then.overloaded();
        }),
    );
  }

  /** Holds an answer against what was foretold. */
  #checkAnswer(command: Command, prediction: Prediction, answer: Reply | Refusal, facts: readonly string[]): void {
    const outcome = isRefusal(answer) ? answer.code : 'DONE';
    this.#count(outcome === 'DONE' ? command.type : outcome);
    const context = (): string => `${JSON.stringify(command)} ⇒ ${JSON.stringify(answer)}`;
    assert.ok(prediction.outcomes.includes(outcome), `foretold was ${prediction.outcomes.join(' or ')}: ${context()}`);
    if (isRefusal(answer)) {
      assert.deepEqual(facts, [], `a refusal leaves no facts: ${context()}`);
      if (answer.code === 'SEAT_TAKEN')
        assert.deepEqual([...answer.detail.seatIds].sort(), [...(prediction.seatIds ?? [])].sort());
      const { available } = prediction;
      if (answer.code === 'INSUFFICIENT_TICKETS' && available !== undefined)
        assert.equal(answer.detail.available, available, context());
      if (answer.code === 'INSUFFICIENT_TICKETS' && prediction.shortfall !== undefined) {
        const { reservedByOthers, nextReleaseAt } = answer.detail;
        assert.deepEqual({ reservedByOthers, nextReleaseAt }, prediction.shortfall, context());
      }
      return;
    }
    if (prediction.rarity !== undefined) this.#count(prediction.rarity);
    const own = facts.filter((type) => type !== 'QueuePassSpent');
    if (prediction.facts !== undefined) assert.deepEqual(own, prediction.facts, context());
    for (const { ticketTypeId, seatIds } of 'hold' in answer ? answer.hold.items : []) {
      const assigned = prediction.assigned?.get(ticketTypeId);
      if (assigned !== undefined && !('replayed' in answer && answer.replayed))
        assert.deepEqual(seatIds, assigned, context());
    }
    if ('order' in answer && answer.order !== null && prediction.totalCents !== undefined) {
      assert.equal(answer.order.totalCents, prediction.totalCents, context());
    }
  }

  /** In some sales every answer goes through the real routes, schemas and bodies. */
  #checkOverHttp(eventId: string, command: Command, answer: Reply | Refusal): void {
    if (!this.#hasHttp) return;
    const { now } = this.service;
    this.#count('through the window');
    this.#passing.push(async () => (await theWindow()).pass(eventId, command, answer, now));
  }

  /** The answer travels back, unless it is lost; who is told of a payment without a session asks the provider for one. */
  #deliver(buyer: Buyer, command: Command, answer: Reply | Refusal): void {
    if (isRefusal(answer)) return;
    if ('payment' in answer && answer.payment !== null && answer.payment.checkoutSessionId === null) {
      this.#send(buyer, this.#openSession(buyer.eventId, (answer as { order: OrderView }).order, answer.payment));
    }
    if (this.#chance.percent(this.#lossShare)) return;
    this.#plan(this.#chance.between(0, 40), () => learn(buyer, command, answer));
  }

  #openSession(eventId: string, order: OrderView, payment: PaymentView): Command {
    this.#people.knownPayments.push({ eventId, payment });
    return {
      type: 'RecordCheckoutSession',
      orderId: order.id,
      paymentId: payment.id,
      checkoutSessionId: `cs_of_${payment.id}`,
      redirectUrl: 'https://pay.example/',
      expiresAt: null,
    };
  }

  // ── what must be so ────────────────────────────────────────────────────────────────────────────────────────────────

  /** A buyer looks at the hold, the orders and the event. */
  #read(actor: EventActor, buyer: Buyer): void {
    if (actor.isRetired) return;
    const { eventId, sessionKey, hold } = buyer;
    const { status } = this.service;
    if (status !== 'OPEN' && status !== 'FULL') return;
    const model = this.service.models.get(eventId)!;
    const { now } = this.service;
    this.service.turns = [];
    const asked = actor.lookDurably((state) => {
      const held = hold === null ? null : findHold(state, hold.id, sessionKey);
      const orders = buyer.orderIds.flatMap((id) => state.orders.byId.get(id) ?? []);
      return { held, orders: orders.map((order) => viewOrder(state, order)) };
    });
    assertShown({ actor, model, now }, this.#chance.pick(model.definition.performances).id);
    const known = hold === null ? undefined : model.holds.get(hold.id);
    const statusOfHold = known === undefined ? undefined : model.statusOfHold(known, now);
    const orders = buyer.orderIds.flatMap((id) => model.orders.get(id) ?? []);
    const expected = orders.map((order) => [model.statusOfOrder(order, now), model.refundDue(order, now)]);
    this.#awaitAnswer(eventId, asked, {
      told: ({ held, orders: shown }) => {
        this.#count(status === 'OPEN' ? 'read' : 'read while full');
        const isForgotten = held !== null && isRefusal(held) && known !== undefined && model.mayBeForgotten(known, now);
        if (!isForgotten)
          assert.equal(
            held === null || isRefusal(held) ? undefined : held.status,
            statusOfHold,
            'a hold reads as it is',
          );
        assert.deepEqual(
          shown.map(({ status, refundDueCents }) => [status, refundDueCents]),
          expected,
          'orders read as they are',
        );
      },
      overloaded: () => {},
    });
  }

  /** What must be so after every turn. */
  #inspect(actor: EventActor, eventId: string): void {
    const { now, turns } = this.service;
    const model = this.service.models.get(eventId)!;
    assertBooks({ actor, model, now });
    const hasJoined = turns.some(({ facts }) => facts.some(({ type }) => type === 'QueueEntryJoined'));
    if (hasJoined) assertNobodyForgotten(model, now);
  }

  /** Faults are over and nobody comes any more: every window has ended, nothing is held, and a replay is the same. */
  async #assertQuiet(): Promise<void> {
    if (this.service.status === 'FULL') this.service.makeRoom();
    this.service.now += 60 * MINUTE;
    this.service.turns = [];
    for (let n = 0; n < 3; n += 1) {
      this.#wakeAll();
      this.service.commit();
      await this.#breathe();
    }
    if (this.#failure !== null) throw this.#failure;
    for (const eventId of this.#eventIds) {
      const actor = (await this.service.directory.byEventId(eventId))!;
      this.#inspect(actor, eventId);
      const held = actor.look((state) => stockOfPerformances(state)).reduce((sum, date) => sum + date.held, 0);
      assert.equal(held, 0, 'after the last window nothing is held');
      const model = this.service.models.get(eventId)!;
      const waiting = [...model.entries.values()].filter(({ status }) => status === 'WAITING' || status === 'ADMITTED');
      assert.equal(waiting.length, 0, 'after the last window nobody waits');
      model.waitingRoom?.assertSpans();
      if ((model.waitingRoom?.drawnCount ?? 0) > 1) this.#count('draw');
      await this.service.proveReplay(eventId);
      await this.#assertAlive(eventId);
    }
    for (const [eventId, count] of this.#unanswered) assert.equal(count, 0, `${eventId}: everybody was answered`);
  }

  /** Whoever comes when all is quiet is served: admitted, holds a ticket and has an order, as far as any are left. */
  async #assertAlive(eventId: string): Promise<void> {
    const sessionKey = 'session-late';
    const model = this.service.models.get(eventId)!;
    const ask = async (command: Command): Promise<Reply | Refusal> => {
      this.service.commit();
      const actor = (await this.service.directory.byEventId(eventId))!;
      const { outcomes } = predict(model, command, this.service.now);
      const asked = actor.execute(command as CommandOf<'PlaceHold'>) as Promise<Reply | Refusal>;
      this.service.commit();
      const answer = await asked;
      assert.ok(outcomes.includes(isRefusal(answer) ? answer.code : 'DONE'), `in the quiet: ${JSON.stringify(answer)}`);
      return answer;
    };
    const joined = model.definition.waitingRoom ? await ask({ type: 'JoinQueue', sessionKey }) : null;
    const entry = joined === null ? null : (joined as ReplyTo<'JoinQueue'>).entry;
    if (entry !== null) assert.equal(entry.status, 'ADMITTED', 'an empty room admits at once');
    const queuePass = entry?.id ?? null;
    const placed = await ask(placeOne(sessionKey, model.definition.performances[0]!.id, queuePass));
    if ('hold' in placed) await ask({ type: 'ReleaseHold', holdId: placed.hold.id, sessionKey });
  }
}
