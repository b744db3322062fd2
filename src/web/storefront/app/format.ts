/** How money, dates, spans of time, counts and labels are written in the language of the page. */
import { wordingOf } from '#texts/locale/wording.ts';
import { language, texts } from './language.ts';
import { seatWordsOf } from '../../seat-choice/words.ts';

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
