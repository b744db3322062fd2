/**
 * The rules of the source tree: which module may import which, what no file may contain, which words are replaced.
 *
 * Each kind of rule is one table; change the table first, then the code. Source is read with regular expressions over text
 * whose comments and strings are blanked where a rule concerns code alone: precise enough to find a slip, and fast. A new
 * module gets a line in `dependencyRules`; a file that is started by its path gets one in `entries`.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { filesOf, groups, type GroupName } from './groups.ts';

interface DependencyRule {
  /** Modules that it may import, itself always included. */
  readonly modules: readonly string[] | 'any';
  /** Packages that it may import; `node:` stands for all of Node's own modules. */
  readonly packages: readonly string[] | 'any';
}

// prettier-ignore
const dependencyRules: Readonly<Record<string, DependencyRule>> = {
  machines:    { modules: [],                                               packages: ['xstate'] },
  persistence: { modules: [],                                               packages: ['better-sqlite3', 'node:', '@nats-io/transport-node', '@nats-io/jetstream', '@nats-io/obj'] },
  domain:      { modules: ['machines'],                                     packages: ['flatqueue'] },
  catalogue:   { modules: ['domain'],                                       packages: 'any' },
  actors:      { modules: ['domain', 'machines', 'persistence'],            packages: 'any' },
  cluster:     { modules: ['actors', 'domain', 'persistence'],              packages: ['@nats-io/transport-node', 'node:'] },
  payments:    { modules: ['actors', 'client', 'domain'],                             packages: 'any' },
  notifications: { modules: ['actors', 'domain', 'persistence'],            packages: 'any' },
  docs:        { modules: ['machines'],                                     packages: [] },
  http:        { modules: ['actors', 'catalogue', 'client', 'docs', 'domain', 'payments', 'texts', 'tickets'], packages: 'any' },
  cli:         { modules: ['actors', 'catalogue', 'client', 'cluster', 'domain', 'main', 'notifications', 'payments', 'persistence', 'rehearsal', 'tickets'], packages: 'any' },
  rehearsal:   { modules: ['actors', 'catalogue', 'domain', 'http', 'main', 'persistence'], packages: ['flatqueue', 'node:'] },
  tickets:     { modules: ['domain'],                                       packages: ['lru-cache', 'node:'] },
  client:      { modules: [],                                               packages: [] },
  storefront:  { modules: ['client', 'texts'],                              packages: 'any' },
  texts:       { modules: ['client'],                                       packages: [] },
  console:     { modules: ['client'],                                       packages: 'any' },
  main:        { modules: 'any',                                            packages: 'any' },
  bench:       { modules: 'any',                                            packages: 'any' },
  test:        { modules: 'any',                                            packages: 'any' },
};

/** Files that may import more than their module. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  'machines/render.ts': ['node:'],
  // The client has no packages; the hooks that both pages share stand beside it, because pages may import `client` alone.
  'src/client/browser/hooks.ts': ['preact'],
};

/** Files that are started or bundled by their path; everything else lives because one of these, a test or a bench imports it. */
const entries = [
  'src/main.ts',
  'src/run-cluster.ts',
  'src/setup.mjs',
  'src/cli/holdfast.ts',
  'src/storefront/app/main.tsx',
  'src/storefront/example/main.tsx',
  'src/console/app/main.tsx',
  'src/docs/app/main.ts',
  'machines/render.ts',
];

const sourceLinesMax = 500;
const linesWithoutHeaderMax = 60;
const functionLinesMax = 70;
/** Tables in the form of a function: one line a query. */
const longFunctions: ReadonlySet<string> = new Set(['src/domain/read.ts']);

interface Rule {
  readonly what: string;
  /** What breaks it, in code whose comments and strings are blanked; `text: true` reads the file as it is. */
  readonly pattern: RegExp;
  readonly text?: true;
  /** Something that breaks it, so that a rule which catches nothing is noticed. */
  readonly slip: string;
  readonly inModules?: readonly string[];
  readonly notInModules?: readonly string[];
  readonly notInFiles?: readonly string[];
}

