/**
 * Notices between nodes: which events have changed, so that views that are kept elsewhere are asked for again. They may
 * be lost.
 *
 * 1. The changes of a short while travel together, each event once.
 */
import type { Timing } from '#persistence/nats/timing.ts';
import { parseMessage } from './wire.ts';
import type { Bus } from './bus.ts';

/** How long a change waits for others. */
const GATHER_MS = 50;

/** Events in one message; servers limit its size. */
const EVENTS_MAX = 5_000;

export class Notices {
  readonly #bus: Bus;
  readonly #time: Timing;
  readonly #subject: string;
  readonly #unsubscribe: () => void;
  #changed = new Set<string>();
  #cancel: (() => void) | null = null;

  constructor(
    { bus, time, cluster }: { readonly bus: Bus; readonly time: Timing; readonly cluster: string },
    receive: (eventIds: readonly string[]) => void,
  ) {
    this.#bus = bus;
    this.#time = time;
    this.#subject = `${cluster}.notice`;
    this.#unsubscribe = bus.subscribe(this.#subject, ({ data }) => receive(readIds(data)));
  }

  /** Something about an event has changed. */
  note(eventId: string): void {
    this.#changed.add(eventId);
    this.#cancel ??= this.#time.after(GATHER_MS, () => this.#send());
  }

  close(): void {
    this.#cancel?.();
    this.#unsubscribe();
  }

  #send(): void {
    this.#cancel = null;
    const eventIds = [...this.#changed];
    this.#changed = new Set();
    for (let from = 0; from < eventIds.length; from += EVENTS_MAX) {
      this.#bus.publish(this.#subject, Buffer.from(JSON.stringify(eventIds.slice(from, from + EVENTS_MAX))));
    }
  }
}

function readIds(data: Uint8Array): readonly string[] {
  const ids = parseMessage(data);
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}
