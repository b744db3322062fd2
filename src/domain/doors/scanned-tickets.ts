/**
 * The tickets that were scanned, each with its scans, as one short text: 100,000 of them are at the doors in an
 * evening.
 *
 * 1. A ticket has a number, which counts from 0 and never changes. No ticket ever leaves.
 * 2. A read gives a copy of a ticket. To change a ticket, put another one in its place.
 * 3. Each change of where a ticket is has a number, which counts from 1. Only the last change of a ticket leads to it,
 *    so that a feed which goes on after a change has every ticket once, as it is now.
 * 4. A text has ids of dates, doors, stations and types as positions in a list of names, and times in base 36.
 */
import { GIVEN, type Given } from '#client/doors/scan.ts';
import type { MergedScan } from '#client/doors/merging.ts';
import { IdIndex } from '../collections/hash-tables.ts';

/** An entry or exit of a ticket, or one that was refused. */
export interface TicketScan extends MergedScan {
  readonly performanceId: string;
  readonly doorId: string;
  readonly verdict: Given;
  /** What the station decided by itself. */
  readonly given: Given | null;
  /** A gate decided, not a station without a network. */
  readonly isOfGate: boolean;
  readonly receivedAt: number;
}

/**
 * The scans of one code: of a ticket of the event or, where a station let somebody in by another code, of that code.
 */
export interface TicketScans {
  /** The end of the ticket's id; of another code `~` and its digest. */
  readonly key: string;
  /** Of the ticket; null for another code. */
  readonly ticketTypeId: string | null;
  readonly performanceId: string | null;
  /** In the order of their arrival. */
  readonly scans: readonly TicketScan[];
}

/** Texts in one array: an array that outgrows its memory is copied whole. */
const CHUNK_RECORDS = 4_096;

const BASE = 36;
const KINDS = ['ENTRY', 'EXIT'] as const;
const UNFIT = [null, 'VOID', 'OTHERWISE'] as const;

export class ScannedTickets {
  readonly #chunks: string[][] = [];
  readonly #names: string[] = [];
  readonly #numberOfName = new Map<string, number>();
  readonly #byKey = new IdIndex();
  readonly #byScan = new IdIndex();
  readonly #changes = new ChangeLog();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The number of the newest change (rule 3). */
  get lastChange(): number {
    return this.#changes.last;
  }

  at(number: number): TicketScans {
    return this.#unpack(this.#text(number));
  }

  /** The number of a ticket; null where it was not scanned. */
  find(key: string): number | null {
    return this.#byKey.find(key, (number) => this.#text(number).startsWith(`${key} `));
  }

  /** The number of the ticket that has a scan; null where none has. */
  findScan(scanId: string): number | null {
    return this.#byScan.find(scanId, (number) => this.#text(number).includes(` ${scanId},`));
  }

  /** Puts a ticket in the place of the one with its number, or at the end; with a change of its own where it is one. */
  put(number: number | null, ticket: TicketScans, isChange: boolean): number {
    const place = number ?? this.#count;
    if (number === null) {
      if (place % CHUNK_RECORDS === 0) this.#chunks.push([]);
      this.#count += 1;
      this.#byKey.add(ticket.key, place);
    }
    const before = number === null ? 0 : this.changeOf(number);
    const change = isChange ? this.#changes.add(place, before, (each) => this.changeOf(each)) : before;
    this.#set(place, ticket, change);
    return place;
  }

  /** Restores a ticket with its last change, 0 where it has none; tickets come in the order of their numbers. */
  restore(ticket: TicketScans, change: number): number {
    const number = this.put(null, ticket, false);
    this.#set(number, ticket, change);
    this.#changes.restore(number, change);
    return number;
  }

  changeOf(number: number): number {
    return Number.parseInt(this.#text(number).split(' ', 2)[1]!, BASE);
  }

  /** The tickets that changed after a change, in the order of their last changes, with these (rule 3). */
  *changedAfter(change: number): Generator<{ readonly change: number; readonly number: number }> {
    for (const each of this.#changes.after(change)) if (this.changeOf(each.number) === each.change) yield each;
  }

  #text(number: number): string {
    return this.#chunks[Math.floor(number / CHUNK_RECORDS)]![number % CHUNK_RECORDS]!;
  }

  #set(number: number, ticket: TicketScans, change: number): void {
    for (const { id } of ticket.scans) this.#byScan.add(id, number);
    this.#chunks[Math.floor(number / CHUNK_RECORDS)]![number % CHUNK_RECORDS] = this.#pack(ticket, change);
  }

