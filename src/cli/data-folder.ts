/** The data folder that a command works on: which one it is, and how events are read from it. */
import { readdirSync, statSync } from 'node:fs';
import { readConfig, type Config } from '#src/config.ts';
import type { SettingName } from '#src/settings.ts';
import { eventIdsIn, openEventOnDisk, slugsIn, type EventOnDisk } from '#actors/reading.ts';
import { viewJournal, type JournalView } from '#persistence/sqlite/view.ts';
import { CommandFailure, suggestion, WrongUse, type Call } from './command.ts';

/** The settings that commands use; a problem in another one does not concern them. */
const NEEDED: readonly SettingName[] = ['DATA_DIR', 'ADMIN_HOST', 'ADMIN_PORT', 'ADMIN_TOKEN', 'LIVE_EVENTS_MAX'];

/** The settings from the environment, `--data` before DATA_DIR. Throws WrongUse. */
export function readSettings(call: Call): Config {
  const given = Object.fromEntries(NEEDED.map((name) => [name, call.environment[name]]));
  const reading = readConfig({ ...given, DATA_DIR: call.text('data') ?? given['DATA_DIR'] });
  if ('problems' in reading) throw new WrongUse(reading.problems.join('\n'));
  return reading.config;
}

/** The path of the data folder. Throws WrongUse when there is none. */
export function dataFolder(call: Call): string {
  const { dataDir } = readSettings(call);
  if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new WrongUse(`there is no folder ${dataDir}: name the data folder with --data or DATA_DIR`);
  }
  return dataDir;
}

/** Runs a query over the folder's journal. Throws CommandFailure when there is none. */
export async function withView<Result>(folder: string, query: (view: JournalView) => Promise<Result>): Promise<Result> {
  const view = viewJournal(folder);
  if (view === null) {
    throw new CommandFailure(`there is no journal in ${folder}`, 'Name the data folder with --data or DATA_DIR.');
  }
  try {
    return await query(view);
  } finally {
    view.close();
  }
}

/** An event by its id or slug. Throws CommandFailure, with a similar name, when there is none. */
export async function openEvent(folder: string, view: JournalView, name: string): Promise<EventOnDisk> {
  const slugs = await slugsIn(folder, view);
  const event =
    (await openEventOnDisk(folder, view, name)) ?? (await openEventOnDisk(folder, view, slugs.get(name) ?? ''));
  if (event !== null) return event;
  const known = suggestion(name, [...eventIdsIn(view), ...slugs.keys()]);
  throw new CommandFailure(`there is no event ${name} in ${folder}${known}`, 'holdfast inspect lists all events.');
}

/** Files of journal, lock and watermark, which are copied in another way or not at all. */
const JOURNAL_FILES = /^(journal|lock)\.db|^holdfast\.pid|^head\.witness|\.tmp$/;

/** The names of the other files, keys and tokens, which a copy of the folder must have too. */
export function keptFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !JOURNAL_FILES.test(entry.name))
    .map(({ name }) => name);
}
