/**
 * One terminal command for each operation, by `operationId`. They work on the demo catalogue when they are run in this order.
 *
 * Ids from earlier answers are written as `$HOLD`, `$ENTRY`, `$ORDER`, `$SESSION` and `$TICKET`. A test runs all commands. The
 * liveness probe and the webhook, which a provider signs, have no example.
 */

const JSON_HEADER = `-H 'Content-Type: application/json'`;
const PUBLIC = 'http://127.0.0.1:8080';
const ADMIN = 'http://127.0.0.1:8081';
const TOKEN = `-H "Authorization: Bearer $ADMIN_TOKEN"`;

/** An address in quotes: double ones where the shell has to insert an id. */
const quoted = (address: string): string => (address.includes('$') ? `"${address}"` : `'${address}'`);
const get = (path: string): string => `curl -s ${quoted(PUBLIC + path)}`;
const post = (path: string, body: object): string =>
  `curl -s ${quoted(PUBLIC + path)} ${JSON_HEADER} \\\n  -d '${JSON.stringify(body)}'`;
const readAsOperator = (path: string): string => `curl -s ${quoted(ADMIN + path)} ${TOKEN}`;
const changeAsOperator = (path: string, body: object, method = 'POST'): string =>
  `curl -s${method === 'POST' ? '' : ` -X ${method}`} ${quoted(ADMIN + path)} ${TOKEN} \\\n  ${JSON_HEADER} -d '${JSON.stringify(body)}'`;

/** A request that only the owner of a hold or of a queue entry may make. */
const asOwner = (method: 'GET' | 'PATCH' | 'DELETE', path: string, sessionKey: string, body?: object): string =>
  [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} ${quoted(PUBLIC + path)} -H 'X-Session-Key: ${sessionKey}'`,
    ...(body === undefined ? [] : [`${JSON_HEADER} -d '${JSON.stringify(body)}'`]),
  ].join(' \\\n  ');

const glassOrchard = '/api/events/public/the-glass-orchard';
const ada = 'browser-of-ada';
const cem = 'browser-of-cem';
const singles = (quantity: number) => [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity }];

/** A small event with a waiting room that opens later. */
const lateShow = {
  id: 'evt_late',
  slug: 'late-show',
  name: 'Late Show',
  currency: 'EUR',
  waiting_room: true,
  waiting_room_opens_at: '2028-06-01T10:00:00Z',
  performances: [{ id: 'night', name: 'Night', starts_at: '2028-07-01T20:00:00Z', ends_at: '2028-07-01T23:00:00Z' }],
  localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 200 }],
  ticketTypes: [{ id: 'single', name: 'Single', locality_id: 'floor' }],
  sellingStages: [{ id: 'general', name: 'General sale', prices: { single: 2500 } }],
};

export const examples: Readonly<Record<string, string>> = {
  isReady: get('/health/ready'),
  defineEvent: changeAsOperator('/admin/events/evt_late', lateShow, 'PUT'),
  listEvents: get('/api/events/public'),
  getEvent: get('/api/events/public/erfurt-volley?performance_id=derby'),
  getSeating: get(`${glassOrchard}/seating`),
  getOccupancy: get(`${glassOrchard}/seating/occupancy?performance_id=premiere`),
  suggestSeats: post(`${glassOrchard}/seating/best-available`, {
    ticket_type_id: 'stalls',
    performance_id: 'premiere',
    count: 2,
  }),
  watchDate: `curl -sN '${PUBLIC}${glassOrchard}/live?performance_id=premiere'`,
  joinQueue: post('/api/checkout/queue', { event_id: 'evt_rush', session_key: cem }),
  pollQueue: asOwner('GET', '/api/checkout/queue/$ENTRY', cem),
  leaveQueue: asOwner('DELETE', '/api/checkout/queue/$ENTRY', cem),
  getDraw: get('/api/events/public/late-show/draw'),
  createHold: post('/api/checkout/holds', { event_id: 'evt_club', session_key: ada, items: singles(2) }),
  getHold: asOwner('GET', '/api/checkout/holds/$HOLD', ada),
  changeHold: asOwner('PATCH', '/api/checkout/holds/$HOLD', ada, { items: singles(3) }),
  releaseHold: asOwner('DELETE', '/api/checkout/holds/$HOLD', ada),
  startCheckout: post('/api/checkout/start', {
    event_id: 'evt_club',
    session_key: ada,
    items: singles(2),
    customer: { name: 'Ada Byron', email: 'ada@example.com' },
    accept_terms: true,
  }),
  openPayment: `curl -s -X POST "${PUBLIC}/api/checkout/orders/$ORDER/payments"`,
  settleSandboxSession: post('/sandbox/payments/$SESSION', { outcome: 'paid' }),
  getOrderStatus: get('/api/checkout/status/$ORDER'),
  getTicketKeys: get('/api/tickets/key'),
  listRevokedTickets: get('/api/tickets/revoked?event_id=evt_club'),
  breakSandboxDown: post('/sandbox/outage', { provider: 'provider_a', seconds: 1 }),
  advanceClock: post('/sandbox/clock', { advance_seconds: 60 }),
  readMetrics: `curl -s '${ADMIN}/metrics'`,
  getOverview: readAsOperator('/admin/overview'),
  listFacts: readAsOperator('/admin/journal?event_id=evt_club'),
  listAllEvents: readAsOperator('/admin/events'),
  getAnyEvent: readAsOperator('/admin/events/evt_club'),
  getAnySeating: readAsOperator('/admin/events/evt_theatre/seating'),
  getSeatStates: readAsOperator('/admin/events/evt_theatre/performances/premiere/seats'),
  changeSeats: changeAsOperator('/admin/events/evt_theatre/performances/premiere/seats', {
    seat_ids: ['stalls-F-1'],
    action: 'block',
    note: 'The lamp hangs low.',
  }),
  listOrders: readAsOperator('/admin/events/evt_club/orders?status=CONFIRMED'),
  getOrder: readAsOperator('/admin/orders/$ORDER'),
  getTicket: readAsOperator('/admin/tickets/$TICKET'),
  cancelOrder: changeAsOperator('/admin/orders/$ORDER/cancel', { note: 'Fell ill.' }),
  recordRefund: changeAsOperator('/admin/orders/$ORDER/refunds', { amount: 3800, note: 'By bank transfer.' }),
  cancelPerformance: changeAsOperator('/admin/events/evt_late/performances/night/cancel', { note: 'Storm.' }),
  takeSnapshot: changeAsOperator('/admin/snapshot', {}),
};
