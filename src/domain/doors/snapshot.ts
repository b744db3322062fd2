/** Check-in as pieces of a snapshot, and back; counts and conflicts follow from the scans. */
import { addTo } from '../collections/maps.ts';
import { hasHappened, type Given } from '#client/doors/scan.ts';
import { countRefusal } from '#client/doors/counters.ts';
import type { Reentry } from '#client/doors/verdict.ts';
import { restoreStation } from './evolve.ts';
import { FedTickets, type FedTicket, type GateFeed } from './fed-tickets.ts';
import { noteNumber } from './feed.ts';
import { countScans, noDoors, type DoorState, type Station } from './state.ts';
import type { RefusedRow } from './refused-scans.ts';
import type { TicketScans } from './scanned-tickets.ts';

export type DoorsPart =
  | {
      readonly part: 'STATIONS';
      readonly reentry: Reentry;
      readonly prunedMinute: number;
      readonly undone: readonly string[];
      /** By date: how often scans were refused, and for what. */
      readonly refused: readonly (readonly [string, readonly (readonly [Given, number])[]])[];
      readonly records: readonly Omit<Station, 'seen'>[];
    }
  | ({ readonly part: 'FEED'; readonly named: readonly string[] | null } & Omit<
      GateFeed,
      'tickets' | 'named' | 'scanned'
    >)
  | { readonly part: 'FED'; readonly rows: readonly (readonly [FedTicket, number])[] }
  | { readonly part: 'TICKETS'; readonly records: readonly TicketRow[] }
  | { readonly part: 'REFUSED'; readonly rows: readonly RefusedRow[] };

/** A ticket with its last change. */
type TicketRow = TicketScans & { readonly change: number };

const TICKETS_PER_PART = 500;
const ROWS_PER_PART = 4_000;

/** About how many records check-in has in a snapshot; rows count as an eighth. */
export function doorRecords({ doors }: DoorState, rowsPerRecord: number): number {
  if (doors === null) return 0;
  const rows = doors.refused.count + (doors.feed?.tickets.count ?? 0);
  return doors.stations.size + doors.tickets.count + rows / rowsPerRecord;
}

export function* doorsParts({ doors }: DoorState): Generator<DoorsPart> {
  if (doors === null) return;
  const { stations, tickets, refused, undone, counts, reentry, prunedMinute, feed } = doors;
  yield {
    part: 'STATIONS',
    reentry,
    prunedMinute,
    undone: [...undone].flatMap(([id, waiting]) => Array<string>(waiting).fill(id)).sort(),
    refused: [...counts]
      .filter(([, ofDate]) => ofDate.refused.size > 0)
      .map(([id, ofDate]) => [id, [...ofDate.refused].sort()] as const)
      .sort(),
    records: Array.from(stations.values(), ({ seen: _seen, ...station }) => station),
  };
  if (feed !== null) {
    const { tickets: fed, named, scanned: _scanned, ...known } = feed;
    yield { part: 'FEED', ...known, named: named && [...named] };
    for (const page of pagesOf(fed.rows())) yield { part: 'FED', rows: page };
  }
  for (let begin = 0; begin < tickets.count; begin += TICKETS_PER_PART) {
    const numbers = Array.from(
      { length: Math.min(TICKETS_PER_PART, tickets.count - begin) },
      (_, index) => begin + index,
    );
    yield {
      part: 'TICKETS',
      records: numbers.map((number) => ({ ...tickets.at(number), change: tickets.changeOf(number) })),
    };
  }
  for (const page of pagesOf(refused.rows())) yield { part: 'REFUSED', rows: page };
}

function* pagesOf<Row>(all: Iterable<Row>): Generator<readonly Row[]> {
  let rows: Row[] = [];
  for (const row of all) {
    if (rows.push(row) < ROWS_PER_PART) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

export function restoreDoorsPart(state: DoorState, part: DoorsPart): void {
  switch (part.part) {
    case 'STATIONS': {
      const doors = (state.doors = noDoors(part.reentry));
      doors.prunedMinute = part.prunedMinute;
      for (const id of part.undone) addTo(doors.undone, id, 1);
      for (const [performanceId, refused] of part.refused) {
        for (const [outcome, count] of refused) countRefusal(doors.counts, performanceId, outcome, count);
      }
      for (const station of part.records) restoreStation(doors, { ...station, seen: null });
      return;
    }
    case 'FEED': {
      const { part: _part, named, ...known } = part;
      const feed = { ...known, named: named && new Set(named), tickets: new FedTickets(), scanned: new Map() };
      state.doors!.feed = feed;
      return;
    }
    case 'FED':
      for (const [row, change] of part.rows) state.doors!.feed!.tickets.restore(row, change);
      return;
    case 'TICKETS':
      for (const record of part.records) restoreTicket(state, record);
      return;
    case 'REFUSED':
      for (const row of part.rows) state.doors!.refused.restore(row);
      return;
  }
}

function restoreTicket(state: DoorState, { change, ...ticket }: TicketRow): void {
  const doors = state.doors!;
  const number = doors.tickets.restore(ticket, change);
  if (ticket.scans.some(hasHappened)) countScans(doors, number, ticket, 1);
  for (const { doorId } of ticket.scans) doors.usedDoors.add(doorId);
  noteNumber(state, ticket.key, number);
}
