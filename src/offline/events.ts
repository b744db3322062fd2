/**
 * Reads events from a data folder without serving it, for commands of the command line.
 *
 * States are rebuilt on the path of every activation, and answer queries only.
 */
import { proveArchiveOf } from '#persistence/sqlite/archive.ts';
import { surveyArchive } from '#persistence/sqlite/history.ts';
import { listSnapshots, SnapshotFolder } from '#persistence/snapshots.ts';
import type { JournalView } from '#persistence/sqlite/view.ts';
import { read } from '#domain/read.ts';
import type { EventState } from '#domain/event-state.ts';
import type { FactData } from '#domain/fact.ts';
import { createHashing } from './crypto.ts';
import { createAddressHash } from './sealing.ts';
import type { EventPort } from './event-port.ts';
import { activate } from './activation.ts';
import { findArchived } from './archived-events.ts';
import { SERVICE_STREAM } from './service-facts.ts';
import type { EventEntry } from './event-entry.ts';

export type EventOnDisk = Pick<EventPort, 'eventId' | 'read'>;

/** The ids of all events of a journal, in the order of their letters. */
export function eventIdsIn(view: JournalView): string[] {
  return [...view.heads.keys()].filter((eventId) => eventId !== SERVICE_STREAM).sort();
}

/** The state of an event as of the view. Rejects as activation does; null for an event that is not in the journal. */
export async function readEventState(folder: string, view: JournalView, eventId: string): Promise<EventState | null> {
  const headSeq = view.heads.get(eventId);
  if (headSeq === undefined || eventId === SERVICE_STREAM) return null;
  const snapshots = new SnapshotFolder(folder);
  const source = {
    newestSnapshot: (id: string, atMostSeq?: number) => snapshots.newest(id, atMostSeq),
    factsAfter: (id: string, afterSeq: number) => view.factsOf(id, afterSeq),
  };
  return (await activate(source, eventId, null, headSeq)).state;
}

/**
 * An event as of the view, to be read only: nothing that has run out since ends. Null for an event that is not in the journal. Sealed
 * orders are found by an address only with the address key.
 */
export async function openEventOnDisk(
  folder: string,
  view: JournalView,
  eventId: string,
  addressKey: Buffer | null = null,
): Promise<EventOnDisk | null> {
  const state = await readEventState(folder, view, eventId);
  if (state === null) return null;
  const hash = addressKey === null ? null : createAddressHash(addressKey);
  const sealing = hash && { addressHash: (email: string) => hash(eventId, email) };
  const context = { now: Date.now(), activation: 'on-disk', hashing: createHashing(), sealing };
  return {
    eventId,
    read: async (query) => read(state, query, context),
  };
}

/** An event's number, from its first fact. */
export async function eventNumberIn(view: JournalView, eventId: string): Promise<number> {
  const [first] = await view.factsOf(eventId);
  if (first?.type !== 'EventDefined') throw new Error('its first fact does not define it');
  return (JSON.parse(first.data) as FactData['EventDefined']).eventNumber;
}

/** The slug of every event, by snapshots and then by later definitions. Cost: a pass over the journal. */
export async function slugsIn(folder: string, view: JournalView): Promise<Map<string, string>> {
  const eventIdBySlug = new Map<string, string>();
  const headers = listSnapshots(folder).flatMap(({ header }) => header ?? []);
  for (const { eventId, about } of headers) {
    if (eventId !== SERVICE_STREAM) eventIdBySlug.set((about as EventEntry).slug, eventId);
  }
  const archived = await findArchived(view.archivedHeads, headers, (type) =>
    surveyArchive(folder, { afterSeq: 0, baseSeq: view.baseSeq }, type, proveArchiveOf),
  );
  for (const { eventId, data } of archived.definitions) eventIdBySlug.set(slugIn(data), eventId);
  for await (const { type, eventId, data } of view.facts(view.baseSeq)) {
    if (type === 'EventDefined') eventIdBySlug.set(slugIn(data), eventId);
  }
  return eventIdBySlug;
}

function slugIn(data: string): string {
  return (JSON.parse(data) as FactData['EventDefined']).definition.slug;
}
