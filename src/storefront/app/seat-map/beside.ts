/** Seats in place of those that somebody else took: beside the ones that stay, else together and near. */
import type { SeatLayout } from '#client/seat-layout.ts';

/** Neighbours stand at most this many radii apart; a wider gap is an aisle. */
const NEIGHBOUR_RADII = 3.8;

/** A seat of another row counts as much farther away, so that the lost row is tried first. */
const ROW_WEIGHT = 3;

/**
 * The seats to sit in when those in `lost` are gone, of which `kept` are the others that were chosen. Those of the lost seats' row
 * stay where that is possible; else all of that row move together within their section. Null when there is no such block.
 */
export function seatsBeside(
  plan: SeatLayout,
  isFree: (seat: number) => boolean,
  lost: readonly number[],
  kept: readonly number[],
): readonly number[] | null {
  const first = lost[0];
  if (first === undefined) return null;
  const lostRow = plan.rowOf[first]!;
  const stay = kept.filter((seat) => plan.rowOf[seat] === lostRow);
  const wanted = stay.length + lost.filter((seat) => plan.rowOf[seat] === lostRow).length;
  const isUsable = (seat: number): boolean => stay.includes(seat) || isFree(seat);
  const blocks = plan.rows.flatMap((row) =>
    plan.sectionNames[row[0]!] === plan.sectionNames[first] ? blocksOf(plan, row, wanted, isUsable) : [],
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
function blocksOf(
  plan: SeatLayout,
  row: readonly number[],
  count: number,
  isUsable: (seat: number) => boolean,
): readonly (readonly number[])[] {
  const isNext = (a: number, b: number): boolean =>
    plan.seats[b]!.x - plan.seats[a]!.x <= plan.radius * NEIGHBOUR_RADII;
  return row
    .map((_, start) => row.slice(start, start + count))
    .filter(
      (block) =>
        block.length === count && block.every((seat, i) => isUsable(seat) && (i === 0 || isNext(block[i - 1]!, seat))),
    );
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
