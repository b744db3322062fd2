/** Lines of CSV with texts that people wrote, safe to open in a spreadsheet. */

export type Cell = string | number | null;

/** A sign that begins a formula, or its full-width form, where a spreadsheet may begin a cell. */
const FORMULA = /(^|[;\t\n\r\v\f\u0085\u2028\u2029])(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/gu;

/** A line of CSV (RFC 4180). */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * Every text is quoted. A sign that a spreadsheet would read as the begin of a formula gets an apostrophe before it, as
 * OWASP advises, because buyers write names and codes.
 */
function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  return `"${cell.replace(FORMULA, "$1'").replaceAll('"', '""')}"`;
}
