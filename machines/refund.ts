/**
 * A refund: one amount of one payment that is given back, at its provider by the service or by somebody's hand.
 *
 * `src/domain/orders` uses this table when a refund is executed, answered, reported or resolved.
 */
import { setup } from 'xstate';
import { compile, type StatusOf } from './compile.ts';

type RefundTrigger = 'SUCCEED' | 'FAIL' | 'STOP' | 'RETRY';

const failed = {
  target: 'FAILED',
  description: 'The provider says that the money did not go, or nothing was left to give back.',
  meta: { also: 'The amount is due again.' },
} as const;

export const refundMachine = setup({ types: { events: {} as { type: RefundTrigger } } }).createMachine({
  id: 'refund',
  description:
    'One amount of one payment that is given back. What somebody gave back by hand, and what a provider reports that this service did not request, is SUCCEEDED from the first.',
  initial: {
    target: 'PENDING',
    description: 'An operator, or the event that refunds by itself, has it executed.',
    meta: { also: 'Only then is the provider asked, so that a crash never forgets a refund.' },
  },
  states: {
    PENDING: {
      description: 'Asked for, or the provider works on it.',
      on: {
        SUCCEED: { target: 'SUCCEEDED', description: 'The provider says that the money was given back.' },
        FAIL: failed,
        STOP: {
          target: 'NEEDS_OPERATOR',
          description: 'The provider refuses it or cannot be asked, or gave no clear answer for 72 hours.',
        },
      },
    },
    NEEDS_OPERATOR: {
      description: 'An operator must look at it; its amount stays reserved.',
      on: {
        SUCCEED: {
          target: 'SUCCEEDED',
          description: 'The provider reports that the money was given back, or the operator says so.',
        },
        FAIL: failed,
        RETRY: { target: 'PENDING', description: 'The operator has it tried again.' },
      },
    },
    SUCCEEDED: { description: 'The money was given back.', on: { FAIL: failed } },
    FAILED: { description: 'The money was not given back. Another try is another refund.', type: 'final' },
  },
});

export type RefundStatus = StatusOf<typeof refundMachine>;
export const refundTransitions = compile(refundMachine);
