/**
 * A numbered locality, compiled: what never changes about its seats, laid out in flat arrays by seat index.
 *
 * Owns ids, coordinates, zones, rows, aisles, the order in which rows are preferred, and the classes of seats that
 * ticket types may be assigned. One plan serves all performances of the event; the states of seats belong to
 * `inventory/seat-map.ts`.
 *
 * 1. Seats are numbered 0 … seatCount − 1 in the order of the definition: sections, their rows, their seats.
 *    The seats of a row, and the rows of a section, are therefore consecutive.
 * 2. A class has the seats that types with the same zones and the same `accessible` may be assigned. Its `rows` are the
 *    rows with at least one of its seats, in the order in which they are tried.
 * 3. A bucket is a stretch of a class's rows, the leaf of an index of free blocks (`inventory/block-index.ts`): the
 *    first bucket that has a block holds the first row that has one. A bucket has at least 32 seats for each word of
 *    its masks (the last one excepted), so that an index takes about 1.5 bytes for each seat, whatever the length of
 *    the rows.
 * 4. Nothing here is written after it was compiled.
 */
import type { NumberedLocality, Point, SeatDefinition } from './definition.ts';

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
   * The kind of place that each seat is. Kinds are counted apart, because not every type may take each of them. Kind z
   * is the ordinary seats of zone z; behind these kinds, the accessible seats of a zone that has some are one kind
   * each.
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

/** What is shown of a seat at any performance. */
export interface SeatFacts extends Omit<SeatDefinition, 'label'> {
  readonly sectionId: string;
  readonly sectionName: string;
  readonly rowLabel: string;
  readonly seatLabel: string;
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

/** The same by the index of the seat. */
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
 * millionths, so that rows which a drawing program placed symmetrically count as equal despite its rounding.
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

/** Block sizes that an index answers from its root; 7 words of 32 bits. Larger ones are looked for row by row. */
export const INDEXED_SIZE_MAX = 224;

const WORD_BITS = 32;

export interface SeatClass {
  readonly index: number;
  readonly key: string;
  /** 1 for each seat that may be assigned. */
  readonly member: Uint8Array;
  /** 1 for each seat that may be assigned and has an unrestricted view. */
  readonly clearMember: Uint8Array;
  /** Whether any of its seats has a restricted view. */
  readonly hasRestricted: boolean;
  readonly rows: Uint32Array;
  /** Where each bucket begins in `rows`, and `rows.length` at the end. */
  readonly bucketStart: Uint32Array;
  readonly bucketCount: number;
  /** The bucket of each row of the plan, or -1. */
  readonly bucketOfRow: Int32Array;
  /** Words of a mask of block sizes; size n is bit (n - 1) % 32 of word floor((n - 1) / 32). */
  readonly wordCount: number;
}

/**
 * Finds the seats of the zones (1 for each that counts) that are accessible, or that are not, and groups their rows.
 */
export function compileSeatClass(
  seating: SeatingPlan,
  index: number,
  key: string,
  zones: Uint8Array,
  accessible: boolean,
): SeatClass {
  const member = new Uint8Array(seating.seatCount);
  const clearMember = new Uint8Array(seating.seatCount);
  let hasRestricted = false;
  for (let seat = 0; seat < seating.seatCount; seat += 1) {
    if (zones[seating.zoneOf[seat]!] !== 1 || (seating.accessible[seat] === 1) !== accessible) continue;
    member[seat] = 1;
    if (seating.restricted[seat] === 1) hasRestricted = true;
    else clearMember[seat] = 1;
  }
  const rows = seating.rowOrder.filter((row) =>
    member.subarray(seating.rowStart[row]!, seating.rowStart[row + 1]!).includes(1),
  );
  const wordCount = Math.max(1, Math.ceil(Math.min(seating.longestRun, INDEXED_SIZE_MAX) / WORD_BITS));
  const bucketStart = groupRows(seating, rows, WORD_BITS * wordCount);
  const bucketCount = bucketStart.length - 1;
  const bucketOfRow = new Int32Array(seating.rowCount).fill(-1);
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    for (let i = bucketStart[bucket]!; i < bucketStart[bucket + 1]!; i += 1) bucketOfRow[rows[i]!] = bucket;
  }
  return { index, key, member, clearMember, hasRestricted, rows, bucketStart, bucketCount, bucketOfRow, wordCount };
}

function groupRows(seating: SeatingPlan, rows: Uint32Array, bucketSeatsMin: number): Uint32Array {
  const starts = [0];
  let seats = 0;
  rows.forEach((row, i) => {
    if (seats >= bucketSeatsMin) {
      starts.push(i);
      seats = 0;
    }
    seats += seating.rowStart[row + 1]! - seating.rowStart[row]!;
  });
  if (rows.length > 0) starts.push(rows.length);
  return Uint32Array.from(starts);
}
