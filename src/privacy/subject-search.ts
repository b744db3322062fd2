/**
 * What is kept about a person, over all events: the orders that they placed, and what bears their address in the orders
 * of others.
 *
 * 1. Buyers are found by the keyed hash of their address, which costs a pass over tags. No such hash is kept of people
 *    on tickets: the orders that name any are opened one by one.
 * 2. A search goes event by event and is bounded for each call; a place names where the next call goes on. Nothing is
 *    missed that was there when the search began. An answer may be empty and not the last.
 * 3. Every event is searched, also one that is not in memory. An event that cannot be activated is named, so that
 *    nobody takes the answer for complete.
 * 4. What was erased is not found: neither by the hash, nor where a key is gone without a fact that says so, as after
 *    the restore of an older journal beside today's keys.
 * 5. Of an order of somebody else, only the tickets and names that bear, or bore, the address are shown.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { emailKey } from '#domain/email-key.ts';
import type { Attendee } from '#domain/personal.ts';
import { TICKETS_SHOWN_MAX } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import { isEventBroken } from '#actors/admission.ts';
import type { EventIndex } from '#actors/event-index.ts';
import type { EventReader } from '#actors/event-port.ts';
import type { OpenedOrder, PersonalDataReader } from './personal-data.ts';
import type { OrderView, TicketScanView, TicketView, VoidReason } from '#domain/view.ts';

export interface SubjectPorts {
  readonly events: Pick<EventIndex, 'listAll'> & {
    /** An event of a folder that is only read, or of a service. */
    byEventId(eventId: string): EventReader | null | Promise<EventReader | null>;
  };
  readonly personalData: PersonalDataReader;
}

/** Where a search goes on (rule 2). */
export interface SubjectPosition {
  /** The last event that was searched to its end; null before the first. */
  readonly afterEvent: string | null;
  /** In the event after it: what is searched for, and after which order. */
  readonly step: 'CUSTOMER' | 'ATTENDEES';
  readonly afterOrder: string | null;
}

export const SEARCH_BEGIN: SubjectPosition = { afterEvent: null, step: 'CUSTOMER', afterOrder: null };

/** How an order of somebody else names the person. */
export interface FoundAttendance {
  readonly order: OrderView;
  /** With the notes of the scans. */
  readonly opened: OpenedOrder;
  /** The tickets with the person's address, those that amendments made void behind the others. */
  readonly tickets: readonly (TicketView & { readonly voidReason?: VoidReason })[];
  /** The scans of these tickets, one ticket after another. */
  readonly scans: readonly TicketScanView[];
  /** The person's other entries: for tickets that were not issued, or that name somebody else by now. */
  readonly otherNames: readonly Attendee[];
}

/** An order that the person placed; its data are open, or damaged (rule 4). */
interface FoundPurchase<Order extends OrderView = OrderView> {
  readonly order: Order;
  readonly opened: OpenedOrder;
}

/** An order with the scans of its tickets, void ones too, one ticket after another. */
type OrderWithScans = OrderView & { readonly scans: readonly TicketScanView[] };

/** What the person bought; the names are those of everybody on the order (`FoundAttendance`). */
interface OwnPurchase extends FoundPurchase<OrderWithScans>, Pick<FoundAttendance, 'otherNames'> {}

export interface SubjectPage {
  readonly purchases: readonly OwnPurchase[];
  readonly attendances: readonly FoundAttendance[];
  /** Events that could not be searched (rule 3). */
  readonly unreadEvents: readonly string[];
  /** Null at the end. */
  readonly next: SubjectPosition | null;
}

const WHOLE = { after: null, limit: TICKETS_SHOWN_MAX, isWhole: true } as const;

/** Events that one call looks at. */
const EVENTS_MAX = 50;

/** Orders that one call opens, or finds: some hundred milliseconds, in slices. */
const OPENED_MAX = 2_000;

/** Reads of one call, each of some hundred orders that name nobody: half a second, in slices. */
const READS_MAX = 250;

/** Orders in one read of an event. */
const ORDERS_A_READ = 100;

