/**
 * When what runs out: a min-heap of moments and the ids of holds, entries and rooms they concern.
 *
 * An entry is a hint, not a fact: whoever owns the subject says whether it still stands. So nothing is ever taken out of
 * the middle; a hint that no longer stands is dropped when it surfaces. A hold that is changed again and again leaves one
 * behind each time, so when hints grow too many the heap is sifted into a new one, a few at each look: a million of
 * them at once would stop the loop for half a second.
 */
import FlatQueue from 'flatqueue';

export interface Deadlines {
  heap: FlatQueue<string>;
  /** What is left of the heap that is being sifted; its hints count like those of the other. */
  sifted: FlatQueue<string>;
  /** The length at which sifting begins; twice what stood the last time. */
  siftAt: number;
}

interface Deadline {
  readonly subjectId: string;
  readonly at: number;
}

type Stands = (subjectId: string, at: number) => boolean;

/** Below this length nothing is sifted. */
const SIFT_MIN = 4_096;

/** Hints sifted at each look: more than a turn adds, so that sifting ends. */
const SIFTED_PER_LOOK = 8;

export function noDeadlines(): Deadlines {
  return { heap: new FlatQueue<string>(), sifted: new FlatQueue<string>(), siftAt: SIFT_MIN };
}

/** Notes that something about `subjectId` is due at a moment. */
export function noteDeadline(deadlines: Deadlines, subjectId: string, at: number): void {
  deadlines.heap.push(subjectId, at);
}

/**
 * The earliest deadline that still stands, or null. `stands` is asked only for hints that surface or are sifted; those
 * it denies are forgotten, which changes nothing that anybody can see. Cost: logarithmic.
 */
export function earliestDeadline(deadlines: Deadlines, stands: Stands): Deadline | null {
  siftOn(deadlines, stands);
  const one = surface(deadlines.heap, stands);
  const other = surface(deadlines.sifted, stands);
  if (one === null || other === null) return one ?? other;
  return one.at <= other.at ? one : other;
}

/** The first hint that still stands; those before it are forgotten. */
function surface(heap: FlatQueue<string>, stands: Stands): Deadline | null {
  for (;;) {
    const at = heap.peekValue();
    const subjectId = heap.peek();
    if (at === undefined || subjectId === undefined) return null;
    if (stands(subjectId, at)) return { subjectId, at };
    heap.pop();
  }
}

function siftOn(deadlines: Deadlines, stands: Stands): void {
  const { heap, sifted } = deadlines;
  if (sifted.length === 0) {
    if (heap.length < deadlines.siftAt) return;
    deadlines.sifted = heap;
    deadlines.heap = sifted;
    return;
  }
  for (let count = 0; count < SIFTED_PER_LOOK && sifted.length > 0; count += 1) {
    const at = sifted.peekValue()!;
    const subjectId = sifted.pop()!;
    if (stands(subjectId, at)) heap.push(subjectId, at);
  }
  if (sifted.length === 0) deadlines.siftAt = Math.max(SIFT_MIN, 2 * heap.length);
}
