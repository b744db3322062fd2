/**
 * A waiting room as parts of a snapshot and back.
 *
 * 1. Each part is of bounded size. Soft state is left out.
 * 2. The order of the parts matters: the pool, then what was drawn of it, then those who joined behind it.
 */
import { queueEntryTransitions, type QueueEntryStatus } from '#machines/queue-entry.ts';
import type { WaitingRoomStatus } from '#machines/waiting-room.ts';
import type { EndedPart } from '../collections/ended-records.ts';
import { unreachable } from '../invariant.ts';
import { append, createQueuePositions, peopleFrom, reserveSlots } from './queue-positions.ts';
import { endOf, findEntry, indexWaiting, newEntry, type QueueEntry, type QueuePass } from './queue-entries.ts';
import { placeDrawn } from './evolve.ts';
import { newWaitingRoom, noteAdmissions, OPENING, type AdmissionBatch, type WaitingRoom } from './state.ts';
import type { WaitingRoomState } from './state.ts';

/** Records in one part; at some 120 B each well under a millisecond to parse. */
const RECORDS_PER_PART = 500;

interface WaitingRecord {
  readonly id: string;
  readonly sessionKey: string;
}

/** Somebody in the pool; without a session key when the entry ended since. */
interface PoolRecord {
  readonly id: string;
  readonly sessionKey: string | null;
}

interface PassRecord extends WaitingRecord {
  readonly pass: QueuePass;
}

/** How older snapshots kept the entries that had ended. */
interface FinishedRecord extends WaitingRecord {
  readonly status: QueueEntryStatus;
  readonly pass: QueuePass | null;
}

export type WaitingRoomPart =
  | {
      readonly part: 'ROOM';
      readonly status: WaitingRoomStatus;
      readonly opensAt: number | null;
      readonly joinedCount: number;
      readonly factCount: number;
      readonly admissions: readonly AdmissionBatch[];
      readonly draw: {
        readonly seed: string;
        readonly commitment: string;
        readonly entryCount: number;
        readonly entriesDigest: string | null;
        readonly drawnAt: number | null;
        /** Left out where the draw has none, so that what was kept before there were openings keeps its fingerprint. */
        readonly opening?: string;
      } | null;
    }
  | { readonly part: 'POOL'; readonly records: readonly PoolRecord[] }
  | { readonly part: 'DRAWN'; readonly records: readonly string[] }
  | { readonly part: 'LINE'; readonly records: readonly WaitingRecord[] }
  | { readonly part: 'PASSES'; readonly records: readonly PassRecord[] }
  | { readonly part: 'FINISHED'; readonly records: readonly FinishedRecord[] }
  /** JSON has no NaN: the times of an entry that never had a pass are null. */
  | { readonly part: 'ENDED'; readonly ended: EndedPart };

/** The parts of a room, lazily, in the order in which they must be restored. */
export function* waitingRoomParts(state: WaitingRoomState): Generator<WaitingRoomPart> {
  const room = state.waitingRoom;
  if (room === null) return;
  const { draw, entries } = room;
  yield roomPart(room);
  if (draw !== null && draw.pool !== null) {
    for (const records of pages(peopleFrom(draw.pool), poolRecord)) yield { part: 'POOL', records };
  }
  for (const records of pages(draw?.order ?? [], (id) => id)) yield { part: 'DRAWN', records };
  const behindPool = draw?.pool == null ? 0 : draw.entryCount;
  for (const records of pages(peopleFrom(entries.positions, behindPool), waitingRecord))
    yield { part: 'LINE', records };
  for (const records of pages(entries.passes, passRecord)) yield { part: 'PASSES', records };
  for (const ended of entries.ended.parts(RECORDS_PER_PART)) yield { part: 'ENDED', ended };
}

/** Adds what a part holds. */
export function restoreWaitingRoomPart(state: WaitingRoomState, part: WaitingRoomPart): void {
  switch (part.part) {
    case 'ROOM':
      return restoreRoom(state, part);
    case 'POOL':
      for (const record of part.records) restoreInPool(state.waitingRoom!, record);
      return;
    case 'DRAWN':
      for (const entryId of part.records) restoreDrawn(state, entryId);
      return;
    case 'LINE':
      for (const record of part.records) restoreInLine(state.waitingRoom!, record);
      return;
    case 'PASSES':
      for (const record of part.records) restorePass(state, record);
      return;
    case 'FINISHED':
      for (const record of part.records) {
        state.waitingRoom!.entries.ended.adopt(record.id, record.sessionKey, endOf(record));
      }
      return;
    case 'ENDED': {
      const { beganAt, numbers } = part.ended;
      state.waitingRoom!.entries.ended.restore({ beganAt, numbers: numbers.map((number) => number ?? NaN) });
      return;
    }
    default:
      unreachable(part);
  }
}

