/**
 * A queue entry: one session's place in a waiting room, and its pass once it is admitted.
 *
 * The queue, the draw and the budget are in `src/domain/waiting-room`; the room itself follows `waiting-room.ts`.
 */
import { setup } from 'xstate';
import { compile, type StatusOf } from './compile.ts';

export type QueueEntryTrigger = 'ADMIT' | 'DROP' | 'EXPIRE' | 'SPEND' | 'LEAVE';

export const queueEntryMachine = setup({ types: { events: {} as { type: QueueEntryTrigger } } }).createMachine({
  id: 'queue-entry',
  description:
    'A place in the waiting room and, once ADMITTED, the pass. A session that joins again after EXPIRED or LEFT gets a new entry at the end of the queue; an old one never returns.',
  initial: {
    target: 'WAITING',
    description: 'POST /api/checkout/queue, and the session has no live entry on the event.',
    meta: {
      also: 'Before opens_at the position is null; at the opening the pre-queue is drawn at random. After it: first come, first served, and admitted (ADMIT) in the same turn when the budget allows and nobody waits.',
    },
  },
  states: {
    WAITING: {
      description: 'In the pre-queue or in the queue.',
      on: {
        ADMIT: {
          target: 'ADMITTED',
          description:
            "POST or GET of anybody's entry moves the queue: the room is OPEN, and the minute's budget allows it.",
          meta: { also: 'pass_expires_at is waiting_room_minutes after the admission.' },
        },
        DROP: {
          target: 'EXPIRED',
          description: 'Not polled for waiting_room_inactivity_seconds (2 minutes by default).',
          meta: { also: 'Dropped from the queue; uses up no admission.' },
        },
        LEAVE: { target: 'LEFT', description: 'DELETE /api/checkout/queue/{id}.' },
      },
    },
    ADMITTED: {
      description: 'Holds a pass that is good for several holds until it ends. It need not be polled.',
      on: {
        EXPIRE: {
          target: 'EXPIRED',
          description: 'The lifetime of the pass ends.',
          meta: { also: 'From then on the pass is refused with 403 QUEUE_PASS_INVALID.' },
        },
        SPEND: {
          target: 'EXPIRED',
          description: "The session's order is placed, on an event that limits how many passes live at once.",
          meta: { also: 'The pass ends early and makes room for the next in the queue.' },
        },
        LEAVE: { target: 'LEFT', description: 'DELETE /api/checkout/queue/{id}.' },
      },
    },
    EXPIRED: { description: 'The pass ended, or the entry was dropped from the queue.', type: 'final' },
    LEFT: { description: 'The buyer left.', type: 'final' },
  },
});

export type QueueEntryStatus = StatusOf<typeof queueEntryMachine>;
export const queueEntryTransitions = compile(queueEntryMachine);
