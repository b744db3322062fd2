/**
 * Which nodes are there, and which shards each of them says it owns: by heartbeats that every node sends to all.
 *
 * 1. All of it is a hint. Who owns a shard is decided by the shard's log; a wrong guess here costs time and nothing
 *    else.
 * 2. A node is dead when nothing was heard of it for `DEAD_MS` by the reader's own stopwatch. Time in which the reader
 *    itself did not run, or had no connection, does not count: it cannot have heard anything.
 * 3. Of several nodes that announce a shard, the one with the highest epoch owns it. An epoch that the shard's log
 *    refutes counts for nothing, and one that is not proven yet only where no other is.
 * 4. A node is known by its name and told from an earlier process of that name by its instance. Two that stay are a
 *    mistake in their settings, which is reported.
 */
import { reportTrouble } from '#actors/trouble.ts';
import { type Timing, pauseFor } from '#persistence/nats/timing.ts';
import { parseMessage } from './wire.ts';
import type { Bus } from './bus.ts';
import type { ClaimedEpochs } from './claimed-epochs.ts';

export const HEARTBEAT_MS = 250;
export const DEAD_MS = 1_500;

/** After a pause of this length between two beats the reader counts as held up (rule 2). */
const HELD_UP_MS = 2 * HEARTBEAT_MS;

const NAMESAKE_MS = 4 * DEAD_MS;

export interface Owner {
  readonly node: string;
  /** Unique to the process. */
  readonly instance: string;
  readonly epoch: number;
}

interface LiveNode {
  readonly node: string;
  readonly instance: string;
  /** It gives up its shards and takes on none. */
  readonly isLeaving: boolean;
  /** The epoch by shard. */
  readonly shards: ReadonlyMap<number, number>;
  /** Shards that it is about to own, and has read ahead. */
  readonly awaited: ReadonlySet<number>;
}

interface MembershipPorts {
  readonly bus: Bus;
  readonly time: Timing;
  /** The prefix of all subjects. */
  readonly cluster: string;
  readonly node: string;
  /** Unique to this process (rule 4). */
  readonly instance: string;
  /** Whether an announced epoch was claimed; without it every one is believed. */
  readonly verdict?: ClaimedEpochs['verdict'];
}

interface Heartbeat {
  readonly node: string;
  readonly instance: string;
  readonly beat: number;
  readonly shards: readonly (readonly [shard: number, epoch: number])[];
  readonly leaving: boolean;
  readonly awaited?: readonly number[];
}

interface Member extends LiveNode {
  readonly since: number;
  heardAt: number;
  beat: number;
  isLeaving: boolean;
  shards: ReadonlyMap<number, number>;
  awaited: ReadonlySet<number>;
}

export class Membership {
  readonly #ports: MembershipPorts;
  readonly #subject: string;
  readonly #owned = new Map<number, number>();
  readonly #awaited = new Set<number>();
  /** The other nodes, by instance. */
  readonly #members = new Map<string, Member>();
  readonly #listeners = new Set<() => void>();
  /** The owner by shard, made anew after a change. */
  #owners: Map<number, Owner> | null = null;
  /** Whether an epoch was announced that is not proven (rule 3): it is looked at again. */
  #isUnsure = false;
  readonly #verdict: ClaimedEpochs['verdict'];
  #beat = 0;
  #lookedAt = 0;
  #isLeaving = false;
  #isAnnouncing = false;
  #isStopped = false;
  #hasNamesake = false;
  #unsubscribe = (): void => {};
  #cancelBeat = (): void => {};
  #cancelExpiry = (): void => {};

  constructor(ports: MembershipPorts) {
    this.#ports = ports;
    this.#verdict = ports.verdict ?? (() => 'PROVEN');
    this.#subject = heartbeatSubject(ports.cluster);
  }

