/**
 * Which fields of facts operators are shown: an allow-list, fact type by fact type, field by field.
 *
 * 1. What no rule names is hidden: a new field, a new type of fact, and what a newer version wrote. The compiler asks
 *    for a rule for every field of `FactData`; a value that is not as its rule expects is hidden as well.
 * 2. These are hidden: session keys, seeds and openings of draws, passes (ids of queue entries), ids of holds and of
 *    checkout sessions, addresses that lead to them, and what a client made up (idempotency keys, tracking). Ids of
 *    orders and tickets are shown: operators act on them.
 * 3. A hidden id has a label in its place, so that the facts of one hold or entry can be told from others. An id has
 *    144 random bits, so that its label leads nobody to it; a session key has no label, because a client chose it.
 */
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { AmendmentTerms, FactData, HoldLine, OrderItem } from '#domain/fact.ts';
import type { RecordedScan } from '#domain/recorded-scan.ts';
import { forOrderTexts } from '#domain/order-texts.ts';

/** Text in place of what is hidden. */
export const MASK = '***';

/** Shown as it is, where it is a text, a number, a truth value, null, or a list of these. */
const SHOWN = 'SHOWN';
/** Shown whole, however deep: what operators wrote themselves, or what has no secret in any form. */
const WHOLE = 'WHOLE';
const HIDDEN = 'HIDDEN';
/** A secret id, or a list of them: a label stands for it (rule 3). */
const LABEL = 'LABEL';

type Leaf = string | number | boolean | null;

/** How the values of one field are shown; of an object, or a list of objects, by the rules of its own fields. */
type FieldRule = typeof SHOWN | typeof WHOLE | typeof HIDDEN | typeof LABEL | FieldRules;
export interface FieldRules {
  readonly [field: string]: FieldRule;
}

/** Every rule that a value of a type may have; a structure cannot be shown without rules for its fields. */
type RuleFor<Value> =
  | typeof HIDDEN
  | ([Value] extends [string | null | readonly string[]] ? typeof LABEL : never)
  | ([Value] extends [Leaf | readonly Leaf[]] ? typeof SHOWN : never)
  | ([Value] extends [EventDefinition] ? typeof WHOLE : never)
  | (NonNullable<Value> extends readonly (infer Item)[] ? RulesForObject<Item> : RulesForObject<NonNullable<Value>>);

type RulesForObject<Value> = Value extends Leaf ? never : RulesFor<Value>;

/** A rule for every field, optional ones included. */
export type RulesFor<Data> = { readonly [Field in keyof Data]-?: RuleFor<Exclude<Data[Field], undefined>> };

const MARK = { operator: SHOWN, note: SHOWN } as const;

const LINE = {
  performanceId: SHOWN,
  ticketTypeId: SHOWN,
  sellingStageId: SHOWN,
  quantity: SHOWN,
  ticketCount: SHOWN,
  unitPriceCents: SHOWN,
  seatIds: SHOWN,
} as const satisfies RulesFor<HoldLine>;

const SCAN = {
  id: SHOWN,
  kind: SHOWN,
  performanceId: SHOWN,
  doorId: SHOWN,
  verdict: SHOWN,
  given: SHOWN,
  digest: HIDDEN,
  at: SHOWN,
  ticketId: SHOWN,
  ticketTypeId: SHOWN,
  ofPerformanceId: SHOWN,
  unfit: SHOWN,
  undoes: SHOWN,
  isOfGate: SHOWN,
  stationId: SHOWN,
  isAgain: SHOWN,
  upstream: HIDDEN,
} as const satisfies RulesFor<RecordedScan>;

const ATTENDEE = { name: SHOWN, email: SHOWN, documentNumber: SHOWN, phone: SHOWN } as const;

const ITEM = {
  ...LINE,
  attendees: ATTENDEE,
  isNamed: SHOWN,
  discountCode: SHOWN,
  discountCents: SHOWN,
  promoDiscountCents: SHOWN,
  barPerks: { barPerkId: SHOWN, quantity: SHOWN, unitPriceCents: SHOWN },
  priced: { number: SHOWN, quantity: SHOWN, discountCents: SHOWN, promoDiscountCents: SHOWN, withoutPromo: SHOWN },
} as const satisfies RulesFor<OrderItem>;

const SEATS = { performanceId: SHOWN, seatIds: SHOWN, ...MARK } as const;

/** What an amendment makes of its order. */
const AMENDED = {
  orderId: SHOWN,
  amendmentId: SHOWN,
  by: SHOWN,
  tickets: {
    ticketId: SHOWN,
    action: SHOWN,
    newTicketId: SHOWN,
    withoutPerks: SHOWN,
    goodwillCents: SHOWN,
    person: SHOWN,
  },
  ticketIds: SHOWN,
  items: ITEM,
  lines: LINE,
  promoCode: SHOWN,
  totalCents: SHOWN,
  feesCents: SHOWN,
  goodwillCents: SHOWN,
  sealedAttendees: HIDDEN,
  attendees: ATTENDEE,
  differenceCents: SHOWN,
  feeCents: SHOWN,
  isWithdrawal: SHOWN,
  sealedNote: HIDDEN,
} as const satisfies RulesFor<AmendmentTerms>;

