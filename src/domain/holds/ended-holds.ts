/**
 * Holds that ended without an order: whole for WHOLE_MS, then without their items.
 *
 * 1. The holds that are still whole are in `hold-records.ts`; this file keeps their ids and when they ended.
 * 2. Which are cut depends on facts and their moments alone, so that a replay cuts the same holds (I9).
 */
import { EndedRecords, type EndedPart } from '../collections/ended-records.ts';
import type { Hold } from './hold-records.ts';

/** How long the items of a hold that ended can be read. */
const WHOLE_MS = 10 * 60 * 1000;

/** Some 45 MB; where more end in ten minutes, the oldest lose their items sooner, but never how they ended. */
const WHOLE_HOLDS_MAX = 100_000;

/** How many holds may lose their items when one ends: more than one, so that many that ended at once are all cut in time. */
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
  /** Adds a hold that just ended, and returns those of which only the end is kept from here on. */
  add(hold: Hold, at: number): readonly Hold[];
  /** A hold of which only the end is kept, to be read only; with a session key only where it is that key's. */
  find(holdId: string, sessionKey: string | null): Hold | undefined;
  /** Those that are whole, in the order in which they ended. */
  whole(): Iterable<WholeRecord>;
  /** How many have lost their items. */
  readonly cutCount: number;
  /** The same by how they ended. Cost: a pass over all of them. */
  cutCounts(): Readonly<Record<EndedStatus, number>>;
  cutParts(recordsMax: number): Iterable<EndedPart>;
  restoreWhole(hold: Hold, endedAt: number): void;
  restoreCut(part: EndedPart): void;
}

export function createEndedHolds(): EndedHolds {
  const whole = new Queue<Whole>();
  const cut = new EndedRecords(STATUSES, 1);
  return {
    add(hold, at) {
      whole.push({ hold, endedAt: at });
      const gone: Hold[] = [];
      while (gone.length < CUT_WITH_ONE) {
        const oldest = whole.first;
        if (oldest === undefined || (oldest.endedAt + WHOLE_MS > at && whole.length <= WHOLE_HOLDS_MAX)) break;
        whole.shift();
        const { id, sessionKey, status, expiresAt } = oldest.hold;
        cut.add(id, sessionKey, { status: status as EndedStatus, times: [expiresAt] }, at);
        gone.push(oldest.hold);
      }
      return gone;
    },
    find(holdId, sessionKey) {
      const found = cut.find(holdId, sessionKey);
      if (found === null) return undefined;
      const { status, times } = found;
      const expiresAt = times[0]!;
      return {
        id: holdId,
        sessionKey: sessionKey ?? '',
        status,
        lines: [],
        expiresAt,
        firstPlacedAt: expiresAt,
        orderId: null,
      };
    },
    *whole() {
      for (const { hold, endedAt } of whole) yield { id: hold.id, endedAt };
    },
    get cutCount() {
      return cut.size;
    },
    cutCounts: () => ({ RELEASED: cut.countOf('RELEASED'), EXPIRED: cut.countOf('EXPIRED') }),
    cutParts: (recordsMax) => cut.parts(recordsMax),
    restoreWhole: (hold, endedAt) => whole.push({ hold, endedAt }),
    restoreCut: (part) => cut.restore(part),
  };
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
