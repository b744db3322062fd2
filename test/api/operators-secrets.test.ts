/**
 * What operators are shown of a service where people hold, wait and pay: every address of the admin API and every
 * command that reads, and none of the keys, passes, ids of holds and seeds that are in its journal.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { QueueEntryBody } from '#http/buyers/queue.ts';
import { operationsOf, type ApiDocument } from '../fuzz/document.ts';
import { holdfast, succeeded } from '../cli/holdfast.ts';
import { settle, start } from '../fixtures/checkout.ts';
import type { Answer } from '../fixtures/client.ts';
import { clubNight, floor, gala, item, theatreRun } from '../fixtures/events.ts';
import { ofOneMachine, openServiceWith, type TestService } from '../fixtures/service.ts';

const MINUTE = 60_000;
/** More than this sale has. */
const FACTS_MAX = 2_000;

const room = (id: string, overrides: object): object =>
  clubNight({ id, slug: id.replace('evt_', 'the-'), waiting_room: true, waiting_room_rate: 2, ...overrides });

/** The secrets that a journal holds of this service, by the names of the fields that hold them. */
const SECRET_FIELDS = /^(sessionKey|holdId|replacedHoldId|entryIds?|drawSeed|opening|key|digest|redirectUrl)$/;

/** What the reads that do not answer without it are asked for. */
const QUERIES: Readonly<Record<string, string>> = {
  '/admin/subject': '?email=ada%40example.com',
  '/admin/search': '?q=ada',
};

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) yield* textsOf(each);
}

function* secretsOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [field, each] of Object.entries(value)) {
    if (SECRET_FIELDS.test(field)) yield* textsOf(each);
    else yield* secretsOf(each);
  }
}

