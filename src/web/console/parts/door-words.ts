/** What pages about doors call things. */

export interface Door {
  readonly id: string;
  readonly name: string;
}

export const nameOf = (doors: readonly Door[], doorId: string): string =>
  doors.find(({ id }) => id === doorId)?.name ?? doorId;

export const wordsOf = (verdict: string): string => verdict.toLowerCase().replaceAll('_', ' ');
