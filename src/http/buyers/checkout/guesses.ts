/**
 * Limits the guesses of a client address on an event in a minute: discount codes that do not exist, and refusals by the
 * cap on tickets of an e-mail address. Such a refusal shows what somebody else has bought.
 */
import type { FastifyReply } from 'fastify';
import type { EventPort } from '#actors/event-port.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { createRateWindow, type LimitPorts, type RateLimitResult } from '../../limits/rate-limits.ts';
import { fail, type HttpRefusal } from '../../protocol/errors.ts';
import { type AddressedRequest, clientAddresses } from '../../protocol/client-address.ts';
import type { QuoteCheckoutBody, StartCheckoutBody } from './schema.ts';

type WithCodes = Omit<QuoteCheckoutBody, 'hold_id'> & Pick<StartCheckoutBody, 'items'>;
type GuessingRequest = AddressedRequest & { readonly body: WithCodes };

interface Guesses {
  /**
   * Counts the unknown codes of a start or a quote. Returns the refusal, with Retry-After on the reply, when the
   * request may not go on; else null.
   */
  checkCodes(request: GuessingRequest, event: EventPort, reply: FastifyReply): Promise<HttpRefusal | null>;
  /** Starts a checkout and counts a refusal by the cap of its address; over the limit it is not started. */
  boundCap<Reply extends object>(
    request: GuessingRequest,
    reply: FastifyReply,
    start: () => Promise<Reply | Refusal>,
  ): Promise<Reply | Refusal | HttpRefusal>;
}

export function boundGuesses({ settings, clock, sharedLimits }: LimitPorts): Guesses {
  const { trustProxy, limits } = settings;
  const addressOf = clientAddresses(trustProxy);
  const bounds = { perMinuteMax: limits.guessesPerMinuteMax, keysMax: limits.rateLimitedAddressesMax };
  const unknownCodes = createRateWindow(bounds, clock, sharedLimits?.windows('unknown codes'));
  const capRefusals = createRateWindow(bounds, clock, sharedLimits?.windows('cap of an address'));
  const keyOf = (request: GuessingRequest): string => `${addressOf(request)} ${request.body.event_id}`;
  return {
    async checkCodes(request, event, reply) {
      const codes = codesIn(request.body);
      if (codes.length === 0) return null;
      const key = keyOf(request);
      const before = unknownCodes.read(key);
      if (before.isOver) return limited(before, reply);
      const { count } = await event.read({ type: 'CountUnknownCodes', codes });
      // Read again: others of this address may have been counted meanwhile.
      const now = count === 0 ? unknownCodes.read(key) : unknownCodes.count(key, count);
      return now.isOver ? limited(now, reply) : null;
    },
    async boundCap(request, reply, start) {
      const key = keyOf(request);
      const before = capRefusals.read(key);
      if (before.isOver) return limited(before, reply);
      const started = await start();
      if (!isRefusal(started) || started.code !== 'MAX_TICKETS_PER_EMAIL_EXCEEDED') return started;
      const now = capRefusals.count(key);
      return now.isOver ? limited(now, reply) : started;
    },
  };
}

function limited({ secondsLeft }: RateLimitResult, reply: FastifyReply): HttpRefusal {
  reply.header('retry-after', secondsLeft);
  return fail('RATE_LIMITED');
}

function codesIn({ promo_code: promoCode, items }: WithCodes): readonly string[] {
  return [promoCode, ...(items ?? []).map((item) => item.discount_code)].filter((code) => typeof code === 'string');
}
