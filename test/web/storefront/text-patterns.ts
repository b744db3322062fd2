/**
 * Texts as patterns: what a page shows is compared with the texts of a language, also with those that have names and
 * figures in them. A function of texts is called with stand-ins, and each stand-in may be anything on a page.
 */

export interface TextTree {
  readonly [name: string]: string | readonly string[] | ((...values: never[]) => string | TextTree) | TextTree;
}

interface NamedText {
  /** Where it is: "basket.title". */
  readonly name: string;
  readonly kind: string;
  /** What it says, with `STAND_IN` for each value. */
  readonly example: string;
}

const STAND_IN = '§';

/** Behaves as a text, as a number and as a list of texts, and is shown as one character. */
const standIn = Object.assign(new String(STAND_IN), { join: () => STAND_IN, map: () => [STAND_IN] });

export function textsIn(tree: TextTree, path: readonly string[] = []): readonly NamedText[] {
  return Object.entries(tree)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, value]): readonly NamedText[] => {
      const name = [...path, key].join('.');
      if (typeof value === 'string') return [{ name, kind: 'text', example: value }];
      if (typeof value === 'function') {
        // Money and dates are written by functions of the wording, which have no words.
        if (/\.(?:money|dayAndHour|hour)$/.test(name)) return [];
        const values = Array.from({ length: 6 }, () => standIn);
        return [{ name, kind: 'function', example: String(value(...(values as unknown as never[]))) }];
      }
      return textsIn(value as TextTree, [...path, key]);
    });
}

/** The pattern of what a page shows for a text; null where there is no word in it to know it by. */
function patternOf({ example }: NamedText): RegExp | null {
  const words = example.replace(/[[\]]/g, '');
  if (!/\p{L}{3}/u.test(words)) return null;
  const escaped = words.replace(/[.*+?^${}()|\\]/g, '\\$&').replaceAll(STAND_IN, '.+');
  return new RegExp(`^${escaped}$`, 'su');
}

/** Which of the shown texts are texts of one language that no other has. */
export function textsOnlyOf(own: TextTree, other: TextTree, shown: readonly string[]): readonly string[] {
  const others = new Set(textsIn(other).map(({ example }) => example));
  const patterns = textsIn(own)
    .filter(({ example }) => !others.has(example))
    .map(patternOf)
    .filter((pattern) => pattern !== null);
  return shown.filter((text) => patterns.some((pattern) => pattern.test(text)));
}

/**
 * A script whose value is all that a page says to eyes and ears: its title, each text, each line, and names of
 * elements.
 */
export const SHOWN_TEXTS = `(() => {
  const texts = [document.title, ...document.body.innerText.split('\\n')];
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    if (!nodes.currentNode.parentElement.closest('script, style, noscript')) texts.push(nodes.currentNode.data);
  }
  for (const name of ['aria-label', 'placeholder', 'title', 'alt']) {
    for (const each of document.querySelectorAll('[' + name + ']')) texts.push(each.getAttribute(name));
  }
  return [...new Set(texts.map((text) => text.replace(/\\s+/g, ' ').trim()))].filter((text) => text !== '');
})()`;
