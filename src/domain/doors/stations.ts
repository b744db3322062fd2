/** Stations: made and revoked by operators, and found by their tokens. */
import { fact, type FactData } from '../fact.ts';
import { refuse, refuseProblems, type Problem, type Refusal } from '../refusal.ts';
import { doorsOf } from '../catalogue/definition.ts';
import { stationStatus, type DoorState, type Station } from './state.ts';
import type { CommandOf } from '../command.ts';
import type { Decision } from '../decision.ts';
import type { TurnIds } from '../ids.ts';
import type { StationView } from '../view.ts';

/** LIVE stations of an event: more than a stadium has gates, and a page of them can be read. */
const LIVE_STATIONS_MAX = 500;

/** VALIDATION_ERROR for dates and doors that the event has not; STATION_LIMIT_EXCEEDED. */
export function decideAddStation(
  state: DoorState,
  { type: _type, ...made }: CommandOf<'AddStation'>,
  turn: TurnIds & { readonly now: number },
): Decision | Refusal {
  const problems = unknownIds(state, made);
  if (problems.length > 0) return refuseProblems(problems);
  const live = [...(state.doors?.stations.values() ?? [])].filter((each) => stationStatus(each, turn.now) === 'LIVE');
  if (live.length >= LIVE_STATIONS_MAX) return refuse('STATION_LIMIT_EXCEEDED', { limit: LIVE_STATIONS_MAX });
  const stationId = turn.newId('stn');
  return { facts: [fact('StationAdded', { stationId, ...made })], reply: { shows: 'STATION', stationId } };
}

/** NOT_FOUND; nothing where it is revoked already. */
export function decideRevokeStation(
  { doors }: DoorState,
  { stationId, operator }: CommandOf<'RevokeStation'>,
): Decision | Refusal {
  const station = doors?.stations.get(stationId);
  if (station === undefined) return refuse('NOT_FOUND', {});
  const facts = station.revokedAt === null ? [fact('StationRevoked', { stationId, operator })] : [];
  return { facts, reply: { shows: 'STATION', stationId } };
}

/** The station of a token: NOT_FOUND for a token of no station of the event, STATION_REVOKED. */
export function stationByToken({ doors }: DoorState, tokenSha256: string, now: number): Station | Refusal {
  const station = doors?.byToken.get(tokenSha256);
  if (station === undefined) return refuse('NOT_FOUND', {});
  return stationStatus(station, now) === 'LIVE' ? station : refuse('STATION_REVOKED', {});
}

/** The stations of the event, in the order of making. */
export function listStations({ doors, eventNumber }: DoorState, now: number): StationList {
  return { eventNumber, stations: Array.from(doors?.stations.values() ?? [], (station) => viewStation(station, now)) };
}

export interface StationList {
  /** Which the tokens of the event name. */
  readonly eventNumber: number;
  readonly stations: readonly StationView[];
}

export function viewStation(station: Station, now: number): StationView {
  const { id, name, kind, performanceIds, doorIds, expiresAt, gateUrl = null, createdAt, seen } = station;
  return {
    id,
    name,
    kind,
    performanceIds,
    doorIds,
    expiresAt,
    gateUrl,
    createdAt,
    status: stationStatus(station, now),
    lastSeenAt: seen?.at ?? null,
    syncedAt: seen?.syncedAt ?? null,
    queued: seen?.queued ?? null,
    version: seen?.version ?? null,
  };
}

/** Whether a station stands at a date and a door. */
export function isAllowedAt(
  { performanceIds, doorIds }: Pick<Station, 'performanceIds' | 'doorIds'>,
  { performanceId, doorId }: { readonly performanceId: string; readonly doorId: string },
): boolean {
  return (performanceIds?.includes(performanceId) ?? true) && (doorIds?.includes(doorId) ?? true);
}

function unknownIds(
  { plan }: DoorState,
  { performanceIds, doorIds }: Pick<FactData['StationAdded'], 'performanceIds' | 'doorIds'>,
): readonly Problem[] {
  const doors = doorsOf(plan.definition);
  const problems: Problem[] = [];
  for (const [index, id] of (performanceIds ?? []).entries()) {
    if (plan.performanceById.has(id)) continue;
    problems.push({ path: ['performance_ids', index], message: `"${id}" is not a date of the event` });
  }
  for (const [index, id] of (doorIds ?? []).entries()) {
    if (doors.some((door) => door.id === id)) continue;
    problems.push({ path: ['door_ids', index], message: `"${id}" is not a door of the event` });
  }
  return problems;
}

/** Doors that a definition may not drop: a LIVE station names them, or somebody was scanned there. */
export function doorConflicts(
  { doors }: DoorState,
  definition: Parameters<typeof doorsOf>[0],
  now: number,
): readonly Problem[] {
  if (doors === null) return [];
  const kept = new Set(doorsOf(definition).map(({ id }) => id));
  const live = [...doors.stations.values()].filter((station) => stationStatus(station, now) === 'LIVE');
  const named = new Set(live.flatMap(({ doorIds }) => doorIds ?? []));
  return [...new Set([...named, ...doors.usedDoors])]
    .filter((id) => !kept.has(id))
    .map((id) => {
      const why = doors.usedDoors.has(id) ? 'tickets were scanned at it' : 'a live station names it';
      return { path: ['doors'], message: `door ${id} is missing, and ${why}` };
    });
}
