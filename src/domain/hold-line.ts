/** The identity of a hold's line, and how lines of the same identity are added up. */
import type { HoldLine } from './fact.ts';

/** What makes two lines the same line. */
export type HoldLineKey = Pick<HoldLine, 'performanceId' | 'ticketTypeId' | 'sellingStageId'>;

export function isSameHoldLine(a: HoldLineKey, b: HoldLineKey): boolean {
  return (
    a.ticketTypeId === b.ticketTypeId && a.sellingStageId === b.sellingStageId && a.performanceId === b.performanceId
  );
}

/** The identity of a line as one text, for maps. */
export function lineKey(line: HoldLineKey): string {
  return `${line.performanceId}\n${line.ticketTypeId}\n${line.sellingStageId}`;
}

/** Lines of the same type, stage and performance become one. */
export function addUpLines(lines: readonly HoldLine[]): readonly HoldLine[] {
  const byKey = new Map<string, HoldLine>();
  for (const line of lines) {
    const key = lineKey(line);
    const same = byKey.get(key);
    byKey.set(key, same === undefined ? line : joinLines(same, line));
  }
  return [...byKey.values()];
}

function joinLines(a: HoldLine, b: HoldLine): HoldLine {
  return {
    ...a,
    quantity: a.quantity + b.quantity,
    ticketCount: a.ticketCount + b.ticketCount,
    seatIds: [...a.seatIds, ...b.seatIds],
  };
}
