import FlatQueue from 'flatqueue';

/**
 * When what runs out: a min-heap of moments and the ids of holds, entries and rooms they concern.
 *
 * An entry is a hint, not a fact: whoever owns the subject says whether it still stands. So nothing is ever taken
 * out of the middle; a hint that no longer stands is dropped when it surfaces.
 */
export interface Deadlines {
  readonly heap: FlatQueue<string>;
}

export function noDeadlines(): Deadlines {
  return { heap: new FlatQueue<string>() };
}

/** Notes that something about `subjectId` is due at a moment. */
export function noteDeadline(deadlines: Deadlines, subjectId: string, at: number): void {
  deadlines.heap.push(subjectId, at);
}

/**
 * The earliest deadline that still stands, or null. `stands` is asked only for hints that surface; those it denies
 * are forgotten, which changes nothing that anybody can see.
 */
export function earliestDeadline(
  deadlines: Deadlines,
  stands: (subjectId: string, at: number) => boolean,
): { readonly subjectId: string; readonly at: number } | null {
  const { heap } = deadlines;
  for (;;) {
    const at = heap.peekValue();
    const subjectId = heap.peek();
    if (at === undefined || subjectId === undefined) return null;
    if (stands(subjectId, at)) return { subjectId, at };
    heap.pop();
  }
}
