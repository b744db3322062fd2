/**
 * The data with which a station checks tickets without a network: its event, and every ticket that is void or was
 * scanned.
 *
 * 1. A feed goes on behind its cursor: behind the last change of a scanned ticket, and behind the void tickets that
 *    became so until a moment. A cursor of another station, of another form or from the future begins anew. So does a
 *    cursor from before the rule for entering again changed, because that changes conflicts. A cursor of an earlier
 *    version does not name the rule and goes on: conflicts are sent with the next change of each ticket.
 * 2. A ticket is listed once in an answer, as it is now. Void tickets of the current millisecond are listed again by
 *    the next answer, because others may still come before them in this millisecond.
 * 3. At a gate all tickets are those of its own service's feed: it does not know their dates.
 * 4. Conflicts are sent for listed tickets only: a listed ticket without conflicts in the answer has none any more.
 * 5. The head is sent where its digest differs from the cursor's; the digest does not cover the number of expected
 *    tickets.
 */
import { ticketDigest } from '#client/doors/digest.ts';
import type { MergedTicket } from '#client/doors/merging.ts';
import { doorsOf, reentryOf } from '../catalogue/definition.ts';
import { valuesReply, type Decision } from '../decision.ts';
import { voidTicketsBehind, type VoidPosition } from '../orders/void-tickets.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import { stationConflicts, stationConflictsAtGate } from './station-conflicts.ts';
import { issuedTicket, keyOf, mergedOf, type Doors, type DoorState, type Station } from './state.ts';
import { presenceOf } from './fed-tickets.ts';
import { stationByToken, viewStation } from './stations.ts';
import { ticketIdOf } from './view.ts';
import type { CommandOf } from '../command.ts';
import type { StationConflict, TicketPresence } from '../recorded-scan.ts';
import type { SyncChange, SyncConflict, SyncHead } from '../view.ts';
import type { TicketScan, TicketScans } from './scanned-tickets.ts';

/** Tickets that one answer looks at, void ones apart: some 20 µs each, because each is looked up among the orders. */
const SCANNED_MAX = 1_000;
/** Conflicts with which an answer ends: 150 KB. */
const CONFLICTS_MAX = 500;

const HEAD_DIGEST_LENGTH = 16;

interface Hashing {
  /** In hex. */
  sha256(text: string): string;
}

export interface SyncTurn {
  readonly now: number;
  readonly hashing: Hashing;
}

/** NOT_FOUND for an unknown token, STATION_REVOKED. Nothing is recorded: when a station was seen is soft state. */
export function decideSyncStation(
  state: DoorState,
  command: CommandOf<'SyncStation'>,
  { now, hashing }: SyncTurn,
): Decision | Refusal {
  const station = stationByToken(state, command.tokenSha256, now);
  if (isRefusal(station)) return station;
  const doors = state.doors!;
  const after = readCursor(command.after ?? '');
  const { lastChange } = doors.feed?.tickets ?? doors.tickets;
  const mark = `${doors.reentry}-`;
  const isCurrent = after !== null && after.change <= lastChange && after.voidSince <= now;
  const isMarked = after?.head.includes('-') ?? false;
  const isOwn = isCurrent && after.stationId === station.id && (!isMarked || after.head.startsWith(mark));
  const start = isOwn ? after : { change: 0, voidSince: 0, voidCount: 0, head: '' };
  const head = headOf(state, station, now);
  const digest = mark + headDigest(head, command.keysDigest, hashing);
  const page = new SyncPage(state, station, command.limit);
  const change = doors.feed === null ? page.addScanned(start.change, !isOwn) : page.addFed(start.change, !isOwn);
  const { voidSince, voidCount } = page.addVoid(start, now);
  const { changes, conflicts, more } = page;
  const cursor = writeCursor({ stationId: station.id, change, voidSince, voidCount, head: digest });
  const shown = digest === start.head ? null : head;
  const told = conflicts.length > 0 && { conflicts };
  const values = { now, cursor, more, reset: !isOwn, head: shown, changes, ...told };
  return { facts: [], reply: valuesReply<'SyncStation'>(values) };
}

