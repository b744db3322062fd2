/**
 * The language of this page, decided once when it loads: the buyer's choice, else what the browser asks for, else
 * English; and how money, dates, spans of time, counts, labels and errors are written in it.
 *
 *  1. Another choice loads the page again. A reload loses nothing, and no part of a page has to follow a change.
 *  2. Both languages are in the script: they are smaller than the wait for a second file.
 */
import { isApiError, type ApiError } from '#client/api-error.ts';
import { isLanguage, languageOf, type Language } from '#texts/locale/language.ts';
import type { Texts } from '#texts/en/pages.ts';
import { wordingOf } from '#texts/locale/wording.ts';
import { refusalInWords } from '#texts/refusal-words.ts';
import { TEXTS } from '#texts/texts.ts';
import { storeLanguage, storedLanguage } from './storage.ts';
import { seatWordsOf } from '../../seat-choice/words.ts';

export const language: Language = languageOf([storedLanguage(), ...navigator.languages]);

export const texts: Texts = TEXTS[language];

document.documentElement.lang = language;

export function chooseLanguage(next: string): void {
  if (!isLanguage(next) || next === language) return;
  storeLanguage(next);
  location.reload();
}

export const {
  number,
  listing,
  day,
  days,
  month,
  hour,
  dayParts,
  dayAndHour,
  zone,
  shortMoney: money,
} = wordingOf(language);

export const seatWords = seatWordsOf(language);

/** An amount of a currency; 0 is written as a word. */
export const { price } = seatWords;

/** The name of an event's time zone, where clocks there show another time at that moment than the buyer's own. */
export function zoneNote(moment: string, timezone: string): string | null {
  return dayAndHour(moment) === dayAndHour(moment, timezone) ? null : zone(moment, timezone);
}

/** The time left in whole seconds as "9:05", "1:02:30" from an hour on, or "3 days, 1:02:30" from a day on. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const whole = Math.floor(seconds / 86_400);
  if (whole > 0) return `${texts.frame.days(whole)}, ${clockText(ms % 86_400_000)}`;
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n: number): string => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

interface Words {
  /** The event's time zone, for moments in a sentence. */
  readonly timezone?: string | undefined;
  /** The names of seats. */
  readonly seats?: (seatIds: readonly string[]) => readonly string[];
}

const { refusals, refused } = texts;

/** An error as a sentence or two for the buyer. */
export function inWords(error: unknown, words: Words = {}): string {
  if (!isApiError(error)) return refused.inPage;
  const text = sentenceOf(error, words);
  return error.retryAfter !== null && error.retryAfter > 10 ? `${text} ${refused.retryIn(error.retryAfter)}` : text;
}

function sentenceOf(error: ApiError, { timezone, seats }: Words): string {
  return refusalInWords(error, {
    refusals,
    refused,
    hour: (moment) => hour(moment, timezone),
    dayAndHour: (moment) => dayAndHour(moment, timezone),
    seats,
  });
}
