/**
 * The report of a rehearsal as data: what was asked, what was reached, and what came out differently.
 *
 * It names the event by its ids and has nothing of people in it.
 */
import type { OtherTotals } from '../player/buying.ts';
import type { MeterResult } from '../server/meter.ts';
import type { Pace } from '../player/schedule.ts';
import type { TallyReport } from '../player/tally.ts';
import type { Outcome } from '../trace/trace.ts';

export interface RehearsalReport {
  readonly format: 1;
  readonly title: string;
  readonly rehearsedAt: string;
  readonly version: string;
  readonly machine: { readonly node: string; readonly cpu: string; readonly cores: number; readonly platform: string };
  readonly event: { readonly id: string; readonly name: string };
  readonly period: { readonly from: string; readonly to: string };
  readonly settings: Pace & {
    readonly connections: number;
    /** The address, or null for a service of its own. */
    readonly against: string | null;
    /** The file of the definition, or null for the trace's own. */
    readonly definition: string | null;
  };
  readonly trace: {
    readonly people: number;
    readonly intents: Readonly<Record<string, number>>;
    readonly operations: number;
    readonly leftOut: Readonly<Record<string, number>>;
  };
  readonly lengthMs: number;
  readonly askedBySecond: readonly number[];
  readonly polls: number;
  readonly tally: TallyReport;
  readonly meter: MeterResult | null;
  readonly notTried: Readonly<Record<string, number>>;
  readonly splitParties: number;
  readonly otherTotals: OtherTotals;
  /** The outcome of the trace, with its times at the rehearsal's speed. */
  readonly then: Outcome;
  readonly now: Outcome;
  /** What the definition changes for buyers. */
  readonly definitionChanges: readonly string[];
  readonly differences: readonly Difference[];
}

/** One thing that came out differently. */
export interface Difference {
  readonly what: string;
  readonly then: string;
  readonly now: string;
}

export type Measured = Omit<RehearsalReport, 'differences'>;

/** Times of sales differ by as much without a reason: seconds, or this share of the whole. */
const SOLD_OUT_MS = 1_000;
const SOLD_OUT_SHARE = 0.1;

export function differencesOf(report: Measured): Difference[] {
  const { then, now, tally, otherTotals, notTried, splitParties } = report;
  const found: Difference[] = [];
  const say = (what: string, before: string | number, after: string | number): void => {
    if (before !== after) found.push({ what, then: shown(before), now: shown(after) });
  };
  say('tickets sold', then.ticketsSold, now.ticketsSold);
  say('orders sold', then.ordersSold, now.ordersSold);
  const { missing, added } = seatChanges(then, now);
  if (missing + added > 0) {
    found.push({
      what: 'numbered seats sold',
      then: shown(then.seatsSold.length),
      now: `${shown(now.seatsSold.length)}: ${shown(missing)} of then not sold, ${shown(added)} others sold`,
    });
  }
  if (soldOutDiffers(then.soldOutAt, now.soldOutAt)) {
    found.push({ what: 'sold out after', then: secondsOf(then.soldOutAt), now: secondsOf(now.soldOutAt) });
  }
  if (otherTotals.orders > 0) {
    const [first] = otherTotals.examples;
    const example = first && `, such as ${first.nowCents} instead of ${first.thenCents} for ${first.tickets} tickets`;
    found.push({
      what: 'totals of orders (in cents)',
      then: 'as paid',
      now: `${otherTotals.orders} of ${otherTotals.ofOrders} differ, together by ${signed(otherTotals.differenceCents)}${example ?? ''}`,
    });
  }
  for (const [name, [before, after]] of priceChanges(then, now)) {
    found.push({ what: `price of one ${name} (in cents)`, then: before, now: after });
  }
  for (const { route, status, code, count } of tally.refusals) {
    found.push({ what: `${route}: ${status} ${code}`, then: 'granted', now: `${shown(count)} refused` });
  }
  for (const { route, failed } of tally.routes) {
    if (failed > 0) found.push({ what: `${route}: no answer`, then: 'granted', now: shown(failed) });
  }
  if (splitParties > 0) {
    found.push({ what: 'parties that no longer found seats side by side', then: '0', now: String(splitParties) });
  }
  for (const [what, count] of Object.entries(notTried))
    found.push({ what: `not tried: ${what}`, then: 'done', now: shown(count) });
  return found;
}

function seatChanges(then: Outcome, now: Outcome): { readonly missing: number; readonly added: number } {
  const before = new Set(then.seatsSold);
  const after = new Set(now.seatsSold);
  return {
    missing: then.seatsSold.filter((seat) => !after.has(seat)).length,
    added: now.seatsSold.filter((seat) => !before.has(seat)).length,
  };
}

function soldOutDiffers(then: number | null, now: number | null): boolean {
  if (then === null || now === null) return then !== now;
  return Math.abs(then - now) > Math.max(SOLD_OUT_MS, SOLD_OUT_SHARE * then);
}

/** Kinds of tickets that were paid with other prices, by name. */
function priceChanges(then: Outcome, now: Outcome): [name: string, prices: readonly [string, string]][] {
  const changes: [string, readonly [string, string]][] = [];
  for (const [name, prices] of Object.entries(then.pricesCents)) {
    const after = now.pricesCents[name];
    if (after === undefined || String(after) === String(prices)) continue;
    changes.push([name, [listed(prices), listed(after)]]);
  }
  return changes;
}

const PRICES_MAX = 6;

function listed(prices: readonly number[]): string {
  return prices.length > PRICES_MAX ? `${prices.slice(0, PRICES_MAX).join(', ')}, …` : prices.join(', ');
}

export function secondsOf(ms: number | null): string {
  return ms === null ? 'not sold out' : `${(ms / 1_000).toFixed(1)} s`;
}

function shown(value: string | number): string {
  return typeof value === 'number' ? value.toLocaleString('en-GB') : value;
}

function signed(cents: number): string {
  return cents > 0 ? `+${cents}` : String(cents);
}

/**
 * The outcome of the trace, with its times as in a rehearsal at this speed that begins `leadMs` before the first
 * intent.
 */
export function atSpeed(outcome: Outcome, { speed }: Pace, leadMs: number): Outcome {
  const soldBySecond: number[] = [];
  outcome.soldBySecond.forEach((tickets, second) => {
    soldBySecond[Math.floor((second + leadMs / 1_000) / speed)] = tickets;
  });
  let last = 0;
  return {
    ...outcome,
    soldOutAt: outcome.soldOutAt === null ? null : (outcome.soldOutAt + leadMs) / speed,
    soldBySecond: Array.from(soldBySecond, (tickets) => (last = tickets ?? last)),
  };
}

/** Whether a text is a report that this version reads. */
export function readReport(text: string): RehearsalReport | null {
  const read = JSON.parse(text) as Partial<RehearsalReport>;
  return read.format === 1 && read.tally !== undefined ? (read as RehearsalReport) : null;
}

/** A list in one line. */
export function differencesText(lines: readonly string[]): string {
  return lines.length === 0 ? 'none' : lines.join('; ');
}
