/** The texts of the pages in each language. English is the shape: a language that lacks a text does not compile. */
import { de } from './de/pages.ts';
import { en, type Texts } from './en/pages.ts';
import type { Language } from './locale/language.ts';

export const TEXTS: Readonly<Record<Language, Texts>> = { en, de };
