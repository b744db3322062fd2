/**
 * Who watches which date, and the pace at which they are told: one timer for all, and none while nobody watches.
 *
 * Owns feeds and listeners. What a frame says is `date-feed.ts`; how a listener is connected is `routes/live.ts`.
 *
 *  1. Buyers come first: dates are compared by revision on a timer, at most four times a second and only those that are
 *     watched; frames go out in slices of a fraction of a millisecond with the loop given back in between, and after writing
 *     follows a rest of three times as long, so that listeners take a quarter of a core at most. Measured with 10,000 of
 *     them (`bench/live-listeners.ts`): written at one go, a frame kept the loop for a tenth of a second, and on a busy machine for half of one.
 *  2. Listeners are bounded (I10), one for each connection; one that does not read what it is sent is dropped, and resumes when
 *     it can. Who is in the map has a place: there is no count beside it that could differ.
 *  3. A frame goes to those who were there when it was made; whoever comes meanwhile has it in what they begin with.
 *  4. A feed outlives its last listener by a little, so that whoever reconnects resumes.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { inBackground, reportTrouble } from '#actors/trouble.ts';
import { isEventBroken, Overloaded } from '#actors/admission.ts';
import type { LiveView } from '#domain/inventory/public-view.ts';
import { invariant } from '#domain/invariant.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { EVENT_NOT_FOUND } from './errors.ts';
import { PerformanceFeed } from './performance-feed.ts';
import type { EventPort, ClockPort, DirectoryPort } from './ports.ts';

/** Whoever is sent frames: a response, or a twin in a test. */
export interface Listener {
  write(bytes: Buffer): unknown;
  /** Bytes that were written and not yet taken by the network. */
  readonly writableLength: number;
  destroy(): unknown;
  end(): unknown;
}

export interface LiveFeedsPorts {
  readonly directory: Pick<DirectoryPort, 'bySlug'>;
  readonly clock: ClockPort;
  readonly listenersMax: number;
}

/** Sends the first bytes of a stream and answers who is sent every frame from now on; null where nobody is there any more. */
export type Begin = (opening: Buffer) => Listener | null;

interface Place {
  readonly performance: WatchedPerformance;
  /** What the listener began with; a slow one may take its time over that. */
  readonly openingBytes: number;
}

interface WatchedPerformance {
  readonly key: string;
  readonly slug: string;
  readonly feed: PerformanceFeed;
  readonly listeners: Set<Listener>;
  event: EventPort | null;
  /** Ticks since the last listener left. */
  idleTicks: number;
}

const TICK_MS = 250;
/** Written before the loop is given back: some 10 µs each. */
const SLICE_LISTENERS = 25;
/** After writing, a rest of so many times the processor time that it took. */
const REST_FACTOR = 3;
const HEARTBEAT_TICKS = 60;
const IDLE_TICKS_MAX = 120;
/** What a listener may leave unread, beside the snapshot it began with. */
const UNREAD_BYTES_MAX = 256 * 1024;
const RETRY_AFTER_SECONDS = 5;
const HEARTBEAT = Buffer.from(': the line is open\n\n');

