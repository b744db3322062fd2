/**
 * What happens to nodes and servers in a drill: each kind of fault strikes one of them, or all, and is undone.
 *
 * A fault names the events that it touches: those that the node owns, or those whose stream the server leads.
 */
import { shardOf } from '#cluster/directory/placement.ts';
import type { NatsServer } from '../../fixtures/nats.ts';
import { ownersAt, type NodeProcess } from '../../fixtures/nodes.ts';

export interface DrillCluster {
  readonly nodes: readonly NodeProcess[];
  readonly servers: readonly NatsServer[];
  readonly clusterName: string;
  readonly shards: number;
}

/** A fault that is about to happen. */
export interface Aim {
  /** The nodes that are going to be struck themselves. */
  readonly nodes: readonly NodeProcess[];
  /** The shards that it touches. */
  readonly shards: ReadonlySet<number>;
  /** Lets it happen; resolves with the exit code of a node that was to end by itself, otherwise with 0. */
  strike(): Promise<number | null>;
  /** Resolves when everything is there again. */
  undo(): Promise<unknown>;
}

export interface Fault {
  /** How long it lasts at least before it is undone. */
  readonly lastsMs: number;
  /** Chooses the victim: the next one in turn that has to do with one of the events. */
  aim(cluster: DrillCluster, turn: number, eventIds: readonly string[]): Promise<Aim>;
}

const PAUSE_MS = 5_000;
const LASTS_MS = 1_000;

const nodeFault = (
  lastsMs: number,
  act: (node: NodeProcess) => Promise<number | null | void>,
  undo: (node: NodeProcess) => unknown,
): Fault => ({
  lastsMs,
  async aim(cluster, turn, eventIds) {
    const [node, shards] = await victimOf(cluster, cluster.nodes, turn, eventIds, shardsOfNode);
    return {
      nodes: [node],
      shards,
      strike: async () => {
        const code = await act(node);
        return code === undefined ? 0 : code;
      },
      undo: async () => undo(node),
    };
  },
});

const serverFault = (
  lastsMs: number,
  act: (server: NatsServer) => unknown,
  undo: (server: NatsServer) => unknown,
): Fault => ({
  lastsMs,
  async aim(cluster, turn, eventIds) {
    const [server, shards] = await victimOf(cluster, cluster.servers, turn, eventIds, shardsOfServer);
    return { nodes: [], shards, strike: async () => (await act(server), 0), undo: async () => undo(server) };
  },
});

/** Every kind, in the order in which a drill goes through them. */
export const FAULTS = {
  'node killed': nodeFault(
    LASTS_MS,
    (node) => node.kill(),
    (node) => node.start(),
  ),
  'node ended': nodeFault(
    LASTS_MS,
    (node) => node.end(),
    (node) => node.start(),
  ),
  'node stopped 5 s': nodeFault(
    PAUSE_MS,
    async (node) => node.pause(),
    (node) => node.resume(),
  ),
  'server killed': serverFault(
    LASTS_MS,
    (server) => server.kill(),
    (server) => server.start(),
  ),
  'server ended': serverFault(
    LASTS_MS,
    (server) => server.end(),
    (server) => server.start(),
  ),
  'server stopped 5 s': serverFault(
    PAUSE_MS,
    (server) => server.pause(),
    (server) => server.resume(),
  ),
  'everything killed': {
    lastsMs: 0,
    async aim({ nodes, servers, shards }) {
      return {
        nodes,
        shards: new Set(Array.from({ length: shards }, (_, shard) => shard)),
        async strike() {
          await Promise.all([...nodes, ...servers].map((each) => each.kill()));
          // Nothing answers before it is started again, so that is a part of the fault.
          await Promise.all(servers.map((server) => server.start()));
          await Promise.all(nodes.map((node) => node.start()));
          return 0;
        },
        undo: async () => {},
      };
    },
  },
} satisfies Record<string, Fault>;

export type FaultKind = keyof typeof FAULTS;

/** Whether a fault touches an event. */
export function touches({ shards }: Pick<Aim, 'shards'>, eventId: string, cluster: DrillCluster): boolean {
  return shards.has(shardOf(eventId, cluster.shards));
}

/** The next one in turn whose shards have events, with its shards; where none has any, the next one. */
async function victimOf<Each>(
  cluster: DrillCluster,
  all: readonly Each[],
  turn: number,
  eventIds: readonly string[],
  shardsOf: (cluster: DrillCluster, each: Each) => Promise<ReadonlySet<number>>,
): Promise<readonly [Each, ReadonlySet<number>]> {
  const inTurn = all.map((_, n) => all[(turn + n) % all.length]!);
  for (const each of inTurn) {
    const shards = await shardsOf(cluster, each);
    if (eventIds.some((eventId) => touches({ shards }, eventId, cluster))) return [each, shards];
  }
  return [inTurn[0]!, new Set()];
}

async function shardsOfNode({ nodes }: DrillCluster, node: NodeProcess): Promise<ReadonlySet<number>> {
  const others = nodes.filter((each) => each !== node && each.isRunning);
  const owners = await ownersAt(others[0] ?? node);
  return new Set(owners.filter(({ owner }) => owner === node.name).map(({ shard }) => shard));
}

interface StreamsReport {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly { readonly name: string; readonly cluster?: { readonly leader?: string } }[];
  }[];
}

/** The shards whose stream a server leads. */
async function shardsOfServer({ clusterName }: DrillCluster, server: NatsServer): Promise<ReadonlySet<number>> {
  const prefix = `${clusterName}_J_`;
  const led = (await streamsLedBy(server)).filter((name) => name.startsWith(prefix));
  return new Set(led.map((name) => Number(name.slice(prefix.length))));
}

/** The names of the streams that a server leads, by its own monitoring. */
export async function streamsLedBy({ name: server, operatorsUrl }: NatsServer): Promise<readonly string[]> {
  const report = (await (await fetch(`${operatorsUrl}/jsz?streams=true`)).json()) as StreamsReport;
  const streams = (report.account_details ?? []).flatMap((account) => account.stream_detail ?? []);
  return streams.filter(({ cluster }) => cluster?.leader === server).map(({ name }) => name);
}
