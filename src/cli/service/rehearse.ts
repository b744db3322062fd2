/**
 * `holdfast rehearse`: plays what buyers did in a period against a service again, and reports what came out
 * differently.
 *
 * It reads the data folder only. Nothing personal leaves it: the people of a rehearsal are invented.
 */
import product from '../../../package.json' with { type: 'json' };
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCatalogue, formatFileProblem } from '#catalogue/files.ts';
import { eventIdsIn } from '#offline/events.ts';
import type { JournalView } from '#persistence/sqlite/view.ts';
import { compareReports } from '#rehearsal/report/comparison.ts';
import { drawPage, most } from '#rehearsal/report/page.ts';
import { readTrace } from '#rehearsal/trace/builder.ts';
import { rehearse, type RehearsalOptions } from '#rehearsal/rehearse.ts';
import { readReport, secondsOf, type RehearsalReport } from '#rehearsal/report/report.ts';
import { isLoopback } from '#rehearsal/server/service.ts';
import { percentileOf } from '#rehearsal/player/tally.ts';
import type { Pace } from '#rehearsal/player/schedule.ts';
import type { Trace } from '#rehearsal/trace/trace.ts';
import { CommandFailure, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { openEvent, withView } from '../folder/data-folder.ts';
import { counted, grouped, table } from '../terminal/output.ts';

const REPORT_FILE = 'rehearsal.json';
const PAGE_FILE = 'index.html';

/** The generator's own lateness above which its load was not the load that it states. */
const LATENESS_MS_MAX = 5;

export const command: CliCommand = {
  usage: 'rehearse FOLDER [--event ID] [--speed N] [--definition FILE] [--report DIR] [--compare REPORT]',
  description: [
    'Reads from the facts of a data folder or backup what buyers did in a period, and does it again over HTTP: joins of the waiting ' +
      'room, holds, changes, releases, checkouts, and payments by the sandbox, each at its moment, whether the service keeps up or ' +
      'not. Polls and reads, which leave no facts, are modelled at the rates of --polls and --reads. The people are invented: no ' +
      'session key, name or address of the journal is used.',
    'The service is one of this version, started for the rehearsal in a temporary folder with the definition of then or that of ' +
      '--definition, its times moved to today and to the speed. With --against it is the service at an address, which must have the ' +
      'payment sandbox and the same event; its seats are sold by the rehearsal.',
    'Reports rates, latencies by route counted from the moments at which requests should have been sent, and what came out ' +
      'differently: refusals, seats sold, totals, the time to sold out. --report writes a page with charts; --compare sets an earlier ' +
      'report beside this one. Given the folder of a report in place of a data folder, nothing is played.',
  ],
  options: [
    { name: 'event', value: 'ID', help: 'the event, by id or slug; needed where the folder has several' },
    { name: 'from', value: 'TIME', help: "the period's beginning (default: the first fact of a buyer)" },
    { name: 'to', value: 'TIME', help: "the period's end (default: the last fact)" },
    { name: 'speed', value: 'N', help: 'so many times as fast as then, such as 2 or 0.5 (default: 1)' },
    {
      name: 'polls',
      value: 'SECONDS',
      help: 'between two polls of somebody who waits, at the speed of then (default: 5)',
    },
    {
      name: 'reads',
      value: 'N',
      help: "reads of the event's page by each person before the first step; 0 for no reads (default: 1)",
    },
    { name: 'look', value: 'SECONDS', help: 'over which these reads are spread, at the speed of then (default: 10)' },
    { name: 'connections', value: 'N', help: 'connections that are kept open (default: 256)' },
    {
      name: 'definition',
      value: 'FILE',
      help: 'a catalogue file with this event, its times those of then, in place of its definition of then',
    },
    { name: 'against', value: 'URL', help: 'a service to load, in place of one of its own' },
    { name: 'yes-load-this', help: 'allows --against an address that is not of this machine' },
    { name: 'title', value: 'TEXT', help: 'what the report is called' },
    { name: 'report', value: 'DIR', help: `writes ${PAGE_FILE} and ${REPORT_FILE} there` },
    { name: 'compare', value: 'REPORT', help: 'the folder of an earlier report, or its file' },
  ],
  positionals: { min: 1, max: 1 },
  examples: [
    {
      line: 'holdfast rehearse backups/friday --speed 2 --report twice',
      does: "plays Friday's sale at twice its speed",
    },
    {
      line: 'holdfast rehearse backups/friday --definition rush.json --compare twice',
      does: 'plays it with another definition, and sets both side by side',
    },
    {
      line: 'holdfast rehearse backups/friday --against http://127.0.0.1:9000 --report out',
      does: 'loads the service at that address',
    },
  ],
  async run(call) {
    const [folder = ''] = call.positionals;
    if (!existsSync(folder)) throw new WrongUse(`there is no folder ${folder}`);
    const earlier = earlierReport(call.text('compare'));
    const report = loadReport(folder) ?? (await hold(call, folder));
    const out = call.text('report');
    if (out !== null) writeReport(out, report, earlier);
    call.output.json({ ok: true, ...report, ...(earlier !== null && { comparison: compareReports(earlier, report) }) });
    call.output.text(...reportLines(report), ...(earlier === null ? [] : comparisonLines(earlier, report)));
    if (out !== null) call.output.text('', `The page is ${join(out, PAGE_FILE)}.`);
    return 0;
  },
};

// ── the rehearsal ────────────────────────────────────────────────────────────────────────────────────────────────────

async function hold(call: CliCall, folder: string): Promise<RehearsalReport> {
  const pace = paceOf(call);
  const against = addressOf(call);
  const { output } = call;
  const trace = await withView(folder, async (view) => {
    const eventId = await eventOf(call, folder, view);
    const period = { from: call.moment('from'), to: call.moment('to') };
    const read = await readTrace(view, eventId, period, (seq, head) => output.progress('reading facts', seq, head));
    if (read !== null) return read;
    throw new CommandFailure(`nobody bought anything of ${eventId} in this period`, 'Correct --event, --from or --to.');
  });
  const definition = givenDefinition(call, trace);
  if (definition !== null && against !== null) {
    throw new WrongUse('--definition is for a service of its own: load the file into the service at --against instead');
  }
  const title = call.text('title') ?? titleOf(pace, call.text('definition'), call.text('against'));
  const connections = call.count('connections') ?? 256;
  if (connections < 1 || connections > 10_000) throw new WrongUse('--connections must be from 1 to 10000');
  return rehearse({
    trace,
    pace,
    against,
    definition,
    connections,
    title,
    version: product.version,
    run: randomBytes(6).toString('hex'),
    onProgress: (done, total) => output.progress('playing', done, total),
  });
}

function paceOf(call: CliCall): Pace {
  return {
    speed: rateOf(call, 'speed', 1, 0.01),
    pollSeconds: rateOf(call, 'polls', 5, 0.1),
    pageReads: call.count('reads') ?? 1,
    lookSeconds: rateOf(call, 'look', 10, 0),
  };
}

function rateOf(call: CliCall, name: string, otherwise: number, min: number): number {
  const text = call.text(name);
  if (text === null) return otherwise;
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= 1_000) return value;
  throw new WrongUse(`--${name} is "${text}": it must be a number from ${min} to 1000`);
}

