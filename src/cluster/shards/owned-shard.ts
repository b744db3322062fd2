/**
 * A shard at its owner: its journal, its events, and what runs beside them. The counterpart of `engine/engine.ts` for
 * one shard.
 *
 * `snapshots.ts` has its snapshots and checkpoints, `index-keeper.ts` the definitions where it is shard 0.
 *
 * 1. No answer but an advisory view leaves without the answer gate. A call whose answer may not leave any more is
 *    rejected with Moved, and the caller sends it to the next owner, a command with the same id.
 * 2. Once the shard is given up or lost every call is rejected with Moved, whatever it failed with: the event's next
 *    owner answers it.
 * 3. A shard that is given up finishes the calls that it has taken, for a bounded time, and makes durable what it
 *    appended.
 * 4. The clock of a shard stands at its last fact at least, whatever the machine's clock says.
 */
import { createClock, type ServiceClock, type TimeSource } from '#actors/clock.ts';
import { EventIndex } from '#actors/event-index.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import { ServiceStream } from '#engine/service-stream.ts';
import { SalesByMinute } from '#engine/sales-by-minute.ts';
import { StartSurvey, type StartPlan } from '#engine/start-survey.ts';
import { startTimers, type Timers } from '#engine/timers.ts';
import { inBackground } from '#actors/trouble.ts';
import {
  activateService,
  CURSOR_FACTS,
  SERVICE_STREAM,
  type Delivered,
  type ServiceState,
} from '#engine/service-facts.ts';
import { WAITS_FOR_DURABILITY } from '#domain/event/query.ts';
import type { FactFollower, FactSource, SnapshotSummary } from '#engine/deployment.ts';
import type { IdSource } from '#actors/crypto.ts';
import type { ReplyReference } from '#domain/decision.ts';
import type { Sealing } from '#domain/personal.ts';
import type { Journal, Unit } from '#persistence/journal.ts';
import type { KeyStore } from '#persistence/keys.ts';
import type { ShardContent, ShardJournal } from '#persistence/nats/log/journal.ts';
import { pauseFor, type Timing } from '#persistence/nats/timing.ts';
import type { AnswerGate } from './answer-gate.ts';
import { Moved, type Call, type CommandCall, type QueryCall, type ShardCall } from '../calls/shard-calls.ts';
import { IndexKeeper, type DefineThere } from '../directory/index-keeper.ts';
import { newestFactsOf } from './log-facts.ts';
import { ShardErasures } from './erasures.ts';
import type { ShardSnapshots } from './snapshots.ts';

export interface OwnedShardPorts {
  readonly shard: number;
  readonly journal: ShardJournal;
  readonly recovered: ShardContent;
  readonly gate: AnswerGate;
  readonly snapshots: Pick<
    ShardSnapshots,
    | 'attach'
    | 'factsInPassing'
    | 'headers'
    | 'lastSnapshotAt'
    | 'maintain'
    | 'source'
    | 'stop'
    | 'take'
    | 'takeRound'
    | 'wholeLog'
  >;
  readonly ids: IdSource;
  readonly keys: Pick<KeyStore, 'destroy' | 'erasedThrough' | 'noteErased'>;
  readonly sealingOf: (eventId: string) => Sealing;
  readonly time: Timing;
  readonly clockSource: TimeSource | (() => number) | undefined;
  readonly liveEventsMax: number;
  readonly waitingRepliesMax: number;
  readonly isShortOfSpace: () => boolean;
  /** Has the other nodes notified that something about an event changed. */
  readonly noteChanged: (eventId: string) => void;
  /** What shard 0 asks of the other shards: a definition of the event's shard, snapshots of all. */
  readonly defineThere: DefineThere;
  readonly snapshotAll: (options: { readonly prune: boolean }) => Promise<SnapshotSummary>;
}

/** Calls that were taken when the shard is given up have so long (rule 3). */
const FINISH_MS_MAX = 400;

export class OwnedShard {
  readonly shard: number;
  readonly events: EventIndex;
  readonly clock: ServiceClock;
  readonly journal: ShardJournal;
  readonly #ports: Omit<OwnedShardPorts, 'recovered'>;
  readonly #timers: Timers;
  readonly #stream: ServiceStream;
  readonly #erasures: ShardErasures;
  readonly #service: ServiceState;
  readonly #plan: StartPlan;
  readonly #sales: SalesByMinute;
  /** Of shard 0. */
  readonly #index: IndexKeeper | null;
  readonly #followers = new Map<Delivered, FactFollower>();
  #underWay = 0;
  #isEnded = false;
  #idle: (() => void) | null = null;

