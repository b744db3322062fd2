/** Caching: no answer may be stored unless it is the same for all clients; Vary names what it differs by. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ADMIN_TOKEN, clubHold, openApps, type Apps } from './apps.ts';

interface Personal {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly payload?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const KEY = { 'x-session-key': 'session-one' };
const event = '/api/events/public/night-shift';

describe('An answer that may not be stored', () => {
  let apps: Apps;
  let orderId = '';
  let holdId = '';
  let sessionId = '';
  before(async () => {
    apps = await openApps();
    const post = async (url: string, payload: object) =>
      (await apps.app.inject({ method: 'POST', url, payload })).json<Record<string, string>>();
    const started = await post('/api/checkout/start', {
      event_id: 'evt_club',
      items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 1 }],
      customer: { name: 'Ada', email: 'ada@example.org' },
      accept_terms: true,
    });
    orderId = started['order_id']!;
    sessionId = started['checkout_session_id']!;
    holdId = (await post('/api/checkout/holds', clubHold()))['id']!;
  });
  after(() => apps.close());

  const personal = (): readonly Personal[] => [
    { method: 'POST', url: '/api/checkout/holds', payload: clubHold({ session_key: 'session-two' }) },
    { method: 'POST', url: '/api/checkout/holds', payload: {} },
    { method: 'GET', url: `/api/checkout/holds/${holdId}`, headers: KEY },
    { method: 'GET', url: `/api/checkout/holds/${holdId}?session_key=session-one` },
    { method: 'GET', url: `/api/checkout/holds/${holdId}`, headers: { 'x-session-key': 'another-session' } },
    {
      method: 'PATCH',
      url: `/api/checkout/holds/${holdId}`,
      headers: KEY,
      payload: { items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 1 }] },
    },
    { method: 'DELETE', url: `/api/checkout/holds/${holdId}`, headers: KEY },
    { method: 'POST', url: '/api/checkout/start', payload: {} },
    { method: 'GET', url: `/api/checkout/status/${orderId}` },
    { method: 'GET', url: '/api/checkout/status/ord_nobody' },
    { method: 'POST', url: `/api/checkout/orders/${orderId}/payments` },
    { method: 'GET', url: `/orders/${orderId}` },
    { method: 'GET', url: `/orders/${orderId}`, headers: { accept: 'text/html' } },
    { method: 'GET', url: '/orders/ord_nobody', headers: { accept: 'text/html' } },
    { method: 'GET', url: `/orders/${orderId}/calendar.ics` },
    { method: 'POST', url: `/orders/${orderId}/pay` },
    { method: 'GET', url: `/sandbox/pay/${sessionId}` },
    { method: 'GET', url: '/sandbox/pay/cs_nobody' },
    { method: 'POST', url: `/sandbox/payments/${sessionId}`, payload: { outcome: 'declined' } },
    { method: 'POST', url: '/api/checkout/queue', payload: { event_id: 'evt_club', session_key: 'session-one' } },
    { method: 'GET', url: '/api/checkout/queue/que_nobody', headers: KEY },
    { method: 'GET', url: event, headers: KEY },
    { method: 'GET', url: `${event}?session_key=session-one` },
    {
      method: 'POST',
      url: `${event}/seating/best-available`,
      payload: { ticket_type_id: 'single', count: 1, session_key: 'session-one' },
    },
  ];

  test('is every personal answer and every error on its routes', async () => {
    for (const each of personal()) {
      const { headers, statusCode } = await apps.app.inject(each);
      assert.equal(headers['cache-control'], 'no-store', `${each.method} ${each.url} ${statusCode}`);
    }
  });

  test('is every error of an answer that may be stored, and of an unknown route', async () => {
    for (const url of [
      '/api/events/public/nowhere',
      '/api/events/public/nowhere/seating',
      '/api/events/public/nowhere/seating/occupancy',
      '/api/events/public?limit=0',
      '/api/events/public/%E0%A4%A',
      '/nowhere',
    ]) {
      const { headers, statusCode } = await apps.app.inject(url);
      assert.ok(statusCode >= 400, url);
      assert.equal(headers['cache-control'], 'no-store', url);
    }
  });

  test('is every answer to operators', async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    for (const url of ['/admin/events', '/admin/events/evt_club', `/admin/orders/${orderId}`, '/admin/nothing']) {
      assert.equal((await apps.admin.inject({ url, headers })).headers['cache-control'], 'no-store', url);
    }
  });
});

describe('An answer that is the same for all', () => {
  test('may be stored and must be revalidated', async () => {
    const apps = await openApps();
    const volley = '/api/events/public/erfurt-volley';
    for (const url of [event, '/api/events/public', `${volley}/seating`, '/openapi.json', '/docs']) {
      const { headers, statusCode } = await apps.app.inject(url);
      assert.deepEqual([statusCode, headers['cache-control']], [200, 'no-cache'], url);
    }
    await apps.close();
  });

  test('names in Vary what it differs by: the session key, and the origin where origins are listed', async () => {
    const open = await openApps();
    const listed = await openApps({ corsOrigins: ['https://shop.example'] });
    for (const headers of [{}, KEY, { origin: 'https://shop.example' }, { origin: 'https://other.example' }]) {
      const namesOf = async (apps: Apps, url: string) =>
        String((await apps.app.inject({ url, headers })).headers['vary'] ?? '').split(', ');
      assert.ok((await namesOf(open, event)).includes('X-Session-Key'));
      assert.ok(!(await namesOf(open, event)).includes('Origin'));
      for (const name of ['X-Session-Key', 'Origin']) assert.ok((await namesOf(listed, event)).includes(name), name);
      for (const name of ['Accept', 'Origin']) {
        assert.ok((await namesOf(listed, '/orders/ord_nobody')).includes(name), name);
      }
      assert.ok((await namesOf(listed, '/nowhere')).includes('Origin'));
    }
    await open.close();
    await listed.close();
  });
});
