/**
 * Brings each call to the owner of its shard: here, or on another node.
 *
 * 1. A call is tried at who is known to own the shard. While nobody is known, and after an owner said that it does not
 *    own the shard, the call waits for a change and is tried again. A command keeps its id, so that it takes effect
 *    once. An owner with an older epoch than one that was tried is not tried: it may not know what the newer one did.
 * 2. A call that was not answered in time is refused with Overloaded; whether a command took effect is unknown then,
 *    and the buyer's key decides when it is sent again.
 * 3. Calls that wait share one look, so that many of them cost what one costs.
 */
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import { Moved, type AnswerTo, type Call, type CallHandler } from './shard-calls.ts';
import type { EventPort } from '#actors/event-port.ts';
import { Slots } from '#domain/collections/slots.ts';
import type { Command } from '#domain/command.ts';
import { CALL_MS_MAX, LONG_CALL_MS_MAX, type Timing } from '#persistence/nats/timing.ts';
import type { Forwarding } from './forwarding.ts';
import type { Membership, Owner } from './membership.ts';

/** Calls at other nodes' shards that may wait for an owner; the same calls are in the limit of requests under way. */
const WAITING_CALLS_MAX = 10_000;

/** While a call waits, its owner is looked up at least this often: it may be there before others have heard of it. */
const LOOK_MS = 50;

const DEADLINE_LOOK_MS = 250;

interface RouterPorts {
  readonly membership: Pick<Membership, 'ownerOf' | 'onChange'>;
  readonly forwarding: Pick<Forwarding, 'call' | 'cutOffMoved' | 'forwarded' | 'underWay'>;
  readonly time: Timing;
  /** Unique to this process; the ids of its commands begin with it. */
  readonly instance: string;
  /** Whether this node owns a shard, whatever others know. */
  readonly isOwned: (shard: number) => boolean;
  /** Answers calls to the shards of this node. */
  readonly handle: CallHandler;
  readonly waitingMax?: number;
}

interface OwnCall {
  untilMs: number;
  readonly reject: (error: Error) => void;
}

export class ShardRouter {
  readonly #ports: RouterPorts;
  readonly #unfollow: () => void;
  /** Calls under way at this node's own shards; other nodes' are in `forwarding`. */
  readonly #ownCalls = new Slots<OwnCall>();
  #commands = 0;
  #waiting = 0;
  #isClosed = false;
  #cancelDeadlines: (() => void) | null = null;
  /** The next look of everything that waits (rule 3). */
  #look: { readonly promise: Promise<void>; readonly end: () => void } | null = null;

