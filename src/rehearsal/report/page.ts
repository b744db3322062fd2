/**
 * The page of a report, or of two side by side: figures, charts and what came out differently. One file without any
 * asset.
 */
import { drawChart, drawTable, escapeHtml, formatNumber, type Chart, type ChartSeries } from './drawing.ts';
import { compareReports } from './comparison.ts';
import { secondsOf, type RehearsalReport } from './report.ts';
import { percentileOf } from '../player/tally.ts';

const STYLE = `
:root { color-scheme: light; font: 15px/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff; }
body { max-width: 1120px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 36px 0 10px; }
p { margin: 6px 0; max-width: 84ch; } .about { color: #555; }
.measured { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px; margin: 20px 0; }
.measured div { border: 1px solid #d9d9d9; border-radius: 6px; padding: 10px 12px; }
.measured b { display: block; font-size: 21px; font-weight: 600; } .measured span { color: #555; font-size: 13px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 600; border-bottom: 2px solid #bbb; padding: 4px 10px 4px 0; }
td { border-bottom: 1px solid #e5e5e5; padding: 4px 10px 4px 0; vertical-align: top; overflow-wrap: anywhere; }
td:first-child { min-width: 190px; }
th.number { text-align: right; padding-left: 10px; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(460px, 100%), 1fr)); gap: 20px; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: 4px; }
svg { width: 100%; height: auto; } svg line { stroke: #e5e5e5; } svg text { font-size: 12px; fill: #555; }
.legend { list-style: none; padding: 0; margin: 4px 0 0; display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 13px; }
.legend span { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin-right: 6px; vertical-align: -1px; }
.good { border-left: 4px solid #009e73; padding-left: 10px; } .differs { border-left: 4px solid #d55e00; padding-left: 10px; }
`;

const PERCENTILES_SHOWN = [50, 90, 99, 99.9];
const ROUTES_CHARTED = 6;

