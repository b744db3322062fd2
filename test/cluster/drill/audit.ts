/**
 * What must be true when everybody has their answers: each hold that was answered exists exactly once, the stock is the
 * sum of the holds and orders, and every node says the same.
 */
import type { HoldBody } from '#http/buyers/holds.ts';
import { isDeepStrictEqual } from 'node:util';
import { until } from '../../fixtures/until.ts';
import type { NodeProcess } from '../../fixtures/nodes.ts';
import { noteWrong } from './calls.ts';
import type { DrillSale, LedgerEntry } from './buyers.ts';

interface Stock {
  readonly capacity: number;
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
}

interface FactsBody {
  readonly facts: readonly { readonly type: string }[];
  readonly next_before: number | null;
}

const STATUS = { held: 'ACTIVE', released: 'RELEASED', sold: 'CONSUMED' } as const;
const READS_AT_ONCE = 16;
/** A second is promised. */
const PUBLIC_MS_MAX = 1_500;

/** Enters everything that is wrong into the tally; returns the tickets that are held and sold. */
export async function audit(
  sale: DrillSale,
  nodes: readonly NodeProcess[],
): Promise<{ readonly held: number; readonly sold: number }> {
  await inTurns(sale.ledger, (entry) => auditHold(sale, nodes, entry));
  const totals = { held: 0, sold: 0 };
  for (const eventId of sale.eventIds) {
    const entries = sale.ledger.filter((entry) => entry.eventId === eventId);
    const { available, held, sold } = await auditStock(sale, nodes, eventId, entries);
    totals.held += held;
    totals.sold += sold;
    await auditFacts(sale, nodes, eventId, entries);
    await auditPublicView(sale, nodes, eventId, available);
  }
  return totals;
}

async function auditHold(sale: DrillSale, nodes: readonly NodeProcess[], entry: LedgerEntry): Promise<void> {
  const { holdId, sessionKey, end, orderId } = entry;
  const answers = await Promise.all(
    nodes.map((node) => node.get<HoldBody>(`/api/checkout/holds/${holdId}`, { 'x-session-key': sessionKey })),
  );
  const [first, ...others] = answers;
  const { status, body } = first!;
  if (status !== 200) return noteWrong(sale, `an answered hold reads ${status}: ${JSON.stringify({ entry, body })}`);
  if (body.status !== STATUS[end]) noteWrong(sale, `a hold that is ${end} reads ${body.status}: ${holdId}`);
  const tickets = body.items.reduce((sum, item) => sum + item.ticket_count, 0);
  // A hold that was released loses its items after ten minutes.
  const isCut = end === 'released' && body.items.length === 0;
  if (!isCut && tickets !== entry.tickets)
    noteWrong(sale, `a hold of ${entry.tickets} tickets has ${tickets}: ${holdId}`);
  if (!others.every((other) => isDeepStrictEqual(other.body, body))) {
    noteWrong(sale, `the nodes answer differently: ${JSON.stringify(answers.map((answer) => answer.body))}`);
  }
  if (end !== 'sold') return;
  for (const node of nodes) {
    const order = await node.get(`/api/checkout/status/${orderId}`);
    if (order.body['status'] !== 'CONFIRMED') noteWrong(sale, `${node.name}: a paid order is ${order.body['status']}`);
  }
}

/** Held and sold tickets are those of the ledger, at each node. */
async function auditStock(
  sale: DrillSale,
  nodes: readonly NodeProcess[],
  eventId: string,
  entries: readonly LedgerEntry[],
): Promise<Stock> {
  const ticketsOf = (end: LedgerEntry['end']): number =>
    entries.filter((entry) => entry.end === end).reduce((sum, { tickets }) => sum + tickets, 0);
  const stocks: Stock[] = [];
  for (const node of nodes) {
    const { status, body } = await node.admin.get<{ performances: readonly Stock[] }>(`/admin/events/${eventId}`);
    if (status !== 200) {
      noteWrong(sale, `${node.name} reads ${eventId} as ${status}`);
      continue;
    }
    const [stock] = body.performances;
    const { capacity, available, held, sold, blocked } = stock!;
    if (available + held + sold + blocked !== capacity) noteWrong(sale, `${eventId}: ${JSON.stringify(stock)}`);
    if (held !== ticketsOf('held') || sold !== ticketsOf('sold')) {
      const answered = `${ticketsOf('held')} held and ${ticketsOf('sold')} sold`;
      noteWrong(sale, `${eventId} at ${node.name}: ${held} held and ${sold} sold, but ${answered} were answered`);
    }
    stocks.push(stock!);
  }
  return stocks[0] ?? { capacity: 0, available: 0, held: 0, sold: 0, blocked: 0 };
}

/**
 * Each answered hold was placed once: one that was placed twice would have replaced itself, and the stock would not
 * show it.
 */
async function auditFacts(
  sale: DrillSale,
  nodes: readonly NodeProcess[],
  eventId: string,
  entries: readonly LedgerEntry[],
): Promise<void> {
  const counts = new Map<string, number>();
  let before = '';
  for (;;) {
    const page = await nodes[0]!.admin.get<FactsBody>(`/admin/journal?event_id=${eventId}&limit=200${before}`);
    if (page.status !== 200) return noteWrong(sale, `the facts of ${eventId} read ${page.status}`);
    for (const { type } of page.body.facts) counts.set(type, (counts.get(type) ?? 0) + 1);
    if (page.body.next_before === null) break;
    before = `&before=${page.body.next_before}`;
  }
  const placed = counts.get('HoldPlaced') ?? 0;
  if (placed !== entries.length) {
    noteWrong(sale, `${eventId}: ${placed} holds were placed, but ${entries.length} were answered`);
  }
  const started = entries.filter(({ orderId }) => orderId !== null).length;
  const orders = counts.get('OrderPlaced') ?? 0;
  if (orders !== started) noteWrong(sale, `${eventId}: ${orders} orders, but ${started} were answered`);
}

/** What the public sees may be a second old at other nodes, and then is the same everywhere. */
async function auditPublicView(
  sale: DrillSale,
  nodes: readonly NodeProcess[],
  eventId: string,
  available: number,
): Promise<void> {
  const path = `/api/events/public/${eventId.replace('evt_', '')}`;
  const shownAt = async (node: NodeProcess): Promise<number | undefined> => {
    const { body } = await node.get<{ ticketAvailability?: readonly { available: number }[] }>(path);
    return body.ticketAvailability?.[0]?.available;
  };
  const begin = performance.now();
  let shown: readonly (number | undefined)[] = [];
  await until(async () => {
    shown = await Promise.all(nodes.map(shownAt));
    return shown.every((count) => count === available) || performance.now() - begin > PUBLIC_MS_MAX;
  });
  if (shown.some((count) => count !== available)) {
    noteWrong(sale, `${eventId}: the nodes show ${shown.join(', ')} tickets, but ${available} are available`);
  }
}

async function inTurns<Each>(all: readonly Each[], work: (each: Each) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < all.length) await work(all[next++]!);
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, worker));
}
