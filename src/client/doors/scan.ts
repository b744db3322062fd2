/**
 * A scan at a door: its kinds, its verdicts, and what a station may have decided by itself.
 *
 * 1. A scan with `given` ADMIT, EXIT or UNDONE happened, whatever the service says of it. Any other `given` let nobody
 *    in or out: it counts as a refusal of that name, also where the service had admitted.
 * 2. A scan without `given` counts as its verdict says.
 */

export const SCAN_KINDS = ['ENTRY', 'EXIT', 'UNDO'] as const;

export type ScanKind = (typeof SCAN_KINDS)[number];

/** Verdicts of a scan that is done as it was asked, one for each kind. */
const DONE = { ENTRY: 'ADMIT', EXIT: 'EXIT', UNDO: 'UNDONE' } as const satisfies Record<ScanKind, string>;

/** What an entry can be refused for before it is known who is inside, in the order of the checks. */
export const UNFIT = ['VOID', 'WRONG_PERFORMANCE', 'WRONG_DOOR', 'NOT_YET', 'OVER'] as const;

/** Verdicts about what is no ticket of the event. */
export const NO_TICKET = ['UNKNOWN', 'FORGED', 'WRONG_EVENT'] as const;

export const VERDICTS = [
  'ADMIT',
  'EXIT',
  'UNDONE',
  'ALREADY_ADMITTED',
  'NOT_INSIDE',
  'NOT_UNDOABLE',
  'ID_REUSED',
  ...NO_TICKET,
  ...UNFIT,
] as const;

/** A station that lacks a key or a ticket's type cannot tell, and lets nobody in by itself. */
export const GIVEN = [...VERDICTS, 'CANNOT_TELL'] as const;

export type Given = (typeof GIVEN)[number];

const REFUSALS_OF: Readonly<Record<ScanKind, readonly Given[]>> = {
  ENTRY: [...NO_TICKET, ...UNFIT, 'ALREADY_ADMITTED', 'ID_REUSED', 'CANNOT_TELL'],
  EXIT: [...NO_TICKET, 'NOT_INSIDE', 'ID_REUSED', 'CANNOT_TELL'],
  UNDO: ['NOT_UNDOABLE', 'ID_REUSED'],
};

/** Whether a station can have decided this about a scan of the kind. */
export function fitsKind(kind: ScanKind, given: Given): boolean {
  return given === DONE[kind] || REFUSALS_OF[kind].includes(given);
}

/** What a scan counts as: the verdict of its kind where it happened, else what it was refused for (rules 1 and 2). */
export function outcomeOf({ verdict, given }: { readonly verdict: Given; readonly given: Given | null }): Given {
  return given ?? verdict;
}

/** Whether somebody went in or out, or a scan was undone. */
export function hasHappened(scan: {
  readonly kind: ScanKind;
  readonly verdict: Given;
  readonly given: Given | null;
}): boolean {
  return outcomeOf(scan) === DONE[scan.kind];
}
