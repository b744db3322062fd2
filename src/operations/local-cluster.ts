/**
 * Three NATS servers and three nodes as processes of this machine, in a folder that is removed at the end.
 *
 * 1. Each process is in a group of its own: a Ctrl-C at the terminal reaches this process alone, which then ends nodes
 *    before servers.
 * 2. Nothing is started again unless somebody asks for it.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { samplesFolder } from '#catalogue/files.ts';
import { SECRETS } from '#service/secrets.ts';
import { freePorts } from './free-ports.ts';
import { CannotStart, LocalProcess, type ProcessOptions } from './local-process.ts';
import { natsServers, startGroup, type Login } from './nats-servers.ts';

/** Fewer than a shop has: each is a stream on every server, and all of them share one disk here. */
const SHARDS = 16;
const SERVERS = ['nats-1', 'nats-2', 'nats-3'] as const;
const SERVER_PORTS = [4_222, 8_222, 6_222, 4_223, 8_223, 6_223, 4_224, 8_224, 6_224] as const;
const NODES = ['node-1', 'node-2', 'node-3'] as const;
const NODE_PORTS = [8_080, 8_081, 8_082, 8_083, 8_084, 8_085] as const;

export interface LocalCluster {
  readonly processes: readonly LocalProcess[];
  readonly adminToken: string;
  /** What NATS servers ask for. */
  readonly login: Login;
  /** Calls the function whenever a process has ended before it was asked to. */
  onEnd(listener: (ended: LocalProcess, how: string) => void): void;
  /** Ends nodes, then servers, and removes the folder. */
  close(): Promise<void>;
}

/**
 * Starts all of it and waits until every node is ready. Null when `stopped` resolved before. Throws CannotStart;
 * nothing is left running then.
 */
export async function startLocalCluster(
  program: string,
  environment: Readonly<Record<string, string>>,
  stopped: Promise<void>,
): Promise<LocalCluster | null> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-cluster-'));
  const adminToken = SECRETS.token.make();
  // A password that begins with a digit could be read as a number.
  const login = { user: 'holdfast', password: `n${randomBytes(24).toString('hex')}` };
  const listeners: ((ended: LocalProcess, how: string) => void)[] = [];
  const children: LocalProcess[] = [];
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  const add = (options: ProcessOptions): LocalProcess => {
    const child = new LocalProcess(options, (ended, how) => {
      // The others would wait for it.
      lost.reject(new CannotStart(`${ended.name} ended (${how}) while the others were starting:\n${ended.tail()}`));
      listeners.forEach((listener) => listener(ended, how));
    });
    children.push(child);
    return child;
  };
  const close = async (): Promise<void> => {
    for (const kind of ['node', 'server'] as const) {
      await Promise.all(children.filter((child) => child.kind === kind).map((child) => child.end()));
    }
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', () => children.forEach((child) => void child.kill()));
  let isStarting = true;
  let isStopped = false;
  void stopped.then(() => {
    isStopped = true;
    if (isStarting) children.forEach((child) => void child.end());
  });
  try {
    const ports = await freePorts(SERVER_PORTS.length + NODE_PORTS.length, [...SERVER_PORTS, ...NODE_PORTS]);
    const servers = natsServers({ program, folder, names: SERVERS, ports, login, isOwnGroup: true }).map(add);
    await Promise.race([startGroup(servers, folder), lost.promise]);
    if (isStopped) return await close().then(() => null);
    const settings = {
      ...environment,
      NATS_URL: servers.map(({ url }) => url).join(','),
      NATS_USER: login.user,
      NATS_PASSWORD: login.password,
      NATS_MONITOR_URL: servers.map(({ operatorsUrl }) => operatorsUrl).join(','),
      CATALOG: samplesFolder,
      CLUSTER_SHARDS: String(SHARDS),
      ADMIN_TOKEN: adminToken,
      TICKET_KEY: SECRETS.ticketKey.make(),
      WEBHOOK_SECRET_A: SECRETS.webhook.make(),
      WEBHOOK_SECRET_B: SECRETS.webhook.make(),
    };
    const nodes = nodesIn(folder, settings, ports.slice(SERVER_PORTS.length)).map(add);
    await Promise.race([Promise.all(nodes.map((node) => node.start())), lost.promise]);
    if (isStopped) return await close().then(() => null);
  } catch (error) {
    await close();
    throw error;
  } finally {
    isStarting = false;
  }
  return { processes: children, adminToken, login, onEnd: (listener) => void listeners.push(listener), close };
}

function nodesIn(
  folder: string,
  settings: Readonly<Record<string, string>>,
  ports: readonly number[],
): readonly ProcessOptions[] {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url));
  return NODES.map((name, n) => {
    const [publicPort, adminPort] = ports.slice(2 * n);
    const url = `http://127.0.0.1:${publicPort}`;
    return {
      name,
      kind: 'node',
      program: process.execPath,
      args: [main],
      environment: {
        ...settings,
        NODE_NAME: name,
        DATA_DIR: join(folder, name),
        PORT: String(publicPort),
        ADMIN_PORT: String(adminPort),
      },
      url,
      operatorsUrl: `http://127.0.0.1:${adminPort}`,
      readyUrl: `${url}/health/ready`,
      logFile: join(folder, `${name}.log`),
      isOwnGroup: true,
    };
  });
}
