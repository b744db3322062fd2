/**
 * Which personal data of a data folder are readable by anybody who has its journal, counted by event and field. It only
 * reads.
 *
 * 1. Every fact of archive and journal is looked at, as it is stored: a field counts as soon as it has a value, also
 *    one that this version does not write.
 * 2. What is sealed is counted apart. A text whose key was destroyed is erased, also where no fact of this folder says
 *    so: an older journal beside today's keys. A text whose key is neither there nor known to be destroyed is lost.
 * 3. Notes of facts that are about no order are counted apart: operators write them about dates and seats.
 * 4. A part that cannot be read, and facts of a newer version, are named: nobody can say what they have.
 * 5. The counts alone are kept in memory.
 */
import { JournalDamaged } from '#persistence/faults.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { KeyReader } from '#persistence/sqlite/key-file.ts';
import type { JournalView } from '#persistence/sqlite/view.ts';
import { keyIdOf } from '#domain/personal.ts';
import { isKnownFact } from '#domain/event/replay.ts';
import { SERVICE_FACT_TYPES, SERVICE_STREAM } from '#engine/service-facts.ts';

/** How often each field has a readable value. */
type FieldCounts = Readonly<Record<string, number>>;

/** The personal data of one event. */
export interface PersonalCounts {
  readonly orders: number;
  /** Orders of which something personal is readable. */
  readonly openOrders: number;
  /** The readable fields of orders. */
  readonly fields: FieldCounts;
  /** Notes of facts that are about no order, by the type of the fact (rule 3). */
  readonly otherNotes: FieldCounts;
  /** Sealed texts; those of them whose key is there, and those whose key was destroyed. */
  readonly sealedTexts: number;
  readonly openableTexts: number;
  readonly destroyedTexts: number;
  readonly erasedOrders: number;
  /** Keys that are still there though their order was erased: the next start destroys them. */
  readonly keptKeys: number;
  /** Keys of erased orders that the file of keys never had. */
  readonly unknownKeys: number;
}

export interface PersonalSurvey {
  readonly headSeq: number;
  readonly events: readonly (PersonalCounts & { readonly eventId: string })[];
  readonly total: PersonalCounts;
  /** What could not be read, in words (rule 4). */
  readonly unread: readonly string[];
}

interface SurveyOptions {
  /** Null where there is no file of keys. */
  readonly keys: Pick<KeyReader, 'stateOf'> | null;
  readonly onProgress?: (seq: number, headSeq: number) => void;
}

/** Sealed texts whose key is neither there nor destroyed (rule 2). */
export function lostTexts({ sealedTexts, openableTexts, destroyedTexts, unknownKeys }: PersonalCounts): number {
  return Math.max(0, sealedTexts - openableTexts - destroyedTexts - unknownKeys);
}

const PROGRESS_FACTS = 4_096;

/** Counts what is readable in a folder. Rejects only when the disk or the key store cannot be read. */
export async function surveyPersonalData(view: JournalView, options: SurveyOptions): Promise<PersonalSurvey> {
  const survey = new Survey(options.keys);
  const unread: string[] = [];
  let from = 0;
  for (;;) {
    try {
      for await (const row of view.facts(from)) {
        if (row.seq % PROGRESS_FACTS === 0) options.onProgress?.(row.seq, view.headSeq);
        survey.see(row);
      }
      break;
    } catch (error) {
      if (!(error instanceof JournalDamaged)) throw error;
      unread.push(error.message);
      // Where the archive is broken the journal is still read.
      if (from >= view.baseSeq) break;
      from = view.baseSeq;
    }
  }
  return { headSeq: view.headSeq, ...survey.report(), unread: [...unread, ...survey.unknownTypes()] };
}

type Counts = { -readonly [Field in keyof PersonalCounts]: PersonalCounts[Field] };

class Tally {
  readonly counts: Omit<Counts, 'fields' | 'otherNotes'> = {
    orders: 0,
    openOrders: 0,
    sealedTexts: 0,
    openableTexts: 0,
    destroyedTexts: 0,
    erasedOrders: 0,
    keptKeys: 0,
    unknownKeys: 0,
  };
  readonly fields = new Map<string, number>();
  readonly otherNotes = new Map<string, number>();

  add(other: Tally): void {
    for (const name of Object.keys(this.counts) as (keyof Tally['counts'])[]) this.counts[name] += other.counts[name];
    for (const [field, count] of other.fields) bump(this.fields, field, count);
    for (const [type, count] of other.otherNotes) bump(this.otherNotes, type, count);
  }

  toCounts(): PersonalCounts {
    return { ...this.counts, fields: sorted(this.fields), otherNotes: sorted(this.otherNotes) };
  }
}

class Survey {
  readonly #keys: SurveyOptions['keys'];
  readonly #byEvent = new Map<string, Tally>();
  readonly #unknown = new Map<string, number>();

