/**
 * The state of an event as text and back: the pieces of a snapshot.
 *
 * Each piece is one JSON text of bounded size, so that a big event is written and read without a long pause. The same
 * state always gives the same pieces, whether it comes from turns, a replay or a snapshot; their hash is the state's
 * fingerprint (I9). Derived data (deadlines, claims, indexes of free blocks) is left out. The kinds of pieces keep
 * their first names, because they are storage: an OFFICE is an event, a DATE a performance.
 */
import { restoreAnswer } from './repeats.ts';
import { initialState, type EventState } from './state.ts';
import {
  readHolds,
  restoreEndedHold,
  restoreHold,
  writeHolds,
  type HoldObjects,
  type HoldPage,
} from '../holds/snapshot.ts';
import { restoreSettledHold, restoreOrder, type OrderRecord } from '../orders/evolve.ts';
import { Inventory } from '../inventory/inventory.ts';
import type { DueExecution } from '../orders/state.ts';
import type { InventorySnapshot } from '../inventory/snapshot.ts';
import { compileSalePlan } from '../catalogue/sale-plan.ts';
import { isSteered, type Steering } from '../catalogue/state.ts';
import { unreachable } from '../invariant.ts';
import { restoreWaitingRoomPart, waitingRoomParts, type WaitingRoomPart } from '../waiting-room/snapshot.ts';
import { doorRecords, doorsParts, restoreDoorsPart, type DoorsPart } from '../doors/snapshot.ts';
import type { EndedPart } from '../collections/ended-records.ts';
import type { WholeRecord } from '../holds/ended-holds.ts';
import type { EventDefinition } from '../catalogue/definition.ts';
import type { IdempotencyRecord } from '../idempotency.ts';
import type { DateCancellation } from '../fact.ts';
import type { IdempotentAnswer } from '../view.ts';
import type { PerformanceStatus } from '#machines/performance.ts';

/**
 * Raised when the same facts lead to other pieces than before. Format 1 kept the 10,000 newest holds and entries that
 * had ended; a replay still has the older ones. Where a replay meets a snapshot of an older format it goes on from
 * there, as the service did. Formats 1 and 2 kept holds as objects; formats 1 to 3 kept the items of holds that were
 * replaced, and the view of each hold that was an answer. At a gate formats 1 to 4 did not count an entry of a ticket
 * that was inside among the changes of its feed, and did not keep where a ticket was before it entered or left.
 */
export const SNAPSHOT_FORMAT = 5;

/** Records in one piece; at some 100 to 300 B each well under a millisecond to parse. */
const RECORDS_PER_PIECE = 500;

/** Orders are larger: up to some 2 KB each. */
const ORDERS_PER_PIECE = 100;

/** So many packed records of ended holds and entries, or ids of a draw, cost as much as one whole record. */
const PACKED_PER_RECORD = 8;

type Piece =
  | {
      readonly kind: 'OFFICE';
      /** Absent in format 1. */
      readonly format?: number;
      readonly eventId: string;
      readonly eventNumber: number;
      readonly definitionVersion: number;
      readonly revision: number;
      readonly definition: EventDefinition;
      /** Present while something is set. */
      readonly steering?: Steering;
      /** Present while refunds of everything that is due are being requested. */
      readonly executing?: readonly DueExecution[];
    }
  | {
      readonly kind: 'DATE';
      readonly status: PerformanceStatus;
      readonly inventory: InventorySnapshot;
      /** Present while something is left on a cancelled performance; in formats 1 to 4 only while there are orders. */
      readonly cancelling?: DateCancellation;
    }
  | ({ readonly kind: 'HOLDS' | 'SETTLED_HOLDS' } & (HoldPage | HoldObjects))
  | { readonly kind: 'ORDERS'; readonly records: readonly OrderRecord[] }
  /** Of format 1: the ids of holds that had ended without an order. */
  | { readonly kind: 'FINISHED_HOLDS'; readonly records: readonly string[] }
  | { readonly kind: 'ENDED_HOLDS'; readonly records: readonly WholeRecord[] }
  | { readonly kind: 'CUT_HOLDS'; readonly ended: EndedPart }
  | { readonly kind: 'WAITING_ROOM'; readonly room: WaitingRoomPart }
  | { readonly kind: 'DOORS'; readonly doors: DoorsPart }
  | { readonly kind: 'IDEMPOTENCY'; readonly records: readonly IdempotencyRecord<IdempotentAnswer>[] };

