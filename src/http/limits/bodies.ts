/**
 * Bodies under way: how much of what has arrived of them the connections together may keep, and how large one may be.
 *
 * 1. What has arrived of a body is counted until all of it has, or until its connection is gone. A piece costs more
 *    than its bytes: one byte at a time is not cheaper than all at once.
 * 2. Where it is too much, the body that began first gives way: its request is answered 503 OVERLOADED, and no more of
 *    it is read. So whoever sends slowly, or stops, keeps nobody out who sends a body at once. Many thousands of small
 *    bodies would have to give way in one pass, so they do so only where there are no others.
 * 3. A body without lists is small, so its route accepts no large one.
 * 4. Each of several threads has a share of its own: the bodies that wait at one thread make none give way at another.
 */
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import type { RequestMetrics, UseCount } from '../ports.ts';
import { whenGone } from './connections.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The most bytes of a body, where its schema does not say it (rule 3). */
    bodyBytesMax?: number;
  }
}

/** For a body without lists: ids, a code and a few addresses of pages fit several times. */
const PLAIN_BYTES_MAX = 16 * 1024;

/** What a piece takes beside its bytes. */
const PIECE_BYTES = 256;

/** A body with less is small (rule 2). */
const SMALL_BYTES = 16 * 1024;

interface BodyUnderWay {
  bytes: number;
  refuse(): void;
}

/** What has arrived of the bodies of an app. */
class BodyBudget {
  readonly #bytesMax: number;
  readonly #bytes: UseCount;
  /** In the order in which they began. */
  readonly #underWay = new Set<BodyUnderWay>();

  constructor(bytesMax: number, bytes: UseCount) {
    this.#bytesMax = bytesMax;
    this.#bytes = bytes;
  }

  /** Counts a body from here on, until it ends; one that comes in one piece, as most do, is never under way. */
  follow({ raw }: FastifyRequest): void {
    const length = Number(raw.headers['content-length']);
    let body: BodyUnderWay | null = null;
    raw.on('data', (piece: Buffer) => {
      if (raw.socket.destroyed || (body === null && piece.length === length)) return;
      body ??= this.#begin(raw);
      this.#add(body, piece.length + PIECE_BYTES);
    });
  }

  #begin(raw: FastifyRequest['raw']): BodyUnderWay {
    const end = (): void => {
      if (!this.#underWay.delete(body)) return;
      forget();
      this.#bytes.set(this.#bytes.own - body.bytes);
    };
    const refuse = (): void => {
      end();
      raw.pause();
      // The reader of the body answers; where nobody reads it any more, the request was answered already.
      if (raw.listenerCount('error') > 0)
        raw.emit('error', new Overloaded('the bodies under way take too much', RETRY_AFTER_SECONDS));
    };
    const body: BodyUnderWay = { bytes: 0, refuse };
    this.#underWay.add(body);
    raw.once('end', end);
    // When a request was answered before its body had arrived, `raw` emits nothing more.
    const forget = whenGone(raw.socket, end);
    return body;
  }

  #add(body: BodyUnderWay, bytes: number): void {
    if (!this.#underWay.has(body)) return;
    body.bytes += bytes;
    this.#bytes.set(this.#bytes.own + bytes);
    while (this.#bytes.own > this.#bytesMax && this.#underWay.size > 0) this.#firstToGiveWay().refuse();
  }

  #firstToGiveWay(): BodyUnderWay {
    for (const body of this.#underWay) if (body.bytes >= SMALL_BYTES) return body;
    return this.#underWay.values().next().value!;
  }
}

/** Bounds the bodies of an app, of all its connections and of the routes that are added from here on. */
export function boundBodies(
  app: FastifyInstance,
  { bodiesBytesMax, bodyBytesMax }: { readonly bodiesBytesMax: number; readonly bodyBytesMax: number },
  metrics: Pick<RequestMetrics, 'countInUse'>,
): void {
  const budget = new BodyBudget(bodiesBytesMax, metrics.countInUse('body_bytes'));
  app.addHook('onRoute', (route) => {
    const unsaid = hasLists(route) ? bodyBytesMax : Math.min(bodyBytesMax, PLAIN_BYTES_MAX);
    route.bodyLimit = route.config?.bodyBytesMax ?? unsaid;
  });
  // From here on the body flows: a hook before the parser that waits would lose a part of it.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
    if (length === '0' && encoding === undefined) return done();
    budget.follow(request);
    done();
  });
}

function hasLists({ schema }: RouteOptions): boolean {
  return JSON.stringify(schema?.body ?? {}).includes('"array"');
}
