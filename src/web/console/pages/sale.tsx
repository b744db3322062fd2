/**
 * A sale on one screen: tickets, money and the waiting room over time, when it is sold out, and how the service
 * performs. Or the service alone.
 *
 * 1. Range and step are in the address: a colleague sees the same. A fixed range ends with a minute that is over, so
 *    that the figures of the sale in it do not move.
 * 2. What changes is told to screen readers once a minute, in one sentence.
 */
import { useMemo, useState } from 'preact/hooks';
import { useKept } from '../../hooks.ts';
import { addressOf, usePolled, type Api } from '../app/api.ts';
import type { OverviewEvent, SaleByMinute, SalePoint } from '../app/bodies.ts';
import { countOf, moment, money, number, span } from '../app/format.ts';
import { linkTo, linkWith, queryOf, useFilters } from '../app/router.ts';
import { Breadcrumbs, PageTitle, Tiles } from '../parts/frame.tsx';
import { eachStep, History } from '../parts/service-history.tsx';
import { TimeChart, type Steps } from '../parts/time-charts.tsx';

interface SalePageProps {
  readonly api: Api;
  readonly event: OverviewEvent;
  /** The service's time: a browser's own may be another. */
  readonly now: string;
}

const POLL_MS = 5_000;
const MINUTE_MS = 60_000;
const STEP_MINUTES_MAX = 1_440;

const RANGES: readonly (readonly [range: string, name: string, minutes: number])[] = [
  ['', 'Since it opened', 0],
  ['1h', 'Last hour', 60],
  ['3h', '3 hours', 180],
  ['12h', '12 hours', 720],
];
const STEPS: readonly (readonly [step: string, name: string])[] = [
  ['', 'as fits'],
  ['1', '1 min'],
  ['5', '5 min'],
  ['15', '15 min'],
  ['60', '1 hour'],
];

export function SalePage({ api, event, now }: SalePageProps) {
  const filters = useFilters('range', 'step', 'from', 'to');
  const path = ['events', event.id, 'sale'];
  const address = addressOf(...path);
  const read = (): Promise<SaleByMinute> => api('GET', `${address}?${queryOf(asked(filters, Date.parse(now)))}`);
  const isLive = filters.to === '' || Date.parse(filters.to) > Date.parse(now);
  const [isWhole, setWhole] = useState(true);
  // For a range that is over, only the figures of the present sale change, once the journal is read.
  const pollMs = isWhole && !isLive ? MINUTE_MS : POLL_MS;
  const { value, trouble } = usePolled<SaleByMinute>(`${address} ${queryOf(filters)}`, read, pollMs);
  if (value !== null && value.whole !== isWhole) setWhole(value.whole);
  const sale = useKept(value);
  const { currency, waiting_room: room } = event;
  const hasLine = room !== null || (sale?.totals.joined ?? 0) > 0;
  const charts = useMemo(() => sale && <SaleCharts {...{ currency, hasLine, sale }} />, [sale, currency, hasLine]);
  return (
    <>
      <Breadcrumbs links={[[linkTo('events', event.id), event.name]]} />
      <PageTitle>{`Sale: ${event.name}`}</PageTitle>
      <RangeLinks path={path} filters={filters} ranges={RANGES} shown={sale} />
      {trouble !== null && <p class="alert">{trouble}</p>}
      {sale === null && trouble === null && <p class="quiet">Reading the journal…</p>}
      {sale !== null && (
        <>
          <Remarks sale={sale} />
          <SaleTiles waiting={hasLine ? (room?.waiting ?? 0) : null} sale={sale} />
          <h2>Tickets, money and the line</h2>
          {sale.points.length === 0 && <p class="quiet">Nothing of the sale is in this range.</p>}
          {sale.points.length > 0 && (
            <>
              <p class="quiet small">From the journal: a restart loses nothing of it.</p>
              {charts}
              <h2>Refusals and the service</h2>
              <History api={api} {...stepsOf(sale)} isLive={isLive} />
            </>
          )}
        </>
      )}
    </>
  );
}

type Filters = Readonly<Record<'range' | 'step' | 'from' | 'to', string>>;

/** The query of the range in the address. */
function asked({ range, step, from, to }: Filters, now: number): Readonly<Record<string, string>> {
  const minutes = RANGES.find(([name]) => name === range)?.[2] ?? 0;
  const begin = minutes === 0 ? from : new Date(now - minutes * MINUTE_MS).toISOString();
  return { from: begin, to, step };
}

