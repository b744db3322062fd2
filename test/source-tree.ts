/**
 * The source tree as its own rules and measurements see it: files, their modules, rooms and imports.
 *
 * Source is read with regular expressions over text whose comments and strings are blanked where code alone is meant:
 * precise enough to find a slip, and fast.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** The file it leads to, or null for a package. */
  readonly file: string | null;
  /** Whether it starts the file on a thread of its own, which is no import of its code. */
  readonly isStart: boolean;
  /**
   * Whether the importing file loads it by being loaded itself: an import of more than types that is not `import()`.
   */
  readonly isLoaded: boolean;
}

export interface SourceFile {
  readonly file: string;
  readonly module: string;
  readonly text: string;
  /** The text with comments and the insides of strings blanked, line for line. */
  readonly code: string;
  readonly imports: readonly Import[];
}

interface SourceTree {
  readonly sources: readonly SourceFile[];
  /** The sources without tests and benches. */
  readonly production: readonly SourceFile[];
  readonly byFile: ReadonlyMap<string, SourceFile>;
  /** Texts that are no source: pages, settings, styles. */
  readonly pages: readonly { readonly file: string; readonly text: string }[];
  /** `imports` of package.json. */
  readonly aliases: Readonly<Record<string, string>>;
  /** What a file with this text imports. */
  importsOf(file: string, text: string): readonly Import[];
}

/** Reads the tree below a folder that has a package.json with `imports`. */
export function readTree(root: string): SourceTree {
  const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
  const { imports: aliases } = JSON.parse(read('package.json')) as { imports: Record<string, string> };

  const resolveImport = (file: string, specifier: string): string | null => {
    if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier);
    const prefix = Object.keys(aliases).find((key) => specifier.startsWith(key.replace('*', '')));
    if (prefix === undefined) return null;
    return path.posix.normalize(aliases[prefix]!.replace('*', specifier.slice(prefix.length - 1)));
  };

  const importsOf = (file: string, text: string): Import[] => {
    const visible = blankComments(text);
    return importForms.flatMap((form) =>
      [...visible.matchAll(form)].map((match) => {
        const specifier = match.groups!['specifier']!;
        const line = lineAt(visible, match.index + match[0].indexOf(specifier));
        const isLoaded = form === loadForm && !/^\s*(?:import|export)\s+type\b/.test(match[0]);
        return { specifier, line, file: resolveImport(file, specifier), isStart: form === startForm, isLoaded };
      }),
    );
  };

  const sources = ['machines', 'persistence', 'src', 'bench', 'test']
    .flatMap((folder) => listFiles(root, folder, /\.(?:ts|tsx|mjs|js)$/))
    .map((file): SourceFile => {
      const text = read(file);
      return {
        file,
        module: moduleOf(file),
        text,
        code: blankCommentsAndStrings(text),
        imports: importsOf(file, text),
      };
    });
  const pages = [
    ...readdirSync(root).filter((name) => /\.(?:md|json)$|^Dockerfile$/.test(name)),
    ...['machines', 'src', 'bench', 'test'].flatMap((folder) =>
      listFiles(root, folder, /\.(?:md|json|html|css|ya?ml|service)$/),
    ),
  ].map((file) => ({ file, text: read(file) }));
  return {
    sources,
    production: sources.filter(({ module }) => module !== 'test' && module !== 'bench'),
    byFile: new Map(sources.map((source) => [source.file, source])),
    pages,
    aliases,
    importsOf,
  };
}

