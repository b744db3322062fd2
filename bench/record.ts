/** The recorded results: a JSON file for each scenario in `record/`, from which the report is made. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import type { Figure, Findings } from './scenario.ts';
import type { Machine } from './machine.ts';
import { SCENARIOS } from './scenarios.ts';

export interface Result {
  readonly scenario: string;
  readonly about: string;
  /** Duration of the whole scenario. */
  readonly seconds: number;
  readonly findings: Findings;
  readonly trouble: string | null;
  /** Why its budgets are not checked; null where nothing disturbed it. */
  readonly disturbed: string | null;
}

export interface Recorded extends Result {
  /** A date (RFC 3339). */
  readonly measuredOn: string;
  /** What was measured, as git names it; null where it was no checkout. */
  readonly commit: string | null;
  readonly machine: Machine;
}

export const RECORD = new URL('./record/', import.meta.url);

export async function writeRecord(result: Result, machine: Machine): Promise<void> {
  const measuredOn = new Date().toISOString().slice(0, 10);
  const figures = result.findings.figures.map(shortened);
  const findings = { ...result.findings, figures };
  const recorded: Recorded = { ...result, findings, measuredOn, commit: commitOf(), machine };
  mkdirSync(RECORD, { recursive: true });
  const text = await format(JSON.stringify(recorded), { parser: 'json', printWidth: 120 });
  writeFileSync(new URL(`${result.scenario}.json`, RECORD), text);
}

/** More than the report shows of any figure: nothing is rounded twice. */
const DIGITS = 8;

function shortened({ value, spread, ...figure }: Figure): Figure {
  const short = (exact: number): number => (Number.isInteger(exact) ? exact : Number(exact.toPrecision(DIGITS)));
  return { ...figure, value: short(value), ...(spread && { spread: [short(spread[0]), short(spread[1])] }) };
}

/** The commit, with a plus sign where files of the product or the benches differ from it; null without git. */
function commitOf(): string | null {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: new URL('..', import.meta.url), encoding: 'utf8' });
  const { status, stdout } = git('rev-parse', '--short=7', 'HEAD');
  if (status !== 0) return null;
  const changed = git(
    'status',
    '--porcelain',
    '--untracked-files=no',
    '--',
    '.',
    ':!bench/record',
    ':!bench/README.md',
  );
  return `${stdout.trim()}${changed.stdout === '' ? '' : '+'}`;
}

/** In the order of the scenarios. */
export function readRecord(): readonly Recorded[] {
  return SCENARIOS.map(({ name }) => new URL(`${name}.json`, RECORD))
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Recorded);
}
