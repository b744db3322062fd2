/**
 * The bodies of amendments, for buyers and operators.
 *
 * 1. The body of a quote and that of the amendment that it is of are the same, but for `quote` itself.
 */
import { type Static, Type } from 'typebox';
import type { AmendmentQuote, AmendmentRequest } from '#domain/amendment-request.ts';
import { AMOUNT_CENTS_MAX } from '#domain/money.ts';
import { AMENDED_TICKETS_MAX } from '#domain/orders/amendments/plan.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { AmendmentView } from '#domain/view.ts';
import { Cents, Id, Nullable, Time } from '../../protocol/fields.ts';
import { formatMoment, formatTime, type ListedProblem } from '../../protocol/formats.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const Text = Type.String();
const NullableText = Nullable(Text);
const ACTIONS = ['CANCEL', 'CHANGE', 'REISSUE', 'RENAME'];

const ticketIds = (description: string) =>
  Type.Optional(Type.Array(Id, { maxItems: AMENDED_TICKETS_MAX, description }));

/** What is asked of an order. */
export const amendmentRequestFields = {
  cancel: ticketIds('The tickets that are given back; of a group all of them.'),
};

/** What operators alone ask for. */
export const operatorsRequestFields = {
  fee: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: AMOUNT_CENTS_MAX,
      default: 0,
      description: 'What the amendment costs, in all; at most the credit of the tickets that are given back.',
    }),
  ),
};

export const quoteField = {
  quote: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 256,
        description: 'Of the same request: what it says happens, or nothing. QUOTE_STALE where it would be another.',
      }),
    ),
  ),
};

export const AmendmentQuoteBody = Type.Object(
  {
    quote: { ...Text, description: 'Sent with the same request, it has done what stands here.' },
    expires_at: Time,
    tickets: Type.Array(
      Type.Object({
        ticket_id: Text,
        action: Type.String({ enum: ACTIONS }),
        credit: { ...Cents, description: 'For its unit, on the first ticket of that, without perks.' },
        price: { ...Cents, description: 'What its unit costs from then on, on the first ticket of that.' },
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
    expires_at: Nullable(Time),
    difference: { ...Type.Integer(), description: 'Below zero where something was given up.' },
    fee: Cents,
    to_pay: Cents,
    to_refund: Cents,
    tickets: Type.Array(
      Type.Object({
        ticket_id: Text,
        action: Type.String({ enum: ACTIONS }),
        new_ticket_id: Nullable({ ...Text, description: 'The ticket that was issued in its place.' }),
      }),
    ),
    payment_provider: NullableText,
    redirect_url: NullableText,
    checkout_session_id: NullableText,
  },
  { $id: 'Amendment' },
);

// ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────

interface RequestBody {
  readonly cancel?: readonly string[];
}

/** What no schema shows of a request (rule 1). */
export function problemsOf({ cancel = [] }: RequestBody): readonly ListedProblem[] {
  if (cancel.length === 0) return [{ path: '', message: 'names nothing that is to be changed' }];
  const repeated = cancel.findIndex((ticketId, index) => cancel.indexOf(ticketId) < index);
  return repeated < 0 ? [] : [{ path: `/cancel/${repeated}`, message: 'names a ticket a second time' }];
}

export function toAmendmentRequest({
  cancel = [],
  fee = 0,
}: RequestBody & { readonly fee?: number }): AmendmentRequest {
  return { cancel, feeCents: fee };
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

/** A refusal with the quote of now in it, where it has one, in the API's names. */
export function withQuoteBody<Answer extends object>(answer: Answer | Refusal): Answer | Refusal {
  if (!isRefusal(answer) || answer.code !== 'QUOTE_STALE') return answer;
  return { ...answer, detail: { quote: toQuoteBody(answer.detail.quote as AmendmentQuote) } };
}

export function toAmendmentBody(amendment: AmendmentView): Static<typeof Amendment> {
  const { id, status, by, createdAt, differenceCents, feeCents, toRefundCents, tickets } = amendment;
  return {
    id,
    status,
    by,
    created_at: formatTime(createdAt),
    applied_at: formatMoment(createdAt),
    expires_at: null,
    difference: differenceCents,
    fee: feeCents,
    to_pay: 0,
    to_refund: toRefundCents,
    tickets: tickets.map(({ ticketId, action, newTicketId = null }) => ({
      ticket_id: ticketId,
      action,
      new_ticket_id: newTicketId,
    })),
    payment_provider: null,
    redirect_url: null,
    checkout_session_id: null,
  };
}
