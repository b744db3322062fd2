/** Two rehearsals side by side: figures of both, and what differs in how they were held. */
import { formatNumber } from './drawing.ts';
import { differencesText, secondsOf, type RehearsalReport } from './report.ts';
import { percentileOf, type Distribution } from '../player/tally.ts';

interface ComparedFigure {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly change: string;
}

interface Comparison {
  readonly rows: readonly ComparedFigure[];
  /** In what the rehearsals themselves differ. */
  readonly notes: readonly string[];
}

export function compareReports(before: RehearsalReport, after: RehearsalReport): Comparison {
  const rows: ComparedFigure[] = [];
  const count = (name: string, one: number, other: number): void => {
    rows.push({ name, before: formatNumber(one), after: formatNumber(other), change: changeOf(one, other) });
  };
  const time = (name: string, one: number, other: number): void => {
    rows.push({ name, before: msText(one), after: msText(other), change: ratioOf(one, other) });
  };
  count('tickets sold', before.now.ticketsSold, after.now.ticketsSold);
  count('orders sold', before.now.ordersSold, after.now.ordersSold);
  count('sold for (cents)', before.now.soldCents, after.now.soldCents);
  rows.push({
    name: 'sold out after',
    before: secondsOf(before.now.soldOutAt),
    after: secondsOf(after.now.soldOutAt),
    change: ratioOf(before.now.soldOutAt, after.now.soldOutAt),
  });
  count('orders with another total than then', before.otherTotals.orders, after.otherTotals.orders);
  count('parties not side by side any more', before.splitParties, after.splitParties);
  for (const key of keysOf(before, after, ({ tally }) =>
    tally.refusals.map(({ route, status, code }) => `${route}: ${status} ${code}`),
  )) {
    const of = ({ tally }: RehearsalReport) =>
      tally.refusals.find(({ route, status, code }) => `${route}: ${status} ${code}` === key)?.count ?? 0;
    count(`refused ${key}`, of(before), of(after));
  }
  for (const route of keysOf(before, after, ({ tally }) => tally.routes.map((each) => each.route))) {
    const of = ({ tally }: RehearsalReport) => tally.routes.find((each) => each.route === route)?.latency;
    addTimes(route, of(before), of(after), time);
  }
  for (const step of keysOf(before, after, ({ tally }) => Object.keys(tally.steps))) {
    addTimes(`in the service: ${step}`, before.tally.steps[step], after.tally.steps[step], time);
  }
  if (before.meter !== null && after.meter !== null) {
    time('event-loop delay p99', before.meter.loopDelayP99Ms, after.meter.loopDelayP99Ms);
    time('processor time', before.meter.cpuMicros / 1_000, after.meter.cpuMicros / 1_000);
  }
  time(
    'lateness of the generator p99',
    percentileOf(before.tally.lateness, 99),
    percentileOf(after.tally.lateness, 99),
  );
  return { rows, notes: notesOn(before, after) };
}

function addTimes(
  name: string,
  one: Distribution | undefined,
  other: Distribution | undefined,
  add: (name: string, one: number, other: number) => void,
): void {
  if (one === undefined || other === undefined) return;
  for (const percentile of [50, 99])
    add(`${name} p${percentile}`, percentileOf(one, percentile), percentileOf(other, percentile));
}

function notesOn(before: RehearsalReport, after: RehearsalReport): string[] {
  const notes: string[] = [];
  const note = (name: string, one: unknown, other: unknown): void => {
    if (String(one) !== String(other))
      notes.push(`${name}: ${String(one ?? 'none')} earlier, ${String(other ?? 'none')} now`);
  };
  note('event', before.event.id, after.event.id);
  note('beginning of the period', before.period.from, after.period.from);
  note('version', before.version, after.version);
  note('machine', machineOf(before), machineOf(after));
  note('speed', before.settings.speed, after.settings.speed);
  note('seconds between polls', before.settings.pollSeconds, after.settings.pollSeconds);
  note('reads of the page', before.settings.pageReads, after.settings.pageReads);
  note('service', before.settings.against ?? 'its own', after.settings.against ?? 'its own');
  note('definition', before.settings.definition ?? 'of then', after.settings.definition ?? 'of then');
  note(
    'changes of the definition',
    differencesText(before.definitionChanges),
    differencesText(after.definitionChanges),
  );
  return notes;
}

function machineOf({ machine: { node, cpu, cores } }: RehearsalReport): string {
  return `Node ${node} on ${cores} × ${cpu}`;
}

function keysOf(
  before: RehearsalReport,
  after: RehearsalReport,
  keys: (report: RehearsalReport) => readonly string[],
): string[] {
  return [...new Set([...keys(before), ...keys(after)])];
}

function changeOf(one: number, other: number): string {
  if (one === other) return 'same';
  return other > one ? `+${formatNumber(other - one)}` : formatNumber(other - one);
}

function ratioOf(one: number | null, other: number | null): string {
  if (one === null || other === null) return one === other ? 'same' : '';
  if (one === 0) return '';
  const percent = Math.round((other / one - 1) * 100);
  if (percent === 0) return 'same';
  return `${percent > 0 ? '+' : ''}${percent} %`;
}

function msText(ms: number): string {
  return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(1)} ms`;
}
