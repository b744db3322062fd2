/** Which performance of an event is shown to somebody who has not chosen one. */
import type { EventPayload } from './bodies.ts';

/** The first performance on sale now, else the first with something left, else the first of all. */
export function firstPerformance({ performances }: Pick<EventPayload, 'performances'>): string | null {
  const open = performances.find(({ on_sale: onSale }) => onSale);
  const next = performances.find(({ status, sold_out: soldOut }) => status === 'ON_SALE' && soldOut !== true);
  return (open ?? next ?? performances[0])?.id ?? null;
}
