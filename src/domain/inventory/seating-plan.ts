/**
 * A numbered locality, compiled: what never changes about its seats, laid out in flat arrays by seat index.
 *
 * Owns ids, places, zones, rows, aisles and the order in which rows are preferred. What changes from date to
 * date (who holds which seat) belongs to `seat-map.ts`; one plan is shared by all dates of the event.
 * Called by `sale-plan.ts` at activation and at an update, and read by everything that deals with seats.
 *
 * 1. Seats are numbered 0 … seatCount − 1 in the order of the definition: sections, their rows, their seats.
 *    The seats of a row, and the rows of a section, are therefore consecutive.
 * 2. Nothing here is written after `compileSeatingPlan` returned.
 */

import type { NumberedLocality, Point } from '../catalogue/definition.ts';

export interface SeatingPlan {
  readonly localityId: string;
  readonly seatCount: number;
  readonly seatIds: readonly string[];
  readonly indexOf: ReadonlyMap<string, number>;
  readonly labels: readonly string[];
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly zoneKeys: readonly string[];
  /** The zone of each seat, as an index into `zoneKeys`. */
  readonly zoneOf: Uint16Array | Uint32Array;
  /**
   * The kind of place that each seat is. Kinds are counted apart, because not every type may take each of them: kind z is
   * the ordinary seats of zone z; the accessible seats of a zone that has some are a kind of their own behind those.
   */
  readonly kindOf: Uint16Array | Uint32Array;
  /** The zone of each kind; as long as there are kinds. */
  readonly zoneOfKind: readonly number[];
  readonly accessible: Uint8Array;
  readonly restricted: Uint8Array;
  /** 1 where no seat to the left is a neighbour: at the start of a row and behind an aisle. */
  readonly startsRun: Uint8Array;
  /** The length of the longest run of neighbours between aisles: no block is longer. */
  readonly longestRun: number;
  readonly rowCount: number;
  /** The first seat of each row, and `seatCount` at the end: row r is `rowStart[r]` up to before `rowStart[r + 1]`. */
  readonly rowStart: Uint32Array;
  readonly rowOf: Uint32Array;
  readonly rowLabels: readonly string[];
  readonly sectionIdOfRow: readonly string[];
  readonly sectionNameOfRow: readonly string[];
  /** Rows in the order in which they are tried. */
  readonly rowOrder: Uint32Array;
  /** A number that differs between any two plans whose seats are not the same in the same order; kept in snapshots. */
  readonly fingerprint: number;
}

/** What is printed of a seat whose date does not matter. */
export interface SeatFacts {
  readonly id: string;
  readonly sectionId: string;
  readonly sectionName: string;
  readonly rowLabel: string;
  readonly seatLabel: string;
  readonly x: number;
  readonly y: number;
  readonly zoneKey: string;
  readonly accessible: boolean;
  readonly restrictedView: boolean;
}

/** Lays a checked numbered locality out in arrays; rows without seats are left out. Cost: one pass over the seats. */
export function compileSeatingPlan(locality: NumberedLocality): SeatingPlan {
  const rows = locality.sections.flatMap((section) =>
    section.rows.filter((row) => row.seats.length > 0).map((row) => ({ section, row })),
  );
  const seats = rows.flatMap(({ row }) => row.seats);
  const zoneKeys = zoneKeysOf(
    locality,
    seats.map((seat) => seat.zoneKey),
  );
  const zoneIndex = new Map(zoneKeys.map((zoneKey, index) => [zoneKey, index]));
  const rowStart = new Uint32Array(rows.length + 1);
  const rowOf = new Uint32Array(seats.length);
  const startsRun = new Uint8Array(seats.length);
  rows.forEach(({ row }, rowIndex) => {
    const first = rowStart[rowIndex]!;
    rowStart[rowIndex + 1] = first + row.seats.length;
    rowOf.fill(rowIndex, first, first + row.seats.length);
    startsRun[first] = 1;
    for (const seatsBefore of row.aisleAfter) if (seatsBefore < row.seats.length) startsRun[first + seatsBefore] = 1;
  });
  const zoneOf = indexArray(
    2 * zoneKeys.length,
    seats.map((seat) => zoneIndex.get(seat.zoneKey)!),
  );
  const accessible = Uint8Array.from(seats, (seat) => (seat.accessible ? 1 : 0));
  const x = Float64Array.from(seats, (seat) => seat.x);
  const y = Float64Array.from(seats, (seat) => seat.y);
  const seatIds = seats.map((seat) => seat.id);
  return {
    localityId: locality.id,
    seatCount: seats.length,
    seatIds,
    indexOf: new Map(seatIds.map((id, index) => [id, index])),
    labels: seats.map((seat) => seat.label),
    x,
    y,
    zoneKeys,
    zoneOf,
    ...kindsOf(zoneKeys.length, zoneOf, accessible),
    accessible,
    restricted: Uint8Array.from(seats, (seat) => (seat.restrictedView ? 1 : 0)),
    startsRun,
    longestRun: longestRunIn(startsRun),
    rowCount: rows.length,
    rowStart,
    rowOf,
    rowLabels: rows.map(({ row }) => row.label),
    sectionIdOfRow: rows.map(({ section }) => section.id),
    sectionNameOfRow: rows.map(({ section }) => section.name),
    rowOrder: orderRows(rows.length, rowStart, x, y, locality.focalPoint),
    fingerprint: fingerprintOf(seatIds),
  };
}