  constructor(keys: SurveyOptions['keys']) {
    this.#keys = keys;
  }

  see({ eventId, type, data }: FactRow): void {
    if (eventId === SERVICE_STREAM) {
      if (!Object.hasOwn(SERVICE_FACT_TYPES, type)) bump(this.#unknown, type, 1);
      return;
    }
    if (!isKnownFact(type)) bump(this.#unknown, type, 1);
    const fields = JSON.parse(data) as StoredData;
    const tally = this.#tallyOf(eventId);
    switch (type) {
      case 'OrderPlaced':
        return this.#seeOrder(tally, fields);
      case 'OrderErased':
        return this.#seeErasure(tally, fields);
      case 'OrderCancelled':
        if (fields['cause'] === 'PERFORMANCE') break;
        return this.#seeNote(tally, 'cancellation.note', fields);
      case 'AmendmentRequested':
      case 'OrderAmended':
        for (const attendee of listOf(fields['attendees'])) countFields(tally.fields, 'attendees', attendee);
        this.#seeSealed(tally, fields['sealedAttendees']);
        if (fields['by'] === 'PERFORMANCE') break;
        return this.#seeNote(tally, 'amendments.note', fields);
      case 'RefundRequested':
      case 'RefundAnswered':
      case 'RefundRecorded':
        return this.#seeNote(tally, 'refunds.note', fields);
      case 'SoldAtCounter':
        return this.#seeNote(tally, 'counter.note', fields);
      case 'TicketScannedByHand':
        return this.#seeNote(tally, 'scans.note', fields);
    }
    if (hasValue(fields['note'])) bump(tally.otherNotes, `${type}.note`, 1);
  }

  #seeOrder(tally: Tally, { customer, items, tracking, personal }: StoredData): void {
    const { counts, fields } = tally;
    const before = sumOf(fields);
    countFields(fields, 'customer', customer);
    for (const item of listOf(items)) {
      for (const attendee of listOf(objectOf(item)['attendees'])) countFields(fields, 'attendees', attendee);
    }
    const texts = Object.values(objectOf(tracking)).filter(hasValue).length;
    if (texts > 0) bump(fields, 'tracking', texts);
    counts.orders += 1;
    if (sumOf(fields) > before) counts.openOrders += 1;
    this.#seeSealed(tally, objectOf(personal)['sealed']);
  }

  #seeNote(tally: Tally, field: string, { note, sealedNote }: StoredData): void {
    if (hasValue(note)) bump(tally.fields, field, 1);
    this.#seeSealed(tally, sealedNote);
  }

  #seeSealed({ counts }: Tally, sealed: unknown): void {
    if (typeof sealed !== 'string') return;
    counts.sealedTexts += 1;
    const state = this.#keys?.stateOf(keyIdOf(sealed));
    if (state === 'PRESENT') counts.openableTexts += 1;
    if (state === 'DESTROYED') counts.destroyedTexts += 1;
  }

  #seeErasure({ counts }: Tally, { keyIds }: StoredData): void {
    counts.erasedOrders += 1;
    for (const keyId of listOf(keyIds)) {
      if (typeof keyId !== 'string') continue;
      const state = this.#keys?.stateOf(keyId) ?? 'UNKNOWN';
      if (state === 'PRESENT') counts.keptKeys += 1;
      if (state === 'UNKNOWN') counts.unknownKeys += 1;
    }
  }

  report(): Pick<PersonalSurvey, 'events' | 'total'> {
    const total = new Tally();
    for (const tally of this.#byEvent.values()) total.add(tally);
    const events = [...this.#byEvent].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return {
      events: events.map(([eventId, tally]) => ({ eventId, ...tally.toCounts() })),
      total: total.toCounts(),
    };
  }

  unknownTypes(): string[] {
    return [...this.#unknown].map(
      ([type, count]) => `${count} of the type ${type}, which a newer version wrote: count with that version`,
    );
  }

  #tallyOf(eventId: string): Tally {
    const known = this.#byEvent.get(eventId);
    if (known !== undefined) return known;
    const tally = new Tally();
    this.#byEvent.set(eventId, tally);
    return tally;
  }
}

// ── stored data ──────────────────────────────────────────────────────────────────────────────────────────────────────

type StoredData = Readonly<Record<string, unknown>>;

function countFields(fields: Map<string, number>, of: string, person: unknown): void {
  for (const [name, value] of Object.entries(objectOf(person))) {
    if (hasValue(value)) bump(fields, `${of}.${snakeCase(name)}`, 1);
  }
}

function hasValue(value: unknown): boolean {
  return value !== null && value !== undefined && value !== '';
}

function objectOf(value: unknown): StoredData {
  return typeof value === 'object' && value !== null ? (value as StoredData) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Fields are named as in the API. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function bump(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}

function sorted(counts: ReadonlyMap<string, number>): FieldCounts {
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
