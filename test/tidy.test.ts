/**
 * The house is tidy: which room may import which, and what no file may contain.
 *
 * The doors are one table and the habits another; change them here first, then the code. Source is read with regular
 * expressions over text whose comments (and, for habits of code, strings) are blanked: good enough to find a slip, and
 * fast. A new room gets a line in `doors`; a file that is started by its path gets one in `entries`.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

interface Door {
  /** Rooms that it may import, itself always included. */
  readonly rooms: readonly string[] | 'any';
  /** Packages that it may import; `node:` stands for all of Node's own modules. */
  readonly packages: readonly string[] | 'any';
}

// prettier-ignore
const doors: Readonly<Record<string, Door>> = {
  machines:    { rooms: [],                                               packages: ['xstate'] },
  persistence: { rooms: [],                                               packages: ['better-sqlite3', 'node:'] },
  domain:      { rooms: ['machines'],                                     packages: ['flatqueue'] },
  catalogue:   { rooms: ['domain'],                                       packages: 'any' },
  actors:      { rooms: ['domain', 'machines', 'persistence'],            packages: 'any' },
  payments:    { rooms: ['actors', 'client', 'domain'],                             packages: 'any' },
  notifications: { rooms: ['actors', 'domain', 'persistence'],            packages: 'any' },
  docs:        { rooms: ['machines'],                                     packages: [] },
  http:        { rooms: ['actors', 'catalogue', 'client', 'docs', 'domain', 'payments', 'tickets'], packages: 'any' },
  cli:         { rooms: ['actors', 'catalogue', 'client', 'domain', 'main', 'notifications', 'payments', 'persistence', 'tickets'], packages: 'any' },
  tickets:     { rooms: ['domain'],                                       packages: ['lru-cache', 'node:'] },
  client:      { rooms: [],                                               packages: [] },
  storefront:  { rooms: ['client'],                                       packages: 'any' },
  console:     { rooms: ['client'],                                       packages: 'any' },
  main:        { rooms: 'any',                                            packages: 'any' },
  bench:       { rooms: 'any',                                            packages: 'any' },
  test:        { rooms: 'any',                                            packages: 'any' },
};

/** Files that may import more than their room. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  'machines/render.ts': ['node:'],
  // The client has no packages; the hooks that both pages share stand beside it, because pages may import `client` alone.
  'src/client/browser/hooks.ts': ['preact'],
};

/** Files that are started or bundled by their path; everything else lives because one of these, a test or a bench imports it. */
const entries = [
  'src/main.ts',
  'src/setup.mjs',
  'src/cli/holdfast.ts',
  'src/storefront/app/main.tsx',
  'src/storefront/example/main.tsx',
  'src/console/app/main.tsx',
  'machines/render.ts',
];

const sourceLinesMax = 500;
const linesWithoutHeaderMax = 60;

interface Habit {
  readonly what: string;
  /** What breaks it, in code whose comments and strings are blanked; `text: true` reads the file as it is. */
  readonly pattern: RegExp;
  readonly text?: true;
  /** Something that breaks it, so that a habit which catches nothing is noticed. */
  readonly slip: string;
  readonly inRooms?: readonly string[];
  readonly notInRooms?: readonly string[];
  readonly notInFiles?: readonly string[];
}

const machinePath = /(?<![\w.})-])\/(?:work|root|tmp)\/[^\s"'`)]*/;

/** Rooms that run in a browser or around the service, where I1 does not reach. */
const outside = ['client', 'storefront', 'console', 'bench', 'test'];

const habits: readonly Habit[] = [
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
    notInRooms: ['cli', 'bench', 'test'],
    notInFiles: ['src/setup.mjs', 'machines/render.ts'],
  },
  {
    what: 'a clock or chance of its own (I1)',
    pattern: /\bDate\.now\b|\bMath\.random\b|\bnew\s+Date\(\s*\)/,
    slip: 'Date.now()',
    notInRooms: ['actors', 'cli', ...outside],
  },
  {
    what: 'a stopwatch (bounded slices of work, no moment of the sale) where nothing works in slices',
    pattern: /\bhrtime\b/,
    slip: 'process.hrtime.bigint()',
    notInRooms: ['actors', 'persistence', 'cli', 'http', ...outside],
  },
  {
    what: "the JavaScript global performance; a performance is an event's date",
    pattern: /(?<![.\w$])performance\.(?:now|mark|measure|timeOrigin|eventLoopUtilization|getEntries)\b/,
    slip: 'performance.now()',
    notInRooms: outside,
  },
  {
    what: 'a turn that waits, or the world outside (I3)',
    pattern:
      /\bawait\b|\basync\b|\bPromise\b|\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\b(?:process|crypto)\.|\bfetch\(/,
    slip: 'await x',
    inRooms: ['domain', 'machines'],
  },
];

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
}

