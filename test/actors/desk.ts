/**
 * A directory over a journal in memory with a manual clock: what the service runs, without a disk and without HTTP.
 */
import assert from 'node:assert/strict';
import { Directory } from '#actors/directory.ts';
import { createClock } from '#actors/clock.ts';
import { createIdSource } from '#actors/id-source.ts';
import { checkDefinition } from '#catalogue/definition.ts';
import { MemoryJournal } from '#persistence/memory-journal.ts';
import type { BoxOfficeActor } from '#actors/box-office.ts';
import type { CommandOf } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue.ts';

export const START = Date.UTC(2027, 4, 7, 12);

export function concert(changes: object = {}): EventDefinition {
  const checked = checkDefinition({
    id: 'evt_concert',
    slug: 'concert',
    name: 'Concert',
    currency: 'EUR',
    performances: [{ id: 'fri' }],
    localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 10 }],
    ticketTypes: [{ id: 'stand', name: 'Standing', locality_id: 'floor' }],
    sellingStages: [{ id: 'now', name: 'Now', prices: { stand: 1000 } }],
    ...changes,
  });
  if ('problems' in checked) assert.fail(JSON.stringify(checked.problems));
  return checked.definition;
}

export interface House {
  readonly journal: MemoryJournal;
  readonly directory: Directory;
  readonly clock: { now: number };
  readonly wakes: { readonly eventId: string; readonly at: number }[];
}

export interface HouseBounds {
  readonly liveEventsMax?: number;
  readonly mailboxCommandsMax?: number;
  /** How long an event's snapshots are looked for; there are none. */
  readonly readSnapshot?: (eventId: string) => Promise<void>;
}

/** Opens a house over a journal; `liveEventsMax` events stay awake. */
export function openHouse(journal = new MemoryJournal(), bounds: HouseBounds = {}): House {
  const clock = { now: START };
  const wakes: House['wakes'] = [];
  const directory = new Directory({
    journal,
    clock: createClock(() => clock.now),
    ids: createIdSource(),
    mailboxCommandsMax: bounds.mailboxCommandsMax ?? 1000,
    liveEventsMax: bounds.liveEventsMax ?? 100,
    source: {
      newestSnapshot: async (eventId) => {
        await bounds.readSnapshot?.(eventId);
        return null;
      },
      factsAfter: (eventId, afterSeq) => journal.read({ eventId, afterSeq }),
    },
    snapshot: ({ eventId, seq }) => Promise.resolve({ eventId, seq, fingerprint: null, trouble: 'no disk' }),
    wakeAt: (eventId, at) => wakes.push({ eventId, at }),
  });
  for (const row of journal.read()) directory.noteRow(row);
  return { journal, directory, clock, wakes };
}

/** A house with one event on sale. */
export async function openConcert(
  house = openHouse(),
  changes: object = {},
): Promise<House & { readonly office: BoxOfficeActor }> {
  await house.directory.define(concert(changes), { operator: null, note: null });
  const office = await house.directory.byEventId('evt_concert');
  assert.ok(office);
  return { ...house, office };
}

export function place(sessionKey: string, quantity = 1): CommandOf<'PlaceHold'> {
  const items = [{ ticketTypeId: 'stand', sellingStageId: 'now', quantity, performanceId: null, seatIds: null }];
  return { type: 'PlaceHold', sessionKey, items, queuePass: null, idempotency: null };
}
