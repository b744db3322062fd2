/** The texts of the pages in each language. English is the shape: a language that lacks a text does not compile. */
import { de } from './de.ts';
import { en, type Texts } from './en.ts';
import type { Language } from './language.ts';

export const TEXTS: Readonly<Record<Language, Texts>> = { en, de };
