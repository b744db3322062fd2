/**
 * Who watches which date, and the pace at which they are told: one timer for all, and none while nobody watches.
 *
 * Owns feeds and listeners. What a frame says is `date-feed.ts`; how a listener is connected is `routes/live.ts`.
 *
 *  1. Buyers pay nothing: dates are compared by revision on a timer, four times a second, and only those that are watched.
 *  2. Listeners are bounded (I10); one that does not read what it is sent is dropped, and resumes when it can.
 *  3. A feed outlives its last listener by a little, so that whoever reconnects resumes.
 */
import { Overloaded } from '#actors/overloaded.ts';
import { isPublished } from '#domain/box-office.ts';
import { findDate } from '#domain/performances.ts';
import { isRefusal, refuse, type Refusal } from '#domain/refusal.ts';
import { DateFeed } from './date-feed.ts';
import type { BoxOfficePort, ClockPort, DirectoryPort } from './ports.ts';

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

/** A place among the listeners of a date, given before the first byte is sent. */
export interface Place {
  /** What the listener must be sent first. */
  readonly opening: Buffer;
  /** From now on the listener is sent every frame. */
  take(listener: Listener): void;
}

interface WatchedDate {
  readonly key: string;
  readonly slug: string;
  readonly feed: DateFeed;
  readonly listeners: Set<Listener>;
  office: BoxOfficePort | null;
  /** Ticks since the last listener left. */
  idleTicks: number;
}

const TICK_MS = 250;
const HEARTBEAT_TICKS = 60;
const IDLE_TICKS_MAX = 120;
/** What a listener may leave unread, beside the snapshot it began with. */
const UNREAD_BYTES_MAX = 256 * 1024;
const RETRY_AFTER_SECONDS = 5;
const HEARTBEAT = Buffer.from(': the line is open\n\n');

export class LiveFeeds {
  readonly #ports: LiveFeedsPorts;
  readonly #dates = new Map<string, WatchedDate>();
  /** What each listener began with; a slow one may take its time over that. */
  readonly #openingBytes = new WeakMap<Listener, number>();
  #listeners = 0;
  #feedsBegun = 0;
  #ticks = 0;
  #isTicking = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(ports: LiveFeedsPorts) {
    this.#ports = ports;
  }

  get listeners(): number {
    return this.#listeners;
  }

  /**
   * A place at a date. Refuses with EVENT_NOT_FOUND, PERFORMANCE_REQUIRED, PERFORMANCE_NOT_FOUND; throws Overloaded when
   * all places are taken.
   */
  async place(slug: string, performanceId: string | null, lastId: string | null): Promise<Place | Refusal> {
    const { directory, listenersMax } = this.#ports;
    if (this.#listeners >= listenersMax) throw new Overloaded('all places are taken', RETRY_AFTER_SECONDS);
    const office = await directory.bySlug(slug);
    if (office === null) return refuse('EVENT_NOT_FOUND', {});
    const date = this.#open(slug, performanceId, office);
    if ('outcome' in date) return date;
    const opening = office.look((state, now) => date.feed.opening(state, now, lastId));
    return { opening, take: (listener) => this.#seat(date, listener, opening.length) };
  }

  /** Forgets a listener whose connection is gone. */
  leave(listener: Listener): void {
    for (const { listeners } of this.#dates.values()) if (listeners.delete(listener)) this.#listeners -= 1;
  }

  /** Sends everybody away; they come back to whoever serves then. */
  close(): void {
    for (const date of [...this.#dates.values()]) this.#end(date);
    this.#rest();
  }

  #open(slug: string, performanceId: string | null, office: BoxOfficePort): WatchedDate | Refusal {
    return office.look((state, now) => {
      const date = isPublished(state) ? findDate(state, performanceId) : refuse('EVENT_NOT_FOUND', {});
      if (isRefusal(date)) return date;
      const key = `${slug} ${date.id}`;
      const known = this.#dates.get(key);
      if (known !== undefined) return known;
      this.#feedsBegun += 1;
      const tag = `${now.toString(36)}${this.#feedsBegun.toString(36)}`;
      const feed = new DateFeed(state, date.id, tag, now);
      const watched: WatchedDate = { key, slug, feed, listeners: new Set(), office, idleTicks: 0 };
      this.#follow(watched);
      return watched;
    });
  }

  #seat(date: WatchedDate, listener: Listener, openingBytes: number): void {
    this.#openingBytes.set(listener, openingBytes);
    date.listeners.add(listener);
    date.idleTicks = 0;
    this.#listeners += 1;
    this.#follow(date);
  }

  #follow(date: WatchedDate): void {
    this.#dates.set(date.key, date);
    this.#timer ??= setInterval(() => this.#tickOnce(), TICK_MS).unref();
  }

  // ── the pace ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A tick that still waits for an event to come alive is not overtaken by the next. */
  #tickOnce(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    void this.#tick().finally(() => (this.#isTicking = false));
  }

  async #tick(): Promise<void> {
    this.#ticks += 1;
    const heartbeat = this.#ticks % HEARTBEAT_TICKS === 0;
    for (const date of [...this.#dates.values()]) {
      if (date.listeners.size === 0 && (date.idleTicks += 1) > IDLE_TICKS_MAX) {
        this.#dates.delete(date.key);
        continue;
      }
      const frame = await this.#nextFrame(date);
      if (frame === 'gone') this.#end(date);
      else if (frame !== null) this.#send(date, frame);
      else if (heartbeat) this.#send(date, HEARTBEAT);
    }
    if (this.#dates.size === 0) this.#rest();
  }

  /** The date's next frame; null when nothing changed or nothing can be read at the moment. */
  async #nextFrame(date: WatchedDate): Promise<Buffer | 'gone' | null> {
    try {
      date.office ??= await this.#ports.directory.bySlug(date.slug);
      if (date.office === null) return 'gone';
      const frame = date.office.look((state, now) => date.feed.next(state, now));
      return frame !== null && !Buffer.isBuffer(frame) ? 'gone' : frame;
    } catch (error) {
      if (!(error instanceof Overloaded)) throw error;
      // The box office was put to sleep or is activated again: the next tick finds the new one.
      date.office = null;
      return null;
    }
  }

  #send(date: WatchedDate, frame: Buffer): void {
    for (const listener of date.listeners) {
      const unreadMax = UNREAD_BYTES_MAX + (this.#openingBytes.get(listener) ?? 0);
      if (listener.writableLength <= unreadMax) listener.write(frame);
      else this.#drop(date, listener);
    }
  }

  #drop(date: WatchedDate, listener: Listener): void {
    date.listeners.delete(listener);
    this.#listeners -= 1;
    listener.destroy();
  }

  #end(date: WatchedDate): void {
    this.#dates.delete(date.key);
    for (const listener of date.listeners) {
      this.#listeners -= 1;
      listener.end();
    }
    date.listeners.clear();
  }

  #rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
