/**
 * The purchases of a rehearsal: holds, changes, checkouts and payments of the trace, on what the service answered.
 *
 * A hold of the trace may be several at the service (`Part`), and so may its order be.
 */
import {
  itemsOfTickets,
  linesIn,
  seatsIn,
  ticketsIn,
  type PlacedHold,
  type Part,
  type PlacedOrder,
} from './purchases.ts';
import { bodyOf, type ReadAnswer, type RequestBuilder } from './requests.ts';
import type { RoutedRequest } from './buyer-requests.ts';
import type { Sales } from '../trace/sales.ts';
import type { Intent, TracedItem } from '../trace/trace.ts';

type IntentOf<Kind extends Intent['kind']> = Extract<Intent, { readonly kind: Kind }>;

export interface PurchaseCounts {
  /** Orders whose total differs from that in the trace. */
  readonly otherTotals: OtherTotals;
  /** Parties that took the largest block or several, because their seats were not side by side any more. */
  readonly splitParties: number;
}

export interface OtherTotals {
  readonly orders: number;
  readonly ofOrders: number;
  /** How much more than in the trace all of them cost; less than 0 where they cost less. */
  readonly differenceCents: number;
  readonly examples: readonly { readonly thenCents: number; readonly nowCents: number; readonly tickets: number }[];
}

interface PurchasePorts {
  readonly requests: RequestBuilder;
  /** Whether the rest of a split party may come as another session. */
  readonly canSplit: boolean;
  readonly sales: Sales;
  send(request: RoutedRequest, dueAt: number): Promise<ReadAnswer | null>;
  skip(what: string): void;
}

interface StartedBody {
  readonly order_id: string;
  readonly checkout_session_id: string | null;
  readonly payment_provider: string;
  readonly total_amount: number;
}

interface StatusBody {
  readonly status: string;
  readonly ticket_objects?: Parameters<typeof itemsOfTickets>[0];
}

type Now = () => number;

const EXAMPLES_MAX = 5;

export class Purchases {
  readonly #ports: PurchasePorts;
  readonly #sales: Sales;
  readonly #holds = new Map<number, Part[]>();
  readonly #orders = new Map<number, PlacedOrder[]>();
  readonly #examples: { thenCents: number; nowCents: number; tickets: number }[] = [];
  #others = 0;
  #started = 0;
  #differenceCents = 0;
  #splits = 0;
  #sessions = 0;

  constructor(ports: PurchasePorts) {
    this.#ports = ports;
    this.#sales = ports.sales;
  }

  counts(): PurchaseCounts {
    const otherTotals = {
      orders: this.#others,
      ofOrders: this.#started,
      differenceCents: this.#differenceCents,
      examples: this.#examples,
    };
    return { otherTotals, splitParties: this.#splits };
  }

  async take(intent: Intent, pass: string | null, dueAt: number, now: Now): Promise<void> {
    switch (intent.kind) {
      case 'HOLD':
        return this.#hold(intent, pass, dueAt, now);
      case 'CHANGE':
        return this.#change(intent, dueAt);
      case 'RELEASE':
        return this.#release(intent, dueAt);
      case 'START':
        return this.#start(intent, pass, dueAt, now);
      case 'REQUEST_PAYMENT':
        return this.#requestPayment(intent, dueAt);
      case 'PAY':
        return this.#pay(intent, dueAt, now);
      default:
        return;
    }
  }

  async readOrders(order: number, dueAt: number): Promise<void> {
    for (const { orderId } of this.#orders.get(order) ?? []) {
      await this.#ports.send(this.#ports.requests.readOrder(orderId), dueAt);
    }
  }

  // ── holds ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #hold({ hold, person, items }: IntentOf<'HOLD'>, pass: string | null, dueAt: number, now: Now): Promise<void> {
    const { requests } = this.#ports;
    const parts: Part[] = [];
    this.#holds.set(hold, parts);
    const sessionKey = requests.sessionKey(person, 0);
    const reply = await this.#ports.send(requests.hold(sessionKey, items, pass), dueAt);
    if (reply === null) return;
    if (reply.status < 300) return void parts.push(partOf(sessionKey, reply));
    const [item, ...others] = items;
    if (item === undefined || others.length > 0 || item.seatIds !== null) return;
    await this.#split(parts, person, item, pass, reply, now);
  }

