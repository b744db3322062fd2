/**
 * The payment webhooks of the service's own format: signed as Standard Webhooks describes, with a small JSON body.
 *
 * The sandbox sends them, and so does a bridge to another payment provider.
 *
 * 1. The signature is checked before anything of the body is read.
 */
import { timingSafeEqual } from 'node:crypto';
import { Ajv } from 'ajv';
import { Webhook } from 'standardwebhooks';
import { isFresh, type PaymentReport, type WebhookDelivery, type WebhookReading } from './provider.ts';

export interface WebhookBody {
  readonly type: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly data: {
    readonly checkout_session_id: string;
    readonly payment_id: string | null;
    readonly amount: number | null;
    readonly currency: string | null;
  };
}

const outcomeOfType: Readonly<Record<string, PaymentReport['outcome']>> = {
  'payment.paid': 'paid',
  'payment.declined': 'declined',
  'payment.cancelled': 'cancelled',
};

const reference = { type: 'string', maxLength: 512 } as const;
const isWebhookBody = new Ajv({ allErrors: true, allowUnionTypes: true }).compile<WebhookBody>({
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: ['checkout_session_id'],
      properties: {
        checkout_session_id: reference,
        payment_id: { type: ['string', 'null'], maxLength: 512 },
        amount: { type: ['integer', 'null'], minimum: 0 },
        currency: { type: ['string', 'null'], maxLength: 16 },
      },
    },
  },
});

/** Signs a webhook with `moment` as its timestamp. */
export function signWebhook(secret: string, webhookId: string, body: WebhookBody, moment: number): WebhookDelivery {
  const rawBody = JSON.stringify(body);
  const sentAt = new Date(moment);
  return {
    headers: {
      'webhook-id': webhookId,
      'webhook-timestamp': String(Math.floor(moment / 1000)),
      'webhook-signature': new Webhook(secret).sign(webhookId, sentAt, rawBody),
    },
    rawBody,
  };
}

/** Checks the signature of a delivery and reads it. An unknown type is ignored, whatever else its body has. */
export function readWebhook(secret: string, delivery: WebhookDelivery, moments: readonly number[]): WebhookReading {
  const webhookId = headerOf(delivery, 'webhook-id');
  if (!isSigned(secret, webhookId, delivery, moments)) return { outcome: 'UNTRUSTED' };
  const body = parse(delivery.rawBody);
  const outcome = outcomeOfType[typeof body?.type === 'string' ? body.type : ''];
  if (body === null) return malformed([{ path: '', message: 'is not a JSON object' }]);
  if (outcome === undefined) return { outcome: 'IGNORED' };
  if (!isWebhookBody(body)) {
    return malformed(
      (isWebhookBody.errors ?? []).map(({ instancePath, message = '' }) => ({ path: instancePath, message })),
    );
  }
  const { checkout_session_id: checkoutSessionId, payment_id, amount, currency } = body.data;
  const paymentId = payment_id ?? null;
  const money = { amountCents: amount ?? null, currency: currency?.toUpperCase() ?? null };
  return { outcome: 'REPORT', report: { of: 'PAYMENT', checkoutSessionId, paymentId, outcome, ...money, webhookId } };
}

function isSigned(secret: string, webhookId: string, delivery: WebhookDelivery, moments: readonly number[]): boolean {
  const timestamp = headerOf(delivery, 'webhook-timestamp');
  if (webhookId === '' || !/^\d{1,12}$/.test(timestamp) || !isFresh(Number(timestamp), moments)) return false;
  const sentAt = new Date(Number(timestamp) * 1000);
  const expected = Buffer.from(new Webhook(secret).sign(webhookId, sentAt, delivery.rawBody));
  return headerOf(delivery, 'webhook-signature')
    .split(' ')
    .map((signature) => Buffer.from(signature))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

function headerOf({ headers }: WebhookDelivery, name: string): string {
  const header = headers[name];
  return typeof header === 'string' ? header : '';
}

function parse(rawBody: string): { readonly type?: unknown } | null {
  try {
    const body: unknown = JSON.parse(rawBody);
    return typeof body === 'object' && body !== null ? body : null;
  } catch {
    return null;
  }
}

function malformed(problems: readonly { readonly path: string; readonly message: string }[]): WebhookReading {
  return { outcome: 'MALFORMED', problems };
}
