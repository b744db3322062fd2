/**
 * What is kept about a person, read from a data folder: the orders that were placed with an address, and the tickets that name it on
 * orders of others (`subject-search.ts`), chosen field by field.
 *
 * 1. Of an order of somebody else only the person's tickets are told: not who bought it, and no money.
 * 2. An erased order is not told: nothing but its id leads to it.
 * 3. The facts about an order are told by type, time and amount; what they say is in the order.
 */
import { isRefusal } from '#domain/refusal.ts';
import type { Attendee, Customer, PersonalData } from '#domain/personal.ts';
import type { CancellationCause } from '#domain/fact.ts';
import type { CurrencyAmount, OrderView, PaymentView, TicketView } from '#domain/views.ts';
import { openEventOnDisk, eventIdsIn, type EventOnDisk } from '#actors/reading.ts';
import { PersonalDataReader, type OpenedOrder } from '#actors/personal-data.ts';
import { SEARCH_BEGIN, searchSubject, type FoundAttendance, type SubjectPorts } from '#actors/subject-search.ts';
import type { KeysOnDisk } from '#actors/keys-on-disk.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { JournalView } from '#persistence/sqlite/view.ts';

export interface Subject {
  readonly email: string;
  /** Orders that were placed with the address. */
  readonly orders: readonly SubjectOrder[];
  /** Tickets that name the address, on orders of others (1). */
  readonly attended: readonly SubjectAttendance[];
  /** Events that cannot be read: what they have about the person is missing. */
  readonly unreadEvents: readonly string[];
}

export interface SubjectEvent {
  readonly id: string;
  readonly name: string;
}

export interface SubjectTicket {
  readonly id: string;
  readonly isValid: boolean;
  readonly ticketTypeId: string;
  readonly performanceId: string;
  readonly seatId: string | null;
  readonly seatLabel: string | null;
  /** Null where nobody is named, and where it cannot be read. */
  readonly attendee: Attendee | null;
}

export interface SubjectOrder {
  readonly id: string;
  readonly event: SubjectEvent;
  readonly performances: OrderView['event']['performances'];
  readonly status: OrderView['status'];
  readonly placedAt: number;
  /** UNREADABLE: what is stored is damaged. */
  readonly personalData: Exclude<OpenedOrder['state'], 'ERASED'>;
  /** Null unless it can be read; so are attendees, tracking and notes. */
  readonly customer: Customer | null;
  readonly tracking: PersonalData['tracking'];
  readonly items: readonly SubjectItem[];
  readonly tickets: readonly SubjectTicket[];
  readonly currency: string;
  readonly totalCents: number;
  readonly paidCents: number;
  readonly refundedCents: number;
  readonly refundsDue: readonly CurrencyAmount[];
  readonly payments: readonly Omit<PaymentView, 'checkoutSessionId' | 'redirectUrl' | 'sessionExpiresAt'>[];
  readonly refunds: readonly SubjectRefund[];
  readonly cancellation: {
    readonly cause: CancellationCause;
    readonly at: number;
    readonly note: string | null;
  } | null;
  readonly promoCode: string | null;
  readonly promoterCode: string | null;
  readonly referralCode: string | null;
  /** What happened, the earliest first. */
  readonly facts: readonly SubjectFact[];
}

export interface SubjectItem {
  readonly performanceId: string;
  readonly ticketTypeId: string;
  readonly quantity: number;
  readonly ticketCount: number;
  readonly unitPriceCents: number;
  readonly seatIds: readonly string[];
  readonly discountCode: string | null;
  readonly barPerks: OrderView['items'][number]['barPerks'];
}

export interface SubjectRefund extends CurrencyAmount {
  readonly id: string;
  readonly at: number;
  readonly reference: string | null;
  readonly note: string | null;
}

export interface SubjectAttendance {
  readonly orderId: string;
  readonly event: SubjectEvent;
  readonly performances: OrderView['event']['performances'];
  readonly placedAt: number;
  readonly tickets: readonly SubjectTicket[];
}

export interface SubjectFact {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  /** The money that the fact is about. */
  readonly amountCents: number | null;
  readonly currency: string | null;
}

/** A data folder, opened to be read. */
export interface OpenFolder {
  readonly folder: string;
  readonly view: JournalView;
  readonly keys: KeysOnDisk;
}

