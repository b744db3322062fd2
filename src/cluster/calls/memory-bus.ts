/**
 * Messages between nodes of one process: the twin of the bus on NATS, for tests and the simulation. Its messages can be
 * late or lost, its nodes cut off from each other, from the server in the middle, or paused.
 *
 * 1. As on a real server, a message goes to the node in the middle first. Who listens is decided there, and where
 *    nobody does and an answer is wanted, the sender is told.
 * 2. Messages from one node to another arrive in their order, however late each of them is.
 * 3. A paused node receives nothing; what was sent to it arrives when it goes on. A node that is not connected sends
 *    nothing and what is sent to it is lost.
 * 4. Time comes from outside, and chance too: `travelMs` decides about each way that a message goes.
 */
import type { Bus, BusMessage } from './bus.ts';

interface MemoryNetworkPorts {
  /** Runs something after a while; never at once. */
  readonly later: (work: () => void, delayMs: number) => void;
  /** How long a message travels from a node to another; null when it is lost. Without it 0. */
  readonly travelMs?: (from: string, to: string, subject: string) => number | null;
}

interface Subscription {
  readonly member: Member;
  readonly receive: (message: BusMessage) => void;
  isActive: boolean;
}

/** One connection of a node. */
interface Member {
  readonly node: string;
  readonly listeners: Set<(isConnected: boolean) => void>;
  isConnected: boolean;
  isPaused: boolean;
  isGone: boolean;
}

interface Arrival {
  readonly deliver: () => void;
  hasTravelled: boolean;
}

const NOTHING = new Uint8Array(0);

/** As `later` on a machine's own timers. */
export function laterOnTimers(work: () => void, delayMs: number): void {
  if (delayMs <= 0) setImmediate(work);
  else setTimeout(work, delayMs);
}

export class MemoryNetwork {
  readonly #ports: MemoryNetworkPorts;
  readonly #members = new Map<string, Member>();
  /** By subject, and by the part before `>` of those that end with it. */
  readonly #exact = new Map<string, Set<Subscription>>();
  readonly #prefixes = new Map<string, Set<Subscription>>();
  /** Messages on their way, by the connection that they go to and the node that they come from (rule 2). */
  readonly #ways = new Map<Member, Map<string, Arrival[]>>();
  readonly #cuts = new Set<string>();
  #messages = 0;
  #bytes = 0;
  #largestBytes = 0;

  constructor(ports: MemoryNetworkPorts) {
    this.#ports = ports;
  }

