/**
 * The order that this browser made last for an event: its status, until when it is paid, and the next step.
 *
 * 1. An order that ended without tickets is said once: what comes next is another choice.
 */
import { useState } from 'preact/hooks';
import { useLoaded } from '../../hooks.ts';
import type { EventPayload, Order } from '#client/bodies.ts';
import { dayAndHour, inWords, money, texts } from '../app/language.ts';
import { storePurchase, recall } from '../app/storage.ts';
import { Countdown } from '../parts/controls.tsx';
import { Notice } from '../../notice.tsx';
import { ArrowIcon, BusyButton } from '../../buttons.tsx';
import { leaveFor } from '../app/router.tsx';
import { client, serviceAddress } from '../app/service.ts';

const words = texts.ownOrder;

/** Reads the order `orderId`, else the one that is stored; null while there is none. */
export function useOwnOrder(event: EventPayload, orderId: string | null): Order | null {
  const [storedId] = useState(() => recall(event.id).orderId ?? null);
  const id = orderId ?? storedId;
  const loaded = useLoaded(id, async (signal) => {
    const order = await client.getOrder(id!, { signal });
    if (hasEnded(order)) storePurchase(event.id, { orderId: undefined });
    return order;
  });
  return loaded.value;
}

/** Whether an order ended without tickets. */
export const hasEnded = ({ status }: Order): boolean => status === 'EXPIRED' || status === 'CANCELLED';

export const orderAddress = ({ order_id: id }: Order): string => serviceAddress(`/orders/${id}`);

/** A notice about the order on the event's page. */
export function OwnOrderNotice({ event, order }: { readonly event: EventPayload; readonly order: Order }) {
  const link = <a href={orderAddress(order)}>{words.see}</a>;
  switch (order.status) {
    case 'CONFIRMED':
      return (
        <Notice tone="good">
          {words.confirmed} {link}
        </Notice>
      );
    case 'PARTIALLY_PAID':
      return (
        <Notice tone="good">
          {words.partlyPaid(money(order.remaining_amount, order.currency))} {link}
        </Notice>
      );
    case 'PENDING':
      return (
        <Notice tone="warn">
          {order.expires_at === null ? words.pending : words.pendingUntil(dayAndHour(order.expires_at, event.timezone))}{' '}
          <a href={orderAddress(order)}>{words.pay}</a>
        </Notice>
      );
    case 'EXPIRED':
      return <Notice tone="bad">{words.expired}</Notice>;
    case 'CANCELLED':
      return (
        <Notice tone="bad">
          {words.cancelled} {link}
        </Notice>
      );
  }
}

/** Pays the next part of an order. */
export function PayButton({ order }: { readonly order: Order }) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const pay = async (): Promise<void> => {
    setBusy(true);
    try {
      leaveFor((await client.payOrder(order.order_id)).redirect_url);
    } catch (error) {
      setTrouble(inWords(error));
      setBusy(false);
    }
  };
  return (
    <>
      {trouble !== null && <Notice tone="bad">{trouble}</Notice>}
      <BusyButton class="button primary" isBusy={isBusy} onPress={() => void pay()}>
        {words.payAmount(money(nextPart(order), order.currency))} <ArrowIcon />
      </BusyButton>
    </>
  );
}

/** What is paid next: the parts of an order differ by a cent, the larger ones first. */
function nextPart({ remaining_amount: remaining, total_installments: total, paid_installments: paid }: Order): number {
  return Math.ceil(remaining / Math.max(1, total - paid));
}

/** Until when an order is paid. */
export function PayUntil({ event, order }: { readonly event: EventPayload; readonly order: Order }) {
  if (order.expires_at === null) return null;
  return (
    <>
      <Countdown until={order.expires_at} label={words.keptFor} />
      <p class="quiet small">{words.payUntil(dayAndHour(order.expires_at, event.timezone))}</p>
    </>
  );
}
