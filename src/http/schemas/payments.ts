/** The bodies of payments: webhooks and the sandbox. */
import { Type } from 'typebox';
import { Time } from './fields.ts';

const Provider = Type.String({ enum: ['provider_a', 'provider_b'] });

export const WebhookAnswer = Type.Object({
  result: Type.String({
    enum: ['recorded', 'repeated', 'ignored'],
    description: 'repeated: it was known already, nothing changed. ignored: its type concerns no payment.',
  }),
});

export const SettleSession = Type.Object({
  outcome: Type.String({ enum: ['paid', 'declined', 'cancelled'] }),
  installment: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 12,
      description: "Another installment of the same order than the session's; the next one is opened where needed.",
    }),
  ),
});

export const Outage = Type.Object({
  provider: Type.Optional(Provider),
  seconds: Type.Number({ minimum: 0, maximum: 86_400, description: '0 ends the outage.' }),
});

export const OutageAnswer = Type.Object({
  outages: Type.Array(Type.Object({ provider: Provider, ends_at: Time })),
});
