/**
 * The inventory of one performance: how many tickets of each pool are held and sold, and the state of each numbered
 * seat.
 *
 * One object for each performance, and the only code that changes its counters, its seat map and its claims: the
 * methods below `// ── evolve`. The event actor is the one mailbox and turn from which all performances of the event
 * are reached synchronously. So each performance has one writer, and one atomic turn may change several performances
 * without locks. Decisions only read; they keep the tentative stock in `stock-overlay.ts`.
 *
 * 1. In every place pool capacity = available + held + sold + blocked, each ≥ 0; asserted for the touched pools at each
 *    change (I7).
 * 2. A line counts in its offer's pool, its type's pool and its places' pool, always in all three. What a pending
 *    amendment wants beyond its order's own counts in the pools of which it wants more (`claims.ts`).
 * 3. The seats of a kind that are HELD (SOLD, BLOCKED) are as many as its pool counts held (sold, blocked).
 * 4. An impossible change is a defect: it was checked before it became a fact, and facts are not checked again.
 * 5. `version` grows by one with every change of a seat; the newest changes are kept in a ring.
 */
import { ReleaseTimes, placePoolOf, type TimedHoldLine, type TimedHold, type StockLine } from './release-times.ts';
import { heldByLines, statesByLines, type WantedStock } from './claims.ts';
import { invariant } from '../invariant.ts';
import { findSeat, offerOf, type LocalityPlan, type SalePlan, type Offer } from '../catalogue/sale-plan.ts';
import {
  AVAILABLE,
  BLOCK,
  BLOCKED,
  changeSeat,
  createSeatMaps,
  FREE,
  HELD,
  HOLD,
  seatStatusOf,
  SELL,
  SOLD,
  UNBLOCK,
  type SeatMap,
} from './seat-map.ts';
import { readStates, writeStates, type InventorySnapshot } from './snapshot.ts';
import type { SeatStatus } from '#machines/seat.ts';

export interface StockTotals {
  readonly capacity: number;
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
}

export interface SeatChange {
  readonly id: string;
  readonly state: SeatStatus;
}

/** Changes of seats that are remembered for clients that ask what changed; as many as there are seats, up to this. */
const RECENT_CHANGES_MAX = 4_096;

const NO_LINES: readonly TimedHoldLine[] = [];

const NO_PLACES: StockTotals = { capacity: 0, available: 0, held: 0, sold: 0, blocked: 0 };

export class Inventory {
  readonly performanceId: string;
  /** Replaced by `rebase`, with everything that is laid out by it. */
  #plan: SalePlan;
  /** Tickets by pool; only places are ever blocked. */
  #held: Int32Array;
  #sold: Int32Array;
  #blocked: Int32Array;
  #claims: ReleaseTimes;
  /** What orders want beyond their own, by order. */
  readonly #wanted = new Map<string, WantedStock>();
  #seatMaps: readonly (SeatMap | null)[];
  #version = 0;
  /** The seat number (see `SeatMap.firstNumber`) that version v changed, at v % length. */
  #recentChanges: Uint32Array;
  /** No change up to this version is remembered. */
  #forgottenVersion = 0;

  /** The stock of a performance of which nothing is taken yet. */
  constructor(plan: SalePlan, performanceId: string) {
    this.performanceId = performanceId;
    this.#plan = plan;
    this.#held = new Int32Array(plan.poolCount);
    this.#sold = new Int32Array(plan.poolCount);
    this.#blocked = new Int32Array(plan.poolCount);
    this.#seatMaps = createSeatMaps(plan);
    this.#claims = new ReleaseTimes(performanceId, plan, this.#seatMaps, this.#held);
    this.#recentChanges = createRing(plan);
  }

  // ── queries ────────────────────────────────────────────────────────────────────────────────────────────────────────

  get plan(): SalePlan {
    return this.#plan;
  }

  get version(): number {
    return this.#version;
  }

  /** By locality, to be read only; null for a GENERAL one. */
  get seatMaps(): readonly (SeatMap | null)[] {
    return this.#seatMaps;
  }

  /** The most release times that a pool keeps. */
  get longestClaims(): number {
    return this.#claims.longest;
  }

