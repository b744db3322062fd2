/**
 * Makes a data folder in which the personal data of orders is sealed from one in which facts have it open.
 *
 * `persistence/folder/rewrite.ts` writes the facts anew; here is what is written in their place, where the keys come
 * from, and the proof that nothing else is different.
 *
 * 1. The keys of a group of facts are durable before the facts are written.
 * 2. Keys that the old folder has are taken over, with its address key: texts that are sealed already stay as they are.
 * 3. Nothing is taken for granted: every event of the new folder is replayed, its orders are opened with the new keys,
 *    and they and all figures are compared with those of the old folder. A difference ends the work, and the new folder
 *    is removed.
 * 4. A fact of a newer version ends the work: nobody can say whether something personal is in it.
 */
import { chmodSync, existsSync } from 'node:fs';
import { hash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { removeDraft } from '#persistence/folder/backup.ts';
import { FILE_MODE } from '#persistence/files.ts';
import { KEY_BYTES, KeysUnusable, type Key } from '#persistence/keys.ts';
import { rewriteFolder, type RewriteReport } from '#persistence/folder/rewrite.ts';
import { KeyFile, KeyReader, KEYS_FILE, keysPath, openKeysOnDisk } from '#persistence/sqlite/key-file.ts';
import { readKeysId } from '#persistence/sqlite/keys.ts';
import { openFile } from '#persistence/sqlite/archive.ts';
import { journalPath, readNotedKeysId } from '#persistence/sqlite/schema.ts';
import type { StoredFact } from '#persistence/chain.ts';
import { viewJournal } from '#persistence/sqlite/view.ts';
import { isKnownFact, UnknownFact } from '#domain/event/replay.ts';
import { sealStored } from './stored-orders.ts';
import type { OrderItem, SealedOperatorNote } from '#domain/fact.ts';
import type { OrderView } from '#domain/view.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { eventIdsIn, openEventOnDisk, type EventOnDisk } from './events.ts';
import { createSealer } from '#privacy/sealing.ts';
import { SERVICE_FACT_TYPES, SERVICE_STREAM } from '#engine/service-facts.ts';

interface SealReport extends RewriteReport {
  /** Texts that were sealed, in so many facts. */
  readonly sealedFacts: number;
  /** Orders whose data were sealed. */
  readonly sealedOrders: number;
  readonly events: number;
  /** Orders that were compared with those of the old folder. */
  readonly comparedOrders: number;
}

interface SealOptions {
  /** Further files of the old folder to copy, by name. */
  readonly files: readonly string[];
  readonly onProgress?: (step: string, done: number, total: number) => void;
}

/** An order or a figure of the new folder is not what it was: nothing is left of the new folder. */
class SealedDiffers extends Error {
  readonly hint = 'Report it. The old folder is as it was, and can be served from.';
  constructor(what: string) {
    super(`the sealed folder would differ from the old one: ${what}`);
    this.name = 'SealedDiffers';
  }
}

/**
 * Makes `to` a data folder with the facts of `from` sealed. Rejects with CopyRefused, JournalDamaged, UnknownFact,
 * SealedDiffers, or an error of the disk; nothing is left of `to` then.
 */
export async function sealFolder(from: string, to: string, { files, onProgress }: SealOptions): Promise<SealReport> {
  const sealer = new FactSealer(to);
  try {
    const report = await rewriteFolder(from, to, {
      // Copied over the file of keys that is being written, they would destroy it.
      files: files.filter((name) => !name.startsWith(KEYS_FILE)),
      begin: () => sealer.begin(from),
      rewrite: (facts) => sealer.rewrite(facts),
      onProgress: (seq, headSeq) => onProgress?.('sealing facts', seq, headSeq),
    });
    sealer.close();
    const { sealedFacts, sealedOrders } = sealer;
    return { ...report, sealedFacts, sealedOrders, ...(await compareFolders(from, to, onProgress)) };
  } catch (error) {
    sealer.close();
    if (sealer.hasBegun) removeDraft(to);
    throw error;
  }
}

// ── sealing ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const PREFIX_BYTES = 6;

/** Seals the facts of a folder, and stores the keys in the file of the new one. */
class FactSealer {
  sealedFacts = 0;
  sealedOrders = 0;
  hasBegun = false;
  readonly #to: string;
  readonly #prefix = randomBytes(PREFIX_BYTES).toString('base64url');
  /**
   * Their numbers in ids have base 36, as those of a service: a cluster that takes the keys over then fills its
   * batches.
   */
  #made = 0;
  /** Keys that are not stored yet (rule 1). */
  #keys: Key[] = [];
  #file: KeyFile | null = null;
  #sealingOf: ReturnType<typeof createSealer> | null = null;

  constructor(to: string) {
    this.#to = to;
  }

  /** Takes the keys of the old folder over (rule 2); resolves with their id. */
  async begin(from: string): Promise<string> {
    this.hasBegun = true;
    refuseLostKeys(from);
    const path = keysPath(this.#to);
    if (existsSync(keysPath(from))) {
      const old = new KeyReader(keysPath(from));
      try {
        await old.copyTo(path);
      } finally {
        old.close();
      }
      chmodSync(path, FILE_MODE);
    }
    this.#file = new KeyFile(path);
    const { keysId, addressKey } = this.#file.identity;
    this.#sealingOf = createSealer({ addressKey, take: () => this.#newKey() });
    return keysId;
  }

  async rewrite(facts: readonly StoredFact[]): Promise<readonly string[]> {
    const texts = facts.map((fact) => this.#sealed(fact));
    this.#file!.store(this.#keys);
    this.#keys = [];
    return texts;
  }

  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  #sealed({ seq, eventId, type, data }: StoredFact): string {
    if (eventId === SERVICE_STREAM) {
      if (!Object.hasOwn(SERVICE_FACT_TYPES, type)) throw new UnknownFact(seq, type);
      return data;
    }
    if (!isKnownFact(type)) throw new UnknownFact(seq, type);
    const sealed = sealStored(type, data, this.#sealingOf!(eventId));
    if (sealed === null) return data;
    this.sealedFacts += 1;
    if (type === 'OrderPlaced') this.sealedOrders += 1;
    return JSON.stringify(sealed);
  }

  #newKey(): Key {
    const key = { id: `${this.#prefix}.${this.#made.toString(36)}`, key: randomBytes(KEY_BYTES) };
    this.#made += 1;
    this.#keys.push(key);
    return key;
  }
}

/**
 * Throws KeysUnusable where the folder has not the keys that its journal names: the new one would hide that they are
 * lost.
 */
function refuseLostKeys(from: string): void {
  const noted = openFile({ path: journalPath(from) }, readNotedKeysId);
  const found = readKeysId(from);
  if (noted === null || noted === found) return;
  const what = found === null ? 'is missing' : "is not the one that the journal's personal data are sealed with";
  throw new KeysUnusable(
    `keys.db of ${from} ${what}`,
    'Put keys.db back from a copy of the keys; where there is none, start the service once with KEYS_LOST=accept.',
  );
}

// ── comparing ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Compares every event and every order of two folders (rule 3). */
async function compareFolders(
  from: string,
  to: string,
  onProgress: SealOptions['onProgress'],
): Promise<Pick<SealReport, 'events' | 'comparedOrders'>> {
  const [old, sealed] = [openFolder(from), openFolder(to)];
  try {
    const eventIds = eventIdsIn(old.view);
    if (!isDeepStrictEqual(eventIdsIn(sealed.view), eventIds)) throw new SealedDiffers('it has other events');
    let comparedOrders = 0;
    for (const [index, eventId] of eventIds.entries()) {
      onProgress?.('comparing events', index, eventIds.length);
      comparedOrders += await compareEvents(eventId, old, sealed);
    }
    return { events: eventIds.length, comparedOrders };
  } finally {
    old.close();
    sealed.close();
  }
}

type OpenFolder = ReturnType<typeof openFolder>;

function openFolder(folder: string) {
  const view = viewJournal(folder)!;
  const keys = openKeysOnDisk(folder);
  return {
    folder,
    view,
    reader: new PersonalDataReader(keys),
    close() {
      keys.close();
      view.close();
    },
  };
}

/** One event is in memory at a time: of the old one digests are kept. */
async function compareEvents(eventId: string, old: OpenFolder, sealed: OpenFolder): Promise<number> {
  const [before, after] = [await digestsOf(eventId, old), await digestsOf(eventId, sealed)];
  if (before.figures !== after.figures) throw new SealedDiffers(`the figures of ${eventId} are not equal`);
  if (before.orders.length !== after.orders.length) throw new SealedDiffers(`${eventId} has other orders`);
  for (const [index, { orderId, digest }] of before.orders.entries()) {
    if (after.orders[index]!.digest !== digest) {
      throw new SealedDiffers(`the order ${orderId} of ${eventId} is not equal`);
    }
  }
  return before.orders.length;
}

interface EventDigests {
  readonly figures: string;
  readonly orders: readonly { readonly orderId: string; readonly digest: string }[];
}

/**
 * Digests of everything that an event and its orders show, except what is sealed in one folder and open in the other.
 */
async function digestsOf(eventId: string, { folder, view, reader }: OpenFolder): Promise<EventDigests> {
  const event = (await openEventOnDisk(folder, view, eventId))!;
  const figures = digestOf(await event.read({ type: 'ReadTotals', performanceId: null }));
  const orders: { orderId: string; digest: string }[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(event, after);
    const opened = await reader.openAll(page.orders);
    for (const [index, order] of page.orders.entries()) {
      orders.push({ orderId: order.id, digest: digestOf([withoutTexts(order), opened[index]]) });
    }
    after = page.nextAfter;
  } while (after !== null);
  return { figures, orders };
}

/** Fields may stand in another order where they were opened. */
function digestOf(value: unknown): string {
  const text = JSON.stringify(value, (_name, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
  return hash('sha256', text, 'base64');
}

const PAGE = { status: null, email: null, limit: 500, ticketsMax: Number.MAX_SAFE_INTEGER } as const;

function readPage(event: EventOnDisk, after: string | null) {
  return event.read({ type: 'ListOrders', ...PAGE, after });
}

function withoutTexts({ personal: _personal, ...view }: OrderView): Omit<OrderView, 'personal'> {
  const { items, refunds, cancellation } = view;
  return {
    ...view,
    items: items.map(withoutPeople),
    refunds: refunds.map(withoutNote),
    cancellation: cancellation && withoutNote(cancellation),
  };
}

/** The item of an older fact has its people, in the view as well. */
function withoutPeople(item: OrderView['items'][number]): OrderView['items'][number] {
  const { isNamed: _isNamed, attendees: _attendees, ...rest } = item as OrderItem;
  return rest;
}

function withoutNote<Mark extends SealedOperatorNote>({
  sealedNote: _sealedNote,
  ...mark
}: Mark): Omit<Mark, 'sealedNote'> {
  return { ...mark, note: null };
}
