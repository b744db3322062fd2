/**
 * Claims shards and opens them: puts together what a shard needs of the servers, of the node and of the other shards.
 *
 * 1. A shard opens with the newest good checkpoint, the log after it and a claim. Without one it is read from its first
 *    message, which may be in the archive.
 * 2. Answers leave after the hold-off, unless the owner before gave the shard up.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createIdSource } from '#actors/crypto.ts';
import { createSealer } from '#privacy/sealing.ts';
import { startSnapshotter, type Snapshotter } from '#engine/snapshotter.ts';
import { reportTrouble } from '#actors/trouble.ts';
import { SERVICE_STREAM } from '#engine/service-facts.ts';
import { ArchiveBucket } from '#persistence/nats/objects/archive-bucket.ts';
import { Checkpoints, type Checkpoint } from '#persistence/nats/objects/checkpoints.ts';
import { claimShard } from '#persistence/nats/log/claim.ts';
import { wholeLog } from '#persistence/nats/objects/purge.ts';
import { SnapshotBucket } from '#persistence/nats/objects/snapshot-bucket.ts';
import type { SnapshotSummary } from '#engine/deployment.ts';
import type { TimeSource } from '#actors/clock.ts';
import type { KeyStore } from '#persistence/keys.ts';
import type { Sealing } from '#domain/personal.ts';
import type { Objects } from '#persistence/objects.ts';
import type { ShardContent } from '#persistence/nats/log/journal.ts';
import type { ShardLog } from '#persistence/shard-log.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import { AnswerGate, HOLD_OFF_MS } from './answer-gate.ts';
import { OwnedShard } from './owned-shard.ts';
import { INDEX_SHARD, shardOf } from '../directory/placement.ts';
import { ShardSnapshots } from './snapshots.ts';
import { ShardBegins } from './start-content.ts';
import { StatesAhead } from './states-ahead.ts';
import type { Bus } from '../calls/bus.ts';
import type { DefineThere } from '../directory/index-keeper.ts';
import type { EventDirectoryPorts } from '../directory/event-directory.ts';
import type { OpenedShard } from './claims.ts';
import type { ShardRouter } from '../calls/router.ts';

/** What a node needs of the NATS servers. */
interface ClusterServers {
  readonly bus: Bus;
  /** How many shards the cluster has, for ever. */
  readonly shards: number;
  log(shard: number): ShardLog;
  readonly snapshots: Objects;
  readonly checkpoints: Objects;
  readonly archive: Objects;
  /** The keys of personal data, for all shards. */
  readonly keys: KeyStore;
  close(): Promise<void>;
}

export interface ShardOpenerOptions {
  readonly node: string;
  readonly servers: ClusterServers;
  /** For caches alone. */
  readonly dataFolder: string;
  readonly time: Timing;
  readonly clockSource?: TimeSource | (() => number);
  readonly liveEventsMax: number;
  readonly waitingRepliesMax: number;
}

/** What shards need of the node. */
export interface ShardSurroundings {
  readonly router: ShardRouter;
  readonly noteChanged: (eventId: string) => void;
  readonly snapshotAll: (options: { readonly prune: boolean }) => Promise<SnapshotSummary>;
}

/**
 * A node owns some of all shards; a node that owns all of them keeps a few times as many events in memory as
 * configured.
 */
const SHARE_FACTOR = 4;
const LIVE_EVENTS_MIN = 16;

export class ShardOpener {
  readonly #options: ShardOpenerOptions;
  readonly #surroundings: ShardSurroundings;
  readonly #snapshotter: Snapshotter;
  readonly #ids = createIdSource();
  readonly #sealingOf: (eventId: string) => Sealing;
  readonly #stopping = new AbortController();
  readonly #begins: ShardBegins;
  /** How many events of a shard stay in memory. */
  readonly #liveEventsMax: number;

  constructor(options: ShardOpenerOptions, surroundings: ShardSurroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
    this.#sealingOf = createSealer(options.servers.keys);
    const { node, time, servers, liveEventsMax } = options;
    this.#liveEventsMax = Math.max(LIVE_EVENTS_MIN, Math.ceil((liveEventsMax * SHARE_FACTOR) / servers.shards));
    this.#begins = new ShardBegins({
      node,
      time,
      checkpoints: (shard) => this.#checkpoints(shard),
      log: (shard, known) => this.#log(shard, known),
      states: async (shard, checkpoint) =>
        new StatesAhead({ snapshots: await this.#bucket(shard, checkpoint), time, eventsMax: this.#liveEventsMax }),
    });
    mkdirSync(options.dataFolder, { recursive: true, mode: 0o700 });
    this.#snapshotter = startSnapshotter(options.dataFolder, () => 0);
  }

