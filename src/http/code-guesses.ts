/**
 * Bounds the guessing of discount codes: an address that named too many codes that do not exist waits out its minute.
 *
 * Called by the start of a checkout, the one request that codes are sent with.
 *
 * 1. Codes are counted when they are read, before the request waits for anything: starts that are sent side by side count
 *    like starts one after the other. Each code of a request counts for itself.
 * 2. Over the bound no code of that address and event is looked up, a good one neither: an answer that differs for good ones
 *    would be all that a guesser needs. Starts without a code go on.
 */
import { clientAddresses, type AddressedRequest } from './client-address.ts';
import { createRateWindow } from './rate-window.ts';
import type { EventPort, ClockPort, HttpSettings } from './ports.ts';
import type { StartCheckoutBody } from './schemas/checkout.ts';

export interface CodeGuesses {
  /** Counts the unknown codes of a start. The seconds to wait when it may not go on, else null. */
  check(request: AddressedRequest & { readonly body: StartCheckoutBody }, event: EventPort): Promise<number | null>;
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

function codesIn({ promo_code: promoCode, items }: StartCheckoutBody): readonly string[] {
  return [promoCode, ...(items ?? []).map((item) => item.discount_code)].filter((code) => typeof code === 'string');
}
