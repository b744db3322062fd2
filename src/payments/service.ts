/**
 * Composes the payment service: a provider for each name, checkout sessions and their expiry, refunds, webhooks, the
 * sandbox.
 */
import type { PaymentProviderName } from '#domain/catalogue/definition.ts';
import { createCheckoutSessions, type CheckoutSessionPorts, type CheckoutSessions } from './checkout-sessions.ts';
import type { EventFinder } from '#actors/event-port.ts';
import type { PaymentProvider, PaymentClockPort } from './provider.ts';
import { createAbsentProvider, createSandboxProvider, type SandboxProvider } from './sandbox.ts';
import { createSandboxCheckout, type SandboxCheckout } from './sandbox-checkout.ts';
import { openStripe, type StripeSettings } from './stripe.ts';
import { openRefundOutbox, type RefundOutbox } from './refund-outbox.ts';
import { SandboxRefunds } from './sandbox-refunds.ts';
import { openSessionExpiry, type SessionExpiry } from './session-expiry.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

interface PaymentSettings {
  readonly sandbox: boolean;
  readonly secrets: Readonly<Record<PaymentProviderName, string>>;
  /** `provider` is the name whose payments go to Stripe; null without Stripe. */
  readonly stripe: (StripeSettings & { readonly provider: PaymentProviderName }) | null;
  /** Calls that open a session at one provider at once. */
  readonly callsMax: number;
}

interface PaymentPorts extends Pick<CheckoutSessionPorts, 'baseUrl' | 'active' | 'personalData' | 'elapsedMs'> {
  readonly events: Pick<EventFinder, 'byEventId' | 'byId'>;
  /** Whether this machine or node is the one whose turns change an event. */
  readonly owns: (eventId: string) => boolean;
  readonly clock: PaymentClockPort;
}

export interface PaymentService {
  readonly checkoutSessions: CheckoutSessions;
  readonly webhooks: Webhooks;
  readonly sessionExpiry: SessionExpiry;
  readonly refundOutbox: RefundOutbox;
  /** Null where the sandbox is off. */
  readonly sandbox: SandboxCheckout | null;
  /** Names without a provider: payments there are refused. */
  readonly absent: readonly PaymentProviderName[];
}

const PROVIDER_NAMES: readonly PaymentProviderName[] = ['provider_a', 'provider_b'];

/** The names that have no provider under these settings. */
export function absentProviders(
  sandbox: boolean,
  stripe: { readonly provider: PaymentProviderName } | null,
): readonly PaymentProviderName[] {
  return sandbox ? [] : PROVIDER_NAMES.filter((name) => name !== stripe?.provider);
}

export async function openPaymentService(settings: PaymentSettings, ports: PaymentPorts): Promise<PaymentService> {
  const { secrets, stripe, callsMax } = settings;
  const { baseUrl, active, events, clock, elapsedMs } = ports;
  const refunds = new SandboxRefunds();
  const sandboxes = new Map<PaymentProviderName, { readonly provider: SandboxProvider; readonly secret: string }>();

  const openProvider = async (name: PaymentProviderName): Promise<PaymentProvider> => {
    const secret = secrets[name];
    if (stripe?.provider === name) return openStripe(stripe, clock);
    if (!settings.sandbox) return createAbsentProvider(secret);
    const provider = createSandboxProvider(secret, clock, (id) => `${baseUrl()}/sandbox/pay/${id}`, refunds);
    sandboxes.set(name, { provider, secret });
    return provider;
  };

  const providers = { provider_a: await openProvider('provider_a'), provider_b: await openProvider('provider_b') };
  const checkoutSessions = createCheckoutSessions({ providers, callsMax, ...ports });
  const webhooks = createWebhooks({ providers, events, clock });
  const sandbox = settings.sandbox
    ? createSandboxCheckout({ sandboxes, events, clock, checkoutSessions, webhooks, refunds })
    : null;
  const sessionExpiry = openSessionExpiry({ providers, events, active });
  const refundOutbox = openRefundOutbox({ providers, events, owns: ports.owns, clock, elapsedMs });
  return {
    checkoutSessions,
    webhooks,
    sessionExpiry,
    refundOutbox,
    sandbox,
    absent: absentProviders(settings.sandbox, stripe),
  };
}
