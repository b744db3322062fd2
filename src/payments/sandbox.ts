/** The embedded payment provider, for trying out and tests: no money moves, and outages can be simulated. */
import { createHmac } from 'node:crypto';
import { eventNumberOf, joinId, SECRET_LENGTH } from '#domain/ids.ts';
import { ProviderUnavailable, type PaymentProvider, type PaymentClockPort } from './provider.ts';
import type { SandboxRefunds } from './sandbox-refunds.ts';
import { readWebhook } from './standard-webhooks.ts';

export interface SandboxProvider extends PaymentProvider {
  /** End of the simulated outage; in the past when there is none. */
  readonly outageEndsAt: number;
  /** Simulates an outage for some seconds; 0 ends it, and so does a restart. Returns the end of the outage. */
  simulateOutage(seconds: number): number;
}

/** Opens the sandbox behind one provider name; `pageOf` is the address of a session's page. */
export function createSandboxProvider(
  secret: string,
  clock: Pick<PaymentClockPort, 'now'>,
  pageOf: (checkoutSessionId: string) => string,
  refunds: SandboxRefunds,
): SandboxProvider {
  let outageEndsAt = 0;
  const assertNoOutage = (): void => {
    if (clock.now() < outageEndsAt) throw new ProviderUnavailable('the sandbox simulates an outage');
  };
  return {
    get outageEndsAt() {
      return outageEndsAt;
    },
    simulateOutage(seconds) {
      outageEndsAt = clock.now() + Math.round(seconds * 1000);
      return outageEndsAt;
    },
    async openSession({ paymentId, expiresAt }) {
      assertNoOutage();
      const checkoutSessionId = sessionIdOf(secret, paymentId);
      return { checkoutSessionId, redirectUrl: pageOf(checkoutSessionId), expiresAt };
    },
    // Sessions stay open after their order has ended, so that late money can be tested.
    expireSession: null,
    refunds: {
      async listRefunds(checkoutSessionId) {
        assertNoOutage();
        return refunds.listOf(checkoutSessionId);
      },
      async refund(request) {
        assertNoOutage();
        return refunds.refund(request);
      },
    },
    readWebhook: (delivery, moments) => readWebhook(secret, delivery, moments),
  };
}

/**
 * Stands in for a provider that is not configured: signed webhooks, as a bridge sends them, are read; no session can be
 * opened, and nothing given back.
 */
export function createAbsentProvider(secret: string): PaymentProvider {
  return {
    openSession: () => Promise.reject(new ProviderUnavailable('no payment provider is configured')),
    expireSession: null,
    refunds: null,
    readWebhook: (delivery, moments) => readWebhook(secret, delivery, moments),
  };
}

/** The same payment has the same session id after a restart, and nobody can guess it without the secret. */
function sessionIdOf(secret: string, paymentId: string): string {
  const digest = createHmac('sha256', secret).update(paymentId).digest('base64url');
  return joinId('cs', eventNumberOf('pay', paymentId) ?? 0, digest.slice(0, SECRET_LENGTH));
}
