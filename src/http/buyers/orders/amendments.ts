/** The bodies of amendments, for buyers and operators: a quote and its amendment have the same ones. */
import { type Static, Type } from 'typebox';
import type { EventFinder, Found } from '#actors/event-port.ts';
import type { AmendmentQuote, AmendmentRequest } from '#domain/amendment-request.ts';
import type { PaymentProviderName } from '#domain/catalogue/definition.ts';
import type { CommandOf, ReplyTo } from '#domain/command.ts';
import { AMOUNT_CENTS_MAX } from '#domain/money.ts';
import { AMENDED_TICKETS_MAX } from '#domain/orders/amendments/plan.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { AmendmentView } from '#domain/view.ts';
import type { CheckoutSessions } from '#payments/checkout-sessions.ts';
import { unlessUnavailable } from '#payments/provider.ts';
import { fail, ORDER_NOT_FOUND, type Refused } from '../../protocol/errors.ts';
import { Cents, Id, Nullable, SeatId, Time, WebAddress } from '../../protocol/fields.ts';
import { formatMoment, formatTime, type ListedProblem } from '../../protocol/formats.ts';
import { AttendeeInput, readAttendee } from './people.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const Text = Type.String();
const NullableText = Nullable(Text);
const ACTIONS = ['CANCEL', 'CHANGE', 'REISSUE', 'RENAME'];

const ticketIds = (description: string) =>
  Type.Optional(Type.Array(Id, { maxItems: AMENDED_TICKETS_MAX, description }));

const TicketChangeInput = Type.Object(
  {
    ticket_ids: Type.Array(Id, { minItems: 1, maxItems: AMENDED_TICKETS_MAX, description: 'Of a group all of them.' }),
    performance_id: Type.Optional(Nullable(Id)),
    ticket_type_id: Type.Optional(Nullable(Id)),
    selling_stage_id: Type.Optional(
      Nullable({
        ...Id,
        description: 'Where none is named: its own where that sells the type now, else the first open.',
      }),
    ),
    seat_ids: Type.Optional(
      Type.Unsafe<string[] | null>({
        type: ['array', 'null'],
        items: SeatId,
        minItems: 1,
        maxItems: AMENDED_TICKETS_MAX,
        description:
          'One for each ticket, in their order. Without it the same ones where they are free, else the best.',
      }),
    ),
  },
  { description: 'Tickets that go to another date, type, stage or seat; what is left out stays.' },
);

type TicketChangeBody = Static<typeof TicketChangeInput>;

/** What is asked of an order. */
export const amendmentRequestFields = {
  cancel: ticketIds('The tickets that are given back; of a group all of them.'),
  reissue: ticketIds('Tickets that get a new code for the same place; the old one is void.'),
  change: Type.Optional(Type.Array(TicketChangeInput, { maxItems: AMENDED_TICKETS_MAX })),
  attendees: Type.Optional(
    Type.Array(Type.Object({ ticket_id: Id, attendee: AttendeeInput }), {
      maxItems: AMENDED_TICKETS_MAX,
      description: 'Who comes with which ticket from now on. The code stays; with `reissue` the ticket gets another.',
    }),
  ),
};

/** What operators alone ask for. */
export const operatorsRequestFields = {
  fee: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: AMOUNT_CENTS_MAX,
      default: 0,
      description: 'What the amendment costs, in all; of tickets that are given back at most their credit.',
    }),
  ),
  goodwill: Type.Optional(
    Type.Boolean({ default: false, description: 'True: what the order costs more by it is not charged.' }),
  ),
  even_admitted: Type.Optional(
    Type.Boolean({ default: false, description: 'True: tickets that entered at a door are amended too.' }),
  ),
};

/** Where its buyer returns to from the payment page. */
export const returnFields = { success_url: WebAddress, cancel_url: WebAddress };

export const RequestFields = Type.Object({ ...amendmentRequestFields, ...returnFields });

export const quoteText = Type.String({
  maxLength: 256,
  description: 'Of the same request: what it says happens, or nothing. QUOTE_STALE where it would be another.',
});

export const AmendmentQuoteBody = Type.Object(
  {
    quote: { ...Text, description: 'Sent with the same request, it has done what stands here.' },
    expires_at: Time,
    tickets: Type.Array(
      Type.Object({
        ticket_id: Text,
        action: Type.String({ enum: ACTIONS }),
        credit: { ...Cents, description: 'For its unit, on the first ticket of that, without perks.' },
        price: {
          ...Cents,
          description: 'What is charged for its unit, on the first ticket of that; 0 where the price stays.',
        },
        ticket_type_id: Text,
        selling_stage_id: Text,
        performance_id: Text,
        section: NullableText,
        row_label: NullableText,
        seat_id: NullableText,
        seat_label: NullableText,
      }),
    ),
    perks_credit: { ...Cents, description: 'What of `credit` is for perks.' },
    credit: Cents,
    charge: Cents,
    fee: Cents,
    difference: { ...Type.Integer(), description: '`charge` + `fee` − `credit`.' },
    to_pay: Cents,
    to_refund: { ...Cents, description: 'What becomes due back.' },
    total_amount: { ...Cents, description: 'Of the order from then on.' },
    remaining_amount: Cents,
    currency: Text,
  },
  { $id: 'AmendmentQuote' },
);

