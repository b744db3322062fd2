/**
 * A performance of an event, and whether it sells.
 *
 * Its stock is counted in `src/domain/inventory/inventory.ts`; what the operator says of it stands in the definition.
 */
import { setup } from 'xstate';
import { compile, type StatusOf } from './compile.ts';

type PerformanceTrigger = 'SELL_OUT' | 'RETURN' | 'CANCEL';

export const performanceMachine = setup({ types: { events: {} as { type: PerformanceTrigger } } }).createMachine({
  id: 'performance',
  description:
    'One date of an event. Its definition and the clock say whether it is a draft, closed by the operator or over; these only narrow what may be sold.',
  initial: { target: 'ON_SALE', description: 'The performance is added to the event.' },
  states: {
    ON_SALE: {
      description: 'Tickets are left, or held ones may return.',
      on: {
        SELL_OUT: {
          target: 'SOLD_OUT',
          description: 'The last ticket is sold: nothing is available, nothing is held.',
        },
        CANCEL: {
          target: 'CANCELLED',
          description: 'The operator cancels the performance.',
          meta: {
            also: 'Its holds are released; every order with a ticket on it is cancelled whole, refunds are due.',
          },
        },
      },
    },
    SOLD_OUT: {
      description: 'Everything is sold.',
      on: {
        RETURN: {
          target: 'ON_SALE',
          description: 'Something returns: an order is cancelled, a seat unblocked, a place added.',
        },
        CANCEL: {
          target: 'CANCELLED',
          description: 'The operator cancels the performance.',
          meta: { also: 'Every order with a ticket on it is cancelled whole, refunds are due.' },
        },
      },
    },
    CANCELLED: { description: 'Does not take place. Nothing is sold any more.', type: 'final' },
  },
});

export type PerformanceStatus = StatusOf<typeof performanceMachine>;
export const performanceTransitions = compile(performanceMachine);
