/** The money of an event as the API's body. */
import type { MoneySums, MoneyView } from '#domain/orders/money-by-hour.ts';
import { formatTime } from './formats.ts';
import type { EventMoneyBody, MoneySumsBody } from './schemas/money.ts';

export function toMoneySumsBody({ currency, ...sums }: MoneySums): MoneySumsBody {
  const { paidCents, payments, refundedCents, refunds } = sums;
  return { currency, paid_amount: paidCents, payments, refunded_amount: refundedCents, refunds };
}

export function toEventMoneyBody(
  { id, name }: { readonly id: string; readonly name: string },
  { totals, hours }: MoneyView,
): EventMoneyBody {
  return {
    event_id: id,
    name,
    evicted: false,
    totals: totals.map(toMoneySumsBody),
    hours: hours.map((hour) => ({ at: formatTime(hour.at), ...toMoneySumsBody(hour) })),
  };
}
