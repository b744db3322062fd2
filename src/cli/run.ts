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
  /** How the list of commands names it, where that is more than its first word. */
  readonly shown?: string;
  readonly summary: string;
  load(): Promise<CliCommand>;
}

const COMMANDS: Readonly<Record<string, Listed>> = {
  serve: {
    summary: 'runs the service until it is stopped',
    load: async () => (await import('./service/serve.ts')).serveCommand,
  },
  gate: {
    summary: "runs a hall's own machine, at which tickets are scanned without a network",
    load: async () => (await import('./service/gate.ts')).gateCommand,
  },
  load: {
    summary: 'checks catalogue files and loads them',
    load: async () => (await import('./service/load.ts')).loadCommand,
  },
  verify: {
    summary: 'checks that a data folder is complete and its counts are consistent',
    load: async () => (await import('./folder/verify.ts')).verifyCommand,
  },
  upgrade: {
    summary: 'checks whether this version can take a data folder over',
    load: async () => (await import('./folder/upgrade.ts')).upgradeCommand,
  },
  snapshot: {
    summary: 'takes snapshots now, and prunes the journal',
    load: async () => (await import('./service/snapshot.ts')).snapshotCommand,
  },
  backup: {
    summary: 'copies the data folder or the cluster, also while a service runs on it',
    load: async () => (await import('./folder/backup.ts')).backupCommand,
  },
  import: {
    summary: 'moves the data folder of one machine into an empty cluster',
    load: async () => (await import('./folder/import.ts')).importCommand,
  },
  restore: {
    summary: 'makes a new data folder as of a fact or a time',
    load: async () => (await import('./folder/restore.ts')).restoreCommand,
  },
  journal: {
    summary: 'prints the facts, one on each line',
    load: async () => (await import('./folder/journal.ts')).journalCommand,
  },
  inspect: {
    summary: 'prints the state of events: stock, holds, orders, waiting room',
    load: async () => (await import('./folder/inspect.ts')).inspectCommand,
  },
  export: {
    shown: 'export orders',
    summary: "writes an event's orders, refunds or scans as CSV or JSON",
    load: async () => (await import('./folder/export.ts')).exportCommand,
  },
  refunds: {
    summary: 'lists the refunds of an event, and what is due',
    load: async () => (await import('./folder/refunds.ts')).refundsCommand,
  },
  doors: {
    summary: 'counts who came to an event and who is inside, once or as it goes on',
    load: async () => (await import('./service/doors.ts')).doorsCommand,
  },
  pii: {
    summary: 'counts the personal data that are readable, by event and field',
    load: async () => (await import('./privacy/pii.ts')).piiCommand,
  },
  subject: {
    summary: 'writes what is kept about a person, as JSON and as a page',
    load: async () => (await import('./privacy/subject.ts')).subjectCommand,
  },
  erase: {
    summary: 'erases the personal data of orders for good',
    load: async () => (await import('./privacy/erase.ts')).eraseCommand,
  },
  seal: {
    summary: 'makes a data folder with personal data sealed from one of an earlier version',
    load: async () => (await import('./privacy/seal.ts')).sealCommand,
  },
  rehearse: {
    summary: 'plays a past sale against a service, and reports what came out differently',
    load: async () => (await import('./service/rehearse.ts')).rehearseCommand,
  },
  draw: {
    summary: 'checks the proof of a draw',
    load: async () => (await import('./service/draw.ts')).drawCommand,
  },
  cluster: {
    summary: 'shows the nodes of a cluster and who owns what, and checks its NATS servers',
    load: async () => (await import('./cluster/cluster.ts')).clusterCommand,
  },
  notify: {
    summary: 'posts notifications again',
    load: async () => (await import('./folder/notify.ts')).notifyCommand,
  },
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
    ...inColumns(Object.entries(COMMANDS).map(([name, { shown = name, summary }]) => [shown, summary] as const)),
    '',
    wrap(
      'holdfast COMMAND --help explains a command. Settings are read from the environment. DATA_DIR is the data folder; ' +
        'commands that work on one take it as FOLDER or --data DIR instead, those with other arguments as --data DIR alone. ' +
        'Exit codes: 0 success, 1 a failed check or command, 2 wrong use.',
    ),
    '',
  ].join('\n');
}

/** Runs `holdfast` with these arguments, and returns its exit code. Nothing that it opened is open then. */
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
    const command = await listed.load();
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
