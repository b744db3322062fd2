/** The stores of named objects that the nodes of a cluster share. */

import type { NatsConnection } from '@nats-io/transport-node';
import { ObjectBucket } from '../objects/objects.ts';
import type { Objects } from '../../objects.ts';
import { stopwatchMs } from '../../stopwatch.ts';
import { machineTiming, pauseFor } from '../timing.ts';

export interface ClusterBuckets {
  /** For `SnapshotBucket`. */
  readonly snapshots: Objects;
  /** For `Checkpoints`. */
  readonly checkpoints: Objects;
  /** For `ArchiveBucket`. */
  readonly archive: Objects;
}

const KINDS = ['SNAPSHOTS', 'CHECKPOINTS', 'ARCHIVE'] as const;

/** The streams of the stores of a cluster, as NATS calls them. */
export function bucketStreams(clusterName: string): readonly string[] {
  return KINDS.map((kind) => `OBJ_${clusterName}_${kind}`);
}

/** Servers that elect a leader are back by then. */
const OPENING_MS_MAX = 10_000;
const PAUSE_MS = 500;

/**
 * Opens the stores of a cluster and creates those that are missing; several nodes may do so at once. Rejects with
 * ObjectsUnreachable.
 */
export async function openBuckets(
  connection: NatsConnection,
  { clusterName, replicas }: { readonly clusterName: string; readonly replicas: number },
): Promise<ClusterBuckets> {
  const open = async (kind: (typeof KINDS)[number]): Promise<Objects> => {
    for (const begin = stopwatchMs(); ;) {
      try {
        return await ObjectBucket.open(connection, { name: `${clusterName}_${kind}`, replicas });
      } catch (error) {
        if (stopwatchMs() - begin > OPENING_MS_MAX || connection.isClosed()) throw error;
      }
      await pauseFor(machineTiming, PAUSE_MS);
    }
  };
  return {
    snapshots: await open('SNAPSHOTS'),
    checkpoints: await open('CHECKPOINTS'),
    archive: await open('ARCHIVE'),
  };
}
