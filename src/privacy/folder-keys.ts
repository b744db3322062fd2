/**
 * The keys of a data folder, opened with its journal.
 *
 * 1. A journal with sealed facts starts only with the keys that it was sealed with: with others, personal data would
 *    read as erased that nobody erased. An operator may accept that, once; then the keys that are there, or new ones,
 *    are the journal's from then on.
 * 2. Before anything is served the keys are destroyed again of every erasure since the last one that is known to be
 *    complete: a crash may have come between the fact and its keys, or an older copy of the keys was put back.
 * 3. How far erasures are complete is noted before facts are moved to the archive, so that a start seldom has to read
 *    there.
 */
import { KeysUnusable, type KeyStore } from '#persistence/keys.ts';
import { openSqliteKeys, readKeysId, type SqliteKeys } from '#persistence/sqlite/keys.ts';
import type { FactData } from '#domain/fact.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { SqliteJournal } from '#persistence/sqlite/journal.ts';
import { noteErasuresThrough } from './key-destruction.ts';
import { inBackground, reportTrouble } from '#actors/trouble.ts';

/** Destroys keys, and those whose destruction failed before. */
interface KeyDestroyer {
  destroy(keyIds: readonly string[]): Promise<void>;
}

/** What the pass over the journal at the start tells about keys. */
export class KeySurvey {
  hasSealed = false;
  readonly erasures: FactRow[] = [];

  see(row: FactRow): void {
    if (row.type === 'OrderErased') this.erasures.push(row);
    else if (!this.hasSealed && row.type === 'OrderPlaced') this.hasSealed = isSealed(row);
  }
}

interface FolderKeysOptions {
  readonly folder: string;
  readonly journal: SqliteJournal;
  readonly survey: KeySurvey;
  /** An operator accepts that personal data whose keys are lost reads as erased (rule 1). */
  readonly isLossAccepted: boolean;
}

/** Keys destroyed together at a start; some megabytes of log. */
const KEYS_AT_ONCE = 10_000;

/**
 * Opens the keys of a folder. Rejects with KeysUnusable (rule 1), and with KeyStoreFault when they cannot be written.
 */
export async function openFolderKeys({
  folder,
  journal,
  survey,
  isLossAccepted,
}: FolderKeysOptions): Promise<SqliteKeys> {
  await refuseLoss(folder, journal, survey, isLossAccepted);
  const onFault = (fault: unknown): void => reportTrouble('keys', `no new keys can be made: ${String(fault)}`, fault);
  const keys = await openSqliteKeys({ folder, onFault });
  try {
    await destroyAgain(keys, journal, survey.erasures);
    if (journal.keysId !== keys.keysId) await journal.noteKeysId(keys.keysId);
    return keys;
  } catch (error) {
    await keys.close().catch(() => {});
    throw error;
  }
}

/** The keys that an OrderErased fact destroys. */
export function keyIdsOf({ data }: Pick<FactRow, 'data'>): readonly string[] {
  return (JSON.parse(data) as FactData['OrderErased']).keyIds;
}

/**
 * Notes that the keys of every erasure up to now are destroyed (rule 3); where some are not, it is left for another
 * time.
 */
export async function noteErasures(
  journal: Pick<SqliteJournal, 'journalId' | 'durableSeq'>,
  keys: Pick<SqliteKeys, 'noteErased'>,
  destruction: KeyDestroyer,
): Promise<void> {
  await noteErasuresThrough(journal.journalId, journal.durableSeq, keys, destruction);
}

/** Destroys the keys of erasures whose facts were in doubt while the disk was full, and are on it after all. */
export function destroyAfterDoubt(
  journal: Pick<SqliteJournal, 'read'>,
  afterSeq: number,
  destruction: KeyDestroyer,
): void {
  for (const row of journal.read({ afterSeq })) {
    if (row.type === 'OrderErased') inBackground('keys', destruction.destroy(keyIdsOf(row)));
  }
}

async function refuseLoss(
  folder: string,
  journal: SqliteJournal,
  survey: KeySurvey,
  isLossAccepted: boolean,
): Promise<void> {
  const noted = journal.keysId;
  const found = readKeysId(folder);
  if (found !== null && (noted === null || noted === found)) return;
  if (!survey.hasSealed && !(await hasSealedInArchive(journal))) return;
  const message =
    found === null
      ? `${folder} has sealed personal data, and keys.db, which opens them, is missing`
      : `keys.db in ${folder} is not the one that the journal's personal data are sealed with`;
  if (!isLossAccepted) {
    const hint =
      'Put keys.db back from a copy of the keys; or, where there is none, start once with KEYS_LOST=accept: the personal data of ' +
      'those orders then reads as erased.';
    throw new KeysUnusable(message, hint);
  }
  reportTrouble('keys', `${message}; KEYS_LOST=accept: the personal data of those orders reads as erased`);
}

async function hasSealedInArchive(journal: SqliteJournal): Promise<boolean> {
  if (journal.baseSeq === 0) return false;
  const { rows } = await journal.surveyArchive('OrderPlaced');
  return rows.some(isSealed);
}

function isSealed({ data }: FactRow): boolean {
  return data.includes('"personal":{');
}

/**
 * Destroys the keys of every erasure since the last one that is known to be complete (rule 2), before anything is
 * served.
 */
export async function destroyAgain(
  keys: Pick<KeyStore, 'destroy' | 'erasedThrough' | 'noteErased'>,
  journal: Pick<SqliteJournal, 'journalId' | 'durableSeq' | 'baseSeq' | 'surveyArchive'>,
  erasures: readonly FactRow[],
): Promise<void> {
  const notedSeq = await keys.erasedThrough(journal.journalId);
  // A journal that was restored as of an earlier fact goes on with the same numbers.
  const throughSeq = notedSeq > journal.durableSeq ? 0 : notedSeq;
  const archived = throughSeq < journal.baseSeq ? await journal.surveyArchive('OrderErased', throughSeq) : { rows: [] };
  const since = [...archived.rows, ...erasures].filter(({ seq }) => seq > throughSeq).flatMap(keyIdsOf);
  for (let done = 0; done < since.length; done += KEYS_AT_ONCE) {
    await keys.destroy(since.slice(done, done + KEYS_AT_ONCE));
  }
  if (journal.durableSeq !== notedSeq) await keys.noteErased(journal.journalId, journal.durableSeq);
}
