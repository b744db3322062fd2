/** The language of this page, decided once when it loads: what somebody chose here, else what the browser is set to. */
import { isLanguage, languageOf, type Language } from '#texts/locale/language.ts';
import { door as de } from '#texts/de/door.ts';
import { door as en, type DoorTexts } from '#texts/en/door.ts';
import { wordingOf } from '#texts/locale/wording.ts';

const TEXTS: Readonly<Record<Language, DoorTexts>> = { en, de };
const STORED = 'holdfast.language';

function storedLanguage(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

export const language: Language = languageOf([storedLanguage(), ...navigator.languages]);
export const texts = TEXTS[language];
export const wording = wordingOf(language);

document.documentElement.lang = language;
document.title = texts.page.title;

export function chooseLanguage(next: string): void {
  if (!isLanguage(next) || next === language) return;
  try {
    localStorage.setItem(STORED, next);
  } catch {
    // Without it the language cannot be chosen; the browser's own stays.
  }
  location.reload();
}
