/**
 * One order with its items and payments, its cancellation, the execution and recording of refunds, and the erasure of
 * its personal data.
 */
import { useState } from 'preact/hooks';
import { decimalOf, readAmount } from '#client/money.ts';
import { addressOf, usePolled, type Api } from '../app/api.ts';
import type { AdminOrder } from '../app/bodies.ts';
import { countOf, money, moment } from '../app/format.ts';
import { Confirmation } from '../parts/confirmation.tsx';
import { textIn } from '../parts/fields.tsx';
import { Breadcrumbs, PageTitle, StatusTag, Tiles, type Tile } from '../parts/frame.tsx';
import { OrderItems } from '../parts/order-items.tsx';
import { linkTo, linkWith } from '../app/router.ts';

interface OrderPageProps {
  readonly api: Api;
  readonly orderId: string;
  /** Where buyers go. */
  readonly publicUrl: string;
  readonly reload: () => void;
}

const POLL_MS = 5_000;
const CANCELLABLE: readonly AdminOrder['status'][] = ['PENDING', 'PARTIALLY_PAID', 'CONFIRMED'];

export function OrderPage({ api, orderId, publicUrl, reload }: OrderPageProps) {
  const address = addressOf('orders', orderId);
  const {
    value: order,
    trouble,
    reload: readAgain,
  } = usePolled<AdminOrder>(orderId, () => api('GET', address), POLL_MS);
  const [dialog, setDialog] = useState<Dialog>(null);
  if (order === null) return trouble === null ? <p class="quiet">…</p> : <p class="alert">{trouble}</p>;

  const change: ChangeOrder = async (what, body) => {
    await api('POST', `${address}/${what}`, body);
    readAgain();
    reload();
  };
  const dialogProps = { order, change, onClose: () => setDialog(null) };

  return (
    <>
      <Breadcrumbs
        links={[
          [linkTo('events', order.event.id), order.event.name],
          [linkTo('events', order.event.id, 'orders'), 'Orders'],
        ]}
      />
      <div class="heading">
        <PageTitle>{order.customer.name ?? (order.personal_data === 'ERASED' ? 'Erased order' : 'Order')}</PageTitle>
        <StatusTag status={order.status} />
      </div>
      <p class="quiet">
        <code>{order.number}</code> · <code>{order.order_id}</code> ·{' '}
        {order.customer.email !== null && `${order.customer.email} · `}placed {moment(order.placed_at)}
      </p>
      <Erasure order={order} />
      {trouble !== null && <p class="alert">{trouble}</p>}
      <Sums order={order} />
      <div class="actions">
        <Links order={order} publicUrl={publicUrl} />
        {toGiveBack(order) > 0 && (
          <button type="button" class="button" onClick={() => setDialog('execute')}>
            Give money back…
          </button>
        )}
        {(refundableOf(order) > 0 || order.refunds_due.length > 0) && (
          <button type="button" class="button" onClick={() => setDialog('refund')}>
            Record refund…
          </button>
        )}
        {isPaid(order) && order.customer.email !== null && (
          <button type="button" class="button plain" onClick={() => setDialog('mail')}>
            Mail the link…
          </button>
        )}
        {CANCELLABLE.includes(order.status) && (
          <button type="button" class="button plain irrevocable" onClick={() => setDialog('cancel')}>
            Cancel order…
          </button>
        )}
        {canBeErased(order) && (
          <button type="button" class="button plain irrevocable" onClick={() => setDialog('erase')}>
            Erase personal data…
          </button>
        )}
      </div>
      <OrderItems order={order} />
      <Payments order={order} resolve={setDialog} />
      <Dialogs dialog={dialog} {...dialogProps} />
    </>
  );
}

type Dialog = 'cancel' | 'execute' | 'refund' | 'mail' | 'erase' | Refund | null;

