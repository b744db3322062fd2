/**
 * Sales and erasures of a service that is killed meanwhile, and what must be true of its folder afterwards.
 *
 * 1. A book keeps what was asked and what was answered. What was asked and not answered may have happened or not.
 * 2. Every name and address has ten letters that nothing else here has. Five are too few: in some megabytes of sealed
 *    texts they occur by chance in one run of twenty.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { KeyReader, keysPath, openKeysOnDisk } from '#persistence/sqlite/key-file.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { verifyFolder } from '#offline/verification.ts';
import { keyIdOf } from '#domain/personal.ts';
import { viewJournal } from '#persistence/sqlite/view.ts';
import type { FactData } from '#domain/fact.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import type { ServiceClient } from '../fixtures/client.ts';
import { clubNight } from '../fixtures/events.ts';
import { START_CHECKOUT, type Started } from '../fixtures/checkout.ts';

const PERSONAL = /qxqzqvwkjq/i;

/** A floor for many, with tickets for money and tickets for nothing. */
export const club = clubNight({
  hold_minutes: 600,
  payment_minutes: 700,
  localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 100_000 }],
  ticketTypes: [
    { id: 'single', name: 'Single', locality_id: 'floor' },
    { id: 'guest', name: 'Guest', locality_id: 'floor' },
  ],
  sellingStages: [{ id: 'regular', name: 'Regular', prices: { single: 1900, guest: 0 } }],
});

/** What is known of the orders of a folder (1). */
export class OrderBook {
  /** The name of the buyer of every order that was answered. */
  readonly bought = new Map<string, string>();
  /** Orders whose erasure was asked. */
  readonly asked = new Set<string>();
  /** Orders whose erasure was answered. */
  readonly erased = new Set<string>();
  #buyers = 0;

  copy(): OrderBook {
    const book = new OrderBook();
    for (const [id, name] of this.bought) book.bought.set(id, name);
    for (const id of this.asked) book.asked.add(id);
    for (const id of this.erased) book.erased.add(id);
    book.#buyers = this.#buyers;
    return book;
  }

  newName(): string {
    this.#buyers += 1;
    return `Qxqzqvwkjq ${this.#buyers}`;
  }
}

/** Calls of buyers and of an operator. They reject when the service is gone. */
export class Shop {
  readonly book: OrderBook;
  readonly #service: ServiceClient;

  constructor(service: ServiceClient, book: OrderBook) {
    this.#service = service;
    this.book = book;
  }

  /** Buys a ticket for nothing, or one for money that is paid at once. */
  async buy(ticketType: 'guest' | 'single'): Promise<string> {
    const name = this.book.newName();
    const answer = await this.#service.post<Started>(START_CHECKOUT, {
      event_id: 'evt_club',
      items: [{ ticket_type_id: ticketType, selling_stage_id: 'regular', quantity: 1, attendees: [{ name }] }],
      customer: { email: `${name.replace(' ', '')}@example.com`, name },
      tracking: { gclid: name },
      accept_terms: true,
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    const { order_id: id, checkout_session_id: sessionId } = answer.body;
    this.book.bought.set(id, name);
    if (ticketType === 'guest') return id;
    const paid = await this.#service.post(`/sandbox/payments/${sessionId}`, { outcome: 'paid' });
    assert.equal(paid.status, 200, JSON.stringify(paid.body));
    return id;
  }

