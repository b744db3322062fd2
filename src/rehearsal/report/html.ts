/** Tables and numbers of a page. */
import { escapeHtml } from '#http/pages/html.ts';

export { escapeHtml };

interface Table {
  readonly heading: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** What counts as a number in a table: a number with its unit or sign. */
const NUMERIC = /^(?:[-+]?[\d,.]+(?: ms| %| s)?|same|)$/;

/** A table. A column of numbers alone stands to the right. */
export function drawTable({ heading, rows }: Table): string {
  const texts = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? formatNumber(cell) : cell)));
  const isNumeric = heading.map((_, column) => column > 0 && texts.every((row) => NUMERIC.test(row[column] ?? '')));
  const cells = (row: readonly string[], tag: 'td' | 'th'): string =>
    row
      .map(
        (text, column) => `<${tag}${isNumeric[column] === true ? ' class="number"' : ''}>${escapeHtml(text)}</${tag}>`,
      )
      .join('');
  return [
    '<div class="scroll"><table>',
    `<thead><tr>${cells(heading, 'th')}</tr></thead>`,
    `<tbody>${texts.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')}</tbody>`,
    '</table></div>',
  ].join('\n');
}

export function formatNumber(value: number): string {
  return value.toLocaleString('en-GB', { maximumFractionDigits: 2 });
}
