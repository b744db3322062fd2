/**
 * Messages between simulated nodes: the twin of the bus on core NATS.
 *
 * 1. What one process publishes arrives in its order at each other process, or is lost.
 * 2. A process that is cut off neither sends nor receives; `split` puts processes on two sides whose messages do not
 *    cross, though each side works on. What is on its way then is lost.
 * 3. A paused process keeps its subscriptions; those of one that has ended are gone at once.
 */
import type { Bus, BusMessage } from '#cluster/calls/bus.ts';
import type { Network } from './network.ts';
import { wayMs } from './network.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

interface Subscription {
  readonly link: Link;
  readonly subject: string;
  readonly receive: (message: BusMessage) => void;
  isOpen: boolean;
}

/** The connection of one process; what goes the same way over it keeps its order. */
interface Link {
  readonly process: SimulatedProcess;
  readonly listeners: ((isConnected: boolean) => void)[];
  sentByMs: number;
  receivedByMs: number;
  side: number;
}

const NOTHING = new Uint8Array(0);

export class SimulatedBus {
  readonly #scheduler: Scheduler;
  readonly #network: () => Network;
  /** By exact subject, and by the beginning of those that end with `.>`. */
  readonly #subscriptions = new Map<string, Set<Subscription>>();
  readonly #links = new Map<SimulatedProcess, Link>();

  constructor(scheduler: Scheduler, network: () => Network) {
    this.#scheduler = scheduler;
    this.#network = network;
  }

  connect(process: SimulatedProcess): Bus {
    const link: Link = { process, listeners: [], sentByMs: 0, receivedByMs: 0, side: 0 };
    this.#links.set(process, link);
    process.onEnd(() => {
      this.#links.delete(process);
      for (const open of this.#subscriptions.values())
        for (const each of open) if (each.link === link) this.#drop(each);
    });
    return {
      get isConnected() {
        return !process.isCutOff;
      },
      publish: (subject, data, replyTo) => this.#publish(link, subject, data, replyTo ?? null),
      subscribe: (subject, receive) => {
        const subscription = { link, subject, receive, isOpen: true };
        const open = this.#subscriptions.get(subject) ?? new Set();
        this.#subscriptions.set(subject, open.add(subscription));
        return () => this.#drop(subscription);
      },
      onConnection: (listener) => void link.listeners.push(listener),
    };
  }

  /** Cuts a process off from the servers, or connects it again. */
  cutOff(process: SimulatedProcess, isCutOff: boolean): void {
    if (process.isCutOff === isCutOff) return;
    process.isCutOff = isCutOff;
    for (const listener of this.#links.get(process)?.listeners ?? []) process.receive(1, () => listener(!isCutOff));
  }

  /** Puts each process on a side; messages cross no sides. */
  split(sideOf: (process: SimulatedProcess) => number): void {
    for (const link of this.#links.values()) link.side = sideOf(link.process);
  }

  #drop(subscription: Subscription): void {
    subscription.isOpen = false;
    const open = this.#subscriptions.get(subscription.subject);
    open?.delete(subscription);
    if (open?.size === 0) this.#subscriptions.delete(subscription.subject);
  }

  #publish(from: Link, subject: string, data: Uint8Array, replyTo: string | null): void {
    const { process } = from;
    if (process.isCutOff || process.state === 'ENDED') return;
    from.sentByMs = Math.max(from.sentByMs, this.#scheduler.nowMs + wayMs(this.#scheduler.chance, this.#network()));
    this.#scheduler.after(from.sentByMs - this.#scheduler.nowMs, () => {
      if (process.isCutOff) return;
      const to = this.#subscribersOf(subject, from.side);
      for (const each of to) this.#deliver(each, { subject, data, replyTo, isNobodyThere: false });
      if (to.length > 0 || replyTo === null) return;
      for (const each of this.#subscribersOf(replyTo, from.side))
        this.#deliver(each, { subject: replyTo, data: NOTHING, replyTo: null, isNobodyThere: true });
    });
  }

  #subscribersOf(subject: string, side: number): Subscription[] {
    const found = [...(this.#subscriptions.get(subject) ?? [])];
    for (let end = subject.lastIndexOf('.'); end > 0; end = subject.lastIndexOf('.', end - 1))
      found.push(...(this.#subscriptions.get(`${subject.slice(0, end)}.>`) ?? []));
    return found.filter(({ link }) => link.side === side && !link.process.isCutOff);
  }

  #deliver(subscription: Subscription, message: BusMessage): void {
    const { link } = subscription;
    const { nowMs, chance } = this.#scheduler;
    link.receivedByMs = Math.max(link.receivedByMs, nowMs + wayMs(chance, this.#network()));
    link.process.receive(link.receivedByMs - nowMs, () => {
      if (subscription.isOpen && !link.process.isCutOff) subscription.receive(message);
    });
  }
}
