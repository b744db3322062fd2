/**
 * A box office as text and back: the pieces of a snapshot.
 *
 * Each piece is one JSON text of bounded size, so that a big office is written and read without a long pause. The same
 * state always gives the same pieces, whether it was lived, replayed or restored; their hash is the state's fingerprint (I9).
 * What can be derived (deadlines, release queues, indexes of free blocks) is left out. Called by the snapshot worker,
 * by activation and by `holdfast verify`.
 */
import { openBoxOffice, type BoxOffice } from './box-office.ts';
import { restoreHold, type HoldRecord } from './holds.ts';
import { inventoryFrom, inventorySnapshot, type InventorySnapshot } from './inventory-snapshot.ts';
import { restoreOrder, type OrderRecord } from './orders.ts';
import { compileSalePlan } from './sale-plan.ts';
import { unreachable } from './invariant.ts';
import { restoreWaitingRoomPart, waitingRoomParts, type WaitingRoomPart } from './waiting-room-snapshot.ts';
import type { EventDefinition } from './catalogue.ts';
import type { IdempotencyRecord } from './idempotency.ts';
import type { IdempotentAnswer } from './views.ts';
import type { PerformanceStatus } from '#machines/performance.ts';

/** Raised with every change of the pieces that older code could not read. */
export const SNAPSHOT_FORMAT = 1;

/** Records in one piece; at some 300 B each well under a millisecond to parse. */
const RECORDS_PER_PIECE = 500;

/** Orders are larger: up to some 2 KB each. */
const ORDERS_PER_PIECE = 100;

type Piece =
  | {
      readonly kind: 'OFFICE';
      readonly eventId: string;
      readonly eventNumber: number;
      readonly definitionVersion: number;
      readonly revision: number;
      readonly definition: EventDefinition;
    }
  | { readonly kind: 'DATE'; readonly status: PerformanceStatus; readonly inventory: InventorySnapshot }
  | { readonly kind: 'HOLDS'; readonly records: readonly HoldRecord[] }
  | { readonly kind: 'ORDERS'; readonly records: readonly OrderRecord[] }
  | { readonly kind: 'FINISHED_HOLDS'; readonly records: readonly string[] }
  | { readonly kind: 'WAITING_ROOM'; readonly room: WaitingRoomPart }
  | { readonly kind: 'IDEMPOTENCY'; readonly records: readonly IdempotencyRecord<IdempotentAnswer>[] };

/** The pieces of a box office, in the order in which they must be restored. Lazy: one piece at a time. */
export function* snapshotPieces(office: BoxOffice): Generator<string> {
  const { eventId, eventNumber, definitionVersion, revision } = office;
  const { definition } = office.plan;
  yield print({ kind: 'OFFICE', eventId, eventNumber, definitionVersion, revision, definition });
  for (const { status, inventory } of office.dates.values()) {
    yield print({ kind: 'DATE', status, inventory: inventorySnapshot(inventory) });
  }
  yield* pages('HOLDS', office.holds.byId.values());
  yield* pages('ORDERS', office.orders.inOrder, ORDERS_PER_PIECE);
  yield* pages('FINISHED_HOLDS', office.holds.finished);
  for (const room of waitingRoomParts(office)) yield print({ kind: 'WAITING_ROOM', room });
  yield* pages('IDEMPOTENCY', office.idempotency.values());
}

/** Begins a box office from the first piece of a snapshot. */
export function restoreOffice(firstPiece: string): BoxOffice {
  const piece = JSON.parse(firstPiece) as Piece;
  if (piece.kind !== 'OFFICE') throw new Error(`a snapshot begins with its office, not with ${piece.kind}`);
  const office = openBoxOffice(piece.eventId, piece.eventNumber);
  office.definitionVersion = piece.definitionVersion;
  office.revision = piece.revision;
  office.plan = compileSalePlan(piece.definition);
  return office;
}

/** Adds what a further piece holds. */
export function restorePiece(office: BoxOffice, text: string): void {
  const piece = JSON.parse(text) as Piece;
  switch (piece.kind) {
    case 'OFFICE':
      throw new Error('a snapshot has one office');
    case 'DATE': {
      const inventory = inventoryFrom(office.plan, piece.inventory);
      const id = inventory.performanceId;
      office.dates.set(id, { id, status: piece.status, inventory });
      return;
    }
    case 'HOLDS':
      for (const record of piece.records) restoreHold(office, record);
      return;
    case 'ORDERS':
      for (const record of piece.records) restoreOrder(office, record);
      return;
    case 'FINISHED_HOLDS':
      for (const holdId of piece.records) office.holds.finished.add(holdId);
      return;
    case 'WAITING_ROOM':
      restoreWaitingRoomPart(office, piece.room);
      return;
    case 'IDEMPOTENCY':
      for (const record of piece.records) office.idempotency.set(record.key, record);
      return;
    default:
      unreachable(piece);
  }
}

function* pages(
  kind: Exclude<Piece['kind'], 'OFFICE' | 'DATE' | 'WAITING_ROOM'>,
  records: Iterable<unknown>,
  recordsPerPiece = RECORDS_PER_PIECE,
): Generator<string> {
  let page: unknown[] = [];
  for (const record of records) {
    page.push(record);
    if (page.length < recordsPerPiece) continue;
    yield JSON.stringify({ kind, records: page });
    page = [];
  }
  if (page.length > 0) yield JSON.stringify({ kind, records: page });
}

function print(piece: Piece): string {
  return JSON.stringify(piece);
}
