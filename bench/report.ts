/**
 * Writes the report `bench/README.md`: its text is written by hand; the part between two marks is made from `record/`.
 *
 * Measures nothing: the same record gives the same report.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { drawGrowth, drawLatencies } from './charts.ts';
import { percentileMillis, unpackHistogram } from './histogram.ts';
import type { Machine } from './machine.ts';
import { readRecord, RECORD, type Recorded } from './record.ts';
import { AUDIT, boundOf, hasVerdict, keepsBudget, round, type Figure, type Latency } from './scenario.ts';

const README = new URL('./README.md', import.meta.url);
const BEGIN = '<!-- measured: what stands between these marks is written by npm run bench -- --report -->';
const END = '<!-- /measured -->';
const PERCENTILES = [50, 90, 99, 99.9, 100];

/** Writes the measured part of the README and all charts. Throws when the marks are missing. */
export async function renderReport(): Promise<void> {
  const text = readFileSync(README, 'utf8');
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from === -1 || to < from) throw new Error('bench/README.md has lost the marks of its measured part');
  const recorded = readRecord();
  const parts = [BEGIN, ...(await measuredPart(recorded))];
  const whole = `${text.slice(0, from)}${parts.join('\n\n')}\n\n${text.slice(to)}`;
  writeFileSync(README, await format(whole, { parser: 'markdown', printWidth: 120, proseWrap: 'always' }));
}

async function measuredPart(recorded: readonly Recorded[]): Promise<string[]> {
  const newest = recorded.toSorted((a, b) => b.measuredOn.localeCompare(a.measuredOn))[0];
  if (newest === undefined) return ['Nothing is recorded yet.'];
  const sections: string[] = [];
  for (const each of recorded) sections.push(...(await sectionOf(each)));
  return [
    `${originsOf(recorded)} The machine: ${describe(newest.machine)}. ${versionsOf(newest.machine)}.`,
    '### Budgets',
    'What must be reached, and what was: the value is the median of the rounds, the spread their lowest and highest. A scenario that other work disturbed is not checked.',
    budgetTable(recorded),
    ...sections,
  ];
}

/** When and at which commit all was measured, or that it was at several. */
function originsOf(recorded: readonly Recorded[]): string {
  const origins = [...new Set(recorded.map(originOf))];
  return origins.length === 1 ? `${origins[0]}.` : 'Measured at several commits; each scenario names its own.';
}

function originOf({ measuredOn, commit }: Recorded): string {
  return `Measured on ${measuredOn}${commit == null ? '' : ` at commit ${commit}`}`;
}

function describe({ cores, memoryBytes, architecture, system, fsyncP50Ms, fsyncP99Ms }: Machine): string {
  const memory = `${Math.round(memoryBytes / 2 ** 30)} GB of memory`;
  const disk = `an fsync of 4 KiB takes ${round(fsyncP50Ms)} ms (p50) and ${round(fsyncP99Ms)} ms (p99)`;
  return `${cores} cores (${architecture}), ${memory}, ${system}; ${disk}`;
}

function versionsOf({ versions }: Machine): string {
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
}

function budgetTable(recorded: readonly Recorded[]): string {
  const rows = recorded.flatMap(({ scenario, findings, disturbed }) =>
    findings.figures
      .filter(({ budget, name }) => budget !== undefined && !name.startsWith(AUDIT))
      .map((figure) => [`\`${scenario}\``, ...rowOf(figure, disturbed != null)]),
  );
  const audits = recorded.flatMap(({ findings }) => findings.figures.filter(({ name }) => name.startsWith(AUDIT)));
  const broken = audits.filter((figure) => keepsBudget(figure) === false).length;
  const facts = audits.filter(({ name }) => name.endsWith('facts replayed')).reduce((sum, { value }) => sum + value, 0);
  const audit = [
    'all with an audit',
    'oversold, lost or inconsistent',
    String(broken),
    '',
    broken === 0 ? 'kept: 0' : '**missed**: 0',
  ];
  const table = tableOf(['scenario', 'what', 'value', 'spread', 'budget'], [...rows, audit]);
  return `${table}\n\n${round(facts)} facts were replayed for the audits.`;
}