/** What is shown of every type of fact. */
export const SHOWN_FIELDS = {
  EventDefined: { eventNumber: SHOWN, version: SHOWN, definition: WHOLE, ...MARK },
  SaleSteered: { paused: SHOWN, waitingRoomRate: SHOWN, message: SHOWN, ...MARK },
  PerformanceCancelled: { performanceId: SHOWN, orders: SHOWN, ...MARK },
  DueRefundsOrdered: { performanceId: SHOWN, operator: MARK.operator },
  DueRefundsAsked: { performanceId: SHOWN },
  SeatsBlocked: SEATS,
  SeatsUnblocked: SEATS,

  HoldPlaced: {
    holdId: LABEL,
    sessionKey: HIDDEN,
    lines: LINE,
    expiresAt: SHOWN,
    firstPlacedAt: SHOWN,
    replacedHoldId: LABEL,
    idempotency: HIDDEN,
    orderId: SHOWN,
  },
  HoldChanged: { holdId: LABEL, lines: LINE, expiresAt: SHOWN },
  HoldReleased: { holdId: LABEL },
  HoldExpired: { holdId: LABEL },

  WaitingRoomAdded: { opensAt: SHOWN, drawSeed: HIDDEN, drawCommitment: SHOWN },
  WaitingRoomRescheduled: { opensAt: SHOWN },
  WaitingRoomRemoved: {},
  WaitingRoomPaused: {},
  WaitingRoomResumed: {},
  DrawStarted: { entryCount: SHOWN, opening: HIDDEN },
  LineDrawn: { from: SHOWN, entryIds: LABEL },
  DrawFinished: { entriesDigest: SHOWN },
  QueueEntryJoined: { entryId: LABEL, sessionKey: HIDDEN },
  QueueEntriesAdmitted: { entryIds: LABEL, passExpiresAt: SHOWN },
  QueueEntriesDropped: { entryIds: LABEL },
  QueueEntryLeft: { entryId: LABEL },
  QueuePassExpired: { entryId: LABEL },
  QueuePassSpent: { entryId: LABEL, withoutKey: SHOWN },

  OrderPlaced: {
    orderId: SHOWN,
    holdId: LABEL,
    items: ITEM,
    customer: ATTENDEE,
    personal: { sealed: HIDDEN, addressHash: HIDDEN },
    promoCode: SHOWN,
    ...forOrderTexts(() => SHOWN as typeof SHOWN),
    tracking: HIDDEN,
    successUrl: HIDDEN,
    cancelUrl: HIDDEN,
    currency: SHOWN,
    totalCents: SHOWN,
    paymentProvider: SHOWN,
    installmentsCents: SHOWN,
    firstPaymentId: SHOWN,
    expiresAt: SHOWN,
    idempotency: HIDDEN,
  },
  SoldAtCounter: { orderId: SHOWN, exceedsLimits: SHOWN, sealedNote: HIDDEN, ...MARK },
  CheckoutResumed: { orderId: SHOWN, idempotency: HIDDEN },
  RequestAnswered: { idempotency: HIDDEN, answer: HIDDEN },
  OldestDropped: { of: SHOWN },
  PaymentRequested: { orderId: SHOWN, paymentId: SHOWN, installment: SHOWN, amendmentId: SHOWN },
  CheckoutSessionOpened: {
    orderId: SHOWN,
    paymentId: SHOWN,
    checkoutSessionId: LABEL,
    redirectUrl: HIDDEN,
    expiresAt: SHOWN,
  },
  PaymentClosed: { orderId: SHOWN, paymentId: SHOWN, outcome: SHOWN, webhookId: HIDDEN },
  PaymentRecorded: {
    orderId: SHOWN,
    paymentId: SHOWN,
    amountCents: SHOWN,
    currency: SHOWN,
    isCounted: SHOWN,
    reference: SHOWN,
    webhookId: HIDDEN,
    refundDueCents: SHOWN,
    toRefundCents: SHOWN,
  },
  StrayMoneyRecorded: {
    orderId: SHOWN,
    paymentId: SHOWN,
    strayOf: SHOWN,
    amountCents: SHOWN,
    currency: SHOWN,
    reference: SHOWN,
    webhookId: HIDDEN,
    refundDueCents: SHOWN,
    foreignDueCents: SHOWN,
  },
  OrderPaid: { orderId: SHOWN, trigger: SHOWN },
  TicketsIssued: { orderId: SHOWN, ticketIds: SHOWN },
  OrderExpired: { orderId: SHOWN },
  AmendmentRequested: {
    ...AMENDED,
    toPayCents: SHOWN,
    paymentProvider: SHOWN,
    paymentId: SHOWN,
    expiresAt: SHOWN,
    successUrl: HIDDEN,
    cancelUrl: HIDDEN,
    ...MARK,
  },
  AmendmentEnded: { orderId: SHOWN, amendmentId: SHOWN, outcome: SHOWN, cause: SHOWN, operator: SHOWN },
  OrderAmended: {
    ...AMENDED,
    installmentsCents: SHOWN,
    toRefundCents: SHOWN,
    refundDueCents: SHOWN,
    trigger: SHOWN,
    ...MARK,
  },
  OrderCancelled: {
    orderId: SHOWN,
    cause: SHOWN,
    amendmentId: SHOWN,
    refundDueCents: SHOWN,
    sealedNote: HIDDEN,
    ...MARK,
  },
  RefundRequested: {
    orderId: SHOWN,
    refundId: SHOWN,
    paymentId: SHOWN,
    amendmentId: SHOWN,
    amountCents: SHOWN,
    currency: SHOWN,
    sealedNote: HIDDEN,
    ...MARK,
  },
  RefundAnswered: {
    orderId: SHOWN,
    refundId: SHOWN,
    answer: SHOWN,
    amountCents: SHOWN,
    currency: SHOWN,
    tries: SHOWN,
    reference: SHOWN,
    failure: { code: SHOWN, message: SHOWN },
    nextTryAt: SHOWN,
    keyTry: SHOWN,
    refundDueCents: SHOWN,
    sealedNote: HIDDEN,
    ...MARK,
  },
  RefundRecorded: {
    orderId: SHOWN,
    refundId: SHOWN,
    amountCents: SHOWN,
    refundDueCents: SHOWN,
    reference: SHOWN,
    reportReference: SHOWN,
    currency: SHOWN,
    provider: SHOWN,
    sameAs: SHOWN,
    isExecuted: SHOWN,
    paymentId: SHOWN,
    tries: SHOWN,
    sealedNote: HIDDEN,
    ...MARK,
  },
  StationAdded: {
    stationId: SHOWN,
    name: SHOWN,
    kind: SHOWN,
    performanceIds: SHOWN,
    doorIds: SHOWN,
    expiresAt: SHOWN,
    tokenSha256: HIDDEN,
    gateUrl: SHOWN,
    operator: SHOWN,
  },
  StationRevoked: { stationId: SHOWN, operator: SHOWN },
  TicketsScanned: { stationId: SHOWN, scans: SCAN },
  TicketScannedByHand: { orderId: SHOWN, scan: SCAN, sealedNote: HIDDEN, ...MARK },
  FeedTaken: {
    cursor: SHOWN,
    isAnew: SHOWN,
    more: SHOWN,
    includesUntil: SHOWN,
    head: {
      stationId: SHOWN,
      keys: { kty: SHOWN, crv: SHOWN, x: SHOWN, kid: SHOWN },
      performances: { id: SHOWN, status: SHOWN, expected: SHOWN },
    },
    changes: HIDDEN,
  },
  MailRequested: { orderId: SHOWN, by: SHOWN, operator: MARK.operator, language: SHOWN },
  OrderErased: { orderId: SHOWN, keyIds: HIDDEN, operator: SHOWN, cause: SHOWN },
} as const satisfies { readonly [Type in keyof FactData]: RulesFor<FactData[Type]> };

