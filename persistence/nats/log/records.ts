/**
 * What a message of a shard's log holds: a claim, a batch of facts, or a proof.
 *
 * A claim makes its writer the owner of the shard; its sequence number in the log is the epoch of everything that it
 * appends.
 *
 * 1. A batch counts only when its epoch is the newest claim's before it. Any other batch was on its way while the shard
 *    was claimed: it is void, and no reply to its turns was sent. A proof changes nothing: once it is appended, its
 *    writer knows that it still owns the shard.
 * 2. Facts are the rows of a journal. The hash chain runs over the facts of the shard: each batch has the hash over the
 *    previous one's and its own facts (`sqlite/chain.ts`).
 * 3. The body of a message is one line, a checksum and JSON, then the canonical texts of the facts in UTF-8, with the
 *    same columns as a row of SQLite. Only texts of over PACKED_FROM characters are deflated, because servers limit the
 *    size of a message.
 */

import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { batchHash } from '../../chain.ts';

/**
 * The outcome of a command, beside its facts: when the command is sent again to another owner, it is answered from
 * this.
 */
export interface ExecutedCommand {
  readonly id: string;
  readonly eventId: string;
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** JSON text that the domain understands. */
  readonly reply: string;
}

export interface ClaimRecord {
  readonly kind: 'claim';
  /** Unique to this try. */
  readonly id: string;
  readonly node: string;
}

export interface BatchRecord {
  readonly kind: 'batch';
  /** Unique to this batch. */
  readonly id: string;
  readonly epoch: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** SHA-256 in hex. */
  readonly hash: string;
  readonly commands: readonly ExecutedCommand[];
  /** The facts in their order, in the canonical text of the hash chain. */
  readonly canonicalTexts: string;
}

export interface ProofRecord {
  readonly kind: 'proof';
  /** Unique to this proof. */
  readonly id: string;
  readonly epoch: number;
}

export type ShardRecord = ClaimRecord | BatchRecord | ProofRecord;

/** The body of a message is no record that this version can read. */
class RecordUnreadable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RecordUnreadable';
  }
}

/**
 * The definition of a stadium has a few million characters and repeats itself; a usual batch stays readable and costs
 * nothing.
 */
const PACKED_FROM = 1_000_000;
/** Servers take messages of 8 MB. */
const FACTS_BYTES_MAX = 7_000_000;
const CHECKSUM_DIGITS = 8;
const NEWLINE = '\n'.charCodeAt(0);

export function encodeRecord(record: ShardRecord): Uint8Array {
  if (record.kind !== 'batch') return Buffer.from(lineOf(record));
  const { canonicalTexts, ...head } = record;
  if (canonicalTexts.length <= PACKED_FROM) return Buffer.from(`${lineOf(head)}${canonicalTexts}`);
  const line = Buffer.from(lineOf({ ...head, isPacked: true }));
  return Buffer.concat([line, deflateRawSync(canonicalTexts, { level: 1 })]);
}

/** Whether a message can have these facts, with room for the replies of commands. */
export function fitsMessage(canonicalTexts: string): boolean {
  if (canonicalTexts.length <= PACKED_FROM) return true;
  return deflateRawSync(canonicalTexts, { level: 1 }).length <= FACTS_BYTES_MAX;
}

/** The inverse of `encodeRecord`; throws RecordUnreadable. */
export function decodeRecord(body: Uint8Array): ShardRecord {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const end = bytes.indexOf(NEWLINE);
  if (end === -1) throw new RecordUnreadable('a record must begin with a line of JSON');
  const { kind, id, node, epoch, firstSeq, lastSeq, hash, commands, isPacked } = parsedLine(
    bytes.toString('utf8', 0, end),
  );
  if (typeof id !== 'string') throw new RecordUnreadable('a record must have an id');
  if (kind === 'claim') {
    if (typeof node !== 'string') throw new RecordUnreadable('a claim must name a node');
    return { kind, id, node };
  }
  if (kind === 'proof') {
    if (!isNumber(epoch)) throw new RecordUnreadable('a proof must have an epoch');
    return { kind, id, epoch };
  }
  if (kind !== 'batch')
    throw new RecordUnreadable(`a record must be a claim, a batch or a proof, not ${JSON.stringify(kind)}`);
  if (
    !isNumber(epoch) ||
    !isNumber(firstSeq) ||
    !isNumber(lastSeq) ||
    typeof hash !== 'string' ||
    !Array.isArray(commands)
  )
    throw new RecordUnreadable('a batch must have an epoch, a range, a hash and commands');
  const texts = bytes.subarray(end + 1);
  const canonicalTexts = (isPacked === true ? unpack(texts) : texts).toString('utf8');
  return { kind, id, epoch, firstSeq, lastSeq, hash, commands, canonicalTexts };
}

/** The hash of a batch in the form of records. */
export function recordHash(previousHash: string, canonicalTexts: string): string {
  return batchHash(Buffer.from(previousHash, 'hex'), canonicalTexts).toString('hex');
}

/** The chain proves facts alone; the checksum proves what else a record says, the replies of commands above all. */
function lineOf(head: object): string {
  const json = JSON.stringify(head);
  return `${checksum(json)} ${json}\n`;
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(CHECKSUM_DIGITS, '0');
}

function parsedLine(line: string): Readonly<Record<string, unknown>> {
  const json = line.slice(CHECKSUM_DIGITS + 1);
  if (!line.startsWith(`${checksum(json)} `))
    throw new RecordUnreadable('the first line of a record must have its checksum');
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    throw new RecordUnreadable('the first line of a record must be JSON', error);
  }
  throw new RecordUnreadable('the first line of a record must be an object');
}

function unpack(texts: Uint8Array): Buffer {
  try {
    return inflateRawSync(texts);
  } catch (error) {
    throw new RecordUnreadable('the facts of a batch must be deflated as its first line says', error);
  }
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
