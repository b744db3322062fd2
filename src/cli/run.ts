/**
 * A run of `holdfast`: finds the command, reads its arguments and runs it. A command's file is loaded only for its use.
 *
 * 1. Exit codes: 0 success, 1 a failed check or command, 2 wrong use. `serve` has codes of its own.
 * 2. Commands know nothing of the process but what the program hands over, so that they can be run several times in
 *    one. `serve` and `journal --follow` alone go on until a signal ends their process.
 */
import product from '../../package.json' with { type: 'json' };
import { suggestion } from '#domain/schema-problems.ts';
import {
  helpPage,
  createCall,
  readArguments,
  WrongUse,
  type CliCommand,
  type ExitCode,
  type Program,
  inColumns,
  wrap,
} from './terminal/command.ts';
import { errorCode, isNoSpace } from '#persistence/faults.ts';
import { createOutput, type Output } from './terminal/output.ts';

interface Listed {
  readonly summary: string;
  load(): Promise<{ readonly command: CliCommand }>;
}

const COMMANDS: Readonly<Record<string, Listed>> = {
  serve: { summary: 'runs the service until it is stopped', load: () => import('./service/serve.ts') },
  gate: {
    summary: "runs a hall's own machine, at which tickets are scanned without a network",
    load: () => import('./service/gate.ts'),
  },
  load: { summary: 'checks catalogue files and loads them', load: () => import('./service/load.ts') },
  verify: {
    summary: 'checks that a data folder is complete and its counts are consistent',
    load: () => import('./folder/verify.ts'),
  },
  upgrade: {
    summary: 'checks whether this version can take a data folder over',
    load: () => import('./folder/upgrade.ts'),
  },
  snapshot: { summary: 'takes snapshots now, and prunes the journal', load: () => import('./service/snapshot.ts') },
  backup: {
    summary: 'copies the data folder or the cluster, also while a service runs on it',
    load: () => import('./folder/backup.ts'),
  },
  import: {
    summary: 'moves the data folder of one machine into an empty cluster',
    load: () => import('./folder/import.ts'),
  },
  restore: { summary: 'makes a new data folder as of a fact or a time', load: () => import('./folder/restore.ts') },
  journal: { summary: 'prints the facts, one on each line', load: () => import('./folder/journal.ts') },
  inspect: {
    summary: 'prints the state of events: stock, holds, orders, waiting room',
    load: () => import('./folder/inspect.ts'),
  },
  export: {
    summary: "writes an event's orders, refunds, scans or attendees as CSV or JSON",
    load: () => import('./folder/export.ts'),
  },
  refunds: { summary: 'lists the refunds of an event, and what is due', load: () => import('./folder/refunds.ts') },
  doors: {
    summary: 'counts who came to an event and who is inside, once or as it goes on',
    load: () => import('./service/doors.ts'),
  },
  pii: {
    summary: 'counts the personal data that are readable, by event and field',
    load: () => import('./privacy/pii.ts'),
  },
  subject: {
    summary: 'writes what is kept about a person, as JSON and as a page',
    load: () => import('./privacy/subject.ts'),
  },
  erase: { summary: 'erases the personal data of orders for good', load: () => import('./privacy/erase.ts') },
  seal: {
    summary: 'makes a data folder with personal data sealed from one of an earlier version',
    load: () => import('./privacy/seal.ts'),
  },
  rehearse: {
    summary: 'plays a past sale against a service, and reports what came out differently',
    load: () => import('./service/rehearse.ts'),
  },
  draw: { summary: 'checks the proof of a draw', load: () => import('./service/draw.ts') },
  cluster: {
    summary: 'shows the nodes of a cluster and who owns what, and checks its NATS servers',
    load: () => import('./cluster/cluster.ts'),
  },
  notify: { summary: 'posts notifications again', load: () => import('./folder/notify.ts') },
};

const { version } = product;

/** The page that `holdfast help` prints. */
function overview(): string {
  return [
    `holdfast ${version}: sells tickets, and no ticket twice`,
    '',
    'Usage: holdfast COMMAND [OPTION…]',
    '',
    'Commands:',
    ...inColumns(Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary] as const)),
    '',
    wrap(
      'holdfast COMMAND --help explains a command. Settings are read from the environment. DATA_DIR is the data folder; ' +
        'commands that work on one take it as FOLDER or --data DIR instead, those with other arguments as --data DIR alone. ' +
        'Exit codes: 0 success, 1 a failed check or command, 2 wrong use.',
    ),
    '',
  ].join('\n');
}

/** Runs `holdfast` with these arguments; returns its exit code when everything that it opened is closed. */
export async function runHoldfast(args: readonly string[], program: Program): Promise<ExitCode> {
  const [name = 'help', ...further] = args;
  const output = createOutput(args.includes('--json'), program);
  if (name === '--version') return print(output, `${version}\n`);
  if (name === 'help' || name === '--help' || name === '-h') {
    const [topic] = further.filter((each) => !each.startsWith('-'));
    return topic === undefined ? print(output, overview()) : run(topic, ['--help'], output, program);
  }
  return run(name, further, output, program);
}

async function run(name: string, args: readonly string[], output: Output, program: Program): Promise<ExitCode> {
  try {
    const listed = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (listed === undefined) {
      output.trouble(`holdfast: there is no command ${name}${suggestion(name, Object.keys(COMMANDS))} (holdfast help)`);
      return 2;
    }
    const { command } = await listed.load();
    const read = readArguments(command, args);
    if (read.values.has('help')) return await print(output, helpPage(name, listed.summary, command));
    return await command.run(createCall(read, output, program));
  } catch (error) {
    return explain(name, error, output);
  } finally {
    output.clear();
  }
}

async function print(output: Output, page: string): Promise<ExitCode> {
  await output.raw(page);
  return 0;
}

/** What an operator can do where the system, or SQLite, refused something; undefined for any other error. */
function hintOfSystem(error: unknown): string | undefined {
  const code = errorCode(error);
  if (isNoSpace(error)) return 'The disk is full: make room, and run the command again.';
  if (/^(?:EACCES|EPERM|EROFS|SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM)/.test(code)) {
    return 'This user may not do that here: look at the owner and the rights of the folder. A journal can be read only where its folder can be written; copy it to such a place.';
  }
  if (/^(?:ENOTDIR|EISDIR|ENAMETOOLONG|ELOOP|EEXIST)/.test(code))
    return 'Name a folder that exists, or one that can be made.';
  if (/^(?:EIO|SQLITE_IOERR)/.test(code)) return 'The disk could not be read or written: the system log says more.';
  return undefined;
}

/** Prints why the command failed; an unexpected error is printed with its stack. */
function explain(name: string, error: unknown, output: Output): ExitCode {
  if (error instanceof WrongUse) {
    output.trouble(`holdfast ${name}: ${error.message} (holdfast ${name} --help)`);
    return 2;
  }
  const { message, hint = hintOfSystem(error), stack } = error as { message: string; hint?: string; stack?: string };
  if (hint === undefined) output.trouble(`holdfast ${name}: ${stack ?? message}`);
  else output.trouble(`holdfast ${name}: ${message}`, hint);
  output.json({ ok: false, error: message, hint: hint ?? null });
  return 1;
}
