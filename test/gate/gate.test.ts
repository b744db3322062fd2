/** A gate: it checks alone, sends what it checked, and takes what changed at its service. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ticketDigest } from '#client/doors/digest.ts';
import { GateUnusable } from '#gate/gate.ts';
import { createTicketSigner } from '#tickets/signing.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { bodyOf, type Json } from '../fixtures/client.ts';
import {
  buyTickets,
  codesOf,
  countsOf,
  doorsGala,
  makeStation,
  scanAll,
  scanOf,
  sendScans,
  undoOf,
  type MadeStation,
  type ScanAnswer,
} from '../fixtures/doors.ts';
import { openGate, type TestGate } from '../fixtures/gate.ts';
import { ofOneMachine, openServiceWith, type TestService } from '../fixtures/service.ts';
import { MINUTE, SECOND } from '../fixtures/test-service.ts';

let service: TestService;
let gate: TestGate;
before(async () => {
  service = await openServiceWith([doorsGala(), doorsGala({ id: 'evt_never', slug: 'never', reentry: 'NEVER' })]);
  gate = await openGate(service);
});
after(async () => {
  await gate.close();
  await service.close();
});

const only = async (at: TestGate | TestService, station: MadeStation, scan: Json): Promise<ScanAnswer> =>
  (await scanAll(at, station, scan))[0]!;

interface Feed {
  readonly head: (Json & { readonly performances: readonly Json[] }) | null;
  readonly cursor: string;
  readonly reset: boolean;
  readonly changes: readonly (readonly [string, string, number, number | null])[];
  readonly conflicts?: readonly (Json & { readonly digest: string; readonly admitted: Json })[];
}

async function feedOf(at: TestGate | TestService, { token }: MadeStation, after?: string): Promise<Feed> {
  const path = `/api/doors/sync${after === undefined ? '' : `?after=${after}`}`;
  const body = bodyOf(await at.get<Feed>(path, { authorization: `Bearer ${token}` }));
  return body;
}

const stateOf = ({ changes }: Feed, ticketId: string): string | undefined =>
  changes.find(([digest]) => digest === ticketDigest(ticketId))?.[1];

/** A station that the gate knows. */
async function pairedStation(body: object = {}): Promise<MadeStation> {
  const station = await makeStation(service, body);
  await gate.round();
  return station;
}

