/** What pages about doors call things. */

import type { Option } from './fields.tsx';

export type Door = Option;

export const nameOf = (doors: readonly Door[], doorId: string): string =>
  doors.find(({ id }) => id === doorId)?.name ?? doorId;

export const wordsOf = (verdict: string): string => verdict.toLowerCase().replaceAll('_', ' ');
