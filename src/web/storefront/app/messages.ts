/** Errors as sentences for buyers. */
import { isApiError, type ApiError } from '#client/api-error.ts';
import { refusalInWords } from '#texts/refusal-words.ts';
import { dayAndHour, hour } from './format.ts';
import { texts } from './language.ts';

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
