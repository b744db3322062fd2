/** How a plan is put into words in one language. Shop and element choose the language in ways of their own. */
import { plan as de } from '#texts/de/plan.ts';
import { plan as en } from '#texts/en/plan.ts';
import type { Language } from '#texts/locale/language.ts';
import { wordingOf } from '#texts/locale/wording.ts';

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
export const isBareLabel = (label: string): boolean => /^\w{1,4}$/.test(label);

/** A label with its noun where it needs one: "row 7". */
export function labelled(noun: string, label: string): string {
  return isBareLabel(label) ? `${noun} ${label}` : label;
}
