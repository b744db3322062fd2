/** More was asked than can be taken on, or the journal takes nothing now: come back after a while. */
export class Overloaded extends Error {
  readonly retryAfterSeconds: number;
  /** The event that cannot be activated, where that is the reason; all others are served. */
  readonly brokenEventId: string | null;
  constructor(message: string, retryAfterSeconds: number, cause?: unknown, brokenEventId: string | null = null) {
    super(message, { cause });
    this.name = 'Overloaded';
    this.retryAfterSeconds = retryAfterSeconds;
    this.brokenEventId = brokenEventId;
  }
}

/** Whether an event cannot be activated. */
export function isEventBroken(error: unknown): error is Overloaded {
  return error instanceof Overloaded && error.brokenEventId !== null;
}