  /** Begins to listen to other nodes and to announce this one. */
  start(): void {
    const { bus, time } = this.#ports;
    this.#lookedAt = time.stopwatchMs();
    this.#unsubscribe = bus.subscribe(this.#subject, ({ data }) => this.#hear(data));
    bus.onConnection((isConnected) => {
      if (this.#isStopped) return;
      if (isConnected) this.#heardAll();
      this.#change();
    });
    this.#tick();
  }

  /** Ends the heartbeats with one that says so. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isLeaving = true;
    this.#owned.clear();
    this.#send();
    this.#isStopped = true;
    this.#unsubscribe();
    this.#cancelBeat();
    this.#cancelExpiry();
  }

  // ── what this node says ────────────────────────────────────────────────────────────────────────────────────────────

  /** Announces that this node owns a shard. */
  own(shard: number, epoch: number): void {
    this.#owned.set(shard, epoch);
    this.#awaited.delete(shard);
    this.#announce();
  }

  /** Announces that it does not any more. */
  release(shard: number): void {
    if (this.#owned.delete(shard)) this.#announce();
  }

  /** Announces whether it is about to own a shard and has read it ahead. */
  setAwaited(shard: number, isAwaited: boolean): void {
    if (isAwaited === this.#awaited.has(shard)) return;
    if (isAwaited) this.#awaited.add(shard);
    else this.#awaited.delete(shard);
    this.#announce();
  }

  /** Announces that this node is about to stop. */
  leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#announce();
  }

  // ── what it knows ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** The names of the nodes that may own shards, in their order; this node among them until it leaves. */
  live(): readonly string[] {
    const staying = this.nodes().filter(({ isLeaving }) => !isLeaving);
    return [...new Set(staying.map(({ node }) => node))].sort();
  }

  /** Every node that was heard of lately, this one first. */
  nodes(): readonly LiveNode[] {
    const { node, instance } = this.#ports;
    const own = { node, instance, isLeaving: this.#isLeaving, shards: this.#owned, awaited: this.#awaited };
    return [own, ...this.#members.values()];
  }

  /** Whether another node is about to own a shard and has read it ahead. */
  isAwaited(shard: number): boolean {
    for (const { awaited, isLeaving } of this.#members.values()) if (!isLeaving && awaited.has(shard)) return true;
    return false;
  }

  /** Who announces a shard with the highest epoch (rule 3); null when nobody does. */
  ownerOf(shard: number): Owner | null {
    this.#owners ??= this.#findOwners();
    return this.#owners.get(shard) ?? null;
  }

  /** Has a function run after each change of nodes, owners or the connection. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** More is known of what was claimed. */
  reconsider(): void {
    this.#change();
  }

  #findOwners(): Map<number, Owner> {
    const owners = new Map<number, Owner>();
    const unproven = new Map<number, Owner>();
    const note = (found: Map<number, Owner>, shard: number, owner: Owner): void => {
      if ((found.get(shard)?.epoch ?? -1) < owner.epoch) found.set(shard, owner);
    };
    this.#isUnsure = false;
    for (const { node, instance, shards } of this.nodes()) {
      for (const [shard, epoch] of shards) {
        const verdict = instance === this.#ports.instance ? 'PROVEN' : this.#verdict({ shard, epoch, node });
        if (verdict !== 'PROVEN') this.#isUnsure = true;
        if (verdict !== 'REFUTED') note(verdict === 'PROVEN' ? owners : unproven, shard, { node, instance, epoch });
      }
    }
    for (const [shard, owner] of unproven) if (!owners.has(shard)) owners.set(shard, owner);
    return owners;
  }

  // ── heartbeats ─────────────────────────────────────────────────────────────────────────────────────────────────────

  #tick(): void {
    if (this.#isStopped) return;
    this.#send();
    this.#expire();
    if (this.#isUnsure) this.#owners = this.#findOwners();
    this.#cancelBeat = this.#ports.time.after(HEARTBEAT_MS, () => this.#tick());
  }

  /** Several changes in one go are announced together. */
  #announce(): void {
    this.#change();
    if (this.#isAnnouncing || this.#isStopped) return;
    this.#isAnnouncing = true;
    this.#ports.time.soon(() => {
      this.#isAnnouncing = false;
      if (!this.#isStopped) this.#send();
    });
  }

  #send(): void {
    const { bus, node, instance } = this.#ports;
    this.#beat += 1;
    const heartbeat: Heartbeat = {
      node,
      instance,
      beat: this.#beat,
      shards: [...this.#owned],
      leaving: this.#isLeaving,
      ...(this.#awaited.size > 0 && { awaited: [...this.#awaited] }),
    };
    bus.publish(this.#subject, Buffer.from(JSON.stringify(heartbeat)));
  }

  #hear(data: Uint8Array): void {
    const heartbeat = readHeartbeat(data);
    if (heartbeat === null) return;
    const { node, instance, beat, leaving } = heartbeat;
    if (instance === this.#ports.instance) return;
    const member = this.#members.get(instance);
    if (member !== undefined && beat <= member.beat) return;
    const heardAt = this.#ports.time.stopwatchMs();
    const shards = new Map(heartbeat.shards);
    const awaited = new Set(heartbeat.awaited);
    const isNews =
      member?.isLeaving !== leaving || !isSame(member.shards, shards) || !isSameSet(member.awaited, awaited);
    if (member === undefined) {
      const heard = { node, instance, beat, since: heardAt, heardAt };
      this.#members.set(instance, { ...heard, shards, awaited, isLeaving: leaving });
      // The newcomer learns at once who is there.
      this.#announce();
      return;
    }
    member.beat = beat;
    member.heardAt = heardAt;
    member.isLeaving = leaving;
    member.shards = shards;
    member.awaited = awaited;
    if (isNews) this.#change();
  }

  // ── silence ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Drops the nodes that are dead, and looks again when the next one may be. */
  #expire(): void {
    const { bus, time } = this.#ports;
    const now = time.stopwatchMs();
    const heldUpMs = now - this.#lookedAt;
    this.#lookedAt = now;
    if (!bus.isConnected) return;
    this.#reportNamesake(now);
    if (heldUpMs > HELD_UP_MS) {
      for (const member of this.#members.values()) member.heardAt = Math.min(now, member.heardAt + heldUpMs);
    }
    let isNews = false;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [instance, { heardAt }] of this.#members) {
      const leftMs = heardAt + DEAD_MS - now;
      if (leftMs <= 0) isNews = this.#members.delete(instance);
      else nextMs = Math.min(nextMs, leftMs);
    }
    this.#cancelExpiry();
    if (nextMs < HEARTBEAT_MS) this.#cancelExpiry = time.after(Math.ceil(nextMs), () => this.#expire());
    if (isNews) this.#change();
  }

  /** An earlier process of this name is not heard for so long (rule 4). */
  #reportNamesake(now: number): void {
    if (this.#hasNamesake) return;
    const { node } = this.#ports;
    const namesakes = [...this.#members.values()].filter((each) => each.node === node && !each.isLeaving);
    if (!namesakes.some(({ since }) => now - since > NAMESAKE_MS)) return;
    this.#hasNamesake = true;
    reportTrouble('cluster', `two nodes have the name ${node}; give each another NODE_NAME`);
  }

  #heardAll(): void {
    const now = this.#ports.time.stopwatchMs();
    for (const member of this.#members.values()) member.heardAt = now;
  }

  #change(): void {
    this.#owners = null;
    for (const listener of this.#listeners) listener();
  }
}

export function heartbeatSubject(cluster: string): string {
  return `${cluster}.hb`;
}

/** The heartbeat in a message; null when it is something else. */
export function readHeartbeat(data: Uint8Array): Heartbeat | null {
  const message = parseMessage(data) as Partial<Heartbeat> | null;
  return isHeartbeat(message) ? message : null;
}

function isHeartbeat(message: Partial<Heartbeat> | null): message is Heartbeat {
  return typeof message?.node === 'string' && typeof message.instance === 'string' && Array.isArray(message.shards);
}

function isSame(one: ReadonlyMap<number, number>, other: ReadonlyMap<number, number>): boolean {
  if (one.size !== other.size) return false;
  for (const [shard, epoch] of one) if (other.get(shard) !== epoch) return false;
  return true;
}

function isSameSet(one: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  if (one.size !== other.size) return false;
  for (const each of one) if (!other.has(each)) return false;
  return true;
}

export interface HeardNode {
  readonly name: string;
  readonly isLeaving: boolean;
  /** The epoch by shard. */
  readonly shards: ReadonlyMap<number, number>;
}

/** Listens for a while; a live node is heard within `HEARTBEAT_MS`. Returns the nodes by name, leaving ones too. */
export async function listenForNodes(
  bus: Pick<Bus, 'subscribe'>,
  time: Pick<Timing, 'after'>,
  cluster: string,
  listenMs: number,
): Promise<readonly HeardNode[]> {
  /** By instance: a name may have an earlier process that has just ended. */
  const newest = new Map<string, Heartbeat>();
  const unsubscribe = bus.subscribe(heartbeatSubject(cluster), ({ data }) => {
    const heartbeat = readHeartbeat(data);
    if (heartbeat !== null && heartbeat.beat >= (newest.get(heartbeat.instance)?.beat ?? 0)) {
      newest.set(heartbeat.instance, heartbeat);
    }
  });
  await pauseFor(time, listenMs);
  unsubscribe();
  return [...newest.values()]
    .map(({ node, leaving, shards }) => ({ name: node, isLeaving: leaving, shards: new Map(shards) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}
