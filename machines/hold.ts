/**
 * A hold: tickets that nobody else can buy, for the length of a window.
 *
 * Its lines, seats and window are kept in `src/domain/holds/hold-records.ts`; its seats follow `seat.ts`.
 */
import { setup } from 'xstate';
import { compile, type StatusOf } from './compile.ts';

export type HoldTrigger =
  'CHANGE' | 'CONVERT' | 'RELEASE' | 'REPLACE' | 'EXPIRE' | 'CONSUME' | 'AMEND' | 'RETURN' | 'RECLAIM';

export const holdMachine = setup({ types: { events: {} as { type: HoldTrigger } } }).createMachine({
  id: 'hold',
  description:
    'A temporary reservation of the tickets that a buyer selected. A checkout without a hold places one and converts it in the same turn.',
  initial: {
    target: 'ACTIVE',
    description: 'POST /api/checkout/holds is accepted.',
    meta: {
      also: "The previous ACTIVE hold of the same session on the same event is replaced. The window is the event's hold_minutes. The tickets leave everyone else's available.",
    },
  },
  states: {
    ACTIVE: {
      description: 'In the cart: the buyer may change it, buy it or leave.',
      on: {
        CHANGE: {
          target: 'ACTIVE',
          description:
            'PATCH /api/checkout/holds/{id}: the buyer changes quantities, and all of the change can be had.',
          meta: { also: 'The window restarts.' },
        },
        CONVERT: {
          target: 'CONVERTED',
          description: 'POST /api/checkout/start with hold_id while the hold is still active.',
          meta: {
            also: 'The order exists and awaits payment. The payment window starts; it is longer than the cart window.',
          },
        },
        RELEASE: {
          target: 'RELEASED',
          description:
            'DELETE /api/checkout/holds/{id}: the buyer leaves. Or the operator cancels a performance of the hold.',
          meta: { also: 'Tickets return to sale. Optional for the buyer; a hold also expires by itself.' },
        },
        REPLACE: {
          target: 'RELEASED',
          description: 'POST /api/checkout/holds of the same session on the same event succeeds.',
          meta: { also: 'Release and new hold are one atomic step; the old tickets count as free for the new hold.' },
        },
        EXPIRE: {
          target: 'EXPIRED',
          description: 'The cart window runs out.',
          meta: {
            also: 'Tickets return to sale at the millisecond of expires_at. GET on the hold also marks a hold whose window is over.',
          },
        },
      },
    },
    CONVERTED: {
      description: 'Taken over by an order that awaits its first payment.',
      on: {
        CONSUME: {
          target: 'CONSUMED',
          description: 'The first payment lands, or the order is free.',
          meta: { also: 'Tickets are sold.' },
        },
        RELEASE: {
          target: 'RELEASED',
          description: 'The order is cancelled.',
          meta: { also: 'Tickets return to sale.' },
        },
        EXPIRE: {
          target: 'EXPIRED',
          description: 'The payment window runs out.',
          meta: { also: 'Tickets return to sale; the order expires in the same turn.' },
        },
      },
    },
    CONSUMED: {
      description: 'Its tickets are sold.',
      on: {
        AMEND: {
          target: 'CONSUMED',
          description: 'Tickets of the order are cancelled or changed, and others are left.',
          meta: { also: 'Places that it no longer has return to sale, new ones are sold.' },
        },
        RETURN: {
          target: 'RELEASED',
          description: 'The operator cancels the order.',
          meta: { also: 'Tickets are void and return to sale; a refund is due.' },
        },
      },
    },
    RELEASED: {
      description: 'Given back before its tickets were paid, or returned by the operator.',
      on: {
        RECLAIM: {
          target: 'CONSUMED',
          description:
            'Money lands late for the order that the buyer cancelled, and the same tickets and seats can still be had. Never after the operator cancelled the order.',
          meta: { also: 'Tickets are taken again and sold in one step.' },
        },
      },
    },
    EXPIRED: {
      description: 'Its window ran out.',
      on: {
        RECLAIM: {
          target: 'CONSUMED',
          description: 'Money lands late for the order of the hold, and the same tickets and seats can still be had.',
          meta: { also: 'Tickets are taken again and sold in one step.' },
        },
      },
    },
  },
});

export type HoldStatus = StatusOf<typeof holdMachine>;
export const holdTransitions = compile(holdMachine);
