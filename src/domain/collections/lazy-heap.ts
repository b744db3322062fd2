/**
 * A min-heap of moments whose entries go stale: an entry is not taken out when its subject moves or ends.
 *
 * The caller knows which entries still stand. A subject that moves again and again leaves a stale entry behind each
 * time, so the heap is cleaned when it has grown too long; a million entries cleaned at once would stop the event loop
 * for half a second.
 *
 * 1. Stale entries are dropped when they surface, and when the heap is cleaned.
 * 2. At most about twice as many entries are kept as stood at the last cleaning, or as the caller knows of. A heap that
 *    grew beyond that is moved into a new one a few entries at a time, leaf by leaf: the last leaf of a heap can be
 *    taken off at any time.
 */
import FlatQueue from 'flatqueue';

/** Whether an entry still stands. */
type Stands<Item> = (item: Item, at: number) => boolean;

interface HeapItem<Item> {
  readonly item: Item;
  readonly at: number;
}

/** A heap that is shorter than this is not cleaned. */
const CLEANED_ABOVE_MIN = 64;
const LEAVES_PER_CALL = 4;

export class LazyHeap<Item> {
  #current = new FlatQueue<Item>();
  /** The heap that is being moved into `#current`, if any. */
  #old: FlatQueue<Item> | null = null;
  #cleanedAbove = CLEANED_ABOVE_MIN;

  /** Entries that are kept, stale ones included. */
  get length(): number {
    return this.#current.length + (this.#old?.length ?? 0);
  }

  /** Announces something for a moment. Hot. */
  add(item: Item, at: number): void {
    this.#current.push(item, at);
  }

  /**
   * Continues the cleaning, or begins one when the heap is too long for so many that may stand. Call it about as often
   * as entries are added.
   */
  clean(stands: Stands<Item>, standing = 0): void {
    const old = this.#old;
    if (old === null) {
      if (this.#current.length <= Math.max(this.#cleanedAbove, 2 * standing)) return;
      this.#old = this.#current;
      this.#current = new FlatQueue();
      return;
    }
    for (let moved = 0; moved < LEAVES_PER_CALL && old.length > 0; moved += 1) {
      old.length -= 1;
      const item = old.ids[old.length]!;
      const at = old.values[old.length]!;
      if (stands(item, at)) this.#current.push(item, at);
    }
    old.shrink();
    if (old.length > 0) return;
    this.#old = null;
    this.#cleanedAbove = Math.max(CLEANED_ABOVE_MIN, 2 * this.#current.length);
  }

  /** The earliest entry that still stands and is not of `except`, or null. Drops the stale entries before it. */
  first(stands: Stands<Item>, except: Item | null = null): HeapItem<Item> | null {
    const one = surface(this.#current, stands, except);
    const other = this.#old === null ? null : surface(this.#old, stands, except);
    if (one === null || other === null) return one ?? other;
    return one.at <= other.at ? one : other;
  }

  clear(): void {
    if (this.#current.length > 0) this.#current = new FlatQueue();
    this.#old = null;
    this.#cleanedAbove = CLEANED_ABOVE_MIN;
  }
}

/** An entry of `except` is removed to reach the entries below it, and put back. */
function surface<Item>(heap: FlatQueue<Item>, stands: Stands<Item>, except: Item | null): HeapItem<Item> | null {
  while (heap.length > 0) {
    const item = heap.peek()!;
    const at = heap.peekValue()!;
    if (!stands(item, at)) {
      heap.pop();
    } else if (item !== except) {
      return { item, at };
    } else {
      heap.pop();
      const beneath = surface(heap, stands, except);
      heap.push(item, at);
      return beneath;
    }
  }
  return null;
}

/** Subjects that each end at a moment, by id; the one that ends next is known. */
export class Deadlines<Value> {
  readonly #byId = new Map<string, { readonly value: Value; readonly at: number }>();
  readonly #heap = new LazyHeap<string>();

  add(id: string, value: Value, at: number): void {
    this.#byId.set(id, { value, at });
    this.#heap.add(id, at);
    this.#heap.clean(this.#stands);
  }

  delete(id: string): void {
    this.#byId.delete(id);
  }

  get(id: string): Value | undefined {
    return this.#byId.get(id)?.value;
  }

  /** In the order in which they were added. */
  *values(): Generator<Value> {
    for (const { value } of this.#byId.values()) yield value;
  }

  /** The one that ends next, or null. */
  next(): { readonly id: string; readonly at: number } | null {
    if (this.#byId.size === 0) return null;
    const first = this.#heap.first(this.#stands);
    return first === null ? null : { id: first.item, at: first.at };
  }

  readonly #stands = (id: string, at: number): boolean => this.#byId.get(id)?.at === at;
}
