/**
 * Whether every sealed text of a folder has its key, and no erased one has.
 *
 * 1. A text whose key was destroyed is erased, whether or not a fact of this folder says so: an older journal beside
 *    today's keys.
 * 2. A text whose key is neither there nor known to be destroyed, and that no fact says is erased, is lost: a finding.
 * 3. A key that is there although a fact says that it was erased is a finding, unless a service destroys it meanwhile.
 * 4. Only what is out of order is kept in memory.
 */
import { existsSync } from 'node:fs';
import { KeysUnusable } from '#persistence/keys.ts';
import { KeyReader } from '#persistence/sqlite/key-file.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { Finding } from '#persistence/faults.ts';
import type { FactData, FactType } from '#domain/fact.ts';
import { keyIdOf } from '#domain/personal.ts';

/** The facts that keys matter for. */
export const KEYED_TYPES = [
  'OrderPlaced',
  'SoldAtCounter',
  'AmendmentRequested',
  'OrderAmended',
  'OrderCancelled',
  'RefundRequested',
  'RefundAnswered',
  'RefundRecorded',
  'TicketScannedByHand',
  'OrderErased',
] as const satisfies readonly FactType[];

export interface KeysReport {
  /** The file that was looked into; null where the keys were left out. */
  readonly file: string | null;
  readonly sealedTexts: number;
  /** Of these, texts that can be opened. */
  readonly openable: number;
  /** Texts whose key is destroyed (rule 1). */
  readonly destroyed: number;
  /** Texts that cannot be opened although nobody erased them (rule 2). */
  readonly lost: number;
  readonly erasedOrders: number;
  /** Keys that are there although their order was erased (rule 3). */
  readonly kept: number;
}

interface KeyFindings {
  readonly report: KeysReport;
  readonly problems: readonly Finding[];
  /** The problems because of which something that nobody erased cannot be opened. */
  readonly losses: readonly Finding[];
}

const LOST_HINT =
  'Put keys.db back from a copy of the keys, or name the file with --keys FILE. What was sealed with a lost key cannot be read again.';

export class KeyCheck {
  readonly #path: string | null;
  #reader: KeyReader | null = null;
  #unusable: KeysUnusable | null = null;
  #sealedTexts = 0;
  #openable = 0;
  #destroyed = 0;
  #erasedOrders = 0;
  readonly #lost = new Set<string>();
  readonly #kept = new Set<string>();
  /** Erased keys that the file never had. */
  readonly #erasedElsewhere = new Set<string>();

  /** Looks into a file of keys; null leaves the keys out. */
  constructor(path: string | null) {
    this.#path = path;
    if (path === null || !existsSync(path)) return;
    try {
      this.#reader = new KeyReader(path);
    } catch (error) {
      if (!(error instanceof KeysUnusable)) throw error;
      this.#unusable = error;
    }
  }

  see({ type, data }: Pick<FactRow, 'type' | 'data'>): void {
    if (!(KEYED_TYPES as readonly string[]).includes(type)) return;
    if (type === 'OrderErased') return this.#seeErasure((JSON.parse(data) as FactData['OrderErased']).keyIds);
    for (const text of sealedTextsOf(type, data)) this.#seeText(keyIdOf(text));
  }

  /** What was found, when all facts were seen; `noted` are the keys that the journal names. */
  finish(noted: string | null): KeyFindings {
    const found = this.#reader?.identity.keysId ?? null;
    // A serving process may have destroyed them since.
    for (const id of this.#kept) if (this.#reader?.stateOf(id) !== 'PRESENT') this.#kept.delete(id);
    const report: KeysReport = {
      file: this.#path,
      sealedTexts: this.#sealedTexts,
      openable: this.#openable,
      destroyed: this.#destroyed,
      lost: this.#lost.size,
      erasedOrders: this.#erasedOrders,
      kept: this.#kept.size,
    };
    const losses = [...this.#listLosses(noted, found)];
    return { report, losses, problems: [...losses, ...this.#listKept()] };
  }

  close(): void {
    this.#reader?.close();
  }

  #seeText(keyId: string): void {
    this.#sealedTexts += 1;
    const state = this.#reader?.stateOf(keyId) ?? 'UNKNOWN';
    if (state === 'PRESENT') this.#openable += 1;
    else if (state === 'DESTROYED' || this.#erasedElsewhere.has(keyId)) this.#destroyed += 1;
    else if (this.#reader !== null) this.#lost.add(keyId);
  }

  #seeErasure(keyIds: readonly string[]): void {
    this.#erasedOrders += 1;
    for (const keyId of keyIds) {
      const state = this.#reader?.stateOf(keyId) ?? 'UNKNOWN';
      if (state === 'PRESENT') this.#kept.add(keyId);
      if (state !== 'UNKNOWN' || this.#reader === null) continue;
      // The archive is read after the journal, so that a text may be seen after its erasure.
      if (this.#lost.delete(keyId)) this.#destroyed += 1;
      else this.#erasedElsewhere.add(keyId);
    }
  }

  *#listLosses(noted: string | null, found: string | null): Generator<Finding> {
    if (this.#path === null) return;
    const where = this.#path;
    if (this.#unusable !== null) yield { what: this.#unusable.message, where, hint: this.#unusable.hint };
    else if (found === null && this.#sealedTexts > 0) {
      const what = `it is missing, and ${this.#sealedTexts} sealed texts need it`;
      yield { what, where, hint: `${LOST_HINT} A copy that was made without keys is verified with --without-keys.` };
    } else if (found !== null && noted !== null && found !== noted) {
      yield { what: 'its keys are not the ones that the journal is sealed with', where, hint: LOST_HINT };
    }
    if (this.#lost.size > 0) {
      const what = `${this.#lost.size} sealed texts have no key, and nobody erased them`;
      yield { what, where, hint: LOST_HINT };
    }
  }

  *#listKept(): Generator<Finding> {
    if (this.#path === null || this.#kept.size === 0) return;
    const what = `${this.#kept.size} keys are there although their orders were erased`;
    yield { what, where: this.#path, hint: 'A start of the service on this folder destroys them.' };
  }
}

function sealedTextsOf(type: string, data: string): readonly string[] {
  if (!data.includes('"sealed')) return [];
  const fact = JSON.parse(data) as Partial<Pick<FactData['OrderPlaced'], 'personal'>> &
    Partial<Pick<FactData['OrderAmended'], 'sealedNote' | 'sealedAttendees'>>;
  const texts = type === 'OrderPlaced' ? [fact.personal?.sealed] : [fact.sealedNote, fact.sealedAttendees];
  return texts.flatMap((text) => text ?? []);
}
