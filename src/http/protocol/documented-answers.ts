/**
 * The answers of the OpenAPI document: what each operation answers with, and the codes with which it may refuse.
 *
 * 1. Every operation is in `ANSWERS`. `test/http/document.test.ts` holds both to each other, and scenarios and fuzzing
 *    hold each refused answer against the codes.
 * 2. Refusals that any operation may have, for the form or the number of its requests, are added here and not written
 *    at each.
 */
import { ERRORS, type ErrorCode } from './errors.ts';

interface Answer {
  readonly answer: string;
  readonly codes?: readonly ErrorCode[];
}

const OFFER = [
  'PERFORMANCE_NOT_FOUND',
  'PERFORMANCE_NOT_ON_SALE',
  'TICKET_TYPE_NOT_FOUND',
  'SELLING_STAGE_NOT_FOUND',
  'TICKET_NOT_ON_SALE',
] as const;
const STOCK = [
  'SEAT_COUNT_MISMATCH',
  'SEAT_NOT_IN_TICKET_TYPE',
  'SEAT_NOT_SELLABLE',
  'SEAT_TAKEN',
  'INSUFFICIENT_TICKETS',
] as const;
const AMENDMENT = [
  'ORDER_NOT_FOUND',
  'ORDER_NOT_AMENDABLE',
  'AMENDMENT_PENDING',
  'TICKET_NOT_FOUND',
  'TICKET_VOID',
  'UNIT_INCOMPLETE',
  'TICKET_ADMITTED',
  ...OFFER,
  'ORDER_ERASED',
  ...STOCK,
] as const;
const OWN_AMENDMENT = [
  ...AMENDMENT,
  'AMENDMENT_NOT_ALLOWED',
  'MAX_PER_ORDER_EXCEEDED',
  'MAX_TICKETS_PER_ORDER_EXCEEDED',
] as const;
const CANCELLED_AMENDMENT = ['ORDER_NOT_FOUND', 'NOT_FOUND', 'AMENDMENT_NOT_PENDING'] as const;
const DATE = ['EVENT_NOT_FOUND', 'PERFORMANCE_NOT_FOUND'] as const;
const CHOSEN_DATE = [...DATE, 'PERFORMANCE_REQUIRED'] as const;
const LINES = [
  'PERFORMANCE_REQUIRED',
  ...OFFER,
  'MAX_PER_ORDER_EXCEEDED',
  'MAX_TICKETS_PER_ORDER_EXCEEDED',
  ...STOCK,
] as const;
const PASS = ['QUEUE_PASS_REQUIRED', 'QUEUE_PASS_INVALID'] as const;
const LIVE_HOLD = ['HOLD_NOT_FOUND', 'HOLD_EXPIRED', 'HOLD_NOT_ACTIVE'] as const;
const CODES = ['PROMO_CODE_INVALID', 'PROMO_CODE_EXHAUSTED'] as const;
const EXTRAS = [
  'MAX_TICKETS_PER_EMAIL_EXCEEDED',
  'ATTENDEE_COUNT_MISMATCH',
  ...CODES,
  'BAR_PERK_NOT_FOUND',
  'BAR_PERK_LIMIT_EXCEEDED',
  'BAR_PERK_SOLD_OUT',
] as const;