  /**
   * Tickets that an offer can still sell: the least of what its places, its type's quota and its stage's quota leave.
   * Hot.
   */
  left(offer: Offer): number {
    const { ticketType } = offer;
    let places = 0;
    for (const pool of ticketType.placePools) places += this.leftInPool(pool);
    return Math.max(0, Math.min(places, this.leftInPool(ticketType.pool), this.leftInPool(offer.index)));
  }

  /** What a pool's cap leaves; below zero where an update set a quota under what was already taken. Hot. */
  leftInPool(pool: number): number {
    return this.#plan.poolCap[pool]! - this.#held[pool]! - this.#sold[pool]! - this.#blocked[pool]!;
  }

  /** Tickets of ACTIVE and CONVERTED holds in a pool. */
  heldInPool(pool: number): number {
    return this.#held[pool]!;
  }

  soldInPool(pool: number): number {
    return this.#sold[pool]!;
  }

  /** Tickets of an offer that are held or sold. */
  takenOf(offer: Offer): number {
    return this.#held[offer.index]! + this.#sold[offer.index]!;
  }

  /** When the first hold other than `except` with tickets of one of the pools runs out; null when none does. */
  nextRelease(pools: readonly number[], except: TimedHold | null): number | null {
    let next: number | null = null;
    for (const pool of pools) {
      const release = this.#held[pool] === 0 ? null : this.#claims.nextRelease(pool, except);
      if (release !== null && (next === null || release < next)) next = release;
    }
    return next;
  }

  /** The places over all localities, each counted once. */
  totals(): StockTotals {
    return this.#plan.localities.map((locality) => this.totalsOf(locality)).reduce(addTotals, NO_PLACES);
  }

  totalsOf({ firstPlacePool, placePoolCount, capacity }: LocalityPlan): StockTotals {
    let held = 0;
    let sold = 0;
    let blocked = 0;
    for (let pool = firstPlacePool; pool < firstPlacePool + placePoolCount; pool += 1) {
      held += this.#held[pool]!;
      sold += this.#sold[pool]!;
      blocked += this.#blocked[pool]!;
    }
    return { capacity, available: capacity - held - sold - blocked, held, sold, blocked };
  }

