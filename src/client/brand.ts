/** What pages make of a brand, wherever they are written. */

/** The address of a link to where buyers ask. */
export function supportHref(support: string): string {
  return support.startsWith('https://') ? support : `mailto:${support}`;
}

/** A label in a language, else the first that there is. */
export function labelIn(language: string, label: Readonly<Record<string, string>>): string {
  return label[language] ?? Object.values(label)[0] ?? '';
}
