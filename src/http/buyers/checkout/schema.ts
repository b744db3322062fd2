/** The bodies of checkout: its start and what it answers. */
import { type Static, Type } from 'typebox';
import { TRACKING_BYTES_MAX, TRACKING_FIELDS_MAX, TRACKING_TEXT_LENGTH_MAX } from '#domain/orders/tracking.ts';
import { Cents, Id, Nullable, SessionKey, Time, WebAddress } from '../../protocol/fields.ts';
import { orderTextFields } from '../../protocol/formats.ts';
import { HoldItemInput, QUANTITY_MAX } from '../holds.ts';
import { AttendeeInput, Email } from '../orders/people.ts';

const PERKS_PER_ITEM_MAX = 50;

/** As many as the tickets of the largest group order in one item. */
const ATTENDEES_PER_ITEM_MAX = 2_000;

/** As long as the catalogue's own. */
const CODE_LENGTH_MAX = 128;

/** Ids of holds and queue entries are far shorter; a longer text names nothing. */
const SECRET_ID_LENGTH_MAX = 256;

const Code = Type.Optional(Nullable(Type.String({ maxLength: CODE_LENGTH_MAX })));

const BarPerk = Type.Object({
  bar_perk_id: Id,
  quantity: Type.Integer({ minimum: 1, maximum: QUANTITY_MAX }),
});

export const CheckoutItem = Type.Object({
  ...HoldItemInput.properties,
  discount_code: Code,
  attendees: Type.Optional(
    Type.Unsafe<Static<typeof AttendeeInput>[] | null>({
      type: ['array', 'null'],
      items: AttendeeInput,
      maxItems: ATTENDEES_PER_ITEM_MAX,
      description: 'One for each ticket; needed where the event issues tickets to people.',
    }),
  ),
  bar_perks: Type.Optional(
    Type.Unsafe<Static<typeof BarPerk>[] | null>({
      type: ['array', 'null'],
      items: BarPerk,
      maxItems: PERKS_PER_ITEM_MAX,
    }),
  ),
});

/**
 * Any value is accepted, because attribution never prevents a sale; `domain/orders/tracking.ts` bounds what is kept of
 * it.
 */
const Tracking = Type.Unsafe<unknown>({
  description: `What advertising platforms match by: fbc, fbp, client_user_agent, client_ip_address, gclid, fbclid, ttclid, ttp, referrer, landing_page, channel, utm_*. Texts of other names are kept as well. Never refused: at most ${TRACKING_FIELDS_MAX} fields are kept, each cut to ${TRACKING_TEXT_LENGTH_MAX} characters, ${TRACKING_BYTES_MAX} bytes in all; what is no text, or no object, is left out.`,
  examples: [{ utm_source: 'newsletter', landing_page: '/volley' }],
});

export const CustomerInput = Type.Object({
  email: Email,
  name: AttendeeInput.properties.name,
  document_number: AttendeeInput.properties.document_number,
  phone: AttendeeInput.properties.phone,
});

/** Items of one order. */
export const ITEMS_MAX = 20;

export const StartCheckout = Type.Object({
  event_id: Id,
  session_key: Type.Optional(Nullable(SessionKey)),
  hold_id: Type.Optional(
    Nullable(Type.String({ maxLength: SECRET_ID_LENGTH_MAX, description: 'The hold that the order takes over.' })),
  ),
  items: Type.Optional(
    Type.Unsafe<Static<typeof CheckoutItem>[] | null>({
      type: ['array', 'null'],
      items: CheckoutItem,
      minItems: 1,
      maxItems: ITEMS_MAX,
      description: 'Needed without hold_id; with one, the items of the hold or left out.',
    }),
  ),
  customer: CustomerInput,
  accept_terms: Type.Optional(Nullable(Type.Boolean())),
  success_url: WebAddress,
  cancel_url: WebAddress,
  installment_count: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 12 }))),
  promo_code: Code,
  ...orderTextFields((_, { lengthMax, about }) => {
    // Never refused for its length: the domain cuts it.
    const cut = `Cut to ${lengthMax} characters.`;
    return Type.Optional(Nullable(Type.String({ description: about === undefined ? cut : `${about} ${cut}` })));
  }),
  tracking: Type.Optional(Tracking),
  queue_pass: Type.Optional(
    Nullable(
      Type.String({
        maxLength: SECRET_ID_LENGTH_MAX,
        description: 'Without its session_key a pass is good for one order.',
      }),
    ),
  ),
});

export const QuoteCheckout = Type.Object({
  event_id: Id,
  session_key: Type.Optional(Nullable(SessionKey)),
  hold_id: Type.String({ minLength: 1, maxLength: SECRET_ID_LENGTH_MAX }),
  promo_code: Code,
});

export const Quote = Type.Object(
  {
    tickets_amount: { ...Cents, description: 'The tickets less the discount; perks come on top at their prices.' },
    discount_amount: Cents,
    currency: Type.String(),
  },
  { $id: 'Quote' },
);

export const StartedCheckout = Type.Object(
  {
    order_id: Type.String(),
    payment_provider: Type.String({ enum: ['provider_a', 'provider_b', 'FREE'] }),
    redirect_url: Type.String({ description: "The provider's page, or the confirmation page of a free order." }),
    total_amount: Cents,
    amount_due: Type.Optional({ ...Cents, description: 'What is paid now, where the order is paid in installments.' }),
    currency: Type.String(),
    checkout_session_id: Nullable(Type.String()),
    expires_at: Nullable(Time),
  },
  { $id: 'StartedCheckout' },
);

export type StartCheckoutBody = Static<typeof StartCheckout>;
export type QuoteCheckoutBody = Static<typeof QuoteCheckout>;
export type StartedCheckoutBody = Static<typeof StartedCheckout>;
