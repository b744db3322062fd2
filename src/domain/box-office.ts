/**
 * The box office of an event: everything that changes about it, as one value.
 *
 * `decide` turns a command into facts or a refusal and mutates nothing; `evolve` applies a fact and refuses nothing (I2).
 * Both only send each on to its owner: holds, performances, definitions, orders and the waiting room. Called by
 * `actors/box-office.ts` in a turn, and by activation with the facts of the journal, so that a replay takes the same path.
 *
 * 1. Nothing here knows the time, makes an id or draws a number; the turn brings them (I1).
 * 2. The order of the checks is the API's: idempotency key, hold or pass, dates, types, seats, stock.
 */
import { decided, type Decision } from './decision.ts';
import { decideDefineEvent } from './definitions.ts';
import { earliestDeadline, noDeadlines } from './deadlines.ts';
import { decideRecordDraw, drawUnderWay } from './drawing.ts';
import { fact, type Fact, type OperatorMark } from './fact.ts';
import {
  decideChangeHold,
  decideExpireHold,
  decidePlaceHold,
  decideReleaseHold,
  evolveHoldChanged,
  evolveHoldExpired,
  evolveHoldPlaced,
  evolveHoldReleased,
  findAnyHold,
  holdDeadlineStands,
  isLive,
  noHolds,
  recallAnswer,
  viewHold,
} from './holds.ts';
import { noIdempotency } from './idempotency.ts';
import { reschedule } from './inventory.ts';
import { invariant, unreachable } from './invariant.ts';
import { cancelOrdersOn, decideExpireOrder, noOrders } from './orders.ts';
import { evolveOrders } from './order-evolve.ts';
import {
  decideBlockSeats,
  decideUnblockSeats,
  evolvePerformanceCancelled,
  evolvePlan,
  evolveSeatsBlocked,
  evolveSeatsUnblocked,
  inventoryOf,
} from './performances.ts';
import { isRefusal, refuse, type Refusal } from './refusal.ts';
import { countOf, countSeats, decideOnce, evolveRequestAnswered } from './repeats.ts';
import { decideRoom, roomConflicts } from './room-definition.ts';
import { compileSalePlan } from './sale-plan.ts';
import { decideOnOrder, startCheckout, type Door } from './till.ts';
import {
  decideJoinQueue,
  decideLeaveQueue,
  decidePollQueue,
  decideQueueDeadline,
  isOfQueue,
  decideSpendPass,
  judgePass,
  queueDeadlineStands,
  silenceDeadline,
  viewLiveEntry,
  viewOwnEntry,
} from './waiting-room.ts';
import { evolveWaitingRoom } from './waiting-room-evolve.ts';
import type { AvailabilityOffice } from './availability.ts';
import type { Command, CommandOf, Replies } from './command.ts';
import type { DefinedOffice } from './definitions.ts';
import type { EventDefinition } from './catalogue.ts';
import type { FactData } from './fact.ts';
import type { TurnIds } from './ids.ts';
import type { OrderOffice } from './orders.ts';
import { OPENING, type QueueOffice } from './room.ts';
import type { RoomTurn } from './room-definition.ts';

/** What a turn brings along: the moment, sources of ids and seeds, and the hashing of draws. */
export interface Turn extends TurnIds, RoomTurn {}

export interface BoxOffice extends OrderOffice, DefinedOffice, AvailabilityOffice, QueueOffice {
  definitionVersion: number;
  /** Grows with every fact. */
  revision: number;
  readonly perksSold: Map<string, number>;
}

const NOTHING_DEFINED: EventDefinition = {
  id: '',
  slug: '',
  name: '',
  description: '',
  status: 'DRAFT',
  currency: '',
  timezone: 'UTC',
  paymentProvider: 'provider_a',
  maxInstallments: 1,
  holdMinutes: 10,
  holdMaxMinutes: null,
  limitsAtHold: true,
  paymentMinutes: 30,
  waitingRoom: false,
  waitingRoomOpensAt: null,
  waitingRoomRate: 1,
  waitingRoomMinutes: 1,
  waitingRoomInactivitySeconds: 120,
  waitingRoomPauseWhenSoldOut: false,
  waitingRoomMaxAdmitted: null,
  maxTicketsPerOrder: null,
  maxTicketsPerEmail: null,
  requireIndividualData: false,
  performances: [],
  localities: [],
  ticketTypes: [],
  sellingStages: [],
  promoCodes: [],
};

