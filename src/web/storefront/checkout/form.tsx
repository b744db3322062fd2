/**
 * From held tickets to an order: buyer, attendees, extras, a code and installments.
 *
 * Owns the form. The checkout is started once, because a repeat has the same idempotency key (`startKey`); then the
 * buyer is sent to the payment page.
 *
 *  1. What is paid now stands on the button, or directly above it where its words must stand alone (§ 312j BGB). A code
 *     that was typed and not applied is applied first, and the form is not sent.
 *  2. What is wrong with a field is said at the field, and the first such field gets the focus.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import { useLoaded } from '../../hooks.ts';
import type { CheckoutItem, EventPayload, Hold } from '#client/bodies.ts';
import { randomText } from '#client/transport.ts';
import { inWords, money, texts } from '../app/language.ts';
import { reportStarted } from './funnel.ts';
import { storePurchase, recall, type FunnelContent } from '../app/storage.ts';
import { withLink } from '../parts/controls.tsx';
import { Notice } from '../../notice.tsx';
import { Dock, useNarrow } from '../parts/dock.tsx';
import { PageHeading } from '../parts/frame.tsx';
import { BusyButton } from '../../buttons.tsx';
import { eventPath, leaveFor } from '../app/router.tsx';
import { client } from '../app/service.ts';
import {
  Attendees,
  attendeeName,
  BuyerFields,
  chosenPerks,
  described,
  Extras,
  Problem,
  type FieldProblems,
  type FormValues,
} from './fields.tsx';
import { problemsIn, problemsOf } from './problems.ts';
import { OrderSummary } from './order-summary.tsx';
import {
  appliedCode,
  chosenParts,
  CodeField,
  hasUnappliedCode,
  Installments,
  installmentsOf,
  withCode,
} from './payment-fields.tsx';
import { ticketCount, totalOf } from '../event/selection.ts';
import { useRegister } from '../event/seat-register.tsx';

const words = texts.checkout;

interface CheckoutProps {
  readonly event: EventPayload;
  readonly hold: Hold;
}

export function CheckoutForm({ event, hold }: CheckoutProps) {
  const [values, setValues] = useState<FormValues>(() => recall(event.id).form ?? {});
  const form = useRef<HTMLFormElement>(null);
  const { problems, setProblems, tell } = useProblems(form);
  const register = useRegister(event, hold);
  const setAll = (next: FormValues): void => {
    setValues(next);
    storePurchase(event.id, { form: next });
  };
  const fields = {
    values,
    problems,
    set: (name: string, value: string): void => {
      setAll({ ...values, [name]: value });
      const { [name]: _, ...others } = problems;
      setProblems(others);
    },
  };
  const price = usePrice(event, hold, values);
  const code = useCode(event, hold, values, setAll, tell);
  const { start, trouble, isBusy } = useStart(event, hold, values, tell);
  const isNarrow = useNarrow();
  const order = { event, values, total: price.total, isBusy };
  const submit = async (press: SubmitEvent): Promise<void> => {
    press.preventDefault();
    if (isBusy) return;
    if (hasUnappliedCode(values)) return void (await code.apply((values['promo'] ?? '').trim() || null));
    const found = problemsIn(event, hold, values, new FormData(form.current!).get('terms') !== null);
    tell(found);
    if (Object.keys(found).length === 0) await start();
  };

  return (
    <form class="checkout" ref={form} noValidate onSubmit={(press) => void submit(press)}>
      <div class="choice">
        <PageHeading>{words.title}</PageHeading>
        <BuyerFields {...fields} />
        <Attendees event={event} hold={hold} register={register} {...fields} />
        <Extras event={event} hold={hold} {...fields} />
        {price.beforeCode > 0 && (
          <fieldset>
            <legend>{words.payment}</legend>
            <Installments event={event} total={price.total} {...fields} />
            <CodeField currency={event.currency} discount={price.discount} onApply={code.apply} {...fields} />
          </fieldset>
        )}
      </div>
      <aside>
        <OrderSummary
          event={event}
          hold={hold}
          values={values}
          total={price.total}
          discount={{ code: appliedCode(values), amount: price.discount }}
          register={register}
        >
          <Terms
            event={event}
            problem={problems['terms']}
            onChange={() => setProblems(({ terms: _, ...others }) => others)}
          />
          {!isNarrow && trouble !== null && <Notice tone="bad">{trouble}</Notice>}
          {!isNarrow && <OrderButton {...order} />}
          <p class="quiet small">{leadingOn(event, values, price.total)}</p>
        </OrderSummary>
      </aside>
      {isNarrow && <OrderDock {...order} hold={hold} trouble={trouble} />}
    </form>
  );
}

interface OrderDockProps extends OrderButtonProps {
  readonly hold: Hold;
  readonly trouble: string | null;
}

function OrderDock({ hold, trouble, ...order }: OrderDockProps) {
  return (
    <Dock
      text={dockText(order.event, hold, order.values, order.total)}
      until={hold.expires_at}
      note={trouble === null ? null : { tone: 'bad', text: trouble }}
    >
      <OrderButton {...order} isAmountBeside />
    </Dock>
  );
}

/** What is ordered and what it costs, beside the button; what is paid now where that is less (rule 1). */
function dockText(event: EventPayload, hold: Hold, values: FormValues, total: number): string {
  const due = dueNow(event, values, total);
  if (due < total) return `${words.toPayNow}: ${money(due, event.currency)}`;
  return `${texts.frame.tickets(ticketCount(hold.items, event))} · ${money(total, event.currency)}`;
}