interface SourceFile {
  readonly file: string;
  readonly room: string;
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

/** The room of a file: its folder, or `main` for what lies directly in src/. */
function roomOf(file: string): string {
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

const importForms = [
  /^\s*(?:import|export)\s(?:[^;'"]*?\sfrom\s+)?['"](?<specifier>[^'"]+)['"]/gm,
  /\bimport\(\s*['"](?<specifier>[^'"]+)['"]\s*\)/g,
  startForm,
];

function scanImports(file: string, text: string): Import[] {
  const visible = blankComments(text);
  return importForms.flatMap((form) =>
    [...visible.matchAll(form)].map((match) => {
      const specifier = match.groups!['specifier']!;
      const line = lineAt(visible, match.index + match[0].indexOf(specifier));
      return { specifier, line, file: resolveImport(file, specifier), isStart: form === startForm };
    }),
  );
}

function resolveImport(file: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier);
  const door = Object.keys(packageJson.imports).find((key) => specifier.startsWith(key.replace('*', '')));
  if (door === undefined) return null;
  return path.posix.normalize(packageJson.imports[door]!.replace('*', specifier.slice(door.length - 1)));
}

function readSource(file: string): SourceFile {
  const text = readFileSync(path.join(root, file), 'utf8');
  return { file, room: roomOf(file), text, code: blankCommentsAndStrings(text), imports: scanImports(file, text) };
}

const sources = ['machines', 'persistence', 'src', 'bench', 'test']
  .flatMap((folder) => listFiles(folder, /\.(?:ts|tsx|mjs|js)$/))
  .map(readSource);
const byFile = new Map(sources.map((source) => [source.file, source]));
const production = sources.filter(({ room }) => room !== 'test' && room !== 'bench');

function assertNone(findings: readonly string[]): void {
  assert.ok(findings.length === 0, `\n  ${findings.join('\n  ')}\n`);
}

/** The name of the package that a specifier leads to; `node:` for Node's own modules. */
function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return 'node:';
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function mayImport({ file, room }: SourceFile, { specifier, file: target }: Import): boolean {
  const door = doors[room];
  if (door === undefined) return true;
  if (target !== null) return door.rooms === 'any' || roomOf(target) === room || door.rooms.includes(roomOf(target));
  const name = packageOf(specifier);
  return door.packages === 'any' || door.packages.includes(name) || (exceptions[file] ?? []).includes(name);
}

/** Whether the line of an import shows its door: `#room/…` across rooms, a relative path within one. */
function showsItsDoor({ room }: SourceFile, { specifier, file: target }: Import): boolean {
  if (target === null) return true;
  if (roomOf(target) === room) return specifier.startsWith('.');
  const name = roomOf(target) === 'main' ? 'src' : roomOf(target);
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

describe('The doors', () => {
  it('have a line for every room', () => {
    assertNone([...new Set(production.map(({ room }) => room))].filter((room) => doors[room] === undefined));
  });

  it('let each room import only what the table says', () => {
    assertNone(
      sources.flatMap((source) =>
        source.imports
          .filter((line) => !mayImport(source, line))
          .map(({ specifier, line }) => `${source.file}:${line} ${source.room} may not import ${specifier}`),
      ),
    );
  });

  it('keep the state of an event within domain and actors: the others read it by queries', () => {
    const others = production.filter(({ room }) => room !== 'domain' && room !== 'actors');
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
          .filter((line) => !showsItsDoor(source, line))
          .map(({ specifier, line }) => `${source.file}:${line} ${specifier}: #room/… across rooms, ./… within one`),
      ),
    );
  });

  it('lead to no file in a circle', () => {
    const finished = new Set<string>();
    const cycles = sources.map(({ file }) => findCycle(file, finished)).filter((cycle) => cycle !== null);
    assertNone(cycles.map((cycle) => cycle.join(' → ')));
  });

  it('leave no file that nobody enters', () => {
    const alive = new Set(
      [...entries, ...sources.filter(({ room }) => room === 'test' || room === 'bench').map(({ file }) => file)].filter(
        (file) => byFile.has(file),
      ),
    );
    for (const file of alive) {
      for (const { file: target } of byFile.get(file)?.imports ?? []) if (target !== null) alive.add(target);
    }
    assertNone(production.filter(({ file }) => !alive.has(file)).map(({ file }) => `${file} is imported by nobody`));
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
        .filter(({ room, text }) => room !== 'test' && countLines(text) > linesWithoutHeaderMax)
        .filter(({ text }) => !/^(?:#![^\n]*\n)?\s*(?:\/\*|\/\/)/.test(text))
        .map(({ file }) => `${file}:1 begins without a comment`),
    );
  });

  for (const habit of habits) {
    it(`is free of ${habit.what}`, () => {
      assert.match(habit.slip, habit.pattern);
      assertNone(
        sources
          .filter(({ room }) => habit.inRooms?.includes(room) ?? true)
          .filter(({ room, file }) => !habit.notInRooms?.includes(room) && !habit.notInFiles?.includes(file))
          .flatMap(({ file, text, code }) =>
            findAll(habit.text ? text : code, habit.pattern).map((found) => `${file}:${found}`),
          ),
      );
    });
  }
});

describe('The pages and the lock file', () => {
  const pages = [
    ...readdirSync(root).filter((name) => /\.(?:md|json)$|^Dockerfile$/.test(name)),
    ...['machines', 'src', 'bench', 'test'].flatMap((folder) =>
      listFiles(folder, /\.(?:md|json|html|css|ya?ml|service)$/),
    ),
  ].map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));

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

  it('reads the house', () => {
    assert.ok(byFile.get('machines/hold.ts')?.imports.some(({ specifier }) => specifier === 'xstate'));
  });
});
