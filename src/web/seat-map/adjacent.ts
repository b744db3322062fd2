/**
 * Seats beside others: in place of those that somebody else took, for a companion, and the single seats that a choice
 * leaves.
 *
 * Neighbours are seats of one row without an aisle between them.
 */
import { distance, type SeatLayout } from '#client/seat-layout.ts';

type IsFree = (seat: number) => boolean;

/** Neighbours stand at most this many radii apart; a wider gap is an aisle. */
const NEIGHBOUR_RADII = 3.8;

/** A seat of another row counts as much farther away, so that the lost row is tried first. */
const ROW_WEIGHT = 3;

/**
 * The seats to sit in when those in `lost` are gone; `remaining` are the other chosen seats. Those of the lost seats'
 * row stay where that is possible; else all of that row move together within their section. Null when there is no such
 * block.
 */
export function adjacentSeats(
  plan: SeatLayout,
  isFree: IsFree,
  lost: readonly number[],
  remaining: readonly number[],
): readonly number[] | null {
  const first = lost[0];
  if (first === undefined) return null;
  const lostRow = plan.rowOf[first]!;
  const stay = remaining.filter((seat) => plan.rowOf[seat] === lostRow);
  const wanted = stay.length + lost.filter((seat) => plan.rowOf[seat] === lostRow).length;
  const isUsable = (seat: number): boolean => stay.includes(seat) || isFree(seat);
  const blocks = plan.rows.flatMap((row) =>
    plan.sectionNames[row[0]!] === plan.sectionNames[first] ? stretchesOfLength(plan, row, wanted, isUsable) : [],
  );
  const costOf = (block: readonly number[]): number => {
    const { x, y } = plan.seats[first]!;
    const [across, along] = [
      mean(block.map((seat) => plan.seats[seat]!.x)),
      mean(block.map((seat) => plan.seats[seat]!.y)),
    ];
    const moved = stay.filter((seat) => !block.includes(seat)).length;
    return Math.hypot(across - x, (along - y) * ROW_WEIGHT) + moved * 1_000 * plan.radius;
  };
  return blocks.reduce<readonly number[] | null>(
    (best, block) => (best === null || costOf(block) < costOf(best) ? block : best),
    null,
  );
}

/** All stretches of so many usable seats of a row without an aisle between them. */
function stretchesOfLength(
  plan: SeatLayout,
  row: readonly number[],
  count: number,
  isUsable: IsFree,
): readonly (readonly number[])[] {
  return stretchesOf(plan, row).flatMap((stretch) =>
    stretch
      .map((_, start) => stretch.slice(start, start + count))
      .filter((block) => block.length === count && block.every(isUsable)),
  );
}

/** The parts of a row between its aisles. */
function stretchesOf(plan: SeatLayout, row: readonly number[]): readonly (readonly number[])[] {
  const stretches: number[][] = [];
  row.forEach((seat, i) => {
    const before = plan.seats[row[i - 1] ?? -1];
    const isNext = before !== undefined && distance(before, plan.seats[seat]!) <= plan.radius * NEIGHBOUR_RADII;
    if (isNext) stretches.at(-1)!.push(seat);
    else stretches.push([seat]);
  });
  return stretches;
}

/**
 * The free seat for somebody who comes along: next to a seat where that is possible, else the nearest one in its row.
 */
export function companionSeat(plan: SeatLayout, seat: number, isFree: IsFree): number | null {
  const away = (other: number): number => distance(plan.seats[other]!, plan.seats[seat]!);
  const row = plan.rows[plan.rowOf[seat]!]!;
  const own = stretchesOf(plan, row).find((stretch) => stretch.includes(seat)) ?? [];
  const cost = (other: number): number =>
    away(other) + (own.includes(other) ? 0 : 1_000 * plan.radius) + (plan.seats[other]!.accessible ? plan.radius : 0);
  const free = row.filter((other) => other !== seat && isFree(other));
  return free.reduce<number | null>((best, other) => (best === null || cost(other) < cost(best) ? other : best), null);
}

interface LoneSeats {
  /** Single free seats between the choice and a taken seat, an aisle or the end of the row. */
  readonly lone: readonly number[];
  /** The choice moved by one seat so that fewer are left; null where that is not possible. */
  readonly shifted: ReadonlyMap<number, number> | null;
}

/**
 * The single seats that a choice leaves, and what to choose instead; `mayMove` says whether a chosen seat can become
 * another.
 */
export function loneSeats(
  plan: SeatLayout,
  isFree: IsFree,
  chosen: ReadonlySet<number>,
  mayMove: (from: number, to: number) => boolean,
): LoneSeats {
  const rows = new Set([...chosen].map((seat) => plan.rowOf[seat]!));
  const stretches = [...rows].flatMap((row) => stretchesOf(plan, plan.rows[row]!));
  const lone = stretches.flatMap((stretch) => loneIn(stretch, isFree, chosen));
  if (lone.length === 0) return { lone, shifted: null };
  for (const stretch of stretches) {
    const before = loneIn(stretch, isFree, chosen).length;
    if (before === 0) continue;
    for (const run of runsOf(stretch, (seat) => chosen.has(seat))) {
      for (const by of [-1, 1]) {
        const to = run.map((seat) => stretch[stretch.indexOf(seat) + by]);
        const isPossible = to.every(
          (seat, i) =>
            seat !== undefined && (run.includes(seat) || (isFree(seat) && !chosen.has(seat))) && mayMove(run[i]!, seat),
        );
        if (!isPossible) continue;
        const others = [...chosen].filter((seat) => !run.includes(seat));
        const isFreeThen: IsFree = (seat) => isFree(seat) || run.includes(seat);
        if (loneIn(stretch, isFreeThen, new Set([...others, ...(to as number[])])).length >= before) continue;
        return { lone, shifted: new Map(run.map((seat, i) => [seat, to[i]!])) };
      }
    }
  }
  return { lone, shifted: null };
}

/** The free seats of a stretch that have no free neighbour and stand beside a chosen seat. */
function loneIn(stretch: readonly number[], isFree: IsFree, chosen: ReadonlySet<number>): readonly number[] {
  return runsOf(stretch, (seat) => isFree(seat) && !chosen.has(seat)).flatMap((run) => {
    const at = stretch.indexOf(run[0]!);
    const isAdjacent = chosen.has(stretch[at - 1] ?? -1) || chosen.has(stretch[at + 1] ?? -1);
    return run.length === 1 && isAdjacent ? run : [];
  });
}

/** Splits a stretch into runs, as long as possible, of neighbouring seats that pass. */
function runsOf(stretch: readonly number[], passes: IsFree): readonly (readonly number[])[] {
  const runs: number[][] = [];
  stretch.forEach((seat, i) => {
    if (!passes(seat)) return;
    if (i > 0 && passes(stretch[i - 1]!)) runs.at(-1)!.push(seat);
    else runs.push([seat]);
  });
  return runs;
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
