/**
 * The output of commands: text for people or JSON for programs on stdout, troubles and progress on stderr.
 *
 * 1. With --json stdout has JSON alone.
 * 2. Progress is shown on a terminal only, and is removed at the end of the command. Without a terminal, a wait is
 *    reported in one line.
 * 3. Ids of holds, queue entries and checkout sessions are hidden in texts and values. `raw` does not hide them.
 * 4. Names in JSON are snake_case; they are converted here and nowhere else in this module.
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { withoutSecretIds } from '#engine/shown-facts.ts';

export interface Output {
  readonly isJson: boolean;
  /** Prints lines for people. */
  text(...lines: readonly string[]): void;
  /** Prints a value for programs, with names in snake_case. */
  json(value: object): void;
  /** Prints a text unchanged, also with --json; resolves when a reader that is too slow has caught up. */
  raw(text: string): Promise<void>;
  /** Prints lines on stderr. */
  trouble(...lines: readonly string[]): void;
  /** Shows how far long work has come. */
  progress(of: string, done: number, total: number): void;
  /** Says what is waited for, and how many seconds of at most how many have passed. */
  waiting(what: string, seconds: number, secondsMax: number): void;
  /** Removes the progress from the terminal. */
  clear(): void;
}

/** Where results, and where troubles and progress go. */
export interface Streams {
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** Between updates of the progress; people read no faster. */
const PROGRESS_EVERY_MS = 100;

export function createOutput(isJson: boolean, { stdout, stderr }: Streams): Output {
  let shownAt = 0;
  let isShown = false;
  let waitedFor = '';
  const clear = (): void => {
    if (isShown) stderr.write('\r\u001b[K');
    isShown = false;
  };
  const write = (text: string): boolean => {
    clear();
    return stdout.write(text);
  };
  const trouble = (...lines: readonly string[]): void => {
    clear();
    stderr.write(withoutSecretIds(`${lines.map(printable).join('\n')}\n`));
  };
  const show = (text: () => string): void => {
    if (!stderr.isTTY || Date.now() - shownAt < PROGRESS_EVERY_MS) return;
    shownAt = Date.now();
    isShown = true;
    stderr.write(`\r\u001b[K${text()}`);
  };
  return {
    isJson,
    text(...lines) {
      if (!isJson && lines.length > 0) write(withoutSecretIds(`${lines.map(printable).join('\n')}\n`));
    },
    json(value) {
      if (isJson) write(withoutSecretIds(`${printable(JSON.stringify(snakeCased(value), null, 2))}\n`));
    },
    async raw(text) {
      if (!write(printableFile(text))) await once(stdout, 'drain');
    },
    trouble,
    progress(of, done, total) {
      const percent = (): number => (total === 0 ? 100 : Math.floor((100 * done) / total));
      show(() => `${of}: ${grouped(done)} of ${grouped(total)} (${percent()} %)`);
    },
    waiting(what, seconds, secondsMax) {
      if (!stderr.isTTY && waitedFor !== what) trouble(`${what}, for up to ${secondsMax} s`);
      waitedFor = what;
      show(() => `${what}: ${seconds} of at most ${secondsMax} s`);
    },
    clear,
  };
}

/** Texts of definitions and buyers must not control a terminal. */
const printable = (text: string): string => text.replace(/[^\P{Cc}\n]/gu, '\ufffd');

/** The same for the text of a file, whose lines may end as CSV requires. */
const printableFile = (text: string): string => text.replace(/[^\P{Cc}\t\r\n]/gu, '\ufffd');

/** A copy of the value with all names of fields in snake_case, at every depth. */
export function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [snakeCase(name), snakeCased(field)]));
}

function snakeCase(name: string): string {
  return /[a-z]/.test(name) ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name.toLowerCase();
}

/** A whole number with a comma between thousands. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A count and its noun. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Counts by status, without those that are 0. */
export function byStatus(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.length === 0 ? 'none' : some.map(([status, count]) => `${grouped(count)} ${status}`).join(', ');
}

/** A time as in the API. */
export function formatMoment(at: number): string {
  return new Date(at).toISOString();
}

/** Aligned columns, numbers to the right; the first row is the heading. */
export function table(rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? grouped(cell) : cell)));
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  const isNumeric = widths.map(
    (_, column) => rows.length > 1 && rows.slice(1).every((row) => typeof row[column] === 'number'),
  );
  return cells.map((row) =>
    row
      .map((cell, column) => (isNumeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}
