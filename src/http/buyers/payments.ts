/**
 * The signed webhooks of payment providers.
 *
 * The body is kept as the text that was signed; it is parsed only after its signature was found good.
 */
import { Type } from 'typebox';
import { isProviderName } from '#payments/provider.ts';
import type { PublicPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { fail, invalid, NOT_FOUND, ORDER_NOT_FOUND } from '../protocol/errors.ts';
import { addRoute } from '../protocol/route.ts';

const WebhookAnswer = Type.Object({
  result: Type.String({
    enum: ['recorded', 'repeated', 'ignored'],
    description: 'repeated: it was known already, nothing changed. ignored: its type concerns no payment.',
  }),
});

const receiveWebhookSchema = {
  operationId: 'receivePaymentWebhook',
  tags: ['Payments'],
  summary: 'Report what became of a checkout session',
  description:
    'Signed as Standard Webhooks describes (webhook-id, webhook-timestamp, webhook-signature), or as Stripe signs where Stripe stands behind the provider. Body: {type: "payment.paid" | "payment.declined" | "payment.cancelled", timestamp, data: {checkout_session_id, payment_id, amount, currency}}. A repeat counts once.',
  params: Type.Object({ provider: Type.String() }),
  response: { 200: WebhookAnswer },
};

/** Many times the size of a provider's report of one payment. */
const REPORT_BYTES_MAX = 64 * 1024;

export async function paymentRoutes(app: HttpApp, { payments }: Pick<PublicPorts, 'payments'>): Promise<void> {
  const { webhooks } = payments;
  await app.register(async (scope: HttpApp) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));

    addRoute(scope, 'POST /api/payments/webhooks/:provider', receiveWebhookSchema, {
      config: { rateLimit: false, bodyBytesMax: REPORT_BYTES_MAX },
      command: 'RecordPayment',
      answer: async ({ params: { provider }, headers, body }) => {
        if (!isProviderName(provider)) return NOT_FOUND;
        const rawBody = typeof body === 'string' ? body : '';
        const answer = await webhooks.receive(provider, { headers, rawBody });
        switch (answer.outcome) {
          case 'RECORDED':
            return { result: 'recorded' };
          case 'REPEATED':
            return { result: 'repeated' };
          case 'IGNORED':
            return { result: 'ignored' };
          case 'UNKNOWN':
            return ORDER_NOT_FOUND;
          case 'UNTRUSTED':
            return fail('UNAUTHORIZED');
          case 'MALFORMED':
            return invalid(answer.problems);
          case 'REFUSED':
            return answer;
        }
      },
      body: (answer) => answer,
    });
  });
}
