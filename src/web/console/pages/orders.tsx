/**
 * The orders of an event, the newest first, filtered by e-mail address and status, a page at a time. The filters are in
 * the address.
 */
import { useState } from 'preact/hooks';
import { addressOf, usePolled, type Api } from '../app/api.ts';
import type { OrderPage, OverviewEvent } from '../app/bodies.ts';
import { Breadcrumbs, FilterChoice, FilterForm, PageButtons, PageTitle } from '../parts/frame.tsx';
import { OrderTable } from '../parts/order-table.tsx';
import { linkTo, queryOf, useFilters } from '../app/router.ts';

const STATUSES = ['PENDING', 'PARTIALLY_PAID', 'CONFIRMED', 'EXPIRED', 'CANCELLED'];
const PAGE_ORDERS = 50;

export function OrdersPage({ api, event }: { readonly api: Api; readonly event: OverviewEvent }) {
  const { email, status } = useFilters('email', 'status');
  return (
    <>
      <Breadcrumbs links={[[linkTo('events', event.id), event.name]]} />
      <PageTitle>Orders</PageTitle>
      <FilterForm path={['events', event.id, 'orders']}>
        <input
          name="email"
          key={email}
          type="search"
          defaultValue={email}
          placeholder="E-mail address"
          aria-label="E-mail address"
          autocomplete="off"
        />
        <FilterChoice name="status" label="Status" chosen={status} options={STATUSES.map((each) => [each, each])} />
      </FilterForm>
      <OrderPages key={`${email} ${status}`} api={api} eventId={event.id} filters={{ email, status }} />
    </>
  );
}

interface OrderPagesProps {
  readonly api: Api;
  readonly eventId: string;
  readonly filters: { readonly email: string; readonly status: string };
}

function OrderPages({ api, eventId, filters }: OrderPagesProps) {
  /** The cursors of the opened pages; the last one is shown, without one the first page. */
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const query = queryOf({ ...filters, order: 'newest', limit: String(PAGE_ORDERS), cursor: cursors.at(-1) ?? '' });
  const address = `${addressOf('events', eventId, 'orders')}?${query}`;
  const { value, trouble } = usePolled<OrderPage>(address, () => api('GET', address), null);
  return (
    <>
      {trouble !== null && <p class="alert">{trouble}</p>}
      {value !== null && value.orders.length === 0 && <p class="quiet empty">No order fits.</p>}
      {value !== null && value.orders.length > 0 && <OrderTable orders={value.orders.map((order) => ({ order }))} />}
      <PageButtons
        opened={cursors}
        next={value?.next_cursor ?? null}
        show={setCursors}
        names={{ back: 'Newer', on: 'Older' }}
      />
    </>
  );
}
