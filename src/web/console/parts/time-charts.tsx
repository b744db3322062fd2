/**
 * Charts of figures over time, in steps of one length, each with the table of its figures.
 *
 * 1. What a chart says is said by its label and its table too; colours alone tell nothing apart, lines have dashes.
 * 2. A step without a figure is a gap, not a 0.
 */
import { number, TIME_ZONE } from '../app/format.ts';

export interface TimeSeries {
  readonly name: string;
  /** One a step; null where nothing is known. */
  readonly values: readonly (number | null)[];
  readonly form: 'bars' | 'line';
}

interface TimeChartProps {
  readonly title: string;
  /** When each step began. */
  readonly at: readonly number[];
  readonly stepMs: number;
  readonly series: readonly TimeSeries[];
  /** Further columns of the table. */
  readonly more?: readonly Omit<TimeSeries, 'form'>[];
  readonly textOf?: (value: number) => string;
  readonly note?: string;
}

const WIDTH = 600;
const HEIGHT = 140;
const LABELS = 5;
const ROWS_MAX = 500;
const DAY_MS = 24 * 60 * 60_000;

export function TimeChart({ title, at, stepMs, series, more = [], textOf = number, note }: TimeChartProps) {
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const highest = niceTop(known.reduce((most, value) => Math.max(most, value), 0));
  const width = WIDTH / Math.max(1, at.length);
  const timeOf = clockOf((at.at(-1) ?? 0) - (at[0] ?? 0));
  const columns = [...series, ...more];
  const wordsAt = (step: number): string =>
    columns.map(({ name, values }) => `${textAt(values[step] ?? null, textOf)} ${name}`).join(', ');
  const last = at.length - 1;
  return (
    <section class="card time-chart">
      <h3>{title}</h3>
      <figure class="plot">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}: ${known.length === 0 ? 'nothing yet' : `up to ${textOf(Math.max(...known))}; last ${wordsAt(last)}`}`}
        >
          <line class="grid" x1={0} x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} vector-effect="non-scaling-stroke" />
          {series.map(({ values, form, name }, index) => (
            <path
              key={name}
              class={`${form} of-${index}`}
              d={form === 'bars' ? barsOf(values, width, highest) : lineOf(values, width, highest)}
              vector-effect="non-scaling-stroke"
            />
          ))}
          {at.map((moment, step) => (
            <rect key={moment} class="column" x={step * width} y={0} width={width} height={HEIGHT}>
              <title>{`${timeOf(moment)}: ${wordsAt(step)}`}</title>
            </rect>
          ))}
        </svg>
        <span class="plot-top quiet">{textOf(highest)}</span>
        <span class="plot-middle quiet">{textOf(highest / 2)}</span>
        <figcaption class="quiet small">
          {labelsOf(at, stepMs).map((moment) => (
            <span key={moment}>{timeOf(moment)}</span>
          ))}
        </figcaption>
      </figure>
      {series.length > 1 && (
        <ul class="legend">
          {series.map(({ name, form }, index) => (
            <li key={name} class={`${form}-mark of-${index}`}>
              {name}
            </li>
          ))}
        </ul>
      )}
      {note !== undefined && <p class="quiet small">{note}</p>}
      <Figures title={title} at={at} columns={columns} timeOf={timeOf} textOf={textOf} />
    </section>
  );
}

interface FiguresProps extends Pick<TimeChartProps, 'title' | 'at'> {
  readonly columns: readonly Omit<TimeSeries, 'form'>[];
  readonly timeOf: (moment: number) => string;
  readonly textOf: (value: number) => string;
}

/** The steps in which there was something, the newest first. */
function Figures({ title, at, columns, timeOf, textOf }: FiguresProps) {
  const steps = at
    .map((moment, step) => ({ moment, values: columns.map(({ values }) => values[step] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null && value !== 0))
    .reverse();
  return (
    <details>
      <summary class="small">The figures of “{title}”</summary>
      <div class="table-frame" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <th>From</th>
              {columns.map(({ name }) => (
                <th key={name} class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.slice(0, ROWS_MAX).map(({ moment, values }) => (
              <tr key={moment}>
                <td class="stamp">{timeOf(moment)}</td>
                {values.map((value, index) => (
                  <td key={columns[index]!.name} class="number">
                    {textAt(value, textOf)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {steps.length === 0 && <p class="quiet small">Nothing happened in this range.</p>}
    </details>
  );
}

function textAt(value: number | null, textOf: (value: number) => string): string {
  return value === null ? '–' : textOf(value);
}

function heightOf(value: number, highest: number): number {
  return Math.round((value / highest) * (HEIGHT - 2) * 10) / 10;
}

function barsOf(values: TimeSeries['values'], width: number, highest: number): string {
  return values
    .map((value, step) => {
      if (value === null || value <= 0) return '';
      const x = Math.round(step * width * 100) / 100;
      return `M${x} ${HEIGHT}h${width * 0.85}V${HEIGHT - heightOf(value, highest)}h${-width * 0.85}z`;
    })
    .join('');
}

function lineOf(values: TimeSeries['values'], width: number, highest: number): string {
  return values
    .map((value, step) => {
      if (value === null) return '';
      const isAlone = (values[step - 1] ?? null) === null;
      const y = HEIGHT - 1 - heightOf(value, highest);
      // A line begins with a stroke of its step's width, so that a figure between two gaps is seen.
      return isAlone ? `M${step * width} ${y}h${width}` : `L${(step + 0.5) * width} ${y}`;
    })
    .join('');
}

/** The next of 1, 2 and 5 with zeros: a top that can be read, and halved. */
function niceTop(value: number): number {
  if (value <= 2) return value <= 1 && !Number.isInteger(value) ? 1 : 2;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10].map((factor) => factor * power).find((top) => top >= value)!;
}

function labelsOf(at: readonly number[], stepMs: number): readonly number[] {
  const first = at[0] ?? 0;
  const end = (at.at(-1) ?? 0) + stepMs;
  return Array.from({ length: LABELS }, (_, n) => first + (n / (LABELS - 1)) * (end - first));
}

/** How moments of a range are written: the time, with the day where there is more than one. */
function clockOf(lengthMs: number): (moment: number) => string {
  const day = lengthMs < DAY_MS ? {} : ({ day: 'numeric', month: 'short' } as const);
  const form = new Intl.DateTimeFormat('en-GB', { ...day, hour: '2-digit', minute: '2-digit', timeZone: TIME_ZONE });
  return (moment) => form.format(moment);
}
