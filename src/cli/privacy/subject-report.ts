/**
 * What is kept about a person, read from a data folder (`subject-search.ts`) and shown as `GET /admin/subject` does.
 */
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView } from '#domain/view.ts';
import { openEventOnDisk, eventIdsIn, type EventOnDisk } from '#offline/events.ts';
import type { KeysOnDisk } from '#persistence/sqlite/key-file.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { JournalView } from '#persistence/sqlite/view.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { SEARCH_BEGIN, searchSubject, type SubjectPorts } from '#privacy/subject-search.ts';
import { toSubjectReport, type SubjectReport } from '#service/subject.ts';

/** A data folder, opened to be read. */
interface OpenFolder {
  readonly folder: string;
  readonly view: JournalView;
  readonly keys: KeysOnDisk;
}

/** Finds everything about an address. Rejects where the keys cannot be read: an answer with gaps would be wrong. */
export async function readSubject(
  open: OpenFolder,
  email: string,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<SubjectReport> {
  const personalData = new PersonalDataReader(open.keys);
  const events = new EventsOnDisk(open, onProgress);
  const at = Date.now();
  const pages: SubjectReport[] = [];
  for (let position: typeof SEARCH_BEGIN | null = SEARCH_BEGIN; position !== null;) {
    const page = await searchSubject({ events, personalData }, email, { position, limit: ORDERS_A_PAGE });
    const purchases = [];
    const facts = new Map<string, readonly FactRow[]>();
    for (const purchase of page.purchases) {
      const { order } = purchase;
      purchases.push({ ...purchase, order: { ...(await withAllTickets(events, order)), scans: order.scans } });
      facts.set(order.id, await factsAbout(open.view, order));
    }
    const found = { ...page, purchases };
    pages.push(await toSubjectReport({ email, found, at }, ({ id }) => facts.get(id) ?? []));
    position = page.next;
  }
  return {
    ...pages.at(-1)!,
    orders: pages.flatMap(({ orders }) => orders),
    attendances: pages.flatMap(({ attendances }) => attendances),
    unread_events: pages.flatMap(({ unread_events: unread }) => unread),
  };
}

/** Orders found before the next look at the folder. */
const ORDERS_A_PAGE = 1_000;

type SubjectEvents = SubjectPorts['events'];

/**
 * The events of a folder, each read as of the view. The one that was read last stays open, because a search comes back
 * to it.
 */
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
  const whole = { after: null, limit: order.ticketCount, isWhole: true };
  const found = await event!.read({ type: 'FindOrder', orderId: order.id, tickets: whole });
  if (isRefusal(found)) throw new Error(`an order that is listed is found: ${order.id}`);
  return found.order;
}

/** The facts that name an order or its hold. Cost: a pass over the facts of its event. */
async function factsAbout(view: JournalView, { id, holdId, event }: OrderView): Promise<FactRow[]> {
  const facts = await view.factsOf(event.id);
  return [...facts].filter(({ data }) => data.includes(id) || data.includes(holdId));
}
