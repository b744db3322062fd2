/** Subjects that each end at a moment, by id; the one that ends next is known. */
import { LazyHeap } from './lazy-heap.ts';

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
