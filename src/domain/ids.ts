/**
 * The shape of ids: `<prefix>_<event number in base 36>_<144 random bits>`.
 *
 * Ids of holds, queue entries, orders, checkout sessions and tickets are secrets that grant access, and so are the
 * tokens of stations (`gtk`). Each carries the number of its event, so that a request finds the event from the id
 * alone. The random part comes with the turn (I1).
 */

export type IdPrefix = 'hld' | 'que' | 'ord' | 'cs' | 'tkt' | 'pay' | 'ref' | 'amd' | 'stn' | 'gtk' | 'scn';

/** Where a turn's new ids come from; the event's number is in them already. */
export interface TurnIds {
  newId(prefix: IdPrefix): string;
}

/** The random part: 24 characters of the URL-safe base64 alphabet, 18 bytes. */
export const SECRET_LENGTH = 24;

const SHAPE = /^[a-z]+_[0-9a-z]{1,8}_[A-Za-z0-9_-]{24}$/;

/** Joins an id from its parts. */
export function joinId(prefix: IdPrefix, eventNumber: number, secret: string): string {
  return `${prefix}_${eventNumber.toString(36)}_${secret}`;
}

/** The number of the event that an id of this prefix belongs to, or null when the text is no such id. */
export function eventNumberOf(prefix: IdPrefix, id: string): number | null {
  if (!id.startsWith(`${prefix}_`) || !SHAPE.test(id)) return null;
  return Number.parseInt(id.slice(prefix.length + 1, -SECRET_LENGTH - 1), 36);
}

const IN_TEXT = /(?<![A-Za-z0-9])(hld|que|ord|cs|tkt|pay|ref|amd|stn|gtk|scn)_[0-9a-z]{1,8}_[A-Za-z0-9_-]{24}/g;

/** The ids of these prefixes in a text. */
export function idsIn(text: string, prefixes: readonly IdPrefix[]): readonly string[] {
  return Array.from(text.matchAll(IN_TEXT))
    .filter(([, prefix]) => prefixes.includes(prefix as IdPrefix))
    .map(([id]) => id);
}
