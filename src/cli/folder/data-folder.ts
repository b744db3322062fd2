/** The data folder that a command works on: which one it is, and how events are read from it. */
import { readdirSync, statSync } from 'node:fs';
import { suggestion } from '#domain/schema-problems.ts';
import { readConfig, type Config } from '#service/config.ts';
import type { SettingName } from '#service/settings.ts';
import { openKeysOnDisk, type KeysOnDisk } from '#persistence/sqlite/key-file.ts';
import { eventIdsIn, openEventOnDisk, slugsIn, type EventOnDisk } from '#offline/events.ts';
import { viewJournal, type JournalView } from '#persistence/sqlite/view.ts';
import { CommandFailure, WrongUse, type CliCall } from '../terminal/command.ts';

/** The settings that commands use; a problem in another one does not concern them. */
const NEEDED: readonly SettingName[] = [
  'DATA_DIR',
  'ADMIN_HOST',
  'ADMIN_PORT',
  'ADMIN_TOKEN',
  'LIVE_EVENTS_MAX',
  'KEYS_LOST',
];

/** The settings from the environment, `--data` before DATA_DIR. Throws WrongUse. */
export function readSettings(call: CliCall): Config {
  const given = Object.fromEntries(NEEDED.map((name) => [name, call.environment[name]]));
  const reading = readConfig({ ...given, DATA_DIR: call.text('data') ?? given['DATA_DIR'] });
  if ('problems' in reading) throw new WrongUse(reading.problems.join('; '));
  return reading.config;
}

/**
 * The path of the data folder. Throws WrongUse when there is none, and where NATS_URL names a cluster but nothing names
 * a folder: `atNode` is what to request from a node instead.
 */
export function dataFolder(call: CliCall, atNode: string | null = null): string {
  if (call.environment['NATS_URL'] && !call.has('data')) {
    const ask = atNode === null ? '' : `ask a node for ${atNode}, or `;
    throw new WrongUse(
      `NATS_URL names a cluster, and this command needs a data folder: ${ask}name one, as holdfast backup OUT makes it`,
    );
  }
  const { dataDir } = readSettings(call);
  if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new WrongUse(`there is no folder ${dataDir}: name the data folder, or set DATA_DIR`);
  }
  return dataDir;
}

/**
 * The call with its first argument as `--data`, for commands whose only argument is their folder. Throws WrongUse when
 * it is named twice.
 */
export function withFolderArgument(call: CliCall): CliCall {
  const [given] = call.positionals;
  if (given === undefined) return call;
  if (call.has('data')) throw new WrongUse(`the folder is named twice: leave out ${given} or --data`);
  return {
    ...call,
    has: (name) => name === 'data' || call.has(name),
    text: (name) => (name === 'data' ? given : call.text(name)),
  };
}

/**
 * What `--keys FILE` and `--without-keys` say: a file, null for no keys, undefined for neither. Throws WrongUse for
 * both, and for a folder.
 */
export function keysOption(call: CliCall): string | null | undefined {
  const file = call.text('keys');
  if (file !== null && statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new WrongUse(`--keys is "${file}", which is a folder: name a file of keys`);
  if (!call.has('without-keys')) return file ?? undefined;
  if (file !== null) throw new WrongUse('--keys and --without-keys exclude each other');
  return null;
}

/** What a command says of a folder that has no journal. */
export function noJournal(folder: string): CommandFailure {
  return new CommandFailure(`there is no journal in ${folder}`, 'Name the data folder, or set DATA_DIR.');
}

/** Runs a query over the folder's journal. Throws CommandFailure when there is none. */
export async function withView<Result>(folder: string, query: (view: JournalView) => Promise<Result>): Promise<Result> {
  const view = viewJournal(folder);
  if (view === null) throw noJournal(folder);
  try {
    return await query(view);
  } finally {
    view.close();
  }
}

/** Runs a query with the keys of the folder, which may have none. Throws KeysUnusable when they cannot be read. */
export async function withKeys<Result>(folder: string, query: (keys: KeysOnDisk) => Promise<Result>): Promise<Result> {
  const keys = openKeysOnDisk(folder);
  try {
    return await query(keys);
  } finally {
    keys.close();
  }
}

/** An event by its id or slug. Throws CommandFailure, with a similar name, when there is none. */
export async function openEvent(folder: string, view: JournalView, name: string): Promise<EventOnDisk> {
  const slugs = await slugsIn(folder, view);
  const event =
    (await openEventOnDisk(folder, view, name)) ?? (await openEventOnDisk(folder, view, slugs.get(name) ?? ''));
  if (event !== null) return event;
  if (statSync(name, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new WrongUse(`${name} is a folder, and an event is expected here: name the folder with --data`);
  throw noEvent(folder, name, [...eventIdsIn(view), ...slugs.keys()]);
}

/** What a command says of an event that a folder does not have, with a similar name of those that it has. */
export function noEvent(folder: string, name: string, known: readonly string[]): CommandFailure {
  const similar = suggestion(name, known);
  return new CommandFailure(`there is no event ${name} in ${folder}${similar}`, 'holdfast inspect lists all events.');
}

/** Files of journal, keys, lock and watermark, which are copied in another way or not at all. */
const JOURNAL_FILES = /^(journal|keys|lock)\.db|^holdfast\.pid|^head\.witness|\.tmp$/;

/** The names of the other files, secrets and tokens, which a copy of the folder must have too. */
export function keptFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !JOURNAL_FILES.test(entry.name))
    .map(({ name }) => name);
}
