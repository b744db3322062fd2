/**
 * Charts of figures over time, in steps of one length, each with the table of its figures.
 *
 * 1. The label and the table of a chart say what it shows. Nothing differs by its colour alone: lines have dashes.
 * 2. A step without a figure is not a 0: a line has a gap there, and where no series has one it is shaded.
 * 3. The step that is named as the last one is whole: a step that still runs, or that the range cuts, is not.
 * 4. A chart of a day in minutes is drawn every few seconds: what is not seen, rows and steps, has no elements.
 */
import { useState } from 'preact/hooks';
import { number, TIME_ZONE } from '../app/format.ts';
import { Table } from './table.tsx';

/** The steps that the charts of a page have. */
export interface Steps {
  /** When each step began. */
  readonly at: readonly number[];
  readonly stepMs: number;
  /** When the range ends; a step that ends later is not whole. */
  readonly end: number;
}

export interface TimeSeries {
  readonly name: string;
  /** One for each step; null where nothing is known. */
  readonly values: readonly (number | null)[];
  /** Bars stand side by side; a part is counted in the bars before it, and drawn over them. */
  readonly form: 'bars' | 'part' | 'line';
}

interface TimeChartProps extends Steps {
  readonly title: string;
  readonly series: readonly TimeSeries[];
  /** Further columns of the table. */
  readonly more?: readonly Omit<TimeSeries, 'form'>[];
  readonly textOf?: (value: number) => string;
  readonly note?: string;
}

const WIDTH = 600;
const HEIGHT = 140;
const BAR_MIN = 1.5;
const ROWS_MAX = 500;
const DAY_MS = 24 * 60 * 60_000;

export function TimeChart({ title, at, stepMs, end, series, more = [], textOf = number, note }: TimeChartProps) {
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const most = known.reduce((before, value) => Math.max(before, value), 0);
  const isLong = at.at(-1)! - at[0]! >= DAY_MS;
  const timeOf = clockOf(isLong);
  const nameOf = (moment: number): string => timeOf(moment) + (moment + stepMs > end ? ' (not whole)' : '');
  const columns = [...series, ...more];
  const wordsAt = (step: number): string =>
    columns.map(({ name, values }) => `${textAt(values[step] ?? null, textOf)} ${name}`).join(', ');
  const last = at.findLastIndex((moment) => moment + stepMs <= end);
  const empty = known.length === 0 ? 'nothing is known of this range' : 'nothing in this range';
  const told = most === 0 ? empty : `up to ${textOf(most)}${last < 0 ? '' : `; last ${wordsAt(last)}`}`;
  const labels = labelsOf(at[0]!, at.at(-1)! + stepMs, isLong ? 3 : 5).map(timeOf);
  return (
    <section class="card time-chart">
      <h3>{title}</h3>
      <figure class="plot">
        <Plot
          label={`${title}: ${told}`}
          series={series}
          count={at.length}
          highest={niceTop(most)}
          wordsOf={(step) => `${nameOf(at[step]!)}: ${wordsAt(step)}`}
        />
        {most > 0 && <span class="plot-top quiet">{textOf(niceTop(most))}</span>}
        {most > 0 && <span class="plot-middle quiet">{textOf(niceTop(most) / 2)}</span>}
        <figcaption class="quiet small">
          {labels.map((label, n) => (
            <span key={n} class={n % (labels.length - 1) === 0 ? undefined : 'wide-only'}>
              {label !== labels[n - 1] && label}
            </span>
          ))}
        </figcaption>
      </figure>
      {most === 0 && <p class="quiet small">{`${empty[0]!.toUpperCase()}${empty.slice(1)}.`}</p>}
      {known.length > 0 && known.length < at.length * series.length && (
        <p class="quiet small">Nothing is known of the shaded steps.</p>
      )}
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
      <Figures title={title} at={at} columns={columns} nameOf={nameOf} textOf={textOf} />
    </section>
  );
}

interface PlotProps extends Pick<TimeChartProps, 'series'> {
  readonly label: string;
  /** How many steps there are. */
  readonly count: number;
  readonly highest: number;
  readonly wordsOf: (step: number) => string;
}

function Plot({ label, series, count, highest, wordsOf }: PlotProps) {
  const width = WIDTH / count;
  const sides = series.filter(({ form }) => form === 'bars').length;
  const unknown = Array.from({ length: count }, (_, step) =>
    series.every(({ values }) => values[step] === null) ? highest : null,
  );
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path class="unknown" d={barsOf(unknown, highest, 0, width)} />
      <line class="grid" x1={0} x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} vector-effect="non-scaling-stroke" />
      {series.map(({ values, form, name }, index) => (
        <path
          key={name}
          class={`${form} of-${index}`}
          d={
            form === 'line'
              ? lineOf(values, highest)
              : barsOf(values, highest, ((index % sides) / sides) * 0.85 * width, (0.85 * width) / sides)
          }
          vector-effect="non-scaling-stroke"
        />
      ))}
      <Pointed count={count} wordsOf={wordsOf} />
    </svg>
  );
}

