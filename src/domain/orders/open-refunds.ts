/**
 * The refunds of an event: how many there are of each status, and which are to be tried, or asked about, and when.
 *
 * An index that follows from the orders. What a try does is decided in `refund-tries.ts`.
 */
import { refundTransitions, type RefundStatus } from '#machines/refund.ts';
import { LazyHeap } from '../collections/lazy-heap.ts';
import { refundStatusOf, type Order } from './order.ts';
import type { RefundView } from '../view.ts';

interface OpenRefund {
  readonly orderNumber: number;
  readonly at: number;
}

export class OpenRefunds {
  /** PENDING ones by id, in the order of their last change. */
  readonly #open = new Map<string, OpenRefund>();
  readonly #due = new LazyHeap<string>();
  readonly #counts = new Map<RefundStatus, number>();

  /** Adds a refund of an order, or with -1 takes out what it was before a change. */
  note({ number: orderNumber }: Order, refund: RefundView | undefined, sign: 1 | -1): void {
    if (refund === undefined) return;
    const status = refundStatusOf(refund);
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + sign);
    if (status !== 'PENDING') return;
    const { id, nextTryAt: at = 0 } = refund;
    if (sign === -1) return void this.#open.delete(id);
    this.#open.set(id, { orderNumber, at });
    this.#due.add(id, at);
    this.#due.clean(this.#stands);
  }

  readonly #stands = (id: string, at: number): boolean => this.#open.get(id)?.at === at;

  /** When the next one is to be tried; infinite where none is. */
  get nextAt(): number {
    return this.#due.first(this.#stands)?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Up to `limit` that are to be tried by now, with the number of their order. */
  dueBy(now: number, limit: number): readonly { readonly refundId: string; readonly orderNumber: number }[] {
    const due = [];
    if (this.nextAt > now) return [];
    for (const [refundId, { orderNumber, at }] of this.#open) {
      if (due.length === limit) break;
      if (at <= now) due.push({ refundId, orderNumber });
    }
    return due;
  }

  /** How many refunds there are of each status. */
  get counts(): Readonly<Record<RefundStatus, number>> {
    const counted = refundTransitions.statuses.map((status) => [status, this.#counts.get(status) ?? 0]);
    return Object.fromEntries(counted) as Record<RefundStatus, number>;
  }
}