describe('A gate', { skip: ofOneMachine('a gate has one service') }, () => {
  it('checks a ticket by its code alone, once, and its service has the scans as they were', async () => {
    const order = await buyTickets(service, 'seat');
    const [code = ''] = codesOf(order);
    const station = await pairedStation({ name: 'North 1' });
    const before = await countsOf(service);
    const first = scanOf(service, code);
    const admitted = await only(gate, station, first);
    const ticket = {
      ticket_type_id: 'seat',
      ticket_type_name: 'Seat',
      section: null,
      row_label: null,
      seat_label: null,
      seat_id: (admitted['ticket'] as Json)['seat_id'],
    };
    assert.deepEqual(admitted, { id: first['id'], verdict: 'ADMIT', repeated: false, ticket });
    assert.equal(typeof ticket.seat_id, 'string');
    assert.deepEqual(await only(gate, station, first), { ...admitted, repeated: true });
    const again = await only(gate, station, scanOf(service, code));
    const by = { door_id: 'main', door_name: 'Main door', station_name: 'North 1', offline: false };
    assert.deepEqual([again.verdict, again['admitted']], ['ALREADY_ADMITTED', { at: first['at'], ...by }]);
    assert.equal(gate.gate.link.queued, 0, 'they are counted with the next round');
    await gate.round();
    const counts = await countsOf(service);
    assert.deepEqual(
      [counts.entries - before.entries, counts.refused['ALREADY_ADMITTED'], counts.conflicts],
      [1, (before.refused['ALREADY_ADMITTED'] ?? 0) + 1, before.conflicts],
    );
    const elsewhere = await only(service, station, scanOf(service, code));
    assert.deepEqual([elsewhere.verdict, elsewhere['admitted']], ['ALREADY_ADMITTED', { at: first['at'], ...by }]);
  });

  it('knows who is inside and what is void elsewhere, and tells its stations', async () => {
    const [inside, out, empty] = [await buyTickets(service), await buyTickets(service), await buyTickets(service)];
    const station = await pairedStation();
    const start = await feedOf(gate, station);
    assert.deepEqual([start.reset, start.head!['reentry'], start.head!['stations']], [true, 'AFTER_EXIT', undefined]);
    assert.deepEqual(start.head!.performances[0], (await feedOf(service, station)).head!.performances[0]);
    for (const order of [inside, out, empty]) await only(service, station, scanOf(service, codesOf(order)[0]!));
    await only(service, station, scanOf(service, codesOf(out)[0]!, { kind: 'EXIT' }));
    await only(service, station, scanOf(service, codesOf(empty)[0]!, { kind: 'EXIT' }));
    for (const order of [inside, empty]) await service.admin.post(`/admin/orders/${order.order_id}/cancel`);
    service.wait(SECOND);
    await gate.round();
    const changed = await feedOf(gate, station, start.cursor);
    const states = [inside, out, empty].map((order) => stateOf(changed, order.tickets[0]!));
    assert.deepEqual([changed.reset, changed.head, states], [false, null, ['W', 'O', 'V']]);
    assert.deepEqual((await feedOf(gate, station, changed.cursor)).changes, []);
    assert.equal((await only(gate, station, scanOf(service, codesOf(inside)[0]!))).verdict, 'VOID');
    assert.equal((await only(gate, station, scanOf(service, codesOf(inside)[0]!, { kind: 'EXIT' }))).verdict, 'EXIT');
    assert.equal((await only(gate, station, scanOf(service, codesOf(out)[0]!))).verdict, 'ADMIT');
    const last = await feedOf(gate, station, changed.cursor);
    assert.deepEqual([stateOf(last, inside.tickets[0]!), stateOf(last, out.tickets[0]!)], ['V', 'I']);
    await gate.round();
    assert.deepEqual((await feedOf(gate, station, last.cursor)).changes, [], 'the service says the same');
  });

  it('takes back what a station undoes, also where its service had it already', async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const station = await pairedStation();
    const entry = scanOf(service, code);
    assert.equal((await only(gate, station, entry)).verdict, 'ADMIT');
    await gate.round();
    await gate.round();
    gate.isCut = true;
    assert.equal((await only(gate, station, undoOf(service, entry['id']))).verdict, 'UNDONE');
    assert.equal((await only(gate, station, undoOf(service, entry['id']))).verdict, 'NOT_UNDOABLE');
    const exit = scanOf(service, code, { kind: 'EXIT' });
    const results = await scanAll(gate, station, scanOf(service, code), exit, undoOf(service, exit['id']), exit);
    assert.deepEqual(
      results.map(({ verdict, repeated }) => [verdict, repeated]),
      [
        ['ADMIT', false],
        ['EXIT', false],
        ['UNDONE', false],
        ['EXIT', true],
      ],
    );
    gate.isCut = false;
    await gate.round();
    assert.equal((await only(service, station, scanOf(service, code))).verdict, 'ALREADY_ADMITTED');
    assert.equal((await only(gate, station, scanOf(service, code))).verdict, 'ALREADY_ADMITTED');
  });

  it('knows after an undo what had happened elsewhere, with its service and without', async () => {
    const own = await openGate(service, { eventId: 'evt_never' });
    const station = await makeStation(service, {}, 'evt_never');
    await own.round();
    const decided = { given: 'ADMIT' };
    for (const isKnown of [true, false]) {
      const order = await buyTickets(service, 'single', 1, { eventId: 'evt_never' });
      const [code = ''] = codesOf(order);
      if (isKnown) {
        await only(service, station, scanOf(service, code));
        await only(service, station, scanOf(service, code, { kind: 'EXIT' }));
        await own.round();
      }
      service.wait(SECOND);
      const entry = scanOf(service, code, decided);
      await only(own, station, entry);
      if (!isKnown) {
        await own.round();
        service.wait(SECOND);
        await only(service, station, scanOf(service, code, decided));
        service.wait(SECOND);
        await own.round();
      }
      assert.equal((await only(own, station, undoOf(service, entry['id']))).verdict, 'UNDONE');
      assert.equal((await only(own, station, scanOf(service, code))).verdict, 'ALREADY_ADMITTED', String(isKnown));
    }
    await own.close();
  });

  it('lets nobody be inside by an exit that was taken back and had let nobody out', async () => {
    const own = await openGate(service);
    const station = await makeStation(service);
    await own.round();
    const [code = ''] = codesOf(await buyTickets(service));
    const exit = scanOf(service, code, { kind: 'EXIT', given: 'EXIT' });
    const undo = undoOf(service, exit['id'], { given: 'UNDONE' });
    for (const place of [service, own]) {
      for (const scan of [exit, undo]) await only(place, station, scan);
      await own.round();
    }
    assert.equal((await only(own, station, scanOf(service, code))).verdict, 'ADMIT');
    await own.close();
  });

  it('names the entry elsewhere and not one of its own that was undone or has left', async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const [station, elsewhere] = [await pairedStation({ name: 'Hall' }), await makeStation(service)];
    const own = scanOf(service, code);
    await only(gate, station, own);
    await only(gate, station, undoOf(service, own['id']));
    const names: unknown[] = [];
    for (const kind of ['ENTRY', 'EXIT', 'ENTRY'] as const) {
      service.wait(2 * SECOND);
      await gate.round();
      if (kind === 'EXIT') {
        for (const at of [service, gate]) await only(at, station, scanOf(service, code, { kind }));
        await only(gate, station, scanOf(service, code));
        await only(gate, station, scanOf(service, code, { kind }));
        continue;
      }
      const entry = scanOf(service, code);
      assert.equal((await only(service, elsewhere, entry)).verdict, 'ADMIT');
      service.wait(SECOND);
      await gate.round();
      const refused = scanOf(service, code);
      const first = await only(gate, station, refused);
      const { at, station_name: name } = first['admitted'] as Json;
      names.push([at === entry['at'], name]);
      assert.deepEqual(await only(gate, station, refused), { ...first, repeated: true });
    }
    assert.deepEqual(names, Array(2).fill([true, null]));
  });

  it('tells its stations what conflicts at it, and what its service says of a station elsewhere', async () => {
    const order = await buyTickets(service, 'seat');
    const [code = ''] = codesOf(order);
    const stations = [await pairedStation({ name: 'Hall 1' }), await pairedStation({ name: 'Hall 2' })] as const;
    const elsewhere = await makeStation(service, { name: 'Elsewhere' });
    const digest = ticketDigest(order.tickets[0]!);
    /** What each is told: the name of the station of the other entry. */
    const told = async (): Promise<readonly unknown[]> => {
      const names: unknown[] = [];
      for (const station of stations) {
        const { conflicts = [] } = await feedOf(gate, station);
        const own = conflicts.filter((each) => each.digest === digest);
        names.push(own.map(({ admitted }) => admitted['station_name']).join());
      }
      return names;
    };
    const [first, second] = stations;
    const { cursor } = await feedOf(gate, first);
    const entries = [-MINUTE, 0].map((ms) => {
      return scanOf(service, code, { given: 'ADMIT', at: new Date(service.now() + ms).toISOString() });
    });
    gate.isCut = true;
    await only(gate, first, entries[0]!);
    await only(gate, second, entries[1]!);
    const { changes, conflicts } = await feedOf(gate, first, cursor);
    assert.deepEqual(
      [changes.map(([changed]) => changed), conflicts!.map((each) => [each['scan_id'], each['station_id']])],
      [[digest], [[entries[0]!['id'], undefined]]],
    );
    assert.deepEqual(await told(), ['Hall 2', 'Hall 1']);
    const { cursor: last } = await feedOf(gate, first, cursor);
    gate.isCut = false;
    await gate.round();
    assert.deepEqual(await told(), ['Hall 2', 'Hall 1'], 'its service says the same');
    assert.deepEqual((await feedOf(gate, first, last)).changes, [], 'and nothing is told again');
    const before = scanOf(service, code, { given: 'ADMIT', at: new Date(service.now() - 2 * MINUTE).toISOString() });
    await only(service, elsewhere, before);
    service.wait(SECOND);
    await gate.round();
    assert.deepEqual(await told(), ['Elsewhere', 'Elsewhere']);
    const [ofFirst] = (await feedOf(gate, first)).conflicts!.filter((each) => each.digest === digest);
    const [atService] = (await feedOf(service, first)).conflicts!.filter((each) => each.digest === digest);
    assert.deepEqual(ofFirst, atService);
    await gate.restart();
    assert.deepEqual(await told(), ['Elsewhere', 'Elsewhere']);
    for (const [undone, left] of [
      [before, ['Hall 2', 'Hall 1']],
      [entries[0]!, ['', '']],
    ] as const) {
      const { cursor: known } = await feedOf(gate, second);
      const undo = { kind: 'UNDO', undoes: undone['id'], note: 'Counted twice' };
      assert.equal((await service.admin.post(`/admin/tickets/${order.tickets[0]!}/scans`, undo)).status, 201);
      await gate.round();
      assert.deepEqual(
        (await feedOf(gate, second, known)).changes.map(([changed]) => changed),
        [digest],
      );
      assert.deepEqual(await told(), left);
    }
  });

  it('tells of no entry that was undone at it, and what the others come to, before its service says so', async () => {
    const hall = await Promise.all(['Hall 1', 'Hall 2', 'Hall 3'].map((name) => pairedStation({ name })));
    const elsewhere = await makeStation(service, { name: 'Elsewhere' });
    const told = async (): Promise<readonly unknown[]> => {
      const { conflicts = [] } = await feedOf(gate, hall[1]!);
      return conflicts.filter((each) => each.digest === digest).map(({ admitted }) => admitted['station_name']);
    };
    const order = await buyTickets(service);
    const [code = ''] = codesOf(order);
    const digest = ticketDigest(order.tickets[0]!);
    const entries: Json[] = [];
    for (const station of hall) {
      entries.push(scanOf(service, code, { given: 'ADMIT' }));
      await only(gate, station, entries.at(-1)!);
      service.wait(SECOND);
    }
    await gate.round();
    service.wait(SECOND);
    await only(service, elsewhere, scanOf(service, code, { given: 'ADMIT' }));
    service.wait(SECOND);
    await gate.round();
    assert.deepEqual(await told(), ['Hall 1']);
    gate.isCut = true;
    assert.equal((await only(gate, hall[0]!, undoOf(service, entries[0]!['id']))).verdict, 'UNDONE');
    assert.deepEqual(await told(), ['Hall 3']);
    gate.isCut = false;
    await gate.round();
    assert.deepEqual(new Set(await told()), new Set(['Hall 3', 'Elsewhere']), 'its service says the rest');
  });

  it('goes on without its service, after a restart too, and sends everything when it is back', async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const station = await pairedStation();
    const before = await countsOf(service);
    gate.isCut = true;
    assert.equal((await only(gate, station, scanOf(service, code))).verdict, 'ADMIT');
    assert.equal(await gate.gate.link.round(), false);
    assert.deepEqual((await gate.get<Json>('/health/ready')).body, { status: 'ok', degraded: ['upstream'] });
    assert.match(
      (await gate.get<string>('/metrics')).body,
      /holdfast_gate_scans_waiting 1\n[^]*holdfast_gate_upstream_up 0/,
    );
    await gate.restart();
    assert.equal((await only(gate, station, scanOf(service, code))).verdict, 'ALREADY_ADMITTED');
    gate.isCut = false;
    await gate.round();
    assert.deepEqual((await gate.get<Json>('/health/ready')).body, { status: 'ok' });
    assert.equal((await countsOf(service)).entries, before.entries + 1);
    await gate.restart();
    await gate.round();
    assert.equal((await countsOf(service)).entries, before.entries + 1);
  });

  it('sends scans of a station that was revoked since, and takes no more of it', async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const station = await pairedStation();
    const before = await countsOf(service);
    assert.equal((await only(gate, station, scanOf(service, code))).verdict, 'ADMIT');
    await service.admin.post(`/admin/events/evt_doors/stations/${station.id}/revoke`);
    await gate.round();
    assert.equal((await countsOf(service)).entries, before.entries + 1);
    assertRefused(await sendScans(gate, station, [scanOf(service, code)]), 401, 'STATION_REVOKED');
    assertRefused(await sendScans(gate, { token: 'gtk_1_none' }, [scanOf(service, code)]), 401, 'UNAUTHORIZED');
  });

  it('says what it cannot tell, and keeps nothing of what is no ticket', async () => {
    const foreign = createTicketSigner([Buffer.alloc(32, 7).toString('base64url')]);
    const [ofOther = ''] = codesOf(await buyTickets(service, 'single', 1, { eventId: 'evt_never' }));
    const [code = ''] = codesOf(await buyTickets(service));
    const claims = { eventId: 'evt_doors', performanceId: 'eve', seatId: null, ticketTypeId: 'single' };
    const unknownKey = foreign.codeOf({ ...claims, ticketId: 'tkt_1_000000000000000000000000' });
    const [payload = ''] = code.split('.');
    const forged = `${payload}.${'A'.repeat(86)}`;
    const texts = ['BEGIN:VCARD Ada Lovelace', forged, ofOther, unknownKey];
    const station = await pairedStation();
    const before = await countsOf(service);
    const scans = texts.map((text) => scanOf(service, text));
    const results = await scanAll(gate, station, ...scans, scanOf(service, code, { door_id: 'stand' }));
    assert.deepEqual(
      results.map(({ verdict }) => verdict),
      ['UNKNOWN', 'FORGED', 'WRONG_EVENT', 'CANNOT_TELL', 'WRONG_DOOR'],
    );
    const reused = await scanAll(gate, station, { ...scans[0]!, code: 'another' }, scans[0]!);
    assert.deepEqual(
      reused.map(({ verdict, repeated }) => [verdict, repeated]),
      [
        ['ID_REUSED', false],
        ['UNKNOWN', true],
      ],
    );
    await gate.round();
    const { refused } = await countsOf(service);
    for (const { verdict } of results) assert.equal(refused[verdict], (before.refused[verdict] ?? 0) + 1, verdict);
    const kept = [...gate.gate.engine.journal.read()].map(({ data }) => data).join('\n');
    for (const text of [...texts.slice(0, 3), 'Ada', station.token, gate.station.token])
      assert.ok(!kept.includes(text));
    assert.ok(kept.includes(unknownKey), 'what may be a ticket is sent as it is');
  });

  it('cannot tell an old code at a door for some types', async () => {
    const own = service.internals.engine;
    const { tickets } = await buyTickets(service);
    const key = { ticketId: tickets[0]!, eventId: 'evt_doors', performanceId: 'eve', seatId: null };
    const { createPrivateKey, sign } = await import('node:crypto');
    const { readFileSync } = await import('node:fs');
    const seed = Buffer.from(readFileSync(`${own.folder}/ticket-key`, 'utf8').trim(), 'base64url');
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const payload = Buffer.from(
      JSON.stringify({ ticket_id: key.ticketId, event_id: 'evt_doors', performance_id: 'eve' }),
    );
    const code = `${payload.toString('base64url')}.${sign(null, payload, privateKey).toString('base64url')}`;
    const station = await pairedStation();
    assert.equal((await only(gate, station, scanOf(service, code, { door_id: 'stand' }))).verdict, 'CANNOT_TELL');
    assert.equal((await only(gate, station, scanOf(service, code))).verdict, 'ADMIT');
    await gate.round();
    assert.equal((await only(service, station, scanOf(service, code))).verdict, 'ALREADY_ADMITTED');
  });

  it('follows the event: dates, doors and hours', async () => {
    const station = await pairedStation();
    const [code = ''] = codesOf(await buyTickets(service));
    assertRefused(
      await sendScans(gate, station, [scanOf(service, code, { door_id: 'side' })]),
      403,
      'STATION_NOT_ALLOWED',
    );
    const doors = [
      { id: 'main', name: 'Main door' },
      { id: 'stand', name: 'Stand door' },
      { id: 'side', name: 'Side' },
    ];
    await service.define(doorsGala({ doors }));
    await gate.round();
    assert.equal((await only(gate, station, scanOf(service, code, { door_id: 'side' }))).verdict, 'ADMIT');
    await service.define(doorsGala({ doors: doors.slice(0, 2) }));
    await gate.round();
    assert.equal(gate.gate.link.trouble, null, 'somebody was scanned at a door that its service dropped meanwhile');
    await service.define(doorsGala());
  });

  it('goes on when its own token is revoked, and says so', async () => {
    const hall = await openGate(service);
    const [code = ''] = codesOf(await buyTickets(service));
    const station = await makeStation(service);
    await hall.round();
    await service.admin.post(`/admin/events/evt_doors/stations/${hall.station.id}/revoke`);
    assert.equal(await hall.gate.link.round(), false);
    assert.match(hall.gate.link.trouble!, /^STATION_REVOKED/);
    assert.equal((await only(hall, station, scanOf(service, code))).verdict, 'ADMIT');
    await hall.restart();
    assert.equal((await only(hall, station, scanOf(service, code))).verdict, 'ALREADY_ADMITTED');
    const next = await makeStation(service, { kind: 'GATE' });
    const { createUpstream } = await import('#gate/upstream.ts');
    const upstream = createUpstream({ url: service.publicUrl, token: next.token, version: 'test' });
    await hall.restart({ token: next.token, upstream });
    await hall.round();
    assert.equal((await only(service, station, scanOf(service, code))).verdict, 'ALREADY_ADMITTED');
    await hall.close();
  });

  it('checks nobody before its first whole feed', async () => {
    const hall = await openGate(service, { isFed: false });
    const station = await makeStation(service);
    const refused = await sendScans(hall, station, [scanOf(service, 'x')]);
    assertRefused(refused, 503, 'OVERLOADED');
    assert.equal(refused.headers.get('retry-after'), '1');
    const { status, body } = await hall.get<Json>('/health/ready');
    assert.deepEqual([status, body['reason']], [503, 'waiting for the first whole feed of the service']);
    assert.equal((await hall.get('/health/live')).status, 200);
    const page = await hall.get<string>('/door');
    assert.deepEqual([page.status, page.headers.get('content-type')?.split(';')[0]], [200, 'text/html']);
    await hall.round();
    assert.equal((await only(hall, station, scanOf(service, 'x'))).verdict, 'UNKNOWN');
    await hall.close();
  });

  it('counts time by its service, whatever its machine says', async () => {
    const hall = await openGate(service, { aheadMs: -7 * MINUTE });
    assert.ok(Math.abs(hall.gate.engine.clock.now() - service.now()) <= SECOND);
    hall.isCut = true;
    await hall.restart();
    assert.ok(Math.abs(hall.gate.engine.clock.now() - service.now()) <= SECOND, 'without its service too');
    await hall.close();
  });

  it('refuses a token that is none of a gate, and a folder of something else', async () => {
    const station = await pairedStation();
    const { createUpstream } = await import('#gate/upstream.ts');
    const upstream = createUpstream({ url: service.publicUrl, token: station.token, version: 'test' });
    const refuses = async (changes: Parameters<TestGate['restart']>[0], why: RegExp): Promise<void> => {
      await assert.rejects(gate.restart(changes), (error) => error instanceof GateUnusable && why.test(error.message));
    };
    await refuses({ token: station.token, upstream }, /"Phone": make one with "kind": "GATE"/);
    const unknown = `${station.token.slice(0, -4)}none`;
    await refuses(
      { token: unknown, upstream: createUpstream({ url: service.publicUrl, token: unknown, version: '' }) },
      /refuses the token \(UNAUTHORIZED\)/,
    );
    gate.isCut = true;
    await refuses({ token: station.token }, /no gate's/);
    await refuses({ token: station.token.replace(/_1_/, '_2_') }, /folder of something else/);
    gate.isCut = false;
    await gate.restart();
  });
});