interface RangeLinksProps {
  readonly path: readonly string[];
  readonly filters: Filters;
  readonly ranges: typeof RANGES;
  readonly shown: SaleByMinute | null;
}

function RangeLinks({ path, filters, ranges, shown }: RangeLinksProps) {
  const { range, step, from, to } = filters;
  const isFixed = from !== '' || to !== '';
  const kept = isFixed ? filters : shown === null ? null : fixedOf(shown, step);
  const current = (is: boolean) => (is ? ({ 'aria-current': 'true' } as const) : {});
  return (
    <nav class="ranges small" aria-label="Range of the charts">
      <p>
        Range:{' '}
        {ranges.map(([each, name]) => (
          <a key={each} href={linkWith({ range: each, step }, ...path)} {...current(!isFixed && each === range)}>
            {name}
          </a>
        ))}
        {kept !== null && shown !== null && (
          // One link, which keeps the focus when it is followed.
          <a key="fixed" href={linkWith(kept, ...path)} {...current(isFixed)}>
            {isFixed ? `${moment(shown.from)} to ${moment(shown.to)}` : 'Keep what is shown now'}
          </a>
        )}
      </p>
      <p>
        Step:{' '}
        {STEPS.map(([each, name]) => (
          <a key={each} href={linkWith({ ...filters, step: each }, ...path)} {...current(each === step)}>
            {name}
          </a>
        ))}
      </p>
    </nav>
  );
}

/** The range shown, up to the last minute that is over (rule 1). */
function fixedOf({ from, to, step_minutes: minutes }: SaleByMinute, step: string): Filters {
  const end = Date.parse(to);
  const lastEnd = Math.max(Date.parse(from) + MINUTE_MS, end - (end % MINUTE_MS));
  // A step over the maximum cannot be requested; the service itself chooses it for such a range.
  return {
    range: '',
    from,
    to: new Date(lastEnd).toISOString(),
    step: minutes > STEP_MINUTES_MAX ? step : String(minutes),
  };
}

/** What of the sale is not shown, and why. */
function Remarks({ sale }: { readonly sale: SaleByMinute }) {
  const { opens_at: opensAt, now, whole, partial, minutes_since: minutesSince, through_seq: seq } = sale;
  const isCoarse = minutesSince !== null && sale.from < minutesSince && sale.step_minutes < 60;
  return (
    <>
      {opensAt === null && <p class="alert">The event is not published: nothing is sold yet.</p>}
      {opensAt !== null && opensAt > now && <p class="alert">The sale opens at {moment(opensAt)}.</p>}
      {!whole && <p class="alert">The journal is still being read, up to fact {number(seq)}: more will come.</p>}
      {partial && <p class="alert">Archived facts are missing here: a file of the archive cannot be read.</p>}
      {sale.step_minutes > 60 && <p class="quiet small">The steps are of days of UTC.</p>}
      {isCoarse && (
        <p class="quiet small">Before {moment(minutesSince)} only hours are kept, each shown at its beginning.</p>
      )}
    </>
  );
}

interface SaleTilesProps {
  /** People in line now; null where the sale has no line. */
  readonly waiting: number | null;
  readonly sale: SaleByMinute;
}

function SaleTiles({ waiting, sale }: SaleTilesProps) {
  const { totals, forecast, now } = sale;
  const pace = forecast.pace_minutes === 0 ? null : forecast.pace_tickets / forecast.pace_minutes;
  const left = soldOutText(sale);
  const tiles: readonly (readonly [name: string, value: string])[] = [
    ['Tickets sold', number(totals.tickets - totals.returned)],
    ...totals.money.map(({ currency, paid_amount: paid, refunded_amount: refunded }) => {
      const name = totals.money.length === 1 ? 'Money that stays' : `Money that stays, ${currency}`;
      return [name, money(paid - refunded, currency)] as const;
    }),
    ['Unsold on dates on sale', number(forecast.unsold)],
    [
      'Tickets a minute, last ten',
      pace === null ? (isOpen(sale) ? 'in a minute' : '–') : number(Math.round(pace * 10) / 10),
    ],
    ['Sold out', left],
    ...(waiting === null ? [] : [['In line', number(waiting)] as const]),
  ];
  return (
    <>
      <Tiles label="The sale now" tiles={tiles} />
      <OncePerMinute
        at={now}
        text={`${countOf(totals.tickets - totals.returned, 'ticket')} sold, ${number(forecast.unsold)} unsold.${left === '–' ? '' : ` Sold out: ${left}.`}`}
      />
    </>
  );
}

