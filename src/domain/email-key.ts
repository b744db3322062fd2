/**
 * Two e-mail addresses are of the same buyer when they are equal after NFKC, full case folding and removal of invisible
 * characters, trimmed, without a `+tag`. An address itself is kept as it was typed.
 */

/**
 * Characters that are not seen: controls, format characters, what Unicode ignores by default, and the blank Braille
 * pattern.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]/gu;

const PLAIN = /^[\x21-\x7e]*$/;

/** The form in which two addresses of one buyer are equal. */
export function emailKey(email: string): string {
  const trimmed = email.trim();
  const folded = PLAIN.test(trimmed) ? trimmed.toLowerCase() : foldAll(trimmed);
  const domainAt = folded.lastIndexOf('@');
  const tagAt = folded.indexOf('+');
  const isTagged = tagAt > 0 && tagAt < domainAt;
  return isTagged ? folded.slice(0, tagAt) + folded.slice(domainAt) : folded;
}

/** NFKC once more after folding, because a folded letter may compose with what stands beside it. */
function foldAll(text: string): string {
  const visible = text.replace(INVISIBLE, '').normalize('NFKC').replace(INVISIBLE, '');
  return Array.from(visible, foldCase).join('').normalize('NFKC').trim();
}

/**
 * Full case folding of one character, which JavaScript does not have: lower case of upper case of lower case is the
 * same for all but the dotless i, a letter of its own. One character at a time, because a sigma's lower case depends on
 * its neighbours.
 */
function foldCase(character: string): string {
  return character === 'ı' ? character : character.toLowerCase().toUpperCase().toLowerCase();
}
