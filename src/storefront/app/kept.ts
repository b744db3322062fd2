/** What a browser remembers of a purchase under way, so that a reload loses nothing: one small record an event. */
import { store } from './shop.ts';

export interface Kept {
  /** The hold that was placed last. */
  readonly holdId?: string;
  /** The waiting-room pass, admitted or still waiting. */
  readonly passId?: string;
  /** Repeats the start of a checkout without a second order. */
  readonly startKey?: string;
  readonly orderId?: string;
  /** What was typed into the form; codes and people alike stay in this browser. */
  readonly form?: Readonly<Record<string, string>>;
}

const nameOf = (eventId: string): string => `holdfast.event.${eventId}`;
const inMemory = new Map<string, Kept>();

/** What is kept of an event; nothing where it cannot be read. */
export function recall(eventId: string): Kept {
  try {
    const text = store?.getItem(nameOf(eventId)) ?? null;
    return text === null ? (inMemory.get(eventId) ?? {}) : (JSON.parse(text) as Kept);
  } catch {
    return inMemory.get(eventId) ?? {};
  }
}

/** Changes what is kept of an event; `undefined` forgets a field. */
export function keep(eventId: string, change: { readonly [Field in keyof Kept]: Kept[Field] | undefined }): void {
  const kept = { ...recall(eventId), ...change } as Kept;
  inMemory.set(eventId, kept);
  try {
    store?.setItem(nameOf(eventId), JSON.stringify(kept));
  } catch {
    // A full or forbidden store: memory has it for as long as the page lives.
  }
}