/** Looks for a person from a place on, until about `limit` orders are found or the bounds of one call are reached. */
export async function searchSubject(
  ports: SubjectPorts,
  email: string,
  { position, limit }: { readonly position: SubjectPosition; readonly limit: number },
): Promise<SubjectPage> {
  const search = new SubjectSearch(ports, email, limit);
  return search.from(position);
}

/** Orders that an address led to, without those that nobody can read any more (rule 4). */
export async function withoutErased<Order extends OrderView>(
  orders: readonly Order[],
  personalData: PersonalDataReader,
): Promise<readonly FoundPurchase<Order>[]> {
  const opened = await personalData.openAll(orders);
  return orders
    .map((order, index) => ({ order, opened: opened[index]! }))
    .filter((found) => found.opened.state !== 'ERASED');
}

class SubjectSearch {
  readonly #ports: SubjectPorts;
  readonly #email: string;
  readonly #key: string;
  readonly #limit: number;
  readonly #purchases: OwnPurchase[] = [];
  readonly #attendances: FoundAttendance[] = [];
  readonly #unread: string[] = [];
  #opened = 0;
  #reads = 0;

  constructor(ports: SubjectPorts, email: string, limit: number) {
    this.#ports = ports;
    this.#email = email;
    this.#key = emailKey(email);
    this.#limit = limit;
  }

  async from(position: SubjectPosition): Promise<SubjectPage> {
    const { eventIds, nextAfter } = await this.#ports.events.listAll({ limit: EVENTS_MAX, after: position.afterEvent });
    let at = position;
    for (const eventId of eventIds) {
      const next = await this.#searchEvent(eventId, at);
      if (next !== null) return this.#page(next);
      at = { ...SEARCH_BEGIN, afterEvent: eventId };
    }
    return this.#page(nextAfter === null ? null : at);
  }

  #page(next: SubjectPosition | null): SubjectPage {
    return { purchases: this.#purchases, attendances: this.#attendances, unreadEvents: this.#unread, next };
  }