/** The step under the pointer, and its words (rule 4). */
function Pointed({ count, wordsOf }: Pick<PlotProps, 'count' | 'wordsOf'>) {
  const [step, setStep] = useState<number | null>(null);
  const follow = (pointer: preact.TargetedPointerEvent<SVGGElement>): void => {
    const { left, width } = pointer.currentTarget.getBoundingClientRect();
    const pointed = Math.floor(((pointer.clientX - left) / width) * count);
    setStep(Math.max(0, Math.min(count - 1, pointed)));
  };
  return (
    <g onPointerMove={follow} onPointerLeave={() => setStep(null)}>
      <rect fill="transparent" width={WIDTH} height={HEIGHT} />
      {step !== null && step < count && (
        <>
          <title>{wordsOf(step)}</title>
          <rect class="pointed" x={(step / count) * WIDTH} width={WIDTH / count} height={HEIGHT} />
        </>
      )}
    </g>
  );
}

interface FiguresProps extends Pick<TimeChartProps, 'title' | 'at'> {
  readonly columns: readonly Omit<TimeSeries, 'form'>[];
  readonly nameOf: (moment: number) => string;
  readonly textOf: (value: number) => string;
}

/** A table of the steps that have values, the newest first; it is made only while it is shown (rule 4). */
function Figures(props: FiguresProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="small">The figures of “{props.title}”</summary>
      {isOpen && <FigureTable {...props} />}
    </details>
  );
}

function FigureTable({ title, at, columns, nameOf, textOf }: FiguresProps) {
  const steps = at
    .map((moment, step) => ({ moment, values: columns.map(({ values }) => values[step] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null && value !== 0))
    .reverse();
  if (steps.length === 0) return <p class="quiet small">There are none in this range.</p>;
  return (
    <>
      {steps.length > ROWS_MAX && (
        <p class="quiet small">
          The newest {number(ROWS_MAX)} of {number(steps.length)} steps.
        </p>
      )}
      <Table isInCard label={title} columns={[['From'], ...columns.map(({ name }) => [name, 'number'] as const)]}>
        {steps.slice(0, ROWS_MAX).map(({ moment, values }) => (
          <tr key={moment}>
            <td class="stamp">{nameOf(moment)}</td>
            {values.map((value, index) => (
              <td key={columns[index]!.name} class="number">
                {textAt(value, textOf)}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </>
  );
}

function textAt(value: number | null, textOf: (value: number) => string): string {
  return value === null ? '–' : textOf(value);
}

function heightOf(value: number, highest: number): number {
  return Math.round((value / highest) * (HEIGHT - 2) * 10) / 10;
}

/** Each bar is so wide, but not too narrow to be seen, and stands so far from where its step begins. */
function barsOf(values: TimeSeries['values'], highest: number, offset: number, wanted: number): string {
  const width = Math.max(BAR_MIN, wanted);
  return values
    .map((value, step) => {
      if (value === null || value <= 0) return '';
      const x = Math.min(WIDTH - width, Math.round(((step / values.length) * WIDTH + offset) * 100) / 100);
      return `M${x} ${HEIGHT}h${width}V${HEIGHT - heightOf(value, highest)}h${-width}z`;
    })
    .join('');
}

function lineOf(values: TimeSeries['values'], highest: number): string {
  const width = WIDTH / values.length;
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

/** The next of 1, 2, 4, 6, 8 and 10 with zeros, of counts at least 2: a top that can be read, and halved. */
function niceTop(value: number): number {
  if (value <= 2) return value <= 1 && !Number.isInteger(value) ? 1 : 2;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10].map((factor) => factor * power).find((top) => top >= value)!;
}

/** So many moments at equal distances, both ends among them. */
function labelsOf(first: number, end: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => first + (n / (count - 1)) * (end - first));
}

/** How moments of a range are written: the time, in a range of a day or more after the day. */
function clockOf(isLong: boolean): (moment: number) => string {
  const day = isLong ? ({ day: 'numeric', month: 'short' } as const) : {};
  const form = new Intl.DateTimeFormat('en-GB', { ...day, hour: '2-digit', minute: '2-digit', timeZone: TIME_ZONE });
  return (moment) => form.format(moment);
}
