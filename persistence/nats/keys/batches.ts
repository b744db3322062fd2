/**
 * How keys lie in messages: the server syncs its disk once a message, so that one message has a batch of keys.
 *
 * 1. The id of a key is `<prefix>.<number in base 36>`. Which batch it lies in, and where, follows from the number.
 * 2. A batch names itself, so that a message in the wrong place is found out.
 * 3. A destroyed key leaves a mark in its place, which tells it from one that is lost.
 * 4. Keys are removed from a batch and never added. Where two versions of a batch differ, only the keys in both count.
 */
import { KEY_BYTES, type Key } from '../../keys.ts';

/** Where a batch lies (rule 1). */
interface BatchPosition {
  readonly prefix: string;
  readonly number: number;
}

/** The content of a message. */
export interface KeyBatch extends BatchPosition {
  /** By place in the batch. */
  readonly keys: ReadonlyMap<number, Buffer>;
  readonly destroyed: ReadonlySet<number>;
}

/** Part of the format: a pool of 2,048 keys is 32 messages. */
export const BATCH_KEYS = 64;

const FORMAT = 1;
const MARKS_BYTES = BATCH_KEYS / 8;
/** Format, length of the prefix, and the number of the batch. */
const HEAD_BYTES = 2 + 8;
const ID = /^([A-Za-z0-9_-]{1,64})\.(0|[1-9a-z][0-9a-z]{0,9})$/;

/** A message that no version of this service wrote, or that was changed since. */
class BatchUnreadable extends Error {
  constructor(reason: string) {
    super(`a batch of keys cannot be read: ${reason}`);
    this.name = 'BatchUnreadable';
  }
}

/** Where a key lies; null for an id that no store of keys gives. */
export function placeOfKey(id: string): (BatchPosition & { readonly index: number }) | null {
  const [, prefix, digits] = ID.exec(id) ?? [];
  if (prefix === undefined || digits === undefined) return null;
  const n = Number.parseInt(digits, 36);
  return { prefix, number: Math.floor(n / BATCH_KEYS), index: n % BATCH_KEYS };
}

export function idOf({ prefix, number }: BatchPosition, index: number): string {
  return `${prefix}.${(number * BATCH_KEYS + index).toString(36)}`;
}

/** The topic of a batch's messages. */
export function topicOf({ prefix, number }: BatchPosition): string {
  return `keys.${prefix}.${number}`;
}

/** Ids by batch, each with the places in it; those that no store gives are left out. */
export function groupIds(
  ids: Iterable<string>,
): Map<string, { readonly place: BatchPosition; readonly indexes: Set<number> }> {
  const groups = new Map<string, { readonly place: BatchPosition; readonly indexes: Set<number> }>();
  for (const id of ids) {
    const place = placeOfKey(id);
    if (place === null) continue;
    const { prefix, number, index } = place;
    const topic = topicOf(place);
    const group = groups.get(topic) ?? { place: { prefix, number }, indexes: new Set() };
    group.indexes.add(index);
    groups.set(topic, group);
  }
  return groups;
}

/** The batches of some keys. Throws for an id that no store gives. */
export function batchesOf(keys: Iterable<Key>, destroyedIds: Iterable<string> = []): readonly KeyBatch[] {
  const batches = new Map<string, BatchPosition & { keys: Map<number, Buffer>; destroyed: Set<number> }>();
  const batchOf = (id: string) => {
    const place = placeOfKey(id);
    if (place === null) throw new BatchUnreadable(`${JSON.stringify(id)} is not the id of a key`);
    const { prefix, number, index } = place;
    const topic = topicOf(place);
    const batch = batches.get(topic) ?? { prefix, number, keys: new Map(), destroyed: new Set() };
    batches.set(topic, batch);
    return { batch, index };
  };
  for (const { id, key } of keys) {
    const { batch, index } = batchOf(id);
    batch.keys.set(index, key);
  }
  for (const id of destroyedIds) {
    const { batch, index } = batchOf(id);
    batch.keys.delete(index);
    batch.destroyed.add(index);
  }
  return [...batches.values()];
}

/** A batch without the keys at some places; the same object where nothing changes. */
export function withoutKeys(batch: KeyBatch, indexes: Iterable<number>): KeyBatch {
  const gone = [...indexes].filter((index) => !batch.destroyed.has(index));
  if (gone.length === 0) return batch;
  const keys = new Map(batch.keys);
  for (const index of gone) keys.delete(index);
  return { ...batch, keys, destroyed: new Set([...batch.destroyed, ...gone]) };
}

export function encodeBatch({ prefix, number, keys, destroyed }: KeyBatch): Buffer {
  const name = Buffer.from(prefix, 'latin1');
  const head = Buffer.alloc(HEAD_BYTES + name.length + 2 * MARKS_BYTES);
  head.writeUInt8(FORMAT, 0);
  head.writeUInt8(name.length, 1);
  head.writeBigUInt64BE(BigInt(number), 2);
  name.copy(head, HEAD_BYTES);
  const marks = head.subarray(HEAD_BYTES + name.length);
  const present = [...keys].sort(([one], [other]) => one - other);
  for (const [index] of present) mark(marks.subarray(0, MARKS_BYTES), index);
  for (const index of destroyed) mark(marks.subarray(MARKS_BYTES), index);
  return Buffer.concat([head, ...present.map(([, key]) => key)]);
}

/** The inverse of `encodeBatch`; throws BatchUnreadable. The keys are copies. */
export function decodeBatch(body: Uint8Array): KeyBatch {
  const bytes = Buffer.from(body);
  if (bytes.length < HEAD_BYTES) throw new BatchUnreadable('it is too short');
  if (bytes.readUInt8(0) !== FORMAT) throw new BatchUnreadable(`it has format ${bytes.readUInt8(0)}`);
  const number = Number(bytes.readBigUInt64BE(2));
  const marksAt = HEAD_BYTES + bytes.readUInt8(1);
  const keysAt = marksAt + 2 * MARKS_BYTES;
  const present = marked(bytes.subarray(marksAt, marksAt + MARKS_BYTES));
  const destroyed = marked(bytes.subarray(marksAt + MARKS_BYTES, keysAt));
  if (bytes.length !== keysAt + present.length * KEY_BYTES) throw new BatchUnreadable('its length is wrong');
  const keys = new Map(
    present.map((index, n) => [index, bytes.subarray(keysAt + n * KEY_BYTES, keysAt + (n + 1) * KEY_BYTES)]),
  );
  return { prefix: bytes.toString('latin1', HEAD_BYTES, marksAt), number, keys, destroyed: new Set(destroyed) };
}

function mark(marks: Buffer, index: number): void {
  marks[index >> 3]! |= 1 << (index & 7);
}

function marked(marks: Buffer): number[] {
  return Array.from({ length: BATCH_KEYS }, (_, index) => index).filter(
    (index) => ((marks[index >> 3] ?? 0) & (1 << (index & 7))) !== 0,
  );
}
