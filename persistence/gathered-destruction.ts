/**
 * Destroys keys together: one destruction runs at a time, and keys that arrive during it are destroyed by the next one.
 */
export class GatheredDestruction {
  readonly #destroy: (ids: readonly string[]) => Promise<void>;
  #underWay: Promise<void> = Promise.resolve();
  #next: { readonly ids: string[]; readonly done: Promise<void> } | null = null;

  constructor(destroy: (ids: readonly string[]) => Promise<void>) {
    this.#destroy = destroy;
  }

  /** Resolves when the keys are destroyed, and rejects as the destruction that they were part of. */
  add(ids: readonly string[]): Promise<void> {
    this.#next ??= this.#begin();
    this.#next.ids.push(...ids);
    return this.#next.done;
  }

  /** Resolves when nothing is under way; never rejects. */
  settled(): Promise<void> {
    return this.#underWay;
  }

  #begin(): { readonly ids: string[]; readonly done: Promise<void> } {
    const ids: string[] = [];
    const done = this.#underWay.then(() => {
      this.#next = null;
      return this.#destroy(ids);
    });
    this.#underWay = done.catch(() => {});
    return { ids, done };
  }
}
