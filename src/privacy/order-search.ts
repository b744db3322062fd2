/**
 * Orders by a part of a name, of an e-mail address or of an order number, over all events or in one.
 *
 * 1. Personal data is sealed: the orders are opened one by one, in slices, and nothing of them is kept. A search is
 *    bounded for each call; a place names where the next one goes on, and each page says how far it looked. A page may
 *    be empty and not the last.
 * 2. A whole address is looked for first by its keyed hash, which costs a pass over tags: its buyer is found at once,
 *    however long the sale. Then follow the orders in which it is a part of something.
 * 3. Events are searched in the order in which they were defined, the orders of each from the newest on.
 * 4. An event that cannot be activated is named, so that nobody takes the answer for complete.
 * 5. An order number that people say on the phone finds only its own orders, by the events' own indexes.
 * 6. Names are compared without case and accents; each word must be a part of one person's name or address.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { emailKey } from '#domain/email-key.ts';
import { isRefusal } from '#domain/refusal.ts';
import { numberOf, readNumber } from '#domain/orders/told-numbers.ts';
import type { Attendee, SealedOrder } from '#domain/personal.ts';
import type { OrderView } from '#domain/view.ts';
import { isEventBroken } from '#actors/admission.ts';
import type { EventReader } from '#actors/event-port.ts';
import type { OpenedOrder } from './personal-data.ts';
import type { SubjectPorts } from './subject-search.ts';

/** What is looked for: the number that people tell, the buyer of an address, or anything that has the text. */
export const SEARCH_STEPS = ['NUMBER', 'ADDRESS', 'PARTS'] as const;
type SearchStep = (typeof SEARCH_STEPS)[number];

/** Where a search goes on (rule 1). */
export interface SearchPosition {
  readonly step: SearchStep;
  /** The last event that was searched to its end in this step; null before the first. */
  readonly afterEvent: string | null;
  /**
   * Where the search goes on in the next event: an order id in the step ADDRESS, an order number in the step PARTS.
   * Null: at its beginning, as always in the step NUMBER.
   */
  readonly from: string | null;
}

interface SearchedFor {
  readonly text: string;
  /** Null for all events. */
  readonly eventId: string | null;
  readonly limit: number;
  /** Null at the beginning. */
  readonly position: SearchPosition | null;
}

/** The part of an order that has the text. */
type FoundIn = 'BUYER' | 'GUEST' | 'ORDER' | 'TICKET';

interface FoundOrder {
  readonly order: OrderView;
  readonly foundIn: FoundIn;
}

export interface SearchPage {
  readonly found: readonly FoundOrder[];
  /** Orders that were opened for this page. */
  readonly searchedOrders: number;
  /**
   * How far the search came: the event, and when the last order that was looked at there was placed; null where nothing
   * was looked at.
   */
  readonly reached: { readonly eventId: string; readonly placedAt: number | null } | null;
  readonly unreadEvents: readonly string[];
  /** Null at the end. */
  readonly next: SearchPosition | null;
}

/** Events that one call looks at. */
const EVENTS_MAX = 50;

/** Orders that one call opens: some hundred milliseconds, in slices. */
const OPENED_MAX = 2_000;

/** Orders in one read of an event: a millisecond of its turn. */
const ORDERS_A_READ = 100;

/** A shorter text would be a part of many numbers by chance. */
const NUMBER_PART_LENGTH_MIN = 6;

/** Tickets shown of a found order. */
const TICKETS_SHOWN = 20;

const WHOLE_ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Searches from a place on, until `limit` orders are found or the bounds of one call are reached. */
export function searchOrders(ports: SubjectPorts, wanted: SearchedFor): Promise<SearchPage> {
  return new OrderSearch(ports, wanted).page();
}

