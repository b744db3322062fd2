/**
 * When the held tickets of each pool return: the ends of the windows of the holds that claim them.
 *
 * Owns one heap for each pool that has a cap. Entries go stale when a hold ends, moves or changes its lines
 * (`lazy-heap.ts`).
 */
import { LazyHeap } from '../collections/lazy-heap.ts';
import { offerOf, UNCAPPED, type SalePlan, type Offer } from '../catalogue/sale-plan.ts';
import type { SeatMap } from './seat-map.ts';

/**
 * Tickets of one offer of a performance; `seatIds` are as many as the tickets on numbered seating and none elsewhere.
 */
export interface StockLine {
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly ticketCount: number;
  readonly seatIds: readonly string[];
}

export interface TimedHoldLine extends StockLine {
  readonly performanceId: string;
}

/** A hold, as far as the stock that it claims is concerned; its lines may be of several performances. */
export interface TimedHold {
  readonly status: string;
  readonly expiresAt: number;
  readonly lines: readonly TimedHoldLine[];
  /** For a claim by pool and not by line: how many tickets of each pool. */
  readonly pools?: ReadonlyMap<number, number>;
}

export class ReleaseTimes {
  readonly #performanceId: string;
  readonly #plan: SalePlan;
  readonly #seatMaps: readonly (SeatMap | null)[];
  /** Tickets by pool: at least as many as claims. */
  readonly #held: Int32Array;
  /** By pool; null where a pool has no cap, so that no request waits for it. */
  readonly #heaps: readonly (LazyHeap<TimedHold> | null)[];

  constructor(performanceId: string, plan: SalePlan, seatMaps: readonly (SeatMap | null)[], held: Int32Array) {
    this.#performanceId = performanceId;
    this.#plan = plan;
    this.#seatMaps = seatMaps;
    this.#held = held;
    this.#heaps = Array.from(plan.poolCap, (cap) => (cap === UNCAPPED ? null : new LazyHeap()));
  }

  /** The most entries that any pool keeps, stale ones included. */
  get longest(): number {
    return this.#heaps.reduce((longest, heap) => Math.max(longest, heap?.length ?? 0), 0);
  }

  /**
   * Notes that a claimant's tickets of a line return at its `expiresAt`; not again in pools of which `before` had
   * tickets. Hot.
   */
  add(offer: Offer, hold: TimedHold, line: StockLine, before: readonly TimedHoldLine[]): void {
    const { ticketType } = offer;
    this.#addIn(offer.index, hold, before);
    this.#addIn(ticketType.pool, hold, before);
    const map = this.#seatMaps[ticketType.locality.index]!;
    if (map === null) {
      this.#addIn(ticketType.placePools[0]!, hold, before);
      return;
    }
    let lastPool = -1;
    for (const seatId of line.seatIds) {
      const pool = placePoolOf(map, map.seating.indexOf.get(seatId)!);
      if (pool !== lastPool) this.#addIn(pool, hold, before);
      lastPool = pool;
    }
  }

  /** The same for a claim by pool. */
  addClaim(claim: TimedHold & { readonly pools: ReadonlyMap<number, number> }): void {
    for (const pool of claim.pools.keys()) this.#addIn(pool, claim, []);
  }

  /** When the first claimant other than `except` with tickets of a pool ends; null when none does. */
  nextRelease(pool: number, except: TimedHold | null): number | null {
    const stands = (hold: TimedHold, at: number): boolean =>
      stillEndsAt(hold, at) && (hold.pools?.has(pool) ?? this.#haveTicketsOf(hold.lines, pool));
    return this.#heaps[pool]?.first(stands, except)?.at ?? null;
  }

  /** No tickets of the pool are claimed any more. */
  clear(pool: number): void {
    this.#heaps[pool]?.clear();
  }

  #addIn(pool: number, hold: TimedHold, before: readonly TimedHoldLine[]): void {
    const heap = this.#heaps[pool]!;
    if (heap === null) return;
    if (before.length > 0 && heap.length > 0 && this.#haveTicketsOf(before, pool)) return;
    heap.add(hold, hold.expiresAt);
    heap.clean(stillEndsAt, this.#held[pool]);
  }

  /** Whether any of the lines has tickets of a pool at this performance. */
  #haveTicketsOf(lines: readonly TimedHoldLine[], pool: number): boolean {
    for (const { performanceId, ticketTypeId, sellingStageId, seatIds } of lines) {
      if (performanceId !== this.#performanceId) continue;
      const offer = offerOf(this.#plan, ticketTypeId, sellingStageId);
      if (offer === undefined) continue;
      const { ticketType } = offer;
      if (pool === offer.index || pool === ticketType.pool) return true;
      const map = this.#seatMaps[ticketType.locality.index]!;
      if (map === null ? pool === ticketType.placePools[0] : hasSeatOf(map, seatIds, pool)) return true;
    }
    return false;
  }
}

/** The pool that a seat's place counts in. */
export function placePoolOf(map: SeatMap, seat: number): number {
  return map.locality.firstPlacePool + map.seating.kindOf[seat]!;
}

function hasSeatOf(map: SeatMap, seatIds: readonly string[], pool: number): boolean {
  return seatIds.some((seatId) => placePoolOf(map, map.seating.indexOf.get(seatId)!) === pool);
}

/** Whether a claimant is live and its window still ends at a moment that was noted. */
function stillEndsAt(hold: TimedHold, at: number): boolean {
  return hold.expiresAt === at && (hold.status === 'ACTIVE' || hold.status === 'CONVERTED');
}
