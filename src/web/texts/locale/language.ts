/** The languages of the pages, and which of them somebody reads. Without browser APIs: the service uses it too. */

/**
 * Each language by its own name, in the order in which pages offer them. The first is for whoever reads none of them.
 */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;

/** The cookie with the buyer's choice, for pages that the service itself renders. */
export const LANGUAGE_COOKIE = 'holdfast.language';

export type Language = keyof typeof LANGUAGES;

export const isLanguage = (text: unknown): text is Language =>
  typeof text === 'string' && Object.hasOwn(LANGUAGES, text);

/**
 * The language for somebody with these preferences, best first: a list such as `navigator.languages`, or the header
 * `Accept-Language`. "de-AT" is German; English for whoever reads none of the languages.
 */
export function languageOf(preferences: string | readonly (string | null)[] | undefined): Language {
  const wanted = typeof preferences === 'string' ? acceptedIn(preferences) : (preferences ?? []);
  const [first] = wanted.map((tag) => tag?.split('-')[0]?.toLowerCase()).filter(isLanguage);
  return first ?? 'en';
}

/** The languages of the header by falling quality (RFC 9110, 12.5.4); those with none are refused. */
function acceptedIn(header: string): readonly string[] {
  return header
    .slice(0, HEADER_LENGTH_MAX)
    .split(',')
    .map((range) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
      const quality = parameters.find((each) => /^q=/i.test(each));
      return { tag, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
}

/** What browsers send is far shorter. */
const HEADER_LENGTH_MAX = 1_000;
