/**
 * The service's clock as a client knows it. A buyer's own clock may be hours off, and holds, passes and payments end by
 * the service's clock.
 *
 *  1. Every answer says the service's time (`Date`), and a message of a live stream says it to the millisecond.
 *  2. An answer that was slow, or cached, shows an earlier time than the true one, and the service's clock never runs
 *     back: so the latest time wins, and a window never seems to end before it does.
 *  3. Between two answers time passes by a stopwatch, because a person may set the machine's clock. A machine that
 *     slept is behind until the next answer.
 */
export interface EstimatedClock {
  /** The service's time in milliseconds; the machine's own until the first answer. */
  now(): number;
  /** Records a time that the service has sent. */
  note(ms: number): void;
  /** Records the time in an answer's headers, where it can be read. */
  noteAnswer(headers: Headers): void;
  /** Calls back at each correction; the returned function ends that. */
  follow(onCorrection: () => void): () => void;
}

/** A correction by less changes nothing that a person sees. */
const TOLERANCE_MS = 250;

export function createServiceClock(stopwatchMs: () => number = () => performance.now()): EstimatedClock {
  const begin = Date.now() - stopwatchMs();
  let offsetMs: number | null = null;
  const followers = new Set<() => void>();
  const note = (ms: number): void => {
    const offset = ms - stopwatchMs();
    if (Number.isNaN(offset) || (offsetMs !== null && offset < offsetMs + TOLERANCE_MS)) return;
    offsetMs = offset;
    for (const follower of followers) follower();
  };
  return {
    now: () => stopwatchMs() + (offsetMs ?? begin),
    note,
    noteAnswer: (headers) => note(timeIn(headers)),
    follow(onCorrection) {
      followers.add(onCorrection);
      return () => followers.delete(onCorrection);
    },
  };
}

/** The moment at which an answer was sent, to the second; its age in caches is added. NaN where it is not said. */
export function timeIn(headers: Headers): number {
  const ageSeconds = Number(headers.get('age') ?? 0);
  return Date.parse(headers.get('date') ?? '') + (ageSeconds > 0 ? ageSeconds * 1000 : 0);
}
