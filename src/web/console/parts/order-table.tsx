/** Orders as rows of a table, with what was bought in words. */
import type { AdminOrder } from '../app/bodies.ts';
import { moment, money, sums } from '../app/format.ts';
import { linkTo } from '../app/router.ts';
import { StatusTag } from './frame.tsx';
import { Table } from './table.tsx';

interface OrderTableProps {
  readonly orders: readonly { readonly order: AdminOrder; readonly note?: string }[];
  /** Whether the orders are of several events. */
  readonly hasEvents?: boolean;
}

/** What was bought, such as "2 × Single, 1 × Spritz". */
function boughtIn({ items }: Pick<AdminOrder, 'items'>): string {
  return items
    .flatMap((item) => [
      `${item.quantity} × ${item.ticket_type_name}`,
      ...item.bar_perks.map((perk) => `${perk.quantity} × ${perk.name}`),
    ])
    .join(', ');
}

export function OrderTable({ orders, hasEvents = false }: OrderTableProps) {
  return (
    <Table
      label="Orders"
      columns={[
        ['Buyer'],
        ['Bought'],
        ['Placed', 'wide-only'],
        ['Status'],
        ['Total', 'number'],
        ['Refund due', 'number'],
      ]}
    >
      {orders.map(({ order, note }) => (
        <tr key={order.order_id} data-order={order.order_id}>
          <td>
            <a href={linkTo('orders', order.order_id)}>
              {order.customer.name ?? order.personal_data.toLowerCase()} <code>{order.number}</code>
            </a>
            <br />
            <span class="quiet small">{order.customer.email}</span>
            {note !== undefined && <span class="quiet small"> · {note}</span>}
          </td>
          <td>
            {boughtIn(order)}
            {hasEvents && (
              <>
                <br />
                <span class="quiet small">{order.event.name}</span>
              </>
            )}
          </td>
          <td class="stamp wide-only">{moment(order.placed_at)}</td>
          <td>
            <StatusTag status={order.status} />
          </td>
          <td class="number">{money(order.total_amount, order.currency)}</td>
          <td class="number">{sums(order.refunds_due, '–')}</td>
        </tr>
      ))}
    </Table>
  );
}
