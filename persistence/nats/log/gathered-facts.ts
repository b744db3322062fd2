/**
 * Facts that were appended and are not in the log yet.
 *
 * It numbers facts and links each to its stream's previous one. A unit that alone exceeds the bounds of a batch has a
 * batch of its own. A unit that fits into no message is a defect of the caller: it is refused before anything is
 * changed.
 */

import { BatchQueue, type QueuedBatch } from '../../batch-queue.ts';
import { checkUnit } from '../../faults.ts';
import type { FactRow, JournalFault, Unit } from '../../journal.ts';
import { canonicalText } from '../../chain.ts';
import { fitsMessage, type ExecutedCommand } from './records.ts';

export interface GatheredBatch extends QueuedBatch {
  readonly rows: FactRow[];
  readonly commands: ExecutedCommand[];
  units: number;
}

export interface GatheringBounds {
  readonly batchUnitsMax: number;
  /** Characters of canonical texts and replies. */
  readonly batchSizeMax: number;
}

export class GatheredFacts {
  readonly batches = new BatchQueue<GatheredBatch>();
  readonly #bounds: GatheringBounds;
  /** The newest appended fact of every stream. */
  readonly #heads: Map<string, number>;
  #appendedSeq: number;

  constructor(appendedSeq: number, heads: ReadonlyMap<string, number>, bounds: GatheringBounds) {
    this.#appendedSeq = appendedSeq;
    this.#heads = new Map(heads);
    this.#bounds = bounds;
  }

  get appendedSeq(): number {
    return this.#appendedSeq;
  }

  add(given: Unit): number {
    checkUnit(given);
    const { eventId, at, facts, command } = given;
    const unit = this.#appendedSeq + facts.length;
    const rows: FactRow[] = [];
    let text = '';
    let prev = this.#heads.get(eventId) ?? 0;
    for (const { type, data } of facts) {
      const seq = this.#appendedSeq + rows.length + 1;
      text += canonicalText({ seq, at, eventId, type, data, prev, unit });
      rows.push({ seq, at, eventId, type, data });
      prev = seq;
    }
    if (!fitsMessage(text)) throw new Error(`a unit of ${text.length} characters does not fit into a message`);
    const batch = this.#batchFor(text.length + (command?.reply.length ?? 0));
    batch.text += text;
    batch.rows.push(...rows);
    if (command !== undefined) batch.commands.push({ id: command.id, eventId, at, reply: command.reply });
    batch.units += 1;
    batch.lastSeq = unit;
    this.#appendedSeq = unit;
    this.#heads.set(eventId, unit);
    return unit;
  }

  /** Forgets everything for ever: the next writer numbers its facts from the durable ones on. */
  forget(durableSeq: number, fault: JournalFault): void {
    this.batches.forget(fault);
    this.#appendedSeq = durableSeq;
  }

  #batchFor(size: number): GatheredBatch {
    const { open } = this.batches;
    const { batchUnitsMax, batchSizeMax } = this.#bounds;
    if (open !== null && open.units < batchUnitsMax && sizeOf(open) + size <= batchSizeMax) return open;
    const [firstSeq, lastSeq] = [this.#appendedSeq + 1, this.#appendedSeq];
    return this.batches.add({ firstSeq, lastSeq, text: '', rows: [], commands: [], units: 0, settled: null });
  }
}

function sizeOf({ text, commands }: GatheredBatch): number {
  return commands.reduce((sum, { reply }) => sum + reply.length, text.length);
}
