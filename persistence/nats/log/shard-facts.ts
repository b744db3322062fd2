/**
 * All facts of a shard that count, from the first one on, with every column of the hash chain, for whoever copies them.
 *
 * 1. The chain is checked on the way: a fact is given out only when everything before it is proved (ChainBroken).
 * 2. It ends with what was in the log when the reading began; a log with a gap at its end is an error, not an end.
 * 3. When the log cannot be reached the reading goes on where it was, as long as some message comes within a while.
 */

import { factsIn } from '../../chain.ts';
import type { StoredFact } from '../../chain.ts';
import { ObjectsUnreachable } from '../../objects.ts';
import { applyRecord, ChainBroken, emptyHead, readRecord } from './head.ts';
import { LogUnreachable, type ShardLog } from '../../shard-log.ts';
import { machineTiming, pauseFor, type Timing } from '../timing.ts';

/** Servers that elect a leader are back within ten seconds. */
const TRIES_MAX = 30;
const PAUSE_MS = 500;

/** Reads the facts of each batch; the log has its archive before it (`wholeLog`). */
export async function* readShardFacts(
  log: ShardLog,
  timing: Timing = machineTiming,
): AsyncGenerator<readonly StoredFact[]> {
  const head = emptyHead();
  let lastSeq: number | null = null;
  for (let tries = 1; lastSeq === null || head.streamSeq < lastSeq; tries += 1) {
    const before = head.streamSeq;
    try {
      lastSeq ??= await log.lastSeq();
      for await (const { seq, body } of lastSeq === 0 ? [] : log.read(head.streamSeq + 1, lastSeq)) {
        const record = readRecord(seq, body);
        const { outcome } = applyRecord(head, seq, record);
        if (outcome === 'COUNTED' && record.kind === 'batch') yield factsIn(record.canonicalTexts);
      }
      if (head.streamSeq < lastSeq) throw new ChainBroken(head.streamSeq + 1, 'it is missing');
    } catch (error) {
      if (head.streamSeq > before) tries = 0;
      const isPassing = error instanceof LogUnreachable || error instanceof ObjectsUnreachable;
      if (!isPassing || tries >= TRIES_MAX) throw error;
      await pauseFor(timing, PAUSE_MS);
    }
  }
}