  constructor(ports: RouterPorts) {
    const { membership, forwarding } = ports;
    this.#ports = ports;
    this.#unfollow = membership.onChange(() => {
      forwarding.cutOffMoved((shard) => membership.ownerOf(shard)?.epoch ?? null);
      this.lookNow();
    });
  }

  /** Calls that were ever sent to other nodes. */
  get forwarded(): number {
    return this.#ports.forwarding.forwarded;
  }

  /** Calls that wait for an owner. */
  get waiting(): number {
    return this.#waiting;
  }

  /** An id for a new command; the router sends it with every try of it. */
  newCommandId(): string {
    this.#commands += 1;
    return `${this.#ports.instance}-${this.#commands.toString(36)}`;
  }

  /** The answer of a shard's owner. Rejects with Overloaded, or with what the owner failed with. */
  async call<Asked extends Call>(shard: number, call: Asked, limitMs = CALL_MS_MAX): Promise<AnswerTo<Asked>> {
    const untilMs = this.#ports.time.stopwatchMs() + limitMs;
    let newestEpoch = 0;
    for (;;) {
      if (this.#isClosed) throw new Overloaded('the node is stopping', RETRY_AFTER_SECONDS);
      const owner = this.#ownerOf(shard);
      try {
        if (owner !== null && owner.epoch >= newestEpoch) {
          newestEpoch = owner.epoch;
          return (await this.#callAt(owner, shard, call, untilMs)) as AnswerTo<Asked>;
        }
      } catch (error) {
        if (!(error instanceof Moved)) throw error;
      }
      // An owner that came meanwhile is tried at once.
      if (owner?.epoch === this.#ownerOf(shard)?.epoch) await this.#nextLook(untilMs);
    }
  }

  /** Has everything that waits tried again: this node owns a shard from now on, or not any more. */
  lookNow(): void {
    this.#look?.end();
  }

  /** Refuses everything that waits, and every further call. */
  close(): void {
    this.#isClosed = true;
    this.#unfollow();
    this.lookNow();
  }

  /**
   * Who is known to own a shard; null when nobody is. A shard of this node that another one announces with a higher
   * epoch is lost, even before its log says so.
   */
  #ownerOf(shard: number): Pick<Owner, 'instance' | 'epoch'> | null {
    const { membership, isOwned, instance } = this.#ports;
    const owner = membership.ownerOf(shard);
    if (owner !== null && owner.instance !== instance) return owner;
    return isOwned(shard) ? (owner ?? { instance, epoch: 0 }) : null;
  }

  #callAt({ instance, epoch }: Pick<Owner, 'instance' | 'epoch'>, shard: number, call: Call, untilMs: number) {
    if (instance === this.#ports.instance) return this.#callHere(shard, call, untilMs);
    return this.#ports.forwarding.call(shard, epoch, call, untilMs);
  }

  #callHere(shard: number, call: Call, untilMs: number): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const own = this.#ownCalls.add({ untilMs, reject });
    this.#cancelDeadlines ??= this.#ports.time.after(DEADLINE_LOOK_MS, () => this.#refuseLate());
    this.#ports.handle(shard, call).then(
      (answer) => {
        this.#ownCalls.take(own);
        resolve(answer);
      },
      (error: unknown) => {
        this.#ownCalls.take(own);
        reject(error);
      },
    );
    return promise;
  }

  #refuseLate(): void {
    const { time } = this.#ports;
    this.#cancelDeadlines = null;
    const now = time.stopwatchMs();
    for (const own of this.#ownCalls.values()) {
      if (own.untilMs > now) continue;
      // It keeps its number until it ends.
      own.untilMs = Number.POSITIVE_INFINITY;
      own.reject(new Overloaded('the change could not be written in time', RETRY_AFTER_SECONDS));
    }
    if (this.#ownCalls.size > 0) this.#cancelDeadlines = time.after(DEADLINE_LOOK_MS, () => this.#refuseLate());
  }

  async #nextLook(untilMs: number): Promise<void> {
    const leftMs = untilMs - this.#ports.time.stopwatchMs();
    if (leftMs <= 0) throw new Overloaded('nobody owns the event at the moment', RETRY_AFTER_SECONDS);
    if (this.#waiting >= (this.#ports.waitingMax ?? WAITING_CALLS_MAX))
      throw new Overloaded('too many requests wait', RETRY_AFTER_SECONDS);
    this.#waiting += 1;
    try {
      this.#look ??= this.#lookWithin(LOOK_MS);
      await this.#look.promise;
    } finally {
      this.#waiting -= 1;
    }
  }

  #lookWithin(ms: number): { readonly promise: Promise<void>; readonly end: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#ports.time.after(ms, () => this.lookNow());
    const end = (): void => {
      cancel();
      this.#look = null;
      resolve();
    };
    return { promise, end };
  }
}

/** The port of an event wherever it is: the same as the one of an event in this process. */
export function eventAt(router: ShardRouter, shard: number, eventId: string): EventPort {
  return {
    eventId,
    execute(command) {
      const commandId = router.newCommandId();
      const call = { kind: 'command', commandId, eventId, command: command as Command } as const;
      // The cancellation of a performance is answered after its last order.
      return router.call(shard, call, command.type === 'CancelPerformance' ? LONG_CALL_MS_MAX : CALL_MS_MAX) as never;
    },
    read: (query) => router.call(shard, { kind: 'query', eventId, query: query as never }) as never,
  };
}
