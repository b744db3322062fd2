/** The settings that commands beside `serve` need: which folder, which running service. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf, readConfig, type Config, type SettingName } from '#src/config.ts';
import { WrongUse, type Call } from './command.ts';

/** The others may be wrong: they are not this command's business. */
const NEEDED: readonly SettingName[] = ['DATA_DIR', 'ADMIN_HOST', 'ADMIN_PORT', 'ADMIN_TOKEN', 'LIVE_EVENTS_MAX'];

/** The settings from the environment, `--data` before DATA_DIR. Throws WrongUse. */
export function readSettings(call: Call): Config {
  const given = Object.fromEntries(NEEDED.map((name) => [name, call.environment[name]]));
  const reading = readConfig({ ...given, DATA_DIR: call.text('data') ?? given['DATA_DIR'] });
  if ('problems' in reading) throw new WrongUse(reading.problems.join('\n'));
  return reading.config;
}

/** The data folder, which must be there. Throws WrongUse. */
export function dataFolder(call: Call): string {
  const { dataDir } = readSettings(call);
  if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new WrongUse(`there is no folder ${dataDir}: name the data folder with --data or DATA_DIR`);
  }
  return dataDir;
}

export interface AdminAccess {
  readonly address: string;
  /** Null when neither the setting nor the folder has one. */
  readonly token: string | null;
}

/** Where the running service's admin API is, and what opens it. */
export function adminAccess(call: Call): AdminAccess {
  const { adminHost, adminPort, adminToken, dataDir } = readSettings(call);
  return { address: addressOf(adminHost, adminPort), token: adminToken ?? keptToken(dataDir) };
}

function keptToken(dataDir: string): string | null {
  const path = join(dataDir, 'admin-token');
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}
