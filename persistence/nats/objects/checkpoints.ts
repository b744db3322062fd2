/**
 * Checkpoints of a shard: where the chain stands at a message of its log, and everything that an owner needs besides
 * snapshots and the messages after it.
 *
 * 1. Two are kept. The newest good one is used; a bad one is reported and skipped for the older one.
 * 2. A checkpoint counts only after its bytes were read back and proved.
 * 3. The log may be purged up to the older of two good checkpoints only (`purge.ts`), so that one bad object costs
 *    nothing.
 * 4. A checkpoint describes only facts that count. So one that a former owner writes late is older, but true.
 */

import { setImmediate as nextRound } from 'node:timers/promises';
import { messageOf } from '../../faults.ts';
import type { SnapshotHeader } from '../../snapshots.ts';
import { ObjectDamaged, ObjectsUnreachable, type Objects } from '../../objects.ts';
import type { ExecutedCommand } from '../log/records.ts';
import { seal, unseal } from './sealed.ts';
import type { ShardContent } from '../log/journal.ts';
import type { ShardHead } from '../log/head.ts';

/** `rows` are the facts that no snapshot covers. */
export interface Checkpoint extends ShardContent {
  /** The headers of the proved snapshots of each stream, older first. */
  readonly snapshots: readonly SnapshotHeader[];
}

interface CheckpointsOptions {
  /** Called for each bad one that is skipped. */
  readonly onBad?: (name: string, reason: string) => void;
}

const FORMAT = 1;
const KEPT = 2;
/** Digits of a sequence number in a name, so that names sort as numbers. */
const SEQ_DIGITS = 16;
const ROWS_A_SLICE = 1_000;

/** The checkpoints of one shard. */
export class Checkpoints {
  readonly #objects: Objects;
  readonly #shard: number;
  readonly #onBad: (name: string, reason: string) => void;

  constructor(objects: Objects, shard: number, { onBad = () => {} }: CheckpointsOptions = {}) {
    this.#objects = objects;
    this.#shard = shard;
    this.#onBad = onBad;
  }

  /** Writes one, reads it back and proves it, then removes all but the newest two. Rejects with an Error. */
  async write(checkpoint: Checkpoint): Promise<void> {
    const name = this.#nameOf(checkpoint.head.streamSeq);
    const bytes = await seal(linesOf(checkpoint, this.#shard));
    await this.#objects.put(name, bytes);
    const back = await this.#objects.get(name);
    if (back === null || Buffer.compare(back, bytes) !== 0)
      throw new ObjectDamaged(name, 'it is not read back as written');
    for (const old of (await this.#names()).slice(0, -KEPT)) await this.#objects.delete(old);
  }

  /** The newest good one, or null. Rejects with ObjectsUnreachable. */
  async newest(): Promise<Checkpoint | null> {
    return (await this.#good(1))[0] ?? null;
  }

  /** The message up to which the log may be purged (rule 3); 0 when there are no two good checkpoints. */
  async purgeableSeq(): Promise<number> {
    return (await this.#good(KEPT))[KEPT - 1]?.head.streamSeq ?? 0;
  }

  /** The newest good ones, newest first. */
  async #good(countMax: number): Promise<Checkpoint[]> {
    const good: Checkpoint[] = [];
    for (const name of (await this.#names()).reverse()) {
      if (good.length === countMax) break;
      try {
        const bytes = await this.#objects.get(name);
        if (bytes !== null) good.push(await this.#decode(name, bytes));
      } catch (error) {
        if (error instanceof ObjectsUnreachable) throw error;
        this.#onBad(name, messageOf(error));
      }
    }
    return good;
  }

  async #decode(name: string, sealed: Uint8Array): Promise<Checkpoint> {
    const bytes = await unseal(sealed);
    if (bytes === null) throw new ObjectDamaged(name, 'it fails its digest');
    const checkpoint = await parse(bytes, this.#shard);
    if (this.#nameOf(checkpoint.head.streamSeq) !== name) throw new ObjectDamaged(name, 'it is another one');
    return checkpoint;
  }

  async #names(): Promise<string[]> {
    return [...(await this.#objects.list(`${this.#shard}/`))];
  }

  #nameOf(streamSeq: number): string {
    return `${this.#shard}/${String(streamSeq).padStart(SEQ_DIGITS, '0')}`;
  }
}

interface FirstLine {
  readonly format: number;
  readonly shard: number;
  readonly head: Omit<ShardHead, 'heads'>;
  readonly heads: number;
  readonly snapshots: number;
  readonly executed: number;
  readonly rows: number;
}

function* linesOf({ head, rows, executed, snapshots }: Checkpoint, shard: number): Generator<string> {
  const { heads, ...rest } = head;
  const first: FirstLine = {
    format: FORMAT,
    shard,
    head: rest,
    heads: heads.size,
    snapshots: snapshots.length,
    executed: executed.length,
    rows: rows.length,
  };
  const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
  yield line(first);
  for (const each of heads) yield line(each);
  for (const each of snapshots) yield line(each);
  for (const each of executed) yield line(each);
  for (const { seq, at, eventId, type, data } of rows) yield line([seq, at, eventId, type, data]);
}

async function parse(bytes: Buffer, shard: number): Promise<Checkpoint> {
  let place = 0;
  let lines = 0;
  const next = async <Value>(): Promise<Value> => {
    const end = bytes.indexOf('\n', place);
    if (end < 0) throw new Error('it ends too early');
    const value = JSON.parse(bytes.toString('utf8', place, end)) as Value;
    place = end + 1;
    lines += 1;
    if (lines % ROWS_A_SLICE === 0) await nextRound();
    return value;
  };
  const list = async <Value>(count: number): Promise<Value[]> => {
    const values: Value[] = [];
    while (values.length < count) values.push(await next<Value>());
    return values;
  };
  const first = await next<FirstLine>();
  if (first.format !== FORMAT) throw new Error(`it has format ${first.format}; this version reads format ${FORMAT}`);
  if (first.shard !== shard) throw new Error(`it is of shard ${first.shard}`);
  const heads = new Map(await list<[string, number]>(first.heads));
  const snapshots = await list<SnapshotHeader>(first.snapshots);
  const executed = await list<ExecutedCommand>(first.executed);
  const rows = (await list<[number, number, string, string, string]>(first.rows)).map(
    ([seq, at, eventId, type, data]) => ({ seq, at, eventId, type, data }),
  );
  return { head: { ...first.head, heads }, rows, executed, snapshots };
}
