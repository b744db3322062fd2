/**
 * What a buyer has chosen on all dates of an event, held or not, and how it is stored.
 *
 * Owns the record of each tab in `sessionStorage`: a reload, another date and the waiting room lose nothing, and two
 * tabs do not overwrite each other's choice.
 *
 *  1. `base` is what was held when the choice was last brought together with the hold. What differs from it was chosen
 *     here.
 *  2. A hold that changed elsewhere (in another tab) is merged in: what was chosen here stays, what was not follows the
 *     hold.
 *  3. A hold that ran out leaves the choice as it is.
 */
import type { EventPayload, Hold } from '#client/bodies.ts';
import { selectionOf, type Selection } from './selection.ts';
import type { PickedSeat } from '../../seat-choice/picked.ts';

/** Selections by performance. */
export type Choices = Readonly<Record<string, Selection>>;

export interface ChoiceState {
  readonly choices: Choices;
  readonly base: Choices;
}

export const NO_CHOICES: Choices = {};

/** The choice of which a hold was made. */
export function choicesOf(hold: Hold | null): Choices {
  const ids = new Set((hold?.items ?? []).map((item) => item.performance_id));
  return Object.fromEntries([...ids].map((id) => [id, selectionOf(hold, id)]));
}

/** Brings a choice together with what is held now (rule 2). */
export function merged({ choices, base }: ChoiceState, held: Choices): ChoiceState {
  const ids = [...new Set([...Object.keys(held), ...Object.keys(choices)])];
  const next = ids.map((id) => [id, mergedSelection(base[id], choices[id], held[id])] as const);
  return { choices: Object.fromEntries(next), base: held };
}

function mergedSelection(base?: Selection, mine?: Selection, held?: Selection): Selection {
  const keys = [...new Set([...Object.keys(held?.units ?? {}), ...Object.keys(mine?.units ?? {})])];
  const units = keys.map((key) => {
    const [b, m, h] = [base, mine, held].map((each) => each?.units[key] ?? 0) as [number, number, number];
    return [key, m === b ? h : h === b ? m : Math.max(m, h)] as const;
  });
  const [baseSeats, mySeats, heldSeats] = [base, mine, held].map(seatsById) as [Seats, Seats, Seats];
  const seats = [...new Set([...heldSeats.keys(), ...mySeats.keys()])].flatMap((id) => {
    const [b, m, h] = [baseSeats.get(id), mySeats.get(id), heldSeats.get(id)];
    const seat = m?.ticketTypeId === b?.ticketTypeId ? h : h?.ticketTypeId === b?.ticketTypeId ? m : (m ?? h);
    return seat === undefined ? [] : [seat];
  });
  return { units: Object.fromEntries(units), seats };
}

type Seats = ReadonlyMap<string, PickedSeat>;

const seatsById = (selection?: Selection): Seats =>
  new Map((selection?.seats ?? []).map((seat) => [seat.seatId, seat]));

// ── storage ──────────────────────────────────────────────────────────────────────────────────────────────────────────

interface StoredChoice extends ChoiceState {
  /** The date that was shown last. */
  readonly performanceId: string;
}

const nameOf = (slug: string): string => `holdfast.choice.${slug}`;
const inMemory = new Map<string, StoredChoice>();

export function storeChoice(slug: string, stored: StoredChoice): void {
  inMemory.set(slug, stored);
  try {
    sessionStorage.setItem(nameOf(slug), JSON.stringify(stored));
  } catch {
    // The store is full or forbidden: `inMemory` has it for as long as the page lives.
  }
}

function storedChoice(slug: string): StoredChoice | null {
  const known = inMemory.get(slug);
  if (known !== undefined) return known;
  try {
    return JSON.parse(sessionStorage.getItem(nameOf(slug)) ?? 'null') as StoredChoice | null;
  } catch {
    return null;
  }
}

/** The date of an event that this tab showed last. */
export function lastPerformance(slug: string): string | null {
  return storedChoice(slug)?.performanceId ?? null;
}

/** What this tab has stored of an event, without what the event no longer has; null when nothing is stored. */
export function recallChoice(event: EventPayload): ChoiceState | null {
  const stored = storedChoice(event.slug);
  return stored && { choices: known(event, stored.choices), base: known(event, stored.base) };
}

function known(event: EventPayload, choices: Choices): Choices {
  const has = (list: readonly { readonly id: string }[], wanted: string): boolean =>
    list.some(({ id }) => id === wanted);
  const isSold = (ticketTypeId: string, stageId: string): boolean =>
    has(event.ticketTypes, ticketTypeId) && has(event.sellingStages, stageId);
  return Object.fromEntries(
    Object.entries(choices)
      .filter(([id]) => has(event.performances, id))
      .map(([id, { units, seats }]) => {
        const soldUnits = Object.entries(units).filter(([key]) => isSold(...(key.split(' ') as [string, string])));
        const soldSeats = seats.filter(({ ticketTypeId, sellingStageId }) => isSold(ticketTypeId, sellingStageId));
        return [id, { units: Object.fromEntries(soldUnits), seats: soldSeats }];
      }),
  );
}
