/**
 * One simulated sale: buyers, network, disk and clock, all from one seed, and a check of every answer against its
 * prediction.
 *
 * Owns the schedule: a queue of steps, each of which completes before the next. Requests and answers are delayed, lost,
 * delivered twice and reordered; the disk is slow, full or broken; the process crashes.
 *
 * After every turn the answer is as predicted, and the counters of every performance add up and equal the model's. At
 * random turns the whole state equals the model's and a replay gives it. In some sales every answer also goes through
 * the real HTTP layer, and in some the disk is a real one. At the end faults stop, everything with a window expires,
 * and a new buyer is served.
 */
import assert from 'node:assert/strict';
import { Overloaded } from '#actors/admission.ts';
import { erases } from '#domain/orders/erasure.ts';
import { stockOfPerformances } from '#domain/inventory/view.ts';
import { findHold } from '#domain/holds/view.ts';
import { isCancelling } from '#domain/orders/state.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { viewOrder } from '#domain/orders/view.ts';
import { chanceOf, type Chance } from './chance.ts';
import {
  BOT_HABITS,
  drawBuyers,
  drawHabits,
  drawReports,
  learn,
  nextCommand,
  placeOne,
  type Buyer,
  type Habits,
  type People,
} from './buyers.ts';
import {
  assertCancelled,
  assertForgotten,
  assertStock,
  assertNobodyWaits,
  assertShown,
  assertState,
  piecesOf,
} from './checks.ts';
import { drawEvent, MINUTE, START } from './events.ts';
import { Fronts, type Played } from './fronts.ts';
import { openHttpCheck, type HttpCheck } from './http.ts';
import { AT_ONCE } from './keys.ts';
import { predict, type Prediction } from './prediction.ts';
import { SimulatedService } from './service.ts';
import { inspectDurably } from '../fixtures/actors.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { Command, CommandOf, Reply, ReplyTo } from '#domain/command.ts';
import type { OrderView, PaymentView } from '#domain/view.ts';

export interface Scenario {
  readonly seed: number;
  readonly stepsMax: number;
  readonly buyersMax: number;
  /** Habits and faults that are switched off. */
  readonly without: ReadonlySet<string>;
}

export const FAULTS = [
  'crash',
  'full',
  'slow',
  'loss',
  'repeat-delivery',
  'waiting-room',
  'evict',
  'mailbox',
  'http',
  'disk',
  'leap',
  'snapshot',
  'keys',
  'fronts',
] as const;

export interface Outcome {
  readonly steps: number;
  readonly simulatedMs: number;
  /** How often each reply, refusal and fault was seen. */
  readonly seen: ReadonlyMap<string, number>;
  readonly failure: Error | null;
}

/** An activation yields to the event loop several times; more rounds than this are not waited for. */
const ACTIVATION_ROUNDS_MAX = 16;

/** Answers of one moment are published in the round after it. */
const FRONT_ROUNDS = 3;

/** A third of the sales has threads that ask. */
const FRONTS_SHARE = 33;

/** A cancellation of two orders a turn takes fewer. */
const QUIET_ROUNDS_MAX = 200;

/** A limit far above the steps of any sale; a sale that does not end fails here. */
const MOMENTS_PER_STEP_MAX = 100;

/**
 * After so many steps in a hundred a replay is compared with the state; in so many turns the whole state with the
 * model.
 */
const REPLAY_SHARE = 1;
const STATE_SHARE = 10;

/** The resolution of the timers. */
const TICK_MS = 50;

/** The longest time that a job of the snapshot thread takes. */
const SNAPSHOT_MS_MAX = 3_000;

/** The longest time that storing or destroying keys takes. */
const KEYS_MS_MAX = 3_000;

const DAY = 24 * 60 * MINUTE;

/** The pause before an event that could not be activated is tried again. */
const WAKE_AGAIN_MS = 1_000;

interface Moment {
  readonly at: number;
  readonly order: number;
  readonly happen: () => void | Promise<void>;
}

