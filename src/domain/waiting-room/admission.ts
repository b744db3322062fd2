/**
 * Who is admitted when. Every join and every poll admits as many as may be.
 *
 * 1. In any 60 s, at most as many people are admitted as the rate at the end of this time allows, and nobody while the
 *    sale is paused. Live passes never exceed waiting_room_max_admitted, if that is set.
 * 2. People are admitted from the front. Nobody who is still there is overtaken; a stale entry is dropped and uses up
 *    no admission.
 * 3. The work of one turn is bounded (…_MAX); what is left is done by the turns that follow.
 */
import { fact, type Fact } from '../fact.ts';
import { admissionRate } from '../catalogue/state.ts';
import { isOnSale } from '../inventory/performance.ts';
import { isStale } from './last-seen.ts';
import { peopleFrom } from './queue-positions.ts';
import { admittedLately, isRoomOpen, type WaitingRoom } from './state.ts';
import type { WaitingRoomState } from './state.ts';
import type { QueueEntry } from './queue-entries.ts';

/** Under 4 ms of a turn and 185 KB of journal; a room with a higher rate admits the rest with the next poll. */
const ADMISSIONS_PER_TURN_MAX = 5_000;

/** Under 1 ms of a turn; many who leave at once are dropped in many turns. */
export const DROPS_PER_TURN_MAX = 1_000;

const MINUTE_MS = 60_000;

/**
 * Pauses or resumes the room according to the stock, and admits from the front as many as allowed. `excluded` is
 * dropped by another fact of this turn; the entry `joinerId` joins in this turn, behind all others.
 */
export function admitNext(
  state: WaitingRoomState,
  room: WaitingRoom,
  now: number,
  excluded: QueueEntry | null,
  joinerId: string | null,
): readonly Fact[] {
  if (!isRoomOpen(room) || state.steering.paused) return [];
  const { definition } = state.plan;
  const isSoldOut = definition.waitingRoomPauseWhenSoldOut && !isAnythingLeft(state, now);
  if (isSoldOut) return room.status === 'PAUSED' ? [] : [fact('WaitingRoomPaused', {})];
  const resumed = room.status === 'PAUSED' ? [fact('WaitingRoomResumed', {})] : [];
  const admissionsMax = admissionsLeft(state, room, now);
  if (admissionsMax <= 0) return resumed;
  const { admitted, dropped } = selectFromFront(state, room, now, excluded, admissionsMax, joinerId);
  const facts: Fact[] = resumed;
  if (dropped.length > 0) facts.push(fact('QueueEntriesDropped', { entryIds: dropped }));
  if (admitted.length > 0) {
    const passExpiresAt = now + Math.round(definition.waitingRoomMinutes * MINUTE_MS);
    facts.push(fact('QueueEntriesAdmitted', { entryIds: admitted, passExpiresAt }));
  }
  return facts;
}

/** The ids of the entries in front: entries still present are to be admitted, stale ones dropped. */
function selectFromFront(
  state: WaitingRoomState,
  room: WaitingRoom,
  now: number,
  excluded: QueueEntry | null,
  admissionsMax: number,
  joinerId: string | null,
): { readonly admitted: readonly string[]; readonly dropped: readonly string[] } {
  const admitted: string[] = [];
  const dropped: string[] = [];
  for (const entry of peopleFrom(room.entries.positions)) {
    if (admitted.length === admissionsMax || dropped.length === DROPS_PER_TURN_MAX) return { admitted, dropped };
    if (entry === excluded) continue;
    (isStale(state, room, entry, now) ? dropped : admitted).push(entry.id);
  }
  if (joinerId !== null && admitted.length < admissionsMax) admitted.push(joinerId);
  return { admitted, dropped };
}

/** How many may be admitted at this moment (rule 1). */
function admissionsLeft(state: WaitingRoomState, { admissions, entries }: WaitingRoom, now: number): number {
  const { waitingRoomMaxAdmitted } = state.plan.definition;
  const inSpan = admissionRate(state) - admittedLately(admissions, now);
  const atOnce = waitingRoomMaxAdmitted === null ? inSpan : waitingRoomMaxAdmitted - entries.passes.size;
  return Math.min(inSpan, atOnce, ADMISSIONS_PER_TURN_MAX);
}

/** Whether a unit of anything could be bought now, or when its stage begins. */
function isAnythingLeft({ plan, performances }: WaitingRoomState, now: number): boolean {
  const offers = plan.offers.filter(({ sellingStage: { definition } }) => (definition.endsAt ?? Infinity) > now);
  return plan.performances.some((performance) => {
    const performanceState = performances.get(performance.id);
    if (performanceState === undefined || !isOnSale(performanceState, performance, now)) return false;
    return offers.some((offer) => performanceState.inventory.left(offer) >= offer.ticketType.groupSize);
  });
}

/** The longest unseen stale entries, to be dropped by one turn. */
export function staleEntryIds(state: WaitingRoomState, room: WaitingRoom, now: number): readonly string[] {
  const entryIds: string[] = [];
  let entry = room.entries.leastRecentlySeen;
  while (entry !== null && entryIds.length < DROPS_PER_TURN_MAX && isStale(state, room, entry, now)) {
    entryIds.push(entry.id);
    entry = entry.seenAfter;
  }
  return entryIds;
}
