/**
 * The archive of a shard: objects with the messages of its log as they were, from the first one on, so that a purge of
 * the log loses nothing.
 *
 * 1. An object has consecutive whole messages, and its name has the numbers of the first and the last. Messages are
 *    added in order; objects of two owners may overlap, and have the same messages then, because a log never changes.
 * 2. A message may be dropped from the log only when an object with it was read and proved after it was written
 *    (`prove`).
 * 3. Reading skips a bad object where another one has its messages; otherwise it rejects with ObjectDamaged.
 */

import { messageOf } from '../../faults.ts';
import { ObjectDamaged, type Objects } from '../../objects.ts';
import { seal, unseal } from './sealed.ts';
import type { LogMessage } from '../../shard-log.ts';

/** Bytes of messages in one object, unless one message is larger. */
const OBJECT_BYTES = 4 * 1024 * 1024;
const SEQ_DIGITS = 16;
const NAME = /^[0-9]+\/([0-9]+)-([0-9]+)$/;
const NEWLINE = 0x0a;

/** An object of the archive, by the numbers of its first and last message. */
interface ArchivePart {
  readonly name: string;
  readonly fromSeq: number;
  readonly toSeq: number;
}

export class ArchiveBucket {
  readonly #objects: Objects;
  readonly #shard: number;

  constructor(objects: Objects, shard: number) {
    this.#objects = objects;
    this.#shard = shard;
  }

  /** The objects in the order of their first messages, longer ones first. */
  async parts(): Promise<ArchivePart[]> {
    const names = await this.#objects.list(`${this.#shard}/`);
    return names
      .flatMap((name) => {
        const parts = NAME.exec(name);
        return parts === null ? [] : [{ name, fromSeq: Number(parts[1]), toSeq: Number(parts[2]) }];
      })
      .sort((a, b) => a.fromSeq - b.fromSeq || b.toSeq - a.toSeq);
  }

  /** The last message of the archive that follows on from the first one without a gap; 0 when there is none. */
  async throughSeq(): Promise<number> {
    return (await this.parts()).reduce((seq, part) => (part.fromSeq <= seq + 1 ? Math.max(seq, part.toSeq) : seq), 0);
  }

  /**
   * Adds messages that follow on from `throughSeq`. What another owner added meanwhile may be missing among them,
   * because that owner may have purged it. Rejects with an Error when they have another gap.
   */
  async add(messages: AsyncIterable<LogMessage>): Promise<void> {
    let seq = await this.throughSeq();
    let gathered: LogMessage[] = [];
    let bytes = 0;
    const write = async (): Promise<void> => {
      if (gathered.length > 0) await this.#write(gathered);
      gathered = [];
      bytes = 0;
    };
    for await (const message of messages) {
      if (message.seq <= seq) continue;
      if (message.seq !== seq + 1) {
        await write();
        const archivedSeq = await this.throughSeq();
        if (message.seq > archivedSeq + 1) throw new Error(`message ${message.seq} must follow message ${archivedSeq}`);
      }
      seq = message.seq;
      gathered.push(message);
      bytes += message.body.byteLength;
      if (bytes >= OBJECT_BYTES) await write();
    }
    await write();
  }

  /** Reads an object and proves it; removes it and rejects with ObjectDamaged when it is bad. */
  async prove(part: ArchivePart): Promise<void> {
    try {
      await this.#messages(part);
    } catch (error) {
      if (error instanceof ObjectDamaged) await this.#objects.delete(part.name);
      throw error;
    }
  }

  /** The messages from one to another, both included. Rejects with ObjectDamaged or ObjectsUnreachable (rule 3). */
  async *read(fromSeq: number, throughSeq: number): AsyncIterable<LogMessage> {
    let next = fromSeq;
    let trouble: unknown;
    for (const part of await this.parts()) {
      if (part.toSeq < next || part.fromSeq > next || next > throughSeq) continue;
      try {
        for (const message of await this.#messages(part)) {
          if (message.seq !== next || next > throughSeq) continue;
          yield message;
          next += 1;
        }
      } catch (error) {
        if (!(error instanceof ObjectDamaged)) throw error;
        trouble = error;
      }
    }
    if (next > throughSeq) return;
    throw new ObjectDamaged(
      `of the archive of shard ${this.#shard} with message ${next}`,
      trouble === undefined ? 'it is gone' : messageOf(trouble),
      trouble,
    );
  }

  async #write(messages: readonly LogMessage[]): Promise<void> {
    const [from, to] = [messages[0]!, messages.at(-1)!].map(({ seq }) => String(seq).padStart(SEQ_DIGITS, '0'));
    await this.#objects.put(`${this.#shard}/${from}-${to}`, await seal(framesOf(messages)));
  }

  /** All messages of an object, after its digest was checked. */
  async #messages({ name, fromSeq, toSeq }: ArchivePart): Promise<LogMessage[]> {
    const sealed = await this.#objects.get(name);
    const bytes = sealed === null ? null : await unseal(sealed);
    if (bytes === null) throw new ObjectDamaged(name, sealed === null ? 'it is gone' : 'it fails its digest');
    const messages = messagesIn(bytes);
    const isWhole =
      messages.length === toSeq - fromSeq + 1 && messages.every(({ seq }, index) => seq === fromSeq + index);
    if (!isWhole) throw new ObjectDamaged(name, 'it has other messages than its name says');
    return messages;
  }
}

/** Before each message a line with its number and its length in bytes. */
function* framesOf(messages: readonly LogMessage[]): Generator<string | Uint8Array> {
  for (const { seq, body } of messages) {
    yield `${seq} ${body.byteLength}\n`;
    yield body;
  }
}

function messagesIn(bytes: Buffer): LogMessage[] {
  const messages: LogMessage[] = [];
  for (let place = 0; place < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, place);
    const [seq = 0, length = 0] = bytes.toString('latin1', place, end).split(' ').map(Number);
    messages.push({ seq, body: bytes.subarray(end + 1, end + 1 + length) });
    place = end + 1 + length;
  }
  return messages;
}
