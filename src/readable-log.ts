import { pino, type Logger } from 'pino';
import { withoutSecretIds } from '#actors/shown-facts.ts';
import type { Config } from './config.ts';

interface Entry extends Readonly<Record<string, unknown>> {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  readonly err?: { readonly stack?: string; readonly message?: string };
}

/** No line of a log has the id of a hold, of a queue entry or of a checkout session, whatever an error's message says. */
const hooks = { streamWrite: withoutSecretIds };

/** A log for programs: JSON lines, on stdout where no other place is given. */
export function createJsonLog(level: Config['logLevel'], print?: (text: string) => void): Logger {
  const options = { level, base: null, hooks };
  return print === undefined ? pino(options) : pino(options, { write: print });
}

/** A log for people at a terminal: a line an entry, with the time, the level where it matters, and the details behind. */
export function createReadableLog(level: Config['logLevel'], print: (text: string) => void): Logger {
  return pino({ level, base: null, hooks }, { write: (line: string) => print(readable(JSON.parse(line) as Entry)) });
}

function readable({ level, time, msg = '', err, ...details }: Entry): string {
  const clock = new Date(time).toTimeString().slice(0, 8);
  const name =
    level === pino.levels.values['info'] ? '' : `${(pino.levels.labels[level] ?? String(level)).toUpperCase()} `;
  const behind = Object.entries(details).map(([detail, value]) => ` ${detail}=${printed(value)}`);
  const stack = err === undefined ? '' : `\n${err.stack ?? err.message ?? ''}`;
  return `${clock} ${name}${msg}${behind.join('')}${stack}\n`;
}

function printed(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
