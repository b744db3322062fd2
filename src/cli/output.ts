/**
 * How commands print: text for people or JSON for programs on stdout, troubles and progress on stderr.
 *
 * 1. With --json stdout carries JSON alone; without it no JSON, unless that is what was asked for.
 * 2. Progress shows on a terminal only, and is gone when the command is done.
 * 3. Ids of holds, queue entries and checkout sessions never leave in texts and values; what is printed raw decides that itself.
 * 4. Names in JSON are snake_case as everywhere outside; they are turned here and nowhere else.
 */

import { withoutSecretIds } from '#actors/shown-facts.ts';

export interface Output {
  readonly isJson: boolean;
  /** Prints lines for people. */
  text(...lines: readonly string[]): void;
  /** Prints a value for programs, its names in snake_case. */
  json(value: object): void;
  /** Prints as it is, whatever was asked for; false when the reader cannot keep up. */
  raw(text: string): boolean;
  /** Prints lines about what went wrong. */
  trouble(...lines: readonly string[]): void;
  /** Says how far long work has come. */
  progress(of: string, done: number, total: number): void;
  /** Takes the progress back from the terminal. */
  clear(): void;
}

/** Milliseconds between two looks at the progress; people read no faster. */
const PROGRESS_EVERY_MS = 100;

/** The output of this process. */
export function createOutput(isJson: boolean): Output {
  let shownAt = 0;
  let isShown = false;
  const clear = (): void => {
    if (isShown) process.stderr.write('\r\u001b[K');
    isShown = false;
  };
  const write = (text: string): boolean => {
    clear();
    return process.stdout.write(text);
  };
  return {
    isJson,
    text(...lines) {
      if (!isJson && lines.length > 0) write(withoutSecretIds(`${lines.join('\n')}\n`));
    },
    json(value) {
      if (isJson) write(withoutSecretIds(`${JSON.stringify(snakeCased(value), null, 2)}\n`));
    },
    raw: write,
    trouble(...lines) {
      clear();
      process.stderr.write(withoutSecretIds(`${lines.join('\n')}\n`));
    },
    progress(of, done, total) {
      if (!process.stderr.isTTY || Date.now() - shownAt < PROGRESS_EVERY_MS) return;
      shownAt = Date.now();
      isShown = true;
      const percent = total === 0 ? 100 : Math.floor((100 * done) / total);
      process.stderr.write(`\r\u001b[K${of}: ${grouped(done)} of ${grouped(total)} (${percent} %)`);
    },
    clear,
  };
}

/** The same value with the names of its fields in snake_case, lists and fields of fields included. */
export function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [snakeCase(name), snakeCased(field)]));
}

function snakeCase(name: string): string {
  return /[a-z]/.test(name) ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name.toLowerCase();
}

/** A whole number with its thousands apart. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A count and its noun. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** A moment as the API prints it. */
export function printMoment(at: number): string {
  return new Date(at).toISOString();
}

/** Rows in columns as wide as they need, numbers to the right; the first row is the heading. */
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
