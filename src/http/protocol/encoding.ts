/**
 * Large answers in the coding that the client accepts: compressed once, off the thread, and kept as long as the body
 * is.
 *
 * 1. Only bodies of at least `LARGE_BYTES_MIN` that are kept for many requests are compressed.
 * 2. Compression runs in the thread pool, at most `COMPRESSIONS_MAX` at once; while all are busy, plain bytes are sent.
 *    Requests for the same body share one compression.
 * 3. All clients are sent the same bytes, so that clients which do not read cost no memory of their own.
 * 4. Each coding of a body has an entity tag of its own (RFC 9110, 8.8.3); a client that names any of them has the
 *    body.
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { varyBy } from './negotiation.ts';

type Coding = 'br' | 'gzip';

/** Below it compression saves less than a packet or two and costs as much as the rest of the answer. */
export const LARGE_BYTES_MIN = 8 * 1024;

/** Half of the pool's threads: files and names have to be read as well. */
const COMPRESSIONS_MAX = 2;

const CODINGS: readonly Coding[] = ['br', 'gzip'];
const CHUNK_BYTES = 256 * 1024;

const compressors: Readonly<Record<Coding, (bytes: Buffer, effort: Effort) => Promise<Buffer>>> = {
  br: (bytes, { brotliQuality }) => {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    };
    return promisify(brotliCompress)(bytes, { params, chunkSize: CHUNK_BYTES });
  },
  gzip: (bytes, { gzipLevel }) => promisify(gzip)(bytes, { level: gzipLevel, chunkSize: CHUNK_BYTES }),
};

/** How much time a byte saved is worth. */
export interface Effort {
  readonly brotliQuality: number;
  readonly gzipLevel: number;
}

/** For bodies that are sent until the definition changes, or as long as the process lives. */
export const LASTING: Effort = { brotliQuality: 6, gzipLevel: 6 };

/** For bodies that the next hold replaces. */
export const PASSING: Effort = { brotliQuality: 3, gzipLevel: 3 };

let compressionsUnderWay = 0;

/** The bytes of a large body, and its codings once they were needed. */
export class LargeBody {
  readonly bytes: Buffer;
  readonly #effort: Effort;
  readonly #coded = new Map<Coding, Buffer>();
  readonly #underWay = new Map<Coding, Promise<Buffer | null>>();

  constructor(bytes: Buffer, effort: Effort) {
    this.bytes = bytes;
    this.#effort = effort;
  }

  /** The body in a coding; null when too many compressions are under way (rule 2). */
  async inCoding(coding: Coding): Promise<Buffer | null> {
    const known = this.#coded.get(coding);
    if (known !== undefined) return known;
    const compression = this.#underWay.get(coding) ?? this.#compress(coding);
    if (compression !== null) this.#underWay.set(coding, compression);
    return compression;
  }

  #compress(coding: Coding): Promise<Buffer | null> | null {
    if (compressionsUnderWay >= COMPRESSIONS_MAX) return null;
    compressionsUnderWay += 1;
    return compressors[coding](this.bytes, this.#effort)
      .then(
        (coded) => {
          this.#coded.set(coding, coded);
          return coded;
        },
        // Where there is no memory for the compression, the plain bytes are sent.
        () => null,
      )
      .finally(() => {
        compressionsUnderWay -= 1;
        this.#underWay.delete(coding);
      });
  }
}

/**
 * Sends a large body in the best coding that the client takes; its type and, where it has one, its plain tag are set
 * already.
 */
export async function sendLarge(reply: FastifyReply, body: LargeBody): Promise<FastifyReply> {
  return reply.send(await encode(reply, body));
}

/** The bytes of a large body for a client, with coding, tag and length set in the headers of the answer. */
async function encode(reply: FastifyReply, body: LargeBody): Promise<Buffer> {
  varyBy(reply, 'Accept-Encoding');
  const coding = chooseCoding(reply.request.headers['accept-encoding']);
  const coded = coding === null ? null : await body.inCoding(coding);
  const bytes = coded ?? body.bytes;
  reply.header('content-length', bytes.length);
  if (coding === null || coded === null) return bytes;
  const etag = String(reply.getHeader('etag') ?? '');
  // A weak tag already stands for all codings.
  if (etag.startsWith('"')) reply.header('etag', tagInCoding(etag, coding));
  reply.header('content-encoding', coding);
  return bytes;
}

/** The coding to answer in, Brotli before gzip where both have the same quality; null for none (RFC 9110, 12.5.3). */
export function chooseCoding(acceptEncoding: string | string[] | undefined): Coding | null {
  if (acceptEncoding === undefined) return null;
  const qualities = new Map(String(acceptEncoding).split(',').map(readPreference));
  const qualityOf = (name: string): number => qualities.get(name) ?? qualities.get('*') ?? 0;
  const plain = qualities.get('identity') ?? 0;
  const [best] = CODINGS.toSorted((one, other) => qualityOf(other) - qualityOf(one));
  return best !== undefined && qualityOf(best) > 0 && qualityOf(best) >= plain ? best : null;
}

function readPreference(text: string): readonly [name: string, quality: number] {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = given === undefined ? 1 : Number(given.slice(2));
  // The older name of gzip (RFC 9110, 8.4.1.3).
  return [name === 'x-gzip' ? 'gzip' : name, Number.isNaN(quality) ? 0 : quality];
}

/** The tag of a body's representation in a coding. */
function tagInCoding(etag: string, coding: Coding): string {
  return etag.replace(/"$/, `-${coding}"`);
}
