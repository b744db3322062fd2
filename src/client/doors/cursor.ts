/**
 * Where a station's feed goes on: a text that only the service reads. One that is not of this form, of another station
 * or ahead of the feed begins it anew.
 */

interface SyncCursor {
  readonly stationId: string;
  /** The number of the last change of a scanned ticket that was sent; changes are numbered from 1. */
  readonly change: number;
  /** When the last void ticket that was sent became so, and how many of that millisecond were sent. */
  readonly voidSince: number;
  readonly voidCount: number;
  /** A digest of the head that was sent. */
  readonly head: string;
}

const FORM = /^(\w[\w-]{0,63})\.([0-9a-z]{1,10})\.([0-9a-z]{1,10})\.([0-9a-z]{1,10})\.([\w-]{1,64})$/;

export function writeCursor({ stationId, change, voidSince, voidCount, head }: SyncCursor): string {
  return [stationId, ...[change, voidSince, voidCount].map((number) => number.toString(36)), head].join('.');
}

/** Null where the text is no cursor. */
export function readCursor(text: string): SyncCursor | null {
  const [, stationId, change = '', voidSince = '', voidCount = '', head] = FORM.exec(text) ?? [];
  if (stationId === undefined || head === undefined) return null;
  const [numberOfChange, sinceMs, count] = [change, voidSince, voidCount].map((digits) => Number.parseInt(digits, 36));
  return { stationId, change: numberOfChange!, voidSince: sinceMs!, voidCount: count!, head };
}