/** A text as it is compared (rule 6). */
function comparable(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

class OrderSearch {
  readonly #ports: SubjectPorts;
  readonly #wanted: SearchedFor;
  readonly #text: string;
  readonly #words: readonly string[];
  /** The key form of a whole address (rule 2); null for any other text. */
  readonly #address: string | null;
  /** The number that the text is (rule 5); null for any other. */
  readonly #number: string | null;
  readonly #found: FoundOrder[] = [];
  readonly #unread: string[] = [];
  #reached: SearchPage['reached'] = null;
  #opened = 0;
  #events = 0;

  constructor(ports: SubjectPorts, wanted: SearchedFor) {
    this.#ports = ports;
    this.#wanted = wanted;
    this.#text = wanted.text.trim();
    this.#words = comparable(this.#text)
      .split(/\s+/)
      .filter((word) => word !== '');
    this.#address = WHOLE_ADDRESS.test(this.#text) ? emailKey(this.#text) : null;
    const number = readNumber(this.#text);
    this.#number = number === 'WRONG' ? null : number;
  }

  async page(): Promise<SearchPage> {
    const step = this.#number !== null ? 'NUMBER' : this.#address !== null ? 'ADDRESS' : 'PARTS';
    let position: SearchPosition | null = this.#wanted.position ?? { step, afterEvent: null, from: null };
    while (position !== null && !this.#isFull) position = await this.#searchSome(position);
    return {
      found: this.#found,
      searchedOrders: this.#opened,
      reached: this.#reached,
      unreadEvents: [...new Set(this.#unread)],
      next: position,
    };
  }

  get #isFull(): boolean {
    return this.#found.length >= this.#wanted.limit || this.#opened >= OPENED_MAX || this.#events >= EVENTS_MAX;
  }

  /** Searches the next events of a step; where to go on, null at the end of the last step. */
  async #searchSome(position: SearchPosition): Promise<SearchPosition | null> {
    const { eventIds, isLast } = await this.#eventsAfter(position.afterEvent);
    let at = position;
    for (const eventId of eventIds) {
      this.#events += 1;
      const next = await this.#searchEvent(eventId, at);
      if (next !== null) return next;
      at = { ...position, afterEvent: eventId, from: null };
      if (this.#isFull) break;
    }
    if (!isLast || at.afterEvent !== (eventIds.at(-1) ?? position.afterEvent)) return at;
    return position.step === 'ADDRESS' ? { step: 'PARTS', afterEvent: null, from: null } : null;
  }

  async #eventsAfter(
    after: string | null,
  ): Promise<{ readonly eventIds: readonly string[]; readonly isLast: boolean }> {
    const { eventId } = this.#wanted;
    if (eventId !== null) return { eventIds: after === eventId ? [] : [eventId], isLast: true };
    const page = await this.#ports.events.listAll({ limit: EVENTS_MAX, after });
    return { eventIds: page.eventIds, isLast: page.nextAfter === null };
  }

  /** Where to go on in the event when this call is full; null when the event is searched to its end. */
  async #searchEvent(eventId: string, position: SearchPosition): Promise<SearchPosition | null> {
    try {
      const event = await this.#ports.events.byEventId(eventId);
      let next = event === null ? null : position;
      while (event !== null && next !== null) {
        next = await this.#findIn(event, next);
        // As in `subject-search.ts`: an event of this process answers within the round.
        await nextRound();
        if (next !== null && this.#isFull) return next;
      }
      return null;
    } catch (error) {
      if (!isEventBroken(error)) throw error;
      this.#unread.push(eventId);
      return null;
    }
  }

  #findIn(event: EventReader, position: SearchPosition): Promise<SearchPosition | null> {
    switch (position.step) {
      case 'NUMBER':
        return this.#findNumbered(event);
      case 'ADDRESS':
        return this.#findBuyer(event, position);
      case 'PARTS':
        return this.#findParts(event, position);
    }
  }

  async #findNumbered(event: EventReader): Promise<null> {
    const number = this.#number ?? '';
    const { orderIds } = await event.read({ type: 'FindNumbered', number });
    for (const orderId of orderIds) {
      const order = await this.#read(event, orderId);
      if (order !== null) this.#found.push({ order, foundIn: numberOf(orderId) === number ? 'ORDER' : 'TICKET' });
    }
    return null;
  }

  async #findBuyer(event: EventReader, position: SearchPosition): Promise<SearchPosition | null> {
    const limit = Math.max(1, Math.min(ORDERS_A_READ, this.#wanted.limit - this.#found.length));
    const wanted = { status: null, email: this.#text, after: position.from, newestFirst: true, limit };
    const page = await event.read({ type: 'ListOrders', ...wanted, ticketsMax: TICKETS_SHOWN });
    for (const order of page.orders) this.#found.push({ order, foundIn: 'BUYER' });
    return page.nextAfter === null ? null : { ...position, from: page.nextAfter };
  }

  async #findParts(event: EventReader, position: SearchPosition): Promise<SearchPosition | null> {
    const from = position.from === null ? null : Number(position.from) - 1;
    const page = await event.read({ type: 'ListPersonalData', of: 'ALL_NEWEST_FIRST', from, limit: ORDERS_A_READ });
    const opened = await this.#ports.personalData.openAll(page.orders.map((personal) => ({ personal })));
    this.#opened += opened.length;
    this.#reached = { eventId: event.eventId, placedAt: page.placedAt };
    for (const [index, sealed] of page.orders.entries()) {
      const foundIn = this.#partOf(sealed, opened[index]!);
      if (foundIn === null) continue;
      const found = await this.#read(event, sealed.orderId);
      if (found !== null) this.#found.push({ order: found, foundIn });
    }
    return page.next === null ? null : { ...position, from: String(page.next + 1) };
  }

  #partOf({ orderId }: SealedOrder, { customer, attendees }: OpenedOrder): FoundIn | null {
    const isNumberPart = this.#text.length >= NUMBER_PART_LENGTH_MIN;
    if (isNumberPart && orderId.toLowerCase().includes(this.#text.toLowerCase())) return 'ORDER';
    if (customer !== null) {
      // Its buyer's orders were found in the step before (rule 2).
      if (this.#address !== null && emailKey(customer.email) === this.#address) return null;
      if (this.#isPerson(customer)) return 'BUYER';
    }
    const isGuest = attendees.some((ofItem) => ofItem?.some((attendee) => this.#isPerson(attendee)) ?? false);
    return isGuest ? 'GUEST' : null;
  }

  #isPerson({ name, email }: Pick<Attendee, 'name' | 'email'>): boolean {
    const texts = comparable(`${name}\n${email ?? ''}`);
    return this.#words.every((word) => texts.includes(word));
  }

  async #read(event: EventReader, orderId: string): Promise<OrderView | null> {
    const found = await event.read({ type: 'FindOrder', orderId, tickets: { after: null, limit: TICKETS_SHOWN } });
    return isRefusal(found) ? null : found.order;
  }
}