export const Amendment = Type.Object(
  {
    id: Text,
    status: Type.String({ enum: ['APPLIED', 'PENDING', 'EXPIRED', 'CANCELLED'] }),
    by: Type.String({ enum: ['BUYER', 'OPERATOR', 'PERFORMANCE'] }),
    created_at: Time,
    applied_at: Nullable(Time),
    expires_at: Nullable({ ...Time, description: 'Until when it can be paid; null where nothing was to be paid.' }),
    difference: { ...Type.Integer(), description: 'Below zero where something was given up.' },
    fee: Cents,
    to_pay: { ...Cents, description: 'What is paid before it is applied.' },
    to_refund: Cents,
    tickets: Type.Array(
      Type.Object({
        ticket_id: Text,
        action: Type.String({ enum: ACTIONS }),
        new_ticket_id: Nullable({ ...Text, description: 'The ticket that was issued in its place.' }),
      }),
    ),
    payment_provider: NullableText,
    redirect_url: Nullable({ ...Text, description: 'Where it is paid, while it is PENDING.' }),
    checkout_session_id: NullableText,
  },
  { $id: 'Amendment' },
);

// ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export type RequestBody = Static<typeof RequestFields>;
type OperatorsBody = RequestBody & {
  readonly fee?: number;
  readonly goodwill?: boolean;
  readonly even_admitted?: boolean;
};

/** The problems of a request that no schema finds. */
export function problemsOf({ cancel = [], reissue = [], change = [], attendees = [] }: RequestBody): ListedProblem[] {
  const named: (readonly [path: string, ticketId: string])[] = [
    ...cancel.map((ticketId, at) => [`/cancel/${at}`, ticketId] as const),
    ...reissue.map((ticketId, at) => [`/reissue/${at}`, ticketId] as const),
    ...change.flatMap(({ ticket_ids: ids }, index) =>
      ids.map((ticketId, at) => [`/change/${index}/ticket_ids/${at}`, ticketId] as const),
    ),
  ];
  const renamed = attendees.map(({ ticket_id: ticketId }, at) => [`/attendees/${at}/ticket_id`, ticketId] as const);
  if (named.length + renamed.length === 0) return [{ path: '', message: 'names nothing that is to be changed' }];
  const all = new Set([...named, ...renamed].map(([, ticketId]) => ticketId));
  if (all.size > AMENDED_TICKETS_MAX) return [{ path: '', message: `names over ${AMENDED_TICKETS_MAX} tickets` }];
  const given = new Set(cancel);
  return [
    ...change.flatMap((each, at) =>
      isToChange(each) ? [] : [{ path: `/change/${at}`, message: 'names nothing that is to be changed' }],
    ),
    ...repeatedIn(named),
    ...repeatedIn(renamed),
    ...renamed
      .filter(([, ticketId]) => given.has(ticketId))
      .map(([path]) => ({ path, message: 'names a ticket that is given back' })),
  ];
}

function isToChange({ performance_id, ticket_type_id, selling_stage_id, seat_ids }: TicketChangeBody): boolean {
  return [performance_id, ticket_type_id, selling_stage_id, seat_ids].some((named) => (named ?? null) !== null);
}

function repeatedIn(named: readonly (readonly [path: string, ticketId: string])[]): ListedProblem[] {
  const known = new Set<string>();
  return named.flatMap(([path, ticketId]) => {
    const isRepeated = known.has(ticketId);
    known.add(ticketId);
    return isRepeated ? [{ path, message: 'names a ticket a second time' }] : [];
  });
}

/** The addresses to return to, which a body has beside the request of an amendment. */
export function readReturn(body: { readonly success_url?: string | null; readonly cancel_url?: string | null }) {
  return { successUrl: body.success_url ?? null, cancelUrl: body.cancel_url ?? null };
}

/** A buyer's request: what operators alone may ask for is ignored. */
export function ownRequest(body: RequestBody): AmendmentRequest {
  return toAmendmentRequest({ ...body, fee: 0, goodwill: false, even_admitted: false });
}

