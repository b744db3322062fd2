/**
 * Limits how many calls to one provider run at once; further calls wait in their order of arrival.
 *
 * 1. A call waits and runs no longer than its signal allows. A call that ignores its signal is left to itself.
 * 2. Every failure becomes ProviderUnavailable.
 */
import { ProviderUnavailable } from './provider.ts';

export interface ConcurrencyLimit {
  readonly running: number;
  readonly waiting: number;
  /** Runs the call once the limit allows it. Rejects with ProviderUnavailable when too many wait, when the call fails or the signal aborts. */
  run<Result>(call: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

export function createConcurrencyLimit(runningMax: number, waitingMax: number): ConcurrencyLimit {
  let running = 0;
  const waiting = new Set<() => void>();

  const acquire = (signal: AbortSignal): Promise<void> => {
    if (running < runningMax) {
      running += 1;
      return Promise.resolve();
    }
    if (waiting.size >= waitingMax) return Promise.reject(new ProviderUnavailable('too many wait for the provider'));
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        waiting.delete(start);
        reject(timeIsUp());
      };
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.add(start);
    });
  };

  /** Hands the free slot to the call that has waited longest. */
  const release = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      running -= 1;
      return;
    }
    waiting.delete(next);
    next();
  };

  return {
    get running() {
      return running;
    },
    get waiting() {
      return waiting.size;
    },
    async run(call, signal) {
      await acquire(signal);
      try {
        return await orTimeOut(call(), signal);
      } catch (error) {
        if (error instanceof ProviderUnavailable) throw error;
        throw new ProviderUnavailable('the provider could not be asked', error);
      } finally {
        release();
      }
    },
  };
}

/** The result of the work, or a rejection once the signal aborts (1). */
function orTimeOut<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(timeIsUp());
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

function timeIsUp(): ProviderUnavailable {
  return new ProviderUnavailable('the provider took too long');
}
