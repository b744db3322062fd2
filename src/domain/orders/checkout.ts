/**
 * How an order is placed: a checkout takes over a hold, or reserves its items itself.
 *
 * The order of the checks is the API's: idempotency key; terms; hold or waiting-room pass; performances, types and
 * stages; installments; purchase limits; attendees; codes; perks; seats and stock; a provider to pay.
 *
 * 1. A refused checkout changes nothing: the hold stays ACTIVE, no code and no perk is spent.
 * 2. Without a hold, one is placed and converted in the same turn, by the same rules as any other; the session's ACTIVE
 *    hold counts as free and is replaced.
 * 3. What a hold has is not checked again: its performances, stages and prices are those of its placing.
 * 4. A start that never led to a provider's session is resumed by the same start: by its hold, or by its idempotency
 *    key.
 */
import { findCodes, findPerks, priceItems, totalOf } from './pricing.ts';
import { fact, type Fact, type FactData, type HoldLine, type OrderItem } from '../fact.ts';
import { refuseUnlessActive } from '../holds/decide.ts';
import { AMOUNT_CENTS_MAX, isAmount, splitEvenly } from '../money.ts';
import type { OrderTurn, OrderState } from './state.ts';
import { awaitsFirstSession, firstPaymentOf, type Order } from './order.ts';
import { issueTickets } from './payments.ts';
import {
  allotSeats,
  checkAttendees,
  itemsOfLines,
  itemsOfRequested,
  matchItems,
  type PurchaseItem,
} from './purchase.ts';
import { sealPersonal } from './erasure.ts';
import { checkLimits } from './purchase-limits.ts';
import { emailKey } from '../email-key.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../refusal.ts';
import { assignTickets, type RequestedLine } from '../inventory/assignment.ts';
import { findRequested } from '../holds/new-lines.ts';
import { boundOrderTexts, boundTracking } from './tracking.ts';
import type { CommandOf } from '../command.ts';
import { refuseWhilePaused } from '../steering.ts';
import { checkPass, decideSpendPass } from '../waiting-room/decide.ts';
import { isPublished } from '../catalogue/state.ts';
import type { Decision, ReplyReference } from '../decision.ts';
import { activeHoldOf, findAnyHold, type Hold } from '../holds/state.ts';

type StartCheckout = CommandOf<'StartCheckout'>;

/** The tickets of a checkout: those of a hold, or those that can be assigned once everything else was checked. */
interface Selection {
  readonly items: readonly PurchaseItem[];
  /** The hold to take over, or null. */
  readonly hold: Hold | null;
  /** What is to be assigned where there is no hold. */
  readonly requested: readonly RequestedLine[];
}

/** Starts a checkout, or finds the one that was started before. Refuses in the API's order. */
export function decideStartCheckout(state: OrderState, command: StartCheckout, turn: OrderTurn): Decision | Refusal {
  if (!isPublished(state)) return refuse('EVENT_NOT_FOUND', {});
  const { now, sealing } = turn;
  if (!command.acceptTerms) return refuse('TERMS_NOT_ACCEPTED', {});
  const unfinished = findUnfinished(state, command);
  if (unfinished !== null) return resume(unfinished, command);
  const selection = select(state, command, now);
  if (isRefusal(selection)) return selection;
  const addressHash = sealing?.addressHash(command.customer.email) ?? null;
  const purchase = checkPurchase(state, command, selection, { now, addressHash });
  if (isRefusal(purchase)) return purchase;
  const { hold } = selection;
  const orderId = turn.newId('ord');
  const holdId = hold?.id ?? turn.newId('hld');
  const paymentId = totalOf(purchase.items) === 0 ? null : turn.newId('pay');
  const placed = placeOrder(state, command, { orderId, holdId, paymentId, items: purchase.items, addressHash }, turn);
  const spent = decideSpendPass(state, hold?.sessionKey ?? command.sessionKey, command.queuePass);
  const reserved = hold === null ? [placeHold(state, command, { orderId, holdId, lines: purchase.lines }, now)] : [];
  const reply: ReplyReference = { shows: 'PAYMENT', orderId, paymentId, resumed: false, replayed: false };
  return { facts: [...reserved, ...placed, ...spent], reply };
}

// ── repeats ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The order that took the hold over and still has no session (rule 4). */
function findUnfinished(state: OrderState, command: StartCheckout): Order | null {
  const orderId = findHoldOf(state, command)?.orderId ?? null;
  const order = orderId === null ? undefined : state.orders.byId.get(orderId);
  return order !== undefined && awaitsFirstSession(order) ? order : null;
}

/** From now on the key of this start stands for the order too. */
function resume(order: Order, { idempotency }: StartCheckout): Decision {
  const facts = idempotency === null ? [] : [fact('CheckoutResumed', { orderId: order.id, idempotency })];
  const paymentId = firstPaymentOf(order)?.id ?? null;
  return { facts, reply: { shows: 'PAYMENT', orderId: order.id, paymentId, resumed: true, replayed: false } };
}

/** The hold that the command names, unless a session key is given that does not own it. */
function findHoldOf(state: OrderState, { holdId, sessionKey }: StartCheckout): Hold | null {
  return holdId === null ? null : (findAnyHold(state.holds, holdId, sessionKey) ?? null);
}

