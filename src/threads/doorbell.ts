/**
 * The bell of a thread that waits for other threads: one 32-bit word of shared memory, however many ring it.
 *
 * 1. A thread that waits says so in the word first and then looks once more at what it waits for. A thread that has
 *    something publishes it first and then reads the word. All of it is in one order, so that one of the two sees what
 *    the other did.
 * 2. Of several that ring one notifies. A thread that is at work costs them one reading.
 * 3. To wait keeps no process alive; a thread that has nothing else needs a handle of its own.
 */
import { setImmediate as nextRound } from 'node:timers/promises';

const AT_WORK = 0;
const WAITING = 1;

export function makeBell(): SharedArrayBuffer {
  return new SharedArrayBuffer(4);
}

/** Rings the bell of a thread that waits (rule 2). */
export function ringBell(bell: Int32Array): void {
  if (Atomics.load(bell, 0) !== WAITING) return;
  if (Atomics.compareExchange(bell, 0, WAITING, AT_WORK) === WAITING) Atomics.notify(bell, 0);
}

/** How a side waits. */
export interface Pauses {
  /** Until the event loop has gone round. */
  round(): Promise<unknown>;
  /** Until the bell is rung; at once where nobody waits for it any more. */
  ring(bell: Int32Array): unknown;
}

const PAUSES: Pauses = { round: nextRound, ring: (bell) => Atomics.waitAsync(bell, 0, WAITING).value };

/** Whether the thread that waits for a bell was rung. */
export function wasRung(bell: Int32Array): boolean {
  return Atomics.load(bell, 0) === AT_WORK;
}

interface BellWork {
  /** Whether there is something to do, by shared memory alone. */
  hasWork(): boolean;
  /** Does what there is to do, or a part of it. */
  work(): void;
}

/** Works whenever the bell of this thread rings, until it is stopped; between two passes the event loop goes round. */
export function followBell(bell: Int32Array, { hasWork, work }: BellWork, pauses = PAUSES): { stop(): void } {
  let isStopped = false;
  const follow = async (): Promise<void> => {
    while (!isStopped) {
      if (hasWork()) {
        work();
        await pauses.round();
        continue;
      }
      Atomics.store(bell, 0, WAITING);
      // Rule 1.
      if (hasWork()) {
        Atomics.store(bell, 0, AT_WORK);
        continue;
      }
      await pauses.ring(bell);
    }
  };
  // What is thrown is a defect: it ends the thread, as an exception in any callback does.
  void follow();
  return {
    stop() {
      isStopped = true;
      ringBell(bell);
    },
  };
}
