/**
 * The webhooks about payments and refunds of the service's own format: signed as Standard Webhooks describes, with a
 * small JSON body.
 *
 * The sandbox sends them, and so does a bridge to another payment provider.
 *
 * 1. The signature is checked before anything of the body is read.
 */
import { timingSafeEqual } from 'node:crypto';
import { Ajv, type ValidateFunction } from 'ajv';
import { Webhook } from 'standardwebhooks';
import { problemsInWords } from '#domain/schema-problems.ts';
import { REFUND_REFERENCE_LENGTH_MAX } from '#domain/orders/refunds.ts';
import {
  isFresh,
  type PaymentReport,
  type RefundReport,
  type WebhookDelivery,
  type WebhookResult,
} from './provider.ts';

export interface WebhookBody {
  readonly type: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly data: {
    readonly checkout_session_id: string;
    readonly payment_id?: string | null;
    readonly refund_id?: string | null;
    readonly reference?: string | null;
    readonly amount: number | null;
    readonly currency: string | null;
  };
}

const outcomeOfType: Readonly<Record<string, PaymentReport['outcome']>> = {
  'payment.paid': 'paid',
  'payment.declined': 'declined',
  'payment.cancelled': 'cancelled',
};

const statusOfType: Readonly<Record<string, NonNullable<RefundReport['status']>>> = {
  'refund.succeeded': 'SUCCEEDED',
  'refund.pending': 'PENDING',
  'refund.failed': 'FAILED',
};

const textOrNull = { type: ['string', 'null'] } as const;

/** The schema of the body; whether its `type` is known is checked before. */
export const WEBHOOK_BODY = {
  type: 'object',
  required: ['type', 'data'],
  properties: {
    type: {
      type: 'string',
      description:
        '`payment.paid`, `payment.declined`, `payment.cancelled`, `refund.succeeded`, `refund.pending` or `refund.failed`; others are answered 200 and ignored.',
      examples: ['payment.paid'],
    },
    timestamp: { description: 'When it happened (RFC 3339).', examples: ['2027-05-07T18:00:00Z'] },
    data: {
      type: 'object',
      required: ['checkout_session_id'],
      properties: {
        checkout_session_id: {
          type: 'string',
          maxLength: 512,
          description: 'The `checkout_session_id` of the start of the checkout.',
        },
        payment_id: { ...textOrNull, maxLength: 512, description: 'The provider’s own id of the payment.' },
        refund_id: {
          ...textOrNull,
          maxLength: 512,
          description: 'Of a refund that was executed: the `refund_id` that it was asked for with.',
        },
        reference: {
          ...textOrNull,
          maxLength: REFUND_REFERENCE_LENGTH_MAX,
          description: 'The provider’s own id of the refund: the same one counts once.',
        },
        amount: {
          type: ['integer', 'null'],
          minimum: 0,
          description: 'In the minor unit of the currency. A report of a refund has it.',
        },
        currency: {
          ...textOrNull,
          maxLength: 16,
          description: 'ISO 4217. Money of another amount or currency than asked is recorded, and due back.',
        },
      },
    },
  },
} as const;

let compiledBody: ValidateFunction<WebhookBody> | null = null;

/** Compiled at the first use, which saves it at a start. */
function bodyValidator(): ValidateFunction<WebhookBody> {
  return (compiledBody ??= new Ajv({ allErrors: true, allowUnionTypes: true, verbose: true }).compile(WEBHOOK_BODY));
}

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
export function readWebhook(secret: string, delivery: WebhookDelivery, moments: readonly number[]): WebhookResult {
  const webhookId = headerOf(delivery, 'webhook-id');
  if (!isSigned(secret, webhookId, delivery, moments)) return { outcome: 'UNTRUSTED' };
  const body = parse(delivery.rawBody);
  const type = typeof body?.type === 'string' ? body.type : '';
  const outcome = outcomeOfType[type];
  const status = statusOfType[type];
  if (body === null) return malformed([{ path: '', message: 'is not a JSON object' }]);
  if (outcome === undefined && status === undefined) return { outcome: 'IGNORED' };
  const isWebhookBody = bodyValidator();
  if (!isWebhookBody(body)) {
    return malformed(problemsInWords(isWebhookBody.errors ?? []));
  }
  const { checkout_session_id: checkoutSessionId, payment_id, amount, refund_id, reference } = body.data;
  const paymentId = payment_id ?? null;
  const currency = body.data.currency?.toUpperCase() ?? null;
  if (outcome === undefined) {
    if (amount == null || amount === 0) return malformed([{ path: '/data/amount', message: 'must be more than 0' }]);
    const named = { refundId: refund_id ?? null, reference: reference ?? null };
    const report = { of: 'REFUND', orderId: null, checkoutSessionId, amountCents: amount, currency, ...named } as const;
    return { outcome: 'REPORT', report: { ...report, status: status! } };
  }
  const money = { amountCents: amount ?? null, currency };
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

function malformed(problems: readonly { readonly path: string; readonly message: string }[]): WebhookResult {
  return { outcome: 'MALFORMED', problems };
}
