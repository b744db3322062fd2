/**
 * From held tickets to an order: buyer, attendees, extras, a code and installments.
 *
 * Owns the form. The checkout is started once, because a repeat has the same idempotency key (`startKey`); then the buyer is
 * sent to the payment page.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { CheckoutItem, EventPayload, Hold } from '#client/bodies.ts';
import { randomText } from '#client/transport.ts';
import {
  attendeeField,
  Attendees,
  BuyerFields,
  chosenPerks,
  CodeField,
  Extras,
  Installments,
  type FormValues,
} from '../event/checkout-fields.tsx';
import { OrderSummary } from '../event/order-summary.tsx';
import { registerOf } from '../event/seat-register.tsx';
import { totalOf } from '../event/selection.ts';
import { useHold } from '../event/use-hold.ts';
import { money } from '../format.ts';
import { reportStarted } from '../funnel.ts';
import { keep, recall, type FunnelContent } from '../kept.ts';
import { useLoaded } from '#client/browser/hooks.ts';
import { inWords } from '../messages.ts';
import { Frame, Missing, PageHeading } from '../parts/frame.tsx';
import { ArrowIcon, BackIcon } from '../parts/icons.tsx';
import { Loading, Notice } from '../parts/controls.tsx';
import { eventPath, Link } from '../router.tsx';
import { client, serviceAddress } from '../service.ts';

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

interface CheckoutProps {
  readonly event: EventPayload;
  readonly hold: Hold;
}

function Checkout({ event, hold }: CheckoutProps) {
  const [values, setValues] = useState<FormValues>(() => recall(event.id).form ?? {});
  const { start, trouble, isBusy } = useStart(event, hold, values);
  const notice = useRef<HTMLDivElement>(null);
  const isSeated = hold.items.some((item) => item.seat_ids.length > 0);
  const seating = useLoaded(isSeated ? event.slug : null, (signal) => client.getSeating(event.slug, { signal }));
  const register = useMemo(() => registerOf(seating.value), [seating.value]);
  const set = (name: string, value: string): void => {
    const next = { ...values, [name]: value };
    setValues(next);
    keep(event.id, { form: next });
  };
  useEffect(() => {
    if (trouble !== null) notice.current?.scrollIntoView({ block: 'center' });
  }, [trouble]);
  const total = perksOf(event, hold, values).reduce(
    (sum, { price, quantity }) => sum + price * quantity,
    totalOf(hold.items, event),
  );

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
          <CodeField values={values} set={set} />
        </fieldset>
      </div>
      <aside>
        <OrderSummary event={event} hold={hold} values={values} total={total} register={register}>
          <label class="check">
            <input type="checkbox" name="terms" required />
            <span>I accept the terms of sale and the rules of the venue.</span>
          </label>
          <div ref={notice}>{trouble !== null && <Notice tone="bad">{trouble}</Notice>}</div>
          <button class="button primary wide" disabled={isBusy}>
            {isBusy ? 'One moment …' : total === 0 ? 'Get my tickets' : `Go on to pay ${money(total, event.currency)}`}
          </button>
        </OrderSummary>
      </aside>
    </form>
  );
}

/** Starts the checkout and leaves for the payment page; `trouble` says why it did not start. */
function useStart(event: EventPayload, hold: Hold, values: FormValues) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const start = async (submit: SubmitEvent): Promise<void> => {
    submit.preventDefault();
    setBusy(true);
    setTrouble(null);
    const startKey = recall(event.id).startKey ?? randomText(18);
    keep(event.id, { startKey });
    try {
      const started = await client.startCheckout(requestOf(event, hold, values), { idempotencyKey: startKey });
      keep(event.id, { orderId: started.order_id, startKey: undefined, form: undefined });
      await reportStarted(event, hold, perksOf(event, hold, values), started);
      location.assign(started.redirect_url);
    } catch (error) {
      if (isApiError(error, 'IDEMPOTENCY_KEY_REUSED') || isApiError(error, 'HOLD_NOT_ACTIVE')) {
        keep(event.id, { startKey: undefined });
        location.reload();
        return;
      }
      // A refusal is not stored under the key; a request whose answer never came must be repeated with the same key.
      if (!isApiError(error, 'UNREACHABLE') && !isApiError(error, 'PAYMENT_PROVIDER_UNAVAILABLE')) {
        keep(event.id, { startKey: undefined });
      }
      setTrouble(inWords(error, { timezone: event.timezone }));
      setBusy(false);
    }
  };
  return { start, trouble, isBusy };
}

function requestOf(event: EventPayload, hold: Hold, values: FormValues) {
  const text = (name: string): string => (values[name] ?? '').trim();
  const items = hold.items.map((item, index): CheckoutItem => {
    const { ticket_type_id, selling_stage_id, performance_id, quantity, seat_ids, ticket_count } = item;
    const attendees = Array.from({ length: ticket_count }, (_, ticket) => ({
      name: text(attendeeField(index, ticket)),
    }));
    const perks = chosenPerks(event, item, index, values).map(({ perk, quantity }) => ({
      bar_perk_id: perk.id,
      quantity,
    }));
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

/** The bar perks that are chosen for all items of a hold. */
function perksOf(event: EventPayload, hold: Hold, values: FormValues): readonly FunnelContent[] {
  return hold.items.flatMap((item, index) =>
    chosenPerks(event, item, index, values).map(({ perk: { id, price }, quantity }) => ({ id, quantity, price })),
  );
}
