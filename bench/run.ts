/**
 * `npm run bench`: runs scenarios one after the other and prints what they measured, with budgets kept or missed.
 *
 * Every scenario gets a process of its own. Exit code 0 when every budget was kept, 1 when one was missed or a scenario
 * failed, 2 for wrong use.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { printFigures } from './report.ts';
import { keepsBudget, type Figure, type Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

const HELP = `npm run bench -- [SCENARIO…] [--quick] [--json] [--list]

Measures Holdfast against plain baselines, in ratios of one run. Without names all scenarios run.

  --quick   short runs, four minutes in all; for a look, not for the record
  --json    prints one JSON document instead of tables
  --list    names the scenarios
  --help    this page
`;

interface Result {
  readonly scenario: string;
  readonly figures: readonly Figure[];
  readonly trouble: string | null;
}

const { values, positionals } = readArguments();
if (values.help) leave(0, HELP);
if (values.list) leave(0, SCENARIOS.map(({ name, about }) => `${name.padEnd(16)} ${about}\n`).join(''));
const unknown = positionals.filter((name) => !SCENARIOS.some((each) => each.name === name));
if (unknown.length > 0) leave(2, `no scenario ${unknown.join(', ')}; --list names them\n`);

const chosen = SCENARIOS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const results: Result[] = [];
for (const scenario of chosen) {
  if (!values.json) process.stdout.write(`\n${scenario.name}: ${scenario.about}\n`);
  const result = await run(scenario);
  results.push(result);
  if (!values.json)
    process.stdout.write(result.trouble === null ? printFigures(result.figures) : `  ${result.trouble}\n`);
}
if (values.json)
  process.stdout.write(`${JSON.stringify({ machine: machine(), quick: values.quick, results }, null, 2)}\n`);
const missed = results.some(
  ({ figures, trouble }) => trouble !== null || figures.some((each) => keepsBudget(each) === false),
);
process.exitCode = missed ? 1 : 0;

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return leave(2, `${error instanceof Error ? error.message : String(error)}\n${HELP}`);
  }
}

async function run(scenario: Scenario): Promise<Result> {
  const child = fork(
    new URL('./scenario-process.ts', import.meta.url),
    [scenario.name, values.quick ? 'quick' : 'full'],
    {
      execArgv: ['--expose-gc'],
    },
  );
  let figures: readonly Figure[] | null = null;
  child.on('message', (message) => (figures = message as readonly Figure[]));
  const [code] = (await once(child, 'close')) as [number | null];
  if (figures !== null) return { scenario: scenario.name, figures, trouble: null };
  return { scenario: scenario.name, figures: [], trouble: `it failed with exit code ${String(code)}` };
}

function machine() {
  return { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, memoryBytes: totalmem(), node: process.version };
}

function leave(code: number, text: string): never {
  (code === 0 ? process.stdout : process.stderr).write(text);
  process.exit(code);
}
