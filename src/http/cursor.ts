/** Cursors of lists: where the next page starts, in a form that clients do not take apart. */
import { refuseProblems, type Refusal } from '#domain/refusal.ts';
import { problemAt } from './validation.ts';

const MARK = 'after:';

export function printCursor(after: string | null): string | null {
  return after === null ? null : Buffer.from(MARK + after).toString('base64url');
}

/** Where a page starts: null at the beginning; VALIDATION_ERROR for what is no cursor. */
export function readCursor(cursor: string | undefined): { readonly after: string | null } | Refusal {
  if (cursor === undefined) return { after: null };
  const text = Buffer.from(cursor, 'base64url').toString();
  if (text.startsWith(MARK) && printCursor(text.slice(MARK.length)) === cursor) {
    return { after: text.slice(MARK.length) };
  }
  return refuseProblems([problemAt('cursor', 'is not a cursor of this list')]);
}
