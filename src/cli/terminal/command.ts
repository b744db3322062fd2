/**
 * The parts of every command of `holdfast`: its table of arguments, reading these, and the page that --help prints.
 *
 * Help, checks and suggestions are made from the same table, so that they agree.
 *
 * 1. Wrong use ends with one line that helps and exit code 2. A failure that an operator can correct ends with a
 *    sentence, a hint and exit code 1.
 * 2. Every command has --help and --json.
 */
import { suggestion } from '#domain/schema-problems.ts';
import { parseArgs } from 'node:util';
import type { Output, Streams } from './output.ts';
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';

/** 0 success, 1 a failed check or command, 2 wrong use. */
export type ExitCode = 0 | 1 | 2;

/** What a run of `holdfast` has of the process that it runs in. */
export interface Program extends Streams {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdin: Terminal['input'];
  /** Ends the process on the spot. */
  exit(code: ExitCode): void;
}

interface Option {
  readonly name: string;
  /** The name of its value in the help; an option without one is a switch. */
  readonly value?: string;
  readonly help: string;
}

export interface CliCommand {
  /** The command line after `holdfast`. */
  readonly usage: string;
  /** Paragraphs. */
  readonly description: readonly string[];
  /** Without --help and --json, which every command has. */
  readonly options: readonly Option[];
  readonly positionals: { readonly min: number; readonly max: number };
  readonly examples: readonly { readonly line: string; readonly does: string }[];
  /** Terms that the description uses. */
  readonly glossary?: {
    readonly heading: string;
    readonly entries: readonly (readonly [term: string, text: string])[];
  };
  run(call: CliCall): Promise<ExitCode>;
}

/** The arguments of one run, checked against the command's table. */
export interface CliCall {
  readonly positionals: readonly string[];
  readonly output: Output;
  readonly environment: Program['environment'];
  readonly terminal: Terminal;
  exit: Program['exit'];
  has(name: string): boolean;
  /** An option's value, or null. */
  text(name: string): string | null;
  /** An option's value as a whole number from 0. Throws WrongUse. */
  count(name: string): number | null;
  /** An option's value as milliseconds since 1970. Throws WrongUse. */
  moment(name: string): number | null;
}

/** The arguments are wrong; the message is one line that says why. */
export class WrongUse extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WrongUse';
  }
}

/** The arguments are good, but the command cannot be done; the hint says what to do about it. */
export class CommandFailure extends Error {
  readonly hint: string;
  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'CommandFailure';
    this.hint = hint;
  }
}

const EVERYWHERE: readonly Option[] = [
  { name: 'json', help: 'print JSON instead of text' },
  { name: 'help', help: 'print this page' },
];

export const DATA_OPTION: Option = {
  name: 'data',
  value: 'DIR',
  help: 'the data folder (default: DATA_DIR, or ./data)',
};

// ── arguments ────────────────────────────────────────────────────────────────────────────────────────────────────────

interface ReadArguments {
  readonly values: ReadonlyMap<string, string | true>;
  readonly positionals: readonly string[];
}

/** Throws WrongUse for arguments that the command's table does not have. */
export function readArguments(command: CliCommand, args: readonly string[]): ReadArguments {
  const options = [...command.options, ...EVERYWHERE];
  const types = Object.fromEntries(
    options.map(({ name, value }) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options: types,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string | true>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind === 'option') values.set(token.name, valueOf(token, options));
  }
  if (!values.has('help')) refuseCount(command, positionals);
  return { values, positionals };
}

function valueOf(
  { name, rawName, value }: { readonly name: string; readonly rawName: string; readonly value: string | undefined },
  options: readonly Option[],
): string | true {
  const option = options.find((each) => each.name === name);
  if (option === undefined) {
    const names = options.map((each) => `--${each.name}`);
    throw new WrongUse(`there is no option ${rawName}${suggestion(rawName, names)}`);
  }
  if (option.value === undefined && value !== undefined) throw new WrongUse(`--${name} takes no value`);
  if (option.value !== undefined && value === undefined) throw new WrongUse(`--${name} needs a value: ${option.value}`);
  return value ?? true;
}

