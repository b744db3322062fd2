/**
 * `holdfast cluster check`: whether the NATS servers keep what a sale relies on, before the first node or beside
 * running ones.
 *
 * 1. It appends to the stream of the race guard alone; shards and keys are only looked at.
 * 2. Each finding is good, bad with what to change, or says that it could not be seen. One bad finding makes exit code
 *    1.
 * 3. Where no server can be used, nothing else is asked.
 * 4. Servers that have just been started can place no stream before they have met. The check waits for that, and says
 *    so.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connectToServers, ServersRefused, type ServerConnection } from '#persistence/nats/connection.ts';
import { ClusterServers, guardPlace } from '#persistence/nats/servers/servers.ts';
import { EXPOSED, exposureOf } from '#persistence/nats/servers/exposure.ts';
import { StreamLog } from '#persistence/nats/log/stream-log.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import type { ClusterConfig } from '#service/config.ts';
import { connectInTime } from './status.ts';
import { bad, checkStreams, good, type ClusterFinding } from './streams.ts';
import type { ExitCode } from '../terminal/command.ts';
import { counted } from '../terminal/output.ts';
import type { Output } from '../terminal/output.ts';

const MARKS = { GOOD: 'good  ', BAD: 'BAD   ', UNSEEN: 'unseen' } as const;
const REACH_MS_MAX = 3_000;
const REQUEST_MS_MAX = 5_000;
const MEET_MS_MAX = 30_000;
const MEET_POLL_MS = 500;
const APPEND_TRIES_MAX = 10;
/** The largest good share of a server's room for streams. */
const USED_SHARE_MAX = 0.8;

export async function checkCluster(cluster: ClusterConfig, output: Output): Promise<ExitCode> {
  const findings: ClusterFinding[] = [];
  for await (const finding of look(cluster, output)) {
    findings.push(finding);
    const { name, verdict, detail, change } = finding;
    output.text(
      `${MARKS[verdict]}  ${name.padEnd(10)}  ${detail}`,
      ...(change === null ? [] : [`${' '.repeat(20)}${change}`]),
    );
  }
  const isGood = findings.every(({ verdict }) => verdict !== 'BAD');
  output.json({ ok: isGood, findings });
  const isAllSeen = findings.every(({ verdict }) => verdict !== 'UNSEEN');
  const summary = isAllSeen ? 'Nothing must be changed.' : 'Nothing of what could be seen must be changed.';
  output.text('', isGood ? summary : 'Do not sell before what is BAD is changed.');
  return isGood ? 0 : 1;
}

async function* look(cluster: ClusterConfig, output: Output): AsyncIterable<ClusterFinding> {
  let connection: ServerConnection;
  try {
    connection = await connectInTime(cluster);
  } catch (error) {
    const { message, hint } = error as Error & { readonly hint?: string };
    if (hint === undefined) throw error;
    yield bad('servers', message, hint);
    return;
  }
  try {
    const { servers, guard } = await checkGroup(cluster, connection, output);
    yield servers;
    yield* checkExposure(cluster, connection);
    yield* checkStreams(cluster, connection);
    yield guard;
    yield await checkAppend(cluster, connection);
    yield* checkMonitors(cluster);
  } finally {
    await connection.close();
  }
}

// ── servers ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A finding, and whether it may change when the servers have met. */
interface EarlyFinding {
  readonly finding: ClusterFinding;
  readonly mayChange: boolean;
}

/** The servers, and whether they place and guard a stream, after a bounded time in which they can meet (rule 4). */
async function checkGroup(cluster: ClusterConfig, connection: ServerConnection, output: Output) {
  const begun = stopwatchMs();
  for (;;) {
    const servers = await checkServers(cluster, connection);
    const guard = await checkGuard(cluster, connection);
    const isMeeting = servers.mayChange || (servers.finding.verdict === 'GOOD' && guard.mayChange);
    const waitedMs = stopwatchMs() - begun;
    if (!isMeeting || waitedMs > MEET_MS_MAX) return { servers: servers.finding, guard: guard.finding };
    output.waiting('waiting for the NATS servers to meet', Math.floor(waitedMs / 1_000), MEET_MS_MAX / 1_000);
    await pause(MEET_POLL_MS);
  }
}