const machinePath = /(?<![\w.})-])\/(?:work|root|tmp)\/[^\s"'`)]*/;

/** Modules that run in a browser or around the service, where I1 does not reach. */
const outside = ['client', 'storefront', 'texts', 'console', 'rehearsal', 'bench', 'test'];

const rules: readonly Rule[] = [
  {
    what: 'a default export',
    pattern: /\bexport\s+default\b|\bas\s+default\b/,
    // The runner takes a reporter by its default export.
    notInFiles: ['test/not-run-reporter.ts'],
    slip: 'export default 1',
  },
  {
    what: 'the type any',
    pattern: /\bas\s+any\b|:\s*any\b|[<,|&]\s*any\s*[>,|&[]|\bany\[\]/,
    slip: 'const x = y as any',
  },
  { what: 'an enum', pattern: /^\s*(?:export\s+)?(?:declare\s+)?(?:const\s+)?enum\s+\w/m, slip: 'export enum X {}' },
  {
    what: 'a parameter property',
    pattern: /\bconstructor\s*\((?:[^)]*,)?\s*(?:(?:public|private|protected|readonly)\s+)+\w+\s*[?:=,)]/,
    slip: 'constructor(private readonly x: number) {}',
  },
  {
    what: 'inheritance',
    pattern: /\bclass\s+\w+(?:<[^{]*>)?\s+extends\s+(?!Error\b)/,
    slip: 'class X extends Y {}',
  },
  {
    what: 'unfinished work',
    pattern:
      /\b(?:TO(?:DO)|FIX(?:ME)|X{3}|HA(?:CK))\b|\b[Nn]ot (?:yet )?implemented\b|\b(?:implement|handle|finish)\w* (?:this |it )?later\b/,
    text: true,
    slip: ['TO', 'DO'].join(''),
  },
  {
    what: 'a path of one machine',
    pattern: machinePath,
    text: true,
    slip: ['', 'tmp', 'x'].join('/'),
  },
  {
    what: 'printing',
    pattern: /\bconsole\s*\.\s*(?:log|info|warn|error|debug)\b/,
    slip: 'console.log()',
    notInModules: ['cli', 'bench', 'test'],
    notInFiles: ['src/setup.mjs', 'machines/render.ts'],
  },
  {
    what: 'a clock or chance of its own (I1)',
    pattern: /\bDate\.now\b|\bMath\.random\b|\bnew\s+Date\(\s*\)/,
    slip: 'Date.now()',
    notInModules: ['actors', 'cli', ...outside],
  },
  {
    what: 'a stopwatch (bounded slices of work, no moment of the sale) where nothing works in slices',
    pattern: /\bhrtime\b/,
    slip: 'process.hrtime.bigint()',
    notInModules: ['actors', 'persistence', 'cli', 'http', ...outside],
  },
  {
    what: "the JavaScript global performance; a performance is an event's date",
    pattern: /(?<![.\w$])performance\.(?:now|mark|measure|timeOrigin|eventLoopUtilization|getEntries)\b/,
    slip: 'performance.now()',
    notInModules: outside,
  },
  {
    what: 'a turn that waits, or the world outside (I3)',
    pattern:
      /\bawait\b|\basync\b|\bPromise\b|\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\b(?:process|crypto)\.|\bfetch\(/,
    slip: 'await x',
    inModules: ['domain', 'machines'],
  },
  {
    what: 'a field with a value that nobody changes: each rendering puts it over what was typed; a suggestion is its defaultValue',
    pattern:
      /<(?:input|textarea)\b(?:(?!\bon(?:Input|Change)=|\/>)[^])*?\svalue=(?:(?!\bon(?:Input|Change)=|\/>)[^])*\/>/,
    slip: '<input name="amount" value={suggested} />',
    inModules: ['console', 'storefront', 'docs'],
  },
];

/**
 * Words that the vocabulary replaces, with the term to use instead. A word is found in any form of writing: in prose, in
 * `camelCase`, in a file's name.
 */
const replacedWords: Readonly<Record<string, string>> = {
  office: 'event state, event actor',
  house: 'service',
  door: 'dependency rule, HTTP layer; a venue has entrances',
  law: 'transition table',
  lawful: 'allowed',
  till: 'order commands, checkout',
  desk: 'payment service',
  turnstile: 'concurrency limit',
  cashier: 'checkout sessions',
  trial: 'stock overlay',
  witness: 'watermark',
  errand: 'request, job',
  lever: 'fault injector',
  lane: 'admission queue',
  ghost: 'stale entry',
  sighting: 'last seen',
  sleeper: 'evicted event',
  awaken: 'activate',
  awakening: 'activation',
  asleep: 'evicted',
  awake: 'active, in memory',
  woken: 'activated',
  gun: 'load generator',
  duel: 'comparison',
  cannon: 'load generator',
  crowd: 'load, many buyers',
  judge: 'check',
  judged: 'checked',
  judging: 'checking',
  judgement: 'check',
};

/** The same for phrases, and for lists of callers, which no longer hold after the next change. */
const replacedPhrases: readonly RegExp[] = [
  /\b(?:box office|counter window|plays? dead|turn(?:s|ed|ing)? (?:\w+ )?away)\b/i,
  /\b(?:put|puts|putting|fall|falls|fell) (?:\w+ )?to sleep\b/i,
  /^\s*\*.*\bCalled by\b/m,
];

/** Where a replaced word is a name that storage, an outside program or this test fixes. */
const fixedNames: readonly { readonly file: RegExp; readonly name: RegExp }[] = [
  { file: /^test\/tidy\.test\.ts$/, name: /[^]*/ },
  // The name of the watermark's file in every data folder, and of its number in `verify --json`.
  { file: /./, name: /(?:head)?\\?\.witness|witnessSeq|\|witness/ },
  // The doors of a venue, in texts of the HTTP surface.
  { file: /^src\/(?:http|storefront\/app\/texts)\//, name: /\b[Dd]oors?\b/ },
  // When the doors of a venue open: names of the catalogue and of schema.org.
  { file: /./, name: /\bdoors(?:_at|_minutes|At|MinutesMax|Of)\b|\bdoorTime\b/ },
  { file: /^src\/domain\/waiting-room\/decide\.ts$/, name: /the doors of the waiting room are open/ },
  // The kind of a snapshot's first line.
  { file: /./, name: /\bOFFICE\b/ },
  // Where trouble happened, as the log and its metric call it.
  { file: /./, name: /'box-office'/ },
];

/** Whether people wrote a page, not a tool. */
const isWritten = ({ file }: { readonly file: string }): boolean => file !== 'package-lock.json';

/** Catalogues, records of measurements, and what earlier versions were called by are data. */
const dataFiles = /^CHANGELOG\.md$|\/samples\/|^src\/docs\/answers\.json$|^bench\/record\/|^test\/golden\/.*\.json/;

/** Names of functions begin with what they do in the field's terms. */
const replacedVerbs = /^(?:tell|hear|judge|ask|look)[A-Z]/;

const root = fileURLToPath(new URL('..', import.meta.url));
const packageJson = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  imports: Record<string, string>;
};

interface Import {
  readonly specifier: string;
  readonly line: number;
  /** The file it leads to, or null for a package. */
  readonly file: string | null;
  /** Whether it starts the file on a thread of its own, which is no import of its code. */
  readonly isStart: boolean;
  /** Whether the importing file loads it by being loaded itself: an import of more than types that is not `import()`. */
  readonly isLoaded: boolean;
}

interface SourceFile {
  readonly file: string;
  readonly module: string;
  readonly text: string;
  /** The text with comments and the insides of strings blanked, line for line. */
  readonly code: string;
  readonly imports: readonly Import[];
}

function listFiles(folder: string, name: RegExp): string[] {
  const absolute = path.join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((file) => !/(?:^|\/)(?:node_modules|data|dist)\//.test(file));
}

/** Where the texts of all pages are: in the storefront, and read by the service's own pages too. */
const textsFolder = 'src/storefront/app/texts/';

/** The module of a file: its folder, or `main` for what lies directly in src/. */
function moduleOf(file: string): string {
  if (file.startsWith(textsFolder)) return 'texts';
  const [top = '', next = '', ...deeper] = file.split('/');
  if (top !== 'src') return top;
  return deeper.length === 0 ? 'main' : next;
}

const comment = /\/\*[^]*?\*\/|\/\/[^\n]*/;
const string = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/;
const regularExpression = /(?<=[=(,:;!&|?{}[\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*/;
const opaque = new RegExp(`${comment.source}|${string.source}|${regularExpression.source}`, 'g');

function blank(piece: string): string {
  return piece.replace(/[^\n]/g, ' ');
}

function blankComments(text: string): string {
  return text.replace(opaque, (piece) => (/^\/[/*]/.test(piece) ? blank(piece) : piece));
}

function blankCommentsAndStrings(text: string): string {
  return text.replace(opaque, (piece) =>
    /^['"`]/.test(piece) ? `${piece[0]}${blank(piece.slice(2))}${piece[0]}` : blank(piece),
  );
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}

/** Every match of a pattern, as its line and what was found there. */
function findAll(text: string, pattern: RegExp): string[] {
  const everywhere = new RegExp(pattern.source, `${pattern.flags}g`);
  return [...text.matchAll(everywhere)].map((match) => `${lineAt(text, match.index)} ${match[0].trim()}`);
}

const startForm = /\bnew URL\(\s*['"](?<specifier>\.[^'"]+\.(?:ts|tsx|mjs))['"]\s*,\s*import\.meta\.url\s*\)/g;

const loadForm = /^\s*(?:import|export)\s(?:[^;'"]*?\sfrom\s+)?['"](?<specifier>[^'"]+)['"]/gm;

const importForms = [loadForm, /\bimport\(\s*['"](?<specifier>[^'"]+)['"]\s*\)/g, startForm];

function scanImports(file: string, text: string): Import[] {
  const visible = blankComments(text);
  return importForms.flatMap((form) =>
    [...visible.matchAll(form)].map((match) => {
      const specifier = match.groups!['specifier']!;
      const line = lineAt(visible, match.index + match[0].indexOf(specifier));
      const isLoaded = form === loadForm && !/^\s*(?:import|export)\s+type\b/.test(match[0]);
      return { specifier, line, file: resolveImport(file, specifier), isStart: form === startForm, isLoaded };
    }),
  );
}

function resolveImport(file: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier);
  const prefix = Object.keys(packageJson.imports).find((key) => specifier.startsWith(key.replace('*', '')));
  if (prefix === undefined) return null;
  return path.posix.normalize(packageJson.imports[prefix]!.replace('*', specifier.slice(prefix.length - 1)));
}

function readSource(file: string): SourceFile {
  const text = readFileSync(path.join(root, file), 'utf8');
  return { file, module: moduleOf(file), text, code: blankCommentsAndStrings(text), imports: scanImports(file, text) };
}

const sources = ['machines', 'persistence', 'src', 'bench', 'test']
  .flatMap((folder) => listFiles(folder, /\.(?:ts|tsx|mjs|js)$/))
  .map(readSource);
const byFile = new Map(sources.map((source) => [source.file, source]));
/** Texts that are no source: pages, settings, styles. */
const pages = [
  ...readdirSync(root).filter((name) => /\.(?:md|json)$|^Dockerfile$/.test(name)),
  ...['machines', 'src', 'bench', 'test'].flatMap((folder) =>
    listFiles(folder, /\.(?:md|json|html|css|ya?ml|service)$/),
  ),
].map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));
const production = sources.filter(({ module }) => module !== 'test' && module !== 'bench');

/** A status that is set from anything but a transition table (`follow`, `next`, `initial`) or a copy of a status. */
const statusAssignment = /\.status\s*=(?![=>])\s*(?!\s|follow\b|\w+\.(?:initial|next|status)\b)[^;\n]*/;

function foldersIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** The words of a text in lower case, `camelCase` taken apart, each with its place in the text. */
function* wordsOf(text: string): Generator<{ readonly word: string; readonly index: number }> {
  for (const { 0: word, index } of text.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g))
    yield { word: word.toLowerCase(), index };
}

/** Every replaced word of a text, as its line and the word with its term; plural forms count as well. */
function replacedWordsIn(file: string, text: string): string[] {
  const fixed = fixedNames.filter((each) => each.file.test(file)).map(({ name }) => name);
  const rest = fixed.reduce((left, name) => left.replace(new RegExp(name, 'g'), blank), text);
  const found: string[] = [];
  for (const { word, index } of [...wordsOf(path.posix.basename(file)), ...wordsOf(rest)]) {
    const singular = [word, word.replace(/s$/, ''), word.replace(/es$/, '')].find((each) =>
      Object.hasOwn(replacedWords, each),
    );
    if (singular !== undefined) found.push(`${lineAt(rest, index)} ${word}: ${replacedWords[singular]}`);
  }
  return found;
}

/** The identifiers and words of a text that stand outside comments. */
function visibleWords(text: string): string[] {
  return blankComments(text).match(/[A-Za-z_$][\w$]*/g) ?? [];
}

function commentsOf(text: string): { readonly line: number; readonly comment: string }[] {
  return [...text.matchAll(opaque)]
    .filter(([piece]) => /^\/[/*]/.test(piece))
    .map(({ 0: piece, index }) => ({ line: lineAt(text, index), comment: piece }));
}

/** The functions of a file whose comments and strings are blanked: where each body begins, and how many lines it has. */
function functionsIn(code: string): { readonly line: number; readonly lines: number }[] {
  const open: { readonly index: number; readonly isFunction: boolean }[] = [];
  const found: { readonly line: number; readonly lines: number }[] = [];
  for (const { 0: brace, index } of code.matchAll(/[{}]/g)) {
    if (brace === '{') open.push({ index, isFunction: opensFunction(code.slice(Math.max(0, index - 400), index)) });
    else {
      const { index: begin, isFunction } = open.pop() ?? { index, isFunction: false };
      if (isFunction) found.push({ line: lineAt(code, begin), lines: code.slice(begin, index).split('\n').length });
    }
  }
  return found;
}

/** Whether the text before a brace ends in an arrow, or in parameters and perhaps a type that no control statement owns. */
function opensFunction(before: string): boolean {
  if (/=>\s*$/.test(before)) return true;
  const parameters = /\)(?:\s*:\s*[^;{}()]+)?\s*$/.exec(before);
  if (parameters === null) return false;
  let depth = 0;
  for (let at = parameters.index; at >= 0; at -= 1) {
    if (before[at] === ')') depth += 1;
    else if (before[at] === '(' && (depth -= 1) === 0)
      return !/\b(?:if|for|while|switch|catch|with)\s*$/.test(before.slice(0, at));
  }
  return true;
}

function assertNone(findings: readonly string[]): void {
  assert.ok(findings.length === 0, `\n  ${findings.join('\n  ')}\n`);
}

/** The name of the package that a specifier leads to; `node:` for Node's own modules. */
function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return 'node:';
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function mayImport({ file, module }: SourceFile, { specifier, file: target }: Import): boolean {
  const rule = dependencyRules[module];
  if (rule === undefined) return true;
  if (target !== null)
    return rule.modules === 'any' || moduleOf(target) === module || rule.modules.includes(moduleOf(target));
  const name = packageOf(specifier);
  return rule.packages === 'any' || rule.packages.includes(name) || (exceptions[file] ?? []).includes(name);
}

/** Whether an import is written `#module/…` across modules and as a relative path within one. */
function isWrittenByModule({ module }: SourceFile, { specifier, file: target }: Import): boolean {
  if (target === null) return true;
  if (moduleOf(target) === module) return specifier.startsWith('.');
  const name = moduleOf(target) === 'main' ? 'src' : moduleOf(target);
  return specifier.startsWith(`#${name}/`) || !Object.hasOwn(packageJson.imports, `#${name}/*`);
}

/** The first cycle of imports met from a file, as the files along it; null when there is none. */
function findCycle(from: string, finished: Set<string>, trail: readonly string[] = []): readonly string[] | null {
  if (trail.includes(from)) return [...trail.slice(trail.indexOf(from)), from];
  if (finished.has(from)) return null;
  for (const { file, isStart } of byFile.get(from)?.imports ?? []) {
    const cycle = file === null || isStart ? null : findCycle(file, finished, [...trail, from]);
    if (cycle !== null) return cycle;
  }
  finished.add(from);
  return null;
}

describe('The dependencyRules', () => {
  it('have a line for every module', () => {
    assertNone(
      [...new Set(production.map(({ module }) => module))].filter((module) => dependencyRules[module] === undefined),
    );
  });

  it('let each module import only what the table says', () => {
    assertNone(
      sources.flatMap((source) =>
        source.imports
          .filter((line) => !mayImport(source, line))
          .map(({ specifier, line }) => `${source.file}:${line} ${source.module} may not import ${specifier}`),
      ),
    );
  });

  it('keep the state of an event within domain and actors: the others read it by queries', () => {
    const others = production.filter(({ module }) => module !== 'domain' && module !== 'actors');
    assertNone(
      others.flatMap(({ file, imports }) =>
        imports.filter((each) => each.file === 'src/domain/event-state.ts').map(({ line }) => `${file}:${line}`),
      ),
    );
  });

  it('show in the line of the import', () => {
    assertNone(
      sources.flatMap((source) =>
        source.imports
          .filter((line) => !isWrittenByModule(source, line))
          .map(
            ({ specifier, line }) => `${source.file}:${line} ${specifier}: #module/… across modules, ./… within one`,
          ),
      ),
    );
  });

  it('allow no cycle of imports', () => {
    const finished = new Set<string>();
    const cycles = sources.map(({ file }) => findCycle(file, finished)).filter((cycle) => cycle !== null);
    assertNone(cycles.map((cycle) => cycle.join(' → ')));
  });

  it('have a single machine load nothing of a cluster and no NATS client', () => {
    const loaded = new Set(['src/serve.ts']);
    const ofCluster: string[] = [];
    for (const file of loaded) {
      for (const { specifier, file: target, line, isLoaded } of byFile.get(file)?.imports ?? []) {
        if (!isLoaded) continue;
        const isOfCluster =
          /^(?:src\/cluster|persistence\/nats)\//.test(target ?? '') || specifier.startsWith('@nats-io/');
        if (isOfCluster) ofCluster.push(`${file}:${line} loads ${specifier}`);
        else if (target !== null) loaded.add(target);
      }
    }
    assert.ok(loaded.has('src/service.ts') && loaded.size > 200, `${loaded.size} files are loaded`);
    assertNone(ofCluster);
  });

  it('leave no file that nothing imports', () => {
    const alive = new Set(
      [
        ...entries,
        ...sources.filter(({ module }) => module === 'test' || module === 'bench').map(({ file }) => file),
      ].filter((file) => byFile.has(file)),
    );
    for (const file of alive) {
      for (const { file: target } of byFile.get(file)?.imports ?? []) if (target !== null) alive.add(target);
    }
    assertNone(production.filter(({ file }) => !alive.has(file)).map(({ file }) => `${file} is imported by no file`));
  });
});

describe('The groups of the suite', () => {
  it('have every test file once', () => {
    const grouped = (Object.keys(groups) as GroupName[]).flatMap((name) => filesOf(name)).toSorted();
    const files = sources.map(({ file }) => file).filter((file) => file.endsWith('.test.ts'));
    assert.deepEqual(
      grouped.map((file) => `test/${file}`),
      files.toSorted(),
    );
  });

  it('have a file each', () => {
    const files = sources.map(({ file }) => file).filter((file) => file.startsWith('test/groups/'));
    assert.deepEqual(
      files.toSorted(),
      Object.keys(groups)
        .map((name) => `test/groups/${name}.ts`)
        .toSorted(),
    );
  });
});

describe('Every file', () => {
  it('has a name in kebab-case that is not index or utils', () => {
    const nouns = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|d|config))?\.(?:ts|tsx|mjs|js)$/;
    const banned = /^(?:index|utils?|helpers?|misc|common)\./;
    assertNone(
      sources
        .map(({ file }) => file)
        .filter((file) => !nouns.test(path.posix.basename(file)) || banned.test(path.posix.basename(file))),
    );
  });

  it(`of the product has at most ${sourceLinesMax} lines`, () => {
    assertNone(
      production
        .map(({ file, text }) => ({ file, lines: countLines(text) }))
        .filter(({ lines }) => lines > sourceLinesMax)
        .map(({ file, lines }) => `${file} has ${lines} lines`),
    );
  });

  it(`of over ${linesWithoutHeaderMax} lines, tests apart, begins with a comment that says what it owns`, () => {
    assertNone(
      sources
        .filter(({ module, text }) => module !== 'test' && countLines(text) > linesWithoutHeaderMax)
        .filter(({ text }) => !/^(?:#![^\n]*\n)?\s*(?:\/\*|\/\/)/.test(text))
        .map(({ file }) => `${file}:1 begins without a comment`),
    );
  });

  for (const rule of rules) {
    it(`is free of ${rule.what}`, () => {
      assert.match(rule.slip, rule.pattern);
      assertNone(
        sources
          .filter(({ module }) => rule.inModules?.includes(module) ?? true)
          .filter(({ module, file }) => !rule.notInModules?.includes(module) && !rule.notInFiles?.includes(file))
          .flatMap(({ file, text, code }) =>
            findAll(rule.text ? text : code, rule.pattern).map((found) => `${file}:${found}`),
          ),
      );
    });
  }
});

describe('Every name', () => {
  const texts = [...sources.map(({ file, text }) => ({ file, text })), ...pages.filter(isWritten)];

  it('uses no word that the vocabulary replaces', () => {
    assertNone(
      texts.flatMap(({ file, text }) =>
        dataFiles.test(file) ? [] : replacedWordsIn(file, text).map((found) => `${file}:${found}`),
      ),
    );
  });

  it('uses no phrase that the vocabulary replaces', () => {
    assertNone(
      texts.flatMap(({ file, text }) =>
        dataFiles.test(file) || file === 'test/tidy.test.ts'
          ? []
          : replacedPhrases.flatMap((phrase) => findAll(text, phrase).map((found) => `${file}:${found}`)),
      ),
    );
  });

  it('of a function in src begins with no replaced verb', () => {
    assertNone(
      production
        .filter(({ file }) => file.startsWith('src/'))
        .flatMap(({ file, code }) =>
          [...code.matchAll(/\bfunction\*?\s+(?<name>\w+)/g)]
            .filter(({ groups }) => replacedVerbs.test(groups!['name']!))
            .map(({ index, groups }) => `${file}:${lineAt(code, index)} ${groups!['name']}`),
        ),
    );
  });

  it('in backticks in a comment of the product exists', () => {
    const known = new Set(texts.flatMap(({ text }) => visibleWords(text)));
    const files = sources.map(({ file }) => file);
    const exists = (name: string): boolean =>
      /\.(?:ts|tsx|mjs)$/.test(name)
        ? files.some((file) => file === name || file.endsWith(`/${name}`))
        : (name.match(/[A-Za-z_$][\w$]*/g) ?? []).every((word) => known.has(word));
    assertNone(
      production.flatMap(({ file, text }) =>
        commentsOf(text).flatMap(({ line, comment }) =>
          [...comment.matchAll(/`(?<name>[A-Za-z_#][\w.#/-]*)(?:\(\))?`/g)]
            .filter(({ groups }) => !exists(groups!['name']!))
            .map(({ groups }) => `${file}:${line} ${groups!['name']}`),
        ),
      ),
    );
  });
});

describe('Every function', () => {
  it(`of the product has at most ${functionLinesMax} lines`, () => {
    assertNone(
      production
        .filter(({ file }) => !longFunctions.has(file))
        .flatMap(({ file, code }) =>
          functionsIn(code)
            .filter(({ lines }) => lines > functionLinesMax)
            .map(({ line, lines }) => `${file}:${line} has ${lines} lines`),
        ),
    );
  });

  it('of domain that assigns a status takes it from a transition table (I5)', () => {
    assertNone(
      production
        .filter(({ module }) => module === 'domain')
        .flatMap(({ file, code }) => findAll(code, statusAssignment).map((found) => `${file}:${found}`)),
    );
  });
});

describe('The README', () => {
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8');

  it('has a line in its code map for every module, and for nothing else', () => {
    const map = [...readme.matchAll(/^\| `(?<folder>[\w/-]+)\/` /gm)].map(({ groups }) => groups!['folder']!);
    const folders = [
      ...['machines', 'persistence', 'test', 'bench'],
      ...foldersIn('src').map((name) => `src/${name}`),
      ...foldersIn('src/domain').map((name) => `src/domain/${name}`),
    ];
    assert.deepEqual(map.toSorted(), folders.toSorted());
  });

  it('lists files to read that have fewer than 1,200 lines together', () => {
    const list = /A newcomer reads[^]*?\n\n/.exec(readme)?.[0] ?? '';
    const files = [...list.matchAll(/\]\((?<file>[\w/.-]+\.ts)\)/g)].map(({ groups }) => groups!['file']!);
    assert.ok(files.length >= 8, 'the list is there');
    const lines = files.reduce((sum, file) => sum + countLines(readFileSync(path.join(root, file), 'utf8')), 0);
    assert.ok(lines < 1_200, `${lines} lines`);
  });
});

describe('The pages and the lock file', () => {
  it('name no path of one machine', () => {
    assertNone(pages.flatMap(({ file, text }) => findAll(text, machinePath).map((found) => `${file}:${found}`)));
  });

  it('name no other registry than the public one', () => {
    const elsewhere = /"resolved": "(?!https:\/\/registry\.npmjs\.org\/)[^"]*/;
    assertNone(pages.flatMap(({ file, text }) => findAll(text, elsewhere).map((found) => `${file}:${found}`)));
  });
});

describe('The scanner', () => {
  it('sees imports in every form, and none in comments', () => {
    const text = [
      "import type { A } from '#domain/a.ts';",
      'import {',
      '  b,',
      "} from './b.ts';",
      "export { c } from '../c.ts';",
      "import 'xstate';",
      "const d = await import('./d.ts');",
      "new Worker(new URL('./e.ts', import.meta.url));",
      "// import { f } from './f.ts';",
      "/* import { g } from './g.ts'; */",
    ].join('\n');
    assert.deepEqual(
      scanImports('src/http/routes/x.ts', text).map(({ file, line }) => [file, line]),
      [
        ['src/domain/a.ts', 1],
        ['src/http/routes/b.ts', 4],
        ['src/http/c.ts', 5],
        [null, 6],
        ['src/http/routes/d.ts', 7],
        ['src/http/routes/e.ts', 8],
      ],
    );
  });

  it('takes neither prose nor strings for code', () => {
    const code = blankCommentsAndStrings("a = 'as any'; // : any\nb = `x: any`; /* as any */ c = /'/; d as any;");
    assert.equal(code.match(/any/g)?.length, 1);
  });

  it('reads the project', () => {
    assert.ok(byFile.get('machines/hold.ts')?.imports.some(({ specifier }) => specifier === 'xstate'));
  });
});
