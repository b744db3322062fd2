/**
 * Opens the personal data of orders where they are shown: order status and page, operators, exports, notifications,
 * payments.
 *
 * Views of orders cross every border sealed (`domain/personal.ts`). What is opened here is for one answer and is kept
 * by nobody.
 *
 * 1. A text whose key is gone reads as erased, whether or not a fact says so: an older journal may be restored beside
 *    today's keys.
 * 2. A text that its key does not open is reported once and reads as unreadable; the order itself is shown.
 * 3. The keys of all orders of one call are read at once. A key store that cannot be read is refused as Overloaded.
 * 4. Opening lets other work run between slices: an order may have hundreds of people, and a list hundreds of orders.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { KeyStoreFault, type KeyStore } from '#persistence/keys.ts';
import type { FactRow } from '#persistence/journal.ts';
import {
  keyIdOf,
  type Attendee,
  type PersonalData,
  type SealedOrder,
  type SealedPersonal,
  type SealingFactType,
  sealingTypeOf,
} from '#domain/personal.ts';
import type { SealedOperatorNote } from '#domain/fact.ts';
import type { CancellationView, CounterView, OrderView, RefundView, TicketScanView } from '#domain/view.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import { openSealed, SealDamaged, type SealedFor } from './sealing.ts';
import { reportTrouble } from '#actors/trouble.ts';

/** The part of a key store that opening needs. */
type KeySource = Pick<KeyStore, 'read'>;

/** What of an order's view has sealed texts; a view of the order fits as it is. */
interface WithPersonal {
  readonly personal: SealedOrder;
  readonly refunds?: readonly RefundView[];
  readonly amendments?: readonly SealedOperatorNote[];
  readonly counter?: CounterView | null;
  readonly cancellation?: CancellationView | null;
  readonly scans?: readonly NotedScan[];
}

/** A scan of a ticket, with what operators said of it. */
type NotedScan = Pick<TicketScanView, 'operator' | 'note' | 'sealedNote' | 'undoneBy'>;

/** The personal data of an order, as far as they can be read. */
export interface OpenedOrder {
  /** ERASED: nobody can read them any more (rule 1); UNREADABLE: the stored text is damaged (rule 2). */
  readonly state: 'OPEN' | 'ERASED' | 'UNREADABLE';
  /** Null where they were not erased, and where no fact says when. */
  readonly erasedAt: number | null;
  /** Null unless they are open. */
  readonly customer: PersonalData['customer'] | null;
  /** One entry for each item; empty unless they are open. */
  readonly attendees: PersonalData['attendees'];
  readonly tracking: PersonalData['tracking'];
  readonly counterNote: string | null;
  readonly cancellationNote: string | null;
  /** One entry for each refund of the view. */
  readonly refundNotes: readonly (string | null)[];
  /** One entry for each amendment of the view. */
  readonly amendmentNotes: readonly (string | null)[];
  /** One entry for each scan of a ticket. */
  readonly scanNotes: readonly ScanNotes[];
}

interface ScanNotes {
  readonly note: string | null;
  readonly undoneNote: string | null;
}

/** Who comes with the tickets of an item of an order, or null where nobody was named. */
export function peopleOfItem(
  { items }: Pick<OrderView, 'items'>,
  index: number,
  attendees: PersonalData['attendees'],
): readonly Attendee[] | null {
  const { people } = items[index]!;
  if (people === undefined) return attendees[index] ?? null;
  const named = people.flatMap(({ itemIndex, offset }) => attendees[itemIndex]?.[offset] ?? []);
  return named.length === 0 ? null : named;
}

/** Texts opened in one slice: under a millisecond. */
const TEXTS_A_SLICE = 32;

/** Damaged texts whose report is remembered (rule 2). */
const REPORTED_MAX = 1_000;

export class PersonalDataReader {
  readonly #keys: KeySource;
  readonly #reported = new Set<string>();

  constructor(keys: KeySource) {
    this.#keys = keys;
  }

  async open(order: WithPersonal): Promise<OpenedOrder> {
    const texts = sealedTextsOf(order);
    return this.#open(order, texts.length === 0 ? NO_KEYS : await this.readKeys(texts.map(keyIdOf)));
  }

