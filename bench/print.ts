import { keepsBudget, type Figure } from './scenario.ts';

/** Figures as lines of a table: name, value, spread, budget and whether it was kept. */
export function printFigures(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map(({ name }) => name.length));
  return figures.map((figure) => `  ${figure.name.padEnd(width)}  ${valueOf(figure)}${verdictOf(figure)}\n`).join('');
}

function valueOf({ value, unit, spread }: Figure): string {
  const text = `${round(value).padStart(10)} ${unit}`;
  if (spread === undefined || spread[0] === spread[1]) return text;
  return `${text} (${round(spread[0])} to ${round(spread[1])})`;
}

function verdictOf(figure: Figure): string {
  const { budget } = figure;
  if (budget === undefined) return '';
  return `  ${keepsBudget(figure) === true ? 'good' : 'MISSED'}: ${boundOf(budget)}`;
}

export function boundOf(budget: NonNullable<Figure['budget']>): string {
  return 'atLeast' in budget ? `at least ${round(budget.atLeast)}` : `at most ${round(budget.atMost)}`;
}

/** Three digits that matter, and thousands apart. */
export function round(value: number): string {
  if (!Number.isFinite(value) || value === 0) return String(value);
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en-GB', { maximumFractionDigits: Math.min(digits, 6) });
}
