/**
 * `npm run bench`: runs scenarios one after the other and prints their figures, with budgets kept or missed.
 *
 * Every scenario runs in a process of its own; whether other work disturbs it is measured before and after it.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { busyWarning, calibrate, disturbanceOf, type Calibration } from './calibration.ts';
import { describeMachine } from './machine.ts';
import { writeRecord, type Result } from './record.ts';
import { renderReport } from './report.ts';
import { formatFigures, hasVerdict, keepsBudget, settingsOf, type Findings, type Scenario } from './scenario.ts';
import type { ScenarioMessage } from './scenario-process.ts';
import { chooseScenarios, SCENARIOS } from './scenarios.ts';

const HELP = `npm run bench -- [SCENARIO…] [--quick] [--json] [--report] [--render] [--profile DIR] [--list]

Measures Holdfast and compares it with baselines in the same run. Without names all scenarios run.

  --quick        small sizes, one short round, the most important scenarios: two minutes; not for the record
  --json         prints one JSON document instead of tables
  --report       records the results in bench/record, and writes bench/README.md and its charts
  --render       measures nothing: writes bench/README.md and its charts from bench/record
  --profile DIR  each measured server writes a processor profile there (.cpuprofile)
  --against URL  measures a service that runs there instead, as its clients see it, in the scenarios
                 get-event, post-hold, fixed-rate, purchases and stadium-sell-out
  --admin URL    its operators' listener (default: the same host, port 8081); the token comes from ADMIN_TOKEN
  --yes-load-this  allows an address that is not of this machine
  --list         lists the scenarios
  --help         prints this page

Exit code 0 when every budget was kept that could be checked, 1 when one was missed or a scenario failed, 2 for wrong use.
Where other work disturbs a scenario, its figures are printed and its budgets are not checked.

Redis and PostgreSQL are baselines when they are installed (apt-get install redis-server postgresql). They are started on
free loopback ports with temporary data, and stopped afterwards.
`;

const { values, positionals } = readArguments();
if (values.help) leave(0, HELP);
if (values.list) leave(0, SCENARIOS.map(({ name, about }) => `${name.padEnd(20)} ${about}\n`).join(''));
if (values.quick && values.report)
  leave(2, 'quick figures are not recorded: --quick and --report exclude each other\n');
if (values.against !== undefined) await runAgainst(values.against);
const unknown = positionals.filter((name) => !SCENARIOS.some((each) => each.name === name));
if (unknown.length > 0) leave(2, `no scenario ${unknown.join(', ')}; --list lists them\n`);
if (values.render) {
  await renderReport();
  leave(0, 'bench/README.md was written\n');
}

const chosen = chooseScenarios(positionals, values.quick);
const machine = describeMachine();
const results: Result[] = [];
const readings: Calibration[] = [await calibrate()];
const warning = busyWarning(readings[0]!);
if (warning !== null) process.stderr.write(warning);
for (const [i, scenario] of chosen.entries()) {
  if (!values.json) process.stdout.write(`\n${scenario.name}: ${scenario.about}\n`);
  const measured = await run(scenario, `${i + 1}/${chosen.length} ${scenario.name}`);
  readings.push(await calibrate());
  const bestPace = Math.max(...readings.map(({ pace }) => pace));
  const result = { ...measured, disturbed: disturbanceOf([readings[i]!, readings[i + 1]!], bestPace) };
  results.push(result);
  if (!values.json) printResult(result);
  if (values.report && result.trouble === null) await writeRecord(result, machine);
}
if (values.json) process.stdout.write(`${JSON.stringify({ machine, quick: values.quick, results }, null, 2)}\n`);
if (values.report) {
  await renderReport();
  if (!values.json) process.stdout.write('\nbench/README.md was written\n');
}
const missed = results.some(
  ({ findings, trouble, disturbed }) =>
    trouble !== null ||
    findings.figures.some((each) => hasVerdict(each, disturbed !== null) && keepsBudget(each) === false),
);
process.exitCode = missed ? 1 : 0;

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        report: { type: 'boolean', default: false },
        render: { type: 'boolean', default: false },
        profile: { type: 'string' },
        against: { type: 'string' },
        admin: { type: 'string' },
        'yes-load-this': { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return leave(2, `${error instanceof Error ? error.message : String(error)}\n${HELP}`);
  }
}

/** Measures a service at an address, and leaves. */
async function runAgainst(address: string): Promise<never> {
  const { AGAINST, measureAgainst } = await import('./against.ts');
  const chosen = AGAINST.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const others = positionals.filter((name) => !AGAINST.some((each) => each.name === name));
  if (others.length > 0) leave(2, `${others.join(', ')} cannot be measured against an address\n`);
  if (!URL.canParse(address))
    leave(2, `--against is "${address}": it must be an address such as http://127.0.0.1:8080\n`);
  const url = new URL(address);
  const target = {
    url,
    adminUrl: new URL(values.admin ?? `http://${url.hostname}:8081`),
    token: process.env['ADMIN_TOKEN'],
    mayBeRemote: values['yes-load-this'],
  };
  const measured: { scenario: string; findings: Findings }[] = [];
  try {
    await measureAgainst(target, chosen, settingsOf(values.quick, showProgress), ({ name, about }, findings) => {
      showProgress('');
      measured.push({ scenario: name, findings });
      if (!values.json) process.stdout.write(`\n${name}: ${about}\n${formatFigures(findings.figures)}`);
    });
  } catch (error) {
    leave(1, `${error instanceof Error ? error.message : String(error)}\n`);
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ against: url.origin, results: measured }, null, 2)}\n`);
  leave(0, '');
}

/** Runs a scenario in its own process and shows its steps on a terminal. */
async function run({ name, about }: Scenario, title: string): Promise<Omit<Result, 'disturbed'>> {
  const begin = performance.now();
  const child = fork(new URL('./scenario-process.ts', import.meta.url), [name, values.quick ? 'quick' : 'full'], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, ...profileEnvironment() },
  });
  let findings: Findings | null = null;
  child.on('message', (message: ScenarioMessage) => {
    if ('step' in message) showProgress(`${title}: ${message.step}`);
    else findings = message.findings;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  showProgress('');
  const seconds = Math.round((performance.now() - begin) / 1000);
  if (findings !== null) return { scenario: name, about, seconds, findings, trouble: null };
  const trouble = `it failed with exit code ${String(code)}`;
  return { scenario: name, about, seconds, findings: { figures: [] }, trouble };
}

function printResult({ findings, trouble, disturbed, seconds }: Result): void {
  const notes = (findings.notes ?? []).map((note) => `  (${note})\n`).join('');
  const figures = formatFigures(findings.figures, disturbed !== null);
  process.stdout.write(trouble === null ? `${figures}${notes}` : `  ${trouble}\n`);
  process.stdout.write(`  measured in ${seconds} s${disturbed === null ? '' : `; disturbed: ${disturbed}`}\n`);
}

/** Replaces one line, on a terminal only. */
function showProgress(text: string): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(`\r\u001b[K${text.slice(0, process.stderr.columns - 1)}`);
}

function profileEnvironment(): Record<string, string> {
  if (values.profile === undefined) return {};
  const folder = path.resolve(values.profile);
  mkdirSync(folder, { recursive: true });
  return { BENCH_PROFILE_DIR: folder };
}

function leave(code: number, text: string): never {
  (code === 0 ? process.stdout : process.stderr).write(text);
  process.exit(code);
}
