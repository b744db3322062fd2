#!/usr/bin/env node
/**
 * What `npm run cluster` runs: three NATS servers and three nodes with the demo events, for people who want to see a
 * cluster.
 *
 * Prints the addresses, which node owns which event, and what to kill and watch; then each process that ends and each
 * event that moves.
 *
 * Exit codes: 0 after a signal, 1 when it could not be started, 2 without a NATS server.
 */
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { readCatalogue, samplesFolder } from '#catalogue/files.ts';
import { placeOf, shardOf } from '#cluster/directory/placement.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { startLocalCluster, type LocalCluster } from './local-cluster.ts';
import { CannotStart, type LocalProcess } from './local-process.ts';
import { findNatsServer } from './nats-servers.ts';
import { createReadableLog } from '#service/log.ts';

const LOOK_MS = 100;
const SETTLED_MS_MAX = 20_000;
const NAME_CHARS = 10;

interface DemoEvent {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

interface Owners {
  /** The owner by shard; null for one that nobody owns. */
  readonly owners: readonly (string | null)[];
}

const log = createReadableLog('info', (text) => process.stdout.write(text));

const events: readonly DemoEvent[] = readCatalogue(samplesFolder).definitions;

/** Which node owns each shard, as the first node that answers knows; null when none does. */
async function readOwners({ processes, adminToken }: LocalCluster): Promise<Owners | null> {
  for (const { kind, pid, operatorsUrl } of processes) {
    if (kind !== 'node' || pid === null) continue;
    try {
      const headers = { authorization: `Bearer ${adminToken}` };
      const answer = await fetch(`${operatorsUrl}/admin/cluster`, { headers, signal: AbortSignal.timeout(1_000) });
      const { shards } = (await answer.json()) as { shards: { owner: string | null }[] };
      return { owners: shards.map(({ owner }) => owner) };
    } catch {
      // It ends, starts or is stopped: the next one knows as well.
    }
  }
  return null;
}

/** The same once every event is where it stays: shards move while the nodes hear of each other. */
async function readAllOwners(cluster: LocalCluster): Promise<Owners> {
  const begun = stopwatchMs();
  const nodes = cluster.processes.filter(({ kind }) => kind === 'node').map(({ name }) => name);
  const isInPlace = ({ id }: DemoEvent, { owners }: Owners): boolean => {
    const shard = shardOf(id, owners.length);
    return owners[shard] === placeOf(shard, nodes);
  };
  for (;;) {
    const owners = await readOwners(cluster);
    if (owners !== null && events.every((event) => isInPlace(event, owners))) return owners;
    if (stopwatchMs() - begun > SETTLED_MS_MAX) return owners ?? { owners: [] };
    await pause(LOOK_MS);
  }
}

/** Resolves once every node shows every event: what one node has defined, the others hear a moment later. */
async function shownEverywhere({ processes }: LocalCluster): Promise<void> {
  const begun = stopwatchMs();
  const urls = processes
    .filter(({ kind }) => kind === 'node')
    .flatMap(({ url }) => events.map(({ slug }) => `${url}/api/events/public/${slug}`));
  for (const url of urls) {
    while (stopwatchMs() - begun <= SETTLED_MS_MAX) {
      const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
      await answer?.body?.cancel();
      if (answer?.ok) break;
      await pause(LOOK_MS);
    }
  }
}

function ownerOf({ id }: DemoEvent, { owners }: Owners): string | null {
  return owners[shardOf(id, owners.length)] ?? null;
}

/** The addresses, the owners, and what to do. */
function introduction(cluster: LocalCluster, owners: Owners): string {
  const { processes, adminToken, login } = cluster;
  const nodes = processes.filter(({ kind }) => kind === 'node');
  const servers = processes.filter(({ kind }) => kind === 'server');
  const watched = events[0]!;
  const owner = nodes.find(({ name }) => name === ownerOf(watched, owners)) ?? nodes[0]!;
  const other = nodes.find((node) => node !== owner)!;
  const line = ({ name, url, pid }: LocalProcess, rest = '') =>
    `  ${name.padEnd(NAME_CHARS)}${url}  kill -9 ${pid}${rest}`;
  return [
    '',
    'Three nodes. Any of them answers any request.',
    ...nodes.map((node) => line(node, `  console ${node.operatorsUrl}/#/cluster`)),
    `  The token of the consoles is ${adminToken}`,
    '',
    'Three NATS servers. Two of them suffice.',
    ...servers.map((server) => line(server)),
    `  They ask for NATS_USER=${login.user} NATS_PASSWORD=${login.password}`,
    '',
    'Each event has one owner.',
    ...events.map((event) => {
      const shard = shardOf(event.id, owners.owners.length);
      return `  ${(ownerOf(event, owners) ?? 'nobody').padEnd(NAME_CHARS)}${event.name} (${event.id}, shard ${shard})`;
    }),
    '',
    `Watch ${watched.name} through ${other.name}, and meanwhile kill its owner ${owner.name}: kill -9 ${owner.pid}`,
    `  while sleep 0.2; do curl -s -o /dev/null -w '%{http_code} %{time_total} s\\n' \\`,
    `    '${other.url}/api/events/public/${watched.slug}?session_key=somebody-watching'; done`,
    '',
    'What has ended stays ended. Type its name, such as node-1, and press Enter to start it again. Ctrl-C ends everything.',
    '',
    '',
  ].join('\n');
}

/** Reports each event that moves to another node, and how long after the end of its owner. */
function reportMoves(cluster: LocalCluster, first: Owners): { stop(): void } {
  const known = new Map(events.map((event) => [event.id, ownerOf(event, first)]));
  const endedAt = new Map<string, number>();
  let isLooking = false;
  cluster.onEnd(({ name }, how) => {
    endedAt.set(name, stopwatchMs());
    log.info(`${name} has ended (${how})`);
  });
  const look = async (): Promise<void> => {
    const owners = await readOwners(cluster);
    for (const event of owners === null ? [] : events) {
      const [before, now] = [known.get(event.id), ownerOf(event, owners!)];
      if (now === null || now === before) continue;
      known.set(event.id, now);
      const hasEnded = cluster.processes.some(({ name, pid }) => name === before && pid === null);
      const afterMs = hasEnded ? stopwatchMs() - (endedAt.get(before!) ?? 0) : null;
      const after = afterMs === null ? '' : `, ${(afterMs / 1000).toFixed(1)} s after its end`;
      log.info(`${event.name} moved from ${before ?? 'nobody'} to ${now}${after}`);
    }
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => (isLooking = false));
  }, LOOK_MS);
  return { stop: () => clearInterval(timer) };
}

