/** The outcome of a drill as text: what was done, and a table of the times without an answer. */
import type { FaultKind } from './faults.ts';
import type { DrillOutcome, DrillStep } from './run.ts';

export interface GapRow {
  readonly what: string;
  readonly times: number;
  /** Of the events that it touches, in milliseconds. */
  readonly touchedP50Ms: number;
  readonly touchedMaxMs: number;
  readonly othersMaxMs: number;
  readonly busy: number;
  readonly lost: number;
}

/** The steps of each kind together, in the order in which the kinds came first. */
export function gapRows(steps: readonly DrillStep[]): readonly GapRow[] {
  const byKind = Map.groupBy(steps, ({ what }) => what);
  return Array.from(byKind, ([what, same]) => {
    const touched = same.flatMap(({ touchedMs }) => touchedMs).toSorted((a, b) => a - b);
    const others = same.flatMap(({ otherMs }) => otherMs);
    return {
      what,
      times: same.length,
      touchedP50Ms: Math.round(touched[Math.floor((touched.length - 1) / 2)] ?? 0),
      touchedMaxMs: Math.round(touched.at(-1) ?? 0),
      othersMaxMs: Math.round(Math.max(0, ...others)),
      busy: same.reduce((sum, { busy }) => sum + busy, 0),
      lost: same.reduce((sum, { lost }) => sum + lost, 0),
    };
  });
}

/** The longest time without an answer that is promised for the events that a fault touches. */
export const PROMISED_MS: Readonly<Partial<Record<string, number>>> = {
  'node killed': 3_000,
  'node ended': 1_000,
  'node stopped 5 s': 3_000,
  'server killed': 12_000,
  'server ended': 12_000,
  'server stopped 5 s': 12_000,
} satisfies Partial<Record<FaultKind, number>>;

/** Of a node that ends by itself no buyer at another node sees anything. */
const UNSEEN: FaultKind = 'node ended';

/** Answers 503 that are shown. */
const SHOWN_MAX = 5;

/**
 * The kinds of faults that took longer than is promised, or `slack` times as long on a machine that is busy with other
 * things.
 */
export function missedPromises(steps: readonly DrillStep[], slack = 1): readonly string[] {
  const late = gapRows(steps).flatMap(({ what, touchedMaxMs }) => {
    const promisedMs = PROMISED_MS[what];
    if (promisedMs === undefined || touchedMaxMs <= slack * promisedMs) return [];
    return [`${what}: an event had no answer for ${touchedMaxMs} ms, ${promisedMs} are promised`];
  });
  const seen = steps.filter(({ what, busyElsewhere }) => what === UNSEEN && busyElsewhere.length > 0);
  const described = seen.map(({ what, busyElsewhere }) => {
    const shown = busyElsewhere
      .slice(0, SHOWN_MAX)
      .map((each) => `${each.node} ${each.request} after ${each.tookMs} ms`);
    return `${what}: ${busyElsewhere.length} × 503 at the other nodes: ${shown.join(', ')}`;
  });
  return [...late, ...described];
}

export function reportDrill(outcome: DrillOutcome): string {
  const { seconds, requests, repeats, holds, released, orders, ticketsHeld, ticketsSold, wrong } = outcome;
  const again = outcome.serversStartedAgain;
  const heads = ['without an answer, ms', 'times', 'touched p50', 'touched longest', 'others longest', '503', 'lost'];
  const rows = gapRows(outcome.steps).map((row) => [
    row.what,
    ...[row.times, row.touchedP50Ms, row.touchedMaxMs, row.othersMaxMs, row.busy, row.lost].map(String),
  ]);
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  ');
  return [
    `${requests} requests in ${Math.round(seconds)} s, ${repeats} of them repeats; ${holds} holds, ${released} released, ${orders} orders; ${ticketsHeld} tickets held and ${ticketsSold} sold`,
    line(heads),
    ...rows.map(line),
    ...(again === 0 ? [] : [`${again} × a server did not catch up by itself and was started again`]),
    wrong.length === 0 ? 'nothing was wrong' : `WRONG:\n${wrong.join('\n')}`,
  ].join('\n');
}
