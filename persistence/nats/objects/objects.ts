/**
 * The store of named objects on an object store of JetStream, in the format of its clients, so that their tools read
 * it.
 *
 * Objects are written by the client's library. They are read chunk by chunk from the stream's leader: the library reads
 * through a consumer, which may be served by a replica that is behind, and which waits for ever for a chunk that is
 * gone.
 *
 * 1. Every call has an end: a time limit for each request.
 * 2. Removing takes the chunks, then the entry, so that what a crash leaves is still listed and can be removed again.
 */

import { createHash } from 'node:crypto';
import { jetstreamManager, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { Objm, setSha256Backend, type ObjectInfo, type ObjectStore } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '../../faults.ts';
import { ObjectDamaged, ObjectsUnreachable, type Objects } from '../../objects.ts';

interface ObjectBucketOptions {
  readonly name: string;
  readonly replicas: number;
}

const REQUEST_MS_MAX = 5_000;
/** A chunk is a message; larger ones hold up others. */
const CHUNK_BYTES = 128 * 1024;

export class ObjectBucket implements Objects {
  readonly #name: string;
  readonly #manager: JetStreamManager;
  readonly #store: ObjectStore;

  private constructor(name: string, manager: JetStreamManager, store: ObjectStore) {
    this.#name = name;
    this.#manager = manager;
    this.#store = store;
  }

  /** Opens the bucket and creates it where there is none. Rejects with ObjectsUnreachable. */
  static async open(connection: NatsConnection, { name, replicas }: ObjectBucketOptions): Promise<ObjectBucket> {
    setSha256Backend('native');
    return reaching(`the bucket ${name} cannot be opened`, async () => {
      const manager = await jetstreamManager(connection, { timeout: REQUEST_MS_MAX });
      const store = await new Objm(connection).create(name, { replicas });
      return new ObjectBucket(name, manager, store);
    });
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await reaching(`the object ${name} cannot be written`, () =>
      this.#store.put({ name, options: { max_chunk_size: CHUNK_BYTES } }, chunksOf(bytes), { timeout: REQUEST_MS_MAX }),
    );
  }

  async get(name: string): Promise<Uint8Array | null> {
    const info = await this.#info(name);
    if (info === null || info.deleted) return null;
    const chunks: Uint8Array[] = [];
    for (let seq = 0; chunks.length < info.chunks;) {
      // The client's type does not know this form of the request; the server does.
      const query = { seq: seq + 1, next_by_subj: this.#chunkSubject(info) };
      const message = await reaching(`the object ${name} cannot be read`, () =>
        this.#manager.streams.getMessage(this.#stream, query),
      );
      if (message === null) throw new ObjectDamaged(name, `it has ${chunks.length} of ${info.chunks} chunks`);
      chunks.push(message.data);
      seq = message.seq;
    }
    const hash = createHash('sha256');
    for (const chunk of chunks) hash.update(chunk);
    const digest = `SHA-256=${hash.digest('base64url')}`;
    if (info.digest.replace(/=+$/, '') !== digest)
      throw new ObjectDamaged(name, 'its bytes are not those of its digest');
    return Buffer.concat(chunks);
  }

  async list(prefix: string): Promise<readonly string[]> {
    const begin = this.#entrySubject('');
    const info = await reaching(`the objects of ${this.#name} cannot be listed`, () =>
      this.#manager.streams.info(this.#stream, { subjects_filter: `${begin}>` }),
    );
    return Object.keys(info.state.subjects ?? {})
      .map((subject) => Buffer.from(subject.slice(begin.length), 'base64url').toString())
      .filter((name) => name.startsWith(prefix))
      .sort();
  }

  async delete(name: string): Promise<void> {
    const info = await this.#info(name);
    if (info === null) return;
    await reaching(`the object ${name} cannot be removed`, async () => {
      await this.#manager.streams.purge(this.#stream, { filter: this.#chunkSubject(info) });
      await this.#manager.streams.purge(this.#stream, { filter: this.#entrySubject(name) });
    });
  }

  #info(name: string): Promise<ObjectInfo | null> {
    return reaching(`the object ${name} cannot be found`, () => this.#store.info(name));
  }

  get #stream(): string {
    return `OBJ_${this.#name}`;
  }

  #chunkSubject({ nuid }: ObjectInfo): string {
    return `$O.${this.#name}.C.${nuid}`;
  }

  #entrySubject(name: string): string {
    const encoded = Buffer.from(name).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
    return `$O.${this.#name}.M.${encoded}`;
  }
}

/** The bytes as the library takes them: it copies what it was given with each chunk that it sends. */
function chunksOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let place = 0;
  return new ReadableStream({
    pull(controller) {
      if (place < bytes.byteLength) controller.enqueue(bytes.subarray(place, (place += CHUNK_BYTES)));
      else controller.close();
    },
  });
}

/**
 * Runs a request; any failure means that the store cannot be reached now, because the requests themselves are
 * well-formed.
 */
async function reaching<Result>(what: string, request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    const hint = error instanceof JetStreamApiError ? ` (code ${error.code})` : '';
    throw new ObjectsUnreachable(`${what}: ${messageOf(error)}${hint}`, error);
  }
}
