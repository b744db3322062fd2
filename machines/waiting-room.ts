/**
 * The waiting room of an event, and whether it admits people.
 *
 * Its entries follow `queue-entry.ts`.
 */
import { setup } from 'xstate';
import { compile, type StatusOf } from './compile.ts';

type WaitingRoomTrigger = 'OPEN_AT_ONCE' | 'START_DRAW' | 'FINISH_DRAW' | 'PAUSE' | 'RESUME';

export const waitingRoomMachine = setup({ types: { events: {} as { type: WaitingRoomTrigger } } }).createMachine({
  id: 'waiting-room',
  description: 'Whether a waiting room admits people. In every status people may join, poll and leave.',
  initial: {
    target: 'PRE_QUEUE',
    description: 'The event gets a waiting room.',
    meta: { also: 'The seed of the draw is drawn, kept, and its commitment shown from then on.' },
  },
  states: {
    PRE_QUEUE: {
      description: 'Before opens_at: places have no position.',
      on: {
        OPEN_AT_ONCE: {
          target: 'OPEN',
          description: 'The room has no opening time and only paces the flow: it opens in the turn that made it.',
        },
        START_DRAW: {
          target: 'DRAWING',
          description: 'opens_at is reached.',
          meta: { also: 'The entries that are WAITING now take part; later ones queue behind them.' },
        },
      },
    },
    DRAWING: {
      description: 'The order of the queue is being made from the seed and the entries.',
      on: {
        FINISH_DRAW: {
          target: 'OPEN',
          description: 'Everybody has a position.',
          meta: { also: 'The seed is shown, so that anybody can check the draw.' },
        },
      },
    },
    OPEN: {
      description: 'Admission is running at waiting_room_rate.',
      on: { PAUSE: { target: 'PAUSED', description: 'Everything is sold, on an event that pauses its room then.' } },
    },
    PAUSED: {
      description: 'Nobody is admitted; the queue stays as it is.',
      on: {
        RESUME: { target: 'OPEN', description: 'Tickets return to sale, or the event no longer pauses its room.' },
      },
    },
  },
});

export type WaitingRoomStatus = StatusOf<typeof waitingRoomMachine>;
export const waitingRoomTransitions = compile(waitingRoomMachine);
