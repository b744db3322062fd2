/**
 * Holds: what places, changes and ends them.
 *
 * 1. A session has at most one ACTIVE hold (I8); placing another releases the first with the same fact.
 * 2. From the millisecond of `expiresAt` on a hold is over: the actor settles what is due before every turn.
 * 3. A refusal leaves the hold as it was, its window too.
 */
import { holdTransitions, type HoldTrigger } from '#machines/hold.ts';
import { isPublished } from '../catalogue/state.ts';
import type { HoldState } from './state.ts';
import type { Decision } from '../decision.ts';
import { fact, type Fact, type FactData } from '../fact.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { refuseWhilePaused } from '../steering.ts';
import { checkPass } from '../waiting-room/decide.ts';
import { changeLines } from './changed-lines.ts';
import { reserveLines } from './new-lines.ts';
import { activeHoldOf, findAnyHold, isToRelease, type Hold } from './state.ts';
import type { CommandOf } from '../command.ts';
import type { TurnIds } from '../ids.ts';

/** What a hold needs of a turn. */
interface HoldTurn extends TurnIds {
  readonly now: number;
}

/**
 * Places a hold in place of the session's previous one, which counts as free while the new one is checked.
 * Refuses in order: EVENT_NOT_FOUND, SALE_PAUSED, QUEUE_PASS_*, then with the refusals of `reserveLines`.
 */
export function decidePlaceHold(state: HoldState, command: CommandOf<'PlaceHold'>, turn: HoldTurn): Decision | Refusal {
  if (!isPublished(state)) return refuse('EVENT_NOT_FOUND', {});
  const { now } = turn;
  const barred = refuseWhilePaused(state) ?? checkPass(state, command.sessionKey, command.queuePass, now);
  if (barred !== null) return barred;
  const replaced = activeHoldOf(state, command.sessionKey);
  const lines = reserveLines(state, command.items, replaced, now);
  if (isRefusal(lines)) return lines;
  const holdId = turn.newId('hld');
  const firstPlacedAt = replaced?.firstPlacedAt ?? now;
  const placed: FactData['HoldPlaced'] = {
    holdId,
    sessionKey: command.sessionKey,
    lines,
    expiresAt: windowEnd(state, firstPlacedAt, replaced?.expiresAt ?? now, now),
    firstPlacedAt,
    replacedHoldId: replaced?.id ?? null,
    idempotency: command.idempotency,
  };
  return { facts: [fact('HoldPlaced', placed)], reply: { shows: 'HOLD', holdId, sessionKey: command.sessionKey } };
}

/**
 * Changes a hold's lines; the window restarts, but never beyond `hold_max_minutes`. Refuses in order: HOLD_NOT_FOUND,
 * HOLD_EXPIRED, HOLD_NOT_ACTIVE, then with the refusals of `changeLines`.
 */
export function decideChangeHold(state: HoldState, command: CommandOf<'ChangeHold'>, now: number): Decision | Refusal {
  const { holdId, sessionKey } = command;
  const hold = findAnyHold(state, holdId, sessionKey);
  if (hold === undefined) return refuse('HOLD_NOT_FOUND', {});
  const over = refuseUnlessActive(hold, 'CHANGE');
  if (over !== null) return over;
  const lines = changeLines(state, hold, command.items, now);
  if (isRefusal(lines)) return lines;
  const expiresAt = windowEnd(state, hold.firstPlacedAt, hold.expiresAt, now);
  const facts = [fact('HoldChanged', { holdId, lines, expiresAt })];
  return { facts, reply: { shows: 'HOLD', holdId, sessionKey } };
}

/** Releases a hold: HOLD_NOT_FOUND; HOLD_NOT_ACTIVE unless it is ACTIVE or RELEASED already, which is no change. */
export function decideReleaseHold(state: HoldState, command: CommandOf<'ReleaseHold'>): Decision | Refusal {
  const { holdId, sessionKey } = command;
  const hold = findAnyHold(state, holdId, sessionKey);
  if (hold === undefined) return refuse('HOLD_NOT_FOUND', {});
  const { status } = hold;
  if (status !== 'ACTIVE' && status !== 'RELEASED') return refuse('HOLD_NOT_ACTIVE', { status });
  const facts = status === 'ACTIVE' ? [fact('HoldReleased', { holdId })] : [];
  return { facts, reply: { shows: 'HOLD', holdId, sessionKey } };
}

/** Ends a hold whose window ran out; nothing when it is over already or not due. */
export function decideExpireHold(state: HoldState, holdId: string, now: number): readonly Fact[] {
  const hold = state.holds.byId.get(holdId);
  const due = hold !== undefined && hold.status === 'ACTIVE' && hold.expiresAt <= now;
  if (!due) return [];
  return [isToRelease(state, hold) ? fact('HoldReleased', { holdId }) : fact('HoldExpired', { holdId })];
}

/**
 * Null when the hold is ACTIVE and may take the trigger; HOLD_EXPIRED when its window ran out, else HOLD_NOT_ACTIVE.
 */
export function refuseUnlessActive(hold: Hold, trigger: HoldTrigger): Refusal | null {
  if (hold.status === 'ACTIVE' && holdTransitions.next(hold.status, trigger) !== undefined) return null;
  return hold.status === 'EXPIRED' ? refuse('HOLD_EXPIRED', {}) : refuse('HOLD_NOT_ACTIVE', { status: hold.status });
}

/**
 * A full window from now, cut at the ceiling of hold_max_minutes. A hold that lives beyond the ceiling, because a later
 * definition lowered it, keeps its `expiresAt`: a change neither shortens nor extends it.
 */
function windowEnd({ plan }: HoldState, firstPlacedAt: number, endSoFar: number, now: number): number {
  const { holdWindowMs, holdLifeMaxMs } = plan;
  const end = now + holdWindowMs;
  return holdLifeMaxMs === null ? end : Math.min(end, Math.max(firstPlacedAt + holdLifeMaxMs, endSoFar));
}
