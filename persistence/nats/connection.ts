/**
 * The connection of a node to the NATS servers: it is opened with the node's credentials, reconnects by itself, and
 * refuses a server that is too old.
 *
 * 1. A server that is older than VERSION_MIN is refused: 2.9 breaks expectations and cannot fsync before it answers,
 *    2.10.20 to 22 can lose a stream. All servers that can be reached are asked at the start; each that it connects to
 *    later is checked again.
 * 2. A server that does not answer for a few seconds is left for another one.
 * 3. What was sent over a connection that is lost has no answer: `onConnection` says so at once, so that nobody waits
 *    for a time limit.
 */

import { readFileSync } from 'node:fs';
import { JetStreamApiError, type JetStreamManager, type MsgRequest, type StoredMsg } from '@nats-io/jetstream';
import { connect, credsAuthenticator, errors, type NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '../faults.ts';
import { LogUnreachable } from '../shard-log.ts';
import { stopwatchMs } from '../stopwatch.ts';
import { machineTiming, pauseFor } from './timing.ts';

export interface ServerAccess {
  /** Addresses such as nats://host:port; tls://host:port insists on TLS. */
  readonly servers: readonly string[];
  readonly credsPath?: string | null;
  readonly user?: string | null;
  readonly password?: string | null;
  readonly token?: string | null;
  readonly caPath?: string | null;
}

export interface ConnectOptions {
  /** Under which name servers list the connection. */
  readonly name: string;
  /** Gives up, with LogUnreachable. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the reason while no server can be reached. */
  readonly onWaiting?: ((reason: string) => void) | undefined;
}

/** The servers cannot be used as they are; the hint says what an operator can do. Trying again does not help. */
export class ServersRefused extends Error {
  readonly hint: string;
  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ServersRefused';
    this.hint = hint;
  }
}

const VERSION_MIN = [2, 10, 23] as const;
export const NATS_VERSION_MIN = VERSION_MIN.join('.');
/** A definition of a large event is one message. */
const PAYLOAD_BYTES_MIN = 8 * 1024 * 1024;
const RETRY_MS = 500;
const HANDSHAKE_MS_MAX = 2_000;
const PING_EVERY_MS = 1_000;
const PINGS_MAX = 2;

/** Connects, and keeps on trying. Rejects with ServersRefused. */
export async function connectToServers(access: ServerAccess, options: ConnectOptions): Promise<ServerConnection> {
  const { signal, onWaiting } = options;
  for (;;) {
    try {
      // Servers name each other before they refuse a password, and a client that takes in the names tries for ever.
      await (await openConnection(access, options.name, false)).close();
      const nats = await openConnection(access, options.name, true);
      const connection = new ServerConnection(nats);
      try {
        await refuseUnusable(connection, access);
      } catch (error) {
        await connection.close();
        throw error;
      }
      return connection;
    } catch (error) {
      if (error instanceof ServersRefused) throw error;
      if (isRefusal(error)) throw refusedCredentials(error);
      if (signal?.aborted === true) throw new LogUnreachable('no NATS server can be reached', error);
      onWaiting?.(`no NATS server can be reached: ${messageOf(error)}`);
    }
    await pauseFor(machineTiming, RETRY_MS, signal);
  }
}

export class ServerConnection {
  readonly nats: NatsConnection;
  readonly #listeners: ((isConnected: boolean) => void)[] = [];
  /** Rejects the requests that have no answer yet. */
  readonly #waiting = new Set<() => void>();
  #isConnected = true;