/** Starts again what somebody names. */
function startByName({ processes }: LocalCluster): { stop(): void } {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (text) => {
    const named = processes.find(({ name }) => name === text.trim());
    if (named === undefined)
      return log.info(`there is no ${text.trim()}: ${processes.map(({ name }) => name).join(', ')}`);
    if (named.pid !== null) return log.info(`${named.name} runs as process ${named.pid}`);
    log.info(`${named.name} is started`);
    named.start().then(
      () => log.info(`${named.name} is ready as process ${named.pid}`),
      (error: unknown) => log.error({ err: error }, `${named.name} could not be started`),
    );
  });
  return { stop: () => lines.close() };
}

/** What the nodes get of this process's environment: where programs are, and where modules that were compiled lie. */
function passedOn({ PATH = '', NODE_COMPILE_CACHE }: NodeJS.ProcessEnv): Record<string, string> {
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
}

async function run(): Promise<number> {
  const signal = new Promise<void>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => resolve());
  });
  const { program, problem } = findNatsServer(process.env);
  if (program === null) throw new CannotStart(problem, 2);
  log.info('starting three NATS servers, then three nodes');
  const starting = startLocalCluster(program, passedOn(process.env), signal);
  const cluster = await starting;
  if (cluster === null) return 0;
  const owners = await readAllOwners(cluster);
  await shownEverywhere(cluster);
  process.stdout.write(introduction(cluster, owners));
  const parts = [reportMoves(cluster, owners), startByName(cluster)];
  await signal;
  for (const part of parts) part.stop();
  log.info('ending all of it');
  await cluster.close();
  return 0;
}

try {
  process.exitCode = await run();
  process.stdin.unref?.();
} catch (error) {
  if (!(error instanceof CannotStart)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
}
