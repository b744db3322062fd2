/**
 * The live streams of performances: which are watched, by whom, and when frames are sent. One timer for all; none
 * without listeners.
 *
 * Owns feeds and listeners. `performance-feed.ts` makes the frames, `live/route.ts` connects the listeners.
 *
 * 1. Requests come first. Performances that are watched are compared by revision at most four times a second. Frames
 *    are sent in slices of a fraction of a millisecond. A rest three times as long as the sending follows, so that
 *    listeners take a quarter of a core at most. Measured with 10,000 listeners: sent in one piece, a frame kept the
 *    loop busy for a tenth of a second, on a loaded machine for half a second.
 * 2. Listeners are limited (I10), one for each connection. One that does not read is dropped, and resumes when it can.
 *    The map of places is the count of listeners; the count that is shown is set from it.
 * 3. A frame goes to the listeners that were there when it was made; a later listener has it in its opening.
 * 4. A feed outlives its last listener by a short time, so that a listener that reconnects resumes.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { inBackground, reportTrouble } from '#actors/trouble.ts';
import { isEventBroken, Overloaded } from '#actors/admission.ts';
import { readWhole, type EventPort } from '#actors/event-port.ts';
import type { LiveView } from '#domain/event/revisioned-views.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { PerformanceFeed } from './performance-feed.ts';
import type { ClockPort, EventsPort, UseCount } from '../ports.ts';

/** A receiver of frames: a socket, or a twin in a test. */
export interface Listener {
  write(bytes: Buffer): unknown;
  /** Bytes that were written and not yet taken by the network. */
  readonly writableLength: number;
  destroy(): unknown;
  end(): unknown;
}

interface LiveFeedsPorts {
  readonly events: Pick<EventsPort, 'bySlug'>;
  readonly clock: ClockPort;
  readonly listenersMax: number;
  /** The count of the listeners here, and of all that share the limit. */
  readonly count: UseCount;
}

/** Sends the first bytes of a stream and returns the listener for all later frames; null when the client is gone. */
type Begin = (opening: Buffer) => Listener | null;

interface Subscription {
  readonly performance: WatchedPerformance;
  /** The size of the opening; a slow listener may need long to read it. */
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
/** Listeners that are written to in one slice: some 10 µs each. */
const SLICE_LISTENERS = 25;
/** The rest after writing lasts so many times the processor time of the writing. */
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
  readonly #places = new Map<Listener, Subscription>();
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
   * Begins a stream of a performance, in the tick in which its place is given, so that every place has a listener.
   * Refuses with EVENT_NOT_FOUND, PERFORMANCE_REQUIRED, PERFORMANCE_NOT_FOUND; throws Overloaded when all places are
   * taken.
   */
  async watch(
    slug: string,
    performanceId: string | null,
    lastId: string | null,
    begin: Begin,
  ): Promise<Refusal | null> {
    this.#refuseWhenFull();
    const event = await this.#ports.events.bySlug(slug);
    if (event === null) return EVENT_NOT_FOUND;
    // Others may have come while the event was activated.
    this.#refuseWhenFull();
    const performance = await this.#open(slug, performanceId, event);
    if ('outcome' in performance) return performance;
    const { feed } = performance;
    for (;;) {
      const after = feed.resumedAfter(lastId, this.#ports.clock.now());
      const opening = feed.opening(after);
      if (opening !== undefined) return this.#begin(performance, opening, begin);
      const { number } = feed;
      const view = await readLive(event, feed.performanceId, after);
      if (isRefusal(view)) return view;
      // A frame that was made meanwhile may show what the view does not.
      if (feed.number !== number) continue;
      return this.#begin(performance, feed.keepOpening(after, view, this.#ports.clock.now()), begin);
    }
  }

  /** Sends an opening and gives the listener a place, in the tick in which the opening is current (rule 3). */
  #begin(performance: WatchedPerformance, opening: Buffer, begin: Begin): null {
    this.#refuseWhenFull();
    const listener = begin(opening);
    if (listener !== null) this.#givePlace(performance, listener, opening.length);
    return null;
  }

  /** Frees the place of a listener whose connection is gone. */
  leave(listener: Listener): void {
    this.#places.get(listener)?.performance.listeners.delete(listener);
    this.#places.delete(listener);
    this.#ports.count.set(this.#places.size);
  }

  /** Ends all streams; listeners reconnect. */
  close(): void {
    for (const performance of [...this.#watched.values()]) this.#end(performance);
    this.#stopTimer();
  }

  async #open(slug: string, wantedId: string | null, event: EventPort): Promise<WatchedPerformance | Refusal> {
    const found = await event.read({ type: 'FindPerformance', performanceId: wantedId });
    if (isRefusal(found)) return found;
    const { performanceId } = found;
    const key = `${slug} ${performanceId}`;
    if (this.#watched.has(key)) return this.#watched.get(key)!;
    const view = await readWhole(event, EVENT_NOT_FOUND, {
      type: 'ReadLivePerformance',
      performanceId,
      knownRevision: null,
    });
    if (isRefusal(view)) return view;
    // Another listener may have opened the feed meanwhile.
    if (this.#watched.has(key)) return this.#watched.get(key)!;
    const feed = new PerformanceFeed(view);
    feed.keepOpening(null, view, this.#ports.clock.now());
    const watched: WatchedPerformance = { key, slug, feed, listeners: new Set(), event, idleTicks: 0 };
    this.#follow(watched);
    return watched;
  }

  #refuseWhenFull(): void {
    if (this.#ports.count.total < this.#ports.listenersMax) return;
    throw new Overloaded('all places are taken', RETRY_AFTER_SECONDS);
  }

  #givePlace(performance: WatchedPerformance, listener: Listener, openingBytes: number): void {
    this.leave(listener);
    this.#places.set(listener, { performance, openingBytes });
    this.#ports.count.set(this.#places.size);
    performance.listeners.add(listener);
    performance.idleTicks = 0;
    this.#follow(performance);
  }

  #follow(performance: WatchedPerformance): void {
    this.#watched.set(performance.key, performance);
    this.#timer ??= setInterval(() => this.#tickOnce(), TICK_MS).unref();
  }

  // ── the pace ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A tick that still writes, or waits for the activation of an event, is not overtaken by the next. */
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
    if (this.#watched.size === 0) this.#stopTimer();
  }

  /**
   * What changed since the last view; null when nothing did or nothing can be read at the moment. The streams of an
   * event that cannot be read at all end: a listener that reconnects is answered why.
   */
  async #nextView(performance: WatchedPerformance): Promise<LiveView | 'gone' | null> {
    try {
      performance.event ??= await this.#ports.events.bySlug(performance.slug);
      if (performance.event === null) return 'gone';
      const { performanceId, revision } = performance.feed;
      const view = await readLive(performance.event, performanceId, revision);
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

  /** Writes to a listener that is still there and reads; drops one that does not. */
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

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

function readLive(event: EventPort, performanceId: string, knownRevision: string | null) {
  return event.read({ type: 'ReadLivePerformance', performanceId, knownRevision });
}

/** Processor time of this thread; other processes on a busy machine do not count. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
