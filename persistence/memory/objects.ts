/** The twin of `objects/objects.ts` in memory, for tests and the simulation; it passes the same suite. */

import { ObjectDamaged, ObjectsUnreachable, type Objects } from '../objects.ts';

export class MemoryObjects implements Objects {
  readonly #objects = new Map<string, Uint8Array>();
  readonly #damaged = new Set<string>();
  /** While false, every call rejects with ObjectsUnreachable. */
  isReachable = true;

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#reach();
    this.#objects.set(name, Uint8Array.from(bytes));
    this.#damaged.delete(name);
  }

  async get(name: string): Promise<Uint8Array | null> {
    await this.#reach();
    if (this.#damaged.has(name)) throw new ObjectDamaged(name, 'its bytes are not those of its digest');
    const bytes = this.#objects.get(name);
    return bytes === undefined ? null : Uint8Array.from(bytes);
  }

  async list(prefix: string): Promise<readonly string[]> {
    await this.#reach();
    return [...this.#objects.keys()].filter((name) => name.startsWith(prefix)).sort();
  }

  async delete(name: string): Promise<void> {
    await this.#reach();
    this.#objects.delete(name);
    this.#damaged.delete(name);
  }

  /** Makes an object as a damaged disk of the servers would: it is there and cannot be given out. */
  damage(name: string): void {
    if (!this.#objects.has(name)) throw new Error(`there is no object ${name}`);
    this.#damaged.add(name);
  }

  /** Answers in a later turn, as a server does. */
  async #reach(): Promise<void> {
    await Promise.resolve();
    if (!this.isReachable) throw new ObjectsUnreachable('the store is not reachable');
  }
}
