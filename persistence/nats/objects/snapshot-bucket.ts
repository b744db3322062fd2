/**
 * The snapshots of one shard: files under the node's data folder are a cache of objects that every node can read.
 *
 * A snapshot is written by the snapshot thread into the shard's folder, then uploaded. Both have the same bytes, the
 * format of `snapshots.ts`, so that a reader proves them by themselves.
 *
 * 1. A snapshot counts only after its object was read back with the bytes of its file. Only then are older ones
 *    removed; the newest two of each stream stay.
 * 2. Which snapshots count is known from the checkpoint and from own uploads, never from the folder: it may have files
 *    of another cluster. A file is used only when its header is that of a snapshot that counts.
 * 3. A bad object is reported and skipped for the older one. The facts after the older one are still there, because the
 *    log is purged below the older checkpoint only.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../faults.ts';
import { SnapshotFolder, streamName, type Snapshot, type SnapshotHeader } from '../../snapshots.ts';
import { ObjectDamaged, ObjectsUnreachable, type Objects } from '../../objects.ts';

interface SnapshotBucketOptions {
  readonly objects: Objects;
  readonly shard: number;
  /** The node's data folder. */
  readonly dataFolder: string;
  /** The headers of the checkpoint. */
  readonly known: Iterable<SnapshotHeader>;
  /** Called for each bad one that is skipped, a file or an object. */
  readonly onBad?: (place: string, reason: string) => void;
}

const KEPT = 2;
const SEQ_DIGITS = 16;

/** The folder under a node's data folder that has the snapshots of one shard. */
export function shardFolder(dataFolder: string, shard: number): string {
  return join(dataFolder, 'shards', String(shard));
}

export class SnapshotBucket {
  /** Where the snapshot thread writes the shard's snapshots. */
  readonly folder: string;
  readonly #objects: Objects;
  readonly #shard: number;
  readonly #files: SnapshotFolder;
  readonly #onBad: (place: string, reason: string) => void;
  /** Of each stream the newest ones that count, older first. */
  readonly #known = new Map<string, SnapshotHeader[]>();

  private constructor({ objects, shard, dataFolder, known, onBad = () => {} }: SnapshotBucketOptions) {
    this.#objects = objects;
    this.#shard = shard;
    this.#onBad = onBad;
    this.folder = shardFolder(dataFolder, shard);
    this.#files = new SnapshotFolder(this.folder, { onBad });
    for (const header of known) this.#note(header);
  }

  /**
   * Opens the bucket of a shard that was just claimed, and removes files that do not count from its folder (rule 2).
   */
  static async open(options: SnapshotBucketOptions): Promise<SnapshotBucket> {
    const bucket = new SnapshotBucket(options);
    await bucket.#files.keepOnly(bucket.headers());
    return bucket;
  }

  /** The headers of all snapshots that count, for the checkpoint; of each stream older first. */
  *headers(): Iterable<SnapshotHeader> {
    for (const headers of this.#known.values()) yield* headers;
  }

  /** The last fact of a stream's newest snapshot that counts; 0 when it has none. */
  newestSeq(eventId: string): number {
    return this.#known.get(eventId)?.at(-1)?.seq ?? 0;
  }

  /**
   * Uploads the snapshot file of a stream that the snapshot thread wrote, and removes the objects of older ones.
   * Rejects with an Error when it does not count then.
   */
  async upload(eventId: string, seq: number): Promise<SnapshotHeader> {
    this.#files.noteWritten(eventId, seq);
    const file = await this.#files.asOf(eventId, seq);
    if (file === null)
      throw new Error(`the snapshot of ${eventId || 'the service'} as of fact ${seq} is not in the folder`);
    const bytes = await readFile(file.path);
    const name = this.#nameOf(eventId, seq);
    await this.#objects.put(name, bytes);
    const back = await this.#objects.get(name);
    if (back === null || !bytes.equals(back)) throw new ObjectDamaged(name, 'it is not read back as written');
    for (const old of this.#note(file.header)) await this.#objects.delete(this.#nameOf(eventId, old.seq));
    return file.header;
  }

  /** The newest good snapshot of a stream at or before a fact, from the folder or the store; or null. */
  async newest(eventId: string, atMostSeq = Number.MAX_SAFE_INTEGER): Promise<Snapshot | null> {
    for (const header of [...(this.#known.get(eventId) ?? [])].reverse()) {
      if (header.seq > atMostSeq) continue;
      const snapshot = (await this.#fromFolder(header)) ?? (await this.#fromStore(header));
      if (snapshot !== null) return snapshot;
    }
    return null;
  }

  /**
   * Removes the shard's objects that are older than the newest two of their stream: the last uploads of a former owner
   * that no checkpoint lists, and those whose removal failed.
   */
  async sweep(): Promise<void> {
    const begins = new Map(
      Array.from(this.#known, ([eventId, headers]) => [streamName(eventId), headers[0]?.seq ?? 0] as const),
    );
    for (const name of await this.#objects.list(`${this.#shard}/`)) {
      const [, stream = '', seq = ''] = name.split('/');
      if (Number(seq) < (begins.get(stream) ?? 0)) await this.#objects.delete(name);
    }
  }

  async #fromFolder(header: SnapshotHeader): Promise<Snapshot | null> {
    const snapshot = await this.#files.asOf(header.eventId, header.seq);
    return snapshot !== null && snapshot.header.digest === header.digest ? snapshot : null;
  }

  /** Null when it is not there or bad. Rejects with ObjectsUnreachable. */
  async #fromStore(header: SnapshotHeader): Promise<Snapshot | null> {
    const { eventId, seq } = header;
    const name = this.#nameOf(eventId, seq);
    try {
      const bytes = await this.#objects.get(name);
      if (bytes === null) throw new ObjectDamaged(name, 'it is gone');
      return await this.#files.takeIn(header, bytes);
    } catch (error) {
      if (error instanceof ObjectsUnreachable) throw error;
      this.#onBad(name, messageOf(error));
      return null;
    }
  }

  /** Adds a header that counts; returns those that are no longer among the newest of their stream. */
  #note(header: SnapshotHeader): SnapshotHeader[] {
    const known = this.#known.get(header.eventId) ?? [];
    const all = [...known.filter(({ seq }) => seq !== header.seq), header].sort((a, b) => a.seq - b.seq);
    this.#known.set(header.eventId, all.slice(-KEPT));
    return all.slice(0, -KEPT);
  }

  #nameOf(eventId: string, seq: number): string {
    return `${this.#shard}/${streamName(eventId)}/${String(seq).padStart(SEQ_DIGITS, '0')}`;
  }
}