/** The box office of an event that nobody has defined yet. */
export function openBoxOffice(eventId: string, eventNumber: number): BoxOffice {
  return {
    eventId,
    eventNumber,
    definitionVersion: 0,
    revision: 0,
    plan: compileSalePlan(NOTHING_DEFINED),
    dates: new Map(),
    holds: noHolds(),
    deadlines: noDeadlines(),
    idempotency: noIdempotency(),
    orders: noOrders(),
    perksSold: new Map(),
    waitingRoom: null,
  };
}

/** Whether buyers can see the event. */
export function isPublished(office: BoxOffice): boolean {
  return office.definitionVersion > 0 && office.plan.definition.status === 'PUBLISHED';
}

/** What runs out next, or null; what it names is settled with the command SettleDeadline once its moment has come. */
export function nextDeadline(office: BoxOffice): Deadline | null {
  return earliestOf(office, () => true);
}

/**
 * The same without what has to be decided at its moment: the opening of a waiting room, whose draw nobody may foresee. Only of a
 * state that is thrown away: it forgets the opening.
 */
export function nextEnding(office: BoxOffice): Deadline | null {
  return earliestOf(office, (subjectId) => subjectId !== OPENING);
}

interface Deadline {
  readonly subjectId: string;
  readonly at: number;
}

function earliestOf(office: BoxOffice, isWanted: (subjectId: string) => boolean): Deadline | null {
  const noted = earliestDeadline(office.deadlines, (subjectId, at) => {
    if (!isWanted(subjectId)) return false;
    if (isOfQueue(subjectId)) return queueDeadlineStands(office, subjectId, at);
    return holdDeadlineStands(office.holds, subjectId, at);
  });
  const silence = silenceDeadline(office);
  return silence !== null && (noted === null || silence.at <= noted.at) ? silence : noted;
}

// ── decide ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Judges a command. Mutates nothing; the same office, command and turn give the same answer. */
export function decide(office: BoxOffice, command: Command, turn: Turn): Decision | Refusal {
  return decideOnce(office, command, turn.now, () => decideAnew(office, command, turn));
}

function decideAnew(office: BoxOffice, command: Command, turn: Turn): Decision | Refusal {
  switch (command.type) {
    case 'PlaceHold':
      return isPublished(office) ? placeHold(office, command, turn) : refuse('EVENT_NOT_FOUND', {});
    case 'ChangeHold':
      return decided(decideChangeHold(office, command, turn.now), 'ChangeHold', () => shownHold(office, command));
    case 'ReleaseHold':
      return decided(decideReleaseHold(office, command), 'ReleaseHold', () => shownHold(office, command));
    case 'StartCheckout':
      if (!isPublished(office)) return refuse('EVENT_NOT_FOUND', {});
      return startCheckout(office, command, turn, doorFor(office, command, turn.now));
    case 'OpenPayment':
    case 'RecordCheckoutSession':
    case 'RecordPayment':
    case 'CancelOrder':
    case 'RecordRefund':
      return decideOnOrder(office, command, turn);
    case 'SettleDeadline':
      return decided(settle(office, command.subjectId, turn), 'SettleDeadline', () => ({}));
    case 'JoinQueue':
      return isPublished(office) ? joinQueue(office, command, turn) : refuse('EVENT_NOT_FOUND', {});
    case 'PollQueue':
      return decided(decidePollQueue(office, command, turn.now), 'PollQueue', () => shownEntry(office, command, turn));
    case 'LeaveQueue':
      return decided(decideLeaveQueue(office, command, turn.now), 'LeaveQueue', () =>
        shownEntry(office, command, turn),
      );
    case 'RecordDraw':
      return decided(decideRecordDraw(office, command), 'RecordDraw', () => ({
        drawnEntries: drawUnderWay(office)?.order.length ?? command.from + command.entryIds.length,
      }));
    case 'DefineEvent':
      return defineEvent(office, command, turn);
    case 'CancelPerformance':
      return cancelPerformance(office, command);
    case 'BlockSeats': {
      const facts = decideBlockSeats(office, command);
      return decided(facts, 'BlockSeats', () => ({ blockedSeats: countSeats(facts) }));
    }
    case 'UnblockSeats': {
      const facts = decideUnblockSeats(office, command);
      return decided(facts, 'UnblockSeats', () => ({ unblockedSeats: countSeats(facts) }));
    }
    default:
      return unreachable(command);
  }
}

