/**
 * Limits for each client address and minute: of changes, of requests that cost more than others, of wrong tokens, of
 * discount codes that do not exist, and of checkouts that the cap of an e-mail address refuses; and how many live
 * streams a client has at once.
 *
 * 1. The minute of a key begins with the first event that is counted and ends by itself, so that a client that goes on
 *    is not locked out for longer.
 * 2. The number of keys is limited (I10); beyond it the key that was counted longest ago is forgotten.
 * 3. Changes are limited before their requests wait for anything; reads are not counted. Reports of payment providers,
 *    and of the sandbox in their place, are not counted either: they send all payments from a few addresses, and a
 *    report that comes late costs a sale.
 * 4. Each code of a checkout counts for itself. Over the limit no code of that address and event is checked, not even a
 *    good one: an answer that differs for good codes is all that guessing needs. Checkouts without a code are not
 *    limited. Over the limit of refusals by the cap no checkout of that address and event is started. Clients of the
 *    loopback are counted for both.
 * 5. Searches, joins of a waiting room and live streams are limited by default. Clients of the loopback are not counted
 *    for them: a proxy on this machine whose clients cannot be told apart stops nobody.
 */
import { LRUCache } from 'lru-cache';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Socket } from 'node:net';
import { isReading } from './admission-queue.ts';
import { whenGone } from './connections.ts';
import { clientAddresses, isLoopback } from '../protocol/client-address.ts';
import type { HttpApp } from '../protocol/app.ts';
import type { ClientCounts, ClockPort, CountedWindow, PublicPorts, WindowStore } from '../ports.ts';
import { fail } from '../protocol/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for a change that the limit of changes does not count (rule 3). */
    rateLimit?: boolean;
    /** Of such requests one client may send only so many a minute (rule 5). */
    clientLimit?: ClientLimit;
  }
}

interface ClientLimit {
  readonly perMinuteMax: number;
  /** Which requests of the route count; all where it is not given. */
  readonly counts?: (request: FastifyRequest) => boolean;
}

export const WINDOW_MS = 60_000;

/** What limits by client need. */
export type LimitPorts = Pick<PublicPorts, 'settings' | 'clock' | 'sharedLimits'>;

export interface RateLimitResult {
  /** More than allowed. */
  readonly isOver: boolean;
  readonly left: number;
  /** Whole seconds until the key's minute ends. */
  readonly secondsLeft: number;
}

interface RateWindow {
  /** The reading of a key, without counting. */
  read(key: string): RateLimitResult;
  /** Counts for a key; the reading includes it. */
  count(key: string, times?: number): RateLimitResult;
}

interface RateBounds {
  readonly perMinuteMax: number;
  readonly keysMax: number;
}

/**
 * Makes a counter whose keys may count up to a maximum in a minute of the service's clock; the counts are its own
 * unless they are given.
 */
export function createRateWindow(
  { perMinuteMax, keysMax }: RateBounds,
  clock: ClockPort,
  store: WindowStore = createWindowStore(keysMax),
): RateWindow {
  const readingOf = ({ since, counted }: CountedWindow, now: number): RateLimitResult => ({
    isOver: counted > perMinuteMax,
    left: Math.max(0, perMinuteMax - counted),
    secondsLeft: Math.ceil((since + WINDOW_MS - now) / 1_000),
  });

  return {
    read(key) {
      const now = clock.now();
      return readingOf(store.read(key, now), now);
    },
    count(key, times = 1) {
      const now = clock.now();
      return readingOf(store.add(key, now, times), now);
    },
  };
}

function createWindowStore(keysMax: number): WindowStore {
  // Made at the first count: it takes room for all its keys at once, and most services never count.
  let windows: LRUCache<string, { readonly since: number; counted: number }> | null = null;
  const current = (key: string, now: number): { readonly since: number; counted: number } => {
    const known = windows?.get(key);
    const isCurrent = known !== undefined && now >= known.since && now - known.since < WINDOW_MS;
    return isCurrent ? known : { since: now, counted: 0 };
  };
  return {
    read: current,
    add(key, now, times) {
      const window = current(key, now);
      window.counted += times;
      windows ??= new LRUCache({ max: keysMax });
      windows.set(key, window);
      return window;
    },
  };
}

// ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Limits the routes that are added from here on, before their requests wait for anything. */
export function limitChanges(app: HttpApp, { settings, clock, sharedLimits }: LimitPorts): void {
  const { rateLimitPerMinute: perMinuteMax, trustProxy, limits } = settings;
  if (perMinuteMax === 0) return;
  const addressOf = clientAddresses(trustProxy);
  const changes = createRateWindow(
    { perMinuteMax, keysMax: limits.rateLimitedAddressesMax },
    clock,
    sharedLimits?.windows('changes'),
  );
  const limit: onRequestHookHandler = (request, reply, done) => {
    const { isOver, left, secondsLeft } = changes.count(addressOf(request));
    reply.headers({
      'x-ratelimit-limit': perMinuteMax,
      'x-ratelimit-remaining': left,
      'x-ratelimit-reset': secondsLeft,
    });
    if (!isOver) return done();
    refuseOver(reply, secondsLeft);
  };
  app.addHook('onRoute', (route) => {
    const isLimited = !isReading(route.method) && route.config?.rateLimit !== false;
    if (isLimited) route.onRequest = [limit, ...[route.onRequest ?? []].flat()];
  });
}

function refuseOver(reply: FastifyReply, retryAfterSeconds: number): FastifyReply {
  return reply.header('retry-after', retryAfterSeconds).refuse(fail('RATE_LIMITED'));
}

// ── requests that cost more than others ──────────────────────────────────────────────────────────────────────────────

/** Limits the routes with a `clientLimit` that are added from here on. */
export function limitClients(app: HttpApp, { settings, clock, sharedLimits }: LimitPorts): void {
  if (!settings.clientLimits) return;
  const addressOf = clientAddresses(settings.trustProxy);
  const keysMax = settings.limits.rateLimitedAddressesMax;
  /** By the limit: the route for HEAD, which Fastify adds by itself, counts with the one for GET. */
  const windows = new Map<ClientLimit, RateWindow>();
  app.addHook('onRoute', (route) => {
    const { clientLimit } = route.config ?? {};
    if (clientLimit === undefined) return;
    const { perMinuteMax, counts = () => true } = clientLimit;
    // Every thread adds the same routes in the same order.
    const shared = sharedLimits?.windows(`route ${windows.size}`);
    const requests = windows.get(clientLimit) ?? createRateWindow({ perMinuteMax, keysMax }, clock, shared);
    windows.set(clientLimit, requests);
    const limit: onRequestHookHandler = (request, reply, done) => {
      const client = addressOf(request);
      if (isLoopback(client) || !counts(request)) return done();
      const { isOver, secondsLeft } = requests.count(client);
      if (!isOver) return done();
      refuseOver(reply, secondsLeft);
    };
    route.onRequest = [limit, ...[route.onRequest ?? []].flat()];
  });
}

const STREAMS_RETRY_SECONDS = 5;

/** The live streams that clients have open. */
interface ClientStreams {
  /**
   * Counts a stream until its connection is gone or `end` is called; null, with an answer, where there are too many.
   */
  begin(request: FastifyRequest, reply: FastifyReply): { end(): void } | null;
}

export function createClientStreams({ settings, sharedLimits }: Omit<LimitPorts, 'clock'>): ClientStreams {
  const { clientLimits, trustProxy, limits } = settings;
  const addressOf = clientAddresses(trustProxy);
  const open = sharedLimits?.streams ?? createClientCounts();
  return {
    begin(request, reply) {
      const client = addressOf(request);
      if (!clientLimits || isLoopback(client)) return { end() {} };
      if (open.of(client) >= limits.clientStreamsMax) {
        refuseOver(reply, STREAMS_RETRY_SECONDS);
        return null;
      }
      open.add(client, 1);
      return untilGone(request.raw.socket, () => open.add(client, -1));
    },
  };
}

function createClientCounts(): ClientCounts {
  /** No more clients than connections (I10). */
  const open = new Map<string, number>();
  return {
    of: (client) => open.get(client) ?? 0,
    add(client, by) {
      const count = (open.get(client) ?? 0) + by;
      if (count === 0) open.delete(client);
      else open.set(client, count);
    },
  };
}

/** Calls back once: when the connection is gone, or when it is ended before. */
function untilGone(socket: Socket, tell: () => void): { end(): void } {
  const forget = whenGone(socket, tell);
  return {
    end() {
      if (forget()) tell();
    },
  };
}
