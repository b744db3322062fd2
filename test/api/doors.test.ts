/** Check-in: stations, what they scan, the verdicts, and what is counted of them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { assertRefused } from '../fixtures/checks.ts';
import { bodyOf, type Json } from '../fixtures/client.ts';
import {
  buyTickets,
  codesOf,
  countsOf,
  doorsGala,
  makeStation,
  newScanId,
  scanAll,
  scanOf,
  sendScans,
  undoOf,
  verdictsOf,
  type MadeStation,
  type ScanAnswer,
} from '../fixtures/doors.ts';
import { gala } from '../fixtures/events.ts';
import { ofOneMachine, ofOneThread, serviceWith } from '../fixtures/service.ts';
import { MINUTE, SECOND, START } from '../fixtures/test-service.ts';

const STATIONS = '/admin/events/evt_doors/stations';

interface Stations {
  readonly stations: readonly (Json & { readonly id: string; readonly status: string })[];
}

const service = serviceWith([
  doorsGala(),
  doorsGala({ id: 'evt_never', slug: 'never', reentry: 'NEVER' }),
  doorsGala({ id: 'evt_always', slug: 'always', reentry: 'ALWAYS' }),
  doorsGala({ id: 'evt_few', slug: 'few' }),
  gala(),
]);

const only = async (station: MadeStation, scan: Json): Promise<ScanAnswer> =>
  (await scanAll(service, station, scan))[0]!;

describe('A station', () => {
  it('of a hall may have an address there, which only a gate has', async () => {
    const gate = { name: 'Hall', kind: 'GATE', gate_url: 'https://gate.hall.example:8090/' };
    const body = bodyOf(await service.admin.post<Json>(STATIONS, gate), 201);
    assert.equal(body['gate_url'], 'https://gate.hall.example:8090');
    const revoked = await service.admin.post<Json>(`${STATIONS}/${String(body['id'])}/revoke`);
    assert.equal(revoked.body['gate_url'], 'https://gate.hall.example:8090');
    const wrong = [
      'gate',
      'ftp://gate.example',
      'https://me@gate.example',
      'https://gate.example/?a',
      'http://g.example/#a',
    ];
    for (const gate_url of wrong) {
      assertRefused(await service.admin.post(STATIONS, { ...gate, gate_url }), 400, 'VALIDATION_ERROR');
    }
    for (const kind of ['STATION', undefined]) {
      const answer = await service.admin.post(STATIONS, { ...gate, kind });
      assertRefused(answer, 400, 'VALIDATION_ERROR');
    }
  });

  it('is made with a token that is shown once, and listed without', async () => {
    const { status, body } = await service.admin.post<Json>(STATIONS, {
      name: 'North 1',
      performance_ids: ['eve'],
      door_ids: ['main'],
      expires_at: '2027-05-10T00:00:00Z',
    });
    assert.equal(status, 201, JSON.stringify(body));
    assert.match(String(body['token']), /^gtk_[0-9a-z]+_[A-Za-z0-9_-]{24}$/);
    assert.ok(String(body['pairing_url']).endsWith(`/door#${String(body['token'])}`));
    const { token: _token, pairing_url: _url, ...shown } = body;
    assert.deepEqual(shown, {
      id: body['id'],
      name: 'North 1',
      kind: 'STATION',
      performance_ids: ['eve'],
      door_ids: ['main'],
      expires_at: '2027-05-10T00:00:00.000Z',
      gate_url: null,
      created_at: new Date(START).toISOString(),
    });
    const listed = (await service.admin.get<Stations>(STATIONS)).body.stations.find(({ id }) => id === body['id']);
    assert.deepEqual(listed, {
      ...shown,
      status: 'LIVE',
      last_seen_at: null,
      synced_at: null,
      queued: null,
      version: null,
    });
  });

  it(
    'is kept by the digest of its token alone',
    { skip: ofOneMachine('nodes have their journal elsewhere') },
    async () => {
      const { token, id } = await makeStation(service);
      const rows = [...service.internals.engine.journal.read()].map(({ data }) => data);
      assert.ok(!rows.some((data) => data.includes(token)));
      assert.ok(
        rows.some((data) => data.includes(id) && data.includes(createHash('sha256').update(token).digest('hex'))),
      );
    },
  );

  it('has a name, and dates and doors that the event has', async () => {
    const refused = async (body: object, path: string): Promise<void> => {
      const answer = await service.admin.post<Json>(STATIONS, body);
      assertRefused(answer, 400, 'VALIDATION_ERROR');
      const { errors } = answer.body['detail'] as { readonly errors: readonly { readonly path: string }[] };
      assert.deepEqual(
        errors.map((error) => error.path),
        [path],
      );
    };
    await refused({}, '/name');
    await refused({ name: '' }, '/name');
    await refused({ name: 'a', kind: 'PHONE' }, '/kind');
    await refused({ name: 'a', performance_ids: ['eve', 'none'] }, '/performance_ids/1');
    await refused({ name: 'a', door_ids: ['none'] }, '/door_ids/0');
    await refused({ name: 'a', door_ids: [] }, '/door_ids');
    await refused({ name: 'a', expires_at: 'tomorrow' }, '/expires_at');
    await refused({ name: 'a', expires_at: '2027-06-30T23:59:60Z' }, '/expires_at');
    assertRefused(await service.admin.post('/admin/events/evt_none/stations', { name: 'a' }), 404, 'EVENT_NOT_FOUND');
    assertRefused(await service.admin.get('/admin/events/evt_none/stations'), 404, 'EVENT_NOT_FOUND');
  });

  it('is good until it is revoked or expires', async () => {
    const [code = ''] = codesOf(await buyTickets(service, 'single', 1, { performance: 'eve' }));
    const station = await makeStation(service, { expires_at: new Date(service.now() + MINUTE).toISOString() });
    assert.equal((await only(station, scanOf(service, code))).verdict, 'ADMIT');
    const revoke = `${STATIONS}/${station.id}/revoke`;
    const revoked = await service.admin.post<Json>(revoke);
    assert.deepEqual([revoked.status, revoked.body['status']], [200, 'REVOKED']);
    assert.deepEqual((await service.admin.post(revoke)).body, revoked.body, 'revoked again');
    const { token } = station;
    for (const scan of [scanOf(service, code), scanOf(service, code, { kind: 'UNDO' }), { id: 'short' }]) {
      assertRefused(await sendScans(service, station, [scan]), 401, 'STATION_REVOKED');
    }
    const sync = await service.get('/api/doors/sync?limit=0', { authorization: `Bearer ${token}` });
    assertRefused(sync, 401, 'STATION_REVOKED');
    assertRefused(await service.admin.post(`${STATIONS}/stn_1_none/revoke`), 404, 'NOT_FOUND');
    const other = await makeStation(service, { expires_at: new Date(service.now() + MINUTE).toISOString() });
    service.wait(MINUTE);
    assertRefused(await sendScans(service, other, [scanOf(service, code)]), 401, 'STATION_REVOKED');
    const { stations } = (await service.admin.get<Stations>(STATIONS)).body;
    assert.equal(stations.find(({ id }) => id === other.id)!.status, 'EXPIRED');
  });

  it('needs its token, which is good for nothing else', async () => {
    const station = await makeStation(service);
    const scan = { scans: [scanOf(service, 'x')] };
    assertRefused(await service.post('/api/doors/scans', scan), 401, 'UNAUTHORIZED');
    for (const token of [
      'operators-only-token',
      `${station.token.slice(0, -1)}!`,
      station.token.replace('gtk', 'ord'),
    ]) {
      assertRefused(await sendScans(service, { token }, [scanOf(service, 'x')]), 401, 'UNAUTHORIZED');
    }
    const admin = { authorization: `Bearer ${station.token}` };
    assert.equal((await fetch(new URL(STATIONS, service.adminUrl), { headers: admin })).status, 401);
  });

  const skip = ofOneMachine('the rule of one event') || ofOneThread('the operators’ listener');
  it('is one of at most 500 that are LIVE', { skip }, async () => {
    const path = '/admin/events/evt_few/stations';
    const made: MadeStation[] = [];
    for (let count = 0; count < 500; count += 1) made.push(await makeStation(service, {}, 'evt_few'));
    const refused = await service.admin.post<Json>(path, { name: 'one more' });
    assertRefused(refused, 409, 'STATION_LIMIT_EXCEEDED');
    assert.deepEqual(refused.body['detail'], { limit: 500 });
    await service.admin.post(`${path}/${made[0]!.id}/revoke`);
    await makeStation(service, {}, 'evt_few');
  });
});

describe('A scan', () => {
  it('admits a ticket once, lets it out and in again, and says who let it in', async () => {
    const [code = ''] = codesOf(await buyTickets(service, 'seat'));
    const station = await makeStation(service, { name: 'North 1' });
    const at = new Date(service.now()).toISOString();
    const ticket = {
      ticket_type_id: 'seat',
      ticket_type_name: 'Seat',
      section: 'West',
      row_label: '1',
      seat_label: ((await only(station, scanOf(service, code, { kind: 'EXIT' })))['ticket'] as Json)['seat_label'],
    };
    const first = scanOf(service, code);
    assert.deepEqual(await only(station, first), { id: first['id'], verdict: 'ADMIT', repeated: false, ticket });
    const second = scanOf(service, code);
    assert.deepEqual(await only(station, second), {
      id: second['id'],
      verdict: 'ALREADY_ADMITTED',
      repeated: false,
      ticket,
      admitted: { at, door_id: 'main', door_name: 'Main door', station_name: 'North 1', offline: false },
    });
    assert.equal((await only(station, scanOf(service, code, { kind: 'EXIT' }))).verdict, 'EXIT');
    assert.equal((await only(station, scanOf(service, code, { kind: 'EXIT' }))).verdict, 'NOT_INSIDE');
    assert.equal((await only(station, scanOf(service, code))).verdict, 'ADMIT');
  });

  it('is checked after those before it in its batch', async () => {
    const [one = '', other = ''] = codesOf(await buyTickets(service, 'single', 2));
    const station = await makeStation(service);
    const out = { kind: 'EXIT' };
    const results = await scanAll(
      service,
      station,
      ...[scanOf(service, one), scanOf(service, one), scanOf(service, other), scanOf(service, one, out)],
      scanOf(service, one),
    );
    assert.deepEqual(verdictsOf(results), ['ADMIT', 'ALREADY_ADMITTED', 'ADMIT', 'EXIT', 'ADMIT']);
  });

  it('lets a ticket in again as the event says', async () => {
    for (const [eventId, verdicts] of [
      ['evt_never', ['ADMIT', 'ALREADY_ADMITTED', 'EXIT', 'ALREADY_ADMITTED']],
      ['evt_always', ['ADMIT', 'ADMIT', 'EXIT', 'ADMIT']],
    ] as const) {
      const [code = ''] = codesOf(await buyTickets(service, 'single', 1, { eventId }));
      const station = await makeStation(service, {}, eventId);
      const kinds = ['ENTRY', 'ENTRY', 'EXIT', 'ENTRY'];
      const results = await scanAll(service, station, ...kinds.map((kind) => scanOf(service, code, { kind })));
      assert.deepEqual(verdictsOf(results), verdicts);
    }
  });

  it('refuses what is no ticket of the event, another date, another door and other hours', async () => {
    const station = await makeStation(service);
    const [ofOther = ''] = codesOf(await buyTickets(service, 'single', 1, { eventId: 'evt_never' }));
    const [late = ''] = codesOf(await buyTickets(service, 'single', 1, { performance: 'late' }));
    const [code = ''] = codesOf(await buyTickets(service));
    const [payload = ''] = code.split('.');
    const forged = `${payload}.${'A'.repeat(86)}`;
    const results = await scanAll(
      service,
      station,
      ...['BEGIN:VCARD', `${payload}.short`, forged, ofOther, late].map((text) => scanOf(service, text)),
      scanOf(service, code, { door_id: 'stand' }),
      scanOf(service, late, { performance_id: 'late' }),
    );
    assert.deepEqual(
      results.map(({ id: _id, repeated: _repeated, ticket: _ticket, ...result }) => result),
      [
        { verdict: 'UNKNOWN' },
        { verdict: 'UNKNOWN' },
        { verdict: 'FORGED' },
        { verdict: 'WRONG_EVENT' },
        {
          verdict: 'WRONG_PERFORMANCE',
          performance: { id: 'late', name: 'Late', starts_at: '2027-05-09T20:00:00.000Z' },
        },
        { verdict: 'WRONG_DOOR', door_ids: ['main'] },
        { verdict: 'NOT_YET', opens_at: '2027-05-09T19:00:00.000Z' },
      ],
    );
    const over = scanOf(service, code, { at: '2027-05-08T23:00:00.001Z' });
    assert.equal((await only(station, over)).verdict, 'ADMIT', 'over a minute ahead counts as now');
  });

  it('refuses a void ticket, and lets it out', async () => {
    const order = await buyTickets(service, 'single', 2);
    const [one = '', other = ''] = codesOf(order);
    const station = await makeStation(service);
    await only(station, scanOf(service, one));
    assert.equal((await service.admin.post(`/admin/orders/${order.order_id}/cancel`)).status, 200);
    const refused = await only(station, scanOf(service, other));
    assert.deepEqual([refused.verdict, refused['void_reason']], ['VOID', 'ORDER_CANCELLED']);
    assert.equal((await only(station, scanOf(service, one, { kind: 'EXIT' }))).verdict, 'EXIT');
  });

  it('keeps its ticket from being amended, by its buyer and by operators who do not say so', async () => {
    await service.define(
      doorsGala({ id: 'evt_own', slug: 'own', buyer_changes: { cancel: {}, change: {}, attendees: {} } }),
    );
    const order = await buyTickets(service, 'single', 2, { eventId: 'evt_own' });
    const [first = '', second = ''] = order.tickets;
    const [code = ''] = codesOf(order);
    const request = { cancel: [first, second] };
    const own = (path: string, body: Json) => service.post<Json>(`/api/checkout/orders/${order.order_id}${path}`, body);
    const admin = (path: string, body: Json) =>
      service.admin.post<Json>(`/admin/orders/${order.order_id}${path}`, body);
    const { body: before } = await own('/amendments/quote', { reissue: [first] });
    const station = await makeStation(service, {}, 'evt_own');
    assert.equal((await only(station, scanOf(service, code))).verdict, 'ADMIT');
    for (const ask of [own, admin]) {
      const answer = await ask('/amendments/quote', request);
      assert.deepEqual(assertRefused(answer, 409, 'TICKET_ADMITTED'), { ticket_ids: [first] });
    }
    // What operators alone may ask for is ignored.
    const meanwhile = { reissue: [first], even_admitted: true, quote: before['quote'] };
    assertRefused(await own('/amendments', meanwhile), 409, 'TICKET_ADMITTED');
    assertRefused(await admin('/amendments', request), 409, 'TICKET_ADMITTED');
    assertRefused(await admin('/amendments', { ...request, even_admitted: 'yes' }), 400, 'VALIDATION_ERROR');
    const even = { ...request, even_admitted: true };
    const { body: quoted } = await admin('/amendments/quote', even);
    assertRefused(await admin('/amendments', { ...request, quote: quoted['quote'] }), 409, 'TICKET_ADMITTED');
    const done = await admin('/amendments', { ...even, quote: quoted['quote'] });
    assert.deepEqual([done.status, done.body['status']], [201, 'APPLIED'], JSON.stringify(done.body));
  });

  it('is refused with its whole batch where its station does not stand', async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const station = await makeStation(service, { performance_ids: ['eve'], door_ids: ['main'] });
    const good = scanOf(service, code);
    const foreign = [
      scanOf(service, code, { performance_id: 'late' }),
      scanOf(service, code, { door_id: 'stand' }),
      scanOf(service, code, { door_id: 'none' }),
      scanOf(service, code, { performance_id: 'none' }),
    ];
    const refused = await sendScans<Json>(service, station, [good, ...foreign]);
    assertRefused(refused, 403, 'STATION_NOT_ALLOWED');
    assert.deepEqual(refused.body['detail'], { scan_ids: foreign.map(({ id }) => id) });
    assert.deepEqual(await only(station, good).then(({ verdict, repeated }) => [verdict, repeated]), ['ADMIT', false]);
  });

  it('has the fields that its kind has', async () => {
    const station = await makeStation(service);
    const refused = async (scan: Json, path: string): Promise<void> => {
      const answer = await sendScans<Json>(service, station, [scanOf(service, 'x'), scan]);
      assertRefused(answer, 400, 'VALIDATION_ERROR');
      const { errors } = answer.body['detail'] as { readonly errors: readonly { readonly path: string }[] };
      assert.deepEqual(
        errors.map((error) => error.path),
        [path],
      );
    };
    const undo = undoOf(service, newScanId());
    await refused({ ...undo, code: 'x' }, '/scans/1/code');
    await refused({ ...undo, undoes: null }, '/scans/1/undoes');
    await refused({ ...scanOf(service, 'x'), code: null }, '/scans/1/code');
    await refused({ ...scanOf(service, 'x'), undoes: newScanId() }, '/scans/1/undoes');
    await refused({ ...scanOf(service, 'x'), given: 'EXIT' }, '/scans/1/given');
    await refused({ ...scanOf(service, 'x'), at: '2027-06-30T23:59:60Z' }, '/scans/1/at');
    await refused({ ...scanOf(service, 'x'), id: 'short' }, '/scans/1/id');
    await refused({ ...scanOf(service, 'x'), station_id: station.id }, '/scans/1/station_id');
    await refused({ ...scanOf(service, 'x'), judged: true }, '/scans/1/judged');
    assertRefused(await sendScans(service, station, []), 400, 'VALIDATION_ERROR');
    const many = Array.from({ length: 501 }, () => scanOf(service, 'x'));
    assertRefused(await sendScans(service, station, many), 400, 'VALIDATION_ERROR');
  });

  it('of the largest batch fits into a body', async () => {
    const station = await makeStation(service);
    const many = Array.from({ length: 500 }, () => scanOf(service, 'x'.repeat(2_048)));
    assert.equal((await scanAll(service, station, ...many)).length, 500);
  });

  it('is answered again as the first time, and counts once', async () => {
    const [code = '', other = ''] = codesOf(await buyTickets(service, 'single', 2));
    const station = await makeStation(service);
    const scans = [scanOf(service, code), scanOf(service, code), scanOf(service, 'a business card')];
    const first = await scanAll(service, station, ...scans);
    assert.deepEqual(verdictsOf(first), ['ADMIT', 'ALREADY_ADMITTED', 'UNKNOWN']);
    const before = await countsOf(service);
    assert.deepEqual(
      await scanAll(service, station, ...scans),
      first.map((result) => ({ ...result, repeated: true })),
    );
    const reused = [
      ...scans.map((scan) => ({ ...scan, kind: 'EXIT' })),
      ...scans.map((scan) => ({ ...scan, code: other })),
    ];
    assert.deepEqual(new Set(verdictsOf(await scanAll(service, station, ...reused))), new Set(['ID_REUSED']));
    assert.deepEqual(await countsOf(service), before);
    await service.restart();
    assert.deepEqual(
      await scanAll(service, station, ...scans),
      first.map((result) => ({ ...result, repeated: true })),
    );
    assert.deepEqual(await countsOf(service), before);
  });

  it('is answered as the first time also once the entry is undone that it named', async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const station = await makeStation(service);
    const undone = scanOf(service, code);
    await scanAll(service, station, undone, undoOf(service, undone['id']));
    service.wait(SECOND);
    const [entry, refused] = [scanOf(service, code), scanOf(service, code)];
    await only(station, entry);
    const first = await only(station, refused);
    assert.deepEqual([first.verdict, (first['admitted'] as Json)['at'] === undone['at']], ['ALREADY_ADMITTED', false]);
    await only(station, undoOf(service, entry['id']));
    assert.deepEqual(await only(station, refused), { ...first, repeated: true });
    const [one, double, another] = [0, 1, 2].map((ms) => {
      const at = new Date(service.now() + ms).toISOString();
      return scanOf(service, code, { at, ...(ms < 2 && { given: 'ADMIT' }) });
    });
    await scanAll(service, station, one!, double!);
    const atFirst = (await only(station, another!))['admitted'] as Json;
    await only(station, undoOf(service, one!['id']));
    const repeated = (await only(station, another!))['admitted'] as Json;
    assert.deepEqual([atFirst['at'], repeated['at']], [one!['at'], double!['at']], 'the double has let it in then');
  });

  it('is undone by its own station within ten minutes', async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const station = await makeStation(service);
    const other = await makeStation(service);
    const entry = scanOf(service, code);
    await only(station, entry);
    assert.equal((await only(other, undoOf(service, entry['id']))).verdict, 'NOT_UNDOABLE');
    const undo = undoOf(service, entry['id']);
    assert.equal((await only(station, undo)).verdict, 'UNDONE');
    assert.deepEqual(await only(station, undo), { id: undo['id'], verdict: 'UNDONE', repeated: true });
    assert.equal((await only(station, undoOf(service, entry['id']))).verdict, 'NOT_UNDOABLE');
    assert.equal((await only(station, scanOf(service, code, { kind: 'EXIT' }))).verdict, 'NOT_INSIDE');
    const again = scanOf(service, code);
    assert.equal((await only(station, again)).verdict, 'ADMIT');
    service.wait(10 * MINUTE + SECOND);
    assert.equal((await only(station, undoOf(service, again['id']))).verdict, 'NOT_UNDOABLE');
    assert.equal((await only(station, undoOf(service, newScanId()))).verdict, 'NOT_UNDOABLE');
  });

  it('is undone while any UNDO of it stands, in one batch too', async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const station = await makeStation(service);
    const entry = scanOf(service, code);
    const undo = undoOf(service, entry['id']);
    const others = [1, 2].map(() => undoOf(service, entry['id']));
    const again = scanOf(service, code);
    const results = await scanAll(service, station, entry, undo, ...others, again);
    assert.deepEqual(verdictsOf(results), ['ADMIT', 'UNDONE', 'NOT_UNDOABLE', 'NOT_UNDOABLE', 'ADMIT']);
    await only(station, undoOf(service, again['id']));
    const { entries } = await countsOf(service);
    await only(station, undoOf(service, entry['id'], { given: 'UNDONE' }));
    await only(station, { ...undo, given: 'NOT_UNDOABLE' });
    assert.equal((await countsOf(service)).entries, entries);
    await only(station, { ...others[0]!, given: 'NOT_UNDOABLE' });
    assert.equal((await countsOf(service)).entries, entries);
  });
});

describe('The doors', () => {
  it('count who came, who is inside, and what was refused', async () => {
    const before = await countsOf(service);
    const [a = '', b = ''] = codesOf(await buyTickets(service, 'single', 2));
    const station = await makeStation(service);
    const entry = scanOf(service, b);
    const kinds = [scanOf(service, a), entry, scanOf(service, a), scanOf(service, a, { kind: 'EXIT' })];
    await scanAll(
      service,
      station,
      ...kinds,
      scanOf(service, a),
      scanOf(service, 'nothing'),
      undoOf(service, entry['id']),
    );
    const now = await countsOf(service);
    const added = (name: 'expected' | 'admitted' | 'inside' | 'entries' | 'exits'): number => now[name] - before[name];
    assert.deepEqual((['expected', 'admitted', 'inside', 'entries', 'exits'] as const).map(added), [2, 1, 1, 2, 1]);
    assert.equal(now.refused['ALREADY_ADMITTED']! - (before.refused['ALREADY_ADMITTED'] ?? 0), 1);
    assert.equal(now.refused['UNKNOWN']! - (before.refused['UNKNOWN'] ?? 0), 1);
    assert.equal(now.minutes.length, 60);
    assert.ok(now.minutes.at(-1)!.entries >= 2);
    assert.deepEqual(
      now.doors.map(({ id }) => id),
      ['main', 'stand'],
    );
    const single = now.ticket_types.find(({ id }) => id === 'single')!;
    assert.ok(single.expected >= single.admitted && single.admitted > 0);
    service.wait(61 * MINUTE);
    assert.ok((await countsOf(service)).minutes.every(({ entries, exits }) => entries + exits === 0));
    const all = await service.admin.get<{ readonly performances: readonly { readonly id: string }[] }>(
      '/admin/events/evt_doors/doors',
    );
    assert.deepEqual(
      all.body.performances.map(({ id }) => id),
      ['eve', 'late'],
    );
    const unused = await service.admin.get<Json>('/admin/events/evt_gala/doors');
    assert.deepEqual((unused.body['performances'] as readonly Json[])[0], {
      id: 'eve',
      expected: 0,
      admitted: 0,
      inside: 0,
      entries: 0,
      exits: 0,
      conflicts: 0,
      refused: {},
      doors: [{ id: 'main', entries: 0, exits: 0 }],
      ticket_types: ['single', 'crew', 'guest', 'seat'].map((id) => ({ id, expected: 0, admitted: 0 })),
      minutes: [],
    });
    assertRefused(
      await service.admin.get('/admin/events/evt_doors/doors?performance_id=none'),
      400,
      'PERFORMANCE_NOT_FOUND',
    );
  });

  it('take what a station decided by itself as it happened, and list what conflicts', async () => {
    const [a = '', b = ''] = codesOf(await buyTickets(service, 'single', 2));
    const [one, other] = [await makeStation(service, { name: 'One' }), await makeStation(service, { name: 'Other' })];
    const before = await countsOf(service);
    const at = (seconds: number) => ({ at: new Date(service.now() + seconds * SECOND).toISOString() });
    const late = scanOf(service, a, { given: 'ADMIT', ...at(-10) });
    const early = scanOf(service, a, { given: 'ADMIT', ...at(-20) });
    const atWrongDoor = scanOf(service, b, { given: 'ADMIT', door_id: 'stand', ...at(-5) });
    const card = scanOf(service, 'a business card', { given: 'ADMIT', ...at(-1) });
    assert.equal((await only(one, late)).verdict, 'ADMIT');
    assert.equal((await only(other, early)).verdict, 'ALREADY_ADMITTED');
    assert.equal((await only(other, atWrongDoor)).verdict, 'WRONG_DOOR');
    assert.equal((await only(other, card)).verdict, 'UNKNOWN');
    const now = await countsOf(service);
    assert.deepEqual([now.entries - before.entries, now.conflicts - before.conflicts], [4, 3]);
    const list = '/admin/events/evt_doors/doors/conflicts?performance_id=eve';
    type Conflicts = { readonly conflicts: readonly Json[]; readonly next_cursor: string | null };
    const { body } = await service.admin.get<Conflicts>(`${list}&limit=3`);
    const scanIn = (scan: unknown) => scan && (scan as Json)['scan_id'];
    assert.deepEqual(
      body.conflicts.map(({ kind, first, second }) => [kind, scanIn(first), scanIn(second)]),
      [
        ['ENTERED_OTHERWISE', null, card['id']],
        ['ENTERED_OTHERWISE', null, atWrongDoor['id']],
        ['DOUBLE_ENTRY', early['id'], late['id']],
      ],
    );
    assert.equal(body.conflicts[0]!['ticket_id'], null);
    assert.deepEqual(body.conflicts[2]!['second'], {
      scan_id: late['id'],
      at: late['at'],
      received_at: new Date(service.now()).toISOString(),
      door_id: 'main',
      station_id: one.id,
      station_name: 'One',
      offline: true,
    });
    const pages: Json[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Conflicts = (await service.admin.get<Conflicts>(`${list}&limit=1${cursor && `&cursor=${cursor}`}`))
        .body;
      pages.push(...page.conflicts);
      cursor = page.next_cursor;
    }
    assert.deepEqual(pages, (await service.admin.get<Conflicts>(list)).body.conflicts);
    const undo = undoOf(service, late['id'], { given: 'UNDONE' });
    assert.equal((await only(one, undo)).verdict, 'UNDONE');
    assert.equal((await countsOf(service)).conflicts - before.conflicts, 2);
    await service.restart();
    assert.equal((await countsOf(service)).conflicts - before.conflicts, 2);
    assertRefused(await service.admin.get(`${list}&cursor=bm9uZQ`), 400, 'VALIDATION_ERROR');
  });

  it('take what a station decided while its answer was on the way, once', async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const station = await makeStation(service);
    const scan = scanOf(service, code);
    const before = await countsOf(service);
    assert.equal((await only(station, scan)).verdict, 'ADMIT');
    const refused = { ...scan, given: 'CANNOT_TELL' };
    assert.deepEqual(await only(station, refused).then(({ verdict, repeated }) => [verdict, repeated]), [
      'ADMIT',
      true,
    ]);
    const now = await countsOf(service);
    assert.equal(now.entries, before.entries);
    assert.equal(now.refused['CANNOT_TELL'], 1 + (before.refused['CANNOT_TELL'] ?? 0));
    await only(station, { ...scan, given: 'ADMIT' });
    assert.deepEqual(await countsOf(service), now, 'what was given is given once');
    const nobody = scanOf(service, 'a card');
    await only(station, nobody);
    await only(station, { ...nobody, given: 'ADMIT' });
    assert.equal((await countsOf(service)).entries, now.entries + 1);
    assert.equal((await countsOf(service)).refused['UNKNOWN'] ?? 0, now.refused['UNKNOWN'] ?? 0);
  });

  const perNode = ofOneMachine('each node has metrics of its own events');
  it('are shown in metrics: scans, people inside, conflicts and stations', { skip: perNode }, async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const station = await makeStation(service);
    const names = [
      'holdfast_scans_total{verdict="ADMIT"}',
      'holdfast_people_inside',
      'holdfast_scan_conflicts{kind="DOUBLE_ENTRY"}',
      'holdfast_stations{status="LIVE"}',
      'holdfast_stations{status="SILENT"}',
    ];
    const read = async (): Promise<readonly number[]> => {
      const lines = (await service.operate<string>('GET', '/metrics')).body.split('\n');
      return names.map((name) =>
        Number(
          lines
            .find((line) => line.startsWith(`${name} `))
            ?.split(' ')
            .at(-1),
        ),
      );
    };
    const before = await read();
    const assertMore = async (...more: readonly number[]): Promise<void> => {
      const expected = before.map((count, index) => count + more[index]!);
      assert.deepEqual(await read(), expected);
    };
    const entry = scanOf(service, code);
    await only(station, entry);
    await only(station, entry);
    const double = scanOf(service, code, { given: 'ADMIT' });
    await only(station, double);
    await assertMore(2, 2, 1, 0, 0);
    await only(station, undoOf(service, double['id']));
    const headers = { authorization: `Bearer ${station.token}` };
    await service.get('/api/doors/sync?queued=3', headers);
    service.wait(10 * MINUTE);
    await assertMore(2, 1, 0, -1, 1);
    await service.get('/api/doors/sync?queued=0', headers);
    await assertMore(2, 1, 0, 0, 0);
  });

  it('are not removed while a live station names them or somebody was scanned there', async () => {
    const station = await makeStation(service, { door_ids: ['stand'] }, 'evt_always');
    const update = (doors: object) =>
      service.admin.put<Json>(
        '/admin/events/evt_always',
        doorsGala({ id: 'evt_always', slug: 'always', reentry: 'ALWAYS', ...doors }),
      );
    const refused = await update({ doors: [{ id: 'new' }] });
    assertRefused(refused, 409, 'UPDATE_CONFLICT');
    const { conflicts } = refused.body['detail'] as { readonly conflicts: readonly { readonly message: string }[] };
    assert.deepEqual(conflicts.map(({ message }) => message).sort(), [
      'door main is missing, and tickets were scanned at it',
      'door stand is missing, and a live station names it',
    ]);
    await service.admin.post(`/admin/events/evt_always/stations/${station.id}/revoke`);
    assert.equal((await update({ doors: [{ id: 'main' }, { id: 'new' }] })).status, 200);
  });
});

describe('A gate', () => {
  it('sends what stations scanned at it, revoked ones too, and says where its own check decided', async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const gate = await makeStation(service, { kind: 'GATE', name: 'Gate' });
    const station = await makeStation(service, { name: 'Behind' });
    await service.admin.post(`${STATIONS}/${station.id}/revoke`);
    const scan = scanOf(service, code, { given: 'ADMIT', station_id: station.id, judged: true });
    assert.equal((await only(gate, scan)).verdict, 'ADMIT');
    const second = await only(gate, scanOf(service, code, { station_id: station.id }));
    const admitted = second['admitted'] as Json;
    assert.deepEqual([admitted['station_name'], admitted['offline']], ['Behind', false]);
    const foreign = scanOf(service, code, { given: 'ADMIT', station_id: 'stn_1_unknown' });
    assertRefused(await sendScans(service, gate, [foreign]), 403, 'STATION_NOT_ALLOWED');
  });
});

describe('A station without a network', () => {
  type Change = readonly [digest: string, state: string, at: number, door: number | null];
  interface Sync {
    readonly cursor: string;
    readonly more: boolean;
    readonly reset: boolean;
    readonly head: Json | null;
    readonly changes: readonly Change[];
    readonly conflicts?: readonly Json[];
  }
  const digestOf = (ticketId: string): string => createHash('sha256').update(ticketId).digest('base64url').slice(0, 12);
  const ask = (station: MadeStation, query = '') =>
    service.get<Sync>(`/api/doors/sync?${query}`, { authorization: `Bearer ${station.token}` });
  const sync = async (station: MadeStation, after?: string, more = ''): Promise<Sync> => {
    const body = bodyOf(await ask(station, `${after === undefined ? '' : `after=${after}`}${more}`));
    return body;
  };
  const syncAll = async (
    station: MadeStation,
    limit = 5_000,
  ): Promise<{ readonly all: Change[]; readonly last: Sync }> => {
    let last = await sync(station, undefined, `limit=${limit}`);
    const all = [...last.changes];
    while (last.more) {
      last = await sync(station, last.cursor, `&limit=${limit}`);
      assert.ok(!last.reset && last.head === null);
      all.push(...last.changes);
    }
    return { all, last };
  };

  it('has loaded its event, and then what changes of its tickets, each once', async () => {
    const station = await makeStation(service, { performance_ids: ['eve'] });
    const first = await sync(station);
    assert.equal(first.reset, true);
    const head = first.head!;
    assert.deepEqual(Object.keys(head).sort(), [
      'doors',
      'event',
      'keys',
      'performances',
      'reentry',
      'station',
      'ticket_types',
    ]);
    assert.deepEqual(
      (head['performances'] as readonly Json[]).map(({ id }) => id),
      ['eve'],
    );
    assert.deepEqual(head['doors'], [
      { id: 'main', name: 'Main door', ticket_type_ids: null },
      { id: 'stand', name: 'Stand door', ticket_type_ids: ['seat'] },
    ]);
    const { last } = await syncAll(station);
    const order = await buyTickets(service, 'single', 4);
    const late = await buyTickets(service, 'single', 1, { performance: 'late' });
    const other = await makeStation(service);
    const [a = '', b = '', c = ''] = codesOf(order);
    const undone = scanOf(service, c);
    await scanAll(service, other, scanOf(service, a), scanOf(service, b), undone, scanOf(service, b, { kind: 'EXIT' }));
    await scanAll(service, other, undoOf(service, undone['id']));
    await scanAll(service, other, scanOf(service, codesOf(late)[0]!, { performance_id: 'late', given: 'CANNOT_TELL' }));
    const next = await sync(station, last.cursor);
    assert.deepEqual([next.reset, next.head, next.more], [false, null, false]);
    const [idA = '', idB = '', idC = '', idD = ''] = order.tickets;
    const states = (changes: readonly Change[]) => changes.map(([digest, state, , door]) => [digest, state, door]);
    assert.deepEqual(states(next.changes), [
      [digestOf(idA), 'I', 0],
      [digestOf(idB), 'O', 0],
      [digestOf(idC), 'N', null],
    ]);
    assert.ok(next.changes.every((change) => JSON.stringify(change).length <= 48));
    const nothing = await ask(station, `after=${next.cursor}`);
    assert.deepEqual(nothing.body.changes, []);
    assert.ok(JSON.stringify(nothing.body).length <= 400);
    assert.deepEqual(Object.keys(nothing.body), ['now', 'cursor', 'more', 'reset', 'head', 'changes']);
    service.wait(SECOND);
    assert.equal((await service.admin.post(`/admin/orders/${order.order_id}/cancel`)).status, 200);
    const voided = await sync(station, next.cursor);
    assert.deepEqual(
      new Map(states(voided.changes).map(([digest, state]) => [digest, state])),
      new Map([
        [digestOf(idA), 'W'],
        [digestOf(idB), 'V'],
        [digestOf(idC), 'V'],
        [digestOf(idD), 'V'],
      ]),
    );
    service.wait(SECOND);
    await scanAll(service, other, scanOf(service, a, { kind: 'EXIT' }));
    const left = await sync(station, voided.cursor);
    assert.deepEqual(new Map(states(left.changes).map(([digest, state]) => [digest, state])).get(digestOf(idA)), 'V');
  });

  it('is told of another entry that conflicts with its own, whichever was first and arrives first', async () => {
    for (const arrives of [
      [0, 1],
      [1, 0],
    ]) {
      const stations = [
        await makeStation(service, { name: 'One' }),
        await makeStation(service, { name: 'Two', door_ids: ['stand'] }),
      ] as const;
      const gate = await makeStation(service, { kind: 'GATE' });
      const cursors = await Promise.all([...stations, gate].map(async (each) => (await syncAll(each)).last.cursor));
      const order = await buyTickets(service, 'seat');
      const doors = ['main', 'stand'];
      const entries = [-MINUTE, 0].map((ms, place) => {
        const at = new Date(service.now() + ms).toISOString();
        return scanOf(service, codesOf(order)[0]!, { at, door_id: doors[place], given: 'ADMIT' });
      });
      for (const place of arrives) await scanAll(service, stations[place]!, entries[place]!);
      const [{ ticket }] = (await scanAll(service, stations[0], entries[0]!)) as [ScanAnswer];
      const told = stations.map(({ id: station_id }, place) => {
        const [own, other] = [entries[place]!, entries[1 - place]!];
        const named = { door_name: ['Stand door', 'Main door'][place], station_name: ['Two', 'One'][place] };
        const admitted = { at: other['at'], door_id: other['door_id'], ...named, offline: true };
        return { station_id, digest: digestOf(order.tickets[0]!), scan_id: own['id'], at: own['at'], ticket, admitted };
      });
      for (const [place, station] of stations.entries()) {
        const { station_id: _id, ...expected } = told[place]!;
        assert.deepEqual((await sync(station, cursors[place])).conflicts, [expected]);
      }
      assert.deepEqual((await sync(gate, cursors[2])).conflicts, told);
      const [moved, ...others] = (await sync(stations[0], cursors[0])).changes;
      assert.deepEqual([moved!.length, moved![0], others], [4, digestOf(order.tickets[0]!), []]);
    }
  });

  it('is told of void tickets behind those that were scanned too, however small its pages are', async () => {
    const station = await makeStation(service);
    let { last } = await syncAll(station);
    const order = await buyTickets(service, 'single', 4);
    const [a = '', b = ''] = codesOf(order);
    await scanAll(service, station, scanOf(service, a), scanOf(service, b));
    service.wait(SECOND);
    assert.equal((await service.admin.post(`/admin/orders/${order.order_id}/cancel`)).status, 200);
    service.wait(SECOND);
    const told: string[] = [];
    do {
      last = await sync(station, last.cursor, '&limit=3');
      told.push(...last.changes.map(([digest]) => digest));
    } while (last.more);
    assert.deepEqual([...new Set(told)].sort(), order.tickets.map(digestOf).sort());
  });

  it('loads the same in small pages, and after a restart', async () => {
    const station = await makeStation(service);
    service.wait(SECOND);
    const whole = await syncAll(station);
    assert.ok(whole.all.length > 10, String(whole.all.length));
    // A station that begins anew need not be told of what is none of these any more.
    const newest = (changes: readonly Change[]) =>
      new Map(changes.filter(([, state]) => state !== 'N').map((change) => [change[0], change]));
    const paged = await syncAll(station, 3);
    assert.deepEqual(newest(paged.all), newest(whole.all));
    assert.equal(paged.last.cursor, whole.last.cursor);
    await service.restart();
    const again = await sync(station, whole.last.cursor);
    assert.deepEqual([again.reset, again.head, again.changes], [false, null, []]);
  });

  it('begins anew with a cursor that is not its own, and is told of a new head', async () => {
    const [station, other] = [await makeStation(service), await makeStation(service)];
    const { last } = await syncAll(station);
    for (const after of ['nonsense', 'x'.repeat(2_000), last.cursor.replace(/\.\w+\./, '.zzzzz.')]) {
      const answer = await sync(station, encodeURIComponent(after));
      assert.ok(answer.reset && answer.head !== null, after);
    }
    assert.equal((await sync(other, last.cursor)).reset, true);
    assert.match(last.cursor, /\.AFTER_EXIT-\w+$/);
    assert.equal((await sync(station, last.cursor.replace('AFTER_EXIT', 'NEVER'))).reset, true);
    const earlier = await sync(station, last.cursor.replace('AFTER_EXIT-', ''));
    assert.deepEqual([earlier.reset, earlier.changes.length], [false, 0], 'the form of an earlier version goes on');
    const renamed = doorsGala({ name: 'Gala of doors' });
    assert.equal((await service.admin.put('/admin/events/evt_doors', renamed)).status, 200);
    const told = await sync(station, last.cursor);
    assert.deepEqual([told.reset, (told.head!['event'] as Json)['name']], [false, 'Gala of doors']);
    assertRefused(await ask(station, 'limit=0'), 400, 'VALIDATION_ERROR');
    assertRefused(await ask({ ...station, token: 'gtk_1_none' }), 401, 'UNAUTHORIZED');
    await service.admin.post(`${STATIONS}/${station.id}/revoke`);
    assertRefused(await ask(station), 401, 'STATION_REVOKED');
  });

  it('says what waits on it and what it runs, and a gate gets the digests of all tokens', async () => {
    const gate = await makeStation(service, { kind: 'GATE' });
    const { head } = await sync(gate, undefined, '&queued=7&version=1.2.3');
    const stations = head!['stations'] as readonly Json[];
    const own = stations.find(({ id }) => id === gate.id)!;
    assert.equal(own['token_sha256'], createHash('sha256').update(gate.token).digest('hex'));
    const listed = (await service.admin.get<Stations>(STATIONS)).body.stations.find(({ id }) => id === gate.id)!;
    const now = new Date(service.now()).toISOString();
    assert.deepEqual(
      [listed['last_seen_at'], listed['synced_at'], listed['queued'], listed['version']],
      [now, now, 7, '1.2.3'],
    );
  });
});

describe('A station that scans too fast', () => {
  const skip = ofOneMachine('each node counts what comes to it');
  it('is answered 429 over 20,000 scans in a minute, and the others are not', { skip }, async () => {
    const [station, other] = [await makeStation(service), await makeStation(service)];
    const scan = scanOf(service, 'x');
    const batch = Array.from({ length: 500 }, () => scan);
    for (let count = 0; count < 40; count += 1) assert.equal((await sendScans(service, station, batch)).status, 200);
    assertRefused(await sendScans(service, station, [scan]), 429, 'RATE_LIMITED');
    assert.equal((await sendScans(service, other, [scan])).status, 200);
    service.wait(MINUTE);
    assert.equal((await sendScans(service, station, [scan])).status, 200);
  });
});