// ── the checks ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Hold, match of items and hold, or pass; then performances, types and stages of what is reserved without a hold. */
function select(state: OrderState, command: StartCheckout, now: number): Selection | Refusal {
  if (command.holdId !== null) return selectHeld(state, command);
  const { items: requests, sessionKey, queuePass } = command;
  if (requests === null) return refuseProblems([{ path: ['items'], message: 'is required where there is no hold_id' }]);
  const barred = refuseWhilePaused(state) ?? checkPass(state, sessionKey, queuePass, now);
  if (barred !== null) return barred;
  const requested = findRequested(state, requests, now);
  if (isRefusal(requested)) return requested;
  return { items: itemsOfRequested(requested, requests), hold: null, requested };
}

function selectHeld(state: OrderState, command: StartCheckout): Selection | Refusal {
  const hold = findHoldOf(state, command);
  if (hold === null) return refuse('HOLD_NOT_FOUND', {});
  const over = refuseUnlessActive(hold, 'CONVERT');
  if (over !== null) return over;
  const { lines } = hold;
  const items = command.items === null ? itemsOfLines(lines) : matchItems(state, lines, command.items);
  return isRefusal(items) ? items : { items, hold, requested: [] };
}

/** Checks everything from the installments to the stock, and prices the items. */
function checkPurchase(
  state: OrderState,
  command: StartCheckout,
  { items, hold, requested }: Selection,
  { now, addressHash }: { readonly now: number; readonly addressHash: string | null },
): { readonly items: readonly OrderItem[]; readonly lines: readonly HoldLine[] } | Refusal {
  const { plan, orders, perksSold } = state;
  const { maxInstallments, requireIndividualData } = plan.definition;
  const { installmentCount, customer, promoCode } = command;
  if (installmentCount > maxInstallments) {
    return refuse('INSTALLMENTS_NOT_ALLOWED', { limit: maxInstallments, requested: installmentCount });
  }
  const openKey = emailKey(customer.email);
  const buyerKeys = addressHash === null ? [openKey] : [addressHash, openKey];
  const barred =
    checkLimits(plan, items, buyerKeys, orders.ticketsByBuyer) ?? checkAttendees(items, requireIndividualData);
  if (barred !== null) return barred;
  const codes = findCodes(plan, items, promoCode, orders.usesByCode, now);
  if (isRefusal(codes)) return codes;
  const perks = findPerks(plan, items, perksSold);
  if (isRefusal(perks)) return perks;
  const lines = hold?.lines ?? assignTickets(state, requested, activeHoldOf(state, command.sessionKey));
  if (isRefusal(lines)) return lines;
  const priced = priceItems(items, allotSeats(lines, items), perks, codes);
  return checkTotal(priced) ?? checkPayable(state, command, priced) ?? { items: priced, lines };
}

/** Checks the limit of this service on an order's total. */
function checkTotal(items: readonly OrderItem[]): Refusal | null {
  if (isAmount(totalOf(items))) return null;
  return refuseProblems([{ path: ['items'], message: `the order comes to more than ${AMOUNT_CENTS_MAX} cents` }]);
}

/** Refuses what nobody could ever pay, so that it keeps no tickets off sale. */
function checkPayable(state: OrderState, command: StartCheckout, items: readonly OrderItem[]): Refusal | null {
  const isAbsent = command.absentProviders?.includes(state.plan.definition.paymentProvider) ?? false;
  return isAbsent && totalOf(items) > 0 ? refuse('PAYMENT_PROVIDER_UNAVAILABLE', {}) : null;
}

// ── the facts ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The hold of a checkout that began without one. Where no session is named, the order stands for the session. */
function placeHold(
  state: OrderState,
  { sessionKey }: StartCheckout,
  {
    orderId,
    holdId,
    lines,
  }: { readonly orderId: string; readonly holdId: string; readonly lines: readonly HoldLine[] },
  now: number,
): Fact {
  const replaced = activeHoldOf(state, sessionKey);
  return fact('HoldPlaced', {
    holdId,
    sessionKey: sessionKey ?? orderId,
    lines,
    expiresAt: now + state.plan.paymentWindowMs,
    firstPlacedAt: replaced?.firstPlacedAt ?? now,
    replacedHoldId: replaced?.id ?? null,
    idempotency: null,
    orderId,
  });
}

/** The order and, where nothing is to be paid, its tickets at once. */
function placeOrder(
  state: OrderState,
  command: StartCheckout,
  {
    orderId,
    holdId,
    paymentId,
    items,
    addressHash,
  }: {
    readonly orderId: string;
    readonly holdId: string;
    readonly addressHash: string | null;
    readonly paymentId: string | null;
    readonly items: readonly OrderItem[];
  },
  turn: OrderTurn,
): readonly Fact[] {
  const { plan } = state;
  const { customer, promoCode, tracking, successUrl, cancelUrl, idempotency } = command;
  const totalCents = totalOf(items);
  const isFree = totalCents === 0;
  const placed: FactData['OrderPlaced'] = {
    orderId,
    holdId,
    ...sealPersonal(orderId, items, { customer, tracking: boundTracking(tracking), addressHash }, turn),
    promoCode,
    ...boundOrderTexts(command),
    successUrl,
    cancelUrl,
    currency: plan.definition.currency,
    totalCents,
    paymentProvider: isFree ? 'FREE' : plan.definition.paymentProvider,
    installmentsCents: isFree ? [] : splitEvenly(totalCents, Math.min(command.installmentCount, totalCents)),
    firstPaymentId: paymentId,
    expiresAt: isFree ? null : turn.now + plan.paymentWindowMs,
    idempotency,
  };
  const order = fact('OrderPlaced', placed);
  if (!isFree) return [order];
  return [order, fact('OrderPaid', { orderId, trigger: 'PAY_IN_FULL' }), issueTickets(orderId, items, turn)];
}