  constructor(nats: NatsConnection) {
    this.nats = nats;
    void this.#followStatus();
    void nats.closed().then(() => this.#set(false));
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Called at each loss and return of the connection. Returns the function that ends that. */
  onConnection(listener: (isConnected: boolean) => void): () => void {
    this.#listeners.push(listener);
    return () => void this.#listeners.splice(this.#listeners.indexOf(listener) >>> 0, 1);
  }

  /** The answer to a request, or an error as soon as the connection is lost, because then none comes (rule 3). */
  async untilLost<Answer>(answer: Promise<Answer>): Promise<Answer> {
    if (!this.#isConnected) {
      answer.catch(() => undefined);
      throw new Error('there is no connection to a NATS server');
    }
    return new Promise((resolve, reject) => {
      const lose = (): void => reject(new Error('the connection to the NATS server was lost'));
      this.#waiting.add(lose);
      answer.then(resolve, reject).finally(() => this.#waiting.delete(lose));
    });
  }

  close(): Promise<void> {
    return this.nats.close();
  }

  async #followStatus(): Promise<void> {
    for await (const { type } of this.nats.status()) {
      if (type === 'disconnect') this.#set(false);
      if (type === 'reconnect') this.#checkAgain();
    }
  }

  /** A server that is too old, and joined while this node ran, is left for another one (rule 1). */
  #checkAgain(): void {
    if (whyTooOld(this.nats.info?.version) === null) return this.#set(true);
    setTimeout(() => void this.nats.reconnect(), RETRY_MS);
  }

  #set(isConnected: boolean): void {
    if (isConnected === this.#isConnected) return;
    this.#isConnected = isConnected;
    if (!isConnected) for (const lose of [...this.#waiting]) lose();
    for (const listener of [...this.#listeners]) listener(isConnected);
  }
}

/** Connects once; with `isLasting` it finds other servers when this one is lost. */
export function openConnection(access: ServerAccess, name: string, isLasting: boolean): Promise<NatsConnection> {
  const { servers, credsPath, user, password, token, caPath } = access;
  const isEncrypted = caPath || servers.some((server) => server.startsWith('tls://'));
  return connect({
    name,
    servers: [...servers],
    timeout: HANDSHAKE_MS_MAX,
    reconnect: isLasting,
    ignoreClusterUpdates: !isLasting,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    // A server that starts again may refuse for a moment what it accepts later.
    ignoreAuthErrorAbort: true,
    pingInterval: PING_EVERY_MS,
    maxPingOut: PINGS_MAX,
    noAsyncTraces: true,
    ...(isEncrypted ? { tls: caPath ? { caFile: caPath } : {} } : {}),
    ...(credsPath ? { authenticator: credsAuthenticator(() => readFileSync(credsPath)) } : {}),
    ...(user ? { user, pass: password ?? '' } : {}),
    ...(token ? { token } : {}),
  });
}

/** Asks every server that can be reached for its version (rule 1). */
async function refuseUnusable({ nats }: ServerConnection, access: ServerAccess): Promise<void> {
  const { version, server_name: name, max_payload: payload, jetstream } = nats.info!;
  const others = nats.getServers().map((server) => String(server.listen ?? server));
  const versions = await Promise.all(others.map((server) => versionOf(server, access)));
  const old = [version, ...versions].map((each) => whyTooOld(each ?? undefined)).find((reason) => reason !== null);
  if (old) throw new ServersRefused(old, `Update all NATS servers to ${NATS_VERSION_MIN} or later.`);
  if (jetstream !== true) {
    const hint = 'Add "jetstream { sync_interval: always }" to the settings of every NATS server.';
    throw new ServersRefused(`JetStream is off at the NATS server ${name}`, hint);
  }
  if (payload < PAYLOAD_BYTES_MIN) {
    const hint = 'Set "max_payload: 8MB" at every NATS server.';
    throw new ServersRefused(`the NATS server ${name} takes messages of ${payload} bytes only`, hint);
  }
}

/** The version of one server, or null when it cannot be reached now. */
async function versionOf(server: string, access: ServerAccess): Promise<string | null> {
  try {
    const nats = await openConnection({ ...access, servers: [server] }, 'holdfast-version', false);
    const { version } = nats.info!;
    await nats.close();
    return version;
  } catch {
    return null;
  }
}

export function isTooOld(version: string): boolean {
  const parts = version.split(/[.-]/).map(Number);
  const differs = VERSION_MIN.findIndex((least, index) => parts[index] !== least);
  return differs >= 0 && !(parts[differs]! > VERSION_MIN[differs]!);
}

/** Why a version is too old, or null. */
export function whyTooOld(version: string | undefined): string | null {
  if (version === undefined || !isTooOld(version)) return null;
  return `a NATS server has version ${version}, which can lose or repeat changes`;
}

/**
 * Whether a server refused the credentials; the client reports the same for a server that is too busy to check them in
 * time.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof errors.AuthorizationError && !/timeout/i.test(error.message);
}

function refusedCredentials(cause: unknown): ServersRefused {
  const hint = 'Check NATS_USER and NATS_PASSWORD, NATS_TOKEN or NATS_CREDS.';
  return new ServersRefused('the NATS servers refuse the credentials', hint, cause);
}

/** How long the servers have for an answer about a stream. */
export const ANSWER_MS_MAX = 2_000;
const NO_LEADER = 10_008;
const ASK_AGAIN_MS = 50;

/**
 * Questions to the leader of a stream. Whatever is no answer is LogUnreachable.
 *
 * A server that knows no leader refuses in the leader's place, and the first answer counts. A server that was paused
 * does so for some 60 ms after it resumes, although the others have elected a leader. So a question that was refused
 * for that reason is asked again.
 */
export class StreamQuestions {
  readonly #connection: ServerConnection;
  readonly #jsm: JetStreamManager;
  readonly #stream: string;

  constructor(connection: ServerConnection, jsm: JetStreamManager, stream: string) {
    this.#connection = connection;
    this.#jsm = jsm;
    this.#stream = stream;
  }

  /** The numbers of the oldest and the newest message. */
  async ends(): Promise<{ readonly firstSeq: number; readonly lastSeq: number }> {
    const { state } = await this.answered(({ streams }) => streams.info(this.#stream));
    return { firstSeq: state.first_seq, lastSeq: state.last_seq };
  }

  get(query: MsgRequest): Promise<StoredMsg | null> {
    return this.answered(({ streams }) => streams.getMessage(this.#stream, query));
  }

  /** The answer of the servers to something that is asked about the stream, and may be asked twice. */
  async answered<Answer>(ask: (jsm: JetStreamManager) => Promise<Answer>): Promise<Answer> {
    const startMs = stopwatchMs();
    for (;;) {
      try {
        return await this.#connection.untilLost(ask(this.#jsm));
      } catch (error) {
        const isLeaderless = error instanceof JetStreamApiError && error.code === NO_LEADER;
        if (!isLeaderless || stopwatchMs() - startMs >= ANSWER_MS_MAX)
          throw new LogUnreachable(`the stream ${this.#stream} does not answer: ${messageOf(error)}`, error);
      }
      await pauseFor(machineTiming, ASK_AGAIN_MS);
    }
  }
}