  /** Opens several orders with one read of their keys (rule 3). */
  async openAll(orders: readonly WithPersonal[]): Promise<readonly OpenedOrder[]> {
    const texts = orders.flatMap(sealedTextsOf);
    const keys = texts.length === 0 ? NO_KEYS : await this.readKeys(texts.map(keyIdOf));
    const opened: OpenedOrder[] = [];
    let sinceRound = 0;
    for (const order of orders) {
      opened.push(this.#open(order, keys));
      sinceRound += sealedTextsOf(order).length;
      if (sinceRound < TEXTS_A_SLICE) continue;
      sinceRound = 0;
      await nextRound();
    }
    return opened;
  }

  /**
   * The data of a stored fact, with the opened content beside each sealed text: null where nobody can read it any more.
   */
  async openFact({ type, data }: Pick<FactRow, 'type' | 'data'>): Promise<string> {
    const factType = sealingTypeOf(type);
    if (factType === null) return data;
    const fields = JSON.parse(data) as SealableFields;
    const { orderId, personal, sealedNote, sealedAttendees } = fields;
    const texts = [
      ['opened', sealedNote ?? personal?.sealed],
      ['openedAttendees', sealedAttendees],
    ] as const;
    const sealed = texts.flatMap(([name, text]) => (text ? [{ name, text }] : []));
    if (sealed.length === 0) return data;
    const keys = await this.readKeys(sealed.map(({ text }) => keyIdOf(text)));
    const opened = sealed.map(({ name, text }) => {
      const read = this.#openText<unknown>(keys, { orderId, factType }, text);
      return [name, read.state === 'OPEN' ? read.value : null] as const;
    });
    return JSON.stringify({ ...fields, ...Object.fromEntries(opened) });
  }

  /** The keys with these ids that there are. Rejects with Overloaded where they cannot be read. */
  async readKeys(keyIds: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    try {
      return await this.#keys.read(keyIds);
    } catch (error) {
      if (!(error instanceof KeyStoreFault)) throw error;
      throw new Overloaded('the keys of personal data cannot be read', RETRY_AFTER_SECONDS, error);
    }
  }

  #open(
    { personal, refunds = [], amendments = [], counter = null, cancellation = null, scans = [] }: WithPersonal,
    keys: ReadonlyMap<string, Buffer>,
  ): OpenedOrder {
    const { orderId, erasure } = personal;
    const noteOf = (noted: SealedOperatorNote, factType: SealingFactType): string | null => {
      if (noted.sealedNote === undefined) return noted.note;
      const note = this.#openText<string>(keys, { orderId, factType }, noted.sealedNote);
      return note.state === 'OPEN' ? note.value : null;
    };
    const notes = {
      counterNote: counter === null ? null : noteOf(counter, 'SoldAtCounter'),
      cancellationNote: cancellation === null ? null : noteOf(cancellation, 'OrderCancelled'),
      refundNotes: refunds.map((refund) => noteOf(refund, 'RefundRecorded')),
      amendmentNotes: amendments.map((amendment) => noteOf(amendment, 'OrderAmended')),
      scanNotes: scans.map((scan) => ({
        note: noteOf(scan, 'TicketScannedByHand'),
        undoneNote: scan.undoneBy && noteOf(scan.undoneBy, 'TicketScannedByHand'),
      })),
    };
    const data = this.#openData(personal, keys);
    if (data.state === 'OPEN') {
      const { customer, tracking } = data.value;
      const attendees = [...data.value.attendees, ...this.#openPeople(personal, keys)];
      return { state: 'OPEN', erasedAt: null, customer, attendees, tracking, ...notes };
    }
    const { state } = data;
    return { state, erasedAt: erasure?.at ?? null, customer: null, attendees: [], tracking: null, ...notes };
  }

  #openData({ orderId, open, sealed }: SealedOrder, keys: ReadonlyMap<string, Buffer>): UnsealResult<PersonalData> {
    if (open !== null) return { state: 'OPEN', value: open };
    if (sealed === null) return { state: 'ERASED' };
    return this.#openText<PersonalData>(keys, { orderId, factType: 'OrderPlaced' }, sealed);
  }

  /** The people that amendments named; null for those that nobody can read any more. */
  #openPeople(
    { orderId, amended = [] }: SealedOrder,
    keys: ReadonlyMap<string, Buffer>,
  ): readonly (readonly Attendee[] | null)[] {
    return amended.map(({ sealed, open }) => {
      if (sealed === null) return open;
      const people = this.#openText<readonly Attendee[]>(keys, { orderId, factType: 'OrderAmended' }, sealed);
      return people.state === 'OPEN' ? people.value : null;
    });
  }

  /** What was sealed as a value of the type; or why it cannot be read. */
  #openText<Value>(keys: ReadonlyMap<string, Buffer>, about: SealedFor, sealed: string): UnsealResult<Value> {
    const keyId = keyIdOf(sealed);
    const key = keys.get(keyId);
    if (key === undefined) return { state: 'ERASED' };
    try {
      return { state: 'OPEN', value: openSealed(key, about, sealed) as Value };
    } catch (error) {
      if (!(error instanceof SealDamaged)) throw error;
      this.#report(keyId, error);
      return { state: 'UNREADABLE' };
    }
  }

  #report(keyId: string, error: SealDamaged): void {
    if (this.#reported.has(keyId) || this.#reported.size >= REPORTED_MAX) return;
    this.#reported.add(keyId);
    reportTrouble('personal-data', error.message, error);
  }
}

type UnsealResult<Value> =
  { readonly state: 'OPEN'; readonly value: Value } | { readonly state: 'ERASED' | 'UNREADABLE' };

interface SealableFields {
  readonly orderId: string;
  readonly personal?: SealedPersonal;
  readonly sealedNote?: string;
  readonly sealedAttendees?: string;
}

const NO_KEYS: ReadonlyMap<string, Buffer> = new Map();

/** A key store where nothing was ever sealed. */
export const NOTHING_SEALED: KeySource = { read: () => Promise.resolve(NO_KEYS) };

function sealedTextsOf(view: WithPersonal): readonly string[] {
  const { personal, refunds = [], amendments = [], counter = null, cancellation = null, scans = [] } = view;
  const people = (personal.amended ?? []).flatMap(({ sealed }) => sealed ?? []);
  const data = personal.sealed === null ? people : [personal.sealed, ...people];
  const noted = [...refunds, ...amendments, ...scans, ...scans.map(({ undoneBy }) => undoneBy)];
  if (cancellation === null && counter === null && noted.length === 0) return data;
  return [...data, ...[counter, cancellation, ...noted].flatMap((each) => each?.sealedNote ?? [])];
}
