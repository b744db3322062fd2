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
import { decideDefineEvent } from './definitions.ts';
import { earliestDeadline, noDeadlines } from './deadlines.ts';
import { fact, type Fact } from './fact.ts';
import {
  decideChangeHold,
  decideExpireHold,
  decidePlaceHold,
  decideReleaseHold,
  evolveHoldChanged,
  evolveHoldExpired,
  evolveHoldPlaced,
  evolveHoldReleased,
  holdDeadlineStands,
  isLive,
  noHolds,
  recallAnswer,
  viewHold,
} from './holds.ts';
import { noIdempotency } from './idempotency.ts';
import { reschedule } from './inventory.ts';
import { invariant, unreachable } from './invariant.ts';
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
import { compileSalePlan } from './sale-plan.ts';
import type { AvailabilityOffice } from './availability.ts';
import type { Command, CommandOf, CommandType, Replies, Reply } from './command.ts';
import type { DefinedOffice } from './definitions.ts';
import type { EventDefinition } from './catalogue.ts';
import type { FactData } from './fact.ts';
import type { HoldOffice } from './holds.ts';
import type { IdPrefix } from './ids.ts';

/** What a turn brings along, chosen before it: the moment, and a source of ids. */
export interface Turn {
  readonly now: number;
  newId(prefix: IdPrefix): string;
}

export interface BoxOffice extends HoldOffice, DefinedOffice, AvailabilityOffice {
  definitionVersion: number;
  /** Grows with every fact. */
  revision: number;
  readonly perksSold: Map<string, number>;
}

/** What `decide` found: facts to keep, and the reply that holds once they are applied. */
export interface Decision {
  readonly outcome: 'DECIDED';
  readonly facts: readonly Fact[];
  /** Read after `evolve`, still in the same turn. */
  readonly reply: () => Reply;
}

const NOTHING_DEFINED: EventDefinition = {
  id: '',
  slug: '',
  name: '',
  description: '',
  status: 'DRAFT',
  currency: 'XXX',
  timezone: 'UTC',
  paymentProvider: 'provider_a',
  maxInstallments: 1,
  holdMinutes: 10,
  holdMaxMinutes: null,
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
    perksSold: new Map(),
  };
}

/** Whether buyers can see the event. */
export function isPublished(office: BoxOffice): boolean {
  return office.definitionVersion > 0 && office.plan.definition.status === 'PUBLISHED';
}

/** What runs out next, or null; what it names is settled with the command SettleDeadline once its moment has come. */
export function nextDeadline(office: BoxOffice): { readonly subjectId: string; readonly at: number } | null {
  return earliestDeadline(office.deadlines, (subjectId, at) => holdDeadlineStands(office.holds, subjectId, at));
}