/** Every server of NATS_URL, and the others that these name, where they can be reached from here. */
async function checkServers(cluster: ClusterConfig, connection: ServerConnection): Promise<EarlyFinding> {
  const named = new Set(cluster.servers);
  const addresses = addressesOf(cluster, connection);
  const versions = new Map<string, string>();
  const missing: string[] = [];
  await Promise.all(
    addresses.map(async (address) => {
      const server = await reach(cluster, address);
      if (server !== null) versions.set(server.name, server.version);
      else if (named.has(address)) missing.push(address);
    }),
  );
  const detail = [...versions]
    .sort()
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
  if (missing.length > 0) {
    const finding = bad(
      'servers',
      `${missing.join(', ')} cannot be reached; ${detail}`,
      'Start it, or correct NATS_URL.',
    );
    return { finding, mayChange: false };
  }
  if (versions.size < cluster.replicas) {
    const change = `Start ${cluster.replicas} servers, or set CLUSTER_REPLICAS before the first node.`;
    const finding = bad('servers', `${detail}: too few for ${cluster.replicas} replicas`, change);
    // A server alone belongs to no group.
    return { finding, mayChange: connection.nats.info?.cluster !== undefined };
  }
  return { finding: good('servers', detail), mayChange: false };
}

/** Every server of NATS_URL, and the others that these name. */
function addressesOf({ servers }: ClusterConfig, { nats }: ServerConnection): readonly string[] {
  return [...new Set([...servers, ...nats.getServers().map(({ listen }) => `nats://${listen}`)])];
}

async function reach(cluster: ClusterConfig, address: string): Promise<{ name: string; version: string } | null> {
  try {
    const signal = AbortSignal.timeout(REACH_MS_MAX);
    const connection = await connectToServers({ ...cluster, servers: [address] }, { name: 'holdfast-cli', signal });
    const { server_name: name, version } = connection.nats.info!;
    await connection.close();
    return { name, version };
  } catch {
    return null;
  }
}

/** Whether strangers reach the servers, or read what passes to them. */
async function* checkExposure(cluster: ClusterConfig, connection: ServerConnection): AsyncIterable<ClusterFinding> {
  const { seen, withoutCredentials, withoutTls } = await exposureOf(cluster, addressesOf(cluster, connection));
  if (withoutCredentials.length > 0) {
    const change = `Set "authorization" or "accounts" in its settings, and NATS_USER and NATS_PASSWORD, NATS_TOKEN or NATS_CREDS: ${EXPOSED}.`;
    yield bad('access', `${withoutCredentials.join(', ')} asks for no credentials`, change);
  } else yield good('access', `${counted(seen.length, 'server')} asked: none lets anybody in without credentials`);
  if (withoutTls.length > 0) {
    const change = `Set "tls" in its settings and NATS_CA, or have it listen on a loopback address alone: ${EXPOSED}.`;
    yield bad('TLS', `${withoutTls.join(', ')} has an address that is not loopback, and no TLS`, change);
  } else yield good('TLS', 'at every server, or it listens on a loopback address alone');
}

// ── what a sale relies on ────────────────────────────────────────────────────────────────────────────────────────────

async function checkGuard(cluster: ClusterConfig, connection: ServerConnection): Promise<EarlyFinding> {
  try {
    const jsm = await jetstreamManager(connection.nats, { checkAPI: false, timeout: REQUEST_MS_MAX });
    await new ClusterServers(connection, jsm, cluster).guard();
    const detail = 'of two writers with the same expectation one won, 200 times';
    return { finding: good('race guard', detail), mayChange: false };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof ServersRefused) return { finding: bad('race guard', message, error.hint), mayChange: false };
    return { finding: bad('race guard', message, 'Run the check again when the servers answer.'), mayChange: true };
  }
}

