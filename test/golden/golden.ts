/**
 * The golden journals: facts that earlier versions wrote, as text, and the states that they must still lead to.
 *
 * `journal-N.ndjson` has one fact per line and never changes once it was released; a version with new facts adds a
 * file. `states.json` has the state that each journal leads to: figures by event, and its fingerprint. When a later
 * version keeps more of a state, the fingerprint changes and is recorded again (`record.ts --states`); the figures must
 * not change.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { startEngine } from '#engine/engine.ts';
import { replayFact } from '#domain/event/replay.ts';
import { countsOf, type EventCounts } from '#domain/event/operator-view.ts';
import { auditEventState } from '#domain/event/audit.ts';
import { initialState, type EventState } from '#domain/event/state.ts';
import { snapshotPieces } from '#domain/event/snapshot.ts';
import { fingerprintOf } from '#persistence/snapshots.ts';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import type { FactData } from '#domain/fact.ts';
import type { FactRow } from '#persistence/journal.ts';
import { keyIdsOf } from '#privacy/folder-keys.ts';
import { KEY_BYTES } from '#persistence/keys.ts';
import { KeyFile, keysPath } from '#persistence/sqlite/key-file.ts';
import { newFolder } from '../fixtures/folders.ts';

export const goldenFolder = new URL('./', import.meta.url);

interface GoldenState {
  readonly figures: EventCounts;
  readonly fingerprint: string;
}

/** The states of a journal's events, by event id. */
type GoldenStates = Readonly<Record<string, GoldenState>>;

/** The names of all golden journals, the oldest first. */
export function goldenJournals(): string[] {
  return readdirSync(goldenFolder)
    .filter((name) => /^journal-\d+\.ndjson$/.test(name))
    .sort((a, b) => Number.parseInt(a.slice(8), 10) - Number.parseInt(b.slice(8), 10));
}

export function readGolden(name: string): FactRow[] {
  const text = readFileSync(new URL(name, goldenFolder), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { data, ...row } = JSON.parse(line) as Omit<FactRow, 'data'> & { readonly data: unknown };
      return { ...row, data: JSON.stringify(data) };
    });
}

/** A data folder that holds these facts, each a unit of its own, and these keys of sealed texts. */
export async function folderOf(
  t: TestContext,
  rows: readonly FactRow[],
  keys: ReadonlyMap<string, Buffer> = new Map(),
): Promise<string> {
  const folder = newFolder(t);
  if (keys.size > 0) makeKeys(folder, rows, keys);
  const journal = await openSqliteJournal({ folder });
  for (const { at, eventId, type, data } of rows) journal.append({ at, eventId, facts: [{ type, data }] });
  await journal.close();
  return folder;
}

/**
 * Has everything up to the second last round of snapshots in the archive. The golden receiver of notifications is
 * behind, and nobody waits for it.
 */
export async function prune(folder: string, rounds = 2): Promise<void> {
  const bounds = { liveEventsMax: 100, waitingRepliesMax: 100, keepsUndelivered: [] };
  const engine = await startEngine({ folder, ...bounds, onFatal: assert.fail });
  for (let round = 0; round < rounds; round += 1) await engine.snapshots.takeRound({ prune: true, proveAll: false });
  await engine.stop();
}

/** The keys of a golden journal's folder; those that its erasures destroyed are known as destroyed. */
function makeKeys(folder: string, rows: readonly FactRow[], keys: ReadonlyMap<string, Buffer>): void {
  const file = new KeyFile(keysPath(folder));
  const destroyed = rows.filter(({ type }) => type === 'OrderErased').flatMap(keyIdsOf);
  file.store([...keys].map(([id, key]) => ({ id, key })));
  file.store(destroyed.map((id) => ({ id, key: Buffer.alloc(KEY_BYTES) })));
  file.destroy(destroyed);
  file.close();
}

export function readStates(): Readonly<Record<string, GoldenStates>> {
  return JSON.parse(readFileSync(new URL('states.json', goldenFolder), 'utf8')) as Record<string, GoldenStates>;
}

/** Replays the facts of every event; throws what a replay throws. */
export function replayGolden(rows: readonly FactRow[]): Map<string, EventState> {
  const states = new Map<string, EventState>();
  for (const row of rows) {
    if (row.eventId === '') continue;
    const state = states.get(row.eventId) ?? openFor(row);
    states.set(row.eventId, state);
    replayFact(state, row);
  }
  return states;
}

function openFor({ eventId, data }: FactRow): EventState {
  return initialState(eventId, (JSON.parse(data) as FactData['EventDefined']).eventNumber);
}

/** The figures of the states together; throws when the audit of one finds a discrepancy. */
export function statesOf(eventStates: ReadonlyMap<string, EventState>): GoldenStates {
  const states = [...eventStates].map(([eventId, state]) => {
    const found = auditEventState(state);
    if (found.length > 0) throw new Error(`${eventId}: ${JSON.stringify(found)}`);
    return [eventId, { figures: countsOf(state), fingerprint: fingerprintOf(snapshotPieces(state)) }] as const;
  });
  return Object.fromEntries(states);
}

/** The sealed texts in the data of a fact. */
export function sealedIn(data: string): readonly string[] {
  const { personal, sealedNote } = JSON.parse(data) as Partial<FactData['OrderPlaced'] & FactData['OrderCancelled']>;
  return [personal?.sealed, sealedNote].filter((text) => text !== undefined && text !== null);
}

/**
 * The keys that were not destroyed when a golden journal was recorded, by id; none of one from before there was
 * sealing.
 */
export function readGoldenKeys(journal: string): ReadonlyMap<string, Buffer> {
  const file = new URL(journal.replace('journal-', 'keys-').replace('.ndjson', '.json'), goldenFolder);
  const keys = (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}) as Record<string, string>;
  return new Map(Object.entries(keys).map(([id, key]) => [id, Buffer.from(key, 'base64url')]));
}
