/**
 * Holds that ended without an order: whole for WHOLE_MS, then without their items. A replaced hold loses its items at
 * once: its session has those of the next hold, and may replace holds again and again.
 *
 * 1. The holds that are still whole are in `hold-records.ts`; this file keeps their ids and when they ended.
 * 2. Which are cut depends on facts and their moments alone, so that a replay cuts the same holds (I9).
 * 3. The bytes of whole holds are bounded; they follow from the lines. Where more holds end in ten minutes, the oldest
 *    lose their items sooner, but how they ended is still kept.
 */
import { EndedRecords, type EndedPart } from '../collections/ended-records.ts';
import type { Hold } from './hold-records.ts';
import type { HoldTrigger } from '#machines/hold.ts';

/** How long the items of a hold that ended can be read. */
const WHOLE_MS = 10 * 60 * 1000;

/** What the whole holds of an event may take: some 100,000 of one line (rule 3). */
export const WHOLE_BYTES_MAX = 48 * 1024 * 1024;

/** What a hold takes, measured: its record with its ids, a line, and a seat, whose id is the plan's. */
const HOLD_BYTES = 320;
const LINE_BYTES = 144;
const SEAT_BYTES = 12;

/**
 * How many holds may lose their items when one ends, because their time is over: more than one, so that many that ended
 * at once are all cut in time.
 */
const CUT_WITH_ONE = 4;

/** Snapshots keep the index of a name: add new names at the end. */
const STATUSES = ['RELEASED', 'EXPIRED'] as const;

type EndedStatus = (typeof STATUSES)[number];

interface Whole {
  readonly hold: Hold;
  readonly endedAt: number;
}

/** How a whole hold is kept in a snapshot, beside the hold itself. */
export interface WholeRecord {
  readonly id: string;
  readonly endedAt: number;
}

export interface EndedHolds {
  /** Adds a hold that just ended by a trigger, and returns those of which only the end is kept from here on. */
  add(hold: Hold, trigger: HoldTrigger, at: number): readonly Hold[];
  /**
   * A hold of which only the end is kept, to be read only. Where a session key is given, the hold must be of that
   * session.
   */
  find(holdId: string, sessionKey: string | null): Hold | undefined;
  /** Those that are whole, in the order in which they ended. */
  whole(): Iterable<WholeRecord>;
  /** Cuts so many whole holds, the oldest first, and returns them. */
  cutOldest(count: number, at: number): readonly Hold[];
  readonly wholeCount: number;
  /** What those that are whole take in memory, about. */
  readonly wholeBytes: number;
  /** How many have lost their items. */
  readonly cutCount: number;
  /** What they take in memory, about. */
  readonly cutBytes: number;
  /** Forgets those that lost their items within the oldest ten minutes, before their time. */
  dropOldest(): void;
  /** How many have lost their items, by how they ended. Cost: a pass over all of them. */
  cutCounts(): Readonly<Record<EndedStatus, number>>;
  cutParts(recordsMax: number): Iterable<EndedPart>;
  restoreWhole(hold: Hold, endedAt: number): void;
  restoreCut(part: EndedPart): void;
}

export function createEndedHolds(): EndedHolds {
  const whole = new Queue<Whole>();
  const cut = new EndedRecords(STATUSES, 1);
  let wholeBytes = 0;
  const addWhole = (hold: Hold, endedAt: number): void => {
    whole.push({ hold, endedAt });
    wholeBytes += bytesOf(hold);
  };
  const addCut = ({ id, sessionKey, status, expiresAt }: Hold, at: number): void =>
    cut.add(id, sessionKey, { status: status as EndedStatus, times: [expiresAt] }, at);
  /** Cuts the oldest of those that are whole. */
  const cutFirst = (at: number): Hold => {
    const { hold } = whole.first!;
    whole.shift();
    wholeBytes -= bytesOf(hold);
    addCut(hold, at);
    return hold;
  };
  return {
    add(hold, trigger, at) {
      const gone: Hold[] = [];
      if (trigger === 'REPLACE') {
        addCut(hold, at);
        gone.push(hold);
      } else addWhole(hold, at);
      const inTimeMax = gone.length + CUT_WITH_ONE;
      for (let oldest = whole.first; oldest !== undefined; oldest = whole.first) {
        const isOver = oldest.endedAt + WHOLE_MS <= at && gone.length < inTimeMax;
        if (wholeBytes <= WHOLE_BYTES_MAX && !isOver) break;
        gone.push(cutFirst(at));
      }
      return gone;
    },
    cutOldest(count, at) {
      const gone: Hold[] = [];
      while (gone.length < count && whole.length > 0) gone.push(cutFirst(at));
      return gone;
    },
    find(holdId, sessionKey) {
      const found = cut.find(holdId, sessionKey);
      return found === null ? undefined : cutHold(holdId, sessionKey, found.status, found.times[0]!);
    },
    *whole() {
      for (const { hold, endedAt } of whole) yield { id: hold.id, endedAt };
    },
    get wholeCount() {
      return whole.length;
    },
    get wholeBytes() {
      return wholeBytes;
    },
    get cutCount() {
      return cut.size;
    },
    get cutBytes() {
      return cut.bytes;
    },
    dropOldest: () => cut.dropOldest(),
    cutCounts: () => ({ RELEASED: cut.countOf('RELEASED'), EXPIRED: cut.countOf('EXPIRED') }),
    cutParts: (recordsMax) => cut.parts(recordsMax),
    restoreWhole: addWhole,
    restoreCut: (part) => cut.restore(part),
  };
}

function cutHold(id: string, sessionKey: string | null, status: EndedStatus, expiresAt: number): Hold {
  return { id, sessionKey: sessionKey ?? '', status, lines: [], expiresAt, firstPlacedAt: expiresAt, orderId: null };
}

function bytesOf({ lines }: Hold): number {
  return lines.reduce((sum, { seatIds }) => sum + LINE_BYTES + SEAT_BYTES * seatIds.length, HOLD_BYTES);
}

/** First in, first out, in constant time; `shift` of an array moves all that is behind. */
class Queue<Item> implements Iterable<Item> {
  #items: (Item | undefined)[] = [];
  #begin = 0;

  get length(): number {
    return this.#items.length - this.#begin;
  }

  get first(): Item | undefined {
    return this.#items[this.#begin];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): void {
    this.#items[this.#begin] = undefined;
    this.#begin += 1;
    if (this.#begin < 1_024 || this.#begin * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#begin);
    this.#begin = 0;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (let index = this.#begin; index < this.#items.length; index += 1) yield this.#items[index]!;
  }
}
