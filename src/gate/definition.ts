/** The event of a gate: a draft with the dates, doors and ticket types of its service's event, and nothing for sale. */
import type { StationConflict, StationHead, StationSync } from '#client/doors/wire.ts';
import { NOTHING_DEFINED, type DoorDefinition, type EventDefinition } from '#domain/catalogue/definition.ts';
import type { FactData } from '#domain/fact.ts';
import type { CommandOf } from '#domain/command.ts';
import type { StationConflict as ConflictOfFact, FedChange } from '#domain/recorded-scan.ts';

const PLACE = 'all';

/** `kept`: doors that the service does not have any more, and at which somebody was scanned here. */
export function definitionOf(head: StationHead, kept: readonly DoorDefinition[] = []): EventDefinition {
  const doors = head.doors.map(({ id, name, ticket_type_ids: ticketTypeIds }) => ({ id, name, ticketTypeIds }));
  return {
    ...NOTHING_FOR_SALE,
    id: head.event.id,
    slug: head.event.id,
    name: head.event.name,
    doors: [...doors, ...kept.filter(({ id }) => doors.every((door) => door.id !== id))],
    reentry: head.reentry,
    performances: head.performances.map(
      ({ id, name, doors_at: doorsAt, starts_at: startsAt, ends_at: endsAt }, index) => ({
        id,
        name,
        startsAt: momentOf(startsAt),
        endsAt: momentOf(endsAt),
        ...(doorsAt !== null && { doorsAt: Date.parse(doorsAt) }),
        status: 'DRAFT',
        sortOrder: index,
      }),
    ),
    ticketTypes: head.ticket_types.map(({ id, name }) => ({ ...NO_TYPE, id, name })),
  };
}

const NOTHING_FOR_SALE: EventDefinition = {
  ...NOTHING_DEFINED,
  currency: 'EUR',
  localities: [{ id: PLACE, name: '', seating: 'GENERAL', capacity: 0 }],
};

const NO_TYPE = {
  description: '',
  localityId: PLACE,
  zoneKeys: null,
  groupSize: 1,
  maxPerOrder: null,
  quota: null,
  accessible: false,
  entryCutoff: null,
  lateFee: null,
  minConsumption: null,
  barPerks: [],
} as const;

/** A page of the feed as the command that takes it; `doors` in the service's order. */
export function takeFeedOf(
  { cursor, reset, more, head, changes, conflicts = [] }: StationSync,
  doors: readonly DoorDefinition[],
  includesUntil: number,
): CommandOf<'TakeFeed'> {
  const toldOf = Map.groupBy(conflicts, ({ digest }) => digest);
  return {
    type: 'TakeFeed',
    ...{ cursor, isAnew: reset, more, includesUntil },
    ...(head !== null && { head: headOf(head) }),
    changes: changes.map(([digest, state, seconds, door]): FedChange => {
      const doorId = door === null ? null : (doors[door]?.id ?? null);
      const told = toldOf.get(digest)?.map(toConflictOfFact);
      const at = seconds * 1_000;
      return told === undefined ? [digest, state, at, doorId] : [digest, state, at, doorId, told];
    }),
    stations: (head?.stations ?? []).map((station) => ({
      ...stationOf(station),
      tokenSha256: station.token_sha256,
      isRevoked: station.status === 'REVOKED',
    })),
  };
}

function toConflictOfFact({ scan_id, station_id, at, ticket, admitted }: StationConflict): ConflictOfFact {
  const { ticket_type_id, ticket_type_name, section, row_label, seat_label } = ticket;
  return {
    ...{ scanId: scan_id, stationId: station_id!, at: Date.parse(at) },
    ticket: {
      ...{ ticketTypeId: ticket_type_id, ticketTypeName: ticket_type_name },
      ...{ section, rowLabel: row_label, seatLabel: seat_label },
    },
    admitted: {
      ...{ at: Date.parse(admitted.at), doorId: admitted.door_id, doorName: admitted.door_name },
      ...{ stationName: admitted.station_name, offline: admitted.offline },
    },
  };
}

function headOf({ station, keys, performances }: StationHead): NonNullable<FactData['FeedTaken']['head']> {
  return {
    stationId: station.id,
    keys: keys.map(({ kty, crv, x, kid }) => ({ kty, crv, x, kid })),
    performances: performances.map(({ id, status, expected }) => ({ id, status, expected })),
  };
}

function stationOf({ id, name, kind, performance_ids, door_ids, expires_at }: StationHead['station']) {
  return {
    ...{ stationId: id, name, kind },
    performanceIds: performance_ids,
    doorIds: door_ids,
    expiresAt: momentOf(expires_at),
  };
}

function momentOf(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}
