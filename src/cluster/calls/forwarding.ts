/**
 * Calls to the owners of shards on other nodes: sent, answered, repeated and cut off.
 *
 * Owns the calls under way of this node. `server.ts` answers them at the owner.
 *
 * 1. The calls that are made in one go to one owner travel in one message, and so do their answers.
 * 2. An owner is a shard with an epoch. Its calls are rejected with Moved at once when somebody else is known to own
 *    the shard, and answers that come afterwards are ignored.
 * 3. A message may be lost. A call that is not answered for a while is sent again under its number; the owner takes it
 *    once. Where the servers say that nobody listens, all calls to that owner are sent again together after a moment:
 *    many calls wait, and each try of all of them costs. Such a message ends no call, because anybody could send it.
 * 4. A call is given up at its deadline. Whether a command took effect is unknown then.
 * 5. So many calls may be under way (I10); a further one is refused, and nothing has happened.
 * 6. An owner that calls wait for, and that was not heard lately, is sent a message without calls, which it answers at
 *    once, however long its log takes. Without an answer for `SILENT_MS` it is silent.
 */
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import { countLeading } from '#domain/collections/sorted.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import { Moved, type Call } from './shard-calls.ts';
import {
  ITEM_CHARS_MAX,
  MessageBatch,
  partsOf,
  PartsInbox,
  readAnswers,
  settle,
  writeCall,
  writeCalls,
} from './wire.ts';
import type { Bus, BusMessage } from './bus.ts';

/** The subjects between nodes; `target` is a shard and an epoch. */
export const subjects = {
  calls: (cluster: string, target: string): string => `${cluster}.cmd.${target}`,
  answers: (cluster: string, instance: string): string => `${cluster}.reply.${instance}`,
};

export function targetOf(shard: number, epoch: number): string {
  return `${shard}.${epoch}`;
}

/** The bound is that of the requests under way in a node. */
const FORWARDED_CALLS_MAX = 10_000;

/**
 * How long a call waits for its answer before it is sent again (rule 3): longer than all but the elections of servers.
 */
export const RESEND_MS = 2_000;

const LOOK_MS = 250;

/**
 * How long an owner that is not there is not asked again (rule 3): its subscription may not be known at all servers
 * yet.
 */
const ABSENT_MS = 100;

/** Longer than a node that has ended is taken for live (rule 6). */
export const SILENT_MS = 3_000;

interface ForwardingPorts {
  readonly bus: Bus;
  readonly time: Timing;
  /** The prefix of all subjects. */
  readonly cluster: string;
  /** Unique to this process. */
  readonly instance: string;
  readonly callsMax?: number;
}

interface CallUnderWay {
  readonly number: number;
  readonly text: string;
  readonly untilMs: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  sentAt: number;
}

/** An owner with the calls to it that are under way. */
interface Target {
  readonly shard: number;
  readonly epoch: number;
  /**
   * In the order of their numbers. Calls come and go: the tables that a `Map` leaves would make all their requests old.
   */
  readonly calls: CallUnderWay[];
  readonly batch: MessageBatch;
  /** Until then nobody listened (rule 3). */
  absentUntilMs: number;
  isHeard: boolean;
  /** Looks in a row in which it was not heard (rule 6); time in which this process did not run does not count. */
  unheardLooks: number;
}

export class Forwarding {
  readonly #ports: ForwardingPorts;
  readonly #callsMax: number;
  readonly #answers: string;
  readonly #targets = new Map<string, Target>();
  readonly #parts: PartsInbox;
  readonly #unsubscribe: () => void;
  #number = 0;
  #messages = 0;
  #underWay = 0;
  #forwarded = 0;
  #cancelLook: (() => void) | null = null;
  #isClosed = false;

  constructor(ports: ForwardingPorts) {
    const { bus, time, cluster, instance, callsMax = FORWARDED_CALLS_MAX } = ports;
    this.#ports = ports;
    this.#callsMax = callsMax;
    this.#answers = subjects.answers(cluster, instance);
    this.#parts = new PartsInbox(time);
    this.#unsubscribe = bus.subscribe(`${this.#answers}.>`, (message) => this.#receive(message));
    bus.onConnection((isConnected) => {
      // What was sent just before may be lost.
      if (isConnected) this.#resendAll(Number.POSITIVE_INFINITY);
    });
  }

  /** Calls that wait for their answers. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Calls that were ever sent. */
  get forwarded(): number {
    return this.#forwarded;
  }