// ── decide ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Judges a command. Mutates nothing; the same office, command and turn give the same answer. */
export function decide(office: BoxOffice, command: Command, turn: Turn): Decision | Refusal {
  switch (command.type) {
    case 'PlaceHold':
      return isPublished(office) ? placeHold(office, command, turn) : refuse('EVENT_NOT_FOUND', {});
    case 'ChangeHold':
      return decided(decideChangeHold(office, command, turn.now), 'ChangeHold', () => shownHold(office, command));
    case 'ReleaseHold':
      return decided(decideReleaseHold(office, command), 'ReleaseHold', () => shownHold(office, command));
    case 'SettleDeadline':
      return decided(decideExpireHold(office, command.subjectId, turn.now), 'SettleDeadline', () => ({}));
    case 'DefineEvent':
      return defineEvent(office, command);
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

function decided<Type extends CommandType>(
  facts: readonly Fact[] | Refusal,
  _type: Type,
  reply: () => Replies[Type],
): Decision | Refusal {
  if (isRefusal(facts)) return facts;
  return { outcome: 'DECIDED', facts, reply: () => ({ outcome: 'DONE', ...reply() }) as Reply };
}

function placeHold(office: BoxOffice, command: CommandOf<'PlaceHold'>, turn: Turn): Decision | Refusal {
  const recalled = recallAnswer(office, command, turn.now);
  if (recalled !== null) {
    if (isRefusal(recalled)) return recalled;
    const { answer } = recalled;
    invariant(answer.of === 'HOLD', 'a key marks requests of one route, because the route is in the digest');
    return decided([], 'PlaceHold', () => ({ hold: answer.hold, replayed: true }));
  }
  const holdId = turn.newId('hld');
  const facts = decidePlaceHold(office, command, holdId, turn.now);
  return decided(facts, 'PlaceHold', () => ({ ...shownHold(office, { holdId }), replayed: false }));
}

function shownHold(office: BoxOffice, { holdId }: { readonly holdId: string }): Replies['ChangeHold'] {
  const hold = office.holds.byId.get(holdId);
  invariant(hold !== undefined, 'a hold that was just decided on is there');
  return { hold: viewHold(office, hold) };
}

function defineEvent(office: BoxOffice, command: CommandOf<'DefineEvent'>): Decision | Refusal {
  const { operator, note, definition } = command;
  const facts = decideDefineEvent(office, command, (performanceId) =>
    factsOfCancellation(office, { performanceId, operator, note }),
  );
  return decided(facts, 'DefineEvent', () => ({
    eventId: definition.id,
    version: office.definitionVersion,
    changed: !isRefusal(facts) && facts.length > 0,
  }));
}

function cancelPerformance(office: BoxOffice, command: CommandOf<'CancelPerformance'>): Decision | Refusal {
  const { performanceId, operator, note } = command;
  const date = office.dates.get(performanceId);
  if (date === undefined) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  const facts = date.status === 'CANCELLED' ? [] : factsOfCancellation(office, { performanceId, operator, note });
  return decided(facts, 'CancelPerformance', () => ({
    releasedHolds: facts.filter(({ type }) => type === 'HoldReleased').length,
    cancelledOrders: 0,
  }));
}

/** A date does not take place: its holds are released. */
function factsOfCancellation(office: BoxOffice, data: FactData['PerformanceCancelled']): readonly Fact[] {
  const facts = [fact('PerformanceCancelled', data)];
  for (const hold of office.holds.byId.values()) {
    const concerned = hold.lines.some((line) => line.performanceId === data.performanceId);
    if (concerned && hold.status === 'ACTIVE') facts.push(fact('HoldReleased', { holdId: hold.id }));
  }
  return facts;
}

function countSeats(facts: readonly Fact[] | Refusal): number {
  const [first] = isRefusal(facts) ? [] : facts;
  return first?.type === 'SeatsBlocked' || first?.type === 'SeatsUnblocked' ? first.data.seatIds.length : 0;
}

// ── evolve ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Applies a fact that happened at a moment. Throws a Defect when the fact cannot follow on what was before. */
export function evolve(office: BoxOffice, { type, data }: Fact, at: number): void {
  office.revision += 1;
  switch (type) {
    case 'EventDefined':
      return evolveEventDefined(office, data);
    case 'PerformanceCancelled':
      return evolvePerformanceCancelled(office, data);
    case 'SeatsBlocked':
      return evolveSeatsBlocked(office, data);
    case 'SeatsUnblocked':
      return evolveSeatsUnblocked(office, data);
    case 'HoldPlaced':
      return evolveHoldPlaced(office, data, at);
    case 'HoldChanged':
      return evolveHoldChanged(office, data);
    case 'HoldReleased':
      return evolveHoldReleased(office, data);
    case 'HoldExpired':
      return evolveHoldExpired(office, data);
    default:
      return unreachable(type);
  }
}

function evolveEventDefined(office: BoxOffice, data: FactData['EventDefined']): void {
  invariant(data.version === office.definitionVersion + 1, 'definitions follow one another');
  office.definitionVersion = data.version;
  evolvePlan(office, compileSalePlan(data.definition));
  for (const hold of office.holds.byId.values()) {
    if (!isLive(hold)) continue;
    for (const line of hold.lines) reschedule(inventoryOf(office, line.performanceId), hold, [line]);
  }
}
