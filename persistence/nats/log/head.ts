/**
 * The head of a shard: what a reader of its log knows after a record, and the fold that moves it from record to record.
 *
 * Every reader of a log applies the same records in the same order and so has the same head: the owner, one that takes
 * the shard over, one that follows it, a backup.
 *
 * 1. A batch counts only when its epoch is that of the newest claim before it; another one is void and changes nothing
 *    but the place in the log.
 * 2. A batch that counts continues the facts, the streams and the hash chain of the head exactly. One that does not is
 *    damage, and the reader stops (ChainBroken): it is never skipped.
 */

import { messageOf } from '../../faults.ts';
import { factsIn } from '../../chain.ts';
import type { FactRow } from '../../journal.ts';
import { decodeRecord, recordHash, type BatchRecord, type ShardRecord } from './records.ts';

export interface ShardHead {
  /** The newest message of the log that was applied; 0 when there was none. */
  streamSeq: number;
  /** The sequence number of the newest claim; 0 when there was none. */
  epoch: number;
  /** The node that made the newest claim; '' when there was none. */
  owner: string;
  /** The newest fact. */
  factSeq: number;
  /** The hash chain at the newest fact, in hex. */
  hash: string;
  /** The moment of the newest fact, in milliseconds since 1970. */
  at: number;
  /** The newest fact of each stream of facts. */
  readonly heads: Map<string, number>;
}

/** What a record did; VOID for what changes nothing but the place in the log. Rows of a batch are in order. */
type Applied =
  | { readonly outcome: 'CLAIMED' }
  | { readonly outcome: 'VOID' }
  | { readonly outcome: 'COUNTED'; readonly rows: readonly FactRow[] };

/** A record that counts does not continue the ones before it: the log was damaged, or lost a message. */
export class ChainBroken extends Error {
  readonly streamSeq: number;
  readonly hint =
    'The log of this shard is damaged. Nothing of it was changed: restore a backup, or the streams of the servers.';
  constructor(streamSeq: number, message: string, cause?: unknown) {
    super(`message ${streamSeq} of the log: ${message}`, { cause });
    this.name = 'ChainBroken';
    this.streamSeq = streamSeq;
  }
}

const NO_HASH = '0'.repeat(64);

/** The head of a log that has no message yet. */
export function emptyHead(): ShardHead {
  return { streamSeq: 0, epoch: 0, owner: '', factSeq: 0, hash: NO_HASH, at: 0, heads: new Map() };
}

export function copyHead(head: ShardHead): ShardHead {
  return { ...head, heads: new Map(head.heads) };
}

/** The record of a message. Throws ChainBroken. */
export function readRecord(seq: number, body: Uint8Array): ShardRecord {
  try {
    return decodeRecord(body);
  } catch (error) {
    throw new ChainBroken(seq, `it cannot be read (${messageOf(error)})`, error);
  }
}

/** Moves the head over one record. Throws ChainBroken, and then leaves the head as it was. */
export function applyRecord(head: ShardHead, seq: number, record: ShardRecord): Applied {
  if (seq !== head.streamSeq + 1) throw new ChainBroken(seq, `it must follow message ${head.streamSeq}`);
  if (record.kind === 'claim') {
    head.streamSeq = seq;
    head.epoch = seq;
    head.owner = record.node;
    return { outcome: 'CLAIMED' };
  }
  if (record.epoch !== head.epoch || head.epoch === 0) {
    if (record.epoch >= head.epoch) throw new ChainBroken(seq, `its epoch ${record.epoch} was never claimed`);
    head.streamSeq = seq;
    return { outcome: 'VOID' };
  }
  if (record.kind === 'proof') {
    head.streamSeq = seq;
    return { outcome: 'VOID' };
  }
  const rows = checkedRows(head, seq, record);
  for (const row of rows) head.heads.set(row.eventId, row.seq);
  head.streamSeq = seq;
  head.factSeq = record.lastSeq;
  head.hash = record.hash;
  head.at = rows.at(-1)!.at;
  return { outcome: 'COUNTED', rows };
}

/** The facts of a batch, checked against the head (rule 2). */
function checkedRows(head: ShardHead, streamSeq: number, record: BatchRecord): FactRow[] {
  const { firstSeq, lastSeq, hash, canonicalTexts } = record;
  const broken = (message: string, cause?: unknown): ChainBroken => new ChainBroken(streamSeq, message, cause);
  if (firstSeq !== head.factSeq + 1) throw broken(`fact ${head.factSeq + 1} must come next, not ${firstSeq}`);
  if (recordHash(head.hash, canonicalTexts) !== hash) throw broken('it fails its checksum');
  const rows: FactRow[] = [];
  const lastOfStream = new Map<string, number>();
  let unit = 0;
  try {
    for (const { seq, at, eventId, type, data, prev, unit: unitSeq } of factsIn(canonicalTexts)) {
      if (seq !== firstSeq + rows.length) throw broken(`fact ${firstSeq + rows.length} is missing`);
      const before = lastOfStream.get(eventId) ?? head.heads.get(eventId) ?? 0;
      if (prev !== before) throw broken(`fact ${seq} says that it follows fact ${prev} of its stream, not ${before}`);
      lastOfStream.set(eventId, seq);
      unit = unitSeq;
      rows.push({ seq, at, eventId, type, data });
    }
  } catch (error) {
    throw error instanceof ChainBroken ? error : broken('its facts cannot be read', error);
  }
  if (rows.length === 0 || rows.at(-1)!.seq !== lastSeq) throw broken(`it must end with fact ${lastSeq}`);
  if (unit !== lastSeq) throw broken('it ends inside a unit');
  return rows;
}