  /** Writes a note with the buyer's name on an order. */
  async note(orderId: string): Promise<void> {
    const body = { amount: 100, note: `for ${this.book.bought.get(orderId)}` };
    const answer = await this.#service.admin.post(`/admin/orders/${orderId}/refunds`, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }

  async erase(orderId: string): Promise<void> {
    this.book.asked.add(orderId);
    const answer = await this.#service.admin.post(`/admin/orders/${orderId}/erase`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    this.book.erased.add(orderId);
  }

  async snapshot(): Promise<void> {
    const answer = await this.#service.admin.post('/admin/snapshot', { prune: true });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }

  /**
   * Orders are answered as they were bought, or erased: in their page, their status and to operators. Looks at so many
   * at most.
   */
  async check(most = Infinity): Promise<void> {
    const looked = [...this.book.bought].slice(-most);
    for (const [id, name] of looked) {
      const order = await this.#service.admin.get<AdminOrderBody>(`/admin/orders/${id}`);
      assert.equal(order.status, 200, `order ${id} was answered and is gone`);
      if (this.book.erased.has(id)) assert.equal(order.body.personal_data, 'ERASED', id);
      else if (!this.book.asked.has(id)) assert.equal(order.body.personal_data, 'OPEN', id);
      const isErased = order.body.personal_data === 'ERASED';
      assert.equal(order.body.customer?.name ?? null, isErased ? null : name);
      const page = await (await fetch(`${this.#service.publicUrl}/orders/${id}`)).text();
      const status = await this.#service.get(`/api/checkout/status/${id}`);
      const texts = JSON.stringify([order.body, page, status.body]);
      assert.equal(PERSONAL.test(texts), !isErased, texts);
    }
  }
}

interface Sealed {
  readonly row: FactRow;
  readonly orderId: string;
  readonly keyId: string;
}

/** The sealed texts of a folder and the keys that erasures name. */
async function readFacts(folder: string): Promise<{ readonly sealed: readonly Sealed[]; readonly named: Set<string> }> {
  const view = viewJournal(folder);
  assert.ok(view !== null, `there is no journal in ${folder}`);
  const sealed: Sealed[] = [];
  const named = new Set<string>();
  try {
    for await (const row of view.facts()) {
      if (row.type === 'OrderErased') {
        for (const id of (JSON.parse(row.data) as FactData['OrderErased']).keyIds) named.add(id);
      }
      const text = /"sealed(?:Note)?":"([^"]+)"/.exec(row.data)?.[1];
      if (text === undefined) continue;
      const { orderId } = JSON.parse(row.data) as { readonly orderId: string };
      sealed.push({ row, orderId, keyId: keyIdOf(text) });
    }
  } finally {
    view.close();
  }
  return { sealed, named };
}

/**
 * What must be true of a folder at any moment, also before the next start: no text without its key, no key after its
 * erasure.
 */
export async function checkKilled(folder: string, book: OrderBook): Promise<void> {
  const { sealed, named } = await readFacts(folder);
  const keys = new KeyReader(keysPath(folder));
  try {
    for (const { orderId, keyId, row } of sealed) {
      const state = keys.stateOf(keyId);
      if (book.erased.has(orderId))
        assert.equal(state, 'DESTROYED', `${row.type} of ${orderId}, whose erasure was answered`);
      else if (named.has(keyId)) assert.notEqual(state, 'UNKNOWN', `${row.type} of ${orderId}, which was erased`);
      else assert.equal(state, 'PRESENT', `${row.type} of ${orderId}, which nobody erased`);
    }
  } finally {
    keys.close();
  }
  const placed = new Set(sealed.filter(({ row }) => row.type === 'OrderPlaced').map(({ orderId }) => orderId));
  for (const id of book.bought.keys()) assert.ok(placed.has(id), `order ${id} was answered and is gone`);
  assert.deepEqual(filesThatTell(folder), []);
}

/** What must be true after a start: every erasure that the journal has is complete. */
export async function checkStarted(folder: string): Promise<void> {
  const { problems, keys } = await verifyFolder(folder);
  assert.deepEqual(problems, []);
  assert.deepEqual([keys.lost, keys.kept], [0, 0]);
}

/** What a copy from before says of the orders that it has, with the keys that lie beside it. */
export async function checkOldCopy(folder: string, book: OrderBook): Promise<void> {
  const keys = openKeysOnDisk(folder);
  try {
    const reader = new PersonalDataReader(keys);
    for (const { row, orderId } of (await readFacts(folder)).sealed) {
      const opened = await reader.openFact(row);
      if (book.erased.has(orderId)) assert.ok(!PERSONAL.test(opened), `an old copy tells of ${orderId}: ${opened}`);
      else if (!book.asked.has(orderId)) assert.match(opened, PERSONAL);
    }
  } finally {
    keys.close();
  }
}

/** The files of a folder in which something about people is readable (2). */
function filesThatTell(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(path.join(folder, name)).isFile())
    .filter((name) => PERSONAL.test(readFileSync(path.join(folder, name), 'latin1')));
}
