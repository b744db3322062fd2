/**
 * The signed webhooks of payment providers.
 *
 * The body is kept as the text that was signed; it is parsed only after its signature was found good.
 */
import { Type } from 'typebox';
import { isProviderName } from '#payments/provider.ts';
import type { HttpApp } from '../app.ts';
import { errorResponses } from '../openapi.ts';
import type { PublicPorts } from '../ports.ts';
import { WebhookAnswer } from '../schemas/payments.ts';
import { refuse } from '#domain/refusal.ts';

const ProviderPath = Type.Object({ provider: Type.String() });

export async function paymentRoutes(app: HttpApp, { payments }: Pick<PublicPorts, 'payments'>): Promise<void> {
  const { webhooks } = payments;
  await app.register(async (scope: HttpApp) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));

    scope.post(
      '/api/payments/webhooks/:provider',
      {
        config: { rateLimit: false },
        schema: {
          operationId: 'receivePaymentWebhook',
          tags: ['Payments'],
          summary: 'Report what became of a checkout session',
          description:
            'Signed as Standard Webhooks describes (webhook-id, webhook-timestamp, webhook-signature), or as Stripe signs where Stripe stands behind the provider. Body: {type: "payment.paid" | "payment.declined" | "payment.cancelled", timestamp, data: {checkout_session_id, payment_id, amount, currency}}. A repeat counts once.',
          params: ProviderPath,
          response: { 200: WebhookAnswer, ...errorResponses },
        },
      },
      async (request, reply) => {
        const { provider } = request.params;
        if (!isProviderName(provider)) return reply.fail('NOT_FOUND');
        const rawBody = typeof request.body === 'string' ? request.body : '';
        const answer = await webhooks.receive(provider, { headers: request.headers, rawBody });
        switch (answer.outcome) {
          case 'RECORDED':
            return reply.send({ result: 'recorded' });
          case 'REPEATED':
            return reply.send({ result: 'repeated' });
          case 'IGNORED':
            return reply.send({ result: 'ignored' });
          case 'UNKNOWN':
            return reply.refuse(refuse('ORDER_NOT_FOUND', {}));
          case 'UNTRUSTED':
            return reply.fail('UNAUTHORIZED');
          case 'MALFORMED':
            return reply.invalid(answer.problems);
          case 'REFUSED':
            return reply.refuse(answer);
        }
      },
    );
  });
}
