/** Adds up what was sold, whether facts tell it or answers. */
import type { Outcome } from './trace.ts';

export interface SoldLine {
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly quantity: number;
}

export interface SoldOrder {
  readonly at: number;
  readonly tickets: number;
  /** `performance seat` of each numbered seat. */
  readonly seats: readonly string[];
  readonly totalCents: number;
  /** What its tickets are; the price of one unit is known where they are all of one kind. */
  readonly lines: readonly SoldLine[];
}

export function seatKey(performanceId: string, seatId: string): string {
  return `${performanceId} ${seatId}`;
}

export class Sales {
  readonly #soldBySecond: number[] = [];
  readonly #seats = new Set<string>();
  readonly #prices = new Map<string, Set<number>>();
  /** Null where it is not known how many there are. */
  readonly #onSale: number | null;
  #tickets = 0;
  #orders = 0;
  #cents = 0;
  #soldOutAt: number | null = null;

  constructor(ticketsOnSale: number | null) {
    this.#onSale = ticketsOnSale;
  }

  get tickets(): number {
    return this.#tickets;
  }

  sold({ at, tickets, seats, totalCents, lines }: SoldOrder): void {
    for (const seat of seats) this.#seats.add(seat);
    const [line, ...others] = lines;
    if (line !== undefined && others.length === 0) {
      const name = `${line.ticketTypeId}, ${line.sellingStageId}`;
      const prices = this.#prices.get(name) ?? new Set();
      this.#prices.set(name, prices.add(Math.round(totalCents / line.quantity)));
    }
    this.#orders += 1;
    this.#cents += totalCents;
    this.#move(at, tickets);
  }

  cancelled({ at, tickets, seats, totalCents }: Omit<SoldOrder, 'lines'>): void {
    for (const seat of seats) this.#seats.delete(seat);
    this.#orders -= 1;
    this.#cents -= totalCents;
    this.#move(at, -tickets);
  }

  outcome(): Outcome {
    let last = 0;
    const soldBySecond = Array.from(this.#soldBySecond, (tickets) => (last = tickets ?? last));
    return {
      ticketsSold: this.#tickets,
      seatsSold: [...this.#seats].sort(),
      ordersSold: this.#orders,
      soldCents: this.#cents,
      pricesCents: Object.fromEntries(
        [...this.#prices].map(([name, prices]) => [name, [...prices].sort((a, b) => a - b)] as const).sort(),
      ),
      soldOutAt: this.#soldOutAt,
      soldBySecond,
    };
  }

  #move(at: number, tickets: number): void {
    this.#tickets += tickets;
    this.#soldBySecond[Math.max(0, Math.floor(at / 1_000))] = this.#tickets;
    if (this.#onSale === null || this.#tickets < this.#onSale) this.#soldOutAt = null;
    else this.#soldOutAt ??= at;
  }
}
