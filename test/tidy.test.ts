/**
 * The rules of the source tree: which module may import which, what no file may contain, which words are replaced.
 *
 * Each kind of rule is one table; change the table first, then the code. Source is read with regular expressions over
 * text whose comments and strings are blanked where a rule concerns code alone: precise enough to find a slip, and
 * fast. A new module gets a line in `dependencyRules`; a file that is started by its path gets one in `entries`.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { filesOf, groups, type GroupName } from './groups.ts';
import {
  blank,
  blankComments,
  blankCommentsAndStrings,
  commentsOf,
  countLines,
  findAll,
  functionsIn,
  lineAt,
  moduleOf,
  readTree,
  roomArrows,
  roomCircles,
  roomOf,
  type Import,
  type SourceFile,
} from './source-tree.ts';

interface DependencyRule {
  /** Modules that it may import, itself always included. */
  readonly modules: readonly string[] | 'any';
  /** Packages that it may import; `node:` stands for all of Node's own modules. */
  readonly packages: readonly string[] | 'any';
}

// prettier-ignore
const dependencyRules: Readonly<Record<string, DependencyRule>> = {
  machines:      { modules: [],                                                                  packages: ['xstate'] },
  persistence:   { modules: [],                                                                  packages: ['better-sqlite3', 'node:', '@nats-io/transport-node', '@nats-io/jetstream', '@nats-io/obj'] },
  domain:        { modules: ['client', 'machines'],                                              packages: ['flatqueue'] },
  actors:        { modules: ['domain', 'persistence'],                                           packages: ['lru-cache', 'node:'] },
  privacy:       { modules: ['actors', 'domain', 'persistence'],                                 packages: ['node:'] },
  engine:        { modules: ['actors', 'domain', 'machines', 'persistence', 'privacy'],          packages: ['node:', 'xstate'] },
  offline:       { modules: ['actors', 'domain', 'engine', 'persistence', 'privacy'],            packages: ['node:'] },
  cluster:       { modules: ['actors', 'domain', 'engine', 'offline', 'persistence', 'privacy'], packages: ['@nats-io/transport-node', 'node:'] },
  threads:       { modules: ['actors', 'domain', 'engine', 'payments', 'privacy'],               packages: ['node:'] },
  tickets:       { modules: [],                                                                  packages: ['lru-cache', 'node:'] },
  client:        { modules: [],                                                                  packages: [] },
  brand:         { modules: ['client', 'domain'],                                                packages: ['node:'] },
  catalogue:     { modules: ['brand', 'domain'],                                                 packages: 'any' },
  payments:      { modules: ['actors', 'client', 'domain', 'privacy'],                           packages: 'any' },
  notifications: { modules: ['actors', 'domain', 'engine', 'persistence', 'privacy'],            packages: 'any' },
  docs:          { modules: ['machines'],                                                        packages: ['marked', 'node:'] },
  http:          { modules: ['actors', 'brand', 'catalogue', 'client', 'docs', 'domain', 'engine', 'notifications', 'payments', 'privacy', 'texts', 'tickets', 'web'], packages: 'any' },
  service:       { modules: ['actors', 'catalogue', 'cluster', 'domain', 'engine', 'http', 'notifications', 'payments', 'persistence', 'privacy', 'reference', 'threads', 'tickets'], packages: 'any' },
  gate:          { modules: ['actors', 'client', 'domain', 'engine', 'http', 'persistence', 'service', 'tickets'], packages: ['node:', 'pino'] },
  rehearsal:     { modules: ['actors', 'catalogue', 'domain', 'http', 'offline', 'persistence', 'service'], packages: ['flatqueue', 'node:'] },
  cli:           { modules: ['actors', 'catalogue', 'client', 'cluster', 'domain', 'engine', 'gate', 'notifications', 'offline', 'persistence', 'privacy', 'rehearsal', 'service'], packages: ['@nats-io/jetstream', 'node:'] },
  packages:      { modules: [],                                                                  packages: ['esbuild', 'node:'] },
  operations:    { modules: ['catalogue', 'cluster', 'main', 'persistence', 'service'],          packages: ['node:'] },
  main:          { modules: ['service'],                                                         packages: ['node:'] },
  web:           { modules: ['client'],                                                          packages: ['preact', 'uqr'] },
  texts:         { modules: ['client'],                                                          packages: [] },
  'seat-map':    { modules: ['client', 'web'],                                                   packages: ['preact'] },
  'seat-choice': { modules: ['client', 'seat-map', 'texts', 'web'],                              packages: ['preact'] },
  seats:         { modules: ['client', 'seat-choice', 'seat-map', 'texts', 'web'],               packages: ['preact'] },
  storefront:    { modules: ['client', 'seat-choice', 'seat-map', 'styles', 'texts', 'web'],                    packages: ['preact', 'preact-render-to-string'] },
  console:       { modules: ['client', 'seat-map', 'styles', 'texts', 'web'],                    packages: ['preact'] },
  door:          { modules: ['client', 'styles', 'texts', 'web'],                                packages: ['@noble/ed25519', 'preact', 'zxing-wasm'] },
  example:       { modules: ['client'],                                                          packages: [] },
  reference:     { modules: ['docs'],                                                            packages: [] },
  bench:         { modules: 'any',                                                               packages: 'any' },
  test:          { modules: 'any',                                                               packages: 'any' },
};

