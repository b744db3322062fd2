/**
 * The examples of the public API, each under a key of its own; an operation may have several. Guides, operation pages,
 * the OpenAPI document and tests use these and no others.
 *
 * They work on the demo catalogue. The webhook, which a provider signs, has no example.
 */
import type { Example, Examples } from './example.ts';
import { operatorExamples } from './operator-examples.ts';

type Rest = Pick<Example, 'operation' | 'title' | 'noun'> & Partial<Example>;

const ask = (method: Example['method'], path: string, rest: Rest): Example => ({
  listener: 'public',
  answers: 'json',
  method,
  path,
  ...rest,
});
const get = (path: string, rest: Rest): Example => ask('GET', path, rest);
const post = (path: string, body: object, rest: Rest): Example => ask('POST', path, { ...rest, body });

const night = '/api/events/public/night-shift';
const glassOrchard = '/api/events/public/the-glass-orchard';
const ada = 'browser-of-ada';
const bob = 'browser-of-bob';
const cem = 'browser-of-cem';
const asAda = { headers: { 'X-Session-Key': ada } };
const asCem = { headers: { 'X-Session-Key': cem } };
const singles = (quantity: number) => [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity }];
const stalls = { ticket_type_id: 'stalls', performance_id: 'premiere' };

const publicExamples = {
  isLive: get('/health/live', { operation: 'isLive', title: 'Is the process alive?', noun: 'health' }),
  isReady: get('/health/ready', { operation: 'isReady', title: 'Can it answer?', noun: 'health' }),

  listEvents: get('/api/events/public', { operation: 'listEvents', title: 'What is on sale', noun: 'list' }),
  getEvent: get(night, { operation: 'getEvent', title: 'One event', noun: 'event' }),
  getEventDate: get('/api/events/public/erfurt-volley?performance_id=derby', {
    operation: 'getEvent',
    title: 'One date of an event with several',
    noun: 'event',
  }),

  getSeating: get(`${glassOrchard}/seating`, { operation: 'getSeating', title: 'The plan of a hall', noun: 'seating' }),
  getOccupancy: get(`${glassOrchard}/seating/occupancy?performance_id=premiere`, {
    operation: 'getOccupancy',
    title: 'All seats that are not free',
    noun: 'occupancy',
  }),
  getOccupancySince: get(`${glassOrchard}/seating/occupancy?performance_id=premiere&since=0`, {
    operation: 'getOccupancy',
    title: 'What changed since a version',
    noun: 'changes',
  }),
  suggestSeats: post(
    `${glassOrchard}/seating/best-available`,
    { ...stalls, count: 3 },
    { operation: 'suggestSeats', title: 'Three seats side by side', noun: 'suggestion' },
  ),
  watchDate: get(`${glassOrchard}/live?performance_id=premiere`, {
    operation: 'watchDate',
    title: 'Follow a date',
    noun: 'messages',
    answers: 'stream',
  }),

  joinQueue: post(
    '/api/checkout/queue',
    { event_id: 'evt_rush', session_key: cem },
    { operation: 'joinQueue', title: 'Join', noun: 'entry', gives: { ENTRY: ['id'] } },
  ),
  pollQueue: get('/api/checkout/queue/$ENTRY', { operation: 'pollQueue', title: 'Poll', noun: 'place', ...asCem }),
  leaveQueue: ask('DELETE', '/api/checkout/queue/$ENTRY', {
    operation: 'leaveQueue',
    title: 'Leave',
    noun: 'left',
    ...asCem,
  }),
  getDraw: get('/api/events/public/new-year-at-the-harbour/draw', {
    operation: 'getDraw',
    title: 'The commitment before the draw',
    noun: 'draw',
  }),

  createHold: post(
    '/api/checkout/holds',
    { event_id: 'evt_club', session_key: ada, items: singles(2) },
    { operation: 'createHold', title: 'Two tickets', noun: 'hold', gives: { HOLD: ['id'] } },
  ),
  holdSeats: post(
    '/api/checkout/holds',
    {
      event_id: 'evt_theatre',
      session_key: bob,
      items: [{ ...stalls, selling_stage_id: 'general', quantity: 2, seat_ids: ['stalls-H-10', 'stalls-H-11'] }],
    },
    { operation: 'createHold', title: 'Two seats by their names', noun: 'seats' },
  ),
  holdWithPass: post(
    '/api/checkout/holds',
    {
      event_id: 'evt_rush',
      session_key: cem,
      queue_pass: '$ENTRY',
      items: [{ ticket_type_id: 'field', selling_stage_id: 'general', quantity: 2 }],
    },
    { operation: 'createHold', title: 'With the pass of a waiting room', noun: 'admitted' },
  ),
  getHold: get('/api/checkout/holds/$HOLD', { operation: 'getHold', title: 'Read it', noun: 'held', ...asAda }),
  changeHold: ask('PATCH', '/api/checkout/holds/$HOLD', {
    operation: 'changeHold',
    title: 'Three tickets instead',
    noun: 'changed',
    body: { items: singles(3) },
    ...asAda,
  }),
  releaseHold: ask('DELETE', '/api/checkout/holds/$HOLD', {
    operation: 'releaseHold',
    title: 'Give it back',
    noun: 'released',
    ...asAda,
  }),

  quoteCheckout: post(
    '/api/checkout/quote',
    { event_id: 'evt_club', session_key: ada, hold_id: '$HOLD', promo_code: 'NIGHTOWL' },
    { operation: 'quoteCheckout', title: 'What a hold costs with a code', noun: 'quote' },
  ),
  startCheckout: post(
    '/api/checkout/start',
    {
      event_id: 'evt_club',
      hold_id: '$HOLD',
      session_key: ada,
      customer: { name: 'Ada Byron', email: 'ada@example.com' },
      accept_terms: true,
    },
    {
      operation: 'startCheckout',
      title: 'Check a hold out',
      noun: 'order',
      gives: { ORDER: ['order_id'], SESSION: ['checkout_session_id'] },
    },
  ),
  startWithoutHold: post(
    '/api/checkout/start',
    {
      event_id: 'evt_erfurt',
      items: [{ ticket_type_id: 'kat1', selling_stage_id: 'general', performance_id: 'derby', quantity: 2 }],
      customer: { name: 'Cem Aydin', email: 'cem@example.com' },
      accept_terms: true,
    },
    { operation: 'startCheckout', title: 'Without a hold', noun: 'direct' },
  ),
  openPayment: ask('POST', '/api/checkout/orders/$ORDER/payments', {
    operation: 'openPayment',
    title: 'Another try to pay',
    noun: 'payment',
  }),
  settleSandboxSession: post(
    '/sandbox/payments/$SESSION',
    { outcome: 'paid' },
    { operation: 'settleSandboxSession', title: 'Pay', noun: 'settled' },
  ),
  getOrderStatus: get('/api/checkout/status/$ORDER', {
    operation: 'getOrderStatus',
    title: 'A paid order with its tickets',
    noun: 'paid',
    gives: { TICKET: ['tickets', 0] },
    after: 'settleSandboxSession',
  }),
  recordScans: post(
    '/api/doors/scans',
    {
      scans: [
        {
          id: 'c2Nhbi1vZi1hLWNhcmQ',
          kind: 'ENTRY',
          code: 'BEGIN:VCARD',
          performance_id: 'night',
          door_id: 'main',
          at: '2028-09-23T20:45:00Z',
          given: null,
        },
      ],
    },
    {
      operation: 'recordScans',
      title: 'A business card that is no ticket',
      noun: 'scanned',
      headers: { Authorization: 'Bearer $STATION_TOKEN' },
    },
  ),
  syncStation: get('/api/doors/sync?queued=0&version=1.0.0', {
    operation: 'syncStation',
    title: 'What a station needs without a network',
    noun: 'feed',
    headers: { Authorization: 'Bearer $STATION_TOKEN' },
  }),
  quoteOwnAmendment: post(
    '/api/checkout/orders/$ORDER/amendments/quote',
    { cancel: ['$TICKET'] },
    {
      operation: 'quoteOwnAmendment',
      title: 'What a ticket that is given back brings',
      noun: 'quoted',
      gives: { QUOTE: ['quote'] },
    },
  ),
  amendOwnOrder: post(
    '/api/checkout/orders/$ORDER/amendments',
    { cancel: ['$TICKET'], quote: '$QUOTE' },
    {
      operation: 'amendOwnOrder',
      title: 'Give it back, as it was quoted',
      noun: 'amendment',
      gives: { AMENDMENT: ['id'] },
    },
  ),
  quoteReissue: post(
    '/api/checkout/orders/$ORDER/amendments/quote',
    { reissue: ['$TICKET'] },
    {
      operation: 'quoteOwnAmendment',
      title: 'What a new code for a ticket costs',
      noun: 'reissue',
      gives: { REISSUE_QUOTE: ['quote'] },
    },
  ),
  requestReissue: post(
    '/api/checkout/orders/$ORDER/amendments',
    { reissue: ['$TICKET'], quote: '$REISSUE_QUOTE', success_url: 'https://shop.example/thanks?order={ORDER_ID}' },
    {
      operation: 'amendOwnOrder',
      title: 'Have it made once it is paid',
      noun: 'pending',
      gives: { PENDING: ['id'] },
    },
  ),
  cancelOwnAmendment: ask('DELETE', '/api/checkout/orders/$ORDER/amendments/$PENDING', {
    operation: 'cancelOwnAmendment',
    title: 'Withdraw a change before it is paid',
    noun: 'withdrawn',
  }),
  getOwnAmendment: get('/api/checkout/orders/$ORDER/amendments/$AMENDMENT', {
    operation: 'getOwnAmendment',
    title: 'One change of an order',
    noun: 'amendment',
  }),

  getTicketKeys: get('/api/tickets/key', { operation: 'getTicketKeys', title: 'The public keys', noun: 'keys' }),
  listRevokedTickets: get('/api/tickets/revoked?event_id=evt_club', {
    operation: 'listRevokedTickets',
    title: 'The void tickets of an event',
    noun: 'revoked',
  }),

  refuseSandboxRefund: post(
    '/sandbox/refunds',
    { next: 'refused', times: 1 },
    { operation: 'chooseSandboxRefunds', title: 'The next refund is refused', noun: 'chosen' },
  ),
  chooseSandboxRefunds: post(
    '/sandbox/refunds',
    { next: 'pending', times: 1 },
    { operation: 'chooseSandboxRefunds', title: 'The next refund stays pending', noun: 'chosen' },
  ),
  settleSandboxRefund: post(
    '/sandbox/refunds/$REFERENCE',
    { outcome: 'succeeded' },
    {
      operation: 'settleSandboxRefund',
      title: 'A pending refund succeeds',
      noun: 'settled',
      needs:
        'It needs a refund that is pending: have the next one stay pending, then give money back for a paid order.',
    },
  ),
  listSandboxRefunds: get('/sandbox/refunds', {
    operation: 'listSandboxRefunds',
    title: 'What the sandbox gave back',
    noun: 'given',
    gives: { REFERENCE: ['refunds', 0, 'reference'] },
  }),
  breakSandboxDown: post(
    '/sandbox/outage',
    { provider: 'provider_a', seconds: 1 },
    { operation: 'breakSandboxDown', title: 'A provider that does not answer for a second', noun: 'outage' },
  ),
  advanceClock: post(
    '/sandbox/clock',
    { advance_seconds: 60 },
    { operation: 'advanceClock', title: 'A minute later', noun: 'clock' },
  ),
} satisfies Examples;

/** A request that is refused, for what the reference says about errors. It is sent after `holdSeats`. */
export const refusedExample: Example = post(
  '/api/checkout/holds',
  {
    event_id: 'evt_theatre',
    session_key: cem,
    items: [{ ...stalls, selling_stage_id: 'general', quantity: 2, seat_ids: ['stalls-H-11', 'stalls-H-12'] }],
  },
  { operation: 'createHold', title: 'A seat that somebody else has', noun: 'refused', after: 'holdSeats' },
);

export type ExampleKey = keyof typeof publicExamples | keyof typeof operatorExamples;

/** Every example, in an order in which all can be sent: those of buyers, then those of operators. */
export const examples: Readonly<Record<ExampleKey, Example>> = { ...publicExamples, ...operatorExamples };
