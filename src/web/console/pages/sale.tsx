/**
 * A sale on one screen: tickets, money and the line over time, when it is sold out, and how the service does. Or the
 * service alone.
 *
 * 1. Range and step are in the address: a colleague sees the same, and a fixed range does not move.
 * 2. What changes is told to screen readers once a minute, in one sentence.
 */
import { useState } from 'preact/hooks';
import { addressOf, usePolled, type Api } from '../app/api.ts';
import type { OverviewEvent, SaleByMinute, SalePoint } from '../app/bodies.ts';
import { countOf, moment, money, number, span } from '../app/format.ts';
import { linkTo, linkWith, queryOf, useFilters } from '../app/router.ts';
import { Breadcrumbs, PageTitle } from '../parts/frame.tsx';
import { eachStep, History } from '../parts/service-history.tsx';
import { TimeChart } from '../parts/time-charts.tsx';

interface SalePageProps {
  readonly api: Api;
  readonly event: OverviewEvent;
  /** The service's time: a browser's own may be another. */
  readonly now: string;
}

const POLL_MS = 5_000;
const MINUTE_MS = 60_000;

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
  const isLive = filters.to === '';
  // A range that is over is read on too, until the journal is.
  const { value: sale, trouble } = usePolled<SaleByMinute>(`${address} ${queryOf(filters)}`, read, POLL_MS);
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
          <Tiles event={event} sale={sale} />
          <h2>Tickets, money and the line</h2>
          {sale.points.length === 0 && <p class="quiet">Nothing of the sale is in this range.</p>}
          {sale.points.length > 0 && (
            <>
              <p class="quiet small">From the journal: a restart loses nothing of it.</p>
              <SaleCharts event={event} sale={sale} />
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
        {isFixed && shown !== null && (
          <a href={linkWith(filters, ...path)} aria-current="true">
            {`${moment(shown.from)} to ${moment(shown.to)}`}
          </a>
        )}
        {!isFixed && shown !== null && (
          <a href={linkWith({ from: shown.from, to: shown.to, step }, ...path)}>Keep what is shown now</a>
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
      {isCoarse && (
        <p class="quiet small">Before {moment(minutesSince)} only hours are kept, each shown at its beginning.</p>
      )}
    </>
  );
}

function Tiles({ event, sale }: { readonly event: OverviewEvent; readonly sale: SaleByMinute }) {
  const { totals, forecast, now, points } = sale;
  const pace = forecast.pace_minutes === 0 ? null : forecast.pace_tickets / forecast.pace_minutes;
  const left = soldOutText(sale);
  const waiting = points.at(-1)?.waiting ?? 0;
  const tiles: readonly (readonly [name: string, value: string])[] = [
    ['Tickets sold', number(totals.tickets - totals.returned)],
    ...totals.money.map(({ currency, paid_amount: paid, refunded_amount: refunded }) => {
      const name = totals.money.length === 1 ? 'Money that stays' : `Money that stays, ${currency}`;
      return [name, money(paid - refunded, currency)] as const;
    }),
    ['Unsold on dates on sale', number(forecast.unsold)],
    ['Tickets a minute, last ten', pace === null ? 'in a minute' : number(Math.round(pace * 10) / 10)],
    ['Sold out', left],
    ...(event.waiting_room === null && totals.joined === 0 ? [] : [['In line', number(waiting)] as const]),
  ];
  return (
    <>
      <dl class="tiles" aria-label="The sale now">
        {tiles.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <OncePerMinute
        at={now}
        text={`${countOf(totals.tickets - totals.returned, 'ticket')} sold, ${number(forecast.unsold)} unsold. Sold out: ${left}.`}
      />
    </>
  );
}

function soldOutText({ forecast, now }: SaleByMinute): string {
  const { sold_out_at: at, unsold } = forecast;
  if (unsold === 0) return 'nothing is left';
  if (at === null) return 'not at this pace';
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

function stepsOf({ points, step_minutes: step }: SaleByMinute) {
  return { at: points.map(({ at }) => Date.parse(at)), stepMs: step * MINUTE_MS };
}

function SaleCharts({ event, sale }: { readonly event: OverviewEvent; readonly sale: SaleByMinute }) {
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
      {(currencies.length === 0 ? [event.currency] : currencies).map((currency) => {
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
      {(event.waiting_room !== null || sale.totals.joined > 0) && (
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
  const { range, step } = useFilters('range', 'step');
  const filters = { range: range === '' ? '1h' : range, step, from: '', to: '' };
  const minutes = RANGES.find(([name]) => name === filters.range)?.[2] ?? 60;
  const end = Date.parse(now);
  const begin = end - minutes * MINUTE_MS;
  const stepMs = (Number(filters.step) || (minutes > 240 ? 5 : 1)) * MINUTE_MS;
  const first = begin - (begin % stepMs);
  const at = Array.from({ length: Math.max(1, Math.ceil((end - first) / stepMs)) }, (_, n) => first + n * stepMs);
  return (
    <>
      <Breadcrumbs />
      <PageTitle>The service, the last hours</PageTitle>
      <RangeLinks path={['service']} filters={filters} ranges={RANGES.slice(1)} shown={null} />
      <h2>Refusals, latency and the disk</h2>
      <History api={api} at={at} stepMs={stepMs} isLive />
    </>
  );
}
