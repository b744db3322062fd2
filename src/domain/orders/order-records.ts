/**
 * The orders of an event: objects while something may still happen to them, packed afterwards.
 *
 * An order as objects takes 2.4 to 4.9 KB, most of it in maps from its ids. A packed one takes under 1 KB with its
 * hold: one text, and an index that does not keep the ids. It is unpacked for its readers. Copies are kept of orders
 * that were settled or looked up just now, because the answer, the next turn and their buyers need them at once. Copies
 * are also kept of orders whose tickets were looked up lately.
 *
 * 1. The number of an order counts the orders of the event. Numbers never change, and no order ever leaves.
 * 2. A packed order is read as a copy or as a kept object (rule 3), which must not be changed. To change an order, take
 *    it with `open`, and give it back with `settle` when nothing more is expected to happen to it.
 * 3. To pack an order takes as long as it has tickets: some 5 ms for 10,000, and 20 before that is compiled. A large
 *    order that was settled or read lately stays an object until others take its space, so that turns which change
 *    parts of it do not pack it each time.
 */
import { hashOf, IdIndex } from '../collections/hash-tables.ts';
import { invariant } from '../invariant.ts';
import { pack, unpack } from '../collections/packing.ts';
import type { Order } from './order.ts';

/** Orders in one array: an array that outgrows its memory is copied whole. */
const CHUNK_RECORDS = 4_096;

/** An order of so many tickets is large (rule 3). */
const LARGE_TICKETS_MIN = 500;

/** Tickets of large orders that stay objects although they are settled, over all events: some 10 MB. */
const KEPT_TICKETS_MAX = 100_000;

/** Orders that were settled or looked up just now, by slots of their ids, and as many by tickets; over all events. */
const RECENT_SLOTS = 128;
const RECENT_SEED = 0x9e3779b1;

const TAG_STATUS_BITS = 3;

/** The bits of a tag that say the status; the others say the buyer. */
export const TAG_STATUS_MASK = (1 << TAG_STATUS_BITS) - 1;

const TAG_SEED = 0x7feb352d;

interface Chunk {
  readonly records: (Order | string)[];
  /** Status and buyer of each order, so that lists need not unpack every order. */
  readonly tags: Uint32Array;
}

/** The ids by which an order is found. */
function idsOf(order: Order): readonly string[] {
  const sessions = order.payments.flatMap(({ id, checkoutSessionId }) =>
    checkoutSessionId === null ? [id] : [id, checkoutSessionId],
  );
  const voided = order.changed?.voidedTickets.map(({ id }) => id) ?? [];
  return [order.id, ...sessions, ...order.ticketIds, ...voided];
}

/** A tag of an order's status and buyer. Equal ones have equal tags; so does one in 2²⁹ other buyers. */
export function tagOf(statusIndex: number, buyerKey: string): number {
  return ((hashOf(buyerKey, TAG_SEED) << TAG_STATUS_BITS) | statusIndex) >>> 0;
}

export class OrderRecords implements Iterable<Order> {
  readonly #chunks: Chunk[] = [];
  readonly #index = new IdIndex();
  readonly #tagOf: (order: Order) => number;
  readonly #self = new WeakRef(this);
  #length = 0;
  #settled = 0;
  /** The order that was opened last, until it is settled: the facts of a turn are of one order and look it up often. */
  #opened: Order | null = null;

  constructor(tagOfOrder: (order: Order) => number) {
    this.#tagOf = tagOfOrder;
  }

  get length(): number {
    return this.#length;
  }

  /** How many are settled. */
  get settledCount(): number {
    return this.#settled;
  }

