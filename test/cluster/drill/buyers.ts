/**
 * The buyers of a drill and what they were answered: holds, releases, paid orders. Every buyer insists on an answer, so
 * that the outcome of each request is known at the end, whatever happened meanwhile.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { changeHold, placeHold, releaseHold, settlePayment, startCheckout } from '#rehearsal/player/buyer-requests.ts';
import { insist, noteWrong, type DrillAnswer, type DrillCalls } from './calls.ts';

/** A hold that was answered 201. */
export interface LedgerEntry {
  readonly eventId: string;
  readonly sessionKey: string;
  readonly holdId: string;
  tickets: number;
  end: 'held' | 'released' | 'sold';
  orderId: string | null;
}

export interface DrillSale extends DrillCalls {
  readonly eventIds: readonly string[];
  readonly ledger: LedgerEntry[];
  /** Milliseconds that a buyer rests between two purchases, at most. */
  readonly restMsMax: number;
  isClosing: boolean;
}

const QUANTITY_MAX = 3;
const PROBE_MS = 40;
let sessions = 0;

/** Unique over all buyers of all drills of this process. */
function newName(what: string): string {
  sessions += 1;
  return `${what}-${process.pid}-${sessions}`;
}

/** Buys again and again until the sale is closing. */
export async function buy(sale: DrillSale): Promise<void> {
  while (!sale.isClosing) {
    const entry = await takeTickets(sale, sale.chance.pick(sale.eventIds));
    if (entry !== null) {
      if (sale.chance.percent(30)) await release(sale, entry);
      else if (sale.chance.percent(50)) await purchase(sale, entry);
    }
    await pause(sale.chance.next() * sale.restMsMax);
  }
}

/** Places a hold and enters it into the ledger; null where the tickets are gone. */
export async function takeTickets(
  sale: DrillSale,
  eventId: string,
  tickets: number = sale.chance.between(1, QUANTITY_MAX),
): Promise<LedgerEntry | null> {
  const sessionKey = newName('buyer');
  const request = placeHold(eventId, sessionKey, itemsOf(tickets), {}, newName('key-of-hold'));
  const answer = await insist(sale, { ...request, eventId });
  if (answer.status === 400 && answer.body['code'] === 'INSUFFICIENT_TICKETS') return null;
  if (!expected(sale, 'a hold', answer, 201)) return null;
  const holdId = String(answer.body['id']);
  const entry: LedgerEntry = { eventId, sessionKey, holdId, tickets, end: 'held', orderId: null };
  sale.ledger.push(entry);
  return entry;
}

/**
 * Changes a hold of one event again and again, at nodes that are not struck, so that every time without an answer is
 * seen however few buyers there are.
 */
export async function probe(sale: DrillSale, eventId: string): Promise<void> {
  const entry = await takeTickets(sale, eventId, 1);
  while (entry !== null && !sale.isClosing) {
    const { sessionKey, holdId } = entry;
    const tickets = entry.tickets === 1 ? 2 : 1;
    const change = changeHold(sessionKey, holdId, itemsOf(tickets), newName('key-of-change'));
    const changed = await insist(sale, { ...change, eventId, avoidsStruck: true });
    if (expected(sale, 'a change', changed, 200)) entry.tickets = tickets;
    await pause(PROBE_MS);
  }
}

function itemsOf(quantity: number): readonly object[] {
  return [{ ticket_type_id: 'single', selling_stage_id: 'general', quantity }];
}

async function release(sale: DrillSale, entry: LedgerEntry): Promise<void> {
  const { eventId, sessionKey, holdId } = entry;
  const answer = await insist(sale, { ...releaseHold(sessionKey, holdId), eventId });
  if (expected(sale, 'a release', answer, 200, 204)) entry.end = 'released';
}

/** Checks the hold out and pays it. */
export async function purchase(sale: DrillSale, entry: LedgerEntry): Promise<void> {
  const { eventId, sessionKey, holdId } = entry;
  const customer = { email: `${sessionKey}@example.com`, name: 'Drill Buyer' };
  const purchase = { hold_id: holdId, session_key: sessionKey, customer };
  const start = startCheckout(eventId, purchase, newName('key-of-start'));
  const started = await insist(sale, { ...start, eventId });
  if (!expected(sale, 'the start of a checkout', started, 201)) return;
  entry.orderId = String(started.body['order_id']);
  const payment = settlePayment(String(started.body['checkout_session_id']), 'paid');
  const paid = await insist(sale, { ...payment, eventId });
  if (expected(sale, 'a payment', paid, 200) && paid.body['status'] === 'CONFIRMED') entry.end = 'sold';
  else noteWrong(sale, `a paid order is ${String(paid.body['status'])}`);
}

function expected(sale: DrillSale, what: string, answer: DrillAnswer, ...statuses: readonly number[]): boolean {
  if (statuses.includes(answer.status)) return true;
  noteWrong(sale, `${what} is answered ${answer.status} at ${answer.node}: ${JSON.stringify(answer.body)}`);
  return false;
}
