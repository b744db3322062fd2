/**
 * Holds of one hot event at the node that owns it and at another one that forwards them, with one server and with
 * three, beside SQLite in the same run.
 *
 * 1. The processor time of a hold is told for each process that takes part: the owner, the front that forwards, the
 *    NATS servers.
 * 2. Two cores are shared by all of them and by the load generator, so rates cannot show what more machines reach. What
 *    one event could reach with more cores is computed from the owner's processor time, and is said to be computed.
 */
import { openBenchCluster, withoutNats, type BenchCluster, type BenchNode } from '../cluster.ts';
import { hotEvent } from '../events.ts';
import { auditFolder } from '../http/audit.ts';
import {
  alternateRuns,
  answeredOf,
  figuresOfRuns,
  latencyOf,
  rateOf,
  ratioOf,
  type TargetRuns,
} from '../http/alternating-runs.ts';
import { cpuOf } from '../http/load-generator.ts';
import { ADMIN_TOKEN, defineEvents, startHoldfast, type MeasuredServer } from '../http/server.ts';
import { figureOf, type Figure, type Findings, type Scenario, type Settings } from '../scenario.ts';

const CONNECTIONS = 64;
const TRAFFIC = { recipe: 'hot-hold' } as const;

/** Microseconds of the processes behind the one that is measured, one entry a run. */
interface Behind {
  readonly ownerMicros: number[];
  readonly serversMicros: number[];
}

interface Observed {
  readonly name: string;
  readonly server: MeasuredServer;
  readonly isForwarded: boolean;
  readonly cluster: BenchCluster;
  readonly behind: Behind;
}

export const clusterHolds: Scenario = {
  name: 'cluster-holds',
  about: 'holds of one hot event at its owner and at another node, with one NATS server and with three, beside SQLite',
  async run(settings) {
    if (withoutNats !== null) return withoutNats;
    const sqlite = await startHoldfast([hotEvent]);
    const clusters: BenchCluster[] = [];
    try {
      const observed: Observed[] = [];
      for (const servers of [1, 3] as const) {
        settings.report(`${servers} server(s) and two nodes`);
        const cluster = await openBenchCluster({ servers, nodes: 2 });
        clusters.push(cluster);
        await defineEvents(cluster.nodes[0]!, [hotEvent]);
        const { owner, front } = await cluster.rolesOf(hotEvent.id);
        observed.push(
          observe(`R${servers}, at the owner`, cluster, owner, owner),
          observe(`R${servers}, forwarded`, cluster, front, owner),
        );
      }
      return await measure(sqlite, observed, settings);
    } finally {
      await Promise.all(clusters.map((cluster) => cluster.close()));
      await sqlite.stop();
      sqlite.removeFolder();
    }
  },
};

async function measure(
  sqlite: MeasuredServer & { readonly folder: string },
  observed: readonly Observed[],
  settings: Settings,
): Promise<Findings> {
  const load = { traffic: TRAFFIC, connections: CONNECTIONS, status: 201 };
  const targets = [{ name: 'SQLite', server: sqlite }, ...observed].map(({ name, server }) => ({
    name,
    server,
    ...load,
  }));
  const [alone, ...clustered] = await alternateRuns(targets, settings);
  await sqlite.stop();
  const figures = clustered.flatMap((runs, i): Figure[] => {
    const { name, isForwarded, behind } = observed[i]!;
    // The first run of each warms up.
    const each = (micros: readonly number[]): number[] =>
      runs.runs.map(({ load: { requests } }, round) => micros[round + 1]! / requests);
    return [
      ratioOf(`${name} ÷ SQLite`, runs, alone!, rateOf),
      ...figuresOfRuns(runs),
      ...(isForwarded ? [figureOf(`${name}: processor time at the owner`, 'µs', each(behind.ownerMicros))] : []),
      figureOf(`${name}: processor time at all servers`, 'µs', each(behind.serversMicros)),
      ...(isForwarded ? computed(name, runs.runs.map(cpuOf), each(behind.ownerMicros)) : []),
    ];
  });
  return {
    figures: [
      ...figuresOfRuns(alone!),
      ...figures,
      ...(await auditClusters(observed, clustered)),
      ...(await auditFolder(sqlite.folder, answeredOf(alone!))),
    ],
    latencies: [alone!, ...clustered].map(latencyOf),
    notes: [
      'what is called computed was not measured: it supposes a core for the owner alone, and enough of them for the rest',
    ],
  };
}

/** Each node of a cluster says that as many tickets are held as its nodes answered. */
async function auditClusters(observed: readonly Observed[], runs: readonly TargetRuns[]): Promise<Figure[]> {
  let missing = 0;
  for (const cluster of new Set(observed.map((each) => each.cluster))) {
    const answered = runs
      .filter((_, i) => observed[i]!.cluster === cluster)
      .reduce((sum, each) => sum + answeredOf(each), 0);
    for (const { adminUrl } of cluster.nodes) {
      const answer = await fetch(`${adminUrl}/admin/events/${hotEvent.id}`, {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      const { performances } = (await answer.json()) as { readonly performances: readonly { readonly held: number }[] };
      missing += Math.max(0, answered - performances[0]!.held);
    }
  }
  return [{ name: 'audit: answered and not held at a node', value: missing, unit: '', budget: { atMost: 0 } }];
}

/** What one hot event could reach if its owner had a core of its own, and how many cores of fronts would feed it. */
function computed(name: string, frontMicros: readonly number[], ownerMicros: readonly number[]): Figure[] {
  return [
    figureOf(
      `${name}: computed holds of one event, 1 s ÷ processor time at the owner`,
      'per s',
      ownerMicros.map((micros) => 1e6 / micros),
    ),
    figureOf(
      `${name}: computed cores of fronts for that, front ÷ owner`,
      'cores',
      frontMicros.map((micros, round) => micros / ownerMicros[round]!),
    ),
  ];
}

/** Measures a node, and what the owner and the servers behind it use meanwhile. */
function observe(name: string, cluster: BenchCluster, node: BenchNode, owner: BenchNode): Observed {
  const behind: Behind = { ownerMicros: [], serversMicros: [] };
  const isForwarded = node !== owner;
  let begin = 0;
  const server: MeasuredServer = {
    ...node,
    async beginMeter() {
      begin = cluster.serversCpuMicros();
      if (isForwarded) await owner.beginMeter();
      await node.beginMeter();
    },
    async readMeter() {
      const reading = await node.readMeter();
      behind.serversMicros.push(cluster.serversCpuMicros() - begin);
      behind.ownerMicros.push(isForwarded ? (await owner.readMeter()).cpuMicros : reading.cpuMicros);
      return reading;
    },
  };
  return { name, server, isForwarded, cluster, behind };
}
