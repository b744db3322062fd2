/**
 * Limits for each client address and minute: of changes, of wrong tokens, and of discount codes that do not exist.
 *
 * 1. The minute of a key begins with the first event that is counted and ends by itself, so that a client that goes on is not
 *    locked out for longer.
 * 2. The number of keys is limited (I10); beyond it the key that was counted longest ago is forgotten.
 * 3. Changes are limited before their requests wait for anything; reads are not counted. Neither is what payment providers report,
 *    and the sandbox in their place: they send all payments from a few addresses, and a report that comes late costs a sale.
 * 4. Each code of a checkout counts for itself. Over the limit no code of that address and event is checked, not even a good one:
 *    an answer that differs for good codes is all that guessing needs. Checkouts without a code are not limited.
 */
import { LRUCache } from 'lru-cache';
import type { onRequestHookHandler } from 'fastify';
import type { EventPort } from '#actors/event-port.ts';
import { isReading } from './admission-queue.ts';
import { clientAddresses, type AddressedRequest } from './client-address.ts';
import type { HttpApp } from './app.ts';
import type { ClockPort, HttpSettings } from './ports.ts';
import type { QuoteCheckoutBody, StartCheckoutBody } from './schemas/checkout.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for a change that the limit of changes does not count (3). */
    rateLimit?: boolean;
  }
}

const WINDOW_MS = 60_000;

export interface RateReading {
  /** More than allowed. */
  readonly isOver: boolean;
  readonly left: number;
  /** Whole seconds until the key's minute ends. */
  readonly secondsLeft: number;
}

export interface RateWindow {
  /** The reading of a key, without counting. */
  read(key: string): RateReading;
  /** Counts for a key; the reading includes it. */
  count(key: string, times?: number): RateReading;
}

export interface RateBounds {
  readonly perMinuteMax: number;
  readonly keysMax: number;
}

/** Makes a counter whose keys may count up to a maximum in a minute of the service's clock. */
export function createRateWindow({ perMinuteMax, keysMax }: RateBounds, clock: ClockPort): RateWindow {
  // Made at the first count: it takes room for all its keys at once, and most services never count.
  let windows: LRUCache<string, { readonly since: number; counted: number }> | null = null;

  const current = (key: string, now: number): { readonly since: number; counted: number } => {
    const known = windows?.get(key);
    const isCurrent = known !== undefined && now >= known.since && now - known.since < WINDOW_MS;
    return isCurrent ? known : { since: now, counted: 0 };
  };
  const readingOf = ({ since, counted }: { readonly since: number; readonly counted: number }, now: number) => ({
    isOver: counted > perMinuteMax,
    left: Math.max(0, perMinuteMax - counted),
    secondsLeft: Math.ceil((since + WINDOW_MS - now) / 1_000),
  });

  return {
    read(key) {
      const now = clock.now();
      return readingOf(current(key, now), now);
    },
    count(key, times = 1) {
      const now = clock.now();
      const window = current(key, now);
      window.counted += times;
      windows ??= new LRUCache({ max: keysMax });
      windows.set(key, window);
      return readingOf(window, now);
    },
  };
}

// ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Limits the routes that are added from here on, before their requests wait for anything. */
export function limitChanges(app: HttpApp, settings: HttpSettings, clock: ClockPort): void {
  const { rateLimitPerMinute: perMinuteMax, trustProxy, limits } = settings;
  if (perMinuteMax === 0) return;
  const addressOf = clientAddresses(trustProxy);
  const changes = createRateWindow({ perMinuteMax, keysMax: limits.rateLimitedAddressesMax }, clock);
  const limit: onRequestHookHandler = (request, reply, done) => {
    const { isOver, left, secondsLeft } = changes.count(addressOf(request));
    reply.headers({
      'x-ratelimit-limit': perMinuteMax,
      'x-ratelimit-remaining': left,
      'x-ratelimit-reset': secondsLeft,
    });
    if (!isOver) return done();
    reply.header('retry-after', secondsLeft).fail('RATE_LIMITED');
  };
  app.addHook('onRoute', (route) => {
    const isLimited = !isReading(route.method) && route.config?.rateLimit !== false;
    if (isLimited) route.onRequest = [limit, ...[route.onRequest ?? []].flat()];
  });
}

// ── discount codes ───────────────────────────────────────────────────────────────────────────────────────────────────

type WithCodes = Omit<QuoteCheckoutBody, 'hold_id'> & Pick<StartCheckoutBody, 'items'>;

export interface CodeGuesses {
  /** Counts the unknown codes of a start or a quote. The seconds to wait when it may not go on, else null. */
  check(request: AddressedRequest & { readonly body: WithCodes }, event: EventPort): Promise<number | null>;
}

export function boundCodeGuesses({ trustProxy, limits }: HttpSettings, clock: ClockPort): CodeGuesses {
  const addressOf = clientAddresses(trustProxy);
  const bounds = { perMinuteMax: limits.unknownCodesPerMinuteMax, keysMax: limits.rateLimitedAddressesMax };
  const unknownCodes = createRateWindow(bounds, clock);
  return {
    async check(request, event) {
      const codes = codesIn(request.body);
      if (codes.length === 0) return null;
      const key = `${addressOf(request)} ${request.body.event_id}`;
      const before = unknownCodes.read(key);
      if (before.isOver) return before.secondsLeft;
      const { count } = await event.read({ type: 'CountUnknownCodes', codes });
      // Read again: others of this address may have been counted meanwhile.
      const { isOver, secondsLeft } = count === 0 ? unknownCodes.read(key) : unknownCodes.count(key, count);
      return isOver ? secondsLeft : null;
    },
  };
}

function codesIn({ promo_code: promoCode, items }: WithCodes): readonly string[] {
  return [promoCode, ...(items ?? []).map((item) => item.discount_code)].filter((code) => typeof code === 'string');
}