  /** Takes the largest block that is left, and the rest in further sessions where no pass is needed. */
  async #split(
    parts: Part[],
    person: number,
    item: TracedItem,
    pass: string | null,
    refused: ReadAnswer,
    now: Now,
  ): Promise<void> {
    const { requests, canSplit } = this.#ports;
    let left = item.quantity;
    let last: ReadAnswer | null = refused;
    let asked = left;
    while (left > 0 && last !== null) {
      if (last.status < 300) {
        left -= asked;
        if (!canSplit) return;
        asked = left;
      } else {
        const largest = largestBlock(last);
        if (largest === 0) return;
        if (asked === item.quantity) this.#splits += 1;
        asked = Math.max(1, Math.min(asked - 1, largest));
      }
      if (asked === 0) return;
      const sessionKey =
        parts.length === 0 ? requests.sessionKey(person, 0) : requests.sessionKey(person, (this.#sessions += 1));
      last = await this.#ports.send(requests.hold(sessionKey, [{ ...item, quantity: asked }], pass), now());
      if (last !== null && last.status < 300) parts.push(partOf(sessionKey, last));
    }
  }

  async #change({ hold, items }: IntentOf<'CHANGE'>, dueAt: number): Promise<void> {
    const [part, ...others] = this.#holds.get(hold) ?? [];
    if (part === undefined || others.length > 0) return this.#ports.skip('CHANGE: the hold was refused or split');
    const reply = await this.#ports.send(this.#ports.requests.change(part.sessionKey, part.holdId, items), dueAt);
    if (reply !== null && reply.status < 300) part.items = bodyOf<PlacedHold>(reply).items;
  }

  async #release({ hold }: IntentOf<'RELEASE'>, dueAt: number): Promise<void> {
    const parts = this.#holds.get(hold) ?? [];
    if (parts.length === 0) return this.#ports.skip('RELEASE: the hold was refused');
    for (const { sessionKey, holdId } of parts) {
      await this.#ports.send(this.#ports.requests.release(sessionKey, holdId), dueAt);
    }
  }

  // ── orders ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #start(intent: IntentOf<'START'>, pass: string | null, dueAt: number, now: Now): Promise<void> {
    const { requests } = this.#ports;
    const { hold, order, person, buyer, items, promoCode, installments } = intent;
    const placed: PlacedOrder[] = [];
    this.#orders.set(order, placed);
    const parts: readonly (Part | null)[] = hold === null ? [null] : (this.#holds.get(hold) ?? []);
    if (parts.length === 0) return this.#ports.skip('START: the hold was refused');
    const hasDetails = items.some((item) => item.isNamed || item.discountCode !== null || item.barPerks.length > 0);
    const isWhole = parts.length === 1 && (parts[0] === null || ticketsIn(parts[0]!.items) === countOf(items));
    let begin = dueAt;
    for (const part of parts) {
      const request = requests.start({
        sessionKey: part?.sessionKey ?? requests.sessionKey(person, 0),
        holdId: part?.holdId ?? null,
        buyer,
        items: part === null || (isWhole && (hasDetails || requests.requiresNames)) ? items : null,
        promoCode,
        installments,
        pass,
      });
      const reply = await this.#ports.send(request, begin);
      begin = now();
      if (reply === null || reply.status >= 300) continue;
      const body = bodyOf<StartedBody>(reply);
      const own: PlacedOrder = {
        orderId: body.order_id,
        checkoutSessionId: body.checkout_session_id,
        totalCents: body.total_amount,
        items: part?.items ?? null,
        lines: part === null ? items : linesIn(part.items),
        isSold: false,
      };
      placed.push(own);
      if (isWhole) this.#compareTotal(intent.totalCents, own.totalCents, countOf(items));
      if (body.payment_provider === 'FREE') this.#sold(own, begin);
    }
  }

  #compareTotal(thenCents: number, nowCents: number, tickets: number): void {
    this.#started += 1;
    if (thenCents === nowCents) return;
    this.#others += 1;
    this.#differenceCents += nowCents - thenCents;
    if (this.#examples.length < EXAMPLES_MAX) this.#examples.push({ thenCents, nowCents, tickets });
  }

  async #requestPayment({ order }: IntentOf<'REQUEST_PAYMENT'>, dueAt: number): Promise<void> {
    for (const placed of this.#placed('REQUEST_PAYMENT', order)) {
      const reply = await this.#ports.send(this.#ports.requests.requestPayment(placed.orderId), dueAt);
      if (reply === null || reply.status >= 300) continue;
      placed.checkoutSessionId = bodyOf<StartedBody>(reply).checkout_session_id;
    }
  }

  async #pay({ order, outcome }: IntentOf<'PAY'>, dueAt: number, now: Now): Promise<void> {
    for (const placed of this.#placed('PAY', order)) {
      if (placed.checkoutSessionId === null) continue;
      const reply = await this.#ports.send(this.#ports.requests.pay(placed.checkoutSessionId, outcome), dueAt);
      if (reply === null || reply.status >= 300) continue;
      const body = bodyOf<StatusBody>(reply);
      if (body.status !== 'CONFIRMED' && body.status !== 'PARTIALLY_PAID') continue;
      placed.items ??= itemsOfTickets(body.ticket_objects ?? []);
      this.#sold(placed, now());
    }
  }

  #placed(what: string, order: number): readonly PlacedOrder[] {
    const placed = this.#orders.get(order) ?? [];
    if (placed.length === 0) this.#ports.skip(`${what}: the checkout was refused`);
    return placed;
  }

  #sold(order: PlacedOrder, at: number): void {
    if (order.isSold) return;
    order.isSold = true;
    const items = order.items ?? [];
    this.#sales.sold({
      at,
      tickets: ticketsIn(items),
      seats: seatsIn(items),
      totalCents: order.totalCents,
      lines: order.lines,
    });
  }
}

function partOf(sessionKey: string, reply: ReadAnswer): Part {
  const { id, items } = bodyOf<PlacedHold>(reply);
  return { sessionKey, holdId: id, items };
}

function countOf(items: IntentOf<'START'>['items']): number {
  return items.reduce((sum, { ticketCount }) => sum + ticketCount, 0);
}

/**
 * The largest block that is left, when a hold was refused for lack of seats side by side; 0 when nothing can be had.
 */
function largestBlock({ status, body }: ReadAnswer): number {
  if (status !== 400) return 0;
  const refused = JSON.parse(body) as { readonly code: string; readonly detail: { readonly largest_block?: number } };
  return refused.code === 'INSUFFICIENT_TICKETS' ? (refused.detail.largest_block ?? 0) : 0;
}
