/**
 * The process of a gate: reads its arguments and files, starts, stops on a signal, and ends with an exit code as
 * `serve` does; a token or a folder that is no gate's is 2.
 */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import product from '../../package.json' with { type: 'json' };
import { eventNumberOf } from '#domain/ids.ts';
import type { TlsFiles } from '#http/server/apps.ts';
import { compileAheadSoon } from '#http/protocol/validation.ts';
import { readConfig, type Config } from '#service/config.ts';
import { createJsonLog } from '#service/log.ts';
import { EXIT, leave, leaveForJournal, reasonOf, stopOnSignal } from '#service/serve.ts';
import { GateUnusable, startGate, type Gate } from './gate.ts';
import { createUpstream } from './upstream.ts';

/** As the command line has them; a port is still text. */
interface GateArguments {
  readonly upstream: string;
  readonly tokenFile: string;
  readonly data: string | null;
  readonly host: string | null;
  readonly port: string | null;
  readonly tlsCert: string | null;
  readonly tlsKey: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of `serve` that a gate has too. */
const SHARED_SETTINGS = ['LOG_LEVEL', 'TRUST_PROXY', 'FREE_SPACE_MIN_MB', 'PRUNE_EVERY_HOURS', 'SERVER_TIMING'];
const PORT = '8090';

interface Checked {
  readonly config: Config;
  readonly token: string;
  readonly tls: TlsFiles | null;
}

/** Serves until a signal comes. Ends the process itself. */
export async function serveGate(given: GateArguments, environment: Environment): Promise<void> {
  const checked = checkArguments(given, environment);
  if ('problem' in checked) return leave(EXIT.badSetting, [checked.problem]);
  const { config, token, tls } = checked;
  const log = createJsonLog(config.logLevel);
  const stop = stopOnSignal();
  const upstream = createUpstream({ url: given.upstream, token, version: product.version });
  const onUnusable = (reason: string): void => leave(EXIT.badSetting, [`holdfast gate: ${reason}`]);
  let gate: Gate;
  try {
    gate = await startGate({ config, token, tls, upstream, log, onFatal: leaveForJournal, onUnusable });
  } catch (error) {
    if (error instanceof GateUnusable) return onUnusable(error.message);
    const { code, lines } = reasonOf(error, config);
    return leave(code, lines);
  }
  stop.service = gate;
  gate.link.start();
  if (stop.isUnderWay) return;
  log.info({ gate: gate.url, upstream: given.upstream, data: config.dataDir }, 'ready');
  compileAheadSoon();
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'a defect; the journal has everything that was answered');
    process.exit(EXIT.defect);
  });
}

/** The checked arguments and settings of a gate, or one line about what is wrong with them. */
export function checkArguments(given: GateArguments, environment: Environment): Checked | { readonly problem: string } {
  const shared = Object.fromEntries(SHARED_SETTINGS.map((name) => [name, environment[name]]));
  const reading = readConfig({
    ...shared,
    DATA_DIR: given.data ?? environment['DATA_DIR'],
    HOST: given.host ?? '127.0.0.1',
    PORT: given.port ?? PORT,
  });
  if ('problems' in reading) return problem(reading.problems.join('\n'));
  if (!isAddress(given.upstream)) return problem(`--upstream is ${JSON.stringify(given.upstream)}: ${ADDRESS}`);
  if ((given.tlsCert === null) !== (given.tlsKey === null)) return problem('--tls-cert and --tls-key go together');
  const token = read('--token-file', given.tokenFile);
  if (typeof token !== 'string') return token;
  if (eventNumberOf('gtk', token.trim()) === null) {
    return problem(`--token-file ${given.tokenFile} has no token of a gate (gtk_…) in it`);
  }
  const tls = given.tlsCert === null ? null : readTls(given.tlsCert, given.tlsKey!);
  if (tls !== null && 'problem' in tls) return tls;
  return { config: reading.config, token: token.trim(), tls };
}

const ADDRESS = 'it must be the public http or https address of the service, without user and password';

const problem = (text: string) => ({ problem: `holdfast gate: ${text}` });

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}

function read(option: string, path: string): string | { readonly problem: string } {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return problem(`${option} ${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

function readTls(certPath: string, keyPath: string): TlsFiles | { readonly problem: string } {
  const cert = read('--tls-cert', certPath);
  const key = read('--tls-key', keyPath);
  if (typeof cert !== 'string') return cert;
  if (typeof key !== 'string') return key;
  try {
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    return problem(
      `--tls-cert ${certPath} and --tls-key ${keyPath} are no certificate and its key: ${(error as Error).message}`,
    );
  }
}