function isOpen({ opens_at: opensAt, now }: SaleByMinute): boolean {
  return opensAt !== null && opensAt <= now;
}

function soldOutText(sale: SaleByMinute): string {
  const { forecast, totals, now } = sale;
  const { sold_out_at: at, unsold } = forecast;
  if (!isOpen(sale)) return '–';
  if (unsold === 0) return totals.tickets === totals.returned ? 'nothing is on sale' : 'nothing is left';
  if (at === null) return forecast.pace_minutes === 0 ? '–' : 'not at this pace';
  return `in about ${span((Date.parse(at) - Date.parse(now)) / 1_000)}`;
}

/** Tells a text to screen readers as it was at the first look of a minute (rule 2). */
function OncePerMinute({ at, text }: { readonly at: string; readonly text: string }) {
  const minute = at.slice(0, 'yyyy-mm-ddThh:mm'.length);
  const [said, setSaid] = useState({ minute, text });
  if (said.minute !== minute) setSaid({ minute, text });
  return (
    <p class="unseen" role="status">
      {said.text}
    </p>
  );
}

function stepsOf({ points, step_minutes: step, to }: SaleByMinute): Steps {
  return { at: points.map(({ at }) => Date.parse(at)), stepMs: step * MINUTE_MS, end: Date.parse(to) };
}

interface SaleChartsProps {
  readonly sale: SaleByMinute;
  /** The currency of the event, for where no money moved. */
  readonly currency: string;
  readonly hasLine: boolean;
}

function SaleCharts({ sale, currency: own, hasLine }: SaleChartsProps) {
  const steps = stepsOf(sale);
  const each = eachStep(steps.stepMs);
  const valuesOf = (figure: (point: SalePoint) => number): readonly number[] => sale.points.map(figure);
  const currencies = sale.totals.money.map(({ currency }) => currency);
  return (
    <div class="charts">
      <TimeChart
        {...steps}
        title={`Tickets ${each}`}
        series={[
          { name: 'sold', form: 'bars', values: valuesOf(({ tickets }) => tickets) },
          { name: 'returned', form: 'bars', values: valuesOf(({ returned }) => returned) },
        ]}
        more={[{ name: 'orders', values: valuesOf(({ orders }) => orders) }]}
      />
      {(currencies.length === 0 ? [own] : currencies).map((currency) => {
        const sumsOf = (point: SalePoint) => point.money.find((sums) => sums.currency === currency);
        return (
          <TimeChart
            key={currency}
            {...steps}
            title={currencies.length > 1 ? `Money ${each}, ${currency}` : `Money ${each}`}
            textOf={(amount) => money(Math.round(amount), currency)}
            series={[
              { name: 'paid', form: 'bars', values: valuesOf((point) => sumsOf(point)?.paid_amount ?? 0) },
              { name: 'refunded', form: 'bars', values: valuesOf((point) => sumsOf(point)?.refunded_amount ?? 0) },
            ]}
          />
        );
      })}
      {hasLine && (
        <TimeChart
          {...steps}
          title="People in line"
          series={[{ name: 'in line', form: 'line', values: valuesOf(({ waiting }) => waiting) }]}
          more={[
            { name: 'joined', values: valuesOf(({ joined }) => joined) },
            { name: 'admitted', values: valuesOf(({ admitted }) => admitted) },
          ]}
        />
      )}
    </div>
  );
}

/** The service alone. */
export function ServicePage({ api, now }: { readonly api: Api; readonly now: string }) {
  const { range, step: inAddress } = useFilters('range', 'step');
  // Nothing checks the address: a step of milliseconds would be drawn.
  const step = STEPS.some(([each]) => each === inAddress) ? inAddress : '';
  const filters = { range: range === '' ? '1h' : range, step, from: '', to: '' };
  const minutes = RANGES.find(([name]) => name === filters.range)?.[2] ?? 60;
  const end = Date.parse(now);
  const begin = end - minutes * MINUTE_MS;
  const stepMs = (Number(filters.step) || (minutes > 240 ? 5 : 1)) * MINUTE_MS;
  const first = begin - (begin % stepMs);
  const at = Array.from({ length: Math.floor((end - first) / stepMs) + 1 }, (_, n) => first + n * stepMs);
  return (
    <>
      <Breadcrumbs />
      <PageTitle>The service, the last hours</PageTitle>
      <RangeLinks path={['service']} filters={filters} ranges={RANGES.slice(1)} shown={null} />
      <h2>Refusals, latency and the disk</h2>
      <History api={api} at={at} stepMs={stepMs} end={end} isLive />
    </>
  );
}