/** What the API prints of one seat, by its index. */
export function seatFacts(plan: SeatingPlan, seat: number): SeatFacts {
  const row = plan.rowOf[seat]!;
  return {
    id: plan.seatIds[seat]!,
    sectionId: plan.sectionIdOfRow[row]!,
    sectionName: plan.sectionNameOfRow[row]!,
    rowLabel: plan.rowLabels[row]!,
    seatLabel: plan.labels[seat]!,
    x: plan.x[seat]!,
    y: plan.y[seat]!,
    zoneKey: plan.zoneKeys[plan.zoneOf[seat]!]!,
    accessible: plan.accessible[seat] === 1,
    restrictedView: plan.restricted[seat] === 1,
  };
}

/** The ids of seats given by index, in the order given. */
export function seatIdsAt(plan: SeatingPlan, seats: readonly number[]): string[] {
  return seats.map((seat) => plan.seatIds[seat]!);
}

/** The listed zones first, in their order, then zones that only seats name. */
function zoneKeysOf(locality: NumberedLocality, seatZoneKeys: readonly string[]): string[] {
  return [...new Set([...locality.zones.map((zone) => zone.zoneKey), ...seatZoneKeys])];
}

/** Sorts seats into kinds: those of a zone that are ordinary, and those that are accessible. */
function kindsOf(
  zoneCount: number,
  zoneOf: Uint16Array | Uint32Array,
  accessible: Uint8Array,
): Pick<SeatingPlan, 'kindOf' | 'zoneOfKind'> {
  const zoneOfKind = Array.from({ length: zoneCount }, (_, zone) => zone);
  const accessibleKind = new Map<number, number>();
  const kinds = Array.from(zoneOf, (zone, seat) => {
    if (accessible[seat] !== 1) return zone;
    const known = accessibleKind.get(zone);
    if (known !== undefined) return known;
    accessibleKind.set(zone, zoneOfKind.length);
    return zoneOfKind.push(zone) - 1;
  });
  return { kindOf: indexArray(zoneOfKind.length, kinds), zoneOfKind };
}

/** Indexes below `count` in the narrowest array that has room for them. */
function indexArray(count: number, indexes: readonly number[]): Uint16Array | Uint32Array {
  return count <= 0x1_0000 ? Uint16Array.from(indexes) : Uint32Array.from(indexes);
}

function longestRunIn(startsRun: Uint8Array): number {
  let longest = 0;
  let length = 0;
  for (const starts of startsRun) {
    length = starts === 1 ? 1 : length + 1;
    if (length > longest) longest = length;
  }
  return longest;
}

/**
 * As listed, or nearest first when there is a focal point; rows equally near stay as listed. Distances are compared in
 * millionths, so that rows which a drawing program placed symmetrically are not told apart by its rounding.
 */
function orderRows(
  rowCount: number,
  rowStart: Uint32Array,
  x: Float64Array,
  y: Float64Array,
  focalPoint: Point | null,
): Uint32Array {
  const order = Uint32Array.from({ length: rowCount }, (_, row) => row);
  if (focalPoint === null) return order;
  const distance = Float64Array.from(order, (row) => {
    const first = rowStart[row]!;
    const last = rowStart[row + 1]! - 1;
    const dx = (x[first]! + x[last]!) / 2 - focalPoint.x;
    const dy = (y[first]! + y[last]!) / 2 - focalPoint.y;
    return Math.round(Math.hypot(dx, dy) * 1e6);
  });
  return order.sort((a, b) => distance[a]! - distance[b]! || a - b);
}

/** FNV-1a over all ids with a separator, 32 bits. */
function fingerprintOf(seatIds: readonly string[]): number {
  let hash = 0x811c9dc5;
  for (const id of seatIds) {
    for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 0xffff, 0x01000193);
  }
  return hash >>> 0;
}
