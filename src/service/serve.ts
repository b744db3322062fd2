/**
 * The serving process: reads the settings, starts the service, stops it on a signal, and ends with an exit code.
 *
 * Exit codes: 0 after a signal, 1 a defect, 2 a setting, the catalogue, a port or a NATS server cannot be used, 3 the
 * data folder is in use, 4 the journal or the keys could not be written, 5 the journal, the keys or a kept secret is
 * damaged, the journal or the keys are missing, or a later version wrote the folder.
 *
 * 1. Errors go to stderr as plain sentences, each with what can be done about it; stdout has the log, as JSON lines.
 * 2. A second signal changes nothing: npm passes on a Ctrl-C that the terminal has sent already.
 */
import { JournalFault } from '#persistence/journal.ts';
import { KeyStoreFault, KeysUnusable } from '#persistence/keys.ts';
import { FolderInUse, JournalDamaged, JournalTooNew } from '#persistence/faults.ts';
import { UnknownFact } from '#domain/event/replay.ts';
import { withoutSecretIds } from '#engine/shown-facts.ts';
import { compileAheadSoon } from '#http/protocol/validation.ts';
import { keepMemory, makeObjectsYoung } from './v8.ts';
import { listeningHost, readConfig, type Config } from './config.ts';
import { LIMITS } from './limits.ts';
import { createReadableLog } from './log.ts';
import { SecretDamaged } from './secrets.ts';
import { BadCatalogue, startService, type Service, type ServiceOptions } from './service.ts';

export const EXIT = {
  stopped: 0,
  defect: 1,
  badSetting: 2,
  folderInUse: 3,
  journalNotWritable: 4,
  journalDamaged: 5,
} as const;

type ExitCode = (typeof EXIT)[keyof typeof EXIT];

interface ServeOptions {
  /** Load the demo catalogue into an empty journal, and print the addresses on stdout. */
  readonly demo: boolean;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Serves until a signal comes. Ends the process itself. */
export async function serve({ demo, environment = process.env }: ServeOptions): Promise<void> {
  const reading = readConfig(environment);
  if ('problems' in reading) return leave(EXIT.badSetting, reading.problems);
  keepMemory();
  if (reading.config.httpThreads > 1) makeObjectsYoung();
  const stop = stopOnSignal();
  const onListening = (listening: Service): void => void (stop.service = listening);
  const options = { demo, onFatal: leaveForJournal, onListening, ...logFor(demo, reading.config) };
  let service: Service;
  try {
    service = await startService(reading.config, options);
  } catch (error) {
    // A node that is stopped while it waits or loads ends its start: the stop says how the process ends.
    if (stop.isUnderWay) return;
    const { code, lines } = reasonOf(error, reading.config);
    return leave(code, lines);
  }
  if (stop.isUnderWay) return;
  const { log, publicUrl, adminUrl, started } = service;
  log.info({ public: publicUrl, admin: adminUrl, ...started }, 'ready');
  compileAheadSoon();
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'a defect; the journal has everything that was answered');
    process.exit(EXIT.defect);
  });
  if (demo) process.stdout.write(invitation(service, reading.config));
}

/** The demo at a terminal logs readable lines; everything else logs JSON. */
function logFor(demo: boolean, { logLevel }: Config): Pick<ServiceOptions, 'log'> {
  if (!demo || !process.stdout.isTTY) return {};
  return { log: createReadableLog(logLevel, (text) => process.stdout.write(text)) };
}

/** What a signal stops: nothing before the service listens. */
interface Stop {
  service: { stop(): Promise<void> } | null;
  isUnderWay: boolean;
}

