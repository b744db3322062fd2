/**
 * The tiny event of the cluster's simulation: a ledger that adds and takes amounts, and can prove what it was built
 * from.
 *
 * 1. Every fact counts, and moves a digest along. So an answer says by its position and digest which facts it was made
 *    from, and in which order.
 * 2. One operation may write several facts, as one unit. A ledger that has some of them and not the others is wrong.
 * 3. An operation with a key happens once, however often it is asked for; the ledger remembers keys for ever, as the
 *    domain does.
 */

/** What a client asks for. */
export interface LedgerCommand {
  readonly type: 'Add' | 'Take';
  /** Unique to what the client wants done. */
  readonly op: string;
  /** Whether `op` serves as the key of repeats. */
  readonly isKeyed: boolean;
  readonly amount: number;
  /** How many facts it writes. */
  readonly parts: number;
}

export interface LedgerFact {
  readonly op: string;
  readonly part: number;
  readonly parts: number;
  readonly isKeyed: boolean;
  readonly amount: number;
}

/** What every answer says. */
export interface Seen {
  /** Refused: the amount is not there. */
  readonly isRefused: boolean;
  /** How many facts the answer was made from, those of its own included. */
  readonly position: number;
  readonly digest: number;
}

export const FACT_TYPE = 'Moved';

/** The digest after one more fact. */
export function digestAfter(digest: number, { op, part }: Pick<LedgerFact, 'op' | 'part'>): number {
  let next = digest ^ part;
  for (let index = 0; index < op.length; index += 1) next = Math.imul(next ^ op.charCodeAt(index), 0x01000193);
  return next >>> 0;
}

export const FIRST_DIGEST = 0x811c9dc5;

/** What a snapshot of a ledger holds. */
export interface LedgerSnapshot {
  readonly seq: number;
  readonly count: number;
  readonly digest: number;
  readonly balance: number;
  readonly keys: readonly (readonly [key: string, seen: Seen])[];
}

export class Ledger {
  /** The newest fact in the journal's numbers. */
  seq = 0;
  count = 0;
  digest = FIRST_DIGEST;
  balance = 0;
  readonly keys = new Map<string, Seen>();

  static restore(snapshot: LedgerSnapshot): Ledger {
    const ledger = new Ledger();
    const { seq, count, digest, balance, keys } = snapshot;
    Object.assign(ledger, { seq, count, digest, balance });
    for (const [key, seen] of keys) ledger.keys.set(key, seen);
    return ledger;
  }

  snapshot(): LedgerSnapshot {
    const { seq, count, digest, balance } = this;
    return { seq, count, digest, balance, keys: [...this.keys] };
  }

  seen(isRefused = false): Seen {
    return { isRefused, position: this.count, digest: this.digest };
  }

  /** The facts of a command, or null when it is refused. */
  decide({ type, op, isKeyed, amount, parts }: LedgerCommand): LedgerFact[] | null {
    if (type === 'Take' && this.balance < amount * parts) return null;
    const signed = type === 'Take' ? -amount : amount;
    return Array.from({ length: parts }, (_, part) => ({ op, part, parts, isKeyed, amount: signed }));
  }

  apply(fact: LedgerFact, seq: number): void {
    this.seq = seq;
    this.count += 1;
    this.digest = digestAfter(this.digest, fact);
    this.balance += fact.amount;
    if (fact.isKeyed && fact.part === fact.parts - 1) this.keys.set(fact.op, this.seen());
  }
}