async function sectionOf(recorded: Recorded): Promise<string[]> {
  const { scenario, about, seconds, findings, disturbed } = recorded;
  const { figures, latencies = [], growth = [], notes = [] } = findings;
  const parts = [
    `### ${scenario}`,
    `${about}. ${originOf(recorded)}; took ${seconds} s in all.`,
    ...(disturbed == null ? [] : [`**Disturbed**: ${disturbed}.`]),
    ...(notes.length > 0 ? [`Beside it: ${notes.join('; ')}.`] : []),
  ];
  parts.push(...figureParts(figures, disturbed != null));
  if (growth.length > 0) {
    writeFileSync(new URL(`${scenario}-growth.svg`, RECORD), await drawGrowth(growth));
    parts.push(`![${scenario}: what changes while the size grows](record/${scenario}-growth.svg)`);
  }
  if (latencies.length > 0) {
    writeFileSync(new URL(`${scenario}-latency.svg`, RECORD), await drawLatencies(latencies));
    parts.push(latencyTable(latencies), `![${scenario}: latency by percentile](record/${scenario}-latency.svg)`);
  }
  return parts;
}

/** Figures that several subjects have in one table of subjects; the others in a list; the audit in a sentence. */
function figureParts(figures: readonly Figure[], isDisturbed: boolean): string[] {
  const audit = figures.filter(({ name }) => name.startsWith(AUDIT));
  const others = figures.filter(({ name }) => !name.startsWith(AUDIT));
  const { subjects, whats } = sharedOf(others);
  const isShared = (figure: Figure): boolean => {
    const [subject, what] = partsOf(figure.name);
    return subjects.includes(subject) && whats.includes(what);
  };
  const rows = subjects.map((subject) => [
    subject,
    ...whats.map((what) => {
      const figure = others.find(({ name }) => name === `${subject}: ${what}`);
      return figure === undefined ? '' : `${valueOf(figure)}<br>${spreadOf(figure)}`;
    }),
  ]);
  const alone = others.filter((figure) => !isShared(figure));
  return [
    ...(alone.length > 0
      ? [
          tableOf(
            ['what', 'value', 'spread', 'budget'],
            alone.map((figure) => rowOf(figure, isDisturbed)),
          ),
        ]
      : []),
    ...(rows.length > 0 ? [tableOf(['', ...whats], rows)] : []),
    ...(audit.length > 0 ? [sentenceOf(audit)] : []),
  ];
}

/** Subjects (`service`) and the figures (`latency p50`) that at least two of them have; names are `subject: figure`. */
function sharedOf(figures: readonly Figure[]): {
  readonly subjects: readonly string[];
  readonly whats: readonly string[];
} {
  const named = figures.map(({ name }) => partsOf(name)).filter(([subject]) => subject !== '');
  const subjectsOf = (what: string): string[] => named.filter((each) => each[1] === what).map(([subject]) => subject);
  const whats = [...new Set(named.map(([, what]) => what))].filter((what) => subjectsOf(what).length > 1);
  return { whats, subjects: [...new Set(whats.flatMap(subjectsOf))] };
}

/** `service: latency p50` belongs to the subject `service`; a ratio or a name without a colon has no subject. */
function partsOf(name: string): readonly [subject: string, what: string] {
  const colon = name.indexOf(': ');
  return colon === -1 || name.includes('÷') ? ['', name] : [name.slice(0, colon), name.slice(colon + 2)];
}

function sentenceOf(audit: readonly Figure[]): string {
  return `Audit: ${audit.map(({ name, value }) => `${name.slice(AUDIT.length)} ${round(value)}`).join(', ')}.`;
}

function latencyTable(latencies: readonly Latency[]): string {
  const head = ['latency in ms', ...PERCENTILES.map((p) => (p === 100 ? 'longest' : `p${p}`)), 'answers'];
  const rows = latencies.map(({ name, histogram }) => [
    name,
    ...PERCENTILES.map((percentile) => round(percentileMillis(histogram, percentile))),
    unpackHistogram(histogram).totalCount.toLocaleString('en-GB'),
  ]);
  return tableOf(head, rows);
}

function rowOf(figure: Figure, isDisturbed: boolean): string[] {
  return [figure.name, valueOf(figure), spreadOf(figure), verdictOf(figure, isDisturbed)];
}

function valueOf({ value, unit }: Figure): string {
  return `${round(value)} ${unit}`.trim();
}

function spreadOf({ spread }: Figure): string {
  return spread === undefined || spread[0] === spread[1] ? '' : `${round(spread[0])} to ${round(spread[1])}`;
}

function verdictOf(figure: Figure, isDisturbed: boolean): string {
  if (figure.budget === undefined) return '';
  if (!hasVerdict(figure, isDisturbed)) return `disturbed: ${boundOf(figure.budget)}`;
  return `${keepsBudget(figure) === true ? 'kept' : '**missed**'}: ${boundOf(figure.budget)}`;
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
