/**
 * What the browser stores: the buyer's language, and of a purchase that is not finished one small record for each
 * event.
 */
import { LANGUAGE_COOKIE } from '#texts/locale/language.ts';
import { store } from './service.ts';

export interface FunnelContent {
  readonly id: string;
  readonly quantity: number;
  readonly price: number;
}

/** The detail of a step, as in the notifications. */
export interface FunnelDetail {
  /** SHA-256 of the id of the hold or order; null before there is one, and where the browser cannot make it. */
  readonly dedupe_id: string | null;
  readonly event_id: string;
  readonly value: number;
  readonly currency: string;
  readonly contents: readonly FunnelContent[];
}

export interface HeldBasket {
  readonly slug: string;
  readonly tickets: number;
  readonly until: string;
}

interface StoredPurchase {
  /** The hold that was placed last. */
  readonly holdId?: string;
  /** Grows with each change of the hold, so that other tabs notice it. */
  readonly holdRound?: number;
  /** The last hold, where it ran out and nothing was held since. */
  readonly lapsedId?: string;
  /** The waiting-room pass, admitted or still waiting. */
  readonly passId?: string;
  /** The place in line that was shown first, from which the way to the turn is measured. */
  readonly firstPlace?: number;
  /** The idempotency key with which the checkout is started. */
  readonly startKey?: string;
  readonly orderId?: string;
  /** An order whose payment was not seen yet, with what is reported then. */
  readonly paying?: { readonly orderId: string; readonly detail: FunnelDetail };
  /** The tickets that are held, for the header of every page. */
  readonly held?: HeldBasket | undefined;
  /** The values of the checkout form; they stay in this browser. */
  readonly form?: Readonly<Record<string, string>>;
}

const PREFIX = 'holdfast.event.';
const nameOf = (eventId: string): string => `${PREFIX}${eventId}`;
const inMemory = new Map<string, StoredPurchase>();

/** What is stored of an event; nothing where it cannot be read. */
export function recall(eventId: string): StoredPurchase {
  try {
    const text = store?.getItem(nameOf(eventId)) ?? null;
    return text === null ? (inMemory.get(eventId) ?? {}) : (JSON.parse(text) as StoredPurchase);
  } catch {
    return inMemory.get(eventId) ?? {};
  }
}

/** The events of which something is stored. */
export function storedEventIds(): readonly string[] {
  try {
    const names = Object.keys(store ?? {}).filter((name) => name.startsWith(PREFIX));
    return [...new Set([...names.map((name) => name.slice(PREFIX.length)), ...inMemory.keys()])];
  } catch {
    return [...inMemory.keys()];
  }
}

/** Changes what is stored of an event; `undefined` removes a field. */
export function storePurchase(
  eventId: string,
  change: { readonly [Field in keyof StoredPurchase]: StoredPurchase[Field] | undefined },
): void {
  const stored = { ...recall(eventId), ...change } as StoredPurchase;
  inMemory.set(eventId, stored);
  try {
    store?.setItem(nameOf(eventId), JSON.stringify(stored));
  } catch {
    // The store is full or forbidden: `inMemory` has it for as long as the page lives.
  }
  for (const listener of listeners) listener();
}

const listeners = new Set<() => void>();

/** Calls back when this tab or another one changes what is stored of any event; the returned function ends that. */
export function followAllStored(onChange: () => void): () => void {
  listeners.add(onChange);
  addEventListener('storage', onChange);
  return () => {
    listeners.delete(onChange);
    removeEventListener('storage', onChange);
  };
}

/** Calls back when another tab changes what is stored of an event; the returned function ends that. */
export function followStored(eventId: string, onChange: () => void): () => void {
  const follow = ({ key }: StorageEvent): void => {
    if (key === nameOf(eventId) || key === null) onChange();
  };
  addEventListener('storage', follow);
  return () => removeEventListener('storage', follow);
}

// ── the language ─────────────────────────────────────────────────────────────────────────────────────────────────────

const LANGUAGE = 'holdfast.language';
const YEAR_S = 365 * 24 * 3600;

/** The language that the buyer chose; null before that, and where nothing can be stored. */
export function storedLanguage(): string | null {
  try {
    return store?.getItem(LANGUAGE) ?? null;
  } catch {
    return null;
  }
}

/** Stores the buyer's choice; the cookie tells the pages that the service itself renders. */
export function storeLanguage(language: string): void {
  document.cookie = `${LANGUAGE_COOKIE}=${language}; path=/; max-age=${YEAR_S}; samesite=lax`;
  try {
    store?.setItem(LANGUAGE, language);
  } catch {
    // The store is full or forbidden: this browser's own languages count.
  }
}
