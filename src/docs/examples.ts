/** Lines for a terminal, one operation each, that work on the demo catalogue; by `operationId`. */

const JSON_HEADER = `-H 'Content-Type: application/json'`;
const PUBLIC = 'http://127.0.0.1:8080';
const ADMIN = 'http://127.0.0.1:8081';
const TOKEN = `-H "Authorization: Bearer $ADMIN_TOKEN"`;

const get = (path: string): string => `curl -s '${PUBLIC}${path}'`;
const post = (path: string, body: object): string =>
  `curl -s ${PUBLIC}${path} ${JSON_HEADER} \\\n  -d '${JSON.stringify(body)}'`;
const readAsOperator = (path: string): string => `curl -s '${ADMIN}${path}' ${TOKEN}`;
const changeAsOperator = (path: string, body: object): string =>
  `curl -s ${ADMIN}${path} ${TOKEN} \\\n  ${JSON_HEADER} -d '${JSON.stringify(body)}'`;

const glassOrchard = '/api/events/public/the-glass-orchard';

export const examples: Readonly<Record<string, string>> = {
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
  createHold: post('/api/checkout/holds', {
    event_id: 'evt_club',
    session_key: 'browser-of-ada',
    items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 2 }],
  }),
  startCheckout: post('/api/checkout/start', {
    event_id: 'evt_club',
    session_key: 'browser-of-ada',
    items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 2 }],
    customer: { name: 'Ada Byron', email: 'ada@example.com' },
    accept_terms: true,
  }),
  joinQueue: post('/api/checkout/queue', { event_id: 'evt_rush', session_key: 'browser-of-cem' }),
  getTicketKey: get('/api/tickets/key'),
  isReady: get('/health/ready'),
  getOverview: readAsOperator('/admin/overview'),
  listAllEvents: readAsOperator('/admin/events'),
  getAnyEvent: readAsOperator('/admin/events/evt_club'),
  getSeatStates: readAsOperator('/admin/events/evt_theatre/performances/premiere/seats'),
  changeSeats: changeAsOperator('/admin/events/evt_theatre/performances/premiere/seats', {
    seat_ids: ['stalls-F-1'],
    action: 'block',
    note: 'The lamp hangs low.',
  }),
  listOrders: readAsOperator('/admin/events/evt_club/orders?status=CONFIRMED'),
  takeSnapshot: changeAsOperator('/admin/snapshot', {}),
};
