/**
 * How a plan and its seats are put into words in one language. Shop and element choose the language in ways of their
 * own.
 */
import type { Seating } from '#client/bodies.ts';
import { plan as de } from '#texts/de/plan.ts';
import { plan as en } from '#texts/en/plan.ts';
import type { Language } from '#texts/locale/language.ts';
import { wordingOf } from '#texts/locale/wording.ts';
import type { SeatPlan } from '../seat-map/plan.ts';

type PlanTexts = typeof en;

export interface SeatWords {
  readonly language: Language;
  readonly plan: PlanTexts;
  /** An amount of a currency; 0 is written as a word. */
  readonly price: (amount: number, currency: string) => string;
  readonly listing: (parts: readonly string[]) => string;
}

const PLANS: Readonly<Record<Language, PlanTexts>> = { en, de };

export function seatWordsOf(language: Language): SeatWords {
  const { shortMoney, listing } = wordingOf(language);
  const plan = PLANS[language];
  return {
    language,
    plan,
    price: (amount, currency) => (amount === 0 ? plan.noPrice : shortMoney(amount, currency)),
    listing,
  };
}

/** Whether a label is short enough to need a noun: "7" is shown as "row 7", while "Row 7" stays as it is. */
const isBareLabel = (label: string): boolean => /^\w{1,4}$/.test(label);

/** A label with its noun where it needs one: "row 7". */
function labelled(noun: string, label: string): string {
  return isBareLabel(label) ? `${noun} ${label}` : label;
}

interface KnownSeat {
  /** Section and row in words. */
  readonly row: string;
  readonly label: string;
  readonly zone: string;
  readonly accessible: boolean;
  readonly locality: string;
}

/** The seats of an event by id, over all its localities. */
export type KnownSeats = ReadonlyMap<string, KnownSeat>;

export function knownSeats({ plan }: SeatWords, seating: Seating | null): KnownSeats {
  const known = new Map<string, KnownSeat>();
  for (const locality of seating?.localities ?? []) {
    for (const section of locality.sections) {
      for (const row of section.rows) {
        for (const seat of row.seats) {
          known.set(seat.id, {
            row: `${section.name}, ${labelled(plan.row, row.label)}`,
            label: seat.seat_label,
            zone: seat.zone_key,
            accessible: seat.accessible,
            locality: locality.id,
          });
        }
      }
    }
  }
  return known;
}

/** The row and number of a seat in words, without its state. */
export function seatName(words: SeatWords, plan: SeatPlan, number: number): string {
  const { Row, seat } = words.plan;
  return `${labelled(Row, plan.rowLabels[number] ?? '')}, ${labelled(seat, plan.seats[number]?.seat_label ?? '')}`;
}

/** Seats in words, those of one row together: "Stalls, row A, seats 8 and 9". */
export function namesOfSeats(words: SeatWords, register: KnownSeats, seatIds: readonly string[]): readonly string[] {
  const known = seatIds.map((id) => register.get(id) ?? { row: '', label: id });
  return [...Map.groupBy(known, ({ row }) => row)].map(([row, seats]) => {
    const labels = seats
      .map(({ label }) => label)
      .sort((a, b) => a.localeCompare(b, words.language, { numeric: true }));
    const noun = labels.every(isBareLabel) ? `${words.plan.seats(labels.length)} ` : '';
    return [row, noun + words.listing(labels)].filter((part) => part !== '').join(', ');
  });
}
