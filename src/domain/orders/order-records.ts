/**
 * The orders of an event: those to which something may still happen as objects, the others packed.
 *
 * An order as objects takes 2.4 to 4.9 KB, most of it in maps from its ids. A packed one takes under 1 KB with its
 * hold: one text, and an index that does not keep the ids. It is unpacked for each reader; copies are kept of large
 * ones, of those that were settled just now, because the answer shows them and their buyers look at them at once, and
 * of those whose tickets were looked up lately.
 *
 * 1. The number of an order counts the orders of the event. Numbers never change, and no order ever leaves.
 * 2. What is read of a packed order is a copy. To change an order, take it with `open`, and give it back with `settle`
 *    when nothing more is expected to happen to it.
 */
import { hashOf, IdIndex } from '../collections/hash-tables.ts';
import { invariant } from '../invariant.ts';
import { pack, unpack } from '../collections/packing.ts';
import type { Order } from './order.ts';

/** Orders in one array: an array that outgrows its memory is copied whole. */
const CHUNK_RECORDS = 4_096;

/** Packed texts from this length on are unpacked once for several readers: a millisecond for 10,000 tickets. */
const LARGE_TEXT_MIN = 16 * 1024;

/** Characters of packed texts whose orders are cached, over all events. */
const CACHED_CHARS_MAX = 4 * 1024 * 1024;

/** Orders that were settled just now, by slots of their ids, and as many that were read lately; over all events. */
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

/** A tag of an order's status and buyer: equal for equal ones, and for one in 2²⁹ others. */
export function tagOf(statusIndex: number, buyerKey: string): number {
  return ((hashOf(buyerKey, TAG_SEED) << TAG_STATUS_BITS) | statusIndex) >>> 0;
}

export class OrderRecords implements Iterable<Order> {
  readonly #chunks: Chunk[] = [];
  readonly #index = new IdIndex();
  readonly #tagOf: (order: Order) => number;
  #length = 0;
  #packed = 0;
  /** The one that was opened last, until it is settled: the facts of a turn are of one order and ask for it often. */
  #opened: Order | null = null;

  constructor(tagOfOrder: (order: Order) => number) {
    this.#tagOf = tagOfOrder;
  }

  get length(): number {
    return this.#length;
  }

  /** How many are packed. */
  get packedCount(): number {
    return this.#packed;
  }

  /** In the order of placing. */
  *[Symbol.iterator](): Generator<Order> {
    for (let number = 0; number < this.#length; number += 1) yield this.at(number);
  }

  at(number: number): Order {
    const record = this.#chunk(number).records[number % CHUNK_RECORDS]!;
    return typeof record === 'string' ? unpackOrder(record) : record;
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
    const { order, text } = recent[recentSlot(orderId)] ?? {};
    if (order?.id === orderId && this.#recordAt(order.number) === text) return order;
    return this.find(orderId, ({ id }) => id === orderId);
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
    const order = this.find(orderId, ({ id }) => id === orderId);
    if (order === undefined) return undefined;
    const { records } = this.#chunk(order.number);
    const place = order.number % CHUNK_RECORDS;
    const record = records[place]!;
    if (typeof record !== 'string') return (this.#opened = order);
    // Readers share the cached copy of a large one; any other was unpacked for this call.
    const opened = isLarge(record) ? changeable(order) : order;
    records[place] = opened;
    this.#packed -= 1;
    return (this.#opened = opened);
  }

  /** Packs an order to which nothing more is expected to happen (rule 2). */
  settle(order: Order): void {
    const chunk = this.#chunk(order.number);
    const place = order.number % CHUNK_RECORDS;
    if (typeof chunk.records[place] !== 'string') this.#packed += 1;
    const text = pack(order);
    chunk.records[place] = text;
    if (isLarge(text)) keep(text, order);
    else keepRecent(text, order);
    chunk.tags[place] = this.#tagOf(order);
    this.#opened = null;
  }

  #shared(number: number): Order {
    const record = this.#recordAt(number)!;
    if (typeof record !== 'string') return record;
    const slot = number & (RECENT_SLOTS - 1);
    const known = readLately[slot];
    if (known?.text === record) return known.order;
    const order = unpackOrder(record);
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

/** A copy with all of its own that a change may write to: what is read-only is shared. */
function changeable(order: Order): Order {
  return { ...order, payments: order.payments.map((payment) => ({ ...payment })), refunds: [...order.refunds] };
}

const cached = new Map<string, Order>();
let cachedChars = 0;

/** An order, and the text that it is as long as it is not changed again. */
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

/** By slots of their numbers: whoever comes to a door with others is scanned with them. */
const readLately = newSlots();

function keepRecent(text: string, order: Order): void {
  recent[recentSlot(order.id)] = { order, text };
}

function isLarge(text: string): boolean {
  return text.length >= LARGE_TEXT_MIN;
}

function unpackOrder(text: string): Order {
  if (!isLarge(text)) return unpack(text) as Order;
  const order = cached.get(text) ?? (unpack(text) as Order);
  keep(text, order);
  return order;
}

/** Keeps a copy of a large order for readers, the most recently read one at the end. */
function keep(text: string, order: Order): void {
  if (cached.delete(text)) cachedChars -= text.length;
  cachedChars += text.length;
  cached.set(text, order);
  for (const oldest of cached.keys()) {
    if (cachedChars <= CACHED_CHARS_MAX) break;
    cached.delete(oldest);
    cachedChars -= oldest.length;
  }
}