/** In the domain: which room may import which. The files beside the rooms stand between inventory and catalogue. */
const domainRules: Readonly<Record<string, readonly string[]>> = {
  collections: [],
  catalogue: [],
  '.': ['catalogue', 'collections'],
  inventory: ['.', 'catalogue', 'collections'],
  'waiting-room': ['.', 'catalogue', 'collections', 'inventory'],
  holds: ['.', 'catalogue', 'collections', 'inventory', 'waiting-room'],
  orders: ['.', 'catalogue', 'collections', 'holds', 'inventory', 'waiting-room'],
  'orders/amendments': ['.', 'catalogue', 'collections', 'holds', 'inventory', 'orders'],
  doors: ['.', 'catalogue', 'collections', 'inventory', 'orders'],
  event: [
    '.',
    'catalogue',
    'collections',
    'doors',
    'holds',
    'inventory',
    'orders',
    'orders/amendments',
    'waiting-room',
  ],
};

/** Files that a room has at most, samples apart. */
const roomFilesMax = 24;

/** Files that may import more than their module. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  'machines/render.ts': ['node:'],
};

/**
 * Files that are started or bundled by their path; everything else lives because one of these, a test or a bench
 * imports it.
 */
const entries = [
  'src/main.ts',
  'src/operations/run-cluster.ts',
  'src/setup.mjs',
  'src/cli/holdfast.ts',
  'src/client/exports.ts',
  'src/packages/main.ts',
  'src/web/seats/exports.ts',
  'src/web/storefront/main.tsx',
  'src/web/storefront/server.tsx',
  'src/web/example/main.tsx',
  'src/web/console/main.tsx',
  'src/web/door/main.tsx',
  'src/web/door/decoder.ts',
  'src/web/door/service-worker.ts',
  'src/web/reference/main.ts',
  'machines/render.ts',
];

const sourceLinesMax = 500;
/** As long as the schemas from which `npm run render` writes them, and with a type for each that has a name. */
const renderedFiles: ReadonlySet<string> = new Set([
  'src/client/bodies.ts',
  'src/client/doors/wire.ts',
  'src/web/console/app/bodies.ts',
]);
const linesWithoutHeaderMax = 60;
const functionLinesMax = 70;
const commentColumnsMax = 120;
/** Tables in the form of a function: one line a query or command. */
const longFunctions: ReadonlySet<string> = new Set(['src/domain/event/decide.ts', 'src/domain/event/read.ts']);

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
const outside = [
  'client',
  'web',
  'seat-choice',
  'seat-map',
  'seats',
  'storefront',
  'texts',
  'console',
  'door',
  'example',
  'reference',
  'rehearsal',
  'bench',
  'test',
];

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
    pattern: /\bclass\s+\w+(?:<[^{]*>)?\s+extends\s+(?!(?:Error|HTMLElement)\b)/,
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
    what: 'a client of the API in the domain, which shares the rule of check-in alone',
    pattern: /'#client\/(?!doors\/)/,
    text: true,
    slip: "'#client/live.ts'",
    inModules: ['domain'],
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
    inModules: ['console', 'door', 'storefront', 'docs'],
  },
];

/**
 * Words that the vocabulary replaces, with the term to use instead. A word is found in any form of writing: in prose,
 * in `camelCase`, in a file's name.
 */
const replacedWords: Readonly<Record<string, string>> = {
  office: 'event state, event actor',
  house: 'service',
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
  // The kind of a snapshot's first line.
  { file: /./, name: /\bOFFICE\b/ },
  // What a gate says of a scan that it checked itself.
  { file: /^(?:src\/(?:client\/doors|domain\/doors|gate|http\/doors)|test\/api\/doors)/, name: /judged(?=:|\b)/ },
  // Where trouble happened, as the log and its metric call it.
  { file: /./, name: /'box-office'/ },
];

/** Whether people wrote a page, not a tool. */
const isWritten = ({ file }: { readonly file: string }): boolean => file !== 'package-lock.json';

/** Catalogues, records of measurements, and what earlier versions were called by are data. */
const dataFiles = /^CHANGELOG\.md$|\/samples\/|^src\/docs\/answers\.json$|^bench\/record\/|^test\/golden\/.*\.json/;

