/**
 * What simulations of one part of the service share: its schedule, its faults, and asking it.
 *
 * Owns time: what is to happen waits in one list, and everything of one moment comes to rest before the next. Commits
 * are slow or partial, the process is killed, its disk fills up, and events are dropped from memory. At random steps
 * every order is as the reference model says, and a replay gives the state.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { Overloaded } from '#actors/admission.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { assertState, assertStock } from './checks.ts';
import { chanceOf, type Chance } from './chance.ts';
import { START } from './events.ts';
import { AT_ONCE } from './keys.ts';
import type { SaleModel } from './model.ts';
import { SimulatedService } from './service.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { CommandOf, CommandType, ReplyTo } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { Outcome, Scenario } from './run.ts';

/** Rounds of the event loop in which what one moment begins has come to rest. */
const ROUNDS = 8;

const TICK_MS = 50;

export const NOBODY = { operator: null, note: null };
export const OLGA = { operator: 'olga', note: null };

/** An order of anything, without what a buyer may leave out. */
export const PLAIN_CHECKOUT = {
  type: 'StartCheckout',
  ...{ holdId: null, sessionKey: null, successUrl: null, cancelUrl: null, promoCode: null },
  ...{ tracking: null, queuePass: null, idempotency: null, acceptTerms: true },
  ...{ promoterCode: null, referralCode: null },
} as const;

/** What an operator or a client does to an event, with the state as it is then. */
export interface Sight {
  readonly eventId: string;
  readonly actor: EventActor;
  readonly model: SaleModel;
}

export interface WorldEvents {
  readonly events: readonly EventDefinition[];
  readonly liveEventsMax: number;
}