  /** Reads a shard of another owner, and keeps it until it is claimed. */
  readAhead(shard: number): Promise<void> {
    return this.#begins.readAhead(shard);
  }

  /** Lets go of what was read ahead. */
  forget(shard: number): void {
    this.#begins.forget(shard);
  }

  /** Claims a shard; null when another node was faster. */
  async open(shard: number, hasGivenUp: (epoch: number) => boolean): Promise<OpenedShard | null> {
    const { servers, node, time } = this.#options;
    const { checkpoint, content, states } = await this.#begins.take(shard);
    const claim = await claimShard(this.#log(shard, content), {
      node,
      checkpoint: content,
      timing: time,
      signal: this.#stopping.signal,
    });
    if (claim.outcome === 'LOST') return null;
    const claimedAt = time.stopwatchMs();
    const { journal, recovered, previousEpoch } = claim;
    journal.onStalled((cause) =>
      reportTrouble('cluster', `changes of shard ${shard} wait for the NATS servers`, cause),
    );
    try {
      const bucket = await this.#bucket(shard, checkpoint);
      const owned = await OwnedShard.open({
        ...this.#options,
        ...this.#surroundings,
        shard,
        journal,
        recovered,
        ids: this.#ids,
        keys: servers.keys,
        sealingOf: this.#sealingOf,
        clockSource: this.#options.clockSource,
        liveEventsMax: this.#liveEventsMax,
        isShortOfSpace: () => false,
        gate: new AnswerGate(
          {
            confirm: () => journal.confirmOwnership(),
            stopwatchMs: () => time.stopwatchMs(),
            after: (delayMs, run) => void time.after(delayMs, run),
          },
          hasGivenUp(previousEpoch) ? claimedAt : claimedAt + HOLD_OFF_MS,
        ),
        snapshots: new ShardSnapshots(
          {
            log: servers.log(shard),
            bucket,
            checkpoints: this.#checkpoints(shard),
            archive: new ArchiveBucket(servers.archive, shard),
            snapshotter: this.#snapshotter,
            statesAhead: states,
            checkpointHead: checkpoint?.head ?? null,
          },
          journal,
        ),
        defineThere: this.#defineThere,
      });
      return { owned, previousEpoch };
    } catch (error) {
      journal.abandon();
      throw error;
    }
  }

  /** What a directory of events needs: it reads the shard of the index as its owner would. */
  directoryPorts(): EventDirectoryPorts {
    const { servers, time, dataFolder } = this.#options;
    const onBad = reportBad;
    return {
      log: servers.log(INDEX_SHARD),
      checkpoints: this.#checkpoints(INDEX_SHARD),
      archive: new ArchiveBucket(servers.archive, INDEX_SHARD),
      time,
      readSnapshot: async (header) => {
        const folder = join(dataFolder, 'directory');
        const options = { objects: servers.snapshots, shard: INDEX_SHARD, dataFolder: folder, known: [header], onBad };
        const bucket = await SnapshotBucket.open(options);
        return (await bucket.newest(SERVICE_STREAM))?.pieces ?? null;
      },
    };
  }

  /** Gives up claims without an answer, and ends the snapshot thread. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#snapshotter.stop();
  }

  /** The log after what is known of it; the first messages may be in the archive. */
  #log(shard: number, known: ShardContent | null): ShardLog {
    const { servers } = this.#options;
    const log = servers.log(shard);
    return known === null ? wholeLog(log, new ArchiveBucket(servers.archive, shard)) : log;
  }

  #checkpoints(shard: number): Checkpoints {
    return new Checkpoints(this.#options.servers.checkpoints, shard, { onBad: reportBad });
  }

  #bucket(shard: number, checkpoint: Checkpoint | null): Promise<SnapshotBucket> {
    const { servers, dataFolder } = this.#options;
    const known = checkpoint?.snapshots ?? [];
    return SnapshotBucket.open({ objects: servers.snapshots, shard, dataFolder, known, onBad: reportBad });
  }

  readonly #defineThere: DefineThere = async (command, commandId, entry) => {
    const { eventId } = entry;
    const shard = shardOf(eventId, this.#options.servers.shards);
    return this.#surroundings.router.call(shard, { kind: 'command', commandId, eventId, command, entry });
  };
}

function reportBad(place: string, reason: string): void {
  reportTrouble('snapshot', `${place} is skipped for an older one: ${reason}`);
}