function Dialogs({ dialog, ...props }: DialogProps & { readonly dialog: Dialog }) {
  switch (dialog) {
    case 'cancel':
      return <CancelDialog {...props} />;
    case 'execute':
      return <ExecuteDialog {...props} />;
    case 'refund':
      return <RefundDialog {...props} />;
    case 'mail':
      return <MailDialog {...props} />;
    case 'erase':
      return <EraseDialog {...props} />;
    case null:
      return null;
    default:
      return <ResolveDialog {...props} refund={dialog} />;
  }
}

/** Where one can go from the order. */
function Links({ order, publicUrl }: { readonly order: AdminOrder; readonly publicUrl: string }) {
  return (
    <>
      <a class="button plain" href={`${publicUrl}/orders/${order.order_id}`} target="_blank" rel="noreferrer">
        Buyer’s page
      </a>
      <a class="button plain" href={linkWith({ order: order.order_id }, 'journal')}>
        Journal
      </a>
      {isPaid(order) && (
        <a class="button" href={linkTo('orders', order.order_id, 'tickets')}>
          Change tickets
        </a>
      )}
    </>
  );
}

const isPaid = ({ status }: AdminOrder): boolean => status === 'CONFIRMED' || status === 'PARTIALLY_PAID';

const refundableOf = (order: AdminOrder): number => Math.max(0, order.paid_amount - order.refunded_amount);

/** What of the order's own currency can be given back besides what is on its way. */
const toGiveBack = (order: AdminOrder): number => Math.max(0, refundableOf(order) - order.refund_pending);

type Refund = AdminOrder['refunds'][number];

/** A note of an operator that was written after an erasure can be erased as well. */
const canBeErased = ({ status, personal_data: state, cancellation_note: note, ...order }: AdminOrder): boolean => {
  const isNoted = note !== null || [...order.refunds, ...order.amendments].some((each) => each.note !== null);
  return status !== 'PENDING' && (state !== 'ERASED' || isNoted);
};

type ChangeOrder = (
  what: 'cancel' | 'refunds' | 'mail' | 'erase' | `refunds/${string}/resolve`,
  body: object,
) => Promise<void>;

interface DialogProps {
  readonly order: AdminOrder;
  readonly change: ChangeOrder;
  readonly onClose: () => void;
}

function MailDialog({ order, change, onClose }: DialogProps) {
  return (
    <Confirmation
      title="Mail the link to its page again?"
      action="Mail the link"
      hasNote={false}
      act={() => change('mail', {})}
      onClose={onClose}
    >
      <p>It goes to {order.customer.email}, and to nobody else.</p>
    </Confirmation>
  );
}

function CancelDialog({ order, change, onClose }: DialogProps) {
  const refundable = refundableOf(order);
  return (
    <Confirmation
      title="Cancel this order?"
      action="Cancel the order"
      isGrave
      act={(_fields, note) => change('cancel', { note })}
      onClose={onClose}
    >
      <p>
        1 order with {countOf(ticketsOf(order), 'ticket')} is cancelled: the tickets are void and return to sale.{' '}
        {refundable > 0 ? `${money(refundable, order.currency)} are due back to the buyer.` : 'Nothing was paid.'} This
        cannot be undone.
      </p>
    </Confirmation>
  );
}

const ticketsOf = ({ items }: AdminOrder): number => items.reduce((sum, item) => sum + item.ticket_count, 0);

function EraseDialog({ order, change, onClose }: DialogProps) {
  const still = refundableOf(order) > 0 ? ' Refunds can still be recorded, but nobody can be written to.' : '';
  return (
    <Confirmation
      title="Erase the personal data of this order?"
      action="Erase it for good"
      isGrave
      hasNote={false}
      act={() => change('erase', {})}
      onClose={onClose}
    >
      <p>
        Of 1 order with {countOf(ticketsOf(order), 'ticket')}: names, addresses, telephone and document numbers,
        tracking and notes of this order can then be read by nobody, backups of the journal included. Only a copy of
        keys.db from before could still open them. It cannot be undone.
      </p>
      <p class="quiet">Tickets, seats and money stay as they are.{still}</p>
    </Confirmation>
  );
}

