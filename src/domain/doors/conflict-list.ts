/**
 * The conflicts of an event. They are read from the end: the newest first by the moment of their second scan, then by
 * its id, then by kind.
 */
import { countLeading } from '../collections/sorted.ts';
import { compareTexts, type ScanConflict } from '#client/doors/merging.ts';
import type { TicketScan } from './scanned-tickets.ts';

export interface ListedConflict {
  readonly at: number;
  readonly scanId: string;
  readonly kind: ScanConflict<TicketScan>['kind'];
  readonly performanceId: string;
  /** The number of its ticket. */
  readonly ticket: number;
}

/** Where a conflict stands. */
export type ConflictPosition = Pick<ListedConflict, 'at' | 'scanId' | 'kind'>;

export class ConflictList {
  readonly #all: ListedConflict[] = [];

  /** Adds the conflicts of a ticket, or takes them off. */
  note(ticket: number, conflicts: readonly ScanConflict<TicketScan>[], sign: 1 | -1): void {
    for (const { kind, second } of conflicts) {
      const conflict = { at: second.at, scanId: second.id, kind, performanceId: second.performanceId, ticket };
      const place = this.#countBefore(conflict);
      if (sign === 1) this.#all.splice(place, 0, conflict);
      else this.#all.splice(place, 1);
    }
  }

  /** The conflicts before a position, the newest first; null begins with the newest of all. */
  *before(position: ConflictPosition | null): Generator<ListedConflict> {
    const end = position === null ? this.#all.length : this.#countBefore(position);
    for (let index = end - 1; index >= 0; index -= 1) yield this.#all[index]!;
  }

  #countBefore(position: ConflictPosition): number {
    return countLeading(this.#all, (each) => compare(each, position) < 0);
  }
}

function compare(one: ConflictPosition, other: ConflictPosition): number {
  return one.at - other.at || compareTexts(other.scanId, one.scanId) || compareTexts(other.kind, one.kind);
}
