/** More was asked than can be taken on, or the journal takes nothing now: come back after a while. */
export class Overloaded extends Error {
  readonly retryAfterSeconds: number;
  constructor(message: string, retryAfterSeconds: number, cause?: unknown) {
    super(message, { cause });
    this.name = 'Overloaded';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
