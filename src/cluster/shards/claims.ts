/**
 * Which shards this node owns: it claims those that it should own and nobody does, and gives up those that another node
 * should own.
 *
 * Owns the shards of this node from their claims to their ends. `placement.ts` says who should own a shard,
 * `membership.ts` who does.
 *
 * 1. A shard is claimed when nobody live announces it and this node is the one that should own it. All nodes look at
 *    the same heartbeats; where they see them differently, the shard's log decides. A node that has just started does
 *    not know yet who owns what, and listens for a while. It claims at once what it heard being given up.
 * 2. A shard that another node should own is given up once nothing has changed for a while, a few at a time, and that
 *    node claims it at once. So shards move without a request that fails.
 * 3. A shard whose owner was heard giving it up needs no hold-off: that owner lets no more answers leave. One that
 *    gives it up, or loses it, during its own hold-off says so when that is over, because the owner before it may
 *    answer until then.
 * 4. A node that leaves claims nothing and gives up everything, a few shards at a time as well: each event is without
 *    an owner for the time of its own claim and not for that of all of them.
 * 5. A shard is given up when the node that should own it has read it ahead (`read-ahead.ts`), or after a while.
 */
import { channel } from 'node:diagnostics_channel';
import { isWorthReporting, reportTrouble, retryPauseMs } from '#actors/trouble.ts';
import { LogUnreachable } from '#persistence/shard-log.ts';
import { ObjectsUnreachable } from '#persistence/objects.ts';
import { pauseFor, type Timing } from '#persistence/nats/timing.ts';
import { placeOf } from '../directory/placement.ts';
import { ReadAhead } from './read-ahead.ts';
import type { Bus } from '../calls/bus.ts';
import type { Membership } from '../calls/membership.ts';
import type { OwnedShard } from './owned-shard.ts';

/** A shard was claimed; `tookMs` from the look that found it without an owner until its events answer. */
interface ClaimMessage {
  readonly shard: number;
  /** Whether it had an owner before. */
  readonly isTakeover: boolean;
  readonly tookMs: number;
}

const claimChannel = channel('holdfast:cluster-claim');
/** Another node owns a shard that this one took for its own. */
const fencedChannel = channel('holdfast:cluster-fenced');

/** What is needed of a shard that this node owns. */
export type ClaimedShard = Pick<OwnedShard, 'giveUp' | 'holdOffLeftMs' | 'lose' | 'settle'> & {
  readonly journal: Pick<OwnedShard['journal'], 'epoch' | 'status' | 'abandon' | 'onFenced'>;
};

/** A shard that was claimed, with its previous epoch; 0 when it had none. */
export interface OpenedShard<Shard extends ClaimedShard = OwnedShard> {
  readonly owned: Shard;
  readonly previousEpoch: number;
}

export interface ShardClaimsPorts<Shard extends ClaimedShard> {
  readonly node: string;
  readonly instance: string;
  readonly shards: number;
  readonly bus: Pick<Bus, 'isConnected'>;
  readonly time: Timing;
  readonly membership: Pick<
    Membership,
    'isAwaited' | 'leave' | 'live' | 'nodes' | 'onChange' | 'own' | 'ownerOf' | 'release' | 'setAwaited'
  >;
  /** Reads a shard of another owner and keeps it for the claim (rule 5). */
  readonly readAhead: (shard: number) => Promise<void>;
  /** Lets go of what was kept. */
  readonly forget: (shard: number) => void;
  /**
   * Claims a shard and opens it; null when another node was faster. `hasGivenUp` says whether the owner of an epoch
   * gave it up.
   */
  readonly open: (shard: number, hasGivenUp: (epoch: number) => boolean) => Promise<OpenedShard<Shard> | null>;
  /** Calls of other nodes are answered from now on. */
  readonly serve: (shard: number, epoch: number) => void;
  readonly giveUp: (shard: number, epoch: number) => void;
  /** The shards of this node have changed. */
  readonly changed: () => void;
}

/** A node listens so long before it claims anything: who is there announces itself at once to a newcomer. */
export const LISTEN_MS = 750;

/** Nothing moves while nodes come and go (rule 2). */
const SETTLED_MS = 2_000;

/** So long a shard that should move waits for the other node to read it ahead (rule 5). */
const AWAITED_MS_MAX = 6_000;

const LOOK_MS = 250;

/** Shards that are claimed at once: each reads from the servers. */
const CLAIMS_MAX = 16;

/** Shards that are on their way to another node at once (rule 2). */
const MOVES_MAX = 4;

/** How many shards a node that leaves gives up at once; it has little time (rule 4). */
const LEAVES_MAX = 8;

/** After this time a node that leaves gives up at once what it still owns, read ahead or not. Until then it answers. */
const LEAVE_MS_MAX = 5_000;

const ENDED_LOOK_MS = 10;

