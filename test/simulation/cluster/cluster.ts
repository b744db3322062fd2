/** What a run and its faults need of the nodes of a simulated cluster. */
import type { Front } from './caller.ts';
import type { SimulatedProcess } from './scheduler.ts';

export interface Cluster {
  start(): void;
  /** The nodes that a client can connect to. */
  fronts(): readonly Front[];
  /** One process a node, the newest one; it may have ended. */
  processes(): readonly SimulatedProcess[];
  /** Starts a node again whose process has ended. */
  restart(index: number): void;
  /** Has an owner take a checkpoint of a shard. */
  checkpoint(shard: number): void;
  /** Has an owner give up a shard, or all of its shards, in order. */
  leave(): void;
}
