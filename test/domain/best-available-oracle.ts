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
  return bestOf(blocks)?.ids ?? null;
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

/**
 * The best block for an item of an accessible type and the one beside it for an item of another type: every pair of blocks is
 * written down. In one row with no aisle between, the nearest pair; where no row has one, the best block and the nearest to it.
 */
export function plainParty(
  rows: readonly (readonly PlainSeat[])[],
  first: { readonly type: PlainType; readonly count: number },
  companion: { readonly type: PlainType; readonly count: number },
): { readonly first: string[]; readonly companion: string[] | null } | null {
  const all = rows.flatMap((row, rank) => blocksOf(row, rank, first.type, first.count));
  const seconds = rows.flatMap((row, rank) => blocksOf(row, rank, companion.type, companion.count));
  const unrestricted = all.filter(({ grade }) => grade[0] === 0);
  const firsts = unrestricted.length > 0 ? unrestricted : all;
  const pairs = firsts.flatMap((one) => seconds.flatMap((other) => pairOf(rows, one, other)));
  const best = bestOf(pairs);
  if (best !== null) return { first: best.one.ids, companion: best.other.ids };
  const alone = bestOf(all);
  if (alone === null) return null;
  const taken = rows.map((row) => row.map((seat) => ({ ...seat, free: seat.free && !alone.ids.includes(seat.id) })));
  const nearest = bestOf(
    taken.flatMap((row, rank) =>
      blocksOf(row, rank, companion.type, companion.count).map((block) => {
        const [restricted, orphans, , , start] = block.grade;
        const { x, y } = middleOf(rows, block);
        const away = Math.hypot(x - middleOf(rows, alone).x, y - middleOf(rows, alone).y);
        return { ids: block.ids, grade: [away, Math.abs(rank - alone.grade[2]!), restricted!, orphans!, rank, start!] };
      }),
    ),
  );
  return { first: alone.ids, companion: nearest?.ids ?? null };
}

/** Two blocks in one stretch of a row, as one; nothing where they overlap or an aisle lies between. */
function pairOf(rows: readonly (readonly PlainSeat[])[], one: Block, other: Block) {
  const rank = one.grade[2]!;
  if (other.grade[2] !== rank || one.ids.some((id) => other.ids.includes(id))) return [];
  const row = rows[rank]!;
  const places = [...one.ids, ...other.ids].map((id) => row.findIndex((seat) => seat.id === id));
  const start = Math.min(...places);
  const end = Math.max(...places);
  if (row.slice(start + 1, end + 1).some((seat) => seat.aisleBefore)) return [];
  const gap = end - start + 1 - places.length;
  const taken = row.map((seat, i) => ({ ...seat, free: seat.free && !places.includes(i) }));
  const isAlone = (i: number) => taken[i]?.free === true && !joins(taken, i - 1, i) && !joins(taken, i, i + 1);
  const besides = new Set(places.flatMap((i) => [...neighboursOf(row, i)]).filter(isAlone));
  const middle = plainDistance(row, start, end - start + 1);
  const grade = [gap, other.grade[0]!, besides.size, rank, middle, start, one.grade[4]!];
  return [{ one, other, grade }];
}

/** Whether two places of a row are free neighbours. */
function joins(row: readonly PlainSeat[], left: number, right: number): boolean {
  return row[left]?.free === true && row[right]?.free === true && !row[right].aisleBefore;
}

function neighboursOf(row: readonly PlainSeat[], i: number): number[] {
  const left = row[i]!.aisleBefore ? [] : [i - 1];
  return row[i + 1] === undefined || row[i + 1]!.aisleBefore ? left : [...left, i + 1];
}

function middleOf(rows: readonly (readonly PlainSeat[])[], { ids }: Block): { x: number; y: number } {
  const seats = rows.flat().filter((seat) => ids.includes(seat.id));
  return { x: (seats[0]!.x + seats.at(-1)!.x) / 2, y: (seats[0]!.y + seats.at(-1)!.y) / 2 };
}

function bestOf<Graded extends { readonly grade: readonly number[] }>(all: readonly Graded[]): Graded | null {
  return all.reduce<Graded | null>((a, b) => (a === null || isBetter(b, a) ? b : a), null);
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

function isBetter(a: { readonly grade: readonly number[] }, b: { readonly grade: readonly number[] }): boolean {
  const place = a.grade.findIndex((value, i) => value !== b.grade[i]);
  return place >= 0 && a.grade[place]! < b.grade[place]!;
}
