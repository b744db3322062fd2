/** A defect: something that cannot be, unless the code is wrong or the journal is corrupt. The process stops on it. */
export class Defect extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Defect';
  }
}

/** Throws a Defect unless the condition holds; stays on in production, so keep conditions cheap. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Defect(message);
}

/** Closes a switch over a union: the compiler proves that no case is left. */
export function unreachable(value: never): never {
  // A whole value could hold secrets, and the message of a defect reaches the log.
  const { type, kind, part } = Object(value) as Readonly<Record<string, unknown>>;
  throw new Defect(`unreachable: ${String(type ?? kind ?? part ?? typeof value)}`);
}
