/**
 * The places that an order with a pending amendment wants at a performance beyond its own: held until they are paid.
 *
 * 1. A claim counts by pool and not by line. The order's own tickets count as free for it, so a pool changes only by
 *    what is wanted beyond them. Each numbered seat that the order does not have yet is held.
 */
import { invariant } from '../invariant.ts';
import { offerOf, type SalePlan } from '../catalogue/sale-plan.ts';
import { placePoolOf, type StockLine, type TimedHold } from './release-times.ts';
import { AVAILABLE, type SeatMap } from './seat-map.ts';

/** A seat that is held by a claim. */
interface ClaimedSeat {
  readonly map: SeatMap;
  readonly seat: number;
}

export class WantedStock implements TimedHold {
  #isOver = false;
  readonly expiresAt: number;
  /** It claims by pool alone. */
  readonly lines = [];
  pools: ReadonlyMap<number, number> = new Map();
  seats: readonly ClaimedSeat[] = [];
  readonly #before: readonly StockLine[];
  readonly #after: readonly StockLine[];

  /** Lines of one performance: those that the order has, and those that it is to have. */
  constructor(expiresAt: number, before: readonly StockLine[], after: readonly StockLine[]) {
    this.expiresAt = expiresAt;
    this.#before = before;
    this.#after = after;
  }

  get status(): 'CONVERTED' | 'RELEASED' {
    return this.#isOver ? 'RELEASED' : 'CONVERTED';
  }

  /** The places are no longer wanted. */
  end(): void {
    this.#isOver = true;
  }

  /** Counts it by the pools of a plan (rule 1). */
  layOut(plan: SalePlan, seatMaps: readonly (SeatMap | null)[]): void {
    const counts = new Map<number, number>();
    const count = (pool: number, tickets: number): void => void counts.set(pool, (counts.get(pool) ?? 0) + tickets);
    const own = new Set(this.#before.flatMap(({ seatIds }) => seatIds));
    const seats: ClaimedSeat[] = [];
    const countLine = (line: StockLine, sign: 1 | -1): void => {
      const offer = offerOf(plan, line.ticketTypeId, line.sellingStageId);
      invariant(offer !== undefined, 'a line is of a type and stage that have a price together');
      const { ticketType } = offer;
      const pools = [offer.index, ticketType.pool];
      const map = seatMaps[ticketType.locality.index]!;
      if (map === null) pools.push(ticketType.placePools[0]!);
      for (const pool of pools) count(pool, sign * line.ticketCount);
      if (map === null || sign === -1) return;
      for (const seatId of line.seatIds) {
        if (!own.has(seatId)) seats.push({ map, seat: map.seating.indexOf.get(seatId)! });
      }
    };
    for (const line of this.#after) countLine(line, 1);
    for (const line of this.#before) countLine(line, -1);
    for (const { map, seat } of seats) count(placePoolOf(map, seat), 1);
    this.pools = new Map([...counts].filter(([, tickets]) => tickets > 0));
    this.seats = seats;
  }
}

type Claims = ReadonlyMap<string, WantedStock>;

/** Tickets by pool that lines hold, without those that claims hold. */
export function heldByLines(held: Int32Array, claims: Claims): Int32Array {
  if (claims.size === 0) return held;
  const left = held.slice();
  for (const { pools } of claims.values()) for (const [pool, count] of pools) left[pool]! -= count;
  return left;
}

/** The states of seats by locality, without the seats that claims hold. */
export function statesByLines(seatMaps: readonly (SeatMap | null)[], claims: Claims): readonly (Uint8Array | null)[] {
  const claimed = [...claims.values()].flatMap(({ seats }) => seats);
  return seatMaps.map((map) => {
    const seats = claimed.filter((each) => each.map === map);
    if (map === null || seats.length === 0) return map?.states ?? null;
    const states = map.states.slice();
    for (const { seat } of seats) states[seat] = AVAILABLE;
    return states;
  });
}
