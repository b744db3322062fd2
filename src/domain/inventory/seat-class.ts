/**
 * A class of seats: those that ticket types with the same zones and the same `accessible` may be assigned.
 *
 * Owns which seats belong and how their rows are grouped into buckets, the leaves of the index that
 * `block-index.ts` keeps for each date. Compiled by `sale-plan.ts`, shared by all dates and never written again.
 *
 * 1. `rows` are the rows with at least one seat of the class, in the order in which they are tried.
 * 2. A bucket is a stretch of `rows`, so the first bucket that has a block holds the first row that has one.
 * 3. A bucket has at least 32 seats for each word of its masks (the last one excepted), so that an index
 *    takes about 1.5 bytes for each seat, whatever the length of the rows.
 */

import type { SeatingPlan } from './seating-plan.ts';

/** Block sizes that an index answers by a look at its root; 7 words of 32 bits. Larger ones are looked for row by row. */
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

/** Finds the seats of the zones (1 for each that counts) that are accessible, or that are not, and groups their rows. */
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