export class LiveFeeds {
  readonly #ports: LiveFeedsPorts;
  readonly #watched = new Map<string, WatchedPerformance>();
  /** Every listener that has a place. */
  readonly #places = new Map<Listener, Place>();
  #feedsBegun = 0;
  #ticks = 0;
  #isTicking = false;
  /** Processor time of this tick's writing. */
  #writingMs = 0;
  /** Ticks to be left out. */
  #restTicks = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(ports: LiveFeedsPorts) {
    this.#ports = ports;
  }

  get listeners(): number {
    return this.#places.size;
  }

  /**
   * Begins a stream of a date, in the turn of the loop in which its place is given, so that no place is given to nobody.
   * Refuses with EVENT_NOT_FOUND, PERFORMANCE_REQUIRED, PERFORMANCE_NOT_FOUND; throws Overloaded when all places are taken.
   */
  async watch(
    slug: string,
    performanceId: string | null,
    lastId: string | null,
    begin: Begin,
  ): Promise<Refusal | null> {
    this.#refuseCrowd();
    const event = await this.#ports.directory.bySlug(slug);
    if (event === null) return EVENT_NOT_FOUND;
    // Others may have come while the event was activated.
    this.#refuseCrowd();
    const performance = await this.#open(slug, performanceId, event);
    if ('outcome' in performance) return performance;
    const { feed } = performance;
    for (;;) {
      const opening = feed.opening(lastId, this.#ports.clock.now());
      if (opening !== null) return this.#begin(performance, opening, begin);
      const { number } = feed;
      const view = await readAll(event, feed.performanceId);
      if (isRefusal(view)) return view;
      // A frame that was made meanwhile may show what the view does not.
      if (feed.number === number) feed.keepSnapshot(view);
    }
  }

  /** Gives a place to whoever is sent an opening, in the tick in which the opening was current (3). */
  #begin(performance: WatchedPerformance, opening: Buffer, begin: Begin): null {
    this.#refuseCrowd();
    const listener = begin(opening);
    if (listener !== null) this.#givePlace(performance, listener, opening.length);
    return null;
  }

  /** Takes the place of a listener whose connection is gone back. */
  leave(listener: Listener): void {
    this.#places.get(listener)?.performance.listeners.delete(listener);
    this.#places.delete(listener);
  }

  /** Sends everybody away; they come back to whoever serves then. */
  close(): void {
    for (const performance of [...this.#watched.values()]) this.#end(performance);
    this.#rest();
  }

  async #open(slug: string, wantedId: string | null, event: EventPort): Promise<WatchedPerformance | Refusal> {
    const found = await event.read({ type: 'FindPerformance', performanceId: wantedId });
    if (isRefusal(found)) return found;
    const { performanceId } = found;
    const key = `${slug} ${performanceId}`;
    if (this.#watched.has(key)) return this.#watched.get(key)!;
    const view = await readAll(event, performanceId);
    if (isRefusal(view)) return view;
    // Another listener may have opened the feed meanwhile.
    if (this.#watched.has(key)) return this.#watched.get(key)!;
    this.#feedsBegun += 1;
    const feed = new PerformanceFeed(view, `${view.now.toString(36)}${this.#feedsBegun.toString(36)}`);
    feed.keepSnapshot(view);
    const watched: WatchedPerformance = { key, slug, feed, listeners: new Set(), event, idleTicks: 0 };
    this.#follow(watched);
    return watched;
  }

  #refuseCrowd(): void {
    if (this.#places.size < this.#ports.listenersMax) return;
    throw new Overloaded('all places are taken', RETRY_AFTER_SECONDS);
  }

  #givePlace(performance: WatchedPerformance, listener: Listener, openingBytes: number): void {
    this.leave(listener);
    this.#places.set(listener, { performance, openingBytes });
    performance.listeners.add(listener);
    performance.idleTicks = 0;
    this.#follow(performance);
  }

  #follow(performance: WatchedPerformance): void {
    this.#watched.set(performance.key, performance);
    this.#timer ??= setInterval(() => this.#tickOnce(), TICK_MS).unref();
  }

  // ── the pace ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A tick that still writes, or waits for an event to come alive, is not overtaken by the next. */
  #tickOnce(): void {
    if (this.#isTicking || this.#restTicks-- > 0) return;
    this.#isTicking = true;
    this.#writingMs = 0;
    const tick = this.#tick().finally(() => {
      this.#restTicks = Math.floor((this.#writingMs * REST_FACTOR) / TICK_MS);
      this.#isTicking = false;
    });
    inBackground('live', tick);
  }

  async #tick(): Promise<void> {
    this.#ticks += 1;
    const heartbeat = this.#ticks % HEARTBEAT_TICKS === 0;
    for (const performance of [...this.#watched.values()]) {
      if (performance.listeners.size === 0 && (performance.idleTicks += 1) > IDLE_TICKS_MAX) {
        this.#watched.delete(performance.key);
        continue;
      }
      const view = await this.#nextView(performance);
      if (view === 'gone') {
        this.#end(performance);
        continue;
      }
      const frame = view === null ? null : performance.feed.next(view);
      if (frame !== null) await this.#send(performance, frame);
      else if (heartbeat) await this.#send(performance, HEARTBEAT);
    }
    if (this.#watched.size === 0) this.#rest();
  }

  /**
   * What changed since the last view; null when nothing did or nothing can be read at the moment. The streams of an event that
   * cannot be read at all end: a listener that comes back is told why.
   */
  async #nextView(performance: WatchedPerformance): Promise<LiveView | 'gone' | null> {
    try {
      performance.event ??= await this.#ports.directory.bySlug(performance.slug);
      if (performance.event === null) return 'gone';
      const { performanceId, mark } = performance.feed;
      const view = await performance.event.read({ type: 'ReadLivePerformance', performanceId, last: mark });
      if (!('outcome' in view)) return view;
      return isRefusal(view) ? 'gone' : null;
    } catch (error) {
      performance.event = null;
      // The event was evicted or is activated again: the next tick finds it.
      if (error instanceof Overloaded && !isEventBroken(error)) return null;
      if (!isEventBroken(error)) reportTrouble('live', `the live streams of ${performance.slug} were ended`, error);
      return 'gone';
    }
  }

  async #send(performance: WatchedPerformance, frame: Buffer): Promise<void> {
    const listeners = [...performance.listeners];
    for (let from = 0; from < listeners.length; from += SLICE_LISTENERS) {
      if (from > 0) await nextRound();
      const before = threadMs();
      for (const listener of listeners.slice(from, from + SLICE_LISTENERS)) this.#write(performance, listener, frame);
      this.#writingMs += threadMs() - before;
    }
  }

  /** Writes to a listener who is still there and reads. */
  #write(performance: WatchedPerformance, listener: Listener, frame: Buffer): void {
    if (!performance.listeners.has(listener)) return;
    const unreadMax = UNREAD_BYTES_MAX + (this.#places.get(listener)?.openingBytes ?? 0);
    if (listener.writableLength <= unreadMax) {
      listener.write(frame);
      return;
    }
    this.leave(listener);
    listener.destroy();
  }

  #end(performance: WatchedPerformance): void {
    this.#watched.delete(performance.key);
    for (const listener of [...performance.listeners]) {
      this.leave(listener);
      listener.end();
    }
  }

  #rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** A view of everything that is left of a performance. */
async function readAll(event: EventPort, performanceId: string): Promise<LiveView | Refusal> {
  const view = await event.read({ type: 'ReadLivePerformance', performanceId, last: null });
  invariant(!('outcome' in view) || isRefusal(view), 'a view that follows on no other is never UNCHANGED');
  return view;
}

/** Processor time of this thread; other processes on a busy machine do not count. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
