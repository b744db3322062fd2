/** How the service did in a range: refusals by reason, latency, the admission queue, writes of the journal. */
import { useMemo } from 'preact/hooks';
import { useKept } from '../../hooks.ts';
import { usePolled, type Api } from '../app/api.ts';
import type { HistoryMinute, ServiceHistory } from '../app/bodies.ts';
import { moment, number } from '../app/format.ts';
import { queryOf } from '../app/router.ts';
import { TimeChart, type Steps, type TimeSeries } from './time-charts.tsx';
import { Table } from './table.tsx';

interface HistoryProps extends Steps {
  readonly api: Api;
  /** Whether it goes on as time goes on. */
  readonly isLive: boolean;
}

const POLL_MS = 10_000;
const REASONS_SHOWN = 12;

/** "a minute", "in 5 minutes", "an hour" */
export function eachStep(stepMs: number): string {
  const minutes = stepMs / 60_000;
  if (minutes === 1) return 'a minute';
  if (minutes < 60) return `in ${minutes} minutes`;
  if (minutes === 60) return 'an hour';
  return minutes === 1_440 ? 'a day' : `in ${minutes / 60} hours`;
}

/** An answer with the steps for which it was asked: it is drawn in these, also when others are awaited. */
interface Answer {
  readonly history: ServiceHistory;
  readonly steps: Steps;
}

export function History({ api, isLive, ...steps }: HistoryProps) {
  const from = new Date(steps.at[0]!).toISOString();
  const to = isLive ? '' : new Date(steps.end).toISOString();
  const read = async (): Promise<Answer> => {
    return { history: await api<ServiceHistory>('GET', `/admin/history?${queryOf({ from, to })}`), steps };
  };
  const key = `history ${from} ${steps.stepMs} ${to}`;
  const { value, trouble } = usePolled<Answer>(key, read, isLive ? POLL_MS : null);
  const answer = useKept(value);
  const charts = useMemo(() => answer && <HistoryCharts {...answer} />, [answer]);
  if (answer === null) return <p class={trouble === null ? 'quiet' : 'alert'}>{trouble ?? 'Loading…'}</p>;
  const { minutes, node } = answer.history;
  const { at, stepMs } = answer.steps;
  const since = minutes[0]?.at;
  return (
    <>
      <p class="quiet small">
        Of the whole service{node !== null && `, at the node ${node} alone`}, all events together. These figures are no
        part of the journal: they are kept in memory for 12 hours
        {since !== undefined && Date.parse(since) > at[0]! + stepMs && `, here since ${moment(since)}`}, and a restart
        begins them anew.
      </p>
      {trouble !== null && <p class="alert">{trouble}</p>}
      {charts}
    </>
  );
}

function HistoryCharts({ history: { minutes, node }, steps: chart }: Answer) {
  const { stepMs } = chart;
  const steps = byStep(minutes, chart);
  const counted = (figure: (minute: HistoryMinute) => number): TimeSeries['values'] =>
    steps.map((each) => (each.length === 0 ? null : each.reduce((sum, minute) => sum + figure(minute), 0)));
  const most = (figure: (minute: HistoryMinute) => number | null): TimeSeries['values'] =>
    steps.map((each) => each.reduce<number | null>((before, minute) => greater(before, figure(minute)), null));
  const each = eachStep(stepMs);
  const worst = stepMs > 60_000 ? { note: 'Of each step its slowest minute.' } : {};
  return (
    <div class="charts">
      <TimeChart
        {...chart}
        title={`Refused ${each}`}
        series={[{ name: 'refused', form: 'bars', values: counted(({ refused }) => refused) }]}
      />
      <Reasons minutes={steps.flat()} />
      <TimeChart
        {...chart}
        {...worst}
        title="Time to answer"
        textOf={ms}
        series={percentilesOf(['p50_ms', 'p95_ms', 'p99_ms'], most)}
      />
      <TimeChart
        {...chart}
        title={`Requests ${each}`}
        series={[
          { name: 'requests', form: 'bars', values: counted(({ requests }) => requests) },
          {
            name: 'answered 5xx, such as overloaded',
            form: 'part',
            values: counted((minute) => minute.server_errors),
          },
        ]}
        more={[{ name: 'answered 4xx', values: counted((minute) => minute.client_errors) }]}
      />
      <TimeChart
        {...chart}
        title="Most changes in the admission queue"
        series={[{ name: 'waiting requests', form: 'bars', values: most((minute) => minute.admission_queue_max) }]}
      />
      <TimeChart
        {...chart}
        {...worst}
        title={node === null ? 'Time to write to disk (fsync)' : 'Time until a write is acknowledged'}
        textOf={ms}
        series={percentilesOf(['commit_p50_ms', 'commit_p95_ms', 'commit_p99_ms'], most)}
      />
    </div>
  );
}

type Percentile = Extract<keyof HistoryMinute, `${string}p${number}_ms`>;

function percentilesOf(
  figures: readonly Percentile[],
  most: (figure: (minute: HistoryMinute) => number | null) => TimeSeries['values'],
): readonly TimeSeries[] {
  const names = ['50th percentile', '95th', '99th'];
  return figures.map((figure, n) => ({ name: names[n]!, form: 'line', values: most((minute) => minute[figure]) }));
}

/** How often each reason came in the range, the most frequent first. */
function Reasons({ minutes }: { readonly minutes: readonly HistoryMinute[] }) {
  const counts = new Map<string, number>();
  for (const { refusals } of minutes) {
    for (const { code, count } of refusals) counts.set(code, (counts.get(code) ?? 0) + count);
  }
  const reasons = [...counts].sort(([, one], [, other]) => other - one);
  return (
    <section class="card time-chart">
      <h3>Refused, by reason</h3>
      {reasons.length === 0 && (
        <p class="quiet small">{`Nothing ${minutes.length === 0 ? 'is known of' : 'was refused in'} this range.`}</p>
      )}
      {reasons.length > 0 && (
        <Table isInCard label="Refused, by reason">
          {reasons.slice(0, REASONS_SHOWN).map(([code, count]) => (
            <tr key={code} data-reason={code}>
              <th scope="row">
                <code>{code}</code>
              </th>
              <td class="number">{number(count)}</td>
              <td class="bars wide-only">
                <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                  <rect class="fill-refunded" width={(100 * count) / reasons[0]![1]} height={10} />
                </svg>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {reasons.length > REASONS_SHOWN && (
        <p class="quiet small">{number(reasons.length - REASONS_SHOWN)} further reasons are rarer.</p>
      )}
    </section>
  );
}

/** The minutes of each step. */
function byStep(minutes: readonly HistoryMinute[], { at, stepMs }: Steps): readonly (readonly HistoryMinute[])[] {
  const steps: HistoryMinute[][] = at.map(() => []);
  for (const minute of minutes) steps[Math.floor((Date.parse(minute.at) - at[0]!) / stepMs)]?.push(minute);
  return steps;
}

function greater(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function ms(value: number): string {
  return value >= 1_000 ? `${number(Math.round(value / 10) / 100)} s` : `${number(value)} ms`;
}