function refuseCount({ positionals: { min, max }, usage }: CliCommand, given: readonly string[]): void {
  if (given.length < min) throw new WrongUse(`an argument is missing: holdfast ${usage}`);
  if (given.length > max) throw new WrongUse(`"${given[max]}" is one argument too many: holdfast ${usage}`);
}

export function createCall(
  { values, positionals }: ReadArguments,
  output: Output,
  { environment, stdin, stderr, exit }: Omit<Program, 'stdout'>,
): CliCall {
  const text = (name: string): string | null => {
    const value = values.get(name);
    return typeof value === 'string' ? value : null;
  };
  return {
    positionals,
    output,
    environment,
    terminal: { input: stdin, output: stderr },
    exit,
    has: (name) => values.has(name),
    text,
    count: (name) => readCount(name, text(name)),
    moment: (name) => readMoment(name, text(name)),
  };
}

function readCount(name: string, text: string | null): number | null {
  if (text === null) return null;
  if (!/^[0-9]{1,15}$/.test(text)) throw new WrongUse(`--${name} is "${text}": it must be a whole number`);
  return Number(text);
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/;

function readMoment(name: string, text: string | null): number | null {
  if (text === null) return null;
  const moment = RFC_3339.test(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
  const day = text.slice(0, 10);
  // A day that its month does not have is read as one of the next month.
  const isDay = !Number.isNaN(moment) && new Date(`${day}T00:00Z`).toISOString().startsWith(day);
  if (isDay) return moment;
  throw new WrongUse(`--${name} is "${text}": it must be a time with its zone, such as 2027-05-07T18:00:00Z`);
}

// ── help ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The page that --help prints. */
export function helpPage(name: string, summary: string, command: CliCommand): string {
  const options = [...command.options, ...EVERYWHERE].map(({ name: option, value, help }) => {
    return [`--${option}${value === undefined ? '' : ` ${value}`}`, help] as const;
  });
  const { glossary } = command;
  return [
    wrap(`holdfast ${name}: ${summary}`),
    '',
    indented(`Usage: holdfast ${command.usage}`, 7),
    '',
    ...command.description.flatMap((paragraph) => [wrap(paragraph), '']),
    'Options:',
    ...inColumns(options),
    '',
    ...(glossary === undefined ? [] : [`${glossary.heading}:`, ...inColumns(glossary.entries), '']),
    'Examples:',
    ...command.examples.map(({ line, does }) => `  ${line}\n      ${indented(does, 6, 6)}`),
    '',
  ].join('\n');
}

/** Two columns, terms and texts. */
export function inColumns(entries: readonly (readonly [term: string, text: string])[]): string[] {
  const width = Math.max(...entries.map(([term]) => term.length));
  return entries.map(([term, text]) => {
    return `  ${term.padEnd(width)}  ${indented(text, width + 4, width + 4)}`;
  });
}

/** What every terminal has room for. */
export const LINE_CHARS_MAX = 80;

/** A text whose later lines begin with so many spaces; the first one has `taken` characters before it. */
function indented(text: string, indent: number, taken = 0): string {
  return wrap(text, LINE_CHARS_MAX - Math.max(indent, taken)).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

export function wrap(paragraph: string, charsMax = LINE_CHARS_MAX): string {
  const lines: string[] = [''];
  for (const word of paragraph.split(' ')) {
    const line = lines.at(-1)!;
    if (line.length + word.length + 1 > charsMax) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}

/** Where somebody may sit; questions go to stderr, so that stdout has results alone. */
interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
}

/** Whether somebody can be asked. */
export function canAsk({ input, output }: Terminal): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/** Whether the word `yes` was typed; anything else, and the end of the input, is a no. */
export async function confirm(question: string, { input, output }: Terminal): Promise<boolean> {
  const lines = createInterface({ input, output });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    const answer = await Promise.race([lines.question(`${question} `), ended]);
    return answer.trim().toLowerCase() === 'yes';
  } finally {
    lines.close();
  }
}