function listFiles(root: string, folder: string, name: RegExp): string[] {
  const absolute = path.join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((file) => !/(?:^|\/)(?:node_modules|data|dist)\//.test(file));
}

/**
 * How many imports lead from each room to each other one; a file that is started on a thread of its own is not
 * imported.
 */
export function roomArrows(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const known = new Set(files.map(({ file }) => file));
  const arrows = new Map<string, Map<string, number>>();
  for (const { file, imports } of files) {
    const from = roomOf(file);
    const to = arrows.get(from) ?? new Map<string, number>();
    arrows.set(from, to);
    for (const { file: target, isStart } of imports) {
      if (target === null || isStart || !known.has(target) || roomOf(target) === from) continue;
      to.set(roomOf(target), (to.get(roomOf(target)) ?? 0) + 1);
    }
  }
  return arrows;
}

/**
 * The sets of rooms that lead to each other over any number of arrows: strongly connected components of more than one
 * room, by Tarjan, "Depth-first search and linear graph algorithms", 1972.
 */
export function roomCircles(arrows: ReadonlyMap<string, ReadonlyMap<string, number>>): readonly (readonly string[])[] {
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (room: string): void => {
    numbers.set(room, numbers.size);
    lowest.set(room, numbers.get(room)!);
    open.push(room);
    for (const next of arrows.get(room)?.keys() ?? []) {
      if (!numbers.has(next)) visit(next);
      if (open.includes(next)) lowest.set(room, Math.min(lowest.get(room)!, lowest.get(next)!));
    }
    if (lowest.get(room) !== numbers.get(room)) return;
    const circle = open.splice(open.indexOf(room));
    if (circle.length > 1) circles.push(circle.toSorted());
  };
  for (const room of arrows.keys()) if (!numbers.has(room)) visit(room);
  return circles;
}

/**
 * The module of a file: its folder below src/, in src/web/ the folder below that, or `main` for what lies directly in
 * src/.
 */
export function moduleOf(file: string): string {
  const [top = '', next = '', ...deeper] = file.split('/');
  if (top !== 'src') return top;
  if (next === 'web' && deeper.length > 1) return deeper[0]!;
  return deeper.length === 0 ? 'main' : next;
}

/** The room of a file: the folder in which it lies. */
export function roomOf(file: string): string {
  return path.posix.dirname(file);
}

const comment = /\/\*[^]*?\*\/|\/\/[^\n]*/;
const string = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/;
const regularExpression = /(?<=[=(,:;!&|?{}[\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*/;
const opaque = new RegExp(`${comment.source}|${string.source}|${regularExpression.source}`, 'g');

export function blank(piece: string): string {
  return piece.replace(/[^\n]/g, ' ');
}

export function blankComments(text: string): string {
  return text.replace(opaque, (piece) => (/^\/[/*]/.test(piece) ? blank(piece) : piece));
}

export function blankCommentsAndStrings(text: string): string {
  return text.replace(opaque, (piece) =>
    /^['"`]/.test(piece) ? `${piece[0]}${blank(piece.slice(2))}${piece[0]}` : blank(piece),
  );
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

export function countLines(text: string): number {
  return text.split('\n').length - 1;
}

/** Every match of a pattern, as its line and what was found there. */
export function findAll(text: string, pattern: RegExp): string[] {
  const everywhere = new RegExp(pattern.source, `${pattern.flags}g`);
  return [...text.matchAll(everywhere)].map((match) => `${lineAt(text, match.index)} ${match[0].trim()}`);
}

const startForm = /\bnew URL\(\s*['"](?<specifier>\.[^'"]+\.(?:ts|tsx|mjs))['"]\s*,\s*import\.meta\.url\s*\)/g;

const loadForm = /^\s*(?:import|export)\s(?:[^;'"]*?\sfrom\s+)?['"](?<specifier>[^'"]+)['"]/gm;

const importForms = [loadForm, /\bimport\(\s*['"](?<specifier>[^'"]+)['"]\s*\)/g, startForm];

export function commentsOf(text: string): { readonly line: number; readonly comment: string }[] {
  return [...text.matchAll(opaque)]
    .filter(([piece]) => /^\/[/*]/.test(piece))
    .map(({ 0: piece, index }) => ({ line: lineAt(text, index), comment: piece }));
}

/**
 * The functions of a file whose comments and strings are blanked: where each body begins, and how many lines it has.
 */
export function functionsIn(code: string): { readonly line: number; readonly lines: number }[] {
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

/**
 * Whether the text before a brace ends in an arrow, or in parameters and perhaps a type that no control statement owns.
 */
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