class SyncPage {
  readonly changes: SyncChange[] = [];
  readonly conflicts: SyncConflict[] = [];
  more = false;
  readonly #state: DoorState;
  readonly #doors: Doors;
  readonly #station: Station;
  readonly #limit: number;
  readonly #listed = new Set<string>();
  #looked = 0;

  constructor(state: DoorState, station: Station, limit: number) {
    this.#state = state;
    this.#doors = state.doors!;
    this.#station = station;
    this.#limit = limit;
  }

  /** Adds scanned tickets behind a change; answers the last one that was looked at. */
  addScanned(after: number, isAnew: boolean): number {
    let last = after;
    for (const { change, number } of this.#doors.tickets.changedAfter(after)) {
      if (this.#isFull) {
        this.more = true;
        return last;
      }
      this.#looked += 1;
      last = change;
      const ticket = this.#doors.tickets.at(number);
      const ticketId = ticketIdOf(this.#state, ticket);
      if (ticketId === null || !this.#isOfDates(ticket)) continue;
      const since = issuedTicket(this.#state, ticketId)?.voided?.since ?? null;
      this.#add(ticketId, ticket, since, isAnew);
    }
    return this.#doors.tickets.lastChange;
  }

  /** Adds tickets that a gate knows, behind a change; answers the last one that was looked at (rule 3). */
  addFed(after: number, isAnew: boolean): number {
    let last = after;
    const { tickets } = this.#doors.feed!;
    for (const { change, row } of tickets.changedAfter(after)) {
      if (this.#isFull) {
        this.more = true;
        return last;
      }
      this.#looked += 1;
      last = change;
      const state = presenceOf(row);
      if (isAnew && state === 'N') continue;
      const door = row.doorId === null ? null : this.#placeOf(row.doorId);
      this.changes.push([row.digest, state, Math.floor(row.at / 1_000), door]);
      this.#tell(row.digest, stationConflictsAtGate(this.#state, row));
    }
    return tickets.lastChange;
  }

  /** Adds void tickets behind a position; answers where the next answer goes on (rule 2). */
  addVoid(after: VoidPosition, now: number): VoidPosition {
    let [last, settled] = [after, after];
    // The next answer does not begin within the current millisecond, unless this whole answer is of it: other tickets
    // may still come before these.
    const next = (): VoidPosition => (settled === after ? last : settled);
    const left = this.#limit - this.changes.length;
    const { voidTickets } = this.#state.orders;
    let looked = 0;
    for (const each of voidTicketsBehind(voidTickets, this.#station.performanceIds, after, left + 1)) {
      const { ticketId, ...position } = each;
      if (this.changes.length === this.#limit) {
        this.more = true;
        return next();
      }
      looked += 1;
      const number = this.#doors.tickets.find(keyOf({ ticketId, digest: 0 }));
      const ticket = number === null ? null : this.#doors.tickets.at(number);
      if (!this.#listed.has(ticketId)) this.#add(ticketId, ticket, position.voidSince);
      last = position;
      if (position.voidSince < now) settled = position;
    }
    // Tickets that were listed as scanned took no room here, so more may follow the last one that was looked at.
    if (looked <= left) return settled;
    this.more = true;
    return next();
  }

  get #isFull(): boolean {
    const isFull = this.changes.length === this.#limit || this.conflicts.length >= CONFLICTS_MAX;
    return isFull || this.#looked === SCANNED_MAX;
  }

  /** A feed that begins anew leaves out tickets that are in none of these states. */
  #add(ticketId: string, ticket: TicketScans | null, voidSince: number | null, isAnew = false): void {
    const merged = mergedOf(ticket ?? { scans: [] }, this.#doors.reentry);
    const change = this.#changeOf(ticketId, ticket, merged, voidSince);
    if (isAnew && change[1] === 'N') return;
    this.#listed.add(ticketId);
    this.changes.push(change);
    if (ticket !== null) this.#tell(change[0], stationConflicts(this.#state, ticket, merged));
  }

  /** A station is told of entries of its own, a gate of those of all stations. */
  #tell(digest: string, found: readonly StationConflict[]): void {
    const { id, kind } = this.#station;
    for (const { stationId, ...conflict } of found) {
      if (kind === 'GATE') this.conflicts.push({ digest, stationId, ...conflict });
      else if (stationId === id) this.conflicts.push({ digest, ...conflict });
    }
  }

  #isOfDates({ performanceId, scans }: TicketScans): boolean {
    const dates = this.#station.performanceIds;
    if (dates === null || (performanceId !== null && dates.includes(performanceId))) return true;
    return scans.some((scan) => dates.includes(scan.performanceId));
  }

  #changeOf(
    ticketId: string,
    ticket: TicketScans | null,
    { isInside, admission, scans }: MergedTicket<TicketScan>,
    since: number | null,
  ): SyncChange {
    const state: TicketPresence = isInside
      ? since === null
        ? 'I'
        : 'W'
      : since !== null
        ? 'V'
        : admission === null
          ? 'N'
          : 'O';
    const scan: TicketScan | null = isInside ? admission : (scans.at(-1) ?? null);
    const at = state === 'V' ? since! : (scan?.at ?? ticket?.scans.at(-1)?.at ?? 0);
    const door = state === 'V' || scan === null ? null : this.#placeOf(scan.doorId);
    return [ticketDigest(ticketId), state, Math.floor(at / 1_000), door];
  }

  #placeOf(doorId: string): number {
    return doorsOf(this.#state.plan.definition).findIndex(({ id }) => id === doorId);
  }
}

// ── head ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

function headOf({ plan, performances, doors }: DoorState, station: Station, now: number): SyncHead {
  const { id, name } = plan.definition;
  const dates = plan.performances.filter((date) => station.performanceIds?.includes(date.id) ?? true);
  const own = doorsOf(plan.definition);
  return {
    event: { id, name },
    station: viewStation({ ...station, seen: null }, now),
    performances: dates.map((date) => {
      const { status, inventory } = performances.get(date.id)!;
      const fed = doors!.feed?.performances.find(({ id: fedId }) => fedId === date.id);
      return {
        id: date.id,
        name: date.name,
        doorsAt: date.doorsAt ?? null,
        startsAt: date.startsAt,
        endsAt: date.endsAt,
        status: fed?.status ?? (date.status === 'DRAFT' ? 'DRAFT' : status),
        expected: fed?.expected ?? inventory.totals().sold,
      };
    }),
    doors: own,
    ticketTypes: plan.ticketTypes.map(({ id: typeId, definition }) => ({ id: typeId, name: definition.name })),
    reentry: reentryOf(plan.definition),
    ...(station.kind === 'GATE' && {
      stations: Array.from(doors!.stations.values(), (each) => {
        return { station: viewStation({ ...each, seen: null }, now), tokenSha256: each.tokenSha256 };
      }),
    }),
  };
}

/** Rule 5. */
function headDigest(head: SyncHead, keysDigest: string, { sha256 }: Hashing): string {
  const performances = head.performances.map(({ expected: _expected, ...date }) => date);
  return sha256(JSON.stringify([{ ...head, performances }, keysDigest])).slice(0, HEAD_DIGEST_LENGTH);
}

/** Where a station's feed goes on (rule 1): a text that only the service reads. */
interface SyncCursor {
  readonly stationId: string;
  /** The number of the last change of a scanned ticket that was sent; changes are numbered from 1. */
  readonly change: number;
  /** When the last void ticket that was sent became so, and how many of that millisecond were sent. */
  readonly voidSince: number;
  readonly voidCount: number;
  /** A digest of the head that was sent. */
  readonly head: string;
}

const CURSOR = /^(\w[\w-]{0,63})\.([0-9a-z]{1,10})\.([0-9a-z]{1,10})\.([0-9a-z]{1,10})\.([\w-]{1,64})$/;

export function writeCursor({ stationId, change, voidSince, voidCount, head }: SyncCursor): string {
  return [stationId, ...[change, voidSince, voidCount].map((number) => number.toString(36)), head].join('.');
}

/** Null where the text is no cursor. */
export function readCursor(text: string): SyncCursor | null {
  const [, stationId, change = '', voidSince = '', voidCount = '', head] = CURSOR.exec(text) ?? [];
  if (stationId === undefined || head === undefined) return null;
  const [numberOfChange, sinceMs, count] = [change, voidSince, voidCount].map((digits) => Number.parseInt(digits, 36));
  return { stationId, change: numberOfChange!, voidSince: sinceMs!, voidCount: count!, head };
}