interface TermsProps {
  readonly event: EventPayload;
  readonly problem: string | undefined;
  readonly onChange: () => void;
}

function Terms({ event, problem, onChange }: TermsProps) {
  const { terms_url: terms = null, privacy_url: privacy = null } = event.legal ?? {};
  return (
    <div class="field">
      <label class="check">
        <input type="checkbox" name="terms" required onChange={onChange} {...described('terms', problem)} />
        <span>
          {withLink(words.acceptTerms, (link) => (terms === null ? link : <OtherPage to={terms}>{link}</OtherPage>))}
        </span>
      </label>
      <Problem name="terms" problem={problem} />
      {privacy !== null && (
        <p class="small quiet">
          {withLink(words.yourData, (link) => (
            <OtherPage to={privacy}>{link}</OtherPage>
          ))}
        </p>
      )}
    </div>
  );
}

/** A page that is read beside the form, so that nothing that was written is lost. */
function OtherPage({ to, children }: { readonly to: string; readonly children: string }) {
  return (
    <a href={to} target="_blank" rel="noopener">
      {children}
    </a>
  );
}

interface OrderButtonProps {
  readonly event: EventPayload;
  readonly values: FormValues;
  readonly total: number;
  readonly isBusy: boolean;
  /** Whether what is paid now stands beside it anyway. */
  readonly isAmountBeside?: boolean;
}

/** The button, and what is paid now (rule 1). */
function OrderButton({ event, values, total, isBusy, isAmountBeside = false }: OrderButtonProps) {
  const due = dueNow(event, values, total);
  const amount = money(due, event.currency);
  const ordering = event.legal?.order_button ?? words.order(due < total ? words.now(amount) : amount);
  const label = total === 0 ? words.getTickets : ordering;
  const isApart = total > 0 && !label.includes(amount) && !isAmountBeside;
  return (
    <>
      {isApart && (
        <p class="total" id="due">
          <span>{words.toPayNow}</span>
          <b>{amount}</b>
        </p>
      )}
      <BusyButton class="button primary wide" isBusy={isBusy} describedBy={isApart ? 'due' : undefined}>
        {isBusy ? words.oneMoment : label}
      </BusyButton>
    </>
  );
}

/** What happens after the button. */
function leadingOn(event: EventPayload, values: FormValues, total: number): string {
  if (total === 0) return words.atOnce;
  const amount = money(dueNow(event, values, total), event.currency);
  const parts = chosenParts(event, values);
  return parts > 1 ? words.leadingOnParts(amount, parts, money(total, event.currency)) : words.leadingOn(amount);
}

const dueNow = (event: EventPayload, values: FormValues, total: number): number =>
  installmentsOf(total, chosenParts(event, values))[0] ?? total;

/**
 * What is wrong with the fields, how it changes while they are filled in, and how it is reported after each press: then
 * the first such field gets the focus, also where it was reported before (rule 2).
 */
