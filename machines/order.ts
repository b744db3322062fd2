/**
 * An order: the tickets of one hold, their price, and the payments that must cover it.
 *
 * Amounts and conditions are in `src/domain/orders`; each try to pay follows `payment.ts`.
 */
import { setup } from 'xstate';
import { compile, type StatusOf } from './compile.ts';

export type OrderTrigger =
  'PAY_IN_FULL' | 'PAY_INSTALLMENT' | 'COVER' | 'EXPIRE' | 'CANCEL' | 'PAY_LATE_IN_FULL' | 'PAY_LATE_INSTALLMENT';

export const orderMachine = setup({ types: { events: {} as { type: OrderTrigger } } }).createMachine({
  id: 'order',
  description:
    'A purchase from checkout start to its last payment. payment_status is not kept: it follows from the status and the payments. A declined payment leaves the order where it is, and money that an order cannot use is recorded and due as a refund.',
  initial: {
    target: 'PENDING',
    description: 'POST /api/checkout/start is accepted.',
    meta: {
      also: 'The hold is CONVERTED and the payment window starts. A free order is paid in full (PAY_IN_FULL) in the same turn.',
    },
  },
  states: {
    PENDING: {
      description: 'Awaits its first payment within the payment window.',
      on: {
        PAY_IN_FULL: {
          target: 'CONFIRMED',
          description: 'A payment covers all that was left to pay, or nothing was to be paid.',
          meta: { also: 'The hold is CONSUMED and tickets are issued; payment_status is COMPLETED.' },
        },
        PAY_INSTALLMENT: {
          target: 'PARTIALLY_PAID',
          description: 'The first of several installments is paid.',
          meta: { also: 'The hold is CONSUMED and tickets are issued; payment_status stays PENDING.' },
        },
        EXPIRE: {
          target: 'EXPIRED',
          description: 'The payment window runs out.',
          meta: { also: 'The hold is EXPIRED, tickets return to sale, uses of discount codes return.' },
        },
        CANCEL: {
          target: 'CANCELLED',
          description: 'The buyer cancels at the provider, or the operator cancels the order or one of its dates.',
          meta: { also: 'The hold is RELEASED, tickets return to sale, uses of discount codes return.' },
        },
      },
    },
    PARTIALLY_PAID: {
      description: 'Tickets are issued; more installments are to be paid. It waits for the buyer or the operator.',
      on: {
        PAY_INSTALLMENT: {
          target: 'PARTIALLY_PAID',
          description: 'A further installment is paid, but not the last one.',
        },
        PAY_IN_FULL: {
          target: 'CONFIRMED',
          description: 'The last installment is paid.',
          meta: { also: 'payment_status is COMPLETED.' },
        },
        COVER: {
          target: 'CONFIRMED',
          description: 'Tickets of the order are cancelled, and what was paid covers those that stay.',
          meta: { also: 'payment_status is COMPLETED.' },
        },
        CANCEL: {
          target: 'CANCELLED',
          description:
            'Operator only: cancels the order, its last ticket or one of its dates. The buyer may its last ticket, where the event offers it.',
          meta: { also: 'Tickets are void and return to sale; what was paid is due as a refund.' },
        },
      },
    },
    CONFIRMED: {
      description: 'Paid in full.',
      on: {
        CANCEL: {
          target: 'CANCELLED',
          description:
            'Operator only: cancels the order, its last ticket or one of its dates. The buyer may its last ticket, where the event offers it.',
          meta: { also: 'Tickets are void and return to sale; what was paid is due as a refund.' },
        },
      },
    },
    EXPIRED: {
      description: 'Its payment window ran out before any money came.',
      on: {
        PAY_LATE_IN_FULL: {
          target: 'CONFIRMED',
          description: 'Money lands late, covers the whole price, and the same tickets and seats can still be had.',
          meta: { also: 'The hold is reclaimed and tickets are issued. Otherwise: recorded, refund due, no change.' },
        },
        PAY_LATE_INSTALLMENT: {
          target: 'PARTIALLY_PAID',
          description: 'The first installment lands late, and the same tickets and seats can still be had.',
          meta: { also: 'The hold is reclaimed and tickets are issued. Otherwise: recorded, refund due, no change.' },
        },
      },
    },
    CANCELLED: {
      description: 'Called off. An order that the operator cancelled stays cancelled; later money is due as a refund.',
      on: {
        PAY_LATE_IN_FULL: {
          target: 'CONFIRMED',
          description:
            'The buyer, not the operator, had cancelled; money lands late, covers the whole price, and the same tickets and seats can still be had.',
          meta: { also: 'The hold is reclaimed and tickets are issued. Otherwise: recorded, refund due, no change.' },
        },
        PAY_LATE_INSTALLMENT: {
          target: 'PARTIALLY_PAID',
          description:
            'The buyer, not the operator, had cancelled; the first installment lands late, and the same tickets and seats can still be had.',
          meta: { also: 'The hold is reclaimed and tickets are issued. Otherwise: recorded, refund due, no change.' },
        },
      },
    },
  },
});

export type OrderStatus = StatusOf<typeof orderMachine>;
export const orderTransitions = compile(orderMachine);