/** Has the provider give money back, the suggested amount being what is due and not on its way. */
function ExecuteDialog({ order, change, onClose }: DialogProps) {
  const { currency, refund_due: due, refund_pending: pending } = order;
  const suggested = due > pending ? due - pending : toGiveBack(order);
  const execute = (fields: FormData, note: string | null): Promise<void> => {
    return change('refunds', { execute: true, amount: amountOf(fields, currency), note });
  };
  return (
    <Confirmation title="Give money back" action="Give it back" isGrave act={execute} onClose={onClose}>
      <p class="quiet">The payment provider is asked to send it to the buyer, until it answers.</p>
      <AmountField label={`in ${currency}`} suggested={{ amount: suggested, currency }} />
    </Confirmation>
  );
}

interface AmountFieldProps {
  readonly label: string | false;
  readonly suggested: { readonly amount: number; readonly currency: string };
}

/**
 * What was typed stays when the order is read again meanwhile: the suggested amount is a default, which is no value of
 * the field.
 */
function AmountField({ label, suggested }: AmountFieldProps) {
  return (
    <label class="field">
      Amount {label}
      <input
        name="amount"
        inputMode="decimal"
        required
        defaultValue={decimalOf(suggested.amount, suggested.currency)}
        autocomplete="off"
      />
    </label>
  );
}

/**
 * The amount that was typed, in the minor unit of the currency. Throws a text about what to write where it is no
 * amount.
 */
function amountOf(fields: FormData, currency: string): number {
  const amount = readAmount(String(fields.get('amount') ?? ''), currency);
  if (amount === null || amount === 0) throw new Error(`Write an amount such as ${decimalOf(1250, currency)}.`);
  return amount;
}

function ReferenceField() {
  return (
    <label class="field">
      Reference at the provider, if there is one
      <input name="reference" maxLength={255} autocomplete="off" />
    </label>
  );
}

/** The reference that was typed; a body without it where there is none. */
function referenceOf(fields: FormData): { readonly reference?: string } {
  const reference = textIn(fields, 'reference');
  return reference === null ? {} : { reference };
}

const OUTCOMES = {
  RETRY: 'Try it again',
  GIVEN_BACK: 'It was given back',
  NOT_GIVEN_BACK: 'It was not given back',
} as const;

/** What an operator decides about a refund that the provider refused, or did not answer. */
function ResolveDialog({ refund, change, onClose }: DialogProps & { readonly refund: Refund }) {
  const resolve = (fields: FormData, note: string | null): Promise<void> => {
    const outcome = String(fields.get('outcome'));
    return change(`refunds/${refund.id}/resolve`, { outcome, note, ...referenceOf(fields) });
  };
  return (
    <Confirmation title="Resolve this refund" action={OUTCOMES} isGrave act={resolve} onClose={onClose}>
      <p>
        {money(refund.amount, refund.currency)}: {refund.failure?.message ?? 'no answer'}{' '}
        <code>{refund.failure?.code}</code>
      </p>
      <p class="quiet">Look at the provider’s page first: what it says there decides.</p>
      <ReferenceField />
    </Confirmation>
  );
}

/** Notes money that was given back elsewhere. */
function RefundDialog({ order, change, onClose }: DialogProps) {
  const suggested = order.refunds_due[0] ?? { amount: refundableOf(order), currency: order.currency };
  const currencies = new Set([order.currency, ...order.refunds_due.map(({ currency }) => currency)]);
  const record = (fields: FormData, note: string | null): Promise<void> => {
    const currency = String(fields.get('currency') ?? order.currency);
    return change('refunds', { amount: amountOf(fields, currency), currency, note, ...referenceOf(fields) });
  };
  return (
    <Confirmation title="Record a refund" action="Record it" act={record} onClose={onClose}>
      <p class="quiet">This notes money that you gave back at the payment provider. It sends none itself.</p>
      <AmountField label={currencies.size === 1 && `in ${order.currency}`} suggested={suggested} />
      {currencies.size > 1 && (
        <label class="field">
          Currency
          <select name="currency">
            {[...currencies].map((currency) => (
              <option key={currency} selected={currency === suggested.currency}>
                {currency}
              </option>
            ))}
          </select>
        </label>
      )}
      <ReferenceField />
    </Confirmation>
  );
}

