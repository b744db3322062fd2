/** The texts of the pages that the service writes itself, in each language; browsers do not load them. */
import { served as de } from './de/served.ts';
import { served as en } from './en/served.ts';
import type { Language } from './locale/language.ts';

export type ServedTexts = typeof en;

export const SERVED_TEXTS: Readonly<Record<Language, ServedTexts>> = { en, de };