const ANSWERS: Readonly<Record<string, Answer>> = {
  listEvents: { answer: 'The events of the page.' },
  getEvent: { answer: 'The event.', codes: DATE },
  watchDate: {
    answer: 'A stream of events: `snapshot` first, then `change`.',
    codes: [...CHOSEN_DATE, 'RATE_LIMITED'],
  },
  getSeating: { answer: 'The layout.', codes: ['EVENT_NOT_FOUND'] },
  getOccupancy: { answer: 'The seats that are not free, or the changes.', codes: CHOSEN_DATE },
  suggestSeats: {
    answer: 'The seats; none where no block is free.',
    codes: [...CHOSEN_DATE, 'PERFORMANCE_NOT_ON_SALE', 'TICKET_TYPE_NOT_FOUND', 'SEATING_NOT_ENABLED'],
  },
  createHold: { answer: 'The new hold.', codes: ['EVENT_NOT_FOUND', 'SALE_PAUSED', ...PASS, ...LINES] },
  getHold: { answer: 'The hold.', codes: ['HOLD_NOT_FOUND'] },
  changeHold: { answer: 'The changed hold.', codes: [...LIVE_HOLD, 'SALE_PAUSED', ...LINES] },
  releaseHold: { answer: 'The released hold.', codes: ['HOLD_NOT_FOUND', 'HOLD_NOT_ACTIVE'] },
  joinQueue: { answer: 'The place in line.', codes: ['EVENT_NOT_FOUND', 'QUEUE_NOT_ENABLED', 'SALE_PAUSED'] },
  pollQueue: { answer: 'The place in line, or the pass.', codes: ['QUEUE_ENTRY_NOT_FOUND'] },
  leaveQueue: { answer: 'The entry that was left.', codes: ['QUEUE_ENTRY_NOT_FOUND'] },
  getDraw: { answer: 'The draw with its proof.', codes: ['EVENT_NOT_FOUND', 'NOT_FOUND'] },
  startCheckout: {
    answer: 'The order, and where it is paid.',
    codes: [
      'EVENT_NOT_FOUND',
      'TERMS_NOT_ACCEPTED',
      'SALE_PAUSED',
      ...LIVE_HOLD,
      'HOLD_ITEMS_MISMATCH',
      ...PASS,
      ...LINES,
      'INSTALLMENTS_NOT_ALLOWED',
      ...EXTRAS,
      'RATE_LIMITED',
      'PAYMENT_PROVIDER_UNAVAILABLE',
    ],
  },
  quoteCheckout: { answer: 'The price.', codes: ['EVENT_NOT_FOUND', ...LIVE_HOLD, ...CODES, 'RATE_LIMITED'] },
  openPayment: {
    answer: 'The order, and where it is paid.',
    codes: ['ORDER_NOT_FOUND', 'ORDER_NOT_PAYABLE', 'PAYMENT_PROVIDER_UNAVAILABLE'],
  },
  getOrderStatus: { answer: 'The order as it stands.', codes: ['ORDER_NOT_FOUND'] },
  receivePaymentWebhook: {
    answer: 'The report was taken; send it no more.',
    codes: ['UNAUTHORIZED', 'NOT_FOUND', 'ORDER_NOT_FOUND'],
  },
  getTicketKeys: { answer: 'The keys.' },
  listRevokedTickets: { answer: 'The ids of the page.', codes: DATE },
  syncStation: { answer: 'What changed.', codes: ['STATION_REVOKED'] },
  recordScans: {
    answer: 'What became of each scan.',
    codes: ['STATION_REVOKED', 'STATION_NOT_ALLOWED'],
  },
  settleSandboxSession: {
    answer: 'The order as it stands then.',
    codes: ['NOT_FOUND', 'ORDER_NOT_FOUND', 'PAYMENT_PROVIDER_UNAVAILABLE'],
  },
  chooseSandboxRefunds: { answer: 'What the next refunds come to.' },
  listSandboxRefunds: { answer: 'The refunds.' },
  settleSandboxRefund: { answer: 'The refund.', codes: ['NOT_FOUND', 'ORDER_NOT_FOUND'] },
  breakSandboxDown: { answer: 'The outages and their ends.' },
  advanceClock: { answer: 'The time of the service now.' },
  isLive: { answer: 'It lives.' },
  isReady: { answer: 'It is ready.' },
  readMetrics: { answer: 'The metrics.' },
  defineEvent: { answer: 'The version of the definition.', codes: ['UPDATE_CONFLICT'] },
  listAllEvents: { answer: 'The events of the page.' },
  getAnyEvent: { answer: 'The event.', codes: ['EVENT_NOT_FOUND'] },
  forecastCancellation: { answer: 'What would be cancelled.', codes: DATE },
  cancelPerformance: { answer: 'What was cancelled.', codes: DATE },
  steerSale: { answer: 'What is set now.', codes: ['EVENT_NOT_FOUND'] },
  changeSeats: { answer: 'The seats that changed.', codes: [...DATE, 'SEAT_TAKEN'] },
  getAnySeating: { answer: 'The layout.', codes: ['EVENT_NOT_FOUND'] },
  getSeatStates: { answer: 'The seats that are not free, or the changes.', codes: DATE },
  sellAtCounter: { answer: 'The order with its tickets.', codes: ['EVENT_NOT_FOUND', ...LINES, ...EXTRAS] },
  listAttendees: { answer: 'The tickets.', codes: DATE },
  listOrders: { answer: 'The orders of the page.', codes: ['EVENT_NOT_FOUND'] },
  getOrder: { answer: 'The order.', codes: ['ORDER_NOT_FOUND'] },
  cancelOrder: { answer: 'The cancelled order.', codes: ['ORDER_NOT_FOUND', 'ORDER_NOT_CANCELLABLE'] },
  quoteOwnAmendment: { answer: 'What it would do.', codes: OWN_AMENDMENT },
  amendOwnOrder: { answer: 'The amendment.', codes: [...OWN_AMENDMENT, 'QUOTE_STALE', 'PAYMENT_PROVIDER_UNAVAILABLE'] },
  cancelOwnAmendment: { answer: 'The amendment.', codes: CANCELLED_AMENDMENT },
  getOwnAmendment: { answer: 'The amendment.', codes: ['ORDER_NOT_FOUND', 'NOT_FOUND'] },
  quoteAmendment: { answer: 'What it would do.', codes: AMENDMENT },
  amendOrder: { answer: 'The amendment.', codes: [...AMENDMENT, 'QUOTE_STALE', 'PAYMENT_PROVIDER_UNAVAILABLE'] },
  cancelAmendment: { answer: 'The amendment.', codes: CANCELLED_AMENDMENT },
  getAmendment: { answer: 'The amendment.', codes: ['ORDER_NOT_FOUND', 'NOT_FOUND'] },
  recordRefund: { answer: 'The order with the refund.', codes: ['ORDER_NOT_FOUND', 'NOT_FOUND', 'REFUND_TOO_HIGH'] },
  listRefunds: { answer: 'The refunds of the page, and the sums.', codes: ['EVENT_NOT_FOUND'] },
  executeDueRefunds: {
    answer: 'The sums before it begins.',
    codes: ['EVENT_NOT_FOUND', 'PERFORMANCE_NOT_FOUND', 'REFUND_SUM_CHANGED'],
  },
  resolveRefund: {
    answer: 'The order with the refund.',
    codes: ['ORDER_NOT_FOUND', 'NOT_FOUND', 'REFUND_NOT_OPEN', 'REFUND_TOO_HIGH'],
  },
  eraseOrder: {
    answer: 'The order without personal data.',
    codes: ['ORDER_NOT_FOUND', 'ORDER_NOT_ERASABLE', 'ORDER_NOT_SEALED'],
  },
  mailOrder: {
    answer: 'The order.',
    codes: ['ORDER_NOT_FOUND', 'MAIL_OFF', 'ORDER_NOT_MAILABLE', 'ORDER_ERASED'],
  },
  addStation: { answer: 'The station with its token.', codes: ['EVENT_NOT_FOUND', 'STATION_LIMIT_EXCEEDED'] },
  listStations: { answer: 'The stations.', codes: ['EVENT_NOT_FOUND'] },
  revokeStation: { answer: 'The station.', codes: ['EVENT_NOT_FOUND', 'NOT_FOUND'] },
  readDoors: { answer: 'The counts.', codes: DATE },
  listScanConflicts: { answer: 'The conflicts of the page.', codes: ['EVENT_NOT_FOUND'] },
  getTicket: { answer: 'The ticket.', codes: ['NOT_FOUND'] },
  scanTicket: { answer: 'What became of it.', codes: ['NOT_FOUND'] },
  searchOrders: { answer: 'The orders that were found.' },
  readSubject: { answer: 'What is kept about the person.' },
  getSaleByMinute: { answer: 'The steps of the range.', codes: ['EVENT_NOT_FOUND'] },
  getHistory: { answer: 'The minutes of the range.' },
  listMoney: { answer: 'The sums of the page.' },
  getMoney: { answer: 'The sums.', codes: ['EVENT_NOT_FOUND'] },
  takeSnapshot: { answer: 'What was written.' },
  getOverview: { answer: 'The overview.' },
  getCluster: { answer: 'The cluster as this node sees it.' },
  listFacts: { answer: 'The facts of the page.', codes: ['EVENT_NOT_FOUND', 'ORDER_NOT_FOUND'] },
};