  /** `key change type date scan scan …`; joined, because a sum of texts keeps its parts. */
  #pack({ key, ticketTypeId, performanceId, scans }: TicketScans, change: number): string {
    const parts = [key, change.toString(BASE), this.#nameNumber(ticketTypeId), this.#nameNumber(performanceId)];
    for (const scan of scans) parts.push(this.#packScan(scan));
    return parts.join(' ');
  }

  #unpack(text: string): TicketScans {
    const [key = '', , type = '', performance = '', ...scans] = text.split(' ');
    return {
      key,
      ticketTypeId: this.#nameAt(type),
      performanceId: this.#nameAt(performance),
      scans: scans.map((scan) => this.#unpackScan(scan)),
    };
  }

  #packScan(scan: TicketScan): string {
    const { id, kind, verdict, given, unfit, isUndone, isOfGate, at, receivedAt, stationId, doorId } = scan;
    const mark = KINDS.indexOf(kind) + 2 * Number(isUndone) + 4 * Number(isOfGate) + 8 * UNFIT.indexOf(unfit);
    const decided = given === null ? GIVEN.length : GIVEN.indexOf(given);
    const flags = mark.toString(BASE) + GIVEN.indexOf(verdict).toString(BASE) + decided.toString(BASE);
    const times = `${at.toString(BASE)},${(receivedAt - at).toString(BASE)}`;
    const names = `${this.#nameNumber(stationId)},${this.#nameNumber(scan.performanceId)},${this.#nameNumber(doorId)}`;
    return `${id},${flags},${times},${names}`;
  }

  #unpackScan(text: string): TicketScan {
    const [id = '', flags = '', at = '', delay = '', station = '', performance = '', door = ''] = text.split(',');
    const [mark = 0, verdict = 0, given = 0] = [...flags].map((flag) => Number.parseInt(flag, BASE));
    const countedAt = Number.parseInt(at, BASE);
    return {
      id,
      kind: KINDS[mark & 1]!,
      performanceId: this.#nameAt(performance)!,
      doorId: this.#nameAt(door)!,
      stationId: this.#nameAt(station),
      at: countedAt,
      receivedAt: countedAt + Number.parseInt(delay, BASE),
      verdict: GIVEN[verdict]!,
      given: GIVEN[given] ?? null,
      unfit: UNFIT[mark >> 3]!,
      isUndone: (mark & 2) !== 0,
      isOfGate: (mark & 4) !== 0,
    };
  }

  #nameNumber(name: string | null): string {
    if (name === null) return '';
    let number = this.#numberOfName.get(name);
    if (number === undefined) this.#numberOfName.set(name, (number = this.#names.push(name) - 1));
    return number.toString(BASE);
  }

  #nameAt(number: string): string | null {
    return number === '' ? null : this.#names[Number.parseInt(number, BASE)]!;
  }
}

/** Changes and the tickets that they are of, eight bytes each; those that a later one has replaced are dropped. */
export class ChangeLog {
  /** Pairs of a change and a ticket's number. */
  #pairs = new Int32Array(64);
  #length = 0;
  #replaced = 0;
  #isSorted = true;
  last = 0;

  /** Adds a change of a ticket whose change before, 0 for none, it replaces. */
  add(number: number, before: number, changeOf: (number: number) => number): number {
    if (before > 0) this.#replaced += 1;
    if (this.#replaced * 2 > this.#length) this.#dropReplaced(number, changeOf);
    this.last += 1;
    this.#push(this.last, number);
    return this.last;
  }

  /** Tickets may come in any order. */
  restore(number: number, change: number): void {
    if (change === 0) return;
    this.#isSorted &&= change > this.last;
    this.#push(change, number);
    this.last = Math.max(this.last, change);
  }

  *after(change: number): Generator<{ readonly change: number; readonly number: number }> {
    for (let index = this.#indexAfter(change); index < this.#length; index += 1) {
      yield { change: this.#pairs[2 * index]!, number: this.#pairs[2 * index + 1]! };
    }
  }

  #indexAfter(change: number): number {
    if (!this.#isSorted) this.#sort();
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#pairs[2 * middle]! <= change) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #sort(): void {
    const pairs = Array.from({ length: this.#length }, (_, index) => this.#pairs.slice(2 * index, 2 * index + 2));
    pairs.sort((one, other) => one[0]! - other[0]!).forEach((pair, index) => this.#pairs.set(pair, 2 * index));
    this.#isSorted = true;
  }

  #push(change: number, number: number): void {
    if (2 * this.#length === this.#pairs.length) {
      const pairs = new Int32Array(2 * Math.ceil((this.#length * 5) / 4));
      pairs.set(this.#pairs);
      this.#pairs = pairs;
    }
    this.#pairs[2 * this.#length] = change;
    this.#pairs[2 * this.#length + 1] = number;
    this.#length += 1;
  }

  #dropReplaced(changing: number, changeOf: (number: number) => number): void {
    let length = 0;
    for (let index = 0; index < this.#length; index += 1) {
      const [change, number] = this.#pairs.subarray(2 * index, 2 * index + 2);
      if (number === changing || changeOf(number!) !== change) continue;
      this.#pairs.set([change!, number!], 2 * length);
      length += 1;
    }
    this.#length = length;
    this.#replaced = 0;
  }
}
