/** The refunds of an event: how far they are, those that need an operator, and everything that is due given back. */
import { useState } from 'preact/hooks';
import { addressOf, usePolled, type Api } from '../app/api.ts';
import type { OverviewEvent, RefundList } from '../app/bodies.ts';
import { countOf, moment, money, number, sums } from '../app/format.ts';
import { linkTo, linkWith, queryOf, useFilters } from '../app/router.ts';
import { Confirmation } from '../parts/confirmation.tsx';
import { Breadcrumbs, PageTitle, StatusTag, Tiles, type Tile } from '../parts/frame.tsx';
import { Table } from '../parts/table.tsx';

interface RefundsPageProps {
  readonly api: Api;
  readonly event: OverviewEvent;
  readonly reload: () => void;
}

const POLL_MS = 2_000;
const SHOWN_MAX = '100';

type Status = RefundList['refunds'][number]['status'];
type Sums = RefundList['due'];

const STATUSES: readonly (readonly [Status, string])[] = [
  ['NEEDS_OPERATOR', 'Need an operator'],
  ['PENDING', 'On their way'],
  ['SUCCEEDED', 'Given back'],
  ['FAILED', 'Not given back'],
];

export function RefundsPage({ api, event, reload }: RefundsPageProps) {
  const { status } = useFilters('status');
  const [isAsking, setAsking] = useState(false);
  const address = addressOf('events', event.id, 'refunds');
  const query = queryOf({ status, limit: SHOWN_MAX });
  const {
    value,
    trouble,
    reload: readAgain,
  } = usePolled<RefundList>(`${event.id} ${status}`, () => api('GET', `${address}?${query}`), POLL_MS);
  if (value === null) return trouble === null ? <p class="quiet">…</p> : <p class="alert">{trouble}</p>;
  const execute = async (): Promise<void> => {
    const confirm = value.to_ask.map(({ amount, currency }) => ({ amount, currency }));
    await api('POST', address, { confirm });
    readAgain();
    reload();
  };
  return (
    <>
      <Breadcrumbs links={[[linkTo('events', event.id), event.name]]} />
      <PageTitle>Refunds</PageTitle>
      {trouble !== null && <p class="alert">{trouble}</p>}
      <SumTiles list={value} />
      <Progress list={value} />
      <div class="actions">
        {value.to_ask.length > 0 && (
          <button type="button" class="button" onClick={() => setAsking(true)}>
            Give back all that is due…
          </button>
        )}
        <Filters eventId={event.id} status={status} />
      </div>
      <RefundTable list={value} />
      {isAsking && (
        <Confirmation
          title="Give back all that is due?"
          action="Give it back"
          isGrave
          hasNote={false}
          act={execute}
          onClose={() => setAsking(false)}
        >
          <p>
            <b>{sums(value.to_ask, 'Nothing')}</b> of {countOf(ordersIn(value.to_ask), 'order')} are asked for at the
            payment provider, one after another, also after a restart.
          </p>
        </Confirmation>
      )}
    </>
  );
}

const ordersIn = (amounts: Sums): number => amounts.reduce((sum, { count }) => sum + count, 0);

function SumTiles({ list }: { readonly list: RefundList }) {
  const tileOf = (name: string, amounts: Sums, what: string, isPressing = false): Tile => [
    name,
    <>
      {sums(amounts, '–')}
      {amounts.length > 0 && <span class="quiet small"> {countOf(ordersIn(amounts), what)}</span>}
    </>,
    isPressing && amounts.length > 0,
  ];
  const byStatus = STATUSES.map(([each, name]) =>
    tileOf(name, list[each.toLowerCase() as Lowercase<Status>], 'refund', each === 'NEEDS_OPERATOR'),
  );
  const due = tileOf('Due to buyers', list.due, 'order', true);
  return <Tiles tiles={[due, tileOf('of it not asked for', list.to_ask, 'order'), ...byStatus]} />;
}

/** Which refunds are listed. */
function Filters({ eventId, status }: { readonly eventId: string; readonly status: string }) {
  return (
    <>
      <a class="button plain" href={linkTo('events', eventId, 'refunds')} aria-current={status === '' && 'page'}>
        All
      </a>
      {STATUSES.map(([each, name]) => (
        <a
          key={each}
          class="button plain"
          href={linkWith({ status: each }, 'events', eventId, 'refunds')}
          aria-current={status === each && 'page'}
        >
          {name}
        </a>
      ))}
    </>
  );
}

/** How many of the refunds that were asked for have come to an end. */
function Progress({ list }: { readonly list: RefundList }) {
  const done = ordersIn(list.succeeded) + ordersIn(list.failed);
  const all = done + ordersIn(list.pending) + ordersIn(list.needs_operator);
  if (all === 0) return null;
  return (
    <p>
      <progress value={done} max={all} aria-label="Refunds that have come to an end" /> {number(done)} of{' '}
      {countOf(all, 'refund')}
    </p>
  );
}

function RefundTable({ list }: { readonly list: RefundList }) {
  if (list.refunds.length === 0) return <p class="quiet empty">There are no such refunds.</p>;
  return (
    <>
      <Table label="Refunds" columns={[['Order'], ['Status'], ['Asked for', 'wide-only'], ['Amount', 'number']]}>
        {list.refunds.map((refund) => (
          <tr key={refund.id} data-refund={refund.id}>
            <td>
              <a href={linkTo('orders', refund.order_id)}>…{refund.order_id.slice(-8)}</a>
            </td>
            <td>
              <StatusTag status={refund.status} /> <span class="quiet small">{refund.failure?.message}</span>
            </td>
            <td class="stamp wide-only">{moment(refund.created_at)}</td>
            <td class="number">{money(refund.amount, refund.currency)}</td>
          </tr>
        ))}
      </Table>
      {list.next_cursor !== null && (
        <p class="quiet">The first {list.refunds.length} are shown; the API lists the rest.</p>
      )}
    </>
  );
}