  /**
   * Sends a call to an owner; rejects with Moved (rule 2), Overloaded, or an error of the owner. `untilMs` is of the
   * stopwatch.
   */
  call(shard: number, epoch: number, call: Call, untilMs: number): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new Overloaded('the node is stopping', RETRY_AFTER_SECONDS));
    if (!this.#ports.bus.isConnected) return Promise.reject(new Moved(shard, 'there is no connection to other nodes'));
    if (this.#underWay >= this.#callsMax) {
      return Promise.reject(new Overloaded('too many requests wait for other nodes', RETRY_AFTER_SECONDS));
    }
    return new Promise((resolve, reject) => {
      const number = (this.#number += 1);
      const text = writeCall(number, call);
      if (text.length > ITEM_CHARS_MAX) throw new Error(`a call of ${text.length} characters is too long to forward`);
      const target = this.#targetOf(shard, epoch);
      const sentAt = this.#ports.time.stopwatchMs();
      target.calls.push({ number, text, untilMs, resolve, reject, sentAt });
      if (sentAt >= target.absentUntilMs) target.batch.add(text);
      this.#underWay += 1;
      this.#forwarded += 1;
      this.#cancelLook ??= this.#ports.time.after(LOOK_MS, () => this.#look());
    });
  }

  /** An owner that answers nothing (rule 6); null where there is none. */
  get silentOwner(): { readonly shard: number; readonly epoch: number } | null {
    for (const target of this.#targets.values()) if (target.unheardLooks * LOOK_MS >= SILENT_MS) return target;
    return null;
  }

  /**
   * Rejects every call to an owner that is no longer one; `epochOf` says which epoch of a shard is known now, or null
   * (rule 2).
   */
  cutOffMoved(epochOf: (shard: number) => number | null): void {
    for (const target of this.#targets.values()) {
      if (epochOf(target.shard) !== target.epoch) this.#cutOff(target, 'its owner changed');
    }
  }

  /** Rejects what is under way and everything to come. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#cancelLook?.();
    for (const target of this.#targets.values()) this.#cutOff(target, 'this node is stopping');
  }

  #targetOf(shard: number, epoch: number): Target {
    const name = targetOf(shard, epoch);
    const known = this.#targets.get(name);
    if (known !== undefined) return known;
    const calls: CallUnderWay[] = [];
    const batch = new MessageBatch(this.#ports.time, (texts) => this.#send(name, calls, texts));
    const target: Target = { shard, epoch, calls, batch, absentUntilMs: 0, isHeard: false, unheardLooks: 0 };
    this.#targets.set(name, target);
    return target;
  }

  #send(name: string, calls: Target['calls'], texts: readonly string[]): void {
    const { bus, cluster } = this.#ports;
    // They have ended meanwhile, perhaps at another owner.
    if (calls.length === 0 && texts.length > 0) return;
    const message = writeCalls(calls[0]?.number ?? this.#number + 1, texts);
    this.#messages += 1;
    for (const part of partsOf(message, this.#messages)) {
      bus.publish(subjects.calls(cluster, name), part, `${this.#answers}.${name}`);
    }
  }

  #receive({ subject, data, isNobodyThere }: BusMessage): void {
    const target = this.#targets.get(subject.slice(this.#answers.length + 1));
    if (target === undefined) return;
    if (isNobodyThere) return this.#sendLater(target);
    target.isHeard = true;
    target.unheardLooks = 0;
    const message = this.#parts.take(subject, data);
    for (const answer of (message === null ? null : readAnswers(message)) ?? []) {
      const call = this.#end(target, answer[0]);
      if (call !== undefined) settle(answer, target.shard, call.resolve, call.reject);
    }
  }

  /** Nobody listens (rule 3). */
  #sendLater(target: Target): void {
    const { time } = this.#ports;
    const now = time.stopwatchMs();
    if (now < target.absentUntilMs) return;
    target.absentUntilMs = now + ABSENT_MS;
    time.after(ABSENT_MS, () => this.#resend(target, Number.POSITIVE_INFINITY));
  }

  #end(target: Target, number: number): CallUnderWay | undefined {
    const place = countLeading(target.calls, (call) => call.number < number);
    if (target.calls[place]?.number !== number) return undefined;
    this.#underWay -= 1;
    return target.calls.splice(place, 1)[0];
  }

  #cutOff(target: Target, why: string): void {
    this.#targets.delete(targetOf(target.shard, target.epoch));
    const calls = target.calls.splice(0);
    this.#underWay -= calls.length;
    for (const { reject } of calls) reject(new Moved(target.shard, why));
  }

  // ── calls without an answer ────────────────────────────────────────────────────────────────────────────────────────

  #look(): void {
    this.#cancelLook = null;
    this.#giveUpLate();
    this.#resendAll(this.#ports.time.stopwatchMs() - RESEND_MS);
    const isAwaited = this.#askUnheard();
    if (this.#underWay > 0 || isAwaited) this.#cancelLook = this.#ports.time.after(LOOK_MS, () => this.#look());
  }

  /** Asks the owners that were not heard since the last look (rule 6); whether there are any. */
  #askUnheard(): boolean {
    let isAwaited = false;
    for (const [name, target] of this.#targets) {
      const { calls, isHeard, unheardLooks } = target;
      target.isHeard = false;
      if (isHeard || (calls.length === 0 && unheardLooks === 0)) continue;
      isAwaited = true;
      if (!this.#ports.bus.isConnected) continue;
      target.unheardLooks += 1;
      this.#send(name, calls, []);
    }
    return isAwaited;
  }

  #giveUpLate(): void {
    const now = this.#ports.time.stopwatchMs();
    for (const target of this.#targets.values()) {
      for (const { number, reject } of target.calls.filter(({ untilMs }) => untilMs <= now)) {
        this.#end(target, number);
        reject(new Overloaded('the owner of the event did not answer in time', RETRY_AFTER_SECONDS));
      }
    }
  }

  /** Sends again what was sent last before a moment (rule 3). */
  #resendAll(sentBefore: number): void {
    for (const target of this.#targets.values()) this.#resend(target, sentBefore);
  }

  #resend({ calls, batch }: Target, sentBefore: number): void {
    const { bus, time } = this.#ports;
    if (!bus.isConnected) return;
    const now = time.stopwatchMs();
    for (const call of calls) {
      if (call.sentAt > sentBefore) continue;
      call.sentAt = now;
      batch.add(call.text);
    }
  }
}
