/**
 * The draw of a waiting room: how it begins, how a large one is taken over piece by piece, and its proof.
 *
 * The order itself belongs to `draw.ts`. Called by `waiting-room.ts` when the opening is reached, by `box-office.ts`, by `actors/draw.ts`,
 * which has large draws held, and by the route of the proof.
 *
 * 1. Drawn are those who wait when the doors open. The pool is frozen then, so that a draw taken up again finds the same people.
 * 2. The opening is made in the same turn that freezes the pool and is recorded with it: nobody who sees it can still join or leave
 *    the draw, and a draw taken up again has the same one.
 * 3. A piece is taken over once, and in order, however often it comes.
 */
import { drawOrder, type Hashing } from './draw.ts';
import { fact, type Fact } from '../fact.ts';
import { peopleFrom } from './queue-positions.ts';
import type { CommandOf } from '../command.ts';
import type { Draw, WaitingRoom } from './room.ts';
import type { RoomTurn } from './room-definition.ts';
import type { DrawView } from '../views.ts';
import type { EventState } from '../event-state.ts';
import type { Decision, NamedReply } from '../decision.ts';

/** Larger crowds are drawn off the thread; so many are drawn in the turn that opens the doors, in about 8 ms. */
export const DRAW_IN_TURN_MAX = 2_000;

/** Entries in one fact of a drawn line: 37 KB of journal. */
export const DRAWN_ENTRIES_PER_FACT_MAX = 1_000;

/** The draw that is under way and was begun by too many to be held in one turn; null when there is none. */
export function drawUnderWay(state: EventState): Draw | null {
  return state.waitingRoom?.status === 'DRAWING' ? state.waitingRoom.draw : null;
}

/** The ids of everybody who takes part in a draw. The pool is frozen, so that it may be read in pieces (1). */
export function* poolIds({ pool }: Draw): Generator<string> {
  if (pool !== null) for (const { id } of peopleFrom(pool)) yield id;
}

/** A page of the proof of the room's draw; null where there is none. Cost: 0.5 µs an entry shown. */
export function viewDraw(
  state: EventState,
  page: { readonly offset: number; readonly limit: number },
  hashing: Hashing,
): DrawView | null {
  const draw = state.waitingRoom?.draw ?? null;
  if (draw === null) return null;
  const { seed, opening, commitment: drawCommitment, drawnAt, entryCount, entriesDigest, order } = draw;
  const { eventId } = state;
  if (drawnAt === null) {
    const nothing = { seed: null, opening: null, drawnAt: null, count: 0, entriesDigest: null, entries: [] };
    return { eventId, status: 'pending', drawCommitment, ...nothing };
  }
  const entries = order.slice(page.offset, page.offset + page.limit).map((entryId) => hashing.sha256(entryId));
  return {
    eventId,
    status: 'drawn',
    drawCommitment,
    seed,
    opening,
    drawnAt,
    count: entryCount,
    entriesDigest,
    entries,
  };
}

/** The opening is reached: the draw begins and, where few take part, is held at once. */
export function decideOpening(room: WaitingRoom, { now, newSeed, hashing }: RoomTurn): readonly Fact[] {
  const { status, opensAt, draw, entries } = room;
  if (status !== 'PRE_QUEUE' || opensAt === null || opensAt > now) return [];
  const entryCount = entries.line.size;
  const opening = newSeed();
  const started = fact('DrawStarted', { entryCount, opening });
  if (entryCount > DRAW_IN_TURN_MAX) return [started];
  const ids = Array.from(peopleFrom(entries.line), ({ id }) => id);
  const { entryIds, entriesDigest } = drawOrder({ seed: draw!.seed, opening }, ids, hashing);
  const facts = [started];
  for (let from = 0; from < entryCount; from += DRAWN_ENTRIES_PER_FACT_MAX) {
    facts.push(fact('LineDrawn', { from, entryIds: entryIds.slice(from, from + DRAWN_ENTRIES_PER_FACT_MAX) }));
  }
  return [...facts, fact('DrawFinished', { entriesDigest })];
}

/** Takes over the next piece of an order that was drawn off the thread; nothing when it was taken over before. */
export function decideRecordDraw(state: EventState, command: CommandOf<'RecordDraw'>): Decision {
  const draw = drawUnderWay(state);
  const { from, entryIds, entriesDigest } = command;
  const end = from + entryIds.length;
  if (draw === null) return { facts: [], reply: drawnSoFar(end) };
  if (draw.order.length !== from || entryIds.length === 0) return { facts: [], reply: drawnSoFar(draw.order.length) };
  const facts = [fact('LineDrawn', { from, entryIds })];
  if (end >= draw.entryCount) facts.push(fact('DrawFinished', { entriesDigest }));
  return { facts, reply: drawnSoFar(end) };
}

function drawnSoFar(drawnEntries: number): NamedReply {
  return { shows: 'VALUES', reply: { outcome: 'DONE', drawnEntries } };
}