/** The page of a report, compared with an earlier one where that is given. */
export function drawPage(report: RehearsalReport, earlier: RehearsalReport | null = null): string {
  const title = `Rehearsal of ${report.event.name}`;
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>`,
    `<h1>${escapeHtml(title)}</h1>`,
    `<p class="about">${escapeHtml(aboutOf(report))}</p>`,
    drawFigures(report),
    ...(earlier === null ? [] : [drawComparison(report, earlier)]),
    '<h2>What came out differently</h2>',
    drawDifferences(report),
    '<h2>How it went</h2>',
    `<div class="charts">${chartsOf(report, earlier).map(drawChart).join('\n')}</div>`,
    '<h2>Latencies by route</h2>',
    '<p class="about">In milliseconds, from the moment at which a request should have been sent: the wait for a free connection is part of them. The last column counts from the sending.</p>',
    drawRoutes(report),
    ...(Object.keys(report.tally.steps).length === 0 ? [] : ['<h2>Inside the service</h2>', drawSteps(report)]),
    '<h2>What was played, and how</h2>',
    drawSettings(report),
    '</body></html>',
    '',
  ].join('\n');
}

function aboutOf({ title, rehearsedAt, version, machine, period }: RehearsalReport): string {
  return `${title} · facts from ${period.from} to ${period.to} · rehearsed ${rehearsedAt} with Holdfast ${version}, Node ${machine.node} on ${machine.cores} × ${machine.cpu}`;
}

function drawFigures(report: RehearsalReport): string {
  const { tally, lengthMs, then, now, meter, settings } = report;
  const reached = tally.reachedBySecond.reduce((sum, each) => sum + each, 0);
  const asked = report.askedBySecond.reduce((sum, each) => sum + each, 0);
  const measured: [string, string][] = [
    [`× ${settings.speed}`, 'speed'],
    [`${formatNumber(asked)}`, `requests planned, ${formatNumber(most(report.askedBySecond))} in the busiest second`],
    [`${formatNumber(reached)}`, `answers, ${formatNumber(most(tally.reachedBySecond))} in the busiest second`],
    [secondsOf(lengthMs), 'from the first step to the last answer'],
    [`${formatNumber(now.ticketsSold)} of ${formatNumber(then.ticketsSold)}`, 'tickets sold, of then'],
    [secondsOf(now.soldOutAt), `to sold out, from the start; then: ${secondsOf(then.soldOutAt)}`],
    [`${percentileOf(tally.lateness, 99).toFixed(2)} ms`, 'the generator was late, p99'],
    [meter === null ? 'not known' : `${meter.loopDelayP99Ms.toFixed(1)} ms`, 'event-loop delay of the service, p99'],
  ];
  return `<div class="measured">${measured.map(([value, name]) => `<div><b>${escapeHtml(value)}</b><span>${escapeHtml(name)}</span></div>`).join('')}</div>`;
}

export function most(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), 0);
}

function drawComparison(report: RehearsalReport, earlier: RehearsalReport): string {
  const { rows, notes } = compareReports(earlier, report);
  return [
    '<h2>Beside the earlier rehearsal</h2>',
    `<p class="about">earlier: ${escapeHtml(aboutOf(earlier))}</p>`,
    ...notes.map((note) => `<p class="differs">${escapeHtml(note)}</p>`),
    drawTable({
      heading: ['', `earlier: ${earlier.title}`, `this: ${report.title}`, 'change'],
      rows: rows.map(({ name, before, after, change }) => [name, before, after, change]),
    }),
  ].join('\n');
}

function drawDifferences({ differences, definitionChanges }: RehearsalReport): string {
  const changes = definitionChanges.map((line) => `<li>${escapeHtml(line)}</li>`).join('');
  const definition = changes === '' ? '' : `<p>The definition differs from that of then:</p><ul>${changes}</ul>`;
  const remark =
    '<p class="about">The journal keeps what was granted, not what was refused: every step of the trace was granted then.</p>';
  if (differences.length === 0) {
    return `${definition}<p class="good">Nothing: what was granted then was granted, and the same was sold.</p>${remark}`;
  }
  const rows = differences.map(({ what, then, now }) => [what, then, now]);
  return `${definition}${drawTable({ heading: ['what', 'then', 'now'], rows })}${remark}`;
}

function chartsOf(report: RehearsalReport, earlier: RehearsalReport | null): Chart[] {
  const { tally, then, now } = report;
  const perSecond = (values: readonly number[]) => values.map((value, second) => [second, value] as const);
  const sold: ChartSeries[] = [
    { name: 'now', points: perSecond(now.soldBySecond) },
    { name: 'then, at this speed', points: perSecond(then.soldBySecond), isDashed: true },
    ...(earlier === null ? [] : [{ name: 'earlier rehearsal', points: perSecond(earlier.now.soldBySecond) }]),
  ];
  const seconds = { label: 'seconds since the start' };
  return [
    { title: 'Tickets sold', x: seconds, y: { label: 'tickets' }, series: sold },
    {
      title: 'Requests per second',
      x: seconds,
      y: { label: 'requests' },
      series: [
        { name: 'planned', points: perSecond(report.askedBySecond), isDashed: true },
        { name: 'answered', points: perSecond(tally.reachedBySecond) },
      ],
    },
    latencyChart(
      'Latency by route',
      report.tally.routes.slice(0, ROUTES_CHARTED).map((each) => [each.route, each]),
    ),
    ...(earlier === null ? [] : [latencyBeside(report, earlier)]),
  ];
}

type Routed = RehearsalReport['tally']['routes'][number];

function latencyBeside(report: RehearsalReport, earlier: RehearsalReport): Chart {
  const [busiest] = report.tally.routes.filter(({ route }) => route.startsWith('POST'));
  const before = earlier.tally.routes.find(({ route }) => route === busiest?.route);
  const pairs: [string, Routed][] = [];
  if (busiest !== undefined) pairs.push(['this', busiest]);
  if (before !== undefined) pairs.push(['earlier', before]);
  return latencyChart(`Latency of ${busiest?.route ?? 'requests'}, beside the earlier rehearsal`, pairs);
}

/** The axis is logarithmic: from 99 % to 99.9 % is as wide as from 90 % to 99 %. */
function latencyChart(title: string, routes: readonly (readonly [string, Routed])[]): Chart {
  const place = (percentile: number): number => -Math.log10(1 - Math.min(99.999, percentile) / 100);
  return {
    title,
    x: { label: 'percentile', ticks: [0, 50, 90, 99, 99.9].map((each) => [place(each), String(each)]) },
    y: { label: 'milliseconds', isLog: true },
    series: routes.map(([name, { latency }]) => ({
      name,
      points: latency.points.map(([percentile, ms]) => [place(percentile), Math.max(0.01, ms)] as const),
    })),
  };
}

function drawRoutes({ tally }: RehearsalReport): string {
  return drawTable({
    heading: [
      'route',
      'answers',
      'not 2xx',
      ...PERCENTILES_SHOWN.map((each) => `p${each}`),
      'longest',
      'p99 from sending',
    ],
    rows: tally.routes.map(({ route, statuses, failed, latency, service }) => {
      const bad = Object.entries(statuses).filter(([status]) => Number(status) >= 400);
      const refused = bad.reduce((sum, [, count]) => sum + count, 0) + failed;
      const times = [...PERCENTILES_SHOWN.map((each) => percentileOf(latency, each)), latency.maxMs];
      return [route, latency.count, refused, ...times, percentileOf(service, 99)];
    }),
  });
}

function drawSteps({ tally }: RehearsalReport): string {
  const rows = Object.entries(tally.steps).map(([step, times]) => [
    step,
    times.count,
    times.meanMs,
    ...PERCENTILES_SHOWN.map((each) => percentileOf(times, each)),
    times.maxMs,
  ]);
  const heading = [
    'step (Server-Timing)',
    'answers',
    'mean',
    ...PERCENTILES_SHOWN.map((each) => `p${each}`),
    'longest',
  ];
  return drawTable({ heading, rows });
}

function drawSettings({ settings, trace, polls, tally }: RehearsalReport): string {
  const { lateness } = tally;
  const played = Object.entries(trace.intents).map(([kind, count]) => `${formatNumber(count)} ${kind}`);
  const left = Object.entries(trace.leftOut).map(([what, count]) => `${formatNumber(count)} ${what}`);
  const rows: [string, string][] = [
    ['people', formatNumber(trace.people)],
    ['steps', played.join(', ')],
    [
      'polls of the waiting room',
      `${formatNumber(polls)}, one every ${settings.pollSeconds} s of then for each who waits (modelled)`,
    ],
    [
      'reads',
      `${settings.pageReads} of the event's page for each, over ${settings.lookSeconds} s of then; seats before a hold; orders once paid (modelled)`,
    ],
    ['connections', formatNumber(settings.connections)],
    ['service', settings.against ?? 'of this version, started for the rehearsal'],
    ['definition', settings.definition ?? 'of then'],
    ['operations', formatNumber(trace.operations)],
    ['left out of the facts', left.length === 0 ? 'nothing' : left.join(', ')],
    [
      'lateness of the generator',
      `p50 ${percentileOf(lateness, 50).toFixed(2)} ms, p99 ${percentileOf(lateness, 99).toFixed(2)} ms, longest ${lateness.maxMs.toFixed(1)} ms`,
    ],
  ];
  return drawTable({ heading: ['setting', 'value'], rows });
}