/** The pause after a claim that was lost or that failed once; it grows while it fails. */
const RETRY_MS = 500;
const RETRY_MS_MAX = 30_000;
/** Long enough that shards whose servers are away leave room for the claims of others. */
const UNREACHABLE_MS_MAX = 4_000;

export class ShardClaims<Shard extends ClaimedShard> {
  readonly #ports: ShardClaimsPorts<Shard>;
  readonly #owned = new Map<number, Shard>();
  readonly #claiming = new Set<number>();
  readonly #ending = new Map<number, Promise<void>>();
  readonly #ahead: ReadAhead;
  /** Shards that are not claimed before a moment of the stopwatch. */
  readonly #notBefore = new Map<number, number>();
  /** Claims that failed in a row, by shard. */
  readonly #failures = new Map<number, number>();
  /** The epochs under which owners gave up their shards (rule 3). */
  readonly #givenUp = new Map<number, number>();
  /** What each instance announced last. */
  #announced = new Map<string, ReadonlyMap<number, number>>();
  #liveNodes = '';
  #liveSince: number;
  readonly #mayClaimAt: number;
  #isLeaving = false;
  #isStopped = false;
  #cancelLook = (): void => {};
  readonly #unfollow: () => void;

  constructor(ports: ShardClaimsPorts<Shard>) {
    this.#ports = ports;
    const now = ports.time.stopwatchMs();
    this.#liveSince = now;
    this.#mayClaimAt = now + LISTEN_MS;
    const { time, membership, readAhead, forget } = ports;
    this.#ahead = new ReadAhead({ time, membership, read: readAhead, forget });
    this.#unfollow = ports.membership.onChange(() => this.#look());
    this.#lookLater();
  }

  /** The shards of this node, by number. */
  get owned(): ReadonlyMap<number, Shard> {
    return this.#owned;
  }