function roomPart(room: WaitingRoom): WaitingRoomPart {
  const { status, opensAt, factCount, entries, admissions } = room;
  const { joinedCount } = entries;
  return {
    part: 'ROOM',
    status,
    opensAt,
    joinedCount,
    factCount,
    admissions: admissions.batches,
    draw: drawRecord(room),
  };
}

function drawRecord({ draw }: WaitingRoom): Extract<WaitingRoomPart, { part: 'ROOM' }>['draw'] {
  if (draw === null) return null;
  const { seed, commitment, entryCount, entriesDigest, drawnAt, opening } = draw;
  return { seed, commitment, entryCount, entriesDigest, drawnAt, ...(opening !== null && { opening }) };
}

const waitingRecord = ({ id, sessionKey }: QueueEntry): WaitingRecord => ({ id, sessionKey });

const poolRecord = ({ id, sessionKey, status }: QueueEntry): PoolRecord => ({
  id,
  sessionKey: status === 'WAITING' ? sessionKey : null,
});

const passRecord = ({ id, sessionKey, pass }: QueueEntry): PassRecord => ({ id, sessionKey, pass: pass! });

function restoreRoom(state: WaitingRoomState, part: Extract<WaitingRoomPart, { part: 'ROOM' }>): void {
  const room = newWaitingRoom(part.opensAt, part.draw);
  room.status = part.status;
  room.entries.joinedCount = part.joinedCount;
  room.factCount = part.factCount;
  for (const { at, count } of part.admissions) noteAdmissions(room.admissions, at, count);
  if (room.draw !== null && part.draw !== null) {
    room.draw.entryCount = part.draw.entryCount;
    room.draw.entriesDigest = part.draw.entriesDigest;
    room.draw.drawnAt = part.draw.drawnAt;
    room.draw.opening = part.draw.opening ?? null;
    if (room.status === 'DRAWING') {
      room.draw.pool = createQueuePositions();
      reserveSlots(room.entries.positions, part.draw.entryCount);
    }
  }
  state.waitingRoom = room;
  if (room.status === 'PRE_QUEUE' && room.opensAt !== null) state.deadlines.add(OPENING, room.opensAt);
}

function restoreInPool({ draw, entries }: WaitingRoom, { id, sessionKey }: PoolRecord): void {
  const entry = newEntry(id, sessionKey ?? '', 0);
  entry.slot = append(draw!.pool!, entry);
  if (sessionKey !== null) indexWaiting(entries, entry);
  else entry.status = queueEntryTransitions.next(entry.status, 'LEAVE')!;
}

function restoreDrawn(state: WaitingRoomState, entryId: string): void {
  const room = state.waitingRoom!;
  const draw = room.draw!;
  if (room.status === 'DRAWING') placeDrawn(state, draw, entryId);
  else draw.order.push(findEntry(room.entries, entryId)?.id ?? entryId);
}

function restoreInLine({ entries }: WaitingRoom, { id, sessionKey }: WaitingRecord): void {
  const entry = newEntry(id, sessionKey, 0);
  entry.slot = append(entries.positions, entry);
  indexWaiting(entries, entry);
}

function restorePass(state: WaitingRoomState, { id, sessionKey, pass }: PassRecord): void {
  const { entries } = state.waitingRoom!;
  const entry = newEntry(id, sessionKey, 0);
  entry.status = queueEntryTransitions.next(entry.status, 'ADMIT')!;
  entry.pass = pass;
  entries.passes.add(entry);
  entries.byId.set(id, entry);
  entries.liveBySession.set(sessionKey, entry);
  state.deadlines.add(id, pass.expiresAt);
}

function* pages<Item, Record>(items: Iterable<Item>, record: (item: Item) => Record): Generator<readonly Record[]> {
  let page: Record[] = [];
  for (const item of items) {
    page.push(record(item));
    if (page.length < RECORDS_PER_PART) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
