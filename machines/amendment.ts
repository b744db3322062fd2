/**
 * An amendment: a change of an order that was paid, or is free.
 *
 * `src/domain/orders/amendments` uses this table when one is asked for, paid, ended, or paid after it had ended.
 */
import { setup } from 'xstate';
import { compile, type StatusOf } from './compile.ts';

type AmendmentTrigger = 'APPLY' | 'EXPIRE' | 'CANCEL' | 'APPLY_LATE';

const late = {
  target: 'APPLIED',
  description: 'Money lands late, nothing else of the order was changed since, and the same can still be had.',
  meta: { also: 'As in time. Otherwise: recorded, refund due, no change.' },
} as const;

export const amendmentMachine = setup({ types: { events: {} as { type: AmendmentTrigger } } }).createMachine({
  id: 'amendment',
  description:
    'A change of an order that was paid, or is free. One that costs nothing is applied in the turn that asks for it.',
  initial: {
    target: 'PENDING',
    description: 'A buyer or an operator asks for it.',
    meta: {
      also: "Where something is to be paid, the payment window starts, and what is wanted beyond the order's own places is held. The order and its tickets stay as they are.",
    },
  },
  states: {
    PENDING: {
      description: 'Awaits its payment within the payment window.',
      on: {
        APPLY: {
          target: 'APPLIED',
          description: 'Its payment lands, or nothing is to be paid.',
          meta: { also: 'Tickets, places and sums of the order change in one turn.' },
        },
        EXPIRE: {
          target: 'EXPIRED',
          description: 'The payment window runs out.',
          meta: { also: 'What it held returns to sale.' },
        },
        CANCEL: {
          target: 'CANCELLED',
          description:
            'The buyer cancels at the provider, somebody withdraws it, or the order or one of its dates is cancelled.',
          meta: { also: 'What it held returns to sale.' },
        },
      },
    },
    APPLIED: { description: 'The order is as it says.', type: 'final' },
    EXPIRED: { description: 'Its payment window ran out before any money came.', on: { APPLY_LATE: late } },
    CANCELLED: { description: 'Called off before any money came.', on: { APPLY_LATE: late } },
  },
});

export type AmendmentStatus = StatusOf<typeof amendmentMachine>;
export const amendmentTransitions = compile(amendmentMachine);
