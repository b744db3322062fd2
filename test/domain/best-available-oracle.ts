/**
 * Best available by the words of the contract and nothing else: every block of every row is written down, graded, and the
 * best one picked. Shares no code with what it judges.
 */

export interface PlainSeat {
  readonly id: string;
  readonly free: boolean;
  readonly zone: string;
  readonly accessible: boolean;
  readonly restricted: boolean;
  readonly aisleBefore: boolean;
  readonly x: number;
  readonly y: number;
}

export interface PlainType {
  /** Null: every zone. */
  readonly zones: readonly string[] | null;
  readonly accessible: boolean;
}

/** The ids of the best block of `count` seats, rows given in the order in which they are tried; null when there is none. */
export function plainBestBlock(
  rows: readonly (readonly PlainSeat[])[],
  type: PlainType,
  count: number,
): string[] | null {
  const blocks = rows.flatMap((row, rank) => blocksOf(row, rank, type, count));
  const best = blocks.reduce<Block | null>((a, b) => (a === null || isBetter(b, a) ? b : a), null);
  return best === null ? null : best.ids;
}

export function plainLargestBlock(rows: readonly (readonly PlainSeat[])[], type: PlainType): number {
  const longest = Math.max(0, ...rows.map((row) => row.length));
  for (let count = longest; count > 0; count -= 1) {
    if (rows.some((row) => blocksOf(row, 0, type, count).length > 0)) return count;
  }
  return 0;
}

/** One-seat gaps between the seats [start, start + count) and what stops the row on either side. */
export function plainOrphans(row: readonly PlainSeat[], start: number, count: number): number {
  let toTheLeft = 0;
  for (let i = start; i > 0 && !row[i]!.aisleBefore && row[i - 1]!.free; i -= 1) toTheLeft += 1;
  let toTheRight = 0;
  for (let i = start + count; i < row.length && !row[i]!.aisleBefore && row[i]!.free; i += 1) toTheRight += 1;
  return (toTheLeft === 1 ? 1 : 0) + (toTheRight === 1 ? 1 : 0);
}

export function plainDistance(row: readonly PlainSeat[], start: number, count: number): number {
  const middle = (seats: readonly PlainSeat[]) => ({
    x: (seats[0]!.x + seats.at(-1)!.x) / 2,
    y: (seats[0]!.y + seats.at(-1)!.y) / 2,
  });
  const ofRow = middle(row);
  const ofBlock = middle(row.slice(start, start + count));
  return Math.hypot(ofRow.x - ofBlock.x, ofRow.y - ofBlock.y);
}

interface Block {
  readonly ids: string[];
  /** Restricted, orphans, rank of the row, distance, first seat. */
  readonly grade: readonly number[];
}

function blocksOf(row: readonly PlainSeat[], rank: number, type: PlainType, count: number): Block[] {
  const blocks: Block[] = [];
  for (let start = 0; start + count <= row.length; start += 1) {
    const seats = row.slice(start, start + count);
    if (seats.some((seat, i) => i > 0 && seat.aisleBefore)) continue;
    if (!seats.every((seat) => seat.free && seat.accessible === type.accessible)) continue;
    if (!seats.every((seat) => type.zones === null || type.zones.includes(seat.zone))) continue;
    const restricted = seats.some((seat) => seat.restricted) ? 1 : 0;
    const grade = [restricted, plainOrphans(row, start, count), rank, plainDistance(row, start, count), start];
    blocks.push({ ids: seats.map((seat) => seat.id), grade });
  }
  return blocks;
}

function isBetter(a: Block, b: Block): boolean {
  const place = a.grade.findIndex((value, i) => value !== b.grade[i]);
  return place >= 0 && a.grade[place]! < b.grade[place]!;
}
