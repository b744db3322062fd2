/**
 * The webhooks of the OpenAPI document: those that payment providers send, whose route reads their text itself, and the
 * notifications that the service sends.
 *
 * 1. Both are signed as Standard Webhooks describes: `SIGNATURE` is the three headers.
 */
import { WEBHOOK_BODY } from '#payments/standard-webhooks.ts';

const SIGNATURE = [
  header('webhook-id', 'Names the message: one with an id that is known already is a repeat.', true),
  header(
    'webhook-timestamp',
    'When it was signed, in seconds since 1970. Over five minutes off, it is not believed.',
    true,
  ),
  header(
    'webhook-signature',
    'Standard Webhooks: `v1,` and the Base64 of the HMAC-SHA-256 of `id.timestamp.body`, under the bytes that follow `whsec_` in the secret (Base64). Several signatures are separated by spaces; one of them must be right.',
    true,
  ),
];

function header(name: string, description: string, required: boolean) {
  return { name, in: 'header', required, description, schema: { type: 'string' } };
}

const text = (description: string) => ({ type: 'string', description });
const textOrNull = (description: string) => ({ type: ['string', 'null'], description });

/** What the document says of the route that takes the reports of payment providers. */
export const PAYMENT_REPORT = {
  parameters: [
    ...SIGNATURE.map((parameter) => ({ ...parameter, required: false })),
    header('Stripe-Signature', 'In place of the other three where Stripe stands behind the provider.', false),
  ],
  requestBody: {
    required: true,
    description: 'The text that was signed; where Stripe stands behind the provider, an event of Stripe.',
    content: { 'application/json': { schema: WEBHOOK_BODY } },
  },
};

const NOTIFICATION_TYPES = {
  AddToCart: 'A hold was placed.',
  InitiateCheckout: 'A checkout was started and its payment session is open.',
  Purchase: 'An order has its first payment, or is free.',
  CompletePayment:
    'An order has its first payment; the same as Purchase, because advertising platforms use either name.',
  'order.confirmed': 'An order is paid in full, or an amendment left nothing to pay.',
  'order.amended': 'Tickets of a paid order were cancelled or changed.',
  'order.cancelled': 'An order was cancelled.',
  'order.expired': 'The payment window of an order has ended.',
  'refund.due': 'Money is due back to a buyer. It is told again when a refund has failed.',
  'refund.succeeded': 'A refund that the service executed was given back.',
  'refund.failed': 'A refund that the service executed did not go and is due again, or needs an operator.',
  'performance.cancelled': 'A date was cancelled.',
};

const CONTENT = {
  type: 'object',
  required: ['id', 'quantity', 'price'],
  properties: {
    id: text('The ticket type, or the extra.'),
    quantity: { type: 'integer', minimum: 1, description: 'Units.' },
    price: { type: 'integer', description: 'Of one, in the minor unit of the currency.' },
  },
};

const DATA = {
  type: 'object',
  required: ['dedupe_id', 'event_id', 'value', 'currency', 'contents', 'customer', 'tracking'],
  properties: {
    dedupe_id: text('The same for all messages of an order or hold, and no key to it: it may be passed on.'),
    order_id: text('The order, for the receiver itself; missing where there is none.'),
    event_id: text('The event.'),
    performance_id: text('The date that was cancelled.'),
    value: {
      type: 'integer',
      description: 'The order’s total, what is due back, or what the refund is of, in the minor unit of the currency.',
    },
    currency: text('ISO 4217.'),
    amendment_id: text('With `order.amended`: the amendment.'),
    difference: { type: 'integer', description: 'With it: what it came to; below zero where something was given up.' },
    withdrawal: { type: 'boolean', description: 'With it: whether the buyer withdrew from the contract.' },
    refund_id: text('With `refund.succeeded` and `refund.failed`: the refund.'),
    amount: { type: 'integer', description: 'With them: what it is of.' },
    refund_due: { type: 'integer', description: 'With `refund.due`: what is due back.' },
    contents: { type: 'array', items: CONTENT, description: 'What was taken.' },
    customer: {
      type: 'object',
      required: ['email', 'phone'],
      description: 'The buyer, as advertising platforms match them; null where nobody is known.',
      properties: {
        email: textOrNull('Hex SHA-256 of the trimmed address in lower case.'),
        phone: textOrNull('Hex SHA-256 of the digits of the phone number.'),
      },
    },
    tracking: { type: 'object', additionalProperties: true, description: 'The `tracking` of the checkout.' },
  },
};

/** The notifications, as an OpenAPI document has them (`webhooks`). */
export const NOTIFICATIONS = Object.fromEntries(
  Object.entries(NOTIFICATION_TYPES).map(([type, summary]) => [
    type,
    {
      post: {
        operationId: `notify${type.replaceAll(/(?:^|\.)(.)/g, (_, letter: string) => letter.toUpperCase())}`,
        tags: ['Notifications'],
        summary,
        description:
          'Sent to `NOTIFY_URL`, signed with `NOTIFY_SECRET`, in the order of what happened to an event; again with growing pauses until it is answered 2xx.',
        security: [],
        parameters: SIGNATURE,
        requestBody: {
          required: true,
          description: 'What happened.',
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['type', 'timestamp', 'data'],
                properties: {
                  type: { type: 'string', enum: [type], description: 'What happened.' },
                  timestamp: { type: 'string', format: 'date-time', description: 'When it happened.' },
                  data: DATA,
                },
              },
            },
          },
        },
        responses: {
          '2XX': { description: 'The receiver has it.' },
          '4XX': { description: 'The receiver did not take it: it is sent again.' },
        },
      },
    },
  ]),
);
