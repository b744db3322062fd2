/**
 * What buyers may change of their paid orders, until when and for which fee, by the event's `buyerChanges`.
 *
 * 1. A new code follows the rule for changes. Without a rule it is not offered.
 * 2. A rule permits until so many minutes before the start of the ticket's date, and a change also until so many before
 *    the start of the new date. For a date without a start, it permits until the date is over.
 * 3. In the days of withdrawal, tickets of dates that have not begun are given back without a fee, whatever the rule
 *    for cancellations says. A date without a start counts as not begun until it is over.
 * 4. A fee is for each ticket; the percentage is of what is credited by the rule, once for the amendment.
 */
import { percentOf, sumOf } from '../../money.ts';
import { isRefusal, refuse, type Refusal } from '../../refusal.ts';
import type { Order } from '../order.ts';
import type { AmendmentRequest } from '../../amendment-request.ts';
import type { BuyerChanges, ChangeRule, PerformanceDefinition } from '../../catalogue/definition.ts';
import type { OrderState } from '../state.ts';
import type { OrderUnit } from './units.ts';
import type { UnitsOfChange } from './destinations.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const MINUTE_MS = 60_000;

/** What a buyer's amendment costs beside the tickets. */
interface Permission {
  /** The fees of changed, reissued and renamed tickets together, without the percentage of the credit. */
  readonly feeCents: number;
  /** Given back by the rule. */
  readonly byRule: readonly OrderUnit[];
  /** Whether something is given back by withdrawal. */
  readonly isWithdrawal: boolean;
  readonly cancelFeeCents: number;
  readonly cancelPercent: number;
  readonly changePercent: number;
  /** When what is permitted ends; null where it does not. */
  readonly endsAt: number | null;
}

interface Named {
  readonly unitOf: ReadonlyMap<string, OrderUnit>;
  readonly cancelled: readonly OrderUnit[];
  readonly changes: readonly UnitsOfChange[];
}

/** Checks what a buyer asks for: AMENDMENT_NOT_ALLOWED. */
export function checkPermission(
  state: OrderState,
  order: Order,
  { reissue = [], attendees = [] }: AmendmentRequest,
  { unitOf, cancelled, changes }: Named,
  now: number,
): Permission | Refusal {
  const { buyerChanges } = state.plan.definition;
  const dates = state.plan.performanceById;
  const ends: number[] = [];
  const may = (rule: ChangeRule | null | undefined, unit: OrderUnit, performanceIds: readonly string[]) => {
    const of = performanceIds.map((id) => dates.get(id));
    const checked = checkRule(rule ?? null, unit.ticketTypeId, of, now);
    if (!isRefusal(checked) && checked.endsAt !== null) ends.push(checked.endsAt);
    return isRefusal(checked) ? checked : null;
  };
  const mayOf = (rule: ChangeRule | null | undefined, ticketId: string): Refusal | null => {
    const unit = unitOf.get(ticketId)!;
    return may(rule, unit, [unit.performanceId]);
  };
  const isWithdrawn = (unit: OrderUnit): boolean => {
    const end = withdrawalEndOf(buyerChanges, order.placedAt, dates.get(unit.performanceId));
    if (now >= end) return false;
    ends.push(end);
    return true;
  };
  const withdrawn = new Set(cancelled.filter(isWithdrawn));
  const byRule = cancelled.filter((unit) => !withdrawn.has(unit));
  const refused =
    firstOf(byRule, (unit) => may(buyerChanges?.cancel, unit, [unit.performanceId])) ??
    firstOf(changes, ({ change, units: changed }) =>
      firstOf(changed, (unit) =>
        may(buyerChanges?.change, unit, [unit.performanceId, change.performanceId ?? unit.performanceId]),
      ),
    ) ??
    firstOf(reissue, (ticketId) => mayOf(buyerChanges?.change, ticketId)) ??
    firstOf(attendees, ({ ticketId }) => mayOf(buyerChanges?.attendees, ticketId));
  if (refused !== null) return refused;
  const changed = sumOf(changes, ({ change }) => change.ticketIds.length) + reissue.length;
  return {
    feeCents: changed * (buyerChanges?.change?.fee ?? 0) + attendees.length * (buyerChanges?.attendees?.fee ?? 0),
    byRule,
    isWithdrawal: withdrawn.size > 0,
    cancelFeeCents: ticketsOf(byRule) * (buyerChanges?.cancel?.fee ?? 0),
    cancelPercent: buyerChanges?.cancel?.feePercent ?? 0,
    changePercent: buyerChanges?.change?.feePercent ?? 0,
    endsAt: ends.length === 0 ? null : Math.min(...ends),
  };
}

function firstOf<Each>(all: readonly Each[], check: (each: Each) => Refusal | null): Refusal | null {
  for (const each of all) {
    const refused = check(each);
    if (refused !== null) return refused;
  }
  return null;
}

function ticketsOf(units: readonly OrderUnit[]): number {
  return sumOf(units, ({ slots }) => slots.length);
}

/** Until when tickets of a date are given back without a fee (rule 3); a past moment where they are not. */
export function withdrawalEndOf(
  changes: BuyerChanges | undefined,
  placedAt: number,
  date: Pick<PerformanceDefinition, 'startsAt' | 'endsAt'> | undefined,
): number {
  const end = placedAt + (changes?.withdrawalDays ?? 0) * DAY_MS;
  return Math.min(end, date?.startsAt ?? date?.endsAt ?? end);
}

/** Whether a rule is for tickets of a type on such dates, and until when (rules 1 and 2): AMENDMENT_NOT_ALLOWED. */
export function checkRule(
  rule: ChangeRule | null,
  ticketTypeId: string,
  performances: readonly (Pick<PerformanceDefinition, 'startsAt' | 'endsAt'> | undefined)[],
  now: number,
): { readonly endsAt: number | null } | Refusal {
  if (rule === null) return refuse('AMENDMENT_NOT_ALLOWED', { reason: 'NOT_OFFERED', until: null });
  if (rule.ticketTypeIds !== null && !rule.ticketTypeIds.includes(ticketTypeId)) {
    return refuse('AMENDMENT_NOT_ALLOWED', { reason: 'TICKET_TYPE', until: null });
  }
  const ends = performances.flatMap((performance) => {
    const { startsAt = null, endsAt = null } = performance ?? {};
    return startsAt === null ? (endsAt ?? []) : startsAt - rule.untilMinutes * MINUTE_MS;
  });
  const end = ends.length === 0 ? null : Math.min(...ends);
  return end !== null && now >= end
    ? refuse('AMENDMENT_NOT_ALLOWED', { reason: 'TOO_LATE', until: end })
    : { endsAt: end };
}

/** What the amendment costs, once it is known what is credited by the rules (rule 4). */
export function feeOf(
  { feeCents, cancelFeeCents, cancelPercent, changePercent }: Permission,
  credits: { readonly cancelledCents: number; readonly changedCents: number },
): number {
  const ofCancelled = cancelFeeCents + percentOf(credits.cancelledCents, cancelPercent);
  return Math.min(credits.cancelledCents, ofCancelled) + feeCents + percentOf(credits.changedCents, changePercent);
}
