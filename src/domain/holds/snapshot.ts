/**
 * The holds of an event as pieces of a snapshot keep them, and back.
 *
 * 1. A hold is a row of values. Values that many holds of a piece share are once in a list of the piece: names, and
 *    lines without seats. Such a piece is a quarter as long as one of objects, so that it is written, proved and read
 *    in less time.
 * 2. Holds that were read from one piece share such lines in memory: nobody changes a line.
 */
import { shareIds } from '../inventory/hold-line.ts';
import { invariant } from '../invariant.ts';
import { noteLeft } from '../inventory/performance.ts';
import { countActive, rescheduleHold } from './evolve.ts';
import { isLive, type Hold } from './state.ts';
import type { HoldStatus } from '#machines/hold.ts';
import type { HoldState } from './state.ts';
import type { HoldLine } from '../fact.ts';

// ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The holds of one piece. */
export interface HoldPage {
  /** What the rows name by its index: statuses and ids of the definition. */
  readonly names: readonly string[];
  /** Lines without seats, which rows name by their index. */
  readonly lines: readonly LineRow[];
  readonly records: readonly HoldRow[];
}

/** The holds of one piece of formats 1 and 2. */
export interface HoldObjects {
  readonly names?: undefined;
  readonly records: readonly Hold[];
}

type HoldRow = readonly [
  id: string,
  sessionKey: string,
  status: number,
  expiresAt: number,
  firstPlacedAt: number,
  orderId: string | null,
  ...lines: readonly (LineRow | number)[],
];

type LineRow = readonly [
  performance: number,
  ticketType: number,
  sellingStage: number,
  quantity: number,
  ticketCount: number,
  unitPriceCents: number,
  ...seatIds: readonly string[],
];

/** Holds as rows. The same holds in the same order always give the same page. */
export function writeHolds(holds: readonly Hold[]): HoldPage {
  const names = new Map<string, number>();
  const lines: LineRow[] = [];
  const lineIndexes = new Map<string, number>();
  const lineRow = (line: HoldLine): LineRow | number => {
    const { performanceId, ticketTypeId, sellingStageId, quantity, ticketCount, unitPriceCents, seatIds } = line;
    const ids = [indexIn(names, performanceId), indexIn(names, ticketTypeId), indexIn(names, sellingStageId)] as const;
    const row = [...ids, quantity, ticketCount, unitPriceCents, ...seatIds] as const;
    if (seatIds.length > 0) return row;
    const index = indexIn(lineIndexes, row.join());
    if (index === lines.length) lines.push(row);
    return index;
  };
  const records = holds.map((hold): HoldRow => {
    const { id, sessionKey, status, expiresAt, firstPlacedAt, orderId } = hold;
    return [id, sessionKey, indexIn(names, status), expiresAt, firstPlacedAt, orderId, ...hold.lines.map(lineRow)];
  });
  return { names: [...names.keys()], lines, records };
}

/** The index of an entry, which is added where it is new. */
function indexIn(entries: Map<string, number>, entry: string): number {
  const known = entries.get(entry);
  if (known !== undefined) return known;
  entries.set(entry, entries.size);
  return entries.size - 1;
}

/** The holds of a page that was parsed just now. */
export function readHolds(page: HoldPage | HoldObjects): readonly Hold[] {
  if (page.names === undefined) return page.records;
  const { names, records } = page;
  // Most holds have one line without seats: they share the list as well.
  const shared = page.lines.map((row) => [readLine(row, names)] as const);
  const linesOf = (rows: readonly (LineRow | number)[]): readonly HoldLine[] => {
    const [first] = rows;
    if (rows.length === 1 && typeof first === 'number') return shared[first]!;
    return rows.map((row) => (typeof row === 'number' ? shared[row]![0] : readLine(row, names)));
  };
  return records.map(([id, sessionKey, status, expiresAt, firstPlacedAt, orderId, ...lines]) => ({
    id,
    sessionKey,
    status: names[status] as HoldStatus,
    lines: linesOf(lines),
    expiresAt,
    firstPlacedAt,
    orderId,
  }));
}

function readLine(line: LineRow, names: readonly string[]): HoldLine {
  const [performance, ticketType, sellingStage, quantity, ticketCount, unitPriceCents, ...seatIds] = line;
  return {
    performanceId: names[performance]!,
    ticketTypeId: names[ticketType]!,
    sellingStageId: names[sellingStage]!,
    quantity,
    ticketCount,
    unitPriceCents,
    seatIds,
  };
}

// ── restoring ────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Restores a hold from a record that was parsed just now. The inventories have its tickets, but not when they return.
 */
export function restoreHold(state: HoldState, hold: Hold): void {
  shareIds(hold.lines, state.plan);
  state.holds.byId.set(hold.id, hold);
  if (!isLive(hold)) return;
  if (hold.status === 'ACTIVE') {
    state.holds.activeBySession.set(hold.sessionKey, hold);
    countActive(state, hold, 1);
    for (const { performanceId } of hold.lines) noteLeft(state, performanceId);
  }
  rescheduleHold(state, hold);
  state.holds.deadlines.add(hold, hold.expiresAt);
}

/** Restores when a hold ended. Format 1 does not say it; such a hold was over at the end of its window. */
export function restoreEndedHold({ holds }: HoldState, holdId: string, endedAt: number | null): void {
  const hold = holds.byId.get(holdId);
  invariant(hold !== undefined, 'the snapshot has the hold that ended');
  holds.ended.restoreWhole(hold, endedAt ?? hold.expiresAt);
}
