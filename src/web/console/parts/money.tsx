/** Money by hour as a table with bars, and the sums of an event in one line. */
import type { HourSums, MoneySums } from '../app/bodies.ts';
import { number, moment, money } from '../app/format.ts';
import { Table, type Column } from './table.tsx';

/** The hours of several events together, the newest first. */
export function sumByHour(hours: readonly HourSums[]): readonly HourSums[] {
  const sums = new Map<string, HourSums>();
  for (const hour of hours) {
    const key = `${hour.at} ${hour.currency}`;
    const before = sums.get(key);
    sums.set(key, before === undefined ? hour : added(before, hour));
  }
  return [...sums.values()].sort((one, other) => other.at.localeCompare(one.at));
}

function added(one: HourSums, other: HourSums): HourSums {
  return {
    ...one,
    paid_amount: one.paid_amount + other.paid_amount,
    cash_amount: one.cash_amount + other.cash_amount,
    payments: one.payments + other.payments,
    refunded_amount: one.refunded_amount + other.refunded_amount,
    refunds: one.refunds + other.refunds,
  };
}

const HOUR_COLUMNS: readonly Column[] = [
  ['Hour from'],
  [
    <>
      Sold <span class="wide-only">in payments</span>
    </>,
    'number',
  ],
  ['Refunded', 'number'],
  [<span class="unseen">Sold and refunded as bars</span>, 'wide-only'],
];

export function HourTable({ hours }: { readonly hours: readonly HourSums[] }) {
  if (hours.length === 0) return <p class="quiet empty">No money moved.</p>;
  const highest = Math.max(1, ...hours.map((hour) => Math.max(hour.paid_amount, hour.refunded_amount)));
  return (
    <Table label="Money by hour" columns={HOUR_COLUMNS}>
      {hours.map((hour) => (
        <tr key={`${hour.at} ${hour.currency}`}>
          <td class="stamp">{moment(hour.at)}</td>
          <td class="number">
            {money(hour.paid_amount, hour.currency)}{' '}
            <span class="quiet small wide-only">in {number(hour.payments)}</span>
            {hour.cash_amount > 0 && (
              <span class="quiet small wide-only">, {money(hour.cash_amount, hour.currency)} in cash</span>
            )}
          </td>
          <td class="number">
            {hour.refunds === 0 ? '–' : money(hour.refunded_amount, hour.currency)}
            {hour.refunds > 0 && <span class="quiet small"> in {number(hour.refunds)}</span>}
          </td>
          <td class="wide-only bars">
            <svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
              <rect class="fill-sold" x={0} y={0} width={(100 * hour.paid_amount) / highest} height={6} />
              <rect class="fill-refunded" x={0} y={7} width={(100 * hour.refunded_amount) / highest} height={5} />
            </svg>
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** "€45.50 sold, €10.00 refunded"; nothing where no money has moved. */
export function MoneyLine({ totals }: { readonly totals: readonly MoneySums[] }) {
  if (totals.length === 0) return null;
  return (
    <p class="small money-line">
      {totals.map(({ currency, paid_amount: paid, refunded_amount: refunded }) => (
        <span key={currency}>
          <b>{money(paid, currency)}</b> sold
          {refunded > 0 && (
            <>
              {' · '}
              <b>{money(refunded, currency)}</b> refunded
            </>
          )}
        </span>
      ))}
    </p>
  );
}
