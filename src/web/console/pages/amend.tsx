/**
 * Changes tickets of a paid order: what is asked for, then what it comes to, then the button that does it.
 *
 * 1. A quote is of the form as it stands: whatever is changed in it takes the quote away.
 */
import { useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { AmendmentQuote, AmendmentRequest, Ticket } from '#client/bodies.ts';
import { readAmount } from '#client/money.ts';
import { addressOf, textOfError, usePolled, type Api } from '../app/api.ts';
import type { AdminOrder } from '../app/bodies.ts';
import { countOf, money } from '../app/format.ts';
import { linkTo } from '../app/router.ts';
import { Choice, NoteField, textIn, type Option } from '../parts/fields.tsx';
import { Breadcrumbs, PageTitle } from '../parts/frame.tsx';
import { placeOf } from '../parts/order-items.tsx';

interface AmendPageProps {
  readonly api: Api;
  readonly orderId: string;
  readonly reload: () => void;
}

/** What of an event's definition names its tickets. */
interface Definition {
  readonly performances: readonly Option[];
  readonly ticketTypes: readonly Option[];
}

interface Read {
  readonly order: AdminOrder;
  readonly event: Definition;
}

const KINDS = {
  cancel: 'Give back',
  change: 'Change date, type or seats',
  reissue: 'New codes',
  attendees: 'Rename',
} as const;

type Kind = keyof typeof KINDS;

export function AmendPage({ api, orderId, reload }: AmendPageProps) {
  const address = addressOf('orders', orderId);
  const { value, trouble } = usePolled<Read>(
    orderId,
    async () => {
      const order = await api<AdminOrder>('GET', address);
      const { definition } = await api<{ readonly definition: Definition }>('GET', addressOf('events', order.event.id));
      return { order, event: definition };
    },
    null,
  );
  if (value === null) return trouble === null ? <p class="quiet">…</p> : <p class="alert">{trouble}</p>;
  const { order } = value;
  return (
    <>
      <Breadcrumbs
        links={[
          [linkTo('events', order.event.id), order.event.name],
          [linkTo('orders', orderId), order.customer.name ?? 'Order'],
        ]}
      />
      <PageTitle>Change tickets</PageTitle>
      <AmendForm api={api} address={`${address}/amendments`} {...value} reload={reload} />
    </>
  );
}

type AmendFormProps = Read & Pick<AmendPageProps, 'api' | 'reload'> & { readonly address: string };

/** What was quoted, and the request that it is of. */
interface Quoted {
  readonly request: object;
  readonly quote: AmendmentQuote;
}

function AmendForm({ api, address, order, event, reload }: AmendFormProps) {
  const [kind, setKind] = useState<Kind>('cancel');
  const [quoted, setQuoted] = useState<Quoted | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(false);

  const ask = async (fields: FormData): Promise<void> => {
    const request = quoted?.request ?? requestOf(kind, fields, order);
    if (quoted === null) {
      return setQuoted({ request, quote: await api<AmendmentQuote>('POST', `${address}/quote`, request) });
    }
    await api('POST', address, { ...request, quote: quoted.quote.quote, note: textIn(fields, 'note') });
    reload();
    location.hash = linkTo('orders', order.order_id);
  };
  const submit = async (submission: SubmitEvent): Promise<void> => {
    submission.preventDefault();
    setAsking(true);
    setTrouble(null);
    try {
      await ask(new FormData(submission.currentTarget as HTMLFormElement));
    } catch (error) {
      const stale = newQuoteOf(error);
      if (quoted !== null && stale !== null) setQuoted({ ...quoted, quote: stale });
      setTrouble(error instanceof Error && !isApiError(error) ? error.message : textOfError(error));
    }
    setAsking(false);
  };
  const forget = (input: Event): void => {
    if ((input.target as HTMLInputElement).name !== 'note') setQuoted(null);
  };
  return (
    <form class="card amend" onInput={forget} onSubmit={(submission) => void submit(submission)}>
      <Kinds kind={kind} setKind={setKind} />
      <Tickets order={order} event={event} kind={kind} />
      {kind === 'change' && <Destination event={event} />}
      <Fee currency={order.currency} kind={kind} />
      {quoted !== null && <Quote quote={quoted.quote} event={event} order={order} />}
      {quoted !== null && <NoteField />}
      {trouble !== null && (
        <p class="alert" role="alert">
          {trouble}
        </p>
      )}
      <div class="actions">
        <a class="button plain" href={linkTo('orders', order.order_id)}>
          Leave as it is
        </a>
        <button type="submit" class={`button primary${quoted === null ? '' : ' grave'}`} disabled={isAsking}>
          {quoted === null ? 'What does it come to?' : actionOf(quoted.quote)}
        </button>
      </div>
    </form>
  );
}

function Fee({ currency, kind }: { readonly currency: string; readonly kind: Kind }) {
  return (
    <>
      <label class="field">
        Fee in {currency} <span class="quiet">in all; nothing where it is left empty</span>
        <input name="fee" inputMode="decimal" autocomplete="off" />
      </label>
      <label class="option">
        <input type="checkbox" name="even_admitted" /> Even tickets that entered
      </label>
      {kind === 'change' && (
        <label class="option">
          <input type="checkbox" name="goodwill" /> What it costs more is not charged
        </label>
      )}
    </>
  );
}

interface KindsProps {
  readonly kind: Kind;
  readonly setKind: (kind: Kind) => void;
}

function Kinds({ kind, setKind }: KindsProps) {
  return (
    <fieldset>
      <legend>What is done</legend>
      {Object.entries(KINDS).map(([value, words]) => (
        <label key={value} class="option">
          <input
            type="radio"
            name="kind"
            value={value}
            checked={kind === value}
            onChange={() => setKind(value as Kind)}
          />{' '}
          {words}
        </label>
      ))}
    </fieldset>
  );
}

function actionOf({ tickets, to_pay: toPay, currency }: AmendmentQuote): string {
  const paid = toPay > 0 ? ` for ${money(toPay, currency)}` : '';
  return `${tickets[0]?.action === 'CANCEL' ? 'Give back' : 'Change'} ${countOf(tickets.length, 'ticket')}${paid}`;
}

/** The quote of now, where one that was used is stale. */
function newQuoteOf(error: unknown): AmendmentQuote | null {
  if (!isApiError(error) || error.code !== 'QUOTE_STALE') return null;
  return (error.detail as { readonly quote: AmendmentQuote }).quote;
}

/** Before the ids of a unit, as the name of its box. */
const UNIT = 'unit ';

/** What the form asks for. Throws what is missing in it. */
function requestOf(kind: Kind, fields: FormData, order: AdminOrder): object {
  const chosen = [...fields.keys()].flatMap((name) =>
    name.startsWith(UNIT) ? name.slice(UNIT.length).split(' ') : [],
  );
  if (chosen.length === 0) throw new Error('Choose the tickets.');
  const text = (name: string): string | null => textIn(fields, name);
  const typedFee = text('fee');
  const fee = typedFee === null ? 0 : readAmount(typedFee, order.currency);
  if (fee === null) throw new Error('Write the fee as an amount such as 2.50.');
  const request: Readonly<Record<Kind, AmendmentRequest>> = {
    cancel: { cancel: chosen },
    reissue: { reissue: chosen },
    change: {
      change: [{ ticket_ids: chosen, performance_id: text('performance_id'), ticket_type_id: text('ticket_type_id') }],
    },
    attendees: {
      attendees: chosen.map((id) => {
        const email = text(`email ${id}`);
        return { ticket_id: id, attendee: { name: text(`name ${id}`) ?? '', ...(email !== null && { email }) } };
      }),
    },
  };
  const isChecked = (name: string): boolean => fields.get(name) !== null;
  return { ...request[kind], fee, goodwill: isChecked('goodwill'), even_admitted: isChecked('even_admitted') };
}

interface TicketsProps {
  readonly order: AdminOrder;
  readonly event: Definition;
  readonly kind: Kind;
}

/** The tickets to choose among: those of a group go together, except for new codes and names. */
function Tickets({ order, event, kind }: TicketsProps) {
  const isByTicket = kind === 'reissue' || kind === 'attendees';
  const units = Object.values(
    Object.groupBy(order.ticket_objects, ({ id, unit }) => (isByTicket ? id : String(unit))),
  ) as Ticket[][];
  const more = order.ticket_count - order.ticket_objects.length;
  return (
    <fieldset>
      <legend>Tickets</legend>
      {units.map((unit) => (
        <div key={unit[0]!.id}>
          <label class="option">
            <input type="checkbox" name={`${UNIT}${unit.map(({ id }) => id).join(' ')}`} /> {nameOf(unit[0]!, event)}{' '}
            {unit.map(({ id, number, attendee }) => (
              <span key={id}>
                {attendee?.name} <code class="quiet">{number}</code>{' '}
              </span>
            ))}
          </label>
          {kind === 'attendees' && <Person ticket={unit[0]!} />}
        </div>
      ))}
      {more > 0 && <p class="quiet small">and {countOf(more, 'more ticket')}, by the API.</p>}
    </fieldset>
  );
}

function Person({ ticket: { id, number, attendee } }: { readonly ticket: Ticket }) {
  return (
    <>
      <label class="field">
        Name <span class="unseen">of {number}</span>
        <input name={`name ${id}`} defaultValue={attendee?.name ?? ''} maxLength={200} autocomplete="off" />
      </label>
      <label class="field">
        E-mail <span class="unseen">of {number}</span>
        <input name={`email ${id}`} defaultValue={attendee?.email ?? ''} maxLength={254} autocomplete="off" />
      </label>
    </>
  );
}

function Destination({ event: { performances, ticketTypes } }: { readonly event: Definition }) {
  return (
    <>
      <Choice label="Date" name="performance_id" options={performances} none="as it is" />
      <Choice label="Ticket type" name="ticket_type_id" options={ticketTypes} none="as it is" />
    </>
  );
}

type Placed = Pick<Ticket, 'ticket_type_id' | 'performance_id' | 'section' | 'row_label' | 'seat_label'>;

/** A ticket's type, date and place. */
function nameOf(ticket: Placed, { ticketTypes, performances }: Definition): string {
  const type = ticketTypes.find(({ id }) => id === ticket.ticket_type_id)?.name ?? ticket.ticket_type_id;
  const date = performances.find(({ id }) => id === ticket.performance_id)?.name ?? ticket.performance_id;
  return [type, date, placeOf(ticket)].filter((part) => part !== '').join(', ');
}

const DONE = { CANCEL: 'given back', CHANGE: 'becomes', REISSUE: 'gets a new code', RENAME: 'is renamed' } as const;

function Quote({
  quote,
  event,
  order,
}: {
  readonly quote: AmendmentQuote;
  readonly event: Definition;
  readonly order: AdminOrder;
}) {
  const before = new Map(order.ticket_objects.map((ticket) => [ticket.id, ticket]));
  const sums: readonly (readonly [string, number])[] = [
    ['New price', quote.charge],
    ['Credit', quote.credit],
    ['of it for extras', quote.perks_credit],
    ['Fee', quote.fee],
    ['Due back', quote.to_refund],
    ['To pay', quote.to_pay],
  ];
  return (
    <section aria-live="polite">
      <h2>What it comes to</h2>
      <ul class="items">
        {quote.tickets.map((ticket) => (
          <li key={ticket.ticket_id}>
            <span>
              {nameOf(before.get(ticket.ticket_id) ?? ticket, event)} <b>{DONE[ticket.action]}</b>{' '}
              {ticket.action === 'CHANGE' && nameOf(ticket, event)}
            </span>
          </li>
        ))}
        {sums.map(
          ([name, amount]) =>
            amount > 0 && (
              <li key={name}>
                <span>{name}</span>
                <span class="number">{money(amount, quote.currency)}</span>
              </li>
            ),
        )}
        <li>
          <span>Total of the order then</span>
          <span class="number">{money(quote.total_amount, quote.currency)}</span>
        </li>
      </ul>
    </section>
  );
}