async function checkAppend(cluster: ClusterConfig, connection: ServerConnection): Promise<ClusterFinding> {
  try {
    const jsm = await jetstreamManager(connection.nats, { checkAPI: false, timeout: REQUEST_MS_MAX });
    const log = new StreamLog(connection, jsm, guardPlace(cluster.clusterName));
    for (let tried = 0; tried < APPEND_TRIES_MAX; tried += 1) {
      const lastSeq = await log.lastSeq();
      const begun = stopwatchMs();
      const { outcome } = await log.append(Buffer.from(randomUUID()), lastSeq);
      const tookMs = stopwatchMs() - begun;
      if (outcome === 'APPENDED') return good('append', `one message took ${tookMs.toFixed(1)} ms`);
    }
    return bad('append', 'no message was accepted', 'Look at the servers’ logs and disks.');
  } catch (error) {
    return bad('append', (error as Error).message, 'Run the check again when the servers answer.');
  }
}

// ── what only the monitoring shows ───────────────────────────────────────────────────────────────────────────────────

interface Monitored {
  readonly server_name: string;
  readonly jetstream?: {
    readonly config?: { readonly sync_always?: boolean; readonly max_storage: number };
    readonly stats?: { readonly storage: number };
  };
}

async function* checkMonitors({ monitorUrls, replicas }: ClusterConfig): AsyncIterable<ClusterFinding> {
  if (monitorUrls.length === 0) {
    const change = 'Set NATS_MONITOR_URL to the monitoring addresses of all servers, such as http://a:8222.';
    for (const name of ['fsync', 'space'] as const) {
      yield { name, verdict: 'UNSEEN', detail: 'the servers tell it at their monitoring addresses alone', change };
    }
    return;
  }
  const seen: Monitored[] = [];
  const silent: string[] = [];
  for (const url of monitorUrls) {
    const server = await readMonitor(url);
    if (server === null) silent.push(url);
    else seen.push(server);
  }
  yield fsyncOf(seen, silent, replicas);
  yield spaceOf(seen);
}

async function readMonitor(url: string): Promise<Monitored | null> {
  try {
    const answer = await fetch(`${url}/varz`, { signal: AbortSignal.timeout(REACH_MS_MAX) });
    return answer.ok ? ((await answer.json()) as Monitored) : null;
  } catch {
    return null;
  }
}

function fsyncOf(seen: readonly Monitored[], silent: readonly string[], replicas: number): ClusterFinding {
  const names = seen.map((server) => server.server_name);
  const late = seen.filter(({ jetstream }) => jetstream?.config?.sync_always !== true);
  if (late.length > 0) {
    return bad(
      'fsync',
      `${late.map((server) => server.server_name).join(', ')} acknowledges before fsync: a power failure can lose what was sold`,
      'Set "sync_interval: always" in the block "jetstream" of its settings, and start it again.',
    );
  }
  if (silent.length > 0) {
    return bad(
      'fsync',
      `${silent.join(', ')} does not answer`,
      'Correct NATS_MONITOR_URL, or set "http" in its settings.',
    );
  }
  if (new Set(names).size < replicas) {
    const change = 'Name the monitoring addresses of all servers in NATS_MONITOR_URL.';
    return { name: 'fsync', verdict: 'UNSEEN', detail: `seen at ${names.join(', ')} alone`, change };
  }
  return good('fsync', `before each acknowledgement at ${names.join(', ')}`);
}

function spaceOf(seen: readonly Monitored[]): ClusterFinding {
  const shares = seen.flatMap(({ server_name: name, jetstream }) => {
    const max = jetstream?.config?.max_storage ?? 0;
    return max > 0 ? [{ name, share: (jetstream?.stats?.storage ?? 0) / max }] : [];
  });
  const detail = shares.map(({ name, share }) => `${name} ${Math.round(100 * share)} %`).join(', ');
  if (shares.length === 0) return { name: 'space', verdict: 'UNSEEN', detail: 'no server told it', change: null };
  if (shares.some(({ share }) => share > USED_SHARE_MAX)) {
    return bad('space', `used of max_file_store: ${detail}`, 'Give it a larger disk and a larger max_file_store.');
  }
  return good('space', `used of max_file_store: ${detail}`);
}