  get #isFull(): boolean {
    const found = this.#purchases.length + this.#attendances.length;
    return found >= this.#limit || this.#opened >= OPENED_MAX || this.#reads >= READS_MAX;
  }

  /** Where to go on in the event when this call is full; null when the event is searched to its end. */
  async #searchEvent(eventId: string, position: SubjectPosition): Promise<SubjectPosition | null> {
    try {
      const event = await this.#ports.events.byEventId(eventId);
      if (event === null) return null;
      let next: SubjectPosition | null = position;
      while (next !== null) {
        if (this.#isFull) return next;
        next = next.step === 'CUSTOMER' ? await this.#readPurchases(event, next) : await this.#readNamed(event, next);
        this.#reads += 1;
        // An event of this process answers within the round, and where nobody is named nothing is opened.
        await nextRound();
      }
      return null;
    } catch (error) {
      if (!isEventBroken(error)) throw error;
      this.#unread.push(eventId);
      return null;
    }
  }

  async #readPurchases(event: EventReader, position: SubjectPosition): Promise<SubjectPosition> {
    const { limit: ticketsMax, isWhole } = WHOLE;
    const wanted = { status: null, email: this.#email, after: position.afterOrder, ticketsMax, isWhole };
    const limit = Math.min(ORDERS_A_READ, this.#limit - this.#purchases.length - this.#attendances.length);
    const { orders, nextAfter } = await event.read({ type: 'ListOrders', ...wanted, limit });
    this.#opened += orders.length;
    const scanned: OrderWithScans[] = [];
    const tickets = new Map<string, readonly TicketView[]>();
    for (const order of orders) {
      const read = await readTickets(event, order);
      scanned.push({ ...order, scans: read.scans });
      tickets.set(order.id, read.tickets);
    }
    for (const { order, opened } of await withoutErased(scanned, this.#ports.personalData)) {
      this.#purchases.push({ order, opened, otherNames: namesBeside(tickets.get(order.id)!, opened) });
    }
    if (nextAfter !== null) return { ...position, afterOrder: nextAfter };
    return { ...position, step: 'ATTENDEES', afterOrder: null };
  }

  async #readNamed(event: EventReader, position: SubjectPosition): Promise<SubjectPosition | null> {
    const from = position.afterOrder === null ? null : Number(position.afterOrder) + 1;
    const page = await event.read({ type: 'ListPersonalData', of: 'NAMED', from, limit: ORDERS_A_READ });
    const opened = await this.#ports.personalData.openAll(page.orders.map((personal) => ({ personal })));
    this.#opened += opened.length;
    for (const [index, { orderId }] of page.orders.entries()) {
      const data = opened[index]!;
      if (this.#isOwnOrder(data) || !this.#isNamedIn(data)) continue;
      const found = await this.#readAttendance(event, orderId, data);
      if (found !== null) this.#attendances.push(found);
    }
    return page.next === null ? null : { ...position, afterOrder: String(page.next - 1) };
  }

  /** Whether the person placed the order, so that it is found by their hash. */
  #isOwnOrder({ customer }: OpenedOrder): boolean {
    return customer !== null && emailKey(customer.email) === this.#key;
  }

  #isNamedIn({ attendees }: OpenedOrder): boolean {
    return attendees.some((ofItem) => ofItem?.some((attendee) => this.#isPerson(attendee)) ?? false);
  }

  #isPerson({ email }: { readonly email: string | null }): boolean {
    return email !== null && emailKey(email) === this.#key;
  }

  /** The order with its tickets of the person. */
  async #readAttendance(event: EventReader, orderId: string, data: OpenedOrder): Promise<FoundAttendance | null> {
    const found = await event.read({ type: 'FindOrder', orderId, tickets: WHOLE });
    if (isRefusal(found)) return null;
    const { order } = found;
    const tickets: TicketView[] = [];
    const scans: TicketScanView[] = [];
    const note = async (page: readonly TicketView[]): Promise<void> => {
      const ofPerson = page.filter((ticket) => this.#isOn(ticket, data));
      tickets.push(...ofPerson);
      if (ofPerson.length > 0) scans.push(...(await event.read(scansOf(ofPerson))));
    };
    for await (const page of pagesOf(event, order)) await note(page);
    await note(order.voidTickets);
    const opened = await this.#ports.personalData.open({ personal: order.personal, scans });
    return {
      order,
      opened,
      tickets,
      scans,
      otherNames: namesBeside(tickets, data).filter((each) => this.#isPerson(each)),
    };
  }

  #isOn({ itemIndex, offset }: TicketView, { attendees }: OpenedOrder): boolean {
    const attendee = attendees[itemIndex]?.[offset];
    return attendee !== undefined && this.#isPerson(attendee);
  }
}

/** The people of an order that none of the tickets has. */
function namesBeside(tickets: readonly TicketView[], { attendees }: OpenedOrder): readonly Attendee[] {
  const told = new Set(tickets.map(({ itemIndex, offset }) => attendees[itemIndex]?.[offset]));
  return attendees.flatMap((ofItem) => (ofItem ?? []).filter((each) => !told.has(each)));
}

/** The tickets of an order, a page at a time: an order may have ten thousand. */
async function* pagesOf(event: EventReader, order: OrderView): AsyncGenerator<readonly TicketView[]> {
  for (let page = order; ;) {
    yield page.tickets;
    const after = page.ticketsNextAfter;
    if (after === null) return;
    const tickets = { after, limit: TICKETS_SHOWN_MAX };
    const next = await event.read({ type: 'FindOrder', orderId: order.id, tickets });
    if (isRefusal(next)) return;
    page = next.order;
  }
}

const scansOf = (tickets: readonly { readonly id: string }[]) =>
  ({ type: 'FindScans', ticketIds: tickets.map(({ id }) => id) }) as const;

async function readTickets(event: EventReader, order: OrderView) {
  const tickets: TicketView[] = [...order.voidTickets];
  const scans: TicketScanView[] = [...(await event.read(scansOf(tickets)))];
  for await (const page of pagesOf(event, order)) {
    tickets.push(...page);
    scans.push(...(await event.read(scansOf(page))));
  }
  return { tickets, scans };
}