/** What became of the order's personal data, where they are not to be read. */
function Erasure({ order }: { readonly order: AdminOrder }) {
  const { personal_data: state, erased_at: erasedAt, erased_by: erasedBy } = order;
  if (state === 'OPEN') return null;
  if (state === 'UNREADABLE')
    return <p class="alert">The personal data of this order are damaged and cannot be read.</p>;
  return (
    <p class="erased">
      Personal data was erased{erasedAt !== null && ` on ${moment(erasedAt)}`}
      {erasedBy !== null && ` by ${erasedBy}`}.
    </p>
  );
}

function Sums({ order }: { readonly order: AdminOrder }) {
  const { currency } = order;
  const foreign = order.refunds_due.filter((due) => due.currency !== currency);
  const tiles: readonly Tile[] = [
    ['Total', money(order.total_amount, currency)],
    ['Paid', money(order.paid_amount, currency)],
    ['Given back', money(order.refunded_amount, currency)],
    ['Refund due', money(order.refund_due, currency), order.refund_due > 0],
    ...(order.refund_pending > 0 ? [['On its way', money(order.refund_pending, currency)] as const] : []),
    ...foreign.map((due): Tile => [`Refund due in ${due.currency}`, money(due.amount, due.currency), due.amount > 0]),
  ];
  return <Tiles tiles={tiles} />;
}

const REFUND_WORDS: Readonly<Record<Refund['status'], string>> = {
  PENDING: 'Being given back',
  SUCCEEDED: 'Given back',
  FAILED: 'Not given back',
  NEEDS_OPERATOR: 'Needs an operator',
};

interface PaymentsProps {
  readonly order: AdminOrder;
  readonly resolve: (refund: Refund) => void;
}

function Payments({ order, resolve }: PaymentsProps) {
  return (
    <section class="card">
      <h2>Money</h2>
      <ul class="items">
        {order.payments.map((payment) => (
          <li key={payment.id}>
            <span>
              {payment.amendment_id === null ? `Installment ${payment.installment}` : 'Change'} · {payment.status}{' '}
              <span class="quiet">{payment.paid_at === null ? '' : moment(payment.paid_at)}</span>
            </span>
            <span class="number">{money(payment.amount, payment.currency)}</span>
          </li>
        ))}
        {order.refunds.map((refund) => (
          <li key={refund.id}>
            <span>
              {REFUND_WORDS[refund.status]}{' '}
              <span class="quiet">
                {moment(refund.finished_at ?? refund.created_at)} {refund.reference}
              </span>{' '}
              {refund.note} {refund.failure !== null && <span class="quiet">{refund.failure.message}</span>}{' '}
              {refund.status === 'NEEDS_OPERATOR' && (
                <button type="button" class="button plain" onClick={() => resolve(refund)}>
                  Resolve…
                </button>
              )}
            </span>
            <span class="number">
              {refund.status === 'FAILED' ? '' : '−'}
              {money(refund.amount, refund.currency)}
            </span>
          </li>
        ))}
        {order.counter !== null && (
          <li>
            <span>
              Made at the counter{order.counter.operator !== null && ` by ${order.counter.operator}`}
              {order.counter.exceeds_limits && ', over the limits of the event'}{' '}
              <span class="quiet">{order.counter.note}</span>
            </span>
          </li>
        )}
        {order.cancelled_at !== null && (
          <li>
            <span>
              Cancelled by {order.cancelled_by?.toLowerCase()} <span class="quiet">{moment(order.cancelled_at)}</span>{' '}
              {order.cancellation_note}
            </span>
          </li>
        )}
      </ul>
    </section>
  );
}