/** The codes of an operation's refusals, without those for the form of a request; none where it has no name. */
export function codesOf(operationId: string | undefined): readonly ErrorCode[] {
  return ANSWERS[operationId ?? '']?.codes ?? [];
}

/** What an operation takes, as far as refusals depend on it. */
interface Taken {
  readonly operationId?: string;
  readonly requestBody?: object;
  readonly security?: readonly object[];
  readonly responses?: Readonly<Record<string, object>>;
}

/** The operation with its answers and refusals (rule 2). */
export function withAnswers<Operation extends Taken>(
  operation: Operation,
  { method, isRepeatable }: { readonly method: string; readonly isRepeatable: boolean },
): Operation {
  const { operationId = '', requestBody, security = [], responses = {} } = operation;
  const ofForm: readonly ErrorCode[] = [
    'VALIDATION_ERROR',
    ...(security.length > 0 ? (['UNAUTHORIZED', 'RATE_LIMITED'] as const) : []),
    ...(method === 'get' ? [] : (['RATE_LIMITED'] as const)),
    ...(requestBody === undefined ? [] : (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const)),
    ...(isRepeatable ? (['IDEMPOTENCY_KEY_REUSED'] as const) : []),
    'REQUEST_TIMEOUT',
    'HEADERS_TOO_LARGE',
    'INTERNAL',
    'OVERLOADED',
  ];
  const codes = [...new Set([...codesOf(operationId), ...ofForm])];
  const own = Object.entries(responses)
    .filter(([status]) => !/^[45]XX$/i.test(status))
    .map(([status, response]) => {
      const { description } = response as { readonly description?: string };
      const isNamed = description !== undefined && description !== 'Default Response';
      return [status, isNamed ? response : { ...response, description: ANSWERS[operationId]?.answer ?? '' }];
    });
  return {
    ...operation,
    responses: {
      ...Object.fromEntries(own),
      '4XX': refusals('The request was refused, and changed nothing', codes, 4),
      '5XX': refusals('The service could not answer', codes, 5),
    },
  };
}

function refusals(what: string, codes: readonly ErrorCode[], statusClass: 4 | 5) {
  const own = codes.filter((code) => Math.floor(ERRORS[code].status / 100) === statusClass);
  const byStatus = own.toSorted((one, other) => ERRORS[one].status - ERRORS[other].status);
  const list = byStatus.map((code) => `${ERRORS[code].status} \`${code}\``).join(', ');
  const schema = {
    allOf: [{ $ref: '#/components/schemas/ErrorBody' }, { properties: { code: { type: 'string', enum: byStatus } } }],
  };
  return { description: `${what}: ${list}.`, content: { 'application/json': { schema } } };
}