/** Finds everything about an address. Rejects where the keys cannot be read: an answer with gaps would be wrong. */
export async function readSubject(
  open: OpenFolder,
  email: string,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Subject> {
  const personalData = new PersonalDataReader(open.keys);
  const events = new EventsOnDisk(open, onProgress);
  const orders: SubjectOrder[] = [];
  const attended: SubjectAttendance[] = [];
  const unreadEvents: string[] = [];
  let place: typeof SEARCH_BEGIN | null = SEARCH_BEGIN;
  while (place !== null) {
    const page = await searchSubject({ events, personalData }, email, { place, limit: ORDERS_A_PAGE });
    for (const { order, opened } of page.purchases) {
      orders.push(toSubjectOrder(await withAllTickets(events, order), opened, await factsAbout(open.view, order)));
    }
    attended.push(...page.attendances.map(toAttendance));
    unreadEvents.push(...page.unreadEvents);
    place = page.next;
  }
  return { email, orders, attended, unreadEvents };
}

/** Orders found before the next look at the folder. */
const ORDERS_A_PAGE = 1_000;

type SubjectEvents = SubjectPorts['events'];

/** The events of a folder, each read as of the view. The one that was read last stays open, because a search comes back to it. */
class EventsOnDisk implements SubjectEvents {
  readonly #open: OpenFolder;
  readonly #eventIds: readonly string[];
  readonly #onProgress: (done: number, total: number) => void;
  #last: EventOnDisk | null = null;

  constructor(open: OpenFolder, onProgress: (done: number, total: number) => void) {
    this.#open = open;
    this.#eventIds = eventIdsIn(open.view);
    this.#onProgress = onProgress;
  }

  async byEventId(eventId: string): Promise<EventOnDisk | null> {
    if (this.#last?.eventId === eventId) return this.#last;
    this.#onProgress(this.#eventIds.indexOf(eventId), this.#eventIds.length);
    const { folder, view, keys } = this.#open;
    this.#last = null;
    return (this.#last = await openEventOnDisk(folder, view, eventId, keys.addressKey));
  }

  listAll({ after, limit }: { readonly after: string | null; readonly limit: number }) {
    const begin = after === null ? 0 : this.#eventIds.indexOf(after) + 1;
    const eventIds = this.#eventIds.slice(begin, begin + limit);
    const isLast = begin + limit >= this.#eventIds.length;
    return Promise.resolve({ eventIds, nextAfter: isLast ? null : (eventIds.at(-1) ?? null) });
  }
}

async function withAllTickets(events: EventsOnDisk, order: OrderView): Promise<OrderView> {
  if (order.ticketsNextAfter === null) return order;
  const event = await events.byEventId(order.event.id);
  const whole = { after: null, limit: order.ticketCount };
  const found = await event!.read({ type: 'FindOrder', orderId: order.id, tickets: whole });
  if (isRefusal(found)) throw new Error(`an order that is listed is found: ${order.id}`);
  return found.order;
}

// ── what is told ─────────────────────────────────────────────────────────────────────────────────────────────────────

function toAttendance({ order, opened, tickets }: FoundAttendance): SubjectAttendance {
  const { id: orderId, placedAt, event } = order;
  return {
    orderId,
    event: toEvent(order),
    performances: event.performances,
    placedAt,
    tickets: tickets.map((ticket) => toTicket(ticket, attendeeOf(ticket, opened))),
  };
}

function attendeeOf({ itemIndex, offset }: TicketView, { attendees }: OpenedOrder): Attendee | null {
  return attendees[itemIndex]?.[offset] ?? null;
}

function toTicket(ticket: TicketView, attendee: Attendee | null): SubjectTicket {
  const { id, isValid, ticketTypeId, performanceId, seatId, seatLabel } = ticket;
  return { id, isValid, ticketTypeId, performanceId, seatId, seatLabel, attendee };
}

function toEvent({ event: { id, name } }: OrderView): SubjectEvent {
  return { id, name };
}

function toSubjectOrder(order: OrderView, opened: OpenedOrder, facts: readonly SubjectFact[]): SubjectOrder {
  const { state, customer, tracking, cancellationNote, refundNotes } = opened;
  const { id, event, status, placedAt, items, currency, totalCents, paidCents, refundedCents, refundsDue } = order;
  const { promoCode, promoterCode, referralCode, cancellation } = order;
  return {
    id,
    event: toEvent(order),
    performances: event.performances,
    status,
    placedAt,
    personalData: state === 'OPEN' ? 'OPEN' : 'UNREADABLE',
    customer,
    tracking,
    items: items.map(toItem),
    tickets: order.tickets.map((ticket) => toTicket(ticket, attendeeOf(ticket, opened))),
    currency,
    totalCents,
    paidCents,
    refundedCents,
    refundsDue,
    payments: order.payments.map(toPayment),
    refunds: order.refunds.map((refund, index) => ({
      id: refund.id,
      amountCents: refund.amountCents,
      currency: refund.currency ?? currency,
      at: refund.at,
      reference: refund.reference ?? null,
      note: refundNotes[index] ?? null,
    })),
    cancellation: cancellation && { cause: cancellation.cause, at: cancellation.at, note: cancellationNote },
    promoCode,
    promoterCode,
    referralCode,
    facts,
  };
}

function toItem(item: OrderView['items'][number]): SubjectItem {
  const { performanceId, ticketTypeId, quantity, ticketCount, unitPriceCents, seatIds, discountCode, barPerks } = item;
  return { performanceId, ticketTypeId, quantity, ticketCount, unitPriceCents, seatIds, discountCode, barPerks };
}

/** Without what leads to the payment's page. */
function toPayment(payment: PaymentView): SubjectOrder['payments'][number] {
  const { id, installment, amountCents, currency, status, provider, createdAt, paidAt } = payment;
  return { id, installment, amountCents, currency, status, provider, createdAt, paidAt };
}

// ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The facts that name the order or its hold. Cost: a pass over the facts of the event. */
async function factsAbout(view: JournalView, { id, holdId, currency, event }: OrderView): Promise<SubjectFact[]> {
  const facts: SubjectFact[] = [];
  for (const row of await view.factsOf(event.id)) {
    if (row.data.includes(id) || row.data.includes(holdId)) facts.push(toFact(row, currency));
  }
  return facts;
}

function toFact({ seq, at, type, data }: FactRow, ownCurrency: string): SubjectFact {
  const { amountCents, totalCents, currency } = JSON.parse(data) as Partial<CurrencyAmount & { totalCents: number }>;
  const amount = amountCents ?? totalCents;
  if (amount === undefined) return { seq, at, type, amountCents: null, currency: null };
  return { seq, at, type, amountCents: amount, currency: currency ?? ownCurrency };
}