/** The pieces of an event, in the order in which they must be restored. Lazy: one piece at a time. */
export function* snapshotPieces(state: EventState): Generator<string> {
  const { eventId, eventNumber, definitionVersion, revision } = state;
  const { definition } = state.plan;
  yield toText({
    kind: 'OFFICE',
    format: SNAPSHOT_FORMAT,
    eventId,
    eventNumber,
    definitionVersion,
    revision,
    definition,
    ...(isSteered(state.steering) && { steering: state.steering }),
    ...(state.orders.executing.length > 0 && { executing: state.orders.executing }),
  });
  for (const { id, status, inventory } of state.performances.values()) {
    const cancelling = state.cancelling.get(id);
    yield toText({ kind: 'DATE', status, inventory: inventory.snapshot(), ...(cancelling && { cancelling }) });
  }
  const { byId, ended } = state.holds;
  for (const holds of pages(byId.objects())) yield toText({ kind: 'HOLDS', ...writeHolds(holds) });
  for (const records of pages(state.orders.inOrder, ORDERS_PER_PIECE)) yield toText({ kind: 'ORDERS', records });
  for (const holds of pages(byId.settled())) yield toText({ kind: 'SETTLED_HOLDS', ...writeHolds(holds) });
  for (const records of pages(ended.whole())) yield toText({ kind: 'ENDED_HOLDS', records });
  for (const part of ended.cutParts(RECORDS_PER_PIECE)) yield toText({ kind: 'CUT_HOLDS', ended: part });
  for (const room of waitingRoomParts(state)) yield toText({ kind: 'WAITING_ROOM', room });
  for (const doors of doorsParts(state)) yield toText({ kind: 'DOORS', doors });
  for (const records of pages(state.idempotency.values())) yield toText({ kind: 'IDEMPOTENCY', records });
}

/**
 * About how many records the pieces of a state have, which is what a snapshot costs to take and to restore. Constant
 * time.
 */
export function recordCountOf(state: EventState): number {
  const { holds, orders, waitingRoom, idempotency } = state;
  const whole = holds.byId.size + orders.inOrder.length + idempotency.size + (waitingRoom?.entries.byId.size ?? 0);
  const ended = holds.ended.cutCount + (waitingRoom?.entries.ended.size ?? 0);
  const packed = ended + (waitingRoom?.draw?.order.length ?? 0);
  return whole + packed / PACKED_PER_RECORD + doorRecords(state, PACKED_PER_RECORD);
}

/** Begins an event from the first piece of a snapshot. */
export function restoreEventState(firstPiece: string): EventState {
  const piece = JSON.parse(firstPiece) as Piece;
  if (piece.kind !== 'OFFICE') throw new Error(`a snapshot begins with its event, not with ${piece.kind}`);
  const state = initialState(piece.eventId, piece.eventNumber);
  state.definitionVersion = piece.definitionVersion;
  state.revision = piece.revision;
  state.plan = compileSalePlan(piece.definition);
  if (piece.steering !== undefined) state.steering = piece.steering;
  state.orders.executing.push(...(piece.executing ?? []));
  return state;
}

/** Adds what a further piece holds. */
export function restorePiece(state: EventState, text: string): void {
  const piece = JSON.parse(text) as Piece;
  switch (piece.kind) {
    case 'OFFICE':
      throw new Error('a snapshot has one event');
    case 'DATE': {
      const inventory = Inventory.restore(state.plan, piece.inventory);
      const id = inventory.performanceId;
      state.performances.set(id, { id, status: piece.status, inventory, activeHolds: 0 });
      if (piece.cancelling !== undefined) state.cancelling.set(id, piece.cancelling);
      return;
    }
    case 'HOLDS':
      for (const hold of readHolds(piece)) restoreHold(state, hold);
      return;
    case 'ORDERS':
      for (const record of piece.records) restoreOrder(state, record);
      return;
    case 'FINISHED_HOLDS':
      for (const holdId of piece.records) restoreEndedHold(state, holdId, null);
      return;
    case 'SETTLED_HOLDS':
      for (const hold of readHolds(piece)) restoreSettledHold(state, hold);
      return;
    case 'ENDED_HOLDS':
      for (const { id, endedAt } of piece.records) restoreEndedHold(state, id, endedAt);
      return;
    case 'CUT_HOLDS':
      state.holds.ended.restoreCut(piece.ended);
      return;
    case 'WAITING_ROOM':
      restoreWaitingRoomPart(state, piece.room);
      return;
    case 'DOORS':
      restoreDoorsPart(state, piece.doors);
      return;
    case 'IDEMPOTENCY':
      for (const record of piece.records) restoreAnswer(state, record);
      return;
    default:
      unreachable(piece);
  }
}

/** The format of a snapshot's pieces; today's for those of anything but an event. */
export function formatOf(firstPiece: string): number {
  const piece = JSON.parse(firstPiece) as Partial<Piece>;
  return piece.kind === 'OFFICE' ? (piece.format ?? 1) : SNAPSHOT_FORMAT;
}

function* pages<Each>(records: Iterable<Each>, recordsPerPiece = RECORDS_PER_PIECE): Generator<readonly Each[]> {
  let page: Each[] = [];
  for (const record of records) {
    page.push(record);
    if (page.length < recordsPerPiece) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

function toText(piece: Piece): string {
  return JSON.stringify(piece);
}