function placeHold(office: BoxOffice, command: CommandOf<'PlaceHold'>, turn: Turn): Decision | Refusal {
  const recalled = recallAnswer(office, command, turn.now);
  if (recalled !== null) {
    if (isRefusal(recalled)) return recalled;
    const { answer } = recalled;
    invariant(answer.of === 'HOLD', 'a key marks requests of one route, because the route is in the digest');
    return decided([], 'PlaceHold', () => ({ hold: answer.hold, replayed: true }));
  }
  const passRefusal = judgePass(office, command.sessionKey, command.queuePass, turn.now);
  if (passRefusal !== null) return passRefusal;
  const holdId = turn.newId('hld');
  const { sessionKey } = command;
  const facts = decidePlaceHold(office, command, holdId, turn.now);
  return decided(facts, 'PlaceHold', () => ({ ...shownHold(office, { holdId, sessionKey }), replayed: false }));
}

function shownHold(
  office: BoxOffice,
  { holdId, sessionKey }: { readonly holdId: string; readonly sessionKey: string },
): Replies['ChangeHold'] {
  const hold = findAnyHold(office.holds, holdId, sessionKey);
  invariant(hold !== undefined, 'a hold that was just decided on is there');
  return { hold: viewHold(office, hold) };
}

/** The waiting room as a checkout passes through it; whoever takes over a hold is the session that placed it. */
function doorFor(office: BoxOffice, command: CommandOf<'StartCheckout'>, now: number): Door {
  const { sessionKey, queuePass, holdId } = command;
  const hold = holdId === null ? undefined : office.holds.byId.get(holdId);
  return {
    judgePass: () => judgePass(office, sessionKey, queuePass, now),
    spendPass: () => decideSpendPass(office, hold?.sessionKey ?? sessionKey, queuePass),
  };
}

/** Ends what has run out: of the waiting room, a hold or, where an order has taken it over, the order. */
function settle(office: BoxOffice, subjectId: string, turn: Turn): readonly Fact[] {
  if (isOfQueue(subjectId)) return decideQueueDeadline(office, subjectId, turn);
  const expired = decideExpireHold(office, subjectId, turn.now);
  return expired.length > 0 ? expired : decideExpireOrder(office.holds.byId.get(subjectId), turn.now);
}

function joinQueue(office: BoxOffice, command: CommandOf<'JoinQueue'>, turn: Turn): Decision | Refusal {
  const { now } = turn;
  const facts = decideJoinQueue(office, command, turn.newId('que'), now);
  return decided(facts, 'JoinQueue', () => ({
    entry: viewLiveEntry(office, command.sessionKey, now),
    joined: !isRefusal(facts) && facts.some(({ type }) => type === 'QueueEntryJoined'),
  }));
}

function shownEntry(
  office: BoxOffice,
  { entryId, sessionKey }: CommandOf<'PollQueue' | 'LeaveQueue'>,
  { now }: Turn,
): Replies['PollQueue'] {
  const entry = viewOwnEntry(office, entryId, sessionKey, now);
  invariant(!isRefusal(entry), 'an entry that was just decided on is there');
  return { entry };
}

