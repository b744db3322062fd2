/**
 * The line in front of a provider: so many are inside at once, the others wait, nobody for longer than their signal says.
 *
 * Called by `cashier.ts`, which has one for each provider.
 */
import { ProviderUnavailable } from './provider.ts';

/** Lets so many through at once; the others wait in line, and not longer than their signal says. */
export interface Turnstile {
  readonly inside: number;
  readonly waiting: number;
  /** Runs the work in its turn. Rejects with ProviderUnavailable when the line is full or the time is up, also in the work. */
  pass<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

export function createTurnstile(insideMax: number, waitingMax: number): Turnstile {
  let inside = 0;
  const line = new Set<() => void>();

  const enter = (signal: AbortSignal): Promise<void> => {
    if (inside < insideMax) {
      inside += 1;
      return Promise.resolve();
    }
    if (line.size >= waitingMax) return Promise.reject(new ProviderUnavailable('too many wait for the provider'));
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        line.delete(admit);
        reject(timeIsUp());
      };
      signal.addEventListener('abort', giveUp, { once: true });
      line.add(admit);
    });
  };

  /** The place of the one who leaves goes to the first in line. */
  const leave = (): void => {
    const [next] = line;
    if (next === undefined) {
      inside -= 1;
      return;
    }
    line.delete(next);
    next();
  };

  return {
    get inside() {
      return inside;
    },
    get waiting() {
      return line.size;
    },
    async pass(work, signal) {
      await enter(signal);
      try {
        return await orTimeOut(work(), signal);
      } catch (error) {
        if (error instanceof ProviderUnavailable) throw error;
        throw new ProviderUnavailable('the provider could not be asked', error);
      } finally {
        leave();
      }
    },
  };
}

/** The work's outcome, or a rejection once the time is up: work that ignores its signal is left behind. */
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