function addressOf(call: CliCall): URL | null {
  const text = call.text('against');
  if (text === null) return null;
  if (!URL.canParse(text) || new URL(text).protocol !== 'http:') {
    throw new WrongUse(`--against is "${text}": it must be an address such as http://127.0.0.1:8080`);
  }
  const url = new URL(text);
  if (isLoopback(url) || call.has('yes-load-this')) return url;
  throw new WrongUse(`--against ${url.host} is not this machine: it is loaded only with --yes-load-this`);
}

async function eventOf(call: CliCall, folder: string, view: JournalView): Promise<string> {
  const name = call.text('event');
  if (name !== null) return (await openEvent(folder, view, name)).eventId;
  const [only, ...others] = eventIdsIn(view);
  if (only !== undefined && others.length === 0) return only;
  const named = [only, ...others].slice(0, 10).join(', ');
  throw new WrongUse(only === undefined ? `${folder} has no event` : `--event is missing: there are ${named}`);
}

function givenDefinition(call: CliCall, { eventId }: Trace): RehearsalOptions['definition'] {
  const file = call.text('definition');
  if (file === null) return null;
  const { definitions, problems } = readCatalogue(file);
  if (problems.length > 0) {
    throw new CommandFailure(problems.map(formatFileProblem).join('\n'), 'Correct the file of --definition.');
  }
  const definition = definitions.find(({ id }) => id === eventId);
  if (definition !== undefined) return { file, definition };
  throw new CommandFailure(
    `${file} does not define ${eventId}`,
    'A rehearsal needs the same event with other settings.',
  );
}