  /** In the order of placing. */
  *[Symbol.iterator](): Generator<Order> {
    for (let number = 0; number < this.#length; number += 1) yield this.at(number);
  }

  at(number: number): Order {
    const record = this.#recordAt(number)!;
    return typeof record === 'string' ? this.#unpack(record) : record;
  }

  /** The tag of an order, without unpacking it. */
  tagAt(number: number): number {
    const { records, tags } = this.#chunk(number);
    const record = records[number % CHUNK_RECORDS]!;
    return typeof record === 'string' ? tags[number % CHUNK_RECORDS]! : this.#tagOf(record);
  }

  /** The order of an id. */
  get(orderId: string): Order | undefined {
    if (this.#opened?.id === orderId) return this.#opened;
    const slot = recentSlot(orderId);
    const known = recent[slot];
    if (known?.order.id === orderId && this.#recordAt(known.order.number) === known.text) return known.order;
    const order = this.find(orderId, ({ id }) => id === orderId);
    const text = order && this.#recordAt(order.number);
    if (typeof text === 'string') recent[slot] = { order: order!, text };
    return order;
  }

  /** The order to which an id leads and that `isIt`. */
  find(id: string, isIt: (order: Order) => boolean): Order | undefined {
    return this.#first(id, (number) => this.at(number), isIt);
  }

  /** The orders to which ids with these hashes lead, and that `isIt`. */
  hashed(hashes: readonly number[], isIt: (order: Order) => boolean): readonly Order[] {
    const numbers = new Set(hashes.flatMap((hash) => [...this.#index.hashed(hash)]));
    return Array.from(numbers, (number) => this.at(number)).filter(isIt);
  }

  /** As `find`, for readers alone: they share what was unpacked lately. */
  read(id: string, isIt: (order: Order) => boolean): Order | undefined {
    return this.#first(id, (number) => this.#shared(number), isIt);
  }

  #first(id: string, at: (number: number) => Order, isIt: (order: Order) => boolean): Order | undefined {
    let order: Order | undefined;
    const number = this.#index.find(id, (each) => isIt((order = at(each))));
    return number === null ? undefined : order;
  }

  /** Puts a new order at the end. */
  append(order: Order): void {
    invariant(order.number === this.#length, 'the number of an order counts the orders before it (rule 1)');
    if (order.number % CHUNK_RECORDS === 0) {
      this.#chunks.push({ records: [], tags: new Uint32Array(CHUNK_RECORDS) });
    }
    this.#chunk(order.number).records.push(order);
    this.#length += 1;
    for (const id of idsOf(order)) this.note(id, order);
  }

  /** Notes a further id of an order. */
  note(id: string, { number }: Order): void {
    this.#index.add(id, number);
  }

  /** An order to be changed (rule 2). */
  open(orderId: string): Order | undefined {
    if (this.#opened?.id === orderId) return this.#opened;
    const order = this.get(orderId);
    if (order === undefined) return undefined;
    const { records } = this.#chunk(order.number);
    const place = order.number % CHUNK_RECORDS;
    const isSettled = typeof records[place] === 'string' || forgetKept(order);
    if (!isSettled) return (this.#opened = order);
    const opened = changeable(order);
    records[place] = opened;
    this.#settled -= 1;
    return (this.#opened = opened);
  }

  /** Takes an order back to which nothing more is expected to happen (rule 2). */
  settle(order: Order): void {
    if (typeof this.#recordAt(order.number) !== 'string' && !kept.has(order)) this.#settled += 1;
    if (ticketCountOf(order) >= LARGE_TICKETS_MIN) this.#keep(order, null);
    else recent[recentSlot(order.id)] = { order, text: this.#pack(order) };
    this.#opened = null;
  }

  #pack(order: Order, text = pack(order)): string {
    const { records, tags } = this.#chunk(order.number);
    const place = order.number % CHUNK_RECORDS;
    records[place] = text;
    tags[place] = this.#tagOf(order);
    return text;
  }

  #unpack(text: string): Order {
    const order = unpack(text) as Order;
    if (ticketCountOf(order) >= LARGE_TICKETS_MIN) this.#keep(order, text);
    return order;
  }

  /**
   * Keeps a large order as an object, with its packed text while that is valid; others are packed to make space (rule
   * 3).
   */
  #keep(order: Order, text: string | null): void {
    this.#chunk(order.number).records[order.number % CHUNK_RECORDS] = order;
    forgetKept(order);
    const ticketCount = ticketCountOf(order);
    kept.set(order, { records: this.#self, ticketCount, text });
    keptTickets += ticketCount;
    for (const [oldest, { records, text: known }] of kept) {
      if (keptTickets <= KEPT_TICKETS_MAX || oldest === order) break;
      const owner = records.deref();
      if (owner !== undefined) owner.#pack(oldest, known ?? undefined);
      forgetKept(oldest);
    }
  }

  #shared(number: number): Order {
    const record = this.#recordAt(number)!;
    if (typeof record !== 'string') return record;
    const slot = number & (RECENT_SLOTS - 1);
    const known = readLately[slot];
    if (known?.text === record) return known.order;
    const order = this.#unpack(record);
    readLately[slot] = { order, text: record };
    return order;
  }

  #recordAt(number: number): Order | string | undefined {
    return this.#chunks[Math.floor(number / CHUNK_RECORDS)]?.records[number % CHUNK_RECORDS];
  }

  #chunk(number: number): Chunk {
    return this.#chunks[Math.floor(number / CHUNK_RECORDS)]!;
  }
}

/** A copy that a change may write to; read-only parts are shared. */
function changeable(order: Order): Order {
  return { ...order, payments: order.payments.map((payment) => ({ ...payment })), refunds: [...order.refunds] };
}

/** Tickets of an order, void ones included: what packing it costs. */
function ticketCountOf({ ticketIds, changed }: Order): number {
  return ticketIds.length + (changed?.voidedTickets.length ?? 0);
}

/** A large settled order that is kept as an object; with its packed text if it was not changed since. */
interface KeptOrder {
  /** Whose it is, as long as the event is not evicted. */
  readonly records: WeakRef<OrderRecords>;
  readonly ticketCount: number;
  readonly text: string | null;
}

/** In the order in which they came. */
const kept = new Map<Order, KeptOrder>();
let keptTickets = 0;

function forgetKept(order: Order): boolean {
  keptTickets -= kept.get(order)?.ticketCount ?? 0;
  return kept.delete(order);
}

/** An order with its packed text, valid as long as the order is not changed. */
interface Unpacked {
  readonly order: Order;
  readonly text: string;
}

/** A Map whose oldest entry left for each new one took a thirtieth of a purchase. */
const newSlots = (): (Unpacked | undefined)[] => new Array<Unpacked | undefined>(RECENT_SLOTS).fill(undefined);

/** By slots of their ids. */
const recent = newSlots();

function recentSlot(orderId: string): number {
  return hashOf(orderId, RECENT_SEED) & (RECENT_SLOTS - 1);
}

/** By slots of their numbers: the tickets of one order are often scanned one after another. */
const readLately = newSlots();