  private constructor(ports: OwnedShardPorts, service: ServiceState) {
    // Rows that were recovered are not kept here: they leave memory when a snapshot covers them.
    const { recovered, ...kept } = ports;
    const { shard, journal, snapshots } = ports;
    this.shard = shard;
    this.journal = journal;
    this.#ports = kept;
    this.#service = service;
    this.#erasures = new ShardErasures(shard, ports.keys);
    this.clock = createClock(ports.clockSource, { notBefore: recovered.head.at });
    this.#stream = new ServiceStream(this.#noting(), this.clock, service.answers ?? []);
    this.#timers = startTimers({
      clock: this.clock,
      settleDue: (eventId) => this.events.actors.settleDue(eventId),
      isOver: (eventId) => this.events.isOver(eventId),
      isClosed: () => journal.status === 'CLOSED',
    });
    this.events = new EventIndex({
      journal: this.#noting(),
      clock: this.clock,
      ids: ports.ids,
      sealingOf: ports.sealingOf,
      keyDestruction: this.#erasures.destruction,
      waitingRepliesMax: ports.waitingRepliesMax,
      liveEventsMax: ports.liveEventsMax,
      isShortOfSpace: ports.isShortOfSpace,
      executed: (commandId) => namedReply(journal.executedCommand(commandId)?.reply),
      source: snapshots.source,
      schedule: (eventId, at) => this.#timers.schedule(eventId, at),
      snapshot: (job) => snapshots.take(job),
    });
    const survey = new StartSurvey();
    for (const row of recovered.rows) survey.see(row);
    const headers = [...snapshots.headers()];
    this.#plan = survey.enter(this.events, {
      headers,
      archived: [],
      // The rows do not include the facts that the snapshot of an event covers.
      archivedHeads: new Map(headers.map(({ eventId, seq }) => [eventId, seq])),
      streams: journal.streams(),
    });
    const { defineThere } = ports;
    this.#index = shard === 0 ? new IndexKeeper(service.index, this.#stream, defineThere) : null;
    this.#sales = new SalesByMinute({
      factsAfter: (eventId, afterSeq) => snapshots.factsInPassing(eventId, afterSeq),
      durableSeq: () => journal.durableSeq,
      // A log that lacks facts is a fault: nothing stands in for them.
      archivedSeq: () => 0,
      now: () => this.clock.now(),
    });
    snapshots.attach({
      journal,
      now: () => this.clock.now(),
      snapshotEvent: (eventId, seq) => this.events.actors.snapshotAsOf(eventId, seq),
      noteErasures: (throughSeq) => this.#erasures.note(throughSeq),
      neededAfter: () =>
        Math.min(Number.MAX_SAFE_INTEGER, ...Array.from(this.#followers.values(), (each) => each.deliveredSeq)),
    });
  }

  /** Opens a shard that was just claimed. */
  static async open(ports: OwnedShardPorts): Promise<OwnedShard> {
    const service = await activateService(ports.snapshots.source, ports.journal.durableSeq);
    const { recovered, journal } = ports;
    const owned = new OwnedShard(ports, service);
    await owned.#erasures.repeat(recovered.rows, journal.durableSeq);
    return owned;
  }

  /** Settles what ran out while nobody owned the shard; requests are answered before. */
  settle(): void {
    inBackground('activation', this.#timers.settleOverdue(this.#plan));
  }

  // ── calls ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  async handle(call: Call): Promise<unknown> {
    if (this.#isEnded) throw this.#moved();
    this.#underWay += 1;
    try {
      const answer = await this.#answer(call);
      const { gate } = this.#ports;
      const mayLeave = !this.#isGated(call) || gate.isOpen || (await gate.pass());
      if (!mayLeave) throw this.#moved();
      return answer;
    } catch (error) {
      if (this.journal.status === 'CLOSED' && !(error instanceof Moved)) throw this.#moved(error);
      throw error;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#idle?.();
    }
  }

  #moved(cause?: unknown): Moved {
    return new Moved(this.shard, 'this node does not own it any more', cause);
  }

  /** Whether the answer waits for the gate (rule 1). */
  #isGated(call: Call): boolean {
    if (call.kind === 'query') return WAITS_FOR_DURABILITY[call.query.type];
    return call.kind === 'command' || call.name === 'define' || call.name === 'snapshotAll';
  }

  #answer(call: Call): Promise<unknown> {
    switch (call.kind) {
      case 'command':
        return this.#execute(call);
      case 'query':
        return this.#read(call);
      case 'shard':
        return this.#answerShard(call);
    }
  }

  async #execute({ eventId, command, commandId, entry }: CommandCall): Promise<unknown> {
    if (command.type === 'DefineEvent') {
      const { definition, operator, note } = command;
      const reserved = entry === undefined ? { commandId } : { commandId, eventNumber: entry.eventNumber };
      return this.events.define(definition, { operator, note }, reserved);
    }
    const found = this.events.byEventId(eventId);
    if (found === null) return this.#refuseUnknown(eventId);
    const actor = found instanceof Promise ? await found : found;
    if (actor === null) return this.#refuseUnknown(eventId);
    return actor.execute(command, commandId);
  }

  async #read({ eventId, query }: QueryCall): Promise<unknown> {
    const found = this.events.byEventId(eventId);
    const actor = found instanceof Promise ? await found : found;
    if (actor === null) return this.#refuseUnknown(eventId);
    return actor.read(query);
  }

  /** An owner that knows less than the shard's log is no longer the owner; nothing else would tell it. */
  async #refuseUnknown(eventId: string): Promise<never> {
    if (!(await this.#ports.gate.pass())) throw this.#moved();
    throw unknownHere(eventId);
  }

  #answerShard(call: ShardCall): Promise<unknown> {
    switch (call.name) {
      case 'define':
        if (this.#index === null) throw new Error('definitions belong to shard 0');
        return this.#index.define(call.args);
      case 'facts':
        return newestFactsOf(this.journal, this.#ports.snapshots.wholeLog, call.args);
      case 'saleByMinute':
        return this.#sales.read(call.args);
      case 'snapshot':
        return this.#ports.snapshots.takeRound(call.args);
      case 'snapshotAll':
        return this.#stream.once(call.args.idempotency, () => this.#ports.snapshotAll(call.args));
      case 'active':
        return this.events.readActive(call.args.eventIds);
      case 'summary':
        return Promise.all(call.args.eventIds.map((eventId) => this.events.summaryOf(eventId)));
    }
  }

  // ── what runs beside the calls ─────────────────────────────────────────────────────────────────────────────────────

  /** Snapshots what has grown, a checkpoint when it is time, and evicts events that are over. */
  async maintain(): Promise<void> {
    await this.events.actors.snapshotDue();
    await this.events.actors.evictOver();
    await this.#ports.snapshots.maintain();
  }

  /** Has the facts of the shard followed until it is given up. */
  async follow(delivered: Delivered, open: (source: FactSource) => Promise<FactFollower>): Promise<void> {
    const { journal } = this;
    const follower = await open({
      label: `${this.shard}-`,
      journal: {
        get durableSeq() {
          return journal.durableSeq;
        },
        read: ({ afterSeq = 0 } = {}) => (afterSeq < journal.durableSeq ? journal.read({ afterSeq }) : []),
      },
      cursor: this.#service[delivered] ?? null,
      events: this.events,
      storeCursor: (data) => this.#stream.record({ type: CURSOR_FACTS[delivered], data }),
    });
    if (this.#isEnded) await follower.stop();
    else this.#followers.set(delivered, follower);
  }

  /** When the newest snapshot was requested, in milliseconds since 1970; null when there is none. */
  get lastSnapshotAt(): number | null {
    return this.#ports.snapshots.lastSnapshotAt;
  }

  /** How far notifications have come; null where nobody is notified. */
  get notifiedSeq(): number | null {
    return this.#followers.get('notifications')?.deliveredSeq ?? null;
  }

  /** How long the owner before may still answer. */
  get holdOffLeftMs(): number {
    return this.#ports.gate.leftMs;
  }

  // ── the end ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Gives the shard up (rule 3): afterwards nothing of it is under way and all that was appended is durable, or the
   * shard is lost.
   */
  async giveUp(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#timers.stop();
    await Promise.race([this.#whenIdle(), pauseFor(this.#ports.time, FINISH_MS_MAX)]);
    await Promise.allSettled(Array.from(this.#followers.values(), (follower) => follower.stop()));
    await this.journal.close().catch(() => {});
    this.#end();
  }

  /** Another node owns the shard: nothing of what is in memory counts any more. */
  lose(): void {
    this.#isEnded = true;
    this.#timers.stop();
    for (const [delivered, follower] of this.#followers) inBackground(delivered, follower.stop());
    this.#followers.clear();
    this.#end();
  }

  #end(): void {
    this.#ports.gate.close();
    this.events.actors.retireAll();
    this.#erasures.destruction.stop();
    this.#sales.stop();
    this.#ports.snapshots.stop();
  }

  #whenIdle(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#idle = resolve));
  }

  /** The journal for those who append: the other nodes are notified of what changes. */
  #noting(): Journal {
    const { journal } = this;
    const { noteChanged } = this.#ports;
    const erasures = this.#erasures;
    return {
      get status() {
        return journal.status;
      },
      get appendedSeq() {
        return journal.appendedSeq;
      },
      get durableSeq() {
        return journal.durableSeq;
      },
      append(unit: Unit) {
        const seq = journal.append(unit);
        erasures.see(unit);
        if (unit.eventId !== SERVICE_STREAM) noteChanged(unit.eventId);
        return seq;
      },
      durable: (seq) => journal.durable(seq),
      read: (options) => journal.read(options),
      streams: () => journal.streams(),
      onStatus: (listener) => journal.onStatus(listener),
      close: () => journal.close(),
    };
  }
}

function namedReply(reply: string | undefined): ReplyReference | undefined {
  return reply === undefined ? undefined : (JSON.parse(reply) as ReplyReference);
}

/** Every node finds an event by the index, whose fact comes after the event's own: its shard knows it. */
function unknownHere(eventId: string): Overloaded {
  return new Overloaded(`${eventId} is not known to the owner of its shard`, RETRY_AFTER_SECONDS);
}