export function toAmendmentRequest(body: OperatorsBody): AmendmentRequest {
  const { cancel = [], reissue = [], change = [], attendees = [], fee: feeCents = 0, goodwill = false } = body;
  return {
    cancel,
    reissue,
    change: change.map((each) => ({
      ticketIds: each.ticket_ids,
      performanceId: each.performance_id ?? null,
      ticketTypeId: each.ticket_type_id ?? null,
      sellingStageId: each.selling_stage_id ?? null,
      seatIds: each.seat_ids ?? null,
    })),
    attendees: attendees.map(({ ticket_id: ticketId, attendee }) => ({ ticketId, attendee: readAttendee(attendee) })),
    feeCents,
    goodwill,
    ...(body.even_admitted === true && { evenAdmitted: true }),
  };
}

// ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────────────

type Execute = (
  found: Found,
  notFound: Refusal,
  command: CommandOf<'AmendOrder'>,
) => Promise<ReplyTo<'AmendOrder'> | Refusal>;

interface AmendingPorts {
  readonly events: Pick<EventFinder, 'byId'>;
  readonly checkoutSessions: Pick<CheckoutSessions, 'inTime' | 'openSession'>;
  readonly absentProviders: readonly PaymentProviderName[];
}

/** Amends an order; where the amendment must be paid, its session is opened as at checkout. */
export async function amendOrder(
  { events, checkoutSessions, absentProviders }: AmendingPorts,
  execute: Execute,
  command: CommandOf<'AmendOrder'>,
): Promise<Pick<ReplyTo<'AmendOrder'>, 'amendment' | 'replayed'> | Refused> {
  const { orderId } = command;
  const found = events.byId('ord', orderId);
  const asked = await checkoutSessions.inTime(found, (busy) =>
    execute(found, ORDER_NOT_FOUND, { ...command, absentProviders, ...busy }),
  );
  if (isRefusal(asked)) return asked;
  const { order, payment, amendment, replayed = false } = asked;
  if (order === null || payment === null) return { amendment, replayed };
  const opened = await unlessUnavailable(checkoutSessions.openSession({ order, payment }));
  if (opened === null) return fail('PAYMENT_PROVIDER_UNAVAILABLE', { orderId, amendmentId: amendment.id });
  // A repeated request that opens the session is the first one that is answered with it.
  return { amendment: { ...amendment, payment: opened.payment }, replayed: replayed && opened.isShared };
}

// ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export function toQuoteBody(quote: AmendmentQuote): Static<typeof AmendmentQuoteBody> {
  return {
    quote: quote.quote,
    expires_at: formatTime(quote.expiresAt),
    tickets: quote.tickets.map((ticket) => ({
      ticket_id: ticket.ticketId,
      action: ticket.action,
      credit: ticket.creditCents,
      price: ticket.priceCents,
      ticket_type_id: ticket.ticketTypeId,
      selling_stage_id: ticket.sellingStageId,
      performance_id: ticket.performanceId,
      section: ticket.section,
      row_label: ticket.rowLabel,
      seat_id: ticket.seatId,
      seat_label: ticket.seatLabel,
    })),
    perks_credit: quote.perksCreditCents,
    credit: quote.creditCents,
    charge: quote.chargeCents,
    fee: quote.feeCents,
    difference: quote.differenceCents,
    to_pay: quote.toPayCents,
    to_refund: quote.toRefundCents,
    total_amount: quote.totalCents,
    remaining_amount: quote.remainingCents,
    currency: quote.currency,
  };
}

/** A refusal in the API's names, with the current quote where it has one. */
export function withQuoteBody<Answer extends object>(answer: Answer | Refused): Answer | Refused {
  if (!isRefusal(answer) || answer.code !== 'QUOTE_STALE') return answer;
  return { ...answer, detail: { quote: toQuoteBody(answer.detail.quote as AmendmentQuote) } };
}

export function toAmendmentBody(amendment: AmendmentView): Static<typeof Amendment> {
  const { id, status, by, createdAt, differenceCents, feeCents, toPayCents, toRefundCents, tickets } = amendment;
  const { payment } = amendment;
  return {
    id,
    status,
    by,
    created_at: formatTime(createdAt),
    applied_at: formatMoment(amendment.appliedAt),
    expires_at: formatMoment(amendment.expiresAt),
    difference: differenceCents,
    fee: feeCents,
    to_pay: toPayCents,
    to_refund: toRefundCents,
    tickets: tickets.map(({ ticketId, action, newTicketId = null }) => ({
      ticket_id: ticketId,
      action,
      new_ticket_id: newTicketId,
    })),
    payment_provider: payment?.provider ?? null,
    redirect_url: payment?.redirectUrl ?? null,
    checkout_session_id: payment?.checkoutSessionId ?? null,
  };
}
