/**
 * The embedded provider: sessions that cost nothing, and outages on demand.
 *
 * Owns no session: an id is made from the payment's id and the provider's secret, so that the same payment has the same session
 * after a restart too, and nobody can guess it. What the buyer does on the page is `sandbox-till.ts`.
 *
 * 1. Outages are soft state: a restart ends them.
 */
import { createHmac } from 'node:crypto';
import { eventNumberOf, joinId, SECRET_LENGTH } from '#domain/ids.ts';
import { ProviderUnavailable, type PaymentProvider } from './provider.ts';
import { readReport } from './standard-webhooks.ts';
import type { ClockPort } from './ports.ts';

export interface SandboxProvider extends PaymentProvider {
  /** Until when it plays dead; in the past when it does not. */
  readonly outageEndsAt: number;
  /** Plays dead for some seconds; 0 ends it. Returns the moment at which it is over. */
  breakDown(seconds: number): number;
}

/** Opens the sandbox behind one provider name; `pageOf` is the address of a session's page. */
export function createSandboxProvider(
  secret: string,
  clock: Pick<ClockPort, 'now'>,
  pageOf: (checkoutSessionId: string) => string,
): SandboxProvider {
  let outageEndsAt = 0;
  return {
    get outageEndsAt() {
      return outageEndsAt;
    },
    breakDown(seconds) {
      outageEndsAt = clock.now() + Math.round(seconds * 1000);
      return outageEndsAt;
    },
    async openSession({ paymentId, expiresAt }) {
      if (clock.now() < outageEndsAt) throw new ProviderUnavailable('the sandbox plays an outage');
      const checkoutSessionId = sessionIdOf(secret, paymentId);
      return { checkoutSessionId, redirectUrl: pageOf(checkoutSessionId), expiresAt };
    },
    // The page of a session shows what its order has come to; it stays, so that late money can be tried out.
    expireSession: null,
    readWebhook: (delivery, moments) => readReport(secret, delivery, moments),
  };
}

/** The provider behind a name where nothing stands: webhooks of a bridge are read, sessions cannot be had. */
export function createAbsentProvider(secret: string): PaymentProvider {
  return {
    openSession: () => Promise.reject(new ProviderUnavailable('no payment provider is configured')),
    expireSession: null,
    readWebhook: (delivery, moments) => readReport(secret, delivery, moments),
  };
}

function sessionIdOf(secret: string, paymentId: string): string {
  const digest = createHmac('sha256', secret).update(paymentId).digest('base64url');
  return joinId('cs', eventNumberOf('pay', paymentId) ?? 0, digest.slice(0, SECRET_LENGTH));
}
