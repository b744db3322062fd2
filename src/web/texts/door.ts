/** The texts of the page of stations in each language; the shop does not load them. */
import { door as de } from './de/door.ts';
import { door as en, type DoorTexts } from './en/door.ts';
import type { Language } from './locale/language.ts';

export const DOOR_TEXTS: Readonly<Record<Language, DoorTexts>> = { en, de };
