/**
 * The holds of an event as pieces of a snapshot keep them, and back.
 *
 * 1. A hold is a row of values, and a text that many holds have stands once in a list of its piece. Such a piece is a third as long
 *    as one of objects: it is written, proved and read in less time, and an event of a million holds is activated from it.
 */
import { shareIds } from '../hold-line.ts';
import { invariant } from '../invariant.ts';
import { rescheduleHold } from './evolve.ts';
import { isLive, type Hold } from './state.ts';
import type { HoldStatus } from '#machines/hold.ts';
import type { EventState } from '../event-state.ts';
import type { HoldLine } from '../fact.ts';

// ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The holds of one piece. */
export interface HoldPage {
  /** What the rows name by its index: statuses and ids of the definition. */
  readonly names: readonly string[];
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
  ...lines: readonly LineRow[],
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

const NO_SEATS: readonly string[] = [];

/** Holds as rows. The same holds in the same order always give the same page. */
export function writeHolds(holds: readonly Hold[]): HoldPage {
  const indexes = new Map<string, number>();
  const indexOf = (name: string): number => {
    const known = indexes.get(name);
    if (known !== undefined) return known;
    indexes.set(name, indexes.size);
    return indexes.size - 1;
  };
  const lineRow = (line: HoldLine): LineRow => [
    indexOf(line.performanceId),
    indexOf(line.ticketTypeId),
    indexOf(line.sellingStageId),
    line.quantity,
    line.ticketCount,
    line.unitPriceCents,
    ...line.seatIds,
  ];
  const records = holds.map((hold): HoldRow => {
    const { id, sessionKey, status, expiresAt, firstPlacedAt, orderId, lines } = hold;
    return [id, sessionKey, indexOf(status), expiresAt, firstPlacedAt, orderId, ...lines.map(lineRow)];
  });
  return { names: [...indexes.keys()], records };
}

/** The holds of a page that was parsed just now. */
export function readHolds(page: HoldPage | HoldObjects): readonly Hold[] {
  if (page.names === undefined) return page.records;
  const { names, records } = page;
  return records.map(([id, sessionKey, status, expiresAt, firstPlacedAt, orderId, ...lines]) => ({
    id,
    sessionKey,
    status: names[status] as HoldStatus,
    lines: lines.map((line) => readLine(line, names)),
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
    seatIds: seatIds.length === 0 ? NO_SEATS : seatIds,
  };
}

// ── restoring ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Restores a hold from a record that was parsed just now. The inventories have its tickets, but not when they return. */
export function restoreHold(state: EventState, hold: Hold): void {
  shareIds(hold.lines, state.plan);
  state.holds.byId.set(hold.id, hold);
  if (hold.status === 'ACTIVE') state.holds.activeBySession.set(hold.sessionKey, hold);
  if (!isLive(hold)) return;
  rescheduleHold(state, hold);
  state.holds.deadlines.add(hold, hold.expiresAt);
}

/** Restores the hold of a settled order, which was restored before. */
export function restoreSettledHold({ holds, orders }: EventState, hold: Hold): void {
  const order = orders.byId.get(hold.orderId ?? '');
  invariant(order !== undefined, 'the snapshot has the order of a settled hold');
  holds.byId.settle(hold, order.number);
}

/** Restores when a hold ended. Format 1 does not say it; such a hold was over at the end of its window. */
export function restoreEndedHold({ holds }: EventState, holdId: string, endedAt: number | null): void {
  const hold = holds.byId.get(holdId);
  invariant(hold !== undefined, 'the snapshot has the hold that ended');
  holds.ended.restoreWhole(hold, endedAt ?? hold.expiresAt);
}
