/**
 * The steps of a purchase for tag managers: DOM events on the document. They have the names, contents and `dedupe_id`
 * of the service's own notifications, so that a platform that gets both counts one.
 *
 * Owns the events, and what is stored until a payment is seen. They contain no name, address or id of a person.
 *
 *  1. A purchase is reported once: when the buyer returns after the first payment, or at once when the order is free.
 */
import type { EventPayload, Hold, StartedCheckout } from '#client/bodies.ts';
import { sha256OfText } from '../app/draw-proof.ts';
import { unitPrice } from '../event/selection.ts';
import { storePurchase, storedEventIds, recall, type FunnelContent, type FunnelDetail } from '../app/storage.ts';
import { client } from '../app/service.ts';

type FunnelStep = 'view-content' | 'add-to-cart' | 'initiate-checkout' | 'purchase' | 'complete-payment';

/** The page of an event is seen: what is on sale, each ticket type at its lowest price. */
export function reportViewed(event: EventPayload): void {
  const lowest = new Map<string, number>();
  for (const { ticket_type_id: id, price, on_sale } of event.ticketAvailability) {
    if (on_sale) lowest.set(id, Math.min(price, lowest.get(id) ?? price));
  }
  const contents = [...lowest].map(([id, price]) => ({ id, quantity: 1, price }));
  const value = contents.length === 0 ? 0 : Math.min(...contents.map(({ price }) => price));
  dispatch('view-content', { dedupe_id: null, event_id: event.id, value, currency: event.currency, contents });
}

/** A hold was placed. */
export async function reportHeld(event: EventPayload, hold: Hold): Promise<void> {
  const contents = contentsOf(event, hold);
  const value = contents.reduce((sum, { quantity, price }) => sum + quantity * price, 0);
  const { id: event_id, currency } = event;
  dispatch('add-to-cart', { dedupe_id: await digestOf(hold.id), event_id, value, currency, contents });
}

/** A checkout was started; `extras` are the bar perks. Resolves when the page may be left. */
export async function reportStarted(
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
  if (!isFree) storePurchase(event.id, { paying: { orderId: started.order_id, detail } });
}

/** Reads the orders whose payment this browser has not seen yet (rule 1). */
export async function reportPaid(): Promise<void> {
  for (const eventId of storedEventIds()) {
    const { paying } = recall(eventId);
    if (paying === undefined) continue;
    const order = await client.getOrder(paying.orderId).catch(() => null);
    if (order === null || order.status === 'PENDING') continue;
    storePurchase(eventId, { paying: undefined });
    if (order.paid_installments === 0) continue;
    dispatch('purchase', paying.detail);
    dispatch('complete-payment', paying.detail);
  }
}

function contentsOf(event: EventPayload, hold: Hold): readonly FunnelContent[] {
  return hold.items.map((item) => ({
    id: item.ticket_type_id,
    quantity: item.quantity,
    price: unitPrice(event, item),
  }));
}

function dispatch(step: FunnelStep, detail: FunnelDetail): void {
  document.dispatchEvent(new CustomEvent(`holdfast:${step}`, { detail }));
}

/** Null on an insecure origin, where browsers make no digests. */
async function digestOf(id: string): Promise<string | null> {
  return globalThis.crypto?.subtle === undefined ? null : sha256OfText(id);
}
