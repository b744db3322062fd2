/**
 * The port of a store of named objects, such as snapshots: bytes that are written as a whole and never changed.
 *
 * `objects/objects.ts` keeps it in an object store of JetStream; its twin for tests and the simulation is
 * `memory/objects.ts`.
 *
 * 1. An object exists only with all its bytes: a put that fails or is cut off leaves no object, or the one that was
 *    there.
 * 2. A put that rejects with ObjectsUnreachable has an unknown outcome. It may be repeated.
 * 3. After a put has resolved, every get and list that begins later sees it, at any node.
 * 4. Bytes that differ from those that were put are never given out: ObjectDamaged.
 * 5. Names are printable ASCII.
 */
export interface Objects {
  /** Stores bytes under a name, in place of those that were there. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Null when there is no such object. Rejects with ObjectDamaged or ObjectsUnreachable. */
  get(name: string): Promise<Uint8Array | null>;
  /** The names of all objects that begin with a prefix, sorted by their characters. */
  list(prefix: string): Promise<readonly string[]>;
  /** Removes an object, damaged or not; does nothing where there is none. */
  delete(name: string): Promise<void>;
}

/** The store cannot be reached now: no server, no leader, or a time limit. */
export class ObjectsUnreachable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ObjectsUnreachable';
  }
}

/** An object differs from what was put. */
export class ObjectDamaged extends Error {
  constructor(name: string, what: string, cause?: unknown) {
    super(`the object ${name} is damaged: ${what}`, { cause });
    this.name = 'ObjectDamaged';
  }
}