  /** Gives up everything (rule 4); resolves when other nodes may have it. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    const { membership, time } = this.#ports;
    membership.leave();
    const endsAt = time.stopwatchMs() + LEAVE_MS_MAX;
    const given: number[] = [];
    while (this.#owned.size > 0) {
      const isHurried = time.stopwatchMs() >= endsAt || membership.live().length === 0;
      let underWay = given.filter((shard) => !this.#isTakenOver(shard)).length;
      for (const shard of [...this.#owned.keys()]) {
        if (!isHurried && (underWay >= LEAVES_MAX || !membership.isAwaited(shard))) continue;
        given.push(shard);
        underWay += 1;
        this.#giveUp(shard);
      }
      if (this.#owned.size > 0) await pauseFor(time, ENDED_LOOK_MS);
    }
    while (this.#ending.size > 0 || this.#claiming.size > 0) {
      await Promise.all(this.#ending.values());
      if (this.#claiming.size > 0) await pauseFor(time, ENDED_LOOK_MS);
    }
  }

  /** Whether another node owns a shard that was given up. */
  #isTakenOver(shard: number): boolean {
    return !this.#ending.has(shard) && this.#ports.membership.ownerOf(shard) !== null;
  }

  /** Ends the watch. What is owned is lost without notice, as in a crash, unless the node left before. */
  stop(): void {
    this.#isStopped = true;
    this.#isLeaving = true;
    this.#unfollow();
    this.#cancelLook();
    for (const owned of this.#owned.values()) {
      owned.journal.abandon();
      owned.lose();
    }
    this.#owned.clear();
  }

  // ── the look ───────────────────────────────────────────────────────────────────────────────────────────────────────

  #lookLater(): void {
    this.#cancelLook = this.#ports.time.after(LOOK_MS, () => {
      this.#look();
      if (!this.#isStopped) this.#lookLater();
    });
  }

  #look(): void {
    this.#noteGivenUp();
    const { bus, time, membership, node, shards } = this.#ports;
    if (this.#isStopped || !bus.isConnected) return;
    const live = membership.live();
    const now = time.stopwatchMs();
    if (live.join() !== this.#liveNodes) {
      this.#liveNodes = live.join();
      this.#liveSince = now;
    }
    if (this.#isLeaving) return;
    for (let shard = 0; shard < shards; shard += 1) {
      const place = placeOf(shard, live);
      if (place === node) this.#take(shard, now);
      else {
        this.#ahead.end(shard);
        if (place !== null) this.#moveOwned(shard, now - this.#liveSince);
      }
    }
  }

  /** Notes what owners that still speak no longer announce (rule 3). */
  #noteGivenUp(): void {
    const announced = new Map<string, ReadonlyMap<number, number>>();
    for (const { instance, shards } of this.#ports.membership.nodes()) {
      for (const [shard, epoch] of this.#announced.get(instance) ?? []) {
        if (shards.get(shard) !== epoch) this.#givenUp.set(shard, epoch);
      }
      announced.set(instance, new Map(shards));
    }
    this.#announced = announced;
  }

  // ── claims ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Claims a shard that nobody owns; one that another node owns is read ahead. */
  #take(shard: number, now: number): void {
    if (this.#owned.has(shard) || this.#ending.has(shard) || this.#claiming.has(shard)) return;
    if (this.#ports.membership.ownerOf(shard) !== null) return this.#ahead.want(shard);
    if (now < this.#mayClaimAt && !this.#givenUp.has(shard)) return;
    if (this.#claiming.size >= CLAIMS_MAX || (this.#notBefore.get(shard) ?? 0) > now) return;
    this.#claiming.add(shard);
    void this.#claim(shard, now).finally(() => {
      this.#claiming.delete(shard);
      this.#ahead.end(shard);
      this.#look();
    });
  }

  async #claim(shard: number, since: number): Promise<void> {
    const { open, time } = this.#ports;
    try {
      const opened = await open(shard, (epoch) => epoch === 0 || this.#givenUp.get(shard) === epoch);
      this.#failures.delete(shard);
      if (opened === null) this.#notBefore.set(shard, time.stopwatchMs() + RETRY_MS);
      else this.#own(shard, opened, since);
    } catch (error) {
      this.#noteFailure(shard, error);
    }
  }

  /**
   * What is damaged stays so, and each try may leave a claim in the log; servers that cannot be reached are back in
   * seconds.
   */
  #noteFailure(shard: number, error: unknown): void {
    const failures = (this.#failures.get(shard) ?? 0) + 1;
    this.#failures.set(shard, failures);
    const isUnreachable = error instanceof LogUnreachable || error instanceof ObjectsUnreachable;
    const pauseMs = Math.min(retryPauseMs(failures, RETRY_MS), isUnreachable ? UNREACHABLE_MS_MAX : RETRY_MS_MAX);
    this.#notBefore.set(shard, this.#ports.time.stopwatchMs() + pauseMs);
    if (!isWorthReporting(failures)) return;
    reportTrouble('cluster', `shard ${shard} could not be claimed; it is tried again`, error);
  }

  #own(shard: number, { owned, previousEpoch }: OpenedShard<Shard>, since: number): void {
    const { time, membership, serve, changed } = this.#ports;
    const { journal } = owned;
    if (this.#isStopped || journal.status !== 'OPEN') {
      journal.abandon();
      return owned.lose();
    }
    this.#owned.set(shard, owned);
    journal.onFenced(() => this.#lose(shard, owned));
    serve(shard, journal.epoch);
    membership.own(shard, journal.epoch);
    changed();
    owned.settle();
    const tookMs = time.stopwatchMs() - since + owned.holdOffLeftMs;
    if (claimChannel.hasSubscribers) {
      claimChannel.publish({ shard, isTakeover: previousEpoch > 0, tookMs } satisfies ClaimMessage);
    }
    if (this.#isLeaving) this.#giveUp(shard);
  }

  /** Another node owns it. */
  #lose(shard: number, owned: Shard): void {
    owned.lose();
    if (this.#owned.get(shard) !== owned) return;
    this.#owned.delete(shard);
    this.#notBefore.set(shard, this.#ports.time.stopwatchMs() + RETRY_MS);
    this.#ports.giveUp(shard, owned.journal.epoch);
    this.#endLater(shard, this.#announceEnd(shard, owned));
    fencedChannel.publish({ shard });
    reportTrouble('cluster', `another node owns shard ${shard}; this one gave it up`);
  }

  // ── giving up ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #moveOwned(shard: number, settledMs: number): void {
    if (!this.#owned.has(shard) || this.#ending.size >= MOVES_MAX || settledMs < SETTLED_MS) return;
    if (settledMs >= SETTLED_MS + AWAITED_MS_MAX || this.#ports.membership.isAwaited(shard)) this.#giveUp(shard);
  }

  #giveUp(shard: number): void {
    const owned = this.#owned.get(shard);
    if (owned === undefined || this.#ending.has(shard)) return;
    this.#owned.delete(shard);
    this.#ports.giveUp(shard, owned.journal.epoch);
    const ended = owned
      .giveUp()
      .catch((error: unknown) => reportTrouble('cluster', `shard ${shard} could not be given up in order`, error))
      .then(() => this.#announceEnd(shard, owned));
    this.#endLater(shard, ended);
  }

  /** The shard is not claimed here before it has ended. */
  #endLater(shard: number, ended: Promise<void>): void {
    this.#ending.set(shard, ended);
    this.#ports.changed();
    void ended.then(() => {
      this.#ending.delete(shard);
      this.#ports.changed();
    });
  }

  /**
   * Announces that no more answers of this owner leave, once no answers of the previous owner can leave either (rule
   * 3).
   */
  async #announceEnd(shard: number, { holdOffLeftMs }: Shard): Promise<void> {
    if (holdOffLeftMs > 0) await pauseFor(this.#ports.time, holdOffLeftMs);
    this.#ports.membership.release(shard);
  }
}