let httpCheckPromise: Promise<HttpCheck> | null = null;

/** One check serves all sales of the process, because it keeps no state. */
function httpCheck(): Promise<HttpCheck> {
  return (httpCheckPromise ??= openHttpCheck());
}

/** Runs a sale to its end, or to the first failure. */
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

function executeHere(actor: EventActor, command: Command): Played {
  const answer = actor.execute(command as CommandOf<'PlaceHold'>) as Promise<Reply | Refusal>;
  return { answer, left: answer };
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
  readonly #steps: Moment[] = [];
  readonly #unanswered = new Map<string, number>();
  /** When the timer of each event fires next. */
  readonly #wakes = new Map<string, number>();
  #activations = 0;
  #order = 0;
  #happened = 0;
  #isCommitScheduled = false;
  #failure: unknown = null;
  /** Checks over HTTP that have not run yet. */
  readonly #httpChecks: (() => Promise<void>)[] = [];
  readonly #hasHttp: boolean;
  /** In some sales other threads ask for everything. */
  readonly #fronts: Fronts | null;
  readonly #hasDisk: boolean;
  /** Its buyers mostly buy, pay and change orders. */
  readonly #isAmending: boolean;
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
    this.#twiceShare = share('repeat-delivery', 25);
    this.#slowShare = share('slow', 30);
    this.#hasHttp = chance.percent(20) && !scenario.without.has('http');
    this.#hasDisk = chance.percent(5) && !scenario.without.has('disk');
    const evicts = share('evict', 100) > 30;
    const count = evicts ? 2 : 1;
    this.#mailboxMax = share('mailbox', 100) > 60 ? chance.between(1, 4) : 1000;
    this.#isAmending = chance.percent(30);
    const hasRoom = share('waiting-room', 100) > 40 && !this.#isAmending;
    const events = Array.from({ length: count }, (_, n) => drawEvent(chance, n + 1, hasRoom));
    this.#eventIds = events.map(({ id }) => id);
    this.service = new SimulatedService(
      chance,
      events,
      { liveEventsMax: evicts ? 1 : 10, waitingRepliesMax: this.#mailboxMax },
      START,
    );
    const buyers = drawBuyers(chance, chance.between(2, scenario.buyersMax), this.#eventIds);
    const definitionOf = (eventId: string) => this.service.models.get(eventId)!.definition;
    const ordersOf = (eventId: string) => [...this.service.models.get(eventId)!.orders.values()];
    this.#people = { chance, buyers, knownPayments: [], definitionOf, ordersOf };
    this.#habits = drawHabits(chance, scenario.without, this.#isAmending);
    this.#pauseMs = chance.pick([500, 5_000, 40_000, 400_000]);
    this.service.onWake = (eventId, at) => this.#wakeAt(eventId, at);
    this.service.onAppend = () => this.#scheduleCommit();
    this.service.onSnapshotJob = (finish) => this.#schedule(chance.between(0, SNAPSHOT_MS_MAX), finish);
    this.service.onKeyJob = (finish) => this.#schedule(this.#chance.between(0, KEYS_MS_MAX), finish);
    this.service.onLater = (work, ms) => this.#schedule(ms, work);
    this.service.failingKeysShare = share('keys', 50);
    this.#fronts = this.#openFronts();
    for (const definition of events) this.#schedule(0, () => this.#define(definition));
  }

  async run(): Promise<void> {
    // The events are defined before the buyers start; an opening that is due later finds buyers waiting.
    while ((this.#steps.at(-1)?.at ?? Infinity) <= START) await this.#next();
    const crashes = this.#scenario.without.has('crash') ? 0 : this.#chance.between(0, 3);
    const fills = this.#scenario.without.has('full') ? 0 : this.#chance.between(0, 2);
    const spanMs = (this.#scenario.stepsMax * this.#pauseMs) / 4;
    for (let n = 0; n < crashes; n += 1) this.#schedule(this.#chance.between(1, spanMs), () => this.#crash());
    for (let n = 0; n < fills; n += 1) this.#schedule(this.#chance.between(1, spanMs), () => this.#fill());
    const leaps = !this.#chance.percent(30) || this.#scenario.without.has('leap') ? 0 : this.#chance.between(1, 3);
    const rounds = this.#scenario.without.has('snapshot') ? 0 : this.#chance.between(0, 6);
    for (let n = 0; n < leaps; n += 1) this.#schedule(this.#chance.between(1, spanMs), () => this.#leap());
    for (let n = 0; n < rounds; n += 1) this.#schedule(this.#chance.between(1, spanMs), () => this.#snapshotAll());
    const deaths = this.#fronts === null ? 0 : this.#chance.between(0, 6);
    for (let n = 0; n < deaths; n += 1) this.#schedule(this.#chance.between(1, spanMs), () => this.#fronts!.killOne());
    for (const buyer of this.#people.buyers) {
      this.#joinEarly(buyer);
      this.#startBuyer(buyer);
    }
    while (this.#steps.length > 0) await this.#next();
    await this.#assertQuiet();
  }

  // ── time ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  #schedule(afterMs: number, happen: Moment['happen']): void {
    this.#scheduleAt(this.service.now + afterMs, happen);
  }

  #scheduleAt(at: number, happen: Moment['happen']): void {
    const moment = { at, order: (this.#order += 1), happen };
    let index = this.#steps.length;
    while (index > 0 && this.#steps[index - 1]!.at <= at) index -= 1;
    this.#steps.splice(index, 0, moment);
  }

  async #next(): Promise<void> {
    const moment = this.#steps.pop()!;
    this.#happened += 1;
    const momentsMax = 10_000 + this.#scenario.stepsMax * MOMENTS_PER_STEP_MAX;
    assert.ok(this.#happened <= momentsMax, 'the sale does not end');
    this.service.now = Math.max(this.service.now, moment.at);
    await moment.happen();
    await this.#settlePromises();
    if (this.#failure !== null) throw this.#failure;
    this.service.assertBounds();
    this.service.assertTime();
    if (this.service.status === 'OPEN' && this.#chance.percent(REPLAY_SHARE)) await this.#proveReplays();
  }

  async #proveReplays(): Promise<void> {
    this.#count('replay');
    for (const eventId of this.#eventIds) if (this.service.headOf(eventId) > 0) await this.service.proveReplay(eventId);
  }

  /** Lets pending promises settle; an activation takes several rounds of the event loop, or waits for the disk. */
  async #settlePromises(): Promise<void> {
    const roundsMin = this.#fronts === null ? 1 : FRONT_ROUNDS;
    for (let rounds = 0; rounds < roundsMin || (this.#activations > 0 && rounds < ACTIVATION_ROUNDS_MAX); rounds += 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#fronts?.noticeBells();
    for (let pass = this.#httpChecks.shift(); pass !== undefined; pass = this.#httpChecks.shift()) await pass();
  }

  /** Calls `act` with the event's actor once it is active, unless the process ends before. */
  #withActor(eventId: string, act: (actor: EventActor) => void, onOverloaded = () => {}): void {
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
    Promise.resolve(this.service.events.byEventId(eventId)).then(
      (actor) => settle(() => act(actor!)),
      (error: unknown) =>
        settle(() => {
          if (!(error instanceof Overloaded)) throw error;
          this.#count('OVERLOADED');
          onOverloaded();
        }),
    );
  }

  #count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  /** Some timers fire late; the timers of a process end with it. */
  #wakeAt(eventId: string, at: number): void {
    const { generation } = this.service;
    const late = this.#chance.percent(20) ? this.#chance.between(0, 400) : 0;
    const due = Math.max(at, this.service.now + TICK_MS) + late;
    const key = `${generation} ${eventId}`;
    if ((this.#wakes.get(key) ?? Infinity) <= due) return;
    this.#wakes.set(key, due);
    this.#scheduleAt(due, () => {
      if (generation !== this.service.generation || this.#wakes.get(key) !== due) return;
      this.#wakes.delete(key);
      this.#wake(eventId);
    });
  }

  /** Their random numbers are their own, so that the sale is drawn as it would be without them. */
  #openFronts(): Fronts | null {
    const { seed, without } = this.#scenario;
    const chance = chanceOf(~seed);
    if (!chance.percent(FRONTS_SHARE) || without.has('fronts')) return null;
    const { service } = this;
    return new Fronts({
      chance,
      events: { byEventId: (eventId) => service.events.byEventId(eventId) },
      schedule: (afterMs, happen) => this.#schedule(afterMs, happen),
      count: (what) => this.#count(what),
      fail: (error) => (this.#failure ??= error),
      activating: (activation) => this.#noteActivation(activation),
    });
  }

  #noteActivation(activation: Promise<unknown>): void {
    this.#activations += 1;
    const end = (): void => void (this.#activations -= 1);
    activation.then(end, end);
  }

  // ── the disk and the process ───────────────────────────────────────────────────────────────────────────────────────

  #scheduleCommit(): void {
    if (this.#isCommitScheduled) return;
    this.#isCommitScheduled = true;
    const isSlow = this.#chance.percent(this.#slowShare);
    this.#schedule(isSlow ? this.#chance.between(100, 20_000) : this.#chance.between(0, 20), () => {
      this.#isCommitScheduled = false;
      this.service.commit(this.#chance.percent(20) ? this.#chance.next() : 1);
      if (this.service.hasPending) this.#scheduleCommit();
    });
  }

  /** In some sales the disk is a real one, and is damaged before the process starts again. */
  async #crash(): Promise<void> {
    this.#count('crash');
    const isCut = this.service.events.actors.active().some((actor) => !actor.isRetired && actor.inspect(isCancelling));
    if (isCut) this.#count('cancellation cut short');
    const survivorsSeq = this.#hasDisk ? await this.service.damageDisk() : null;
    if (this.#hasDisk) this.#count('damaged disk');
    const keysLeft = await this.service.crash(this.#chance.percent(30), survivorsSeq);
    if (keysLeft > 0) this.#count('erasure cut short');
    this.#unanswered.clear();
    this.#fronts?.start();
    this.#wakeAll();
  }

  /** A cancellation takes milliseconds: at a random moment it would hardly ever be cut short. */
  #crashSoon(): void {
    if (this.#scenario.without.has('crash') || this.#chance.percent(70)) return;
    this.#schedule(this.#chance.between(1, 100), () => this.#crash());
  }

  /** Sets the machine's clock wrong, or right again. */
  #leap(): void {
    this.#count('leap');
    this.service.leap(this.#chance.pick([-2 * DAY, -90_000, 0, 61_000, 20 * MINUTE, 2 * DAY]));
  }

  /** Takes snapshots of all events; the thread may get the same job again before the first is done. */
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
    this.#schedule(this.#chance.between(10, 90_000), () => {
      if (generation !== this.service.generation) return;
      this.service.freeDisk();
      this.#wakeAll();
    });
  }

  #wake(eventId: string): void {
    const wakeAgain = (): void => this.#wakeAt(eventId, this.service.now + WAKE_AGAIN_MS);
    const settle = (actor: EventActor): void => {
      this.service.turns = [];
      actor.settleDue();
    };
    this.#withActor(eventId, settle, wakeAgain);
  }

  #wakeAll(): void {
    for (const eventId of this.#eventIds) this.#wake(eventId);
  }

  // ── people ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #define(definition: CommandOf<'DefineEvent'>['definition']): Promise<void> {
    const defined = this.service.events.define(definition, { operator: 'olga', note: null });
    await this.#settlePromises();
    this.service.commit();
    assert.ok(!isRefusal(await defined));
  }

  /** Where a waiting room opens at a set time, some buyers join before, so that there are entries to draw. */
  #joinEarly(buyer: Buyer): void {
    const { waitingRoomOpensAt } = this.#people.definitionOf(buyer.eventId);
    if (waitingRoomOpensAt === null || this.#scenario.without.has('join') || this.#chance.percent(50)) return;
    const command = { type: 'JoinQueue', sessionKey: buyer.sessionKey } as const;
    this.#schedule(this.#chance.between(1, 4_000), () => this.#send(buyer, command));
  }

  #startBuyer(buyer: Buyer): void {
    this.#schedule(this.#chance.between(1, buyer.isBot ? this.#pauseMs / 4 : this.#pauseMs), () => {
      if (this.steps >= this.#scenario.stepsMax) return;
      this.#act(buyer);
      this.#startBuyer(buyer);
    });
  }

  #act(buyer: Buyer): void {
    this.steps += 1;
    const habit = buyer.isBot ? this.#chance.pick(BOT_HABITS) : this.#chance.weighted(this.#habits);
    if (habit === 'read') {
      this.#schedule(this.#chance.between(0, 50), () => {
        this.#withActor(buyer.eventId, (actor) => this.#read(actor, buyer));
      });
      return;
    }
    const command = nextCommand(this.#people, habit, buyer);
    if (command !== null) this.#send(buyer, command);
  }

  /** Sends a request; it may arrive late, twice or never. */
  #send(buyer: Buyer, command: Command): void {
    const times = this.#chance.percent(this.#lossShare) ? 0 : this.#chance.percent(this.#twiceShare) ? 2 : 1;
    for (let n = 0; n < times; n += 1) {
      this.#schedule(this.#chance.between(0, n === 0 ? 40 : 5_000), () => this.#receive(buyer, command));
    }
  }

  /** A request has arrived. */
  #receive(buyer: Buyer, command: Command): void {
    const { eventId } = buyer;
    if (this.#fronts === null) return this.#withActor(eventId, (actor) => this.#execute(actor, buyer, command));
    const { generation } = this.service;
    this.#fronts.execute(eventId, command, (actor, run) => {
      if (generation === this.service.generation) this.#execute(actor, buyer, command, run);
    });
  }

  /** Runs a turn and checks it; `run` is for a command that another thread asked for. */
  #execute(actor: EventActor, buyer: Buyer, command: Command, run = (): Played => executeHere(actor, command)): void {
    if (actor.isRetired) return;
    const { eventId } = buyer;
    const model = this.service.models.get(eventId)!;
    const prediction = predict(model, command, this.service.now);
    const waiting = this.#unanswered.get(eventId) ?? 0;
    const wasOpen = this.service.status === 'OPEN';
    const before = wasOpen && this.#chance.percent(STATE_SHARE) ? actor.inspect(piecesOf) : null;
    this.service.turns = [];
    this.service.keys.ranEmpty = false;
    const { answer: asked, left } = run();
    const { ranEmpty } = this.service.keys;
    if (ranEmpty) this.#count('no key');
    const facts = this.#factsOf(eventId);
    const isErasing = erases(command.type);
    const waitsOn = isErasing || command.type === 'CancelPerformance';
    const headSeq = this.service.headOf(eventId);
    const { now } = this.service;
    if (before !== null && !actor.isRetired) assertState({ actor, model, now }, facts.length === 0 ? before : null);
    this.#noteSeen(buyer, command);
    if (facts.includes('PerformanceCancelled')) this.#crashSoon();
    // What another thread is told, it hears later.
    let { status } = this.service;
    const noteStatus = (): void => void ({ status } = this.service);
    left.then(noteStatus, noteStatus);
    this.#awaitAnswer(eventId, asked, {
      left,
      waitsOn,
      isOfRoom: (answer) => command.type === 'PollQueue' && 'entry' in answer && answer.entry.soldOut !== true,
      answered: (answer) => {
        this.#checkAnswer(command, prediction, answer, facts);
        if (!isRefusal(answer)) assertCancelled(model, command, this.service.now);
        if (isErasing) this.service.assertErased(eventId, headSeq);
        this.#checkOverHttp(eventId, command, answer);
        this.#deliver(buyer, command, answer);
      },
      overloaded: () => {
        if (isErasing && facts.length > 0) this.#count('keys not destroyed');
        else assert.ok(facts.length === 0 || status !== 'OPEN', 'an OVERLOADED command changes nothing');
        assert.ok(
          !wasOpen || status !== 'OPEN' || waiting >= this.#mailboxMax || facts.length > 0 || ranEmpty || isErasing,
          'OVERLOADED without need',
        );
      },
    });
    if (this.service.status === 'OPEN') this.#assertTurn(actor, eventId);
  }

  /** The facts of the command itself, without those of deadlines that were due before it. */
  #factsOf(eventId: string): readonly string[] {
    const settled = new Set(['HoldExpired', 'OrderExpired', 'QueueEntriesDropped', 'QueuePassExpired', 'DrawStarted']);
    const last = this.service.turns.filter((turn) => turn.eventId === eventId).at(-1)?.facts ?? [];
    const [first] = last;
    const hasRunOut = first?.type === 'AmendmentEnded' && first.data.outcome === 'EXPIRED';
    const isOwn = first !== undefined && !settled.has(first.type) && !hasRunOut;
    return isOwn ? last.map(({ type }) => type) : [];
  }

  #noteSeen({ eventId, sessionKey }: Buyer, command: Command): void {
    if (command.type !== 'PollQueue' && command.type !== 'JoinQueue') return;
    if (this.service.status !== 'OPEN' || (this.#unanswered.get(eventId) ?? 0) >= this.#mailboxMax) return;
    for (const [entryId, entry] of this.service.models.get(eventId)!.entries) {
      const isMeant = command.type === 'JoinQueue' || command.entryId === entryId;
      if (isMeant && entry.sessionKey === sessionKey && entry.status === 'WAITING')
        this.service.noteSeen(eventId, entryId);
    }
  }

  /** Waits for an answer of this process; it must not leave before the facts that it depends on are durable (I4). */
  #awaitAnswer<Answer>(
    eventId: string,
    asked: Promise<Answer>,
    then: {
      answered: (answer: Answer) => void;
      overloaded: () => void;
      /** The answer as it leaves the event, where its client hears of it later. */
      left?: Promise<Answer>;
      waitsOn?: boolean;
      /** Whether an answer shows the waiting room alone. */
      isOfRoom?: (answer: Answer) => boolean;
    },
  ): void {
    const { generation } = this.service;
    const headSeq = this.service.headOf(eventId);
    const roomHeadSeq = this.service.roomHeadOf(eventId);
    const waits = this.service.status === 'OPEN' && headSeq > this.service.durableSeq;
    if (waits) this.#unanswered.set(eventId, (this.#unanswered.get(eventId) ?? 0) + 1);
    const endWait = (): void => {
      if (generation === this.service.generation && waits) {
        this.#unanswered.set(eventId, this.#unanswered.get(eventId)! - 1);
      }
    };
    // The event no longer counts an erasure that only waits for its keys, or a cancellation for the turns after it.
    const { left = asked } = then;
    (then.waitsOn === true ? this.service.durable(headSeq) : left).then(endWait, endWait);
    const seenSeqOf = (answer: Answer): number => (then.isOfRoom?.(answer) === true ? roomHeadSeq : headSeq);
    const settle = (act: () => void): void => {
      if (generation !== this.service.generation) return;
      try {
        act();
      } catch (error) {
        this.#failure ??= error;
      }
    };
    left.then(
      (answer) =>
        settle(() => assert.ok(seenSeqOf(answer) <= this.service.durableSeq, 'answered before it was durable (I4)')),
      () => {},
    );
    asked.then(
      (answer) =>
        settle(() => {
          this.service.answeredSeq = Math.max(this.service.answeredSeq, seenSeqOf(answer));
          then.answered(answer);
        }),
      (error: unknown) =>
        settle(() => {
          if (!(error instanceof Overloaded)) throw error;
          this.#count('OVERLOADED');
          then.overloaded();
        }),
    );
  }

  /** Compares an answer with its prediction. */
  #checkAnswer(command: Command, prediction: Prediction, answer: Reply | Refusal, facts: readonly string[]): void {
    const outcome = isRefusal(answer) ? answer.code : 'DONE';
    this.#count(outcome === 'DONE' ? command.type : outcome);
    const context = (): string => `${JSON.stringify(command)} ⇒ ${JSON.stringify(answer)}`;
    assert.ok(prediction.outcomes.includes(outcome), `predicted was ${prediction.outcomes.join(' or ')}: ${context()}`);
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

  /** In some sales every answer also goes through the real routes, schemas and bodies. */
  #checkOverHttp(eventId: string, command: Command, answer: Reply | Refusal): void {
    if (!this.#hasHttp) return;
    const { now } = this.service;
    this.#count('over HTTP');
    this.#httpChecks.push(async () => (await httpCheck()).check(eventId, command, answer, now));
  }

  /** Delivers the answer unless it is lost; a payment without a checkout session gets one from the provider. */
  #deliver(buyer: Buyer, command: Command, answer: Reply | Refusal): void {
    if (isRefusal(answer)) return;
    if ('payment' in answer && answer.payment !== null && answer.payment.checkoutSessionId === null) {
      const { payment } = answer;
      this.#send(buyer, this.#openSession(buyer.eventId, (answer as { order: OrderView }).order, payment));
      if (command.type === 'AmendOrder' || this.#isAmending) this.#payLater(buyer, payment);
    }
    if (this.#chance.percent(this.#lossShare)) return;
    this.#schedule(this.#chance.between(0, 40), () => learn(buyer, command, answer));
  }

  #payLater(buyer: Buyer, payment: PaymentView): void {
    if (this.#scenario.without.has('pay')) return;
    const definition = this.#people.definitionOf(buyer.eventId);
    const reports = drawReports(this.#chance, definition, { payment, soonMs: this.#pauseMs / 2 });
    for (const { afterMs, report } of reports) {
      this.#schedule(afterMs, () => this.#send(buyer, report));
    }
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

  /** A buyer reads its hold, its orders and the event. */
  #read(actor: EventActor, buyer: Buyer): void {
    if (actor.isRetired) return;
    const { eventId, sessionKey, hold } = buyer;
    const { status } = this.service;
    if (status !== 'OPEN' && status !== 'FULL') return;
    const model = this.service.models.get(eventId)!;
    const { now } = this.service;
    this.service.turns = [];
    const asked = inspectDurably(actor, (state) => {
      const held = hold === null ? null : findHold(state, hold.id, sessionKey);
      const orders = buyer.orderIds.flatMap((id) => state.orders.byId.get(id) ?? []);
      return { held, orders: orders.map((order) => viewOrder(state, order)) };
    });
    assertShown({ actor, model, now }, this.#chance.pick(model.definition.performances).id);
    const known = hold === null ? undefined : model.holds.get(hold.id);
    const statusOfHold = known === undefined ? undefined : model.shownStatusOfHold(known, now);
    const orders = buyer.orderIds.flatMap((id) => model.orders.get(id) ?? []);
    const expected = orders.map((order) => [model.statusOfOrder(order, now), model.refundDue(order, now)]);
    actor.inspect((state) => assertForgotten(state, model, this.service.keys.store.sealingOf(eventId)));
    this.#awaitAnswer(eventId, asked, {
      answered: ({ held, orders: shown }) => {
        this.#count(status === 'OPEN' ? 'read' : 'read while full');
        const isDropped = held !== null && isRefusal(held) && known !== undefined && model.mayBeDropped(known, now);
        if (!isDropped)
          assert.equal(
            held === null || isRefusal(held) ? undefined : held.status,
            statusOfHold,
            'a hold reads as in the model',
          );
        assert.deepEqual(
          shown.map(({ status, refundDueCents }) => [status, refundDueCents]),
          expected,
          'orders read as in the model',
        );
      },
      overloaded: () => {},
    });
  }

  /** The checks after every turn. */
  #assertTurn(actor: EventActor, eventId: string): void {
    const { now, turns } = this.service;
    const model = this.service.models.get(eventId)!;
    assertStock({ actor, model, now });
    const hasJoined = turns.some(({ facts }) => facts.some(({ type }) => type === 'QueueEntryJoined'));
    if (hasJoined) assertNobodyWaits(model, now);
  }

  /**
   * The checks after faults and buyers have stopped: every window has ended, nothing is held, and a replay gives the
   * state.
   */
  async #assertQuiet(): Promise<void> {
    if (this.service.status === 'FULL') this.service.freeDisk();
    this.service.onKeyJob = AT_ONCE;
    this.service.now += 60 * MINUTE;
    this.service.turns = [];
    for (let n = 0; n < 3 || (await this.#isCancelling()); n += 1) {
      assert.ok(n < QUIET_ROUNDS_MAX, 'a cancellation ends');
      this.#wakeAll();
      this.service.commit();
      await this.#settlePromises();
    }
    if (this.#failure !== null) throw this.#failure;
    this.service.keys.assertComplete(this.service.durableFacts());
    for (const eventId of this.#eventIds) {
      const actor = (await this.service.events.byEventId(eventId))!;
      this.#assertTurn(actor, eventId);
      const held = actor.inspect((state) => stockOfPerformances(state)).reduce((sum, date) => sum + date.held, 0);
      assert.equal(held, 0, 'nothing is held after the last window');
      const model = this.service.models.get(eventId)!;
      const waiting = [...model.entries.values()].filter(({ status }) => status === 'WAITING' || status === 'ADMITTED');
      assert.equal(waiting.length, 0, 'no entry waits after the last window');
      model.waitingRoom?.assertSpans();
      if ((model.waitingRoom?.drawnCount ?? 0) > 1) this.#count('draw');
      await this.service.proveReplay(eventId);
      await this.service.assertReadable(eventId);
      await this.#assertAlive(eventId);
    }
    this.#fronts?.assertAnswered();
    for (const [eventId, count] of this.#unanswered) assert.equal(count, 0, `${eventId}: every command was answered`);
  }

  async #isCancelling(): Promise<boolean> {
    for (const eventId of this.#eventIds) {
      if ((await this.service.events.byEventId(eventId))!.inspect(isCancelling)) return true;
    }
    return false;
  }

  /** A new buyer is served after that: it is admitted and holds a ticket, where any are left. */
  async #assertAlive(eventId: string): Promise<void> {
    const sessionKey = 'session-late';
    const model = this.service.models.get(eventId)!;
    const ask = async (command: Command): Promise<Reply | Refusal> => {
      this.service.commit();
      const actor = (await this.service.events.byEventId(eventId))!;
      const { outcomes } = predict(model, command, this.service.now);
      const asked = actor.execute(command as CommandOf<'PlaceHold'>) as Promise<Reply | Refusal>;
      this.service.commit();
      const answer = await asked;
      assert.ok(outcomes.includes(isRefusal(answer) ? answer.code : 'DONE'), `at the end: ${JSON.stringify(answer)}`);
      return answer;
    };
    const joined = model.definition.waitingRoom ? await ask({ type: 'JoinQueue', sessionKey }) : null;
    const entry = joined === null ? null : (joined as ReplyTo<'JoinQueue'>).entry;
    if (entry !== null) assert.equal(entry.status, 'ADMITTED', 'an empty waiting room admits at once');
    const queuePass = entry?.id ?? null;
    const placed = await ask(placeOne(sessionKey, model.definition.performances[0]!.id, queuePass));
    if ('hold' in placed) await ask({ type: 'ReleaseHold', holdId: placed.hold.id, sessionKey });
  }
}
