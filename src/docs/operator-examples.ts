/** The examples of the operators' API. `$ADMIN_TOKEN` is the bearer token, which no example gives. */
import type { Example, Examples } from './example.ts';

type Rest = Pick<Example, 'operation' | 'title' | 'noun'> & Partial<Example>;

const bearer = { Authorization: 'Bearer $ADMIN_TOKEN' };
const ask = (method: Example['method'], path: string, rest: Rest): Example => ({
  listener: 'admin',
  answers: 'json',
  method,
  path,
  headers: bearer,
  ...rest,
});
const get = (path: string, rest: Rest): Example => ask('GET', path, rest);
const post = (path: string, body: object, rest: Rest): Example => ask('POST', path, { ...rest, body });

const theatre = '/admin/events/evt_theatre';
const PAID_ORDER = 'It needs a paid order: buy a ticket of Night Shift in the demo shop first.';

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

export const operatorExamples = {
  readMetrics: {
    operation: 'readMetrics',
    title: 'Figures for Prometheus',
    listener: 'admin',
    method: 'GET',
    path: '/metrics',
    answers: 'text',
    noun: 'metrics',
  },
  defineEvent: ask('PUT', '/admin/events/evt_late', {
    operation: 'defineEvent',
    title: 'A small event with a waiting room',
    noun: 'defined',
    body: lateShow,
  }),
  getAnyEvent: get('/admin/events/evt_club', { operation: 'getAnyEvent', title: 'One event', noun: 'event' }),
  listAllEvents: get('/admin/events', { operation: 'listAllEvents', title: 'Every event', noun: 'all' }),
  getAnySeating: get(`${theatre}/seating`, {
    operation: 'getAnySeating',
    title: 'The plan of a hall',
    noun: 'seating',
  }),
  getSeatStates: get(`${theatre}/performances/premiere/seats`, {
    operation: 'getSeatStates',
    title: 'The seats of a date',
    noun: 'seats',
  }),
  changeSeats: post(
    `${theatre}/performances/premiere/seats`,
    { seat_ids: ['stalls-F-1'], action: 'block', note: 'The lamp hangs low.' },
    { operation: 'changeSeats', title: 'Take a seat off sale', noun: 'blocked' },
  ),
  steerSale: ask('PUT', '/admin/events/evt_rush/steering', {
    operation: 'steerSale',
    title: 'Admit more people in a minute, and tell those who wait',
    noun: 'steering',
    body: { waiting_room_rate: 120, message: 'The hall holds more than we thought: it goes faster now.' },
  }),
  sellAtCounter: post(
    '/admin/events/evt_club/orders',
    {
      items: [{ ticket_type_id: 'single', selling_stage_id: 'early', quantity: 2 }],
      customer: { name: 'Grace Hopper', email: 'grace@example.com' },
      payment: 'CASH',
      note: 'At the counter.',
    },
    { operation: 'sellAtCounter', title: 'Two tickets sold at the counter', noun: 'sold' },
  ),
  listOrders: get('/admin/events/evt_club/orders?status=CONFIRMED', {
    operation: 'listOrders',
    title: 'The paid orders of an event',
    noun: 'orders',
    gives: { ORDER: ['orders', 0, 'order_id'] },
  }),
  getOrder: get('/admin/orders/$ORDER', {
    operation: 'getOrder',
    title: 'One order',
    noun: 'order',
    gives: { TICKET: ['tickets', 0] },
    needs: PAID_ORDER,
  }),
  scanTicket: post(
    '/admin/tickets/$TICKET/scans',
    { kind: 'ENTRY', door_id: 'main', note: 'The phone had no light.' },
    { operation: 'scanTicket', title: 'A ticket let in by hand', noun: 'scan', needs: PAID_ORDER },
  ),
  getTicket: get('/admin/tickets/$TICKET', {
    operation: 'getTicket',
    title: 'One ticket',
    noun: 'ticket',
    needs: PAID_ORDER,
  }),
  addStation: post(
    '/admin/events/evt_club/stations',
    { name: 'North 1', door_ids: ['main'] },
    {
      operation: 'addStation',
      title: 'A phone that scans at the entrance',
      noun: 'station',
      gives: { STATION: ['id'] },
    },
  ),
  listStations: get('/admin/events/evt_club/stations', {
    operation: 'listStations',
    title: 'The stations of an event',
    noun: 'stations',
    after: 'addStation',
  }),
  revokeStation: ask('POST', '/admin/events/evt_club/stations/$STATION/revoke', {
    operation: 'revokeStation',
    title: 'A phone that was lost',
    noun: 'revoked',
  }),
  listAttendees: get('/admin/events/evt_club/attendees', {
    operation: 'listAttendees',
    title: 'Who may come to an event',
    noun: 'attendees',
    needs: PAID_ORDER,
  }),
  readDoors: get('/admin/events/evt_club/doors?performance_id=night', {
    operation: 'readDoors',
    title: 'Who came to a date',
    noun: 'doors',
  }),
  listScanConflicts: get('/admin/events/evt_club/doors/conflicts', {
    operation: 'listScanConflicts',
    title: 'Tickets that entered and should not have',
    noun: 'conflicts',
  }),
  readSubject: get('/admin/subject?email=ada@example.com', {
    operation: 'readSubject',
    title: 'All that is kept about one person',
    noun: 'subject',
  }),
  quoteAmendment: post(
    '/admin/orders/$ORDER/amendments/quote',
    { cancel: ['$TICKET'], fee: 250 },
    {
      operation: 'quoteAmendment',
      title: 'What cancelling a ticket would give back',
      noun: 'quote',
      gives: { QUOTE: ['quote'] },
      needs: PAID_ORDER,
    },
  ),
  amendOrder: post(
    '/admin/orders/$ORDER/amendments',
    { cancel: ['$TICKET'], fee: 250, quote: '$QUOTE', note: 'Fell ill.' },
    {
      operation: 'amendOrder',
      title: 'Cancel the ticket, as it was quoted',
      noun: 'amendment',
      gives: { AMENDMENT: ['id'] },
      needs: PAID_ORDER,
    },
  ),
  chargeAmendment: post(
    '/admin/orders/$ORDER/amendments',
    { reissue: ['$TICKET'], fee: 250, note: 'Lost it.' },
    {
      operation: 'amendOrder',
      title: 'A new code for a fee, which the buyer pays first',
      noun: 'pending',
      gives: { PENDING: ['id'] },
      needs: PAID_ORDER,
    },
  ),
  cancelAmendment: ask('DELETE', '/admin/orders/$ORDER/amendments/$PENDING', {
    operation: 'cancelAmendment',
    title: 'Withdraw it before it is paid',
    noun: 'withdrawn',
    needs: PAID_ORDER,
  }),
  getAmendment: get('/admin/orders/$ORDER/amendments/$AMENDMENT', {
    operation: 'getAmendment',
    title: 'One amendment',
    noun: 'amendment',
    needs: PAID_ORDER,
  }),
  mailOrder: ask('POST', '/admin/orders/$ORDER/mail', {
    operation: 'mailOrder',
    title: 'Mail a buyer the link to the order again',
    noun: 'mailed',
    needs: `${PAID_ORDER} And it needs SMTP_URL.`,
  }),
  cancelOrder: post(
    '/admin/orders/$ORDER/cancel',
    { note: 'Fell ill.' },
    { operation: 'cancelOrder', title: 'Cancel an order', noun: 'cancelled', needs: PAID_ORDER },
  ),
  recordRefund: post(
    '/admin/orders/$ORDER/refunds',
    { amount: 500, note: 'By bank transfer.' },
    { operation: 'recordRefund', title: 'Note the money that was given back', noun: 'refunded', needs: PAID_ORDER },
  ),
  executeRefund: post(
    '/admin/orders/$ORDER/refunds',
    { execute: true, amount: 100 },
    { operation: 'recordRefund', title: 'Give a euro back at the provider', noun: 'asked', needs: PAID_ORDER },
  ),
  listRefunds: get('/admin/events/evt_club/refunds?limit=5', {
    operation: 'listRefunds',
    title: 'The refunds of an event',
    noun: 'refunds',
  }),
  listOpenRefunds: get('/admin/events/evt_club/refunds?status=NEEDS_OPERATOR', {
    operation: 'listRefunds',
    title: 'Those that need an operator',
    noun: 'open',
    gives: { REFUND: ['refunds', 0, 'id'], REFUND_ORDER: ['refunds', 0, 'order_id'] },
  }),
  resolveRefund: post(
    '/admin/orders/$REFUND_ORDER/refunds/$REFUND/resolve',
    { outcome: 'GIVEN_BACK', reference: 'transfer 17', note: 'By bank transfer.' },
    {
      operation: 'resolveRefund',
      title: 'A refund that was refused, given back by a transfer',
      noun: 'resolved',
      needs: 'It needs a refund that was refused: have the sandbox refuse the next one, then give money back.',
    },
  ),
  executeDueRefunds: post(
    '/admin/events/evt_late/refunds',
    { confirm: [] },
    {
      operation: 'executeDueRefunds',
      title: 'Have everything given back that is due: here nothing',
      noun: 'executing',
      after: 'defineEvent',
    },
  ),
  eraseOrder: ask('POST', '/admin/orders/$ORDER/erase', {
    operation: 'eraseOrder',
    title: 'Erase what an order says about people',
    noun: 'erased',
    after: 'cancelOrder',
    needs: PAID_ORDER,
  }),
  forecastCancellation: get('/admin/events/evt_late/performances/night/cancellation', {
    operation: 'forecastCancellation',
    title: 'What cancelling a date would do',
    noun: 'forecast',
    after: 'defineEvent',
  }),
  cancelPerformance: post(
    '/admin/events/evt_late/performances/night/cancel',
    { orders: 'TICKETS', refunds: 'EXECUTE', note: 'Storm.' },
    { operation: 'cancelPerformance', title: 'Cancel a date', noun: 'stopped', after: 'defineEvent' },
  ),
  getOverview: get('/admin/overview', {
    operation: 'getOverview',
    title: 'The figures of the console',
    noun: 'overview',
  }),
  listMoney: get('/admin/money', { operation: 'listMoney', title: 'The money of every event', noun: 'money' }),
  getMoney: get('/admin/events/evt_club/money', {
    operation: 'getMoney',
    title: 'The money of an event by the hour',
    noun: 'hours',
  }),
  getSaleByMinute: get('/admin/events/evt_club/sale?step=1440', {
    operation: 'getSaleByMinute',
    title: 'Tickets, money and the line of an event over time',
    noun: 'sale',
  }),
  getHistory: get('/admin/history?from=2027-05-08T12:00:00Z', {
    operation: 'getHistory',
    title: 'Latency, refusals and fsync of the last hours',
    noun: 'history',
  }),
  searchOrders: get('/admin/search?q=ada', { operation: 'searchOrders', title: 'Orders by a name', noun: 'found' }),
  listFacts: get('/admin/journal?event_id=evt_club', {
    operation: 'listFacts',
    title: 'The newest facts of an event',
    noun: 'journal',
  }),
  getCluster: get('/admin/cluster', {
    operation: 'getCluster',
    title: 'Nodes and shards',
    noun: 'cluster',
    needs: 'It needs a cluster; a single machine does not have this operation.',
  }),
  takeSnapshot: post('/admin/snapshot', {}, { operation: 'takeSnapshot', title: 'Take snapshots', noun: 'snapshots' }),
} satisfies Examples;
