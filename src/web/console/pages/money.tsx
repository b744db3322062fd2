/** Money over all events: what came in and what was given back, by event and by hour over the last day. */
import { usePolled, type Api } from '../app/api.ts';
import type { EventMoney, MoneyList } from '../app/bodies.ts';
import { number, money } from '../app/format.ts';
import { Breadcrumbs, PageTitle } from '../parts/frame.tsx';
import { HourTable, sumByHour } from '../parts/money.tsx';
import { linkTo } from '../app/router.ts';
import { Table } from '../parts/table.tsx';

const POLL_MS = 5_000;
const EVENTS_A_PAGE = 100;
/** Pages of events that are read for the sums. */
const PAGES_MAX = 10;

export function MoneyPage({ api }: { readonly api: Api }) {
  const { value, trouble } = usePolled<MoneyList>('money', () => readAll(api), POLL_MS);
  const moved = value?.events.filter(({ totals }) => totals.length > 0) ?? [];
  return (
    <>
      <Breadcrumbs />
      <PageTitle>Money</PageTitle>
      <p class="quiet small">
        What came in and what was given back, in the hour in which it was recorded. Sold is all money that came, also
        what is due back.
      </p>
      {trouble !== null && <p class="alert">{trouble}</p>}
      {value === null && trouble === null && <p class="quiet">Loading…</p>}
      {value !== null && moved.length === 0 && <p class="quiet empty">No money has come yet.</p>}
      {moved.length > 0 && (
        <>
          <h2>By event</h2>
          <EventTable events={moved} />
          <h2>By hour, the last day</h2>
          <HourTable hours={sumByHour(moved.flatMap(({ hours }) => hours))} />
        </>
      )}
      {value?.next_cursor != null && (
        <p class="quiet">The first {number(value.events.length)} events are summed up; the API lists the rest.</p>
      )}
    </>
  );
}

async function readAll(api: Api): Promise<MoneyList> {
  const read = (cursor: string | null): Promise<MoneyList> =>
    api('GET', `/admin/money?limit=${EVENTS_A_PAGE}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
  let all = await read(null);
  for (let pages = 1; all.next_cursor !== null && pages < PAGES_MAX; pages += 1) {
    const page = await read(all.next_cursor);
    all = { ...page, events: [...all.events, ...page.events] };
  }
  return all;
}

function EventTable({ events }: { readonly events: readonly EventMoney[] }) {
  const rows = events.flatMap((event) => event.totals.map((sums) => ({ event, sums })));
  return (
    <Table
      label="Money by event"
      columns={[
        ['Event'],
        ['Sold', 'number'],
        ['Payments', 'number wide-only'],
        ['Refunded', 'number'],
        ['Refunds', 'number wide-only'],
        ['Stays', 'number'],
      ]}
    >
      {rows.map(({ event, sums }) => (
        <tr key={`${event.event_id} ${sums.currency}`} data-event={event.event_id}>
          <td>
            <a href={linkTo('events', event.event_id)}>{event.name}</a>
          </td>
          <td class="number">{money(sums.paid_amount, sums.currency)}</td>
          <td class="number wide-only">{number(sums.payments)}</td>
          <td class="number">{money(sums.refunded_amount, sums.currency)}</td>
          <td class="number wide-only">{number(sums.refunds)}</td>
          <td class="number">
            <b>{money(sums.paid_amount - sums.refunded_amount, sums.currency)}</b>
          </td>
        </tr>
      ))}
    </Table>
  );
}
