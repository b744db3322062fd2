/**
 * The language of this page, decided once when it loads: the buyer's choice, else what the browser asks for, else
 * English.
 *
 *  1. Another choice loads the page again. A reload loses nothing, and no part of a page has to follow a change.
 *  2. Both languages are in the script: they are smaller than the wait for a second file.
 */
import { isLanguage, languageOf, type Language } from '#texts/locale/language.ts';
import type { Texts } from '#texts/en/pages.ts';
import { TEXTS } from '#texts/texts.ts';
import { storeLanguage, storedLanguage } from './storage.ts';

export const language: Language = languageOf([storedLanguage(), ...navigator.languages]);

export const texts: Texts = TEXTS[language];

document.documentElement.lang = language;

export function chooseLanguage(next: string): void {
  if (!isLanguage(next) || next === language) return;
  storeLanguage(next);
  location.reload();
}
