/** What a browser remembers of a purchase under way, so that a reload loses nothing: one small record an event. */
import { store } from './shop.ts';

export interface FunnelContent {
  readonly id: string;
  readonly quantity: number;
  readonly price: number;
}

/** What a step is about, as the notifications have it. */
export interface FunnelDetail {
  /** SHA-256 of the id of the hold or order; null before there is one, and where the browser cannot make it. */
  readonly dedupe_id: string | null;
  readonly event_id: string;
  readonly value: number;
  readonly currency: string;
  readonly contents: readonly FunnelContent[];
}

export interface Kept {
  /** The hold that was placed last. */
  readonly holdId?: string;
  /** The waiting-room pass, admitted or still waiting. */
  readonly passId?: string;
  /** Repeats the start of a checkout without a second order. */
  readonly startKey?: string;
  readonly orderId?: string;
  /** An order whose payment was not seen yet, with what is told of it then. */
  readonly paying?: { readonly orderId: string; readonly detail: FunnelDetail };
  /** What was typed into the form; codes and people alike stay in this browser. */
  readonly form?: Readonly<Record<string, string>>;
}

const PREFIX = 'holdfast.event.';
const nameOf = (eventId: string): string => `${PREFIX}${eventId}`;
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

/** The events of which something is kept. */
export function keptEventIds(): readonly string[] {
  try {
    const names = Object.keys(store ?? {}).filter((name) => name.startsWith(PREFIX));
    return [...new Set([...names.map((name) => name.slice(PREFIX.length)), ...inMemory.keys()])];
  } catch {
    return [...inMemory.keys()];
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
