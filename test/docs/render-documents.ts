/**
 * Writes what README and the guides have of the code: settings, examples as calls of curl, and figures of the benches.
 * `npm run render` writes the files anew.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { examples, type ExampleKey } from '#docs/examples.ts';
import { placeIn } from '#docs/guides.ts';
import { snippetOf } from '#docs/snippets.ts';
import { SETTINGS, type Setting } from '#service/settings.ts';
import { readRecord } from '../../bench/record.ts';
import { boundOf, keepsBudget, round } from '../../bench/scenario.ts';

const ROOT = new URL('../../', import.meta.url);
const ORIGINS = { public: 'http://127.0.0.1:8080', admin: 'http://127.0.0.1:8081' };

/** The figures of README: the scenario, the name of its figure in `bench/record`, and what it says to a reader. */
const FIGURES = [
  ['stadium-sell-out', 'from the first hold to the last seat paid', 'a stadium of 60,000 seats sold out over HTTP'],
  [
    'post-hold',
    'processor time of a hold, snapshots included, service ÷ plain',
    'processor time of a durable hold ÷ of a plain Fastify route that answers at once',
  ],
  ['post-hold', 'service ÷ Fastify + Redis', 'holds a second ÷ those of Fastify with a Redis that calls `fsync`'],
  [
    'growing-holds',
    'answers: 1,000,000 live holds ÷ 1,000 live holds',
    'holds a second with 1,000,000 live holds ÷ with 1,000',
  ],
  [
    'queue-polls',
    'polls per second: 1,000,000 waiting ÷ 100 waiting',
    'queue polls a second with 1,000,000 waiting ÷ with 100',
  ],
  [
    'cluster-takeover',
    'node killed: without an answer, longest',
    'no answer for an event after its node of a cluster is killed',
  ],
] as const;

/** The documents with rendered parts. */
export const renderedFiles: readonly string[] = [
  'README.md',
  ...readdirSync(new URL('src/docs/guides/', ROOT)).map((name) => `src/docs/guides/${name}`),
];

export const readDocument = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');

/** The text of a document with its rendered parts as the code has them now. */
export function rendered(text: string): string {
  const keys = Array.from(text.matchAll(/^```sh example=(\w+)$/gm), ([, key]) => key as ExampleKey);
  return text
    .replaceAll(/^(```sh example=(\w+))\n[^]*?^```$/gm, (_, head: string, key: ExampleKey) => {
      const context = { examples, origin: ORIGINS[examples[key].listener], ...placeIn(keys, key) };
      return `${head}\n${snippetOf(examples[key], 'curl', context)}\n\`\`\``;
    })
    .replace(/(<!-- settings(.*?):.*-->)[^]*(<!-- \/settings -->)/, (_, begin: string, names: string, end: string) =>
      part(begin, settingsTable(names.split(' ').filter(Boolean)), end),
    )
    .replace(/(<!-- figures:.*-->)[^]*(<!-- \/figures -->)/, (_, begin: string, end: string) =>
      part(begin, figuresTable(), end),
    );
}

function part(begin: string, table: string, end: string): string {
  return [begin, '', '<!-- prettier-ignore -->', table, '', end].join('\n');
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const [head, ...others] = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return [head, rows[0]!.map(() => '| --- ').join('') + '|', ...others].join('\n');
}

/** The settings with these names, or all of them, in the order of their own table. */
function settingsTable(names: readonly string[]): string {
  const rows = Object.entries(SETTINGS as Readonly<Record<string, Setting>>)
    .filter(([name]) => names.length === 0 || names.includes(name))
    .map(([name, { default: value, meaning }]) => [
      `\`${name}\``,
      value === null ? 'not set' : `\`${value}\``,
      meaning.replaceAll('|', '\\|'),
    ]);
  return tableOf([['setting', 'default', 'meaning'], ...rows]);
}

function figuresTable(): string {
  const recorded = readRecord();
  const rows = FIGURES.map(([scenario, name, about]) => {
    const findings = recorded.find((each) => each.scenario === scenario)?.findings;
    const figure = findings?.figures.find((each) => each.name === name);
    if (figure?.budget === undefined) throw new Error(`the record of ${scenario} has no budget for “${name}”`);
    const { value, unit, spread, budget } = figure;
    const between = spread === undefined ? '' : ` (${round(spread[0])} to ${round(spread[1])})`;
    const verdict = keepsBudget(figure) === true ? 'kept' : '**missed**';
    return [about, `${round(value)} ${unit}${between}`, `${boundOf(budget)}: ${verdict}`];
  });
  return tableOf([['what', 'seen', 'target'], ...rows]);
}

if (import.meta.main) {
  for (const file of renderedFiles) writeFileSync(new URL(file, ROOT), rendered(readDocument(file)));
}
