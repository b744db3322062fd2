/**
 * Keeps the tickets of large orders as JSON text, so that reading an order costs about the same however many tickets it
 * has.
 *
 * A page of a thousand tickets takes 50 ms to sign and some milliseconds to write, in slices. Afterwards the text is
 * reused while nothing that it shows has changed. The rest of an order is small and made for each request, and so are
 * the people on its tickets: nothing personal is kept.
 *
 * 1. A text shows the tickets at one moment; its key names everything that may change about them.
 * 2. Requests that come while a text is made share it.
 * 3. The texts are limited by their bytes (I10); those not used for longest are dropped first.
 */
import { LRUCache } from 'lru-cache';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { OrderView, TicketView } from '#domain/view.ts';
import type { OpenedOrder } from '#privacy/personal-data.ts';
import type { TicketSigner } from '#tickets/signing.ts';
import { claimsOf, toAttendeeBody, toNamelessTicketBody } from './body.ts';

/** For an order with fewer tickets, a kept text is not worth its memory. */
export const LARGE_TICKETS_MIN = 50;

const KEPT_MAX = 10_000;
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

/** What a ticket's text takes beside its characters. */
const TICKET_TEXT_BYTES = 64;

/** Tickets that are written in one slice: under a millisecond. */
const TICKETS_A_SLICE = 100;

/** Both lists of an order's tickets as JSON, without the people on the tickets. */
export interface TicketTexts {
  readonly ids: string;
  readonly objects: readonly TicketText[];
  /** The ticket after which the next page begins; null on the last one. */
  readonly nextAfter: string | null;
}

interface TicketText extends Pick<TicketView, 'itemIndex' | 'offset'> {
  /** The JSON of its fields, without the attendee and the closing brace. */
  readonly text: string;
}

/** The tickets as a list of JSON, with the people on them. */
export function ticketObjectsOf({ objects }: TicketTexts, { attendees }: Pick<OpenedOrder, 'attendees'>): string {
  const texts = objects.map(({ text, itemIndex, offset }) => {
    const attendee = attendees[itemIndex]?.[offset];
    return `${text},"attendee":${attendee === undefined ? 'null' : JSON.stringify(toAttendeeBody(attendee))}}`;
  });
  return `[${texts.join(',')}]`;
}

type PageView = Pick<OrderView, 'tickets' | 'ticketsNextAfter'>;

interface TicketPages {
  /**
   * The texts under a key; where they are not kept, they are made from the tickets that `read` finds. Null where it
   * finds none under that key any more.
   */
  textsOf(key: string, eventId: string, read: () => Promise<PageView | null>): Promise<TicketTexts | null>;
}

/**
 * Everything that may change about a page of an order's tickets: whether they are there and valid, how they were
 * amended last, and the event's seats. An amendment that waits for its payment changes them when it is paid: the
 * order's total changes then.
 */
export function ticketsKey(
  {
    order: { id, status, ticketCount, totalCents, amendments },
    definitionVersion,
  }: {
    readonly order: Pick<OrderView, 'id' | 'status' | 'ticketCount' | 'totalCents'> & {
      readonly amendments: readonly Pick<OrderView['amendments'][number], 'id'>[];
    };
    readonly definitionVersion: number;
  },
  after: string | null,
): string {
  const amendment = amendments[0]?.id ?? '';
  return [id, status, ticketCount, totalCents, amendment, after ?? '', definitionVersion].join(' ');
}

export function createTicketPages(signer: TicketSigner): TicketPages {
  const kept = new LRUCache<string, TicketTexts>({
    max: KEPT_MAX,
    maxSize: KEPT_BYTES_MAX,
    sizeCalculation: ({ ids, objects }) =>
      objects.reduce((bytes, { text }) => bytes + 2 * text.length + TICKET_TEXT_BYTES, 2 * ids.length + 200),
  });
  const underWay = new Map<string, Promise<TicketTexts | null>>();
  return {
    async textsOf(key, eventId, read) {
      const ready = kept.get(key) ?? underWay.get(key);
      if (ready !== undefined) return ready;
      const making = write(read, eventId, signer).finally(() => underWay.delete(key));
      underWay.set(key, making);
      const texts = await making;
      if (texts !== null) kept.set(key, texts);
      return texts;
    },
  };
}

async function write(
  read: () => Promise<PageView | null>,
  eventId: string,
  signer: TicketSigner,
): Promise<TicketTexts | null> {
  const page = await read();
  if (page === null) return null;
  const { tickets, ticketsNextAfter: nextAfter } = page;
  await signer.prepare(tickets.filter(({ isValid }) => isValid).map((ticket) => claimsOf(ticket, eventId)));
  const objects: TicketText[] = [];
  for (const [index, ticket] of tickets.entries()) {
    const text = JSON.stringify(toNamelessTicketBody(ticket, eventId, signer)).slice(0, -1);
    objects.push({ text, itemIndex: ticket.itemIndex, offset: ticket.offset });
    if (index % TICKETS_A_SLICE === TICKETS_A_SLICE - 1) await nextRound();
  }
  return { ids: JSON.stringify(tickets.map(({ id }) => id)), objects, nextAfter };
}