/**
 * Words that once had a meaning in each module, with the exported types that may have them; the API's names are among
 * these.
 */
const typeWords: Readonly<Record<string, RegExp | null>> = {
  // Ownership of a shard, with its epoch.
  claim: /^(?:Shard)?Claim/,
  // Somebody in the waiting room; an event in the list of events.
  entry: /^(?:Queue|EventList)Entry/,
  figure: null,
  kept: null,
  look: null,
  mark: null,
  named: null,
  place: null,
  reading: null,
  tell: null,
  told: null,
};

/** Names of functions begin with what they do in the field's terms. */
const replacedVerbs = /^(?:tell|hear|judge|ask|look)[A-Z]/;

const root = fileURLToPath(new URL('..', import.meta.url));
const { sources, byFile, production, pages, aliases, importsOf } = readTree(root);

/** A status that is set from anything but a transition table (`follow`, `next`, `initial`) or a copy of a status. */
const statusAssignment = /\.status\s*=(?![=>])\s*(?!\s|follow\b|\w+\.(?:initial|next|status)\b)[^;\n]*/;

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

const exportedTypes = production.flatMap(({ file, module, code }) =>
  [...code.matchAll(/^export\s+(?:declare\s+)?(?:class|interface|type)\s+(?<name>[\w$]+)/gm)].map(
    ({ index, groups }) => ({ file, module, line: lineAt(code, index), name: groups!['name']! }),
  ),
);

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
  // It belongs to no module and has the version of all.
  if (specifier.endsWith('../package.json')) return true;
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
  return specifier.startsWith(`#${name}/`) || !Object.hasOwn(aliases, `#${name}/*`);
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

  it('keep the state of an event within domain, actors, engine and offline: the others read it by queries', () => {
    const others = production.filter(({ module }) => !['domain', 'actors', 'engine', 'offline'].includes(module));
    assertNone(
      others.flatMap(({ file, imports }) =>
        imports.filter((each) => each.file === 'src/domain/event/state.ts').map(({ line }) => `${file}:${line}`),
      ),
    );
  });

  it('let routes execute commands by the helper alone, which ties them to the command that a route names', () => {
    const routes = production.filter(
      ({ file }) => file.startsWith('src/http/') && file !== 'src/http/protocol/route.ts',
    );
    assertNone(
      routes.flatMap(({ file, code }) =>
        [...code.matchAll(/\bexecuteAt\b|\.execute\(/g)].map(({ index }) => `${file}:${lineAt(code, index)}`),
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

  it('let each room of the domain import only those below it', () => {
    const roomIn = (file: string): string | null =>
      file.startsWith('src/domain/') ? path.posix.relative('src/domain', roomOf(file)) || '.' : null;
    assertNone(
      production.flatMap(({ file, imports }) =>
        imports
          .map(({ specifier, line, file: target }) => ({
            specifier,
            line,
            from: roomIn(file),
            to: roomIn(target ?? ''),
          }))
          .filter(({ from, to }) => from !== null && to !== null && from !== to && !domainRules[from]?.includes(to))
          .map(({ specifier, line, from }) => `${file}:${line} ${from} may not import ${specifier}`),
      ),
    );
  });

  it('allow no cycle of rooms', () => {
    assertNone(roomCircles(roomArrows(production)).map((circle) => circle.join(' ↔ ')));
  });

  it(`have at most ${roomFilesMax} files in a room`, () => {
    const files = new Map<string, number>();
    for (const { file } of production) files.set(roomOf(file), (files.get(roomOf(file)) ?? 0) + 1);
    assertNone(
      [...files].filter(([, count]) => count > roomFilesMax).map(([room, count]) => `${room} has ${count} files`),
    );
  });

  it('have a single machine load nothing of a cluster and no NATS client', () => {
    const loaded = new Set(['src/service/serve.ts']);
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
    assert.ok(loaded.has('src/service/service.ts') && loaded.size > 200, `${loaded.size} files are loaded`);
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

  it('leave no export that nothing imports', () => {
    const imported = new Map<string, Set<string>>();
    for (const { file, text } of sources) {
      const named = /\b(?:import|export)\s+(?:type\s+)?(?:\{(?<names>[^}]*)\}|\*(?:\s+as\s+\w+)?)\s+from\s+'[^']+'/g;
      const whole = /\bimport\(\s*'[^']+'\s*\)/g;
      for (const { 0: statement, groups } of [...text.matchAll(named), ...text.matchAll(whole)]) {
        const target = importsOf(file, statement)[0]?.file ?? null;
        if (target === null) continue;
        const names = (groups?.['names'] ?? '*')
          .split(',')
          .map((name) => name.trim().replace(/^type\s+|\s+as\s.*$/g, ''));
        imported.set(target, new Set([...(imported.get(target) ?? []), ...names]));
      }
    }
    const exported =
      /^export\s+(?:declare\s+)?(?:async\s+)?(?:const|function\*?|class|interface|type)\s+(?<name>[\w$]+)/gm;
    assertNone(
      sources.flatMap(({ file, code }) => {
        // What is in the groups a process imports whose program is a text in a test.
        if (renderedFiles.has(file) || file === 'test/groups.ts') return [];
        const names = imported.get(file) ?? new Set([entries.includes(file) ? '*' : '']);
        return [...code.matchAll(exported)]
          .filter(({ groups }) => !names.has('*') && !names.has(groups!['name']!))
          .map(({ index, groups }) => `${file}:${lineAt(code, index)} ${groups!['name']} is imported by no file`);
      }),
    );
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
        .filter(({ file, lines }) => lines > sourceLinesMax && !renderedFiles.has(file))
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

  it('of an exported type stands in one module only, apart from the rendered bodies', () => {
    const modules = new Map<string, string>();
    assertNone(
      exportedTypes
        .filter(({ file }) => !renderedFiles.has(file))
        .filter(({ module, name }) => (modules.get(name) ?? modules.set(name, module).get(name)) !== module)
        .map(({ file, line, name }) => `${file}:${line} ${name} is a type of ${modules.get(name)} too`),
    );
  });

  it('of an exported type uses a word in its one meaning', () => {
    assertNone(
      exportedTypes.flatMap(({ file, line, name }) =>
        [...wordsOf(name)]
          .map(({ word }) => word.replace(/s$/, ''))
          .filter((word) => Object.hasOwn(typeWords, word) && typeWords[word]?.test(name) !== true)
          .map((word) => `${file}:${line} ${name}: ${word}`),
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

describe('Every comment', () => {
  it(`ends at column ${commentColumnsMax}, as the code beside it does`, () => {
    assertNone(
      sources.flatMap(({ file, text }) =>
        text
          .split('\n')
          .flatMap((line, index) =>
            line.length > commentColumnsMax && /^\s*(?:\/\*|\*|\/\/)/.test(line) ? [`${file}:${index + 1}`] : [],
          ),
      ),
    );
  });

  it('of the product cites a rule of its file as "rule 3"', () => {
    const bareNumber = /(?<![\w`)])\(\d+(?:, ?\d+)*(?: and \d+)?\)/;
    assert.match('once that is durable (3)', bareNumber);
    assertNone(
      production.flatMap(({ file, text }) =>
        commentsOf(text)
          .filter(({ comment }) => bareNumber.test(comment.replace(/`[^`\n]*`/g, '')))
          .map(({ line }) => `${file}:${line}`),
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

describe('The map of the code in src/README.md', () => {
  const readme = readFileSync(path.join(root, 'src/README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| `(?<room>[\w/-]+)\/` \|.*\| (?<imports>[^|]*?) ?\|$/gm)].map(({ groups }) => ({
    room: groups!['room']!,
    imports: groups!['imports']!,
  }));

  it('has a line for every room, and for nothing else', () => {
    const rooms = new Set(production.map(({ file }) => roomOf(file)).filter((room) => room !== 'src'));
    const styles = pages.filter(({ file }) => file.endsWith('.css')).map(({ file }) => roomOf(file));
    const folders = new Set([...rooms, ...styles, 'src/operations', 'test', 'bench']);
    assert.deepEqual(rows.map(({ room }) => room).toSorted(), [...folders].toSorted());
  });

  it('says what each module, and each room of the domain, may import as the tables above say', () => {
    const words = (names: readonly string[]): string => names.join(', ').replace(/^\./, 'the words') || 'nothing';
    for (const { room, imports } of rows) {
      const inDomain = path.posix.relative('src/domain', room);
      if (Object.hasOwn(domainRules, inDomain)) assert.equal(imports, words(domainRules[inDomain]!), room);
      const module = moduleOf(`${room}/x.ts`);
      const isWhole = [module, `src/${module}`, `src/web/${module}`].includes(room);
      const { modules } = dependencyRules[module] ?? { modules: [] };
      if (isWhole && module !== 'styles') assert.equal(imports, modules === 'any' ? 'anything' : words(modules), room);
    }
  });

  it('lists files to read that have fewer than 1,200 lines together', () => {
    const list = /^## Read first\n[^]*?\n\nThen /m.exec(readme)?.[0] ?? '';
    const files = [...list.matchAll(/\]\((?<file>[\w/.-]+\.ts)\)/g)].map(({ groups }) => groups!['file']!);
    assert.ok(files.length >= 8, 'the list is there');
    const lines = files.reduce((sum, file) => sum + countLines(readFileSync(path.join(root, 'src', file), 'utf8')), 0);
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
      importsOf('src/http/routes/x.ts', text).map(({ file, line }) => [file, line]),
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