function defineEvent(office: BoxOffice, command: CommandOf<'DefineEvent'>, turn: Turn): Decision | Refusal {
  const { definition } = command;
  const facts = decideDefineEvent(office, command, roomConflicts(office, definition, turn.now), {
    cancelDates: (performanceIds) => factsOfCancellation(office, performanceIds, command),
    changeRoom: () => decideRoom(office, definition, turn),
  });
  return decided(facts, 'DefineEvent', () => ({
    eventId: definition.id,
    version: office.definitionVersion,
    changed: !isRefusal(facts) && facts.length > 0,
  }));
}

function cancelPerformance(office: BoxOffice, command: CommandOf<'CancelPerformance'>): Decision | Refusal {
  const { performanceId } = command;
  const date = office.dates.get(performanceId);
  if (date === undefined) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  const facts = date.status === 'CANCELLED' ? [] : factsOfCancellation(office, [performanceId], command);
  return decided(facts, 'CancelPerformance', () => ({
    releasedHolds: countOf(facts, 'HoldReleased'),
    cancelledOrders: countOf(facts, 'OrderCancelled'),
  }));
}

/** Dates do not take place: holds with a line on one are released, and orders with a ticket on one cancelled whole. */
function factsOfCancellation(
  office: BoxOffice,
  performanceIds: readonly string[],
  { operator, note }: OperatorMark,
): readonly Fact[] {
  if (performanceIds.length === 0) return [];
  const dates = new Set(performanceIds);
  const facts = performanceIds.map((performanceId) => fact('PerformanceCancelled', { performanceId, operator, note }));
  for (const hold of office.holds.byId.objects()) {
    const isConcerned = hold.status === 'ACTIVE' && hold.lines.some((line) => dates.has(line.performanceId));
    if (isConcerned) facts.push(fact('HoldReleased', { holdId: hold.id }));
  }
  return [...facts, ...cancelOrdersOn(office, dates, { operator, note })];
}

// ── evolve ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Applies a fact that happened at a moment. Throws a Defect when the fact cannot follow on what was before. */
export function evolve(office: BoxOffice, happened: Fact, at: number): void {
  office.revision += 1;
  switch (happened.type) {
    case 'EventDefined':
      return evolveEventDefined(office, happened.data);
    case 'PerformanceCancelled':
      return evolvePerformanceCancelled(office, happened.data);
    case 'SeatsBlocked':
      return evolveSeatsBlocked(office, happened.data);
    case 'SeatsUnblocked':
      return evolveSeatsUnblocked(office, happened.data);
    case 'RequestAnswered':
      return evolveRequestAnswered(office, happened.data, at);
    case 'HoldPlaced':
      return evolveHoldPlaced(office, happened.data, at);
    case 'HoldChanged':
      return evolveHoldChanged(office, happened.data);
    case 'HoldReleased':
      return evolveHoldReleased(office, happened.data, at);
    case 'HoldExpired':
      return evolveHoldExpired(office, happened.data, at);
    case 'OrderPlaced':
    case 'CheckoutResumed':
    case 'PaymentRequested':
    case 'CheckoutSessionOpened':
    case 'PaymentClosed':
    case 'PaymentRecorded':
    case 'StrayMoneyRecorded':
    case 'OrderPaid':
    case 'TicketsIssued':
    case 'OrderExpired':
    case 'OrderCancelled':
    case 'RefundRecorded':
      return evolveOrders(office, happened, at);
    default:
      return evolveWaitingRoom(office, happened, at);
  }
}

function evolveEventDefined(office: BoxOffice, data: FactData['EventDefined']): void {
  invariant(data.version === office.definitionVersion + 1, 'definitions follow one another');
  office.definitionVersion = data.version;
  evolvePlan(office, compileSalePlan(data.definition));
  for (const hold of office.holds.byId.objects()) {
    if (!isLive(hold)) continue;
    for (const line of hold.lines) reschedule(inventoryOf(office, line.performanceId), hold, [line]);
  }
}