function titleOf({ speed }: Pace, definition: string | null, against: string | null): string {
  return [`speed ${speed}`, definition, against].filter((part) => part !== null).join(', ');
}

// ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The report in a folder or file; null when it is something else. */
function loadReport(path: string): RehearsalReport | null {
  const file = statSync(path).isDirectory() ? join(path, REPORT_FILE) : path;
  return existsSync(file) ? readReport(readFileSync(file, 'utf8')) : null;
}

function earlierReport(path: string | null): RehearsalReport | null {
  if (path === null) return null;
  const report = existsSync(path) ? loadReport(path) : null;
  if (report === null) throw new WrongUse(`--compare ${path} is no report: name the folder that --report wrote`);
  return report;
}

function writeReport(folder: string, report: RehearsalReport, earlier: RehearsalReport | null): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, REPORT_FILE), `${JSON.stringify(report)}\n`);
  writeFileSync(join(folder, PAGE_FILE), drawPage(report, earlier));
}

function reportLines(report: RehearsalReport): string[] {
  const { tally, lengthMs, now, then, meter, differences, askedBySecond, trace } = report;
  const answers = tally.reachedBySecond.reduce((sum, each) => sum + each, 0);
  const planned = askedBySecond.reduce((sum, each) => sum + each, 0);
  const late = percentileOf(tally.lateness, 99);
  const times = tally.routes.map(({ route, latency, statuses }) => {
    const refused = Object.entries(statuses).filter(([status]) => Number(status) >= 400);
    const count = refused.reduce((sum, [, each]) => sum + each, 0);
    return [
      route,
      latency.count,
      count,
      ...[50, 99].map((each) => percentileOf(latency, each).toFixed(1)),
      latency.maxMs.toFixed(1),
    ];
  });
  return [
    `${report.event.name}: ${report.title}`,
    `played     ${counted(trace.people, 'person', 'people')}, ${grouped(planned)} requests planned and ${grouped(answers)} answered in ${secondsOf(lengthMs)}`,
    `busiest    ${grouped(most(askedBySecond))} a second planned, ${grouped(most(tally.reachedBySecond))} answered`,
    `lateness   p99 ${late.toFixed(2)} ms of the generator itself${late > LATENESS_MS_MAX ? ': it could not keep the schedule on this machine' : ''}`,
    ...(meter === null
      ? []
      : [
          `service    event-loop delay p99 ${meter.loopDelayP99Ms.toFixed(1)} ms, longest ${meter.loopDelayMaxMs.toFixed(1)} ms`,
        ]),
    `sold       ${grouped(now.ticketsSold)} tickets, ${grouped(then.ticketsSold)} then; ${soldOut(now.soldOutAt)}, ${soldOut(then.soldOutAt)} then`,
    '',
    ...table([['latency in ms', 'answers', 'not 2xx', 'p50', 'p99', 'longest'], ...times]),
    '',
    ...report.definitionChanges.map((line) => `definition ${line}`),
    differences.length === 0
      ? 'Nothing came out differently.'
      : `${counted(differences.length, 'thing')} came out differently:`,
    ...differences.map(({ what, then: before, now: after }) => `  ${what}: ${before} then, ${after} now`),
  ];
}

function soldOut(at: number | null): string {
  return `${at === null ? '' : 'sold out after '}${secondsOf(at)}`;
}

function comparisonLines(earlier: RehearsalReport, report: RehearsalReport): string[] {
  const { rows, notes } = compareReports(earlier, report);
  const cells = rows.map(({ name, before, after, change }) => [name, before, after, change]);
  return [
    '',
    `Beside ${earlier.title}:`,
    ...notes.map((note) => `  ${note}`),
    ...table([['', 'earlier', 'this', 'change'], ...cells]),
  ];
}
