/**
 * Troubles that no caller waits for: how they are reported to operators, and after which pause failed work is tried
 * again. Also calls to other services within a time limit.
 */
import { channel } from 'node:diagnostics_channel';

/** Where there may be troubles. Metrics count each of them from 0, so that an alert sees the first one. */
export const TROUBLE_PLACES = [
  'activation',
  'archive',
  'box-office',
  'clock',
  'cluster',
  'data-folder',
  'draw',
  'http',
  'journal',
  'keys',
  'live',
  'mail',
  'notifications',
  'payments',
  'personal-data',
  'provider_a',
  'provider_b',
  'prune',
  'retention',
  'snapshot',
  'space-guard',
  'upstream',
] as const;

type TroublePlace = (typeof TROUBLE_PLACES)[number];

/** A message for operators: the log shows it, and metrics count it by `where`. */
export interface TroubleMessage {
  readonly where: TroublePlace;
  readonly message: string;
  /** Null when no error caused it. */
  readonly error: unknown;
}

const troubleChannel = channel('holdfast:trouble');

export function reportTrouble(where: TroublePlace, message: string, error: unknown = null): void {
  troubleChannel.publish({ where, message, error } satisfies TroubleMessage);
}

/** Power-of-two counts alone: a failure that repeats for hours fills no log. */
export function isWorthReporting(failuresInARow: number): boolean {
  return (failuresInARow & (failuresInARow - 1)) === 0;
}

/** Starts work that no caller waits for. A rejection is reported, because an unhandled one would end the process. */
export function inBackground(where: TroublePlace, work: Promise<unknown>): void {
  work.catch((error: unknown) => reportTrouble(where, 'work in the background failed', error));
}

const RETRY_PAUSE_MS_MIN = 1_000;
const RETRY_PAUSE_MS_MAX = 300_000;

/** The pause after so many failures in a row: doubled each time, from a second to five minutes. */
export function retryPauseMs(failuresInARow: number, firstPauseMs = RETRY_PAUSE_MS_MIN): number {
  return Math.min(firstPauseMs * 2 ** (failuresInARow - 1), RETRY_PAUSE_MS_MAX);
}

/**
 * Makes a call with a signal that aborts after a time, or when all is stopped. Nothing of it is left once it has ended:
 * a signal of `AbortSignal.any` keeps the call and its answer until its time runs out.
 */
export async function callWithin<Result>(
  ms: number,
  stopping: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const stop = (): void => controller.abort(stopping?.reason);
  const timer = setTimeout(
    () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    ms,
  );
  stopping?.addEventListener('abort', stop);
  if (stopping?.aborted === true) stop();
  try {
    return await call(controller.signal);
  } finally {
    clearTimeout(timer);
    stopping?.removeEventListener('abort', stop);
  }
}