/** Runs what is simulated in a world to its end, or to the first failure. */
export async function outcomeOf(world: ServiceWorld, run: () => Promise<void>): Promise<Outcome> {
  let failure: Error | null = null;
  try {
    await run();
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  return { steps: world.steps, simulatedMs: world.service.now - START, seen: world.seen, failure };
}

export class ServiceWorld {
  readonly seen = new Map<string, number>();
  readonly service: SimulatedService;
  steps = 0;
  readonly scenario: Scenario;
  readonly chance: Chance;
  readonly events: readonly EventDefinition[];
  readonly pauseMs: number;
  readonly #moments: { readonly at: number; readonly happen: () => unknown }[] = [];
  readonly #wakes = new Map<string, number>();
  readonly #slowShare: number;
  /** Called before everything of a moment comes to rest, before a crash, and where facts may be lost. */
  onRest: () => void = () => {};
  onCrash: () => void = () => {};
  onLoss: () => void = () => {};
  #isCommitScheduled = false;
  #names = 0;
  #failure: unknown = null;

  constructor(scenario: Scenario, drawEvents: (chance: Chance) => WorldEvents, pauses: readonly number[]) {
    this.scenario = scenario;
    const chance = (this.chance = chanceOf(scenario.seed));
    const { events, liveEventsMax } = drawEvents(chance);
    this.events = events;
    this.service = new SimulatedService(chance, events, { liveEventsMax, waitingRepliesMax: 1_000 }, START);
    this.service.onAppend = () => this.#scheduleCommit();
    this.service.onWake = (eventId, at) => this.#wakeAt(eventId, at);
    this.service.onSnapshotJob = (finish) => this.schedule(chance.between(0, 200), finish);
    this.service.onKeyJob = AT_ONCE;
    this.service.onLater = (work, ms) => this.schedule(ms, work);
    this.pauseMs = chance.pick(pauses);
    this.#slowShare = chance.percent(40) ? chance.between(0, 40) : 0;
  }

  count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  /** Counts from 1. */
  newNumber(): number {
    return (this.#names += 1);
  }

  /** How often each action is drawn in this world; some never are. */
  drawWeights<Action extends string>(actions: Readonly<Record<Action, number>>): Record<Action, number> {
    const draw = (action: Action): number => {
      const isLeftOut = this.scenario.without.has(action) || this.chance.percent(20);
      return isLeftOut ? 0 : actions[action] * (0.25 + this.chance.next() * 2);
    };
    const names = Object.keys(actions) as Action[];
    return Object.fromEntries(names.map((name) => [name, draw(name)])) as Record<Action, number>;
  }

  // ── time ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  schedule(afterMs: number, happen: () => unknown): void {
    const moment = { at: this.service.now + afterMs, happen };
    let index = this.#moments.length;
    while (index > 0 && this.#moments[index - 1]!.at <= moment.at) index -= 1;
    this.#moments.splice(index, 0, moment);
  }

  /** Lets time pass, with everything that happens meanwhile. */
  async pass(ms: number): Promise<void> {
    const end = this.service.now + ms;
    while ((this.#moments.at(-1)?.at ?? Infinity) <= end) {
      const { at, happen } = this.#moments.pop()!;
      this.service.now = Math.max(this.service.now, at);
      await happen();
      await this.rest();
    }
    this.service.now = Math.max(this.service.now, end);
    await this.rest();
  }

  async rest(): Promise<void> {
    this.onRest();
    for (let round = 0; round < ROUNDS; round += 1) await nextRound();
    if (this.#failure !== null) throw this.#failure;
  }

  #wakeAt(eventId: string, at: number): void {
    const { generation } = this.service;
    const due = Math.max(at, this.service.now + TICK_MS);
    const key = `${generation} ${eventId}`;
    if ((this.#wakes.get(key) ?? Infinity) <= due) return;
    this.#wakes.set(key, due);
    this.schedule(due - this.service.now, () => {
      if (generation !== this.service.generation || this.#wakes.get(key) !== due) return;
      this.#wakes.delete(key);
      this.at(eventId, ({ actor }) => actor.settleDue());
    });
  }

  #scheduleCommit(): void {
    if (this.#isCommitScheduled) return;
    this.#isCommitScheduled = true;
    const isSlow = this.chance.percent(this.#slowShare);
    this.schedule(this.chance.between(0, isSlow ? 5_000 : 20), () => {
      this.#isCommitScheduled = false;
      this.service.commit(this.chance.percent(20) ? this.chance.next() : 1);
      if (this.service.hasPending) this.#scheduleCommit();
    });
  }

  // ── faults ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  async crash(): Promise<void> {
    this.count('crash');
    this.onCrash();
    await this.service.crash(this.chance.percent(30), null);
    this.onLoss();
    this.activateAll();
  }

  /** As the start of a service does, with every event in which something is due. */
  activateAll(): void {
    for (const { id } of this.events) this.at(id, ({ actor }) => actor.settleDue());
  }

  fill(): void {
    if (this.service.status !== 'OPEN') return;
    this.count('full disk');
    this.service.fillDisk();
    this.onLoss();
    const { generation } = this.service;
    this.schedule(this.chance.between(10, 90_000), () => {
      if (generation === this.service.generation) this.free();
    });
  }

  free(): void {
    if (this.service.status !== 'FULL') return;
    this.service.freeDisk();
    this.onLoss();
    this.activateAll();
  }

  snapshotAll(): void {
    const { generation } = this.service;
    this.service.takeSnapshots().then(
      () => this.count('snapshot'),
      (error: unknown) => {
        if (generation === this.service.generation) this.#fail(error);
      },
    );
  }

  // ── asking ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** An event that is not there just now is no failure. */
  #fail(error: unknown): void {
    if (!(error instanceof Overloaded)) this.#failure ??= error;
  }

  /** Does something with an event once it is in memory, unless the process ends before. */
  at(eventId: string, act: (sight: Sight) => void): void {
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

  /**
   * Sends a command; `taken` is called once its turn is over, `answered` once its answer has come, which a crash may
   * prevent.
   */
  send<Type extends CommandType>(
    eventId: string,
    command: CommandOf<Type>,
    answered: (answer: ReplyTo<Type> | Refusal) => void = () => {},
    taken: () => void = () => {},
  ): void {
    const { generation } = this.service;
    this.at(eventId, ({ actor }) => {
      const answer = actor.execute(command);
      taken();
      const fail = (error: unknown): void => {
        if (generation === this.service.generation) this.#fail(error);
      };
      answer
        .then((reply) => {
          if (generation !== this.service.generation) return;
          this.count(isRefusal(reply) ? `${command.type}: ${reply.code}` : command.type);
          answered(reply);
        })
        .catch(fail);
    });
  }

  /** Has facts made durable until something is done that waits for them. */
  async driven<Result>(work: Result | Promise<Result>): Promise<Result> {
    const done = Promise.resolve(work);
    const hasCome = done.then(
      () => true,
      () => true,
    );
    do this.service.commit();
    while (!(await Promise.race([hasCome, nextRound(false)])));
    return done;
  }

  async sight(eventId: string): Promise<Sight> {
    for (;;) {
      const actor = (await this.driven(this.service.events.byEventId(eventId)))!;
      if (!actor.isRetired) return { eventId, actor, model: this.service.models.get(eventId)! };
    }
  }

  /** Asks when nothing fails. */
  async ask<Type extends CommandType>(eventId: string, command: CommandOf<Type>): Promise<ReplyTo<Type> | Refusal> {
    const { actor } = await this.sight(eventId);
    return this.driven(actor.execute(command));
  }

  // ── what must be so ────────────────────────────────────────────────────────────────────────────────────────────────

  async proveState(): Promise<void> {
    this.count('replay');
    for (const { id } of this.events) {
      await this.driven(this.service.proveReplay(id));
      this.at(id, (sight) => this.assertSight(sight));
      await this.rest();
    }
  }

  assertSight({ actor, model }: Sight): void {
    const { now } = this.service;
    assertStock({ actor, model, now });
    assertState({ actor, model, now }, null);
  }
}
