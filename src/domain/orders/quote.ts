/** What an order of a hold would cost with a promo code: read before the buyer commits to anything. */
import { findCodes, priceItems, totalOf } from './pricing.ts';
import { isPublished } from '../catalogue/state.ts';
import type { OrderState } from './state.ts';
import { refuseUnlessActive } from '../holds/decide.ts';
import { findAnyHold } from '../holds/state.ts';
import { sumOf } from '../money.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import type { QuoteView } from '../view.ts';
import { itemsOfLines } from './purchase.ts';

/**
 * Prices the tickets of an ACTIVE hold, without perks. The code is checked as a checkout checks it and is not spent:
 * HOLD_NOT_FOUND, HOLD_EXPIRED, HOLD_NOT_ACTIVE, PROMO_CODE_INVALID, PROMO_CODE_EXHAUSTED.
 */
export function quoteOrder(
  state: OrderState,
  {
    holdId,
    sessionKey,
    promoCode,
  }: { readonly holdId: string; readonly sessionKey: string | null; readonly promoCode: string | null },
  now: number,
): QuoteView | Refusal {
  if (!isPublished(state)) return refuse('EVENT_NOT_FOUND', {});
  const hold = findAnyHold(state, holdId, sessionKey);
  if (hold === undefined) return refuse('HOLD_NOT_FOUND', {});
  const over = refuseUnlessActive(hold, 'CONVERT');
  if (over !== null) return over;
  const items = itemsOfLines(hold.lines);
  const codes = findCodes(state.plan, items, promoCode, state.orders.usesByCode, now);
  if (isRefusal(codes)) return codes;
  const priced = priceItems(
    items,
    items.map(() => []),
    items.map(() => []),
    codes,
  );
  const discountCents = sumOf(priced, (item) => item.promoDiscountCents);
  return { ticketsCents: totalOf(priced), discountCents, currency: state.plan.definition.currency };
}