function useProblems(form: { readonly current: HTMLFormElement | null }) {
  const [problems, setProblems] = useState<FieldProblems>({});
  const [told, setTold] = useState<FieldProblems>(problems);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus(), [told]);
  const tell = (found: FieldProblems): void => {
    setProblems(found);
    setTold(found);
  };
  return { problems, setProblems, tell };
}

// ── money ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The price of the order: the service's for tickets and code, as soon as it has answered, and perks at their prices.
 */
function usePrice(event: EventPayload, hold: Hold, values: FormValues) {
  const code = appliedCode(values);
  const quote = useLoaded(`${hold.id} ${hold.expires_at} ${code ?? ''}`, (signal) =>
    client.quoteCheckout(hold, code, { signal }),
  );
  const perks = perksOf(event, hold, values).reduce((sum, { price, quantity }) => sum + price * quantity, 0);
  const tickets = quote.value?.tickets_amount ?? totalOf(hold.items, event);
  const discount = quote.value?.discount_amount ?? 0;
  return { total: tickets + perks, discount, beforeCode: tickets + discount + perks };
}

/** Applies a code to the form, or says at its field why it cannot be used. */
function useCode(
  event: EventPayload,
  hold: Hold,
  values: FormValues,
  setAll: (values: FormValues) => void,
  tell: (problems: FieldProblems) => void,
) {
  const apply = async (wanted: string | null): Promise<void> => {
    try {
      if (wanted !== null) await client.quoteCheckout(hold, wanted);
      setAll(withCode(values, wanted));
      tell({});
    } catch (error) {
      setAll({ ...withCode(values, null), promo: wanted ?? '' });
      tell({ promo: inWords(error, { timezone: event.timezone }) });
    }
  };
  return { apply };
}

// ── the start ────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Starts the checkout and leaves for the payment page; `trouble` says why it did not start where no field is to blame.
 */
function useStart(event: EventPayload, hold: Hold, values: FormValues, tell: (problems: FieldProblems) => void) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const start = async (): Promise<void> => {
    setBusy(true);
    setTrouble(null);
    const startKey = recall(event.id).startKey ?? randomText(18);
    storePurchase(event.id, { startKey });
    try {
      const started = await client.startCheckout(requestOf(event, hold, values), { idempotencyKey: startKey });
      storePurchase(event.id, { orderId: started.order_id, startKey: undefined, form: undefined, held: undefined });
      await reportStarted(event, hold, perksOf(event, hold, values), started);
      leaveFor(started.redirect_url);
    } catch (error) {
      if (isApiError(error, 'IDEMPOTENCY_KEY_REUSED') || isApiError(error, 'HOLD_NOT_ACTIVE')) {
        storePurchase(event.id, { startKey: undefined });
        location.reload();
        return;
      }
      // A refusal is not stored under the key; a request whose answer never came must be repeated with the same key.
      if (!isApiError(error, 'UNREACHABLE') && !isApiError(error, 'PAYMENT_PROVIDER_UNAVAILABLE')) {
        storePurchase(event.id, { startKey: undefined });
      }
      const atFields = problemsOf(error, event);
      tell(atFields);
      if (Object.keys(atFields).length === 0) setTrouble(inWords(error, { timezone: event.timezone }));
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
      name: attendeeName(values, index, ticket),
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
  const code = appliedCode(values);
  const parts = chosenParts(event, values);
  return {
    event_id: event.id,
    hold_id: hold.id,
    items,
    customer: { name: text('name'), email: text('email'), ...(phone !== '' && { phone }) },
    accept_terms: true,
    // Whoever cancels at the provider comes back here, where the order waits.
    cancel_url: new URL(eventPath(event.slug, 'checkout') + location.search, location.href).href,
    ...(code !== null && { promo_code: code }),
    ...(parts > 1 && { installment_count: parts }),
  };
}

/** The bar perks that are chosen for all items of a hold. */
function perksOf(event: EventPayload, hold: Hold, values: FormValues): readonly FunnelContent[] {
  return hold.items.flatMap((item, index) =>
    chosenPerks(event, item, index, values).map(({ perk: { id, price }, quantity }) => ({ id, quantity, price })),
  );
}
