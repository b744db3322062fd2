import { subscribe } from 'node:diagnostics_channel';
import { pino, type Logger } from 'pino';
import type { TroubleMessage } from '#actors/trouble.ts';
import { withoutSecretIds } from '#engine/shown-facts.ts';
import { MASK } from '#privacy/shown-fields.ts';
import type { Config } from './config.ts';

interface Entry extends Readonly<Record<string, unknown>> {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  readonly err?: { readonly stack?: string; readonly message?: string };
}

/** What looks like an e-mail address: a provider may quote one in an error. */
const ADDRESS = /[^\s"'<>()[\]{},;:\\/@=]{1,64}@[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)+/gu;

/**
 * Replaces in every line ids that grant access (of holds, queue entries and checkout sessions), and e-mail addresses.
 */
const hooks = { streamWrite: (line: string) => withoutSecretIds(line).replace(ADDRESS, MASK) };

/** A log for programs: JSON lines, on stdout unless `print` is given. */
export function createJsonLog(level: Config['logLevel'], print?: (text: string) => void): Logger {
  const options = { level, base: null, hooks };
  return print === undefined ? pino(options) : pino(options, { write: print });
}

/** A log for people at a terminal: time, level unless it is info, message and details on one line. */
export function createReadableLog(level: Config['logLevel'], print: (text: string) => void): Logger {
  return pino({ level, base: null, hooks }, { write: (line: string) => print(readable(JSON.parse(line) as Entry)) });
}

function readable({ level, time, msg = '', err, ...details }: Entry): string {
  const clock = new Date(time).toTimeString().slice(0, 8);
  const name =
    level === pino.levels.values['info'] ? '' : `${(pino.levels.labels[level] ?? String(level)).toUpperCase()} `;
  const shown = Object.entries(details).map(([detail, value]) => ` ${detail}=${formatDetail(value)}`);
  const stack = err === undefined ? '' : `\n${err.stack ?? err.message ?? ''}`;
  return `${clock} ${name}${msg}${shown.join('')}${stack}\n`;
}

function formatDetail(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

let troublesAreLogged = false;

/** Writes reported trouble to the log; subscribes once a process. */
export function logTroubles(log: Logger): void {
  if (troublesAreLogged) return;
  troublesAreLogged = true;
  subscribe('holdfast:trouble', (message) => {
    const { where, message: text, error } = message as TroubleMessage;
    log.error({ where, err: error ?? undefined }, text);
  });
}
