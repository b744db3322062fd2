/**
 * Reads events from a data folder without serving it, for commands of the command line.
 *
 * States are rebuilt on the path of every activation, and answer queries only.
 */
import { proveArchiveOf } from '#persistence/sqlite/archive.ts';
import { surveyArchive } from '#persistence/sqlite/history.ts';
import { listSnapshots, SnapshotFolder } from '#persistence/snapshots.ts';
import type { JournalView } from '#persistence/sqlite/view.ts';
import { read } from '#domain/event/read.ts';
import { type EventState, initialState } from '#domain/event/state.ts';
import type { FactData, Fact } from '#domain/fact.ts';
import { createClock } from '#actors/clock.ts';
import { createHashing } from '#actors/crypto.ts';
import { createAddressHash } from '#privacy/sealing.ts';
import type { EventPort } from '#actors/event-port.ts';
import { activate } from '#actors/activation.ts';
import { findArchived } from '#engine/archived-events.ts';
import { SERVICE_STREAM } from '#engine/service-facts.ts';
import type { IndexedEvent } from '#actors/event-entry.ts';
import { evolve } from '#domain/event/evolve.ts';
import type { QueryOf, QueryType, Views } from '#domain/event/query.ts';
import { readFact } from '#domain/event/replay.ts';
import type { FactRow } from '#persistence/journal.ts';

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
 * An event as of the view, to be read only: nothing that has run out since ends. Null for an event that is not in the
 * journal. Sealed orders are found by an address only with the address key.
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
  const context = { now: createClock().now(), activation: 'on-disk', hashing: createHashing(), sealing };
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
    if (eventId !== SERVICE_STREAM) eventIdBySlug.set((about as IndexedEvent).slug, eventId);
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

/**
 * An event's sale, fact by fact: between two facts its state is read as it was then. What runs out without a fact stays
 * as the facts left it.
 */
export interface EventReplay {
  /** A stored fact in today's form, which is to be applied next. Throws UnknownFact. */
  readFact(row: FactRow): Fact;
  apply(fact: Fact, at: number): void;
  /** Answers a query as of a moment. */
  read<Type extends QueryType>(query: QueryOf<Type>, now: number): Views[Type];
}

export function startReplay(eventId: string, eventNumber: number): EventReplay {
  const state = initialState(eventId, eventNumber);
  const hashing = createHashing();
  return {
    readFact: (row) => readFact(row, state.plan),
    apply: (fact, at) => evolve(state, fact, at),
    read: (query, now) => read(state, query, { now, activation: 'replay', hashing, sealing: null }),
  };
}
