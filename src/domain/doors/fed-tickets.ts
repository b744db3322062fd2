/** The tickets of which a gate knows by its service's feed and by its own scans: see `feed.ts`. */
import { ChangeLog } from './scanned-tickets.ts';
import type { FactData } from '../fact.ts';
import type { StationConflict, TicketPresence } from '../recorded-scan.ts';

/** Where a ticket is, as far as the gate knows. */
export interface FedTicket {
  readonly digest: string;
  readonly presence: 'INSIDE' | 'OUTSIDE' | 'NEVER_IN';
  readonly isVoid: boolean;
  /** When it entered, left or became void; a feed has seconds. */
  readonly at: number;
  readonly doorId: string | null;
  /** It was outside when it entered here: if that entry is undone, it is outside again. */
  readonly isReturn?: true;
  /** Where it was before it left here, if it was not inside: if that exit is undone, the ticket is there again. */
  readonly leftFrom?: 'OUTSIDE' | 'NEVER_IN';
  /** What the service says of conflicts. */
  readonly told?: readonly StationConflict[];
  /** Of a ticket that was scanned here: the service's record includes the scans that were made here until then. */
  readonly includesUntil?: number;
}

type FeedHead = NonNullable<FactData['FeedTaken']['head']>;

export interface GateFeed extends FeedHead {
  /** Where the next page goes on. */
  readonly cursor: string;
  /** Whether a last page has come once: until then nobody is checked. */
  readonly isWhole: boolean;
  readonly tickets: FedTickets;
  /** Named since the feed began anew; null where it does not (rule 3 of `feed.ts`). */
  readonly named: Set<string> | null;
  /** The numbers of tickets that were scanned here, by digest. */
  readonly scanned: Map<string, number>;
}

/** The tickets of a feed; their changes have numbers, so that the gate's stations have a feed of their own. */
export class FedTickets {
  readonly #rows: FedTicket[] = [];
  readonly #changeOf: number[] = [];
  readonly #numberOf = new Map<string, number>();
  readonly #changes = new ChangeLog();

  get count(): number {
    return this.#rows.length;
  }

  get lastChange(): number {
    return this.#changes.last;
  }

  /** A ticket; one of which nothing was said never entered. */
  find(digest: string): FedTicket {
    const number = this.#numberOf.get(digest);
    return number === undefined ? { ...UNNAMED, digest } : this.#rows[number]!;
  }

  /** `isMoved`: stations get the ticket, even if nothing about it has changed. */
  put(row: FedTicket, isMoved = false): void {
    const number = this.#numberOf.get(row.digest);
    const isNews = isMoved || number === undefined || !isSame(this.#rows[number]!, row);
    const place = number ?? this.#add(row, 0);
    this.#rows[place] = row;
    if (!isNews) return;
    this.#changeOf[place] = this.#changes.add(place, this.#changeOf[place]!, (each) => this.#changeOf[each]!);
  }

  /** In the order of their first naming, each with its last change; `restore` takes them. */
  *rows(): Generator<readonly [FedTicket, number]> {
    for (const [number, row] of this.#rows.entries()) yield [row, this.#changeOf[number]!];
  }

  restore(row: FedTicket, change: number): void {
    this.#changes.restore(this.#add(row, change), change);
  }

  /** The tickets that changed after change number `change`, each with its last change, in the order of these. */
  *changedAfter(change: number): Generator<{ readonly change: number; readonly row: FedTicket }> {
    for (const { change: each, number } of this.#changes.after(change)) {
      if (this.#changeOf[number] === each) yield { change: each, row: this.#rows[number]! };
    }
  }

  #add(row: FedTicket, change: number): number {
    const number = this.#rows.push(row) - 1;
    this.#changeOf.push(change);
    this.#numberOf.set(row.digest, number);
    return number;
  }
}

/** A ticket of which nothing was said. */
export const UNNAMED = { presence: 'NEVER_IN', isVoid: false, at: 0, doorId: null } as const;

function isSame(one: FedTicket, other: FedTicket): boolean {
  return (
    one.presence === other.presence && one.isVoid === other.isVoid && one.at === other.at && one.doorId === other.doorId
  );
}

/** How a feed names it. */
export function presenceOf({ presence, isVoid }: FedTicket): TicketPresence {
  if (presence === 'INSIDE') return isVoid ? 'W' : 'I';
  return isVoid ? 'V' : presence === 'OUTSIDE' ? 'O' : 'N';
}
