#!/usr/bin/env node
/**
 * `holdfast`: finds the command, reads its arguments, runs it, and turns how it went into an exit code.
 *
 * Started by `npx holdfast` and `npm run holdfast`. Each command is a file of its own, loaded only when it is asked for.
 *
 * 1. Exit codes: 0 good, 1 the check failed or the command could not be done, 2 wrong use. `serve` has its own.
 * 2. A reader that goes away, as `head` does, ends the command in peace.
 */
import { readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { helpPage, makeCall, readArguments, suggestion, WrongUse, type Command, type ExitCode } from './command.ts';
import { createOutput, type Output } from './output.ts';

interface Listed {
  readonly summary: string;
  load(): Promise<Command>;
}

const COMMANDS: Readonly<Record<string, Listed>> = {
  serve: {
    summary: 'serves until it is stopped',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  load: {
    summary: 'checks catalogue files and loads them',
    load: async () => (await import('./load.ts')).loadCommand,
  },
  verify: {
    summary: 'proves that a data folder is whole, and that its books add up',
    load: async () => (await import('./verify.ts')).verifyCommand,
  },
  snapshot: {
    summary: 'takes a snapshot now, and prunes the journal behind the previous one',
    load: async () => (await import('./snapshot.ts')).snapshotCommand,
  },
  backup: {
    summary: 'copies the data folder, while the service runs',
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  restore: {
    summary: 'makes a new data folder as of a fact or a moment',
    load: async () => (await import('./restore.ts')).restoreCommand,
  },
  journal: {
    summary: 'prints what happened, one fact a line',
    load: async () => (await import('./journal.ts')).journalCommand,
  },
  inspect: {
    summary: 'shows what the state is: stock, holds, orders, waiting room',
    load: async () => (await import('./inspect.ts')).inspectCommand,
  },
  export: {
    summary: "writes an event's orders for the box office's own books",
    load: async () => (await import('./export.ts')).exportCommand,
  },
  draw: {
    summary: 'checks the proof of a draw',
    load: async () => (await import('./draw.ts')).drawCommand,
  },
  notify: {
    summary: 'sends notifications again',
    load: async () => (await import('./notify.ts')).notifyCommand,
  },
};

// Halves the time until a command begins (measured: 0.5 to 0.25 s); where the folder cannot be written, nothing is kept.
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/holdfast', import.meta.url)));

const version = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

/** The page of `holdfast help`. */
function overview(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  return [
    `holdfast ${version}: sells tickets, and never one twice`,
    '',
    'Usage: holdfast COMMAND [OPTION…]',
    '',
    'Commands:',
    ...Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'holdfast COMMAND --help explains one of them. Settings come from the environment; DATA_DIR names the data',
    'folder, and most commands take --data DIR in its place. Exit codes: 0 good, 1 the check failed, 2 wrong use.',
    '',
  ].join('\n');
}

async function main(args: readonly string[]): Promise<number> {
  const [name = 'help', ...further] = args;
  const output = createOutput(args.includes('--json'));
  if (name === '--version') return print(output, `${version}\n`);
  if (name === 'help' || name === '--help' || name === '-h') {
    const [topic] = further.filter((each) => !each.startsWith('-'));
    return topic === undefined ? print(output, overview()) : run(topic, ['--help'], output);
  }
  return run(name, further, output);
}

async function run(name: string, args: readonly string[], output: Output): Promise<ExitCode> {
  try {
    const listed = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (listed === undefined) {
      output.trouble(`holdfast: there is no command ${name}${suggestion(name, Object.keys(COMMANDS))} (holdfast help)`);
      return 2;
    }
    const command = await listed.load();
    const read = readArguments(command, args);
    if (read.values.has('help')) return print(output, helpPage(name, listed.summary, command));
    return await command.run(makeCall(read, output, process.env));
  } catch (error) {
    return explain(name, error, output);
  } finally {
    output.clear();
  }
}

function print(output: Output, page: string): ExitCode {
  output.raw(page);
  return 0;
}

/** Says what kept a command from being done; what nobody foresaw is told with its place in the code. */
function explain(name: string, error: unknown, output: Output): ExitCode {
  if (error instanceof WrongUse) {
    output.trouble(`holdfast ${name}: ${error.message} (holdfast ${name} --help)`);
    return 2;
  }
  const { message, hint, stack } = error as { message: string; hint?: string; stack?: string };
  if (hint === undefined) output.trouble(`holdfast ${name}: ${stack ?? message}`);
  else output.trouble(`holdfast ${name}: ${message}`, hint);
  output.json({ ok: false, error: message, hint: hint ?? null });
  return 1;
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`holdfast: what was asked for cannot be written out: ${error.message}\n`);
  process.exit(1);
});

process.exitCode = await main(process.argv.slice(2));
