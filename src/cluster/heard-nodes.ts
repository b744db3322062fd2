/** The nodes of a cluster as somebody hears them who is none of them: by their heartbeats alone, without sending anything. */
import { pauseFor, type Timing } from '#persistence/nats/timing.ts';
import type { Bus } from './bus.ts';
import { heartbeatSubject, readHeartbeat, type Heartbeat } from './membership.ts';

export interface HeardNode {
  readonly name: string;
  readonly isLeaving: boolean;
  /** The epoch by shard. */
  readonly shards: ReadonlyMap<number, number>;
}

/** Listens for a while; a node that lives is heard within `HEARTBEAT_MS`. By name, a leaving one too. */
export async function listenForNodes(
  bus: Pick<Bus, 'subscribe'>,
  time: Pick<Timing, 'after'>,
  cluster: string,
  listenMs: number,
): Promise<readonly HeardNode[]> {
  /** By instance: a name may have an earlier process that has just ended. */
  const newest = new Map<string, Heartbeat>();
  const unsubscribe = bus.subscribe(heartbeatSubject(cluster), ({ data }) => {
    const heartbeat = readHeartbeat(data);
    if (heartbeat !== null && heartbeat.beat >= (newest.get(heartbeat.instance)?.beat ?? 0)) {
      newest.set(heartbeat.instance, heartbeat);
    }
  });
  await pauseFor(time, listenMs);
  unsubscribe();
  return [...newest.values()]
    .map(({ node, leaving, shards }) => ({ name: node, isLeaving: leaving, shards: new Map(shards) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}
