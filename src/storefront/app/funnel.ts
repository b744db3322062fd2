/**
 * What a buyer does, for tag managers: DOM events on the document, named as the service's own notifications and with the same
 * contents and `dedupe_id`, so that a platform that hears of both counts one.
 *
 * Owns the events and what must be remembered until a payment is seen. Nobody's name, address or id leaves in them.
 *
 * 1. A purchase is told once, when the buyer is back in the shop after the first payment; a free order's at once.
 */
import type { EventPayload, Hold, StartedCheckout } from '#client/bodies.ts';
import { keep, keptEventIds, recall, type FunnelContent, type FunnelDetail } from './kept.ts';
import { client } from './shop.ts';

export type FunnelStep = 'view-content' | 'add-to-cart' | 'initiate-checkout' | 'purchase' | 'complete-payment';

/** The event's page is seen: what is on sale, each type at its lowest price. */
export function tellViewed(event: EventPayload): void {
  const lowest = new Map<string, number>();
  for (const { ticket_type_id: id, price, on_sale } of event.ticketAvailability) {
    if (on_sale) lowest.set(id, Math.min(price, lowest.get(id) ?? price));
  }
  const contents = [...lowest].map(([id, price]) => ({ id, quantity: 1, price }));
  const value = contents.length === 0 ? 0 : Math.min(...contents.map(({ price }) => price));
  dispatch('view-content', { dedupe_id: null, event_id: event.id, value, currency: event.currency, contents });
}

/** A hold was placed. */
export async function tellHeld(event: EventPayload, hold: Hold): Promise<void> {
  const contents = contentsOf(event, hold);
  const value = contents.reduce((sum, { quantity, price }) => sum + quantity * price, 0);
  const { id: event_id, currency } = event;
  dispatch('add-to-cart', { dedupe_id: await digestOf(hold.id), event_id, value, currency, contents });
}

/** A checkout was started; `extras` are the bar perks. Resolves once it may be left for the payment page. */
export async function tellStarted(
  event: EventPayload,
  hold: Hold,
  extras: readonly FunnelContent[],
  started: StartedCheckout,
): Promise<void> {
  const detail: FunnelDetail = {
    dedupe_id: await digestOf(started.order_id),
    event_id: event.id,
    value: started.total_amount,
    currency: started.currency,
    contents: [...contentsOf(event, hold), ...extras],
  };
  const isFree = started.payment_provider === 'FREE';
  dispatch(isFree ? 'purchase' : 'initiate-checkout', detail);
  if (!isFree) keep(event.id, { paying: { orderId: started.order_id, detail } });
}

/** Looks at the orders whose payment this browser has not seen yet (1). */
export async function tellPaid(): Promise<void> {
  for (const eventId of keptEventIds()) {
    const { paying } = recall(eventId);
    if (paying === undefined) continue;
    const order = await client.getOrder(paying.orderId).catch(() => null);
    if (order === null || order.status === 'PENDING') continue;
    keep(eventId, { paying: undefined });
    if (order.paid_installments === 0) continue;
    dispatch('purchase', paying.detail);
    dispatch('complete-payment', paying.detail);
  }
}

function contentsOf(event: EventPayload, hold: Hold): readonly FunnelContent[] {
  return hold.items.map(({ ticket_type_id: id, selling_stage_id, quantity }) => {
    const isRow = (row: EventPayload['ticketAvailability'][number]): boolean =>
      row.ticket_type_id === id && row.selling_stage_id === selling_stage_id;
    return { id, quantity, price: event.ticketAvailability.find(isRow)?.price ?? 0 };
  });
}

function dispatch(step: FunnelStep, detail: FunnelDetail): void {
  document.dispatchEvent(new CustomEvent(`holdfast:${step}`, { detail }));
}

/** Browsers make digests on pages of a secure origin alone. */
async function digestOf(id: string): Promise<string | null> {
  const { subtle } = globalThis.crypto ?? {};
  if (subtle === undefined) return null;
  const digest = new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(id)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
