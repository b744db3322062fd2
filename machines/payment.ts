/**
 * A payment: one try at one amount of an order with a payment provider.
 *
 * `src/domain/orders` uses this table when a session is opened and when a provider reports an outcome.
 */
import { setup } from 'xstate';
import { compile, type StatusOf } from './compile.ts';

export type PaymentTrigger = 'OPEN' | 'PAY' | 'DECLINE' | 'CANCEL' | 'EXPIRE';

const lateMoney = {
  target: 'PAID',
  description: 'The provider reports the money although the session was closed here.',
  meta: {
    also: 'It counts as late money: the order comes back if its tickets can still be had, else a refund is due.',
  },
} as const;

export const paymentMachine = setup({ types: { events: {} as { type: PaymentTrigger } } }).createMachine({
  id: 'payment',
  description:
    'One try at one amount with a payment provider; a new try after a decline is a new payment. The provider may report an outcome before it has answered the request for a session. Refunds have statuses of their own: a PAID payment stays PAID.',
  initial: {
    target: 'REQUESTED',
    description: 'The order is written, or a session for the next amount is asked for.',
    meta: { also: 'Only then is the provider asked, so that a crash never forgets a session.' },
  },
  states: {
    REQUESTED: {
      description: 'Written down; the provider has not opened a session yet, or could not be reached.',
      on: {
        OPEN: {
          target: 'OPEN',
          description: 'The provider opened a session.',
          meta: { also: 'The buyer gets the redirect_url.' },
        },
        PAY: { target: 'PAID', description: 'The provider reports the money before it answered.' },
        DECLINE: { target: 'DECLINED', description: 'The provider reports a decline before it answered.' },
        CANCEL: {
          target: 'CANCELLED',
          description: 'The buyer cancels at the provider before it answered, or the order is cancelled.',
        },
        EXPIRE: {
          target: 'EXPIRED',
          description: 'The payment window of the order, or the session at the provider, runs out.',
        },
      },
    },
    OPEN: {
      description: 'The buyer can pay at the provider.',
      on: {
        PAY: {
          target: 'PAID',
          description: 'The provider reports the money.',
          meta: { also: 'The order takes it; what it cannot use is due as a refund.' },
        },
        DECLINE: {
          target: 'DECLINED',
          description: 'The provider reports a decline.',
          meta: { also: 'The session is closed; payment_status is FAILED until the buyer opens a new one.' },
        },
        CANCEL: {
          target: 'CANCELLED',
          description: 'The buyer cancels at the provider, or the order is cancelled.',
          meta: { also: 'A PENDING order is cancelled.' },
        },
        EXPIRE: {
          target: 'EXPIRED',
          description: 'The payment window of the order, or the session at the provider, runs out.',
        },
      },
    },
    DECLINED: { description: 'The provider said no.', on: { PAY: lateMoney } },
    CANCELLED: { description: 'Called off before money came.', on: { PAY: lateMoney } },
    EXPIRED: { description: 'The window ran out before money came.', on: { PAY: lateMoney } },
    PAID: {
      description:
        'The money is there. A repeated report changes nothing; another sum through the same session is a payment of its own.',
      type: 'final',
    },
  },
});

export type PaymentStatus = StatusOf<typeof paymentMachine>;
export const paymentTransitions = compile(paymentMachine);