  /** Messages that were published so far. */
  get messages(): number {
    return this.#messages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The size of the largest message so far. */
  get largestBytes(): number {
    return this.#largestBytes;
  }

  /** Connects a node; a second connection of the same name takes the place of the first. */
  connect(node: string): Bus {
    this.kill(node);
    const member: Member = { node, listeners: new Set(), isConnected: true, isPaused: false, isGone: false };
    this.#members.set(node, member);
    return {
      get isConnected() {
        return member.isConnected;
      },
      publish: (subject, data, replyTo) => this.#publish(member, { subject, data, replyTo: replyTo ?? null }),
      subscribe: (subject, receive) => this.#subscribe(member, subject, receive),
      onConnection: (listener) => member.listeners.add(listener),
    };
  }

  // ── faults ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Ends a node as a crash does: what it sent travels on, what is sent to it is lost. */
  kill(node: string): void {
    const member = this.#members.get(node);
    if (member === undefined) return;
    member.isGone = true;
    member.isConnected = false;
    this.#members.delete(node);
    this.#lose(member);
    for (const index of [this.#exact, this.#prefixes]) {
      for (const [key, subscriptions] of index) {
        for (const each of subscriptions) if (each.member === member) remove(index, key, each);
      }
    }
  }

  /** Takes a node's connection to the servers away, or gives it back. */
  setConnected(node: string, isConnected: boolean): void {
    const member = this.#members.get(node);
    if (member === undefined || member.isConnected === isConnected) return;
    member.isConnected = isConnected;
    if (!isConnected) this.#lose(member);
    for (const listener of member.listeners) listener(isConnected);
  }

  /** Loses everything that one node sends to another, until `heal`. */
  cut(from: string, to: string): void {
    this.#cuts.add(`${from} ${to}`);
  }

  heal(): void {
    this.#cuts.clear();
  }

  pause(node: string): void {
    const member = this.#members.get(node);
    if (member !== undefined) member.isPaused = true;
  }

  resume(node: string): void {
    const member = this.#members.get(node);
    if (member === undefined) return;
    member.isPaused = false;
    for (const way of this.#ways.get(member)?.values() ?? []) this.#arrive(member, way);
  }

  // ── messages ───────────────────────────────────────────────────────────────────────────────────────────────────────

  #subscribe(member: Member, subject: string, receive: (message: BusMessage) => void): () => void {
    const isPrefix = subject.endsWith('.>');
    const index = isPrefix ? this.#prefixes : this.#exact;
    const key = isPrefix ? subject.slice(0, -1) : subject;
    const subscription: Subscription = { member, receive, isActive: !member.isGone };
    if (subscription.isActive) index.set(key, (index.get(key) ?? new Set()).add(subscription));
    return () => remove(index, key, subscription);
  }

  #publish(from: Member, message: Omit<BusMessage, 'isNobodyThere'>): void {
    if (!from.isConnected) return;
    const { subject, data, replyTo } = message;
    this.#messages += 1;
    this.#bytes += data.length;
    this.#largestBytes = Math.max(this.#largestBytes, data.length);
    const receivers = this.#receiversOf(subject);
    for (const receiver of receivers) this.#send(from.node, receiver, { ...message, isNobodyThere: false });
    if (receivers.length > 0 || replyTo === null) return;
    const nobody = { subject: replyTo, data: NOTHING, replyTo: null, isNobodyThere: true };
    for (const receiver of this.#receiversOf(replyTo)) this.#send(from.node, receiver, nobody);
  }

  /** The connected listeners of a subject (rule 1). */
  #receiversOf(subject: string): readonly Subscription[] {
    const found = [...(this.#exact.get(subject) ?? [])];
    if (this.#prefixes.size > 0) {
      for (let at = subject.indexOf('.'); at >= 0; at = subject.indexOf('.', at + 1)) {
        found.push(...(this.#prefixes.get(subject.slice(0, at + 1)) ?? []));
      }
    }
    return found.filter(({ member }) => member.isConnected);
  }

  #send(from: string, to: Subscription, message: BusMessage): void {
    const { member } = to;
    if (this.#cuts.has(`${from} ${member.node}`)) return;
    const delayMs = this.#ports.travelMs === undefined ? 0 : this.#ports.travelMs(from, member.node, message.subject);
    if (delayMs === null) return;
    const ways = this.#ways.get(member) ?? new Map<string, Arrival[]>();
    this.#ways.set(member, ways);
    const way = ways.get(from) ?? [];
    ways.set(from, way);
    const arrival: Arrival = { deliver: () => to.isActive && to.receive(message), hasTravelled: false };
    way.push(arrival);
    this.#ports.later(() => {
      arrival.hasTravelled = true;
      this.#arrive(member, way);
    }, delayMs);
  }

  /** Loses what is on its way to a node. */
  #lose(member: Member): void {
    for (const way of this.#ways.get(member)?.values() ?? []) way.length = 0;
    this.#ways.delete(member);
  }

  /** Delivers what has arrived, in its order (rule 2). */
  #arrive(member: Member, way: Arrival[]): void {
    while (way[0]?.hasTravelled === true && !member.isPaused && member.isConnected) way.shift()!.deliver();
  }
}

function remove(index: Map<string, Set<Subscription>>, key: string, subscription: Subscription): void {
  subscription.isActive = false;
  const subscriptions = index.get(key);
  subscriptions?.delete(subscription);
  if (subscriptions?.size === 0) index.delete(key);
}
