/**
 * The outcome of a turn or a read as a text, for a caller on another thread or another node.
 *
 * An error has one of two kinds: Overloaded (also for a journal that cannot be written), or a defect, of which only the
 * text is sent.
 */
import { JournalFault } from '#persistence/journal.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';

const VALUE = 0;
const OVERLOADED = 2;
const DEFECT = 3;

export type PackedAnswer =
  | readonly [kind: typeof VALUE, value: unknown]
  | readonly [
      kind: typeof OVERLOADED,
      refusal: readonly [message: string, retryAfterSeconds: number, brokenEventId: string | null],
    ]
  | readonly [kind: typeof DEFECT, message: string];

/** The answer without the bracket before it, where its number may stand: several calls may get the same one. */
export function packValue(value: unknown): string {
  return `${VALUE},${value === undefined ? 'null' : JSON.stringify(value)}]`;
}

export function packError(error: unknown): string {
  if (error instanceof JournalFault)
    return `${OVERLOADED},${JSON.stringify([error.message, RETRY_AFTER_SECONDS, null])}]`;
  if (error instanceof Overloaded) {
    const { message, retryAfterSeconds, brokenEventId } = error;
    return `${OVERLOADED},${JSON.stringify([message, retryAfterSeconds, brokenEventId])}]`;
  }
  return `${DEFECT},${JSON.stringify(error instanceof Error ? error.message : String(error))}]`;
}

/** Settles a promise by an answer; `failed` names the origin in the message of a defect. */
export function settleBy(
  [kind, content]: PackedAnswer,
  failed: string,
  resolve: (value: unknown) => void,
  reject: (error: Error) => void,
): void {
  if (kind === VALUE) resolve(content);
  else if (kind === OVERLOADED) reject(new Overloaded(content[0], content[1], undefined, content[2]));
  else reject(new Error(`${failed}: ${content}`));
}
