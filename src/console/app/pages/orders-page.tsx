/** The orders of an event, filtered by e-mail address and status, a page at a time. */
import { useState } from 'preact/hooks';
import { addressOf, usePolled, type Api } from '../api.ts';
import type { Order, OrderPage, OverviewEvent } from '../bodies.ts';
import { money, moment } from '../format.ts';
import { Breadcrumbs, PageButtons, StatusTag } from '../parts/frame.tsx';
import { linkTo } from '../router.ts';

const STATUSES = ['PENDING', 'PARTIALLY_PAID', 'CONFIRMED', 'EXPIRED', 'CANCELLED'];
const PAGE_ORDERS = 50;

interface Search {
  readonly email: string;
  readonly status: string;
}

export function OrdersPage({ api, event }: { readonly api: Api; readonly event: OverviewEvent }) {
  const [search, setSearch] = useState<Search>({ email: '', status: '' });
  /** The cursors of the opened pages; the last one is shown, without one the first page. */
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const query = new URLSearchParams({ limit: String(PAGE_ORDERS) });
  if (search.email !== '') query.set('email', search.email);
  if (search.status !== '') query.set('status', search.status);
  if (cursors.length > 0) query.set('cursor', cursors.at(-1)!);
  const address = `${addressOf('events', event.id, 'orders')}?${query}`;
  const { value, trouble, reload } = usePolled<OrderPage>(address, () => api('GET', address), null);

  const find = (submission: SubmitEvent): void => {
    submission.preventDefault();
    const fields = new FormData(submission.currentTarget as HTMLFormElement);
    setCursors([]);
    setSearch({ email: String(fields.get('email') ?? '').trim(), status: String(fields.get('status') ?? '') });
    reload();
  };

  return (
    <>
      <Breadcrumbs links={[[linkTo('events', event.id), event.name]]} />
      <h1>Orders</h1>
      <form class="finder wide-finder" role="search" onSubmit={find}>
        <input name="email" type="search" placeholder="E-mail address" aria-label="E-mail address" autocomplete="off" />
        <select name="status" aria-label="Status">
          <option value="">Every status</option>
          {STATUSES.map((status) => (
            <option key={status}>{status}</option>
          ))}
        </select>
        <button type="submit" class="button primary">
          Search
        </button>
      </form>
      {trouble !== null && <p class="alert">{trouble}</p>}
      {value !== null && <OrderTable orders={value.orders} />}
      <PageButtons
        opened={cursors}
        next={value?.next_cursor ?? null}
        show={setCursors}
        names={{ back: 'Earlier', on: 'Later' }}
      />
    </>
  );
}

function OrderTable({ orders }: { readonly orders: readonly Order[] }) {
  if (orders.length === 0) return <p class="quiet empty">No order fits.</p>;
  return (
    <div class="table-frame card">
      <table>
        <thead>
          <tr>
            <th>Order</th>
            <th>Buyer</th>
            <th>Placed</th>
            <th>Status</th>
            <th class="number">Total</th>
            <th class="number">Refund due</th>
          </tr>
        </thead>
        <tbody>
          {orders.map((order) => (
            <tr key={order.order_id}>
              <td>
                <a href={linkTo('orders', order.order_id)}>
                  <code>{order.order_id}</code>
                </a>
              </td>
              <td>
                {order.customer.name}
                <br />
                <span class="quiet small">{order.customer.email}</span>
              </td>
              <td>{moment(order.placed_at)}</td>
              <td>
                <StatusTag status={order.status} />
              </td>
              <td class="number">{money(order.total_amount, order.currency)}</td>
              <td class="number">{order.refund_due > 0 ? money(order.refund_due, order.currency) : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