/** An object, or a list of objects, without the fields that its rules do not show; null stays null. */
export function shownFields(rules: FieldRules, data: unknown): unknown {
  if (Array.isArray(data)) return data.map((item) => shownFields(rules, item));
  if (typeof data !== 'object' || data === null) return data;
  const kept = Object.entries(data).flatMap(([field, value]) => {
    const rule = Object.hasOwn(rules, field) ? rules[field]! : HIDDEN;
    if (rule === HIDDEN) return [];
    return [[field, typeof rule === 'string' ? value : shownFields(rule, value)]];
  });
  return Object.fromEntries(kept);
}

/** A fact's data as operators are shown it. `labelOf` makes the label of a secret id. */
export function shownData(rules: FieldRules, data: unknown, labelOf: (id: string) => string): unknown {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return MASK;
  const shown: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(data)) {
    const rule = Object.hasOwn(rules, field) ? rules[field]! : HIDDEN;
    shown[field] = value === null ? null : shownValue(rule, value, labelOf);
  }
  return shown;
}

function shownValue(rule: FieldRule, value: unknown, labelOf: (id: string) => string): unknown {
  switch (rule) {
    case 'SHOWN':
      return isLeaf(value) || (Array.isArray(value) && value.every(isLeaf)) ? value : MASK;
    case 'WHOLE':
      return value;
    case 'HIDDEN':
      return MASK;
    case 'LABEL':
      if (typeof value === 'string') return labelOf(value);
      return Array.isArray(value) ? value.map((id) => (typeof id === 'string' ? labelOf(id) : MASK)) : MASK;
    default:
      return Array.isArray(value)
        ? value.map((item) => shownData(rule, item, labelOf))
        : shownData(rule, value, labelOf);
  }
}

function isLeaf(value: unknown): value is Leaf {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