export function stopOnSignal(): Stop {
  const signalled: Stop = { service: null, isUnderWay: false };
  const stop = async (): Promise<void> => {
    if (signalled.isUnderWay) return;
    signalled.isUnderWay = true;
    setTimeout(() => process.exit(EXIT.stopped), LIMITS.shutdownMsMax);
    try {
      await signalled.service?.stop();
      process.exit(EXIT.stopped);
    } catch (error) {
      if (error instanceof JournalFault) leaveForJournal(error);
      leave(EXIT.defect, [String(error)]);
    }
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
  return signalled;
}

export function leaveForJournal(fault: JournalFault): void {
  leave(EXIT.journalNotWritable, [fault.message, fault.hint]);
}

export function leave(code: ExitCode, lines: readonly string[]): void {
  process.stderr.write(withoutSecretIds(`${lines.join('\n')}\n`));
  process.exit(code);
}

/** Why the service did not start. */
export function reasonOf(
  error: unknown,
  config: Config,
): { readonly code: ExitCode; readonly lines: readonly string[] } {
  if (error instanceof BadCatalogue) return { code: EXIT.badSetting, lines: error.message.split('\n') };
  if (error instanceof FolderInUse) return { code: EXIT.folderInUse, lines: [error.message, error.hint] };
  if (error instanceof JournalFault) return { code: EXIT.journalNotWritable, lines: [error.message, error.hint] };
  if (error instanceof JournalDamaged || error instanceof JournalTooNew || error instanceof UnknownFact) {
    return { code: EXIT.journalDamaged, lines: [error.message, error.hint] };
  }
  if (error instanceof KeyStoreFault) return { code: EXIT.journalNotWritable, lines: [error.message, error.hint] };
  if (error instanceof KeysUnusable) return { code: EXIT.journalDamaged, lines: [error.message, error.hint] };
  if (error instanceof SecretDamaged) return { code: EXIT.journalDamaged, lines: [error.message, error.hint] };
  // The class is not loaded on a single machine.
  if (error instanceof Error && error.name === 'ServersRefused') {
    return { code: EXIT.badSetting, lines: [error.message, (error as Error & { readonly hint: string }).hint] };
  }
  const listening = listenerProblem(error, config);
  if (listening !== null) return { code: EXIT.badSetting, lines: [listening] };
  return { code: EXIT.defect, lines: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
}

const LISTEN_TROUBLES: Readonly<Record<string, readonly ['HOST' | 'PORT', string]>> = {
  EADDRINUSE: ['PORT', 'a port that nobody else listens on'],
  EACCES: ['PORT', 'a port that this user may listen on'],
  EADDRNOTAVAIL: ['HOST', 'an address of this machine'],
  ENOTFOUND: ['HOST', 'a host name that resolves'],
  EAI_AGAIN: ['HOST', 'a host name that resolves'],
};

/** The setting because of which a listener cannot open, as a bad setting is reported; null for another error. */
function listenerProblem(error: unknown, config: Config): string | null {
  const {
    code = '',
    port,
    address,
    hostname,
  } = error as NodeJS.ErrnoException & {
    readonly port?: number;
    readonly address?: string;
    readonly hostname?: string;
  };
  const trouble = LISTEN_TROUBLES[code];
  if (trouble === undefined) return null;
  const [setting, allowed] = trouble;
  // The public listener opens first: on one port the other one cannot.
  const isAdmin =
    port === config.adminPort
      ? port !== config.port || address === listeningHost(config.adminHost)
      : (address ?? hostname) === config.adminHost && port === undefined;
  const name = isAdmin ? (`ADMIN_${setting}` as const) : setting;
  const value = setting === 'PORT' ? (port ?? config.port) : (address ?? hostname ?? config.host);
  const isOfPublic = name === 'ADMIN_PORT' && config.port === config.adminPort;
  return `${name} is ${value}: it must be ${isOfPublic ? 'another one than PORT' : allowed}`;
}

/** The addresses of the demo, what its sandbox means, a command that holds two seats, and how to stop. */
function invitation({ publicUrl, adminUrl }: Service, { dataDir, adminToken, sandbox }: Config): string {
  const token = adminToken === null ? `the token is in ${dataDir}/admin-token` : 'the token is ADMIN_TOKEN';
  return [
    '',
    `  Storefront     ${publicUrl}/`,
    `  API reference  ${publicUrl}/docs`,
    `  Console        ${adminUrl}/  (${token})`,
    '',
    ...(sandbox
      ? [
          '  Payments go to a sandbox: whoever opens the shop can pay for nothing, no',
          '  money moves. For real sales set STRIPE_SECRET_KEY, or SANDBOX=off.',
          '',
        ]
      : []),
    `  Everything is kept in ${dataDir}; the next start goes on from there.`,
    '  Ctrl-C stops it.',
    '',
    '  Hold two seats side by side:',
    `  curl -s ${publicUrl}/api/checkout/holds \\`,
    "    -H 'Content-Type: application/json' \\",
    "    -d '{",
    '      "event_id": "evt_erfurt", "session_key": "my-first-session",',
    '      "items": [{',
    '        "ticket_type_id": "kat1", "selling_stage_id": "general",',
    '        "performance_id": "derby", "quantity": 2',
    '      }]',
    "    }'",
    '',
    '',
  ].join('\n');
}
