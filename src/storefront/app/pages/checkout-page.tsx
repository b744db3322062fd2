/**
 * From held tickets to an order: who buys, who comes, extras, a code, how it is paid.
 *
 * Owns the form. The order is the service's: this page starts it once (`startKey` makes a repeat harmless) and sends the
 * buyer on to the payment page.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { CheckoutItem, EventPayload, Hold } from '#client/bodies.ts';
import { randomText } from '#client/session-key.ts';
import { Attendees, BuyerFields, Extras, Installments, type FormValues } from '../event/checkout-fields.tsx';
import { OrderSummary, perksOf } from '../event/order-summary.tsx';
import { registerOf } from '../event/seat-register.ts';
import { ticketTypeOf } from '../event/selection.ts';
import { useHold } from '../event/use-hold.ts';
import { money } from '../format.ts';
import { tellStarted } from '../funnel.ts';
import { keep, recall } from '../kept.ts';
import { useLoaded } from '../loaded.ts';
import { inWords } from '../messages.ts';
import { Frame, PageHeading } from '../parts/frame.tsx';
import { ArrowIcon, BackIcon } from '../parts/icons.tsx';
import { Loading, Notice } from '../parts/notice.tsx';
import { eventPath, Link } from '../router.tsx';
import { client, serviceAddress } from '../shop.ts';
import { Missing } from './missing.tsx';

export function CheckoutPage({ slug }: { readonly slug: string }) {
  const loaded = useLoaded(slug, (signal) => client.getEvent(slug, { signal }));
  const event = loaded.value;
  const keeper = useHold(event?.id ?? null);
  if (loaded.error !== null && event === null) return <Missing error={loaded.error} />;
  if (event === null || !keeper.isKnown) {
    return (
      <Frame title="Checkout">
        <Loading what="Fetching your tickets …" />
      </Frame>
    );
  }
  return (
    <Frame title={`Checkout, ${event.name}`}>
      <p class="back">
        <Link to={eventPath(slug)}>
          <BackIcon /> {event.name}
        </Link>
      </p>
      {keeper.hold === null ? (
        <NothingHeld event={event} keeper={keeper} />
      ) : (
        <Checkout event={event} hold={keeper.hold} />
      )}
    </Frame>
  );
}

interface NothingHeldProps {
  readonly event: EventPayload;
  readonly keeper: ReturnType<typeof useHold>;
}

function NothingHeld({ event, keeper }: NothingHeldProps) {
  if (keeper.orderId !== null) {
    return (
      <div class="narrow">
        <PageHeading>Your order is made</PageHeading>
        <p class="lead">Your tickets have moved from the basket to an order. Pay it there, or see your tickets.</p>
        <p>
          <a class="button primary" href={serviceAddress(`/orders/${keeper.orderId}`)}>
            See your order <ArrowIcon />
          </a>
        </p>
      </div>
    );
  }
  return (
    <div class="narrow">
      <PageHeading>{keeper.ended === 'EXPIRED' ? 'Your time ran out' : 'Your basket is empty'}</PageHeading>
      <p class="lead">
        {keeper.ended === 'EXPIRED'
          ? 'The tickets are back on sale. If they are still free you can hold them again.'
          : 'Choose tickets first; they are held for you while you fill in the rest.'}
      </p>
      <p>
        <Link to={eventPath(event.slug)} class="button primary">
          Choose tickets <ArrowIcon />
        </Link>
      </p>
    </div>
  );
}

function Checkout({ event, hold }: { readonly event: EventPayload; readonly hold: Hold }) {
  const [values, setValues] = useState<FormValues>(() => recall(event.id).form ?? {});
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const alarm = useRef<HTMLDivElement>(null);
  const isSeated = hold.items.some((line) => line.seat_ids.length > 0);
  const seating = useLoaded(isSeated ? event.slug : null, (signal) => client.getSeating(event.slug, { signal }));
  const register = useMemo(() => registerOf(seating.value), [seating.value]);
  const set = (name: string, value: string): void => {
    const next = { ...values, [name]: value };
    setValues(next);
    keep(event.id, { form: next });
  };
  useEffect(() => {
    if (trouble !== null) alarm.current?.scrollIntoView({ block: 'center' });
  }, [trouble]);

  const start = async (submit: SubmitEvent): Promise<void> => {
    submit.preventDefault();
    setBusy(true);
    setTrouble(null);
    const startKey = recall(event.id).startKey ?? randomText(18);
    keep(event.id, { startKey });
    try {
      const started = await client.startCheckout(requestOf(event, hold, values), { idempotencyKey: startKey });
      keep(event.id, { orderId: started.order_id, startKey: undefined, form: undefined });
      await tellStarted(event, hold, perksOf(event, hold, values), started);
      location.assign(started.redirect_url);
    } catch (error) {
      if (isApiError(error, 'IDEMPOTENCY_KEY_REUSED') || isApiError(error, 'HOLD_NOT_ACTIVE')) {
        keep(event.id, { startKey: undefined });
        location.reload();
        return;
      }
      // An answer that is a no was not kept under the key, and one that never came must be repeated with it.
      if (!isApiError(error, 'UNREACHABLE') && !isApiError(error, 'PAYMENT_PROVIDER_UNAVAILABLE')) {
        keep(event.id, { startKey: undefined });
      }
      setTrouble(inWords(error, { timezone: event.timezone }));
      setBusy(false);
    }
  };
  const total = totalWithExtras(event, hold, values);

  return (
    <form class="checkout" onSubmit={(submit) => void start(submit)}>
      <div class="choice">
        <PageHeading>Checkout</PageHeading>
        <BuyerFields values={values} set={set} />
        <Attendees event={event} hold={hold} register={register} values={values} set={set} />
        <Extras event={event} hold={hold} values={values} set={set} />
        <fieldset>
          <legend>Payment</legend>
          <Installments event={event} total={total} values={values} set={set} />
          <label class="field">
            <span>
              Code <span class="quiet">(optional)</span>
            </span>
            <input
              name="promo"
              autocomplete="off"
              maxLength={128}
              value={values['promo'] ?? ''}
              onInput={(input) => set('promo', input.currentTarget.value)}
            />
            <span class="small quiet">Taken off when you go on; you see the new amount before you pay.</span>
          </label>
        </fieldset>
      </div>
      <aside>
        <OrderSummary event={event} hold={hold} values={values} total={total} register={register}>
          <label class="check">
            <input type="checkbox" name="terms" required />
            <span>I accept the terms of sale and the house rules.</span>
          </label>
          <div ref={alarm}>{trouble !== null && <Notice tone="bad">{trouble}</Notice>}</div>
          <button class="button primary wide" disabled={isBusy}>
            {isBusy ? 'One moment …' : total === 0 ? 'Get my tickets' : `Go on to pay ${money(total, event.currency)}`}
          </button>
        </OrderSummary>
      </aside>
    </form>
  );
}

function requestOf(event: EventPayload, hold: Hold, values: FormValues) {
  const text = (name: string): string => (values[name] ?? '').trim();
  const items = hold.items.map((line, index): CheckoutItem => {
    const { ticket_type_id, selling_stage_id, performance_id, quantity, seat_ids, ticket_count } = line;
    const attendees = Array.from({ length: ticket_count }, (_, ticket) => ({
      name: text(`attendee-${index}-${ticket}`),
    }));
    const perks = (ticketTypeOf(event, ticket_type_id)?.barPerks ?? [])
      .map(({ id }) => ({ bar_perk_id: id, quantity: Number(values[`perk-${index}-${id}`] ?? 0) }))
      .filter((perk) => perk.quantity > 0);
    return {
      ticket_type_id,
      selling_stage_id,
      performance_id,
      quantity,
      ...(seat_ids.length > 0 && { seat_ids }),
      ...(event.require_individual_data && { attendees }),
      ...(perks.length > 0 && { bar_perks: perks }),
    };
  });
  const phone = text('phone');
  const installments = Number(values['installments'] ?? 1);
  return {
    event_id: event.id,
    hold_id: hold.id,
    items,
    customer: { name: text('name'), email: text('email'), ...(phone !== '' && { phone }) },
    accept_terms: true,
    ...(text('promo') !== '' && { promo_code: text('promo') }),
    ...(installments > 1 && { installment_count: installments }),
  };
}

function totalWithExtras(event: EventPayload, hold: Hold, values: FormValues): number {
  return hold.items.reduce((sum, line, index) => {
    const row = event.ticketAvailability.find(
      (each) => each.ticket_type_id === line.ticket_type_id && each.selling_stage_id === line.selling_stage_id,
    );
    const perks = ticketTypeOf(event, line.ticket_type_id)?.barPerks ?? [];
    const extras = perks.reduce(
      (total, perk) => total + perk.price * Number(values[`perk-${index}-${perk.id}`] ?? 0),
      0,
    );
    return sum + (row?.price ?? 0) * line.quantity + extras;
  }, 0);
}
