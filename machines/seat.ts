/**
 * A seat of a NUMBERED locality in one performance.
 *
 * Kept as bytes in `src/domain/inventory/seat-map.ts`; `src/domain/inventory/inventory.ts` knows the hold or the ticket
 * that has it.
 */
import { setup } from 'xstate';
import { compile, type StatusOf } from './compile.ts';

export type SeatTrigger = 'HOLD' | 'SELL' | 'FREE' | 'BLOCK' | 'UNBLOCK';

export const seatMachine = setup({ types: { events: {} as { type: SeatTrigger } } }).createMachine({
  id: 'seat',
  description:
    'A seat in one performance. Late money takes a free seat again through HOLD and SELL in one turn; a changed hold frees and holds in one turn.',
  initial: { target: 'AVAILABLE', description: 'The performance or the seat is added to the event.' },
  states: {
    AVAILABLE: {
      description: 'Free to everybody.',
      on: {
        HOLD: { target: 'HELD', description: 'A hold claims the seat.' },
        BLOCK: { target: 'BLOCKED', description: 'The operator takes the seat off sale.' },
      },
    },
    HELD: {
      description: 'In exactly one live hold, ACTIVE or CONVERTED.',
      on: {
        SELL: { target: 'SOLD', description: 'The hold is CONSUMED.' },
        FREE: { target: 'AVAILABLE', description: 'The hold is changed, replaced, released or expired.' },
      },
    },
    SOLD: {
      description: 'A valid ticket names it.',
      on: {
        FREE: {
          target: 'AVAILABLE',
          description: 'The operator cancels the order.',
          meta: { also: 'The ticket is void.' },
        },
      },
    },
    BLOCKED: {
      description: 'Off sale by the operator.',
      on: { UNBLOCK: { target: 'AVAILABLE', description: 'The operator puts the seat back on sale.' } },
    },
  },
});

export type SeatStatus = StatusOf<typeof seatMachine>;
export const seatTransitions = compile(seatMachine);