describe('Operators', () => {
  let service: TestService;
  let orderIds: string[];
  let ticketIds: string[];
  let amendmentId: string;
  let secrets: string[];

  before(async () => {
    const opensAt = (ms: number) => ({ waiting_room_opens_at: new Date(Date.UTC(2027, 4, 8, 12) + ms).toISOString() });
    service = await openServiceWith([
      clubNight(),
      theatreRun(),
      gala(),
      room('evt_open', {}),
      room('evt_drawn', opensAt(MINUTE)),
      room('evt_coming', opensAt(60 * MINUTE)),
    ]);
    for (const session_key of ['key-of-ada-0001', 'key-of-ben-0002']) {
      await service.hold({ session_key, items: [floor(2)] });
      await service.hold({ session_key, items: [floor(1)] });
      for (const event_id of ['evt_open', 'evt_drawn', 'evt_coming']) {
        const { body } = await service.post<QueueEntryBody>('/api/checkout/queue', { event_id, session_key });
        assert.ok(body.id.startsWith('que_'));
      }
    }
    const keyed = { 'idempotency-key': 'key-of-a-request-0003' };
    const paid = await start(service, { items: [item('seat', 2)] }, keyed);
    const order = await settle(service, paid, 'paid');
    const pending = await start(service, {});
    orderIds = [paid.order_id, pending.order_id];
    ticketIds = order.tickets.slice(0, 1);
    const amend = { cancel: order.tickets.slice(1), note: 'secret-of-an-amendment-0004' };
    const amended = await service.admin.post<{ id: string }>(`/admin/orders/${paid.order_id}/amendments`, amend);
    amendmentId = amended.body.id;
    service.wait(MINUTE);
    await service.get('/api/events/public/the-drawn/draw');
    const [{ engine }] = service.services;
    const { facts } = await engine.serving().newestFacts({ limit: FACTS_MAX, before: null, eventId: null });
    const found = facts.flatMap(({ data }) => [...secretsOf(JSON.parse(data))]);
    // A checkout without a session has its order's id in place of a session key.
    secrets = [...new Set(found)].filter((text) => !text.startsWith('ord_'));
    assert.ok(facts.some(({ type }) => type === 'DrawFinished') && secrets.length > 15);
  });
  after(() => service?.close());

  function assertClean(where: string, text: string): void {
    for (const secret of secrets)
      assert.ok(!text.includes(secret), `${where} shows ${secret}: ${text.slice(0, 2_000)}`);
    assert.doesNotMatch(text, /\b(hld|que)_[0-9a-z]+_/, where);
  }

  const assertCleanAnswer = (where: string, { status, headers, body }: Answer<unknown>): void => {
    assert.ok(status < 300, `${where}: ${status} ${JSON.stringify(body)}`);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    assertClean(where, text + JSON.stringify([...headers]));
    // JSON within JSON, as in the journal's page.
    assertClean(where, text.replaceAll('\\', ''));
  };

  it('read no secret at any address that can be read', async () => {
    const { body: document } = await service.admin.get<ApiDocument>('/openapi.json');
    const reads = operationsOf(document, 'admin').filter(({ method }) => method === 'GET');
    assert.ok(reads.length >= 10, String(reads.length));
    const valuesOf: Readonly<Record<string, readonly string[]>> = {
      '/admin/events/': ['evt_club', 'evt_play', 'evt_gala', 'evt_open', 'evt_drawn', 'evt_coming'],
      '/admin/orders/': orderIds,
      '/admin/tickets/': ticketIds,
    };
    for (const { path } of reads) {
      const [start = '', ids = ['']] = Object.entries(valuesOf).find(([prefix]) => path.startsWith(prefix)) ?? [];
      for (const id of ids) {
        const performances: Readonly<Record<string, string>> = { evt_play: 'fri', evt_gala: 'eve' };
        const isAmendment = path.endsWith('{amendment_id}');
        const second = isAmendment ? amendmentId : (performances[id] ?? 'night');
        const address = path.replace(/\{id\}/, id).replace(/\{[a-z_]+\}/, second);
        if (isAmendment && id !== orderIds[0]) continue;
        if (start === '/admin/events/' && /seat/.test(path) && id !== 'evt_play') continue;
        assertCleanAnswer(address, await service.admin.get(address + (QUERIES[path] ?? '')));
      }
    }
    for (const id of valuesOf['/admin/events/']!) {
      assertCleanAnswer(`journal of ${id}`, await service.admin.get(`/admin/journal?limit=200&event_id=${id}`));
    }
    assertCleanAnswer('console', await service.admin.get('/'));
  });

  it('see what they need: events, orders, tickets, amounts, waiting entries and draws', async () => {
    const { body } = await service.admin.get<{ facts: { type: string; data: string }[] }>('/admin/journal?limit=200');
    const dataOf = (type: string) => body.facts.filter((each) => each.type === type).map(({ data }) => data);
    const joined = dataOf('QueueEntryJoined');
    assert.equal(joined.length, 6);
    for (const data of joined) assert.match(data, /^\{"entryId":"\*\*\*[0-9a-f]{8}","sessionKey":"\*\*\*"\}$/);
    const [placed] = dataOf('OrderPlaced').filter((data) => data.includes(orderIds[0]!));
    assert.match(placed!, /"customer":null,"personal":\{"sealed":"\*\*\*","addressHash":"\*\*\*"\},"tracking":null/);
    assert.match(placed!, /"items":\[\{"performanceId":"\w+","ticketTypeId":"seat"/);
    assert.ok(dataOf('TicketsIssued').some((data) => data.includes(ticketIds[0]!)));
    assert.match(dataOf('DrawStarted')[0]!, /^\{"entryCount":2,"opening":"\*\*\*"\}$/);
    assert.match(dataOf('WaitingRoomAdded')[0]!, /"drawSeed":"\*\*\*","drawCommitment":"[0-9a-f]{64}"/);
  });

  it('change things and are answered without a secret', async () => {
    const seats = { seat_ids: ['S-B-1'], action: 'block' };
    const { admin } = service;
    assertCleanAnswer('PUT', await admin.put('/admin/events/evt_club', clubNight({ description: 'With words.' })));
    assertCleanAnswer('seats', await admin.post('/admin/events/evt_play/performances/fri/seats', seats));
    assertCleanAnswer('refund', await admin.post(`/admin/orders/${orderIds[0]}/refunds`, { amount: 1, note: 'x' }));
    assertCleanAnswer('cancel', await admin.post(`/admin/orders/${orderIds[0]}/cancel`, {}));
    assertCleanAnswer('date', await admin.post('/admin/events/evt_club/performances/night/cancel', {}));
    assertCleanAnswer('snapshot', await admin.post('/admin/snapshot', {}));
    assertCleanAnswer('metrics', await admin.get('/metrics'));
  });

  const skip = ofOneMachine('commands read a data folder');
  it('see no secret with any command that reads, and every one with journal --reveal', { skip }, async () => {
    const commands = [
      ['journal'],
      ['journal', '--json'],
      ['inspect'],
      ['inspect', 'evt_coming', '--json'],
      ['export', 'orders', 'evt_gala', '--format', 'json'],
      ['export', 'orders', 'evt_gala', '--format', 'csv'],
      ['verify', '--json'],
    ];
    const environment = { DATA_DIR: service.folder };
    for (const args of commands) {
      const { stdout, stderr } = succeeded(await holdfast(args, environment));
      assert.ok(stdout.length > 0);
      assertClean(args.join(' '), stdout + stderr);
    }
    const { stdout } = await holdfast(['journal', '--reveal'], environment);
    for (const secret of secrets) assert.ok(stdout.includes(secret), secret);
  });
});