  /** Whether there are places and each of them is sold or blocked: nothing is left, and nothing merely held. Hot. */
  isSoldOut(): boolean {
    let placesLeft = 0;
    let capacity = 0;
    for (const { firstPlacePool, placePoolCount, capacity: places } of this.#plan.localities) {
      capacity += places;
      placesLeft += places;
      for (let pool = firstPlacePool; pool < firstPlacePool + placePoolCount; pool += 1) {
        if (this.#held[pool]! > 0) return false;
        placesLeft -= this.#sold[pool]! + this.#blocked[pool]!;
      }
    }
    return capacity > 0 && placesLeft === 0;
  }

  /** The state of a seat; undefined for an id that no locality has. */
  seatState(seatId: string): SeatStatus | undefined {
    const found = findSeat(this.#plan, seatId);
    if (found === null) return undefined;
    return seatStatusOf(this.#seatMaps[found.locality.index]!.states[found.seat]!);
  }

  /** Whether every change after version `since` is remembered. */
  remembersSince(since: number): boolean {
    const remembered = this.#version - since;
    return remembered >= 0 && since >= this.#forgottenVersion && remembered <= this.#recentChanges.length;
  }

  /** The seats that changed after a version since which all changes are remembered, each once in its newest state. */
  changesSince(since: number): readonly SeatChange[] {
    const ring = this.#recentChanges;
    const numbers = new Set<number>();
    for (let version = since + 1; version <= this.#version; version += 1) numbers.add(ring[version % ring.length]!);
    return Array.from(numbers, (number) => {
      const map = this.#seatMaps.findLast(
        (each) => each !== null && each.firstNumber <= number && each.states.length > 0,
      )!;
      const seat = number - map.firstNumber;
      return { id: map.seating.seatIds[seat]!, state: seatStatusOf(map.states[seat]!) };
    });
  }

  // ── evolve ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * A hold takes a line off sale; set the claimant's status and `expiresAt` first. Where a changed hold keeps its
   * window, `before` are its earlier lines: their pools have its claim already, and would otherwise get another entry
   * with every change. Hot.
   */
  take(hold: TimedHold, line: StockLine, before: readonly TimedHoldLine[] = NO_LINES): void {
    const offer = this.#offerOf(line);
    this.#shift(offer, line, null, this.#held, AVAILABLE, HOLD);
    this.#claims.add(offer, hold, line, before);
  }

  /** A held line returns to sale. Hot. */
  giveBack(line: StockLine): void {
    this.#shift(this.#offerOf(line), line, this.#held, null, HELD, FREE);
  }

  /** A held line is sold. */
  sell(line: StockLine): void {
    this.#shift(this.#offerOf(line), line, this.#held, this.#sold, HELD, SELL);
  }

  /** A sold line returns to sale. */
  returnSold(line: StockLine): void {
    this.#shift(this.#offerOf(line), line, this.#sold, null, SOLD, FREE);
  }

  /** A line that had returned to sale is taken and sold in one step, for money that landed late. */
  retake(line: StockLine): void {
    this.#shift(this.#offerOf(line), line, null, this.#held, AVAILABLE, HOLD);
    this.sell(line);
  }

  /**
   * Takes off sale what a pending amendment wants beyond its order's own. `isKnown`: its seats were held in a snapshot,
   * or under the plan before, so that no seat changes.
   */
  claim(orderId: string, claim: WantedStock, isKnown = false): void {
    claim.layOut(this.#plan, this.#seatMaps);
    for (const { map, seat } of claim.seats) {
      changeSeat(map, seat, AVAILABLE, HOLD);
      if (!isKnown) this.#recordChange(map, seat);
    }
    this.#wanted.set(orderId, claim);
    for (const [pool, count] of claim.pools) this.#shiftPool(pool, count, null, this.#held);
    this.#claims.addClaim(claim);
  }

  /** What an order wanted returns to sale, or is about to become its own. */
  endClaim(orderId: string): void {
    const claim = this.#wanted.get(orderId);
    if (claim === undefined) return;
    this.#wanted.delete(orderId);
    claim.end();
    for (const [pool, count] of claim.pools) this.#shiftPool(pool, count, this.#held, null);
    for (const { map, seat } of claim.seats) {
      changeSeat(map, seat, HELD, FREE);
      this.#recordChange(map, seat);
    }
  }

  /** A claimant's window ends at another time, or the inventory was restored or rebased; set `expiresAt` first. */
  reschedule(hold: TimedHold, lines: readonly StockLine[]): void {
    for (const line of lines) this.#claims.add(this.#offerOf(line), hold, line, NO_LINES);
  }

  /** The operator takes seats off sale; each must be AVAILABLE. */
  block(seatIds: readonly string[]): void {
    for (const seatId of seatIds) this.#changeBlocking(seatId, AVAILABLE, BLOCK, 1);
  }

  /** The operator puts seats back on sale; each must be BLOCKED. */
  unblock(seatIds: readonly string[]): void {
    for (const seatId of seatIds) this.#changeBlocking(seatId, BLOCKED, UNBLOCK, -1);
  }

  /** Puts the performance under a new plan without conflicts. Claims begin empty: `reschedule` each live one then. */
  rebase(plan: SalePlan): void {
    const old = { plan: this.#plan, held: heldByLines(this.#held, this.#wanted), sold: this.#sold };
    const oldMaps = this.#seatMaps;
    const states = statesByLines(this.#seatMaps, this.#wanted);
    this.#plan = plan;
    this.#held = new Int32Array(plan.poolCount);
    this.#sold = new Int32Array(plan.poolCount);
    this.#blocked = new Int32Array(plan.poolCount);
    this.#seatMaps = createSeatMaps(plan);
    this.#claims = new ReleaseTimes(this.performanceId, plan, this.#seatMaps, this.#held);
    this.#recentChanges = createRing(plan);
    this.#version += 1;
    this.#forgottenVersion = this.#version;
    for (const { index, ticketTypeId, sellingStageId } of old.plan.offers) {
      const [held, sold] = [old.held[index]!, old.sold[index]!];
      if (held + sold > 0) this.#carryOffer(offerOf(plan, ticketTypeId, sellingStageId)!, held, sold);
    }
    for (const [index, oldMap] of oldMaps.entries()) {
      const map = oldMap === null ? null : this.#seatMapOf(oldMap.locality.id);
      if (oldMap === null || map === null) continue;
      // A blocked seat that the new plan does not have is simply gone.
      states[index]!.forEach((state, oldSeat) => {
        const seat = map.seating.indexOf.get(oldMap.seating.seatIds[oldSeat]!);
        if (seat !== undefined) this.#carrySeat(map, seat, state);
      });
    }
    this.#assertBalanced();
    for (const [orderId, claim] of this.#wanted) this.claim(orderId, claim, true);
  }

  // ── snapshot ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * The stock for JSON, without what follows: counters of pools from offers and seats, what orders want from orders.
   */
  snapshot(): InventorySnapshot {
    const held = heldByLines(this.#held, this.#wanted);
    const states = statesByLines(this.#seatMaps, this.#wanted);
    const offers = this.#plan.offers.filter(({ index }) => held[index]! + this.#sold[index]! > 0);
    return {
      performanceId: this.performanceId,
      version: this.#version,
      rows: offers.map(({ index, ticketTypeId, sellingStageId }) => [
        ticketTypeId,
        sellingStageId,
        held[index]!,
        this.#sold[index]!,
      ]),
      seatMaps: this.#seatMaps.flatMap((map, index) =>
        map === null
          ? []
          : [
              {
                localityId: map.locality.id,
                fingerprint: map.seating.fingerprint,
                states: writeStates(states[index]!),
              },
            ],
      ),
    };
  }

  /**
   * The stock that a snapshot describes, under the plan of its definition. Claims are not kept in snapshots:
   * `reschedule` every live one afterwards, and `claim` what orders want.
   */
  static restore(plan: SalePlan, snapshot: InventorySnapshot): Inventory {
    const inventory = new Inventory(plan, snapshot.performanceId);
    inventory.#version = snapshot.version;
    inventory.#forgottenVersion = snapshot.version;
    for (const { localityId, fingerprint, states } of snapshot.seatMaps) {
      const map = inventory.#seatMapOf(localityId);
      invariant(map !== null, `a snapshot has seats of its plan's localities, but the plan has none in ${localityId}`);
      invariant(
        map.seating.fingerprint === fingerprint,
        `a snapshot has the seats of its plan, but not in ${localityId}`,
      );
      readStates(states, map.states.length).forEach((state, seat) => inventory.#carrySeat(map, seat, state));
    }
    for (const [ticketTypeId, sellingStageId, held, sold] of snapshot.rows) {
      const offer = offerOf(plan, ticketTypeId, sellingStageId);
      invariant(offer !== undefined, `a snapshot has prices of its plan, but not ${ticketTypeId} in ${sellingStageId}`);
      inventory.#carryOffer(offer, held, sold);
    }
    inventory.#assertBalanced();
    return inventory;
  }

  // ── changes of counters and seats ──────────────────────────────────────────────────────────────────────────────────

  /** Moves a line's tickets from one kind of counter to another in all its pools, and its seats along. Hot. */
  #shift(
    offer: Offer,
    line: StockLine,
    from: Int32Array | null,
    to: Int32Array | null,
    fromState: number,
    trigger: number,
  ): void {
    const { seatIds, ticketCount } = line;
    const { ticketType } = offer;
    this.#shiftPool(offer.index, ticketCount, from, to);
    this.#shiftPool(ticketType.pool, ticketCount, from, to);
    const map = this.#seatMaps[ticketType.locality.index]!;
    if (map === null) {
      invariant(seatIds.length === 0, 'a line of a general locality names no seats');
      this.#shiftPool(ticketType.placePools[0]!, ticketCount, from, to);
      return;
    }
    invariant(seatIds.length === ticketCount, 'a line of a numbered locality names as many seats as tickets');
    for (const seatId of seatIds) {
      const seat = map.seating.indexOf.get(seatId);
      invariant(seat !== undefined, 'a line names seats of its own locality');
      changeSeat(map, seat, fromState, trigger);
      this.#shiftPool(placePoolOf(map, seat), 1, from, to);
      this.#recordChange(map, seat);
    }
  }

  #shiftPool(pool: number, count: number, from: Int32Array | null, to: Int32Array | null): void {
    if (from !== null) {
      from[pool]! -= count;
      invariant(from[pool]! >= 0, 'no more tickets leave a pool than it has (I7)');
      if (from === this.#held && from[pool] === 0) this.#claims.clear(pool);
    }
    if (to !== null) to[pool]! += count;
    const placesFrom = this.#plan.offers.length + this.#plan.ticketTypes.length;
    invariant(pool < placesFrom || this.leftInPool(pool) >= 0, 'no more places are taken than there are (I7)');
  }

  #changeBlocking(seatId: string, from: number, trigger: number, change: number): void {
    const found = findSeat(this.#plan, seatId);
    invariant(found !== null, `a fact names seats of the event, but ${seatId} is in no locality`);
    const map = this.#seatMaps[found.locality.index]!;
    changeSeat(map, found.seat, from, trigger);
    const pool = placePoolOf(map, found.seat);
    this.#blocked[pool]! += change;
    const isLegal = this.#blocked[pool]! >= 0 && this.leftInPool(pool) >= 0;
    invariant(isLegal, 'no more places are blocked than there are (I7)');
    this.#recordChange(map, found.seat);
  }

  #recordChange(map: SeatMap, seat: number): void {
    this.#version += 1;
    this.#recentChanges[this.#version % this.#recentChanges.length] = map.firstNumber + seat;
  }

  /** Counts what an offer had in a snapshot, or under the plan before. */
  #carryOffer(offer: Offer, held: number, sold: number): void {
    const { ticketType } = offer;
    const pools = [offer.index, ticketType.pool];
    if (ticketType.locality.seating === null) pools.push(ticketType.placePools[0]!);
    for (const pool of pools) {
      this.#shiftPool(pool, held, null, this.#held);
      this.#shiftPool(pool, sold, null, this.#sold);
    }
  }

  /**
   * Puts an AVAILABLE seat into the state that it had in a snapshot, or under the plan before; no change, so no
   * version.
   */
  #carrySeat(map: SeatMap, seat: number, state: number): void {
    map.states[seat] = state;
    const pool = placePoolOf(map, seat);
    if (state === HELD) this.#held[pool]! += 1;
    else if (state === SOLD) this.#sold[pool]! += 1;
    else if (state === BLOCKED) this.#blocked[pool]! += 1;
  }

  #assertBalanced(): void {
    for (const locality of this.#plan.localities) {
      const places = this.totalsOf(locality);
      let held = 0;
      let sold = 0;
      for (const offer of this.#plan.offers) {
        if (offer.ticketType.locality !== locality) continue;
        held += this.#held[offer.index]!;
        sold += this.#sold[offer.index]!;
      }
      invariant(
        places.held === held && places.sold === sold && places.available >= 0,
        `the lines of a locality are as many tickets as its places count, but not in ${locality.id} of ${this.performanceId}`,
      );
    }
  }

  #offerOf(line: StockLine): Offer {
    const offer = offerOf(this.#plan, line.ticketTypeId, line.sellingStageId);
    invariant(offer !== undefined, 'a line is of a type and stage that have a price together');
    return offer;
  }

  #seatMapOf(localityId: string): SeatMap | null {
    return this.#seatMaps[this.#plan.localityById.get(localityId)?.index ?? -1] ?? null;
  }
}

function createRing(plan: SalePlan): Uint32Array {
  const seatCount = plan.localities.reduce((sum, { seating }) => sum + (seating?.seatCount ?? 0), 0);
  return new Uint32Array(Math.min(seatCount, RECENT_CHANGES_MAX));
}

function addTotals(a: StockTotals, b: StockTotals): StockTotals {
  return {
    capacity: a.capacity + b.capacity,
    available: a.available + b.available,
    held: a.held + b.held,
    sold: a.sold + b.sold,
    blocked: a.blocked + b.blocked,
  };
}
