/**
 * The payments of a service, put together: who stands behind each provider's name, the cashier, the webhooks, the sandbox.
 *
 * Called once by `src/service.ts` and by tests.
 */
import type { PaymentProviderName } from '#domain/catalogue.ts';
import { createCashier, type Cashier, type CashierPorts } from './cashier.ts';
import type { PaymentProvider } from './provider.ts';
import type { ClockPort, OfficesPort } from './ports.ts';
import { createAbsentProvider, createSandboxProvider, type SandboxProvider } from './sandbox.ts';
import { createSandboxTill, type SandboxTill } from './sandbox-till.ts';
import { openStripe, type StripeSettings } from './stripe.ts';
import { openSessionCloser, type SessionCloser } from './session-closer.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

export interface PaymentSettings {
  readonly sandbox: boolean;
  readonly secrets: Readonly<Record<PaymentProviderName, string>>;
  /** Stripe stands behind the name that it says; null for nowhere. */
  readonly stripe: (StripeSettings & { readonly provider: PaymentProviderName }) | null;
}

export interface PaymentPorts extends Pick<CashierPorts, 'baseUrl' | 'awake'> {
  readonly offices: OfficesPort;
  readonly clock: ClockPort;
}

export interface PaymentDesk {
  readonly cashier: Cashier;
  readonly webhooks: Webhooks;
  readonly sessionCloser: SessionCloser;
  /** Null where the sandbox is off. */
  readonly sandbox: SandboxTill | null;
  /** The names that nothing stands behind: nothing can be paid there. */
  readonly absent: readonly PaymentProviderName[];
}

const PROVIDER_NAMES: readonly PaymentProviderName[] = ['provider_a', 'provider_b'];

/** The provider names that nothing stands behind. */
export function absentProviders(
  sandbox: boolean,
  stripe: { readonly provider: PaymentProviderName } | null,
): readonly PaymentProviderName[] {
  return sandbox ? [] : PROVIDER_NAMES.filter((name) => name !== stripe?.provider);
}

/** Stands a provider behind each name and opens the desk. */
export async function openPaymentDesk(settings: PaymentSettings, ports: PaymentPorts): Promise<PaymentDesk> {
  const { secrets, stripe } = settings;
  const { baseUrl, awake, offices, clock } = ports;
  const sandboxes = new Map<PaymentProviderName, { readonly provider: SandboxProvider; readonly secret: string }>();

  const stand = async (name: PaymentProviderName): Promise<PaymentProvider> => {
    const secret = secrets[name];
    if (stripe?.provider === name) return openStripe(stripe, clock);
    if (!settings.sandbox) return createAbsentProvider(secret);
    const provider = createSandboxProvider(secret, clock, (id) => `${baseUrl()}/sandbox/pay/${id}`);
    sandboxes.set(name, { provider, secret });
    return provider;
  };

  const providers = { provider_a: await stand('provider_a'), provider_b: await stand('provider_b') };
  const cashier = createCashier({ providers, baseUrl, awake, offices });
  const webhooks = createWebhooks({ providers, offices, clock });
  const sandbox = settings.sandbox ? createSandboxTill({ sandboxes, offices, clock, cashier, webhooks }) : null;
  const sessionCloser = openSessionCloser({ providers, offices, awake });
  return { cashier, webhooks, sessionCloser, sandbox, absent: absentProviders(settings.sandbox, stripe) };
}
