/** Numbered seats over HTTP: picked seats, best available, and occupancy. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { EventBody } from '#http/schemas/events.ts';
import type { HoldBody } from '#http/schemas/holds.ts';
import type { OccupancyBody, SeatBody, SeatingBody } from '#http/schemas/seating.ts';
import { plainBestBlock, type PlainSeat, type PlainType } from '../fixtures/best-available-model.ts';
import { assertRefused, audit } from '../fixtures/checks.ts';
import { HOLDS, newSession, type Answer, type ItemRequest } from '../fixtures/client.ts';
import { sample, seat, theatreRun } from '../fixtures/events.ts';
import { MINUTE, openServiceWith, type TestService } from '../fixtures/service.ts';

const PLAY = '/api/events/public/the-play';

let service: TestService;
let session: string;

before(async () => {
  service = await openServiceWith([theatreRun()]);
});
after(() => service.close());
beforeEach(() => {
  session = newSession();
  // Every test begins with all seats free: an hour later every hold has run out.
  service.wait(60 * MINUTE);
});

function place(items: readonly ItemRequest[], key = session): Promise<Answer<HoldBody>> {
  return service.post<HoldBody>(HOLDS, { event_id: 'evt_play', session_key: key, items });
}

/** The seats that a single item gets. */
async function seatsOf(answer: Promise<Answer<HoldBody>>): Promise<readonly string[]> {
  const { status, body } = await answer;
  assert.equal(status, 201, JSON.stringify(body));
  return body.items[0]!.seat_ids;
}

/** Somebody else takes seats by name. */
async function take(...seatIds: string[]): Promise<void> {
  await seatsOf(place([seat('stalls', 'fri', seatIds.length, { seat_ids: seatIds })], newSession()));
}

function suggest(request: object): Promise<Answer<SeatBody[]>> {
  return service.post<SeatBody[]>(`${PLAY}/seating/best-available`, request);
}

async function suggested(ticketTypeId: string, count: number, more: object = {}): Promise<readonly string[]> {
  const { status, body } = await suggest({ ticket_type_id: ticketTypeId, count, performance_id: 'fri', ...more });
  assert.equal(status, 200, JSON.stringify(body));
  return body.map(({ id }) => id);
}

async function occupied(query = ''): Promise<OccupancyBody> {
  const { status, body } = await service.get<OccupancyBody>(`${PLAY}/seating/occupancy?performance_id=fri${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const row = (label: string, ...places: number[]) => places.map((each) => `S-${label}-${each}`);

describe('Seats that are picked', () => {
  it('are held as requested, with their labels', async () => {
    const { body } = await place([seat('stalls', 'fri', 2, { seat_ids: row('A', 9, 10) })]);
    assert.deepEqual(body.items[0]!.seat_ids, row('A', 9, 10));
    assert.deepEqual(body.items[0]!.seat_labels, ['9', '10']);
    assert.deepEqual((await occupied()).held, row('A', 9, 10));
  });

  it('may leave an orphan: only assigned seats avoid that', async () => {
    assert.deepEqual(await seatsOf(place([seat('stalls', 'fri', 1, { seat_ids: row('A', 2) })])), row('A', 2));
  });

  it('must be quantity × group_size, else SEAT_COUNT_MISMATCH', async () => {
    const detail = assertRefused(
      await place([seat('pair', 'fri', 2, { seat_ids: row('A', 1, 2, 3) })]),
      400,
      'SEAT_COUNT_MISMATCH',
    );
    assert.deepEqual(detail, { ticket_type_id: 'pair', expected: 4, given: 3 });
  });

  it('unknown, or of another zone, are SEAT_NOT_IN_TICKET_TYPE with every such seat', async () => {
    const items = [seat('stalls', 'fri', 3, { seat_ids: ['S-A-1', 'G-A-1', 'S-Z-9'] })];
    const detail = assertRefused(await place(items), 400, 'SEAT_NOT_IN_TICKET_TYPE');
    assert.deepEqual(detail['seat_ids'], ['G-A-1', 'S-Z-9']);
  });

  it('not accessible are SEAT_NOT_IN_TICKET_TYPE for a type that is, with every such seat', async () => {
    const items = [seat('wheel', 'fri', 3, { seat_ids: ['S-A-1', 'S-C-1', 'S-C-3'] })];
    const detail = assertRefused(await place(items), 400, 'SEAT_NOT_IN_TICKET_TYPE');
    assert.deepEqual(detail['seat_ids'], ['S-A-1', 'S-C-3']);
    assert.deepEqual((await occupied()).held, []);
    assert.deepEqual(await seatsOf(place([seat('wheel', 'fri', 1, { seat_ids: ['S-C-2'] })])), ['S-C-2']);
    const mine = (await service.hold({ event_id: 'evt_play', session_key: session, items: [seat('wheel', 'fri', 1)] }))
      .id;
    const moved = { items: [seat('wheel', 'fri', 1, { seat_ids: ['S-A-1'] })] };
    const answer = await service.patch(`${HOLDS}/${mine}`, moved, { 'x-session-key': session });
    assertRefused(answer, 400, 'SEAT_NOT_IN_TICKET_TYPE');
  });

  it('not accessible are refused at a checkout without a hold too', async () => {
    const item = seat('wheel', 'fri', 1, { seat_ids: ['S-A-1'] });
    const customer = { name: 'Ada', email: 'ada@example.org' };
    const start = { event_id: 'evt_play', accept_terms: true, customer, items: [item] };
    assertRefused(await service.post('/api/checkout/start', start), 400, 'SEAT_NOT_IN_TICKET_TYPE');
  });

  it('held by others are SEAT_TAKEN with every taken seat, not just the first', async () => {
    await take(...row('A', 3, 4));
    await take(...row('B', 1));
    const items = [
      seat('stalls', 'fri', 3, { seat_ids: row('A', 2, 3, 4) }),
      seat('stalls', 'fri', 2, { seat_ids: row('B', 1, 2) }),
    ];
    const detail = assertRefused(await place(items), 409, 'SEAT_TAKEN');
    assert.deepEqual(detail['seat_ids'], ['S-A-3', 'S-A-4', 'S-B-1']);
    assert.deepEqual((await occupied()).held, ['S-A-3', 'S-A-4', 'S-B-1']);
  });

  it('blocked by the operator are SEAT_NOT_SELLABLE until they are unblocked', async () => {
    const seats = (action: string) =>
      service.admin.post('/admin/events/evt_play/performances/fri/seats', { seat_ids: row('A', 1), action });
    assert.equal((await seats('block')).status, 200);
    const pick = [seat('stalls', 'fri', 1, { seat_ids: row('A', 1) })];
    assert.deepEqual(assertRefused(await place(pick), 400, 'SEAT_NOT_SELLABLE')['seat_ids'], row('A', 1));
    assert.deepEqual((await occupied()).blocked, row('A', 1));
    assert.equal((await audit(service, 'evt_play')).get('fri')!.blocked, 1);
    assert.equal((await seats('unblock')).status, 200);
    assert.equal((await place(pick)).status, 201);
    assertRefused(await seats('block'), 409, 'SEAT_TAKEN');
  });

  it('twice in one item, in two items, or none at all are a VALIDATION_ERROR', async () => {
    const twice = [seat('stalls', 'fri', 2, { seat_ids: ['S-A-1', 'S-A-1'] })];
    assertRefused(await place(twice), 400, 'VALIDATION_ERROR');
    const both = [seat('stalls', 'fri', 1, { seat_ids: ['S-A-1'] }), seat('stalls', 'fri', 1, { seat_ids: ['S-A-1'] })];
    const [problem] = assertRefused(await place(both), 400, 'VALIDATION_ERROR')['errors'] as { path: string }[];
    assert.equal(problem!.path, '/items/1/seat_ids');
    const lost = both.map((item) => ({ ...item, performance_id: 'none' }));
    assertRefused(await place(lost), 400, 'VALIDATION_ERROR');
    const held = await service.hold({ event_id: 'evt_play', session_key: session, items: both.slice(0, 1) });
    const changed = await service.patch(`${HOLDS}/${held.id}`, { items: both }, { 'x-session-key': session });
    assertRefused(changed, 400, 'VALIDATION_ERROR');
    const customer = { name: 'Ada', email: 'ada@example.org' };
    const start = { event_id: 'evt_play', accept_terms: true, customer, items: both };
    assertRefused(await service.post('/api/checkout/start', start), 400, 'VALIDATION_ERROR');
    const kept = { items: [seat('pair', 'fri', 1, { seat_ids: ['S-A-1', 'S-A-2'] })] };
    const added = await service.patch(`${HOLDS}/${held.id}`, kept, { 'x-session-key': session });
    const [taken] = assertRefused(added, 400, 'VALIDATION_ERROR')['errors'] as { path: string }[];
    assert.equal(taken!.path, '/items/0/seat_ids', 'a seat of a line that stays is named by another');
    assertRefused(await place([seat('stalls', 'fri', 1, { seat_ids: [] })]), 400, 'VALIDATION_ERROR');
  });

  it('may be the same on two performances', async () => {
    const items = ['fri', 'sat'].map((date) => seat('stalls', date, 1, { seat_ids: ['S-A-1'] }));
    assert.equal((await place(items)).status, 201);
  });

  it('on a GENERAL locality are a VALIDATION_ERROR', async () => {
    const items = [seat('standing', 'fri', 1, { seat_ids: ['S-A-1'] })];
    assertRefused(await place(items), 400, 'VALIDATION_ERROR');
  });

  it('are at most 200 an item', async () => {
    const seatIds = Array.from({ length: 201 }, (_, i) => `S-X-${i}`);
    assertRefused(await place([seat('stalls', 'fri', 201, { seat_ids: seatIds })]), 400, 'VALIDATION_ERROR');
  });
});

describe('Seats that are assigned', () => {
  it('are neighbours in the front row, nearest the row’s centre', async () => {
    assert.deepEqual(await seatsOf(place([seat('stalls', 'fri', 2)])), row('A', 5, 6));
    assert.deepEqual(await seatsOf(place([seat('stalls', 'fri', 2)], newSession())), row('A', 3, 4));
  });

  it('never leave exactly one free seat before the next taken one, an aisle or the row’s end', async () => {
    await take(...row('A', 4));
    // Seats 5 to 10 are one run: a block at its start or end leaves the rest together, if that is more than one.
    assert.deepEqual(await suggested('stalls', 2), row('A', 5, 6));
    assert.deepEqual(await suggested('stalls', 3), row('A', 5, 6, 7));
  });

  it('come from the next row where every block of a row would leave an orphan', async () => {
    await take(...row('A', 4, 5, 6, 7, 8, 9, 10));
    // Row A has three free seats: two of them would leave one. Row B has four before its aisle.
    assert.deepEqual(await suggested('stalls', 2), row('B', 5, 6));
    assert.deepEqual(await suggested('stalls', 3), row('A', 1, 2, 3));
  });

  it('leave the fewest orphans where every block would leave one, because avoiding orphans must not cost a booking', async () => {
    await take(...row('A', 4, 5, 6, 7, 8, 9, 10));
    await take(...row('B', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    await take(...row('C', 3, 4));
    const seats = await seatsOf(place([seat('stalls', 'fri', 2)]));
    assert.ok([row('A', 1, 2).join(), row('A', 2, 3).join()].includes(seats.join()), seats.join());
  });

  it('do not extend over an aisle', async () => {
    await take(...row('A', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    assert.deepEqual(await suggested('stalls', 6), row('B', 5, 6, 7, 8, 9, 10));
    assert.deepEqual(await suggested('stalls', 7), []);
  });

  it('are INSUFFICIENT_TICKETS with largest_block where there is no contiguous block', async () => {
    await take(...row('A', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    const detail = assertRefused(await place([seat('stalls', 'fri', 7)]), 400, 'INSUFFICIENT_TICKETS');
    assert.equal(detail['largest_block'], 6);
    assert.equal(detail['available'], 14, 'what is left in the zones of the type');
  });

  it('are at most as many as the quota leaves, in largest_block as well', async () => {
    const event = theatreRun({ id: 'evt_few', slug: 'few' }) as { sellingStages: readonly object[] };
    const sellingStages = event.sellingStages.map((stage) => ({ ...stage, quotas: { stalls: 2 } }));
    assert.equal((await service.admin.put('/admin/events/evt_few', { ...event, sellingStages })).status, 201);
    const request = { event_id: 'evt_few', session_key: session, items: [seat('stalls', 'fri', 3)] };
    const detail = assertRefused(await service.post(HOLDS, request), 400, 'INSUFFICIENT_TICKETS');
    assert.deepEqual([detail['available'], detail['largest_block']], [2, 2]);
  });

  it('are accessible only for accessible types, and then only those', async () => {
    assert.deepEqual(await suggested('wheel', 2), row('C', 1, 2));
    assert.deepEqual(await suggested('wheel', 3), []);
    await take(...row('A', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    await take(...row('B', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    assert.deepEqual(await suggested('stalls', 2), row('C', 3, 4));
    assert.deepEqual(await suggested('stalls', 3), []);
  });

  it('have a restricted view only when no other block of that size exists', async () => {
    assert.deepEqual(await suggested('gallery', 4), ['G-A-1', 'G-A-2', 'G-A-3', 'G-A-4']);
    assert.deepEqual(await suggested('gallery', 6), ['G-A-1', 'G-A-2', 'G-A-3', 'G-A-4', 'G-A-5', 'G-A-6']);
  });

  it('of an accessible type count the accessible seats alone, in what is left, in reserved and in refusals', async () => {
    const left = async () => {
      const { body } = await service.get<EventBody>(`${PLAY}?performance_id=fri`);
      const rows = body.ticketAvailability.map((each) => [each.ticket_type_id, each.available] as const);
      return Object.fromEntries(rows);
    };
    assert.deepEqual(await left(), { stalls: 24, gallery: 6, pair: 24, wheel: 2, standing: 20 });
    const detail = assertRefused(await place([seat('wheel', 'fri', 3)]), 400, 'INSUFFICIENT_TICKETS');
    const { available, reserved_by_others: reserved, next_release_at: next, largest_block: largest } = detail;
    assert.deepEqual([available, reserved, next, largest], [2, false, null, 2]);
    await take(...row('A', 1, 2));
    assert.deepEqual(await left(), { stalls: 22, gallery: 6, pair: 22, wheel: 2, standing: 20 });
    await take(...row('C', 1));
    assert.deepEqual(await left(), { stalls: 21, gallery: 6, pair: 21, wheel: 1, standing: 20 });
    const scarce = assertRefused(await place([seat('wheel', 'fri', 2)]), 400, 'INSUFFICIENT_TICKETS');
    assert.deepEqual([scarce['available'], scarce['reserved_by_others']], [1, true], 'the other place is in a basket');
    await seatsOf(place([seat('wheel', 'fri', 1)]));
    assert.deepEqual(await left(), { stalls: 20, gallery: 6, pair: 20, wheel: 0, standing: 20 });
  });

  it('of an accessible type are not expected to return when only ordinary seats are held', async () => {
    await take(...row('A', 1));
    const detail = assertRefused(await place([seat('wheel', 'fri', 3)]), 400, 'INSUFFICIENT_TICKETS');
    assert.deepEqual([detail['reserved_by_others'], detail['next_release_at']], [false, null]);
  });

  it('count group tickets in full', async () => {
    assert.equal((await seatsOf(place([seat('pair', 'fri', 2)]))).length, 4);
  });

  it('are never those that another item of the same request names', async () => {
    const { body } = await place([seat('stalls', 'fri', 2), seat('pair', 'fri', 1, { seat_ids: row('A', 5, 6) })]);
    const named = body.items.find((item) => item.ticket_type_id === 'pair')!;
    const assigned = body.items.find((item) => item.ticket_type_id === 'stalls')!;
    assert.deepEqual(named.seat_ids, row('A', 5, 6));
    assert.ok(assigned.seat_ids.every((id) => !named.seat_ids.includes(id)));
  });
});

describe('Companions of accessible seats', () => {
  /** The seats of each item by its type. */
  async function party(...items: readonly ItemRequest[]): Promise<Record<string, readonly string[]>> {
    const { status, body } = await place(items, newSession());
    assert.equal(status, 201, JSON.stringify(body));
    return Object.fromEntries(body.items.map((item) => [item.ticket_type_id, item.seat_ids]));
  }

  it('are placed beside them in the same row, in whatever order the items come', async () => {
    const wheel = seat('wheel', 'fri', 1);
    const companion = seat('stalls', 'fri', 1);
    assert.deepEqual(await party(wheel, companion), { wheel: row('C', 2), stalls: row('C', 3) });
    service.wait(60 * MINUTE);
    assert.deepEqual(await party(companion, wheel), { stalls: row('C', 3), wheel: row('C', 2) });
    service.wait(60 * MINUTE);
    const both = { wheel: row('C', 1, 2), stalls: row('C', 3, 4) };
    assert.deepEqual(await party(seat('wheel', 'fri', 2), seat('stalls', 'fri', 2)), both);
  });

  it('are as near as possible where the row has no free seats', async () => {
    await take(...row('C', 3, 4));
    assert.deepEqual(await party(seat('wheel', 'fri', 1), seat('stalls', 'fri', 2)), {
      wheel: row('C', 2),
      stalls: row('B', 1, 2),
    });
  });

  it('are placed so at a checkout without a hold, and by a PATCH that names both lines', async () => {
    const customer = { name: 'Ada', email: 'ada@example.org' };
    const items = [seat('stalls', 'fri', 1), seat('wheel', 'fri', 1)];
    const start = { event_id: 'evt_play', accept_terms: true, customer, items };
    assert.equal((await service.post('/api/checkout/start', start)).status, 201);
    assert.deepEqual((await occupied()).held, row('C', 2, 3));
    service.wait(60 * MINUTE);
    const hold = await service.hold({ event_id: 'evt_play', session_key: session, items: [seat('wheel', 'fri', 1)] });
    const [own] = hold.items[0]!.seat_ids;
    const changed = await service.patch<HoldBody>(`${HOLDS}/${hold.id}`, { items }, { 'x-session-key': session });
    assert.deepEqual(
      changed.body.items.map((item) => item.seat_ids),
      [[own], row('C', 3)],
    );
  });

  it('are not assigned across performances, nor where seats are named', async () => {
    const other = { ...seat('stalls', 'sat', 1) };
    assert.deepEqual(await party(seat('wheel', 'fri', 1), other), { wheel: row('C', 1), stalls: row('A', 5) });
    service.wait(60 * MINUTE);
    const named = seat('wheel', 'fri', 1, { seat_ids: row('C', 2) });
    assert.deepEqual(await party(named, seat('stalls', 'fri', 1)), { wheel: row('C', 2), stalls: row('A', 5) });
  });

  it('that find no seat are INSUFFICIENT_TICKETS, and the request takes nothing', async () => {
    const detail = assertRefused(
      await place([seat('wheel', 'fri', 1), seat('stalls', 'fri', 11)]),
      400,
      'INSUFFICIENT_TICKETS',
    );
    assert.deepEqual([detail['ticket_type_id'], detail['largest_block']], ['stalls', 10]);
    assert.deepEqual((await occupied()).held, []);
  });
});

describe('POST best-available', () => {
  it('answers seats in full and reserves nothing', async () => {
    const { status, body } = await suggest({ ticket_type_id: 'stalls', count: 1, performance_id: 'fri' });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body[0]!).sort(), [
      'accessible',
      'id',
      'restricted_view',
      'row_label',
      'seat_label',
      'section_id',
      'state',
      'x',
      'y',
      'zone_key',
    ]);
    assert.deepEqual([body[0]!.section_id, body[0]!.row_label, body[0]!.state], ['S', 'A', 'AVAILABLE']);
    assert.deepEqual((await occupied()).held, []);
  });

  it('follows the same rule as a hold without seat_ids', async () => {
    await take(...row('A', 5, 6));
    for (const count of [1, 2, 3, 4, 5, 6]) {
      const proposal = await suggested('stalls', count);
      const key = newSession();
      assert.deepEqual(await seatsOf(place([seat('stalls', 'fri', count)], key)), proposal);
      service.wait(11 * MINUTE);
      await take(...row('A', 5, 6));
    }
  });

  it("counts the session's own held seats as free", async () => {
    await seatsOf(place([seat('stalls', 'fri', 2)]));
    assert.notDeepEqual(await suggested('stalls', 2), row('A', 5, 6));
    assert.deepEqual(await suggested('stalls', 2, { session_key: session }), row('A', 5, 6));
  });

  it('is refused for an unknown type, performance or event', async () => {
    const ask = (request: object) => suggest({ ticket_type_id: 'stalls', count: 1, performance_id: 'fri', ...request });
    assertRefused(await ask({ count: 0 }), 400, 'VALIDATION_ERROR');
    assertRefused(await ask({ count: 201 }), 400, 'VALIDATION_ERROR');
    assertRefused(await ask({ count: 1.5 }), 400, 'VALIDATION_ERROR');
    assertRefused(await ask({ session_key: 'short' }), 400, 'VALIDATION_ERROR');
    assertRefused(await ask({ ticket_type_id: 'none' }), 400, 'TICKET_TYPE_NOT_FOUND');
    assertRefused(await ask({ ticket_type_id: 'standing' }), 400, 'SEATING_NOT_ENABLED');
    assertRefused(await ask({ performance_id: 'sun' }), 400, 'PERFORMANCE_NOT_FOUND');
    assertRefused(await suggest({ ticket_type_id: 'stalls', count: 1 }), 400, 'PERFORMANCE_REQUIRED');
    const elsewhere = '/api/events/public/nowhere/seating/best-available';
    assertRefused(await service.post(elsewhere, { ticket_type_id: 'x', count: 1 }), 404, 'EVENT_NOT_FOUND');
    assert.equal((await suggested('stalls', 200)).length, 0);
  });
});

describe('GET seating', () => {
  it('shows every seat once, with an ETag that gives 304', async () => {
    const { status, body, headers } = await service.get<SeatingBody>(`${PLAY}/seating`);
    assert.equal(status, 200);
    assert.equal(body.event_id, 'evt_play');
    assert.deepEqual(
      body.localities.map(({ id }) => id),
      ['hall'],
    );
    const sections = body.localities[0]!.sections;
    assert.deepEqual(
      sections.map((each) => [each.id, each.rows.map(({ label, seats }) => [label, seats.length])]),
      [
        [
          'S',
          [
            ['A', 10],
            ['B', 10],
            ['C', 4],
          ],
        ],
        ['G', [['A', 6]]],
      ],
    );
    assert.deepEqual(
      body.localities[0]!.zones.map((zone) => zone.zone_key),
      ['stalls', 'gallery'],
    );
    const etag = headers.get('etag')!;
    const again = await service.get(`${PLAY}/seating`, { 'if-none-match': etag });
    assert.deepEqual([again.status, again.body], [304, '']);
    assert.equal(again.headers.get('etag'), etag);
  });

  it('of an unknown event is EVENT_NOT_FOUND', async () => {
    assertRefused(await service.get('/api/events/public/nowhere/seating'), 404, 'EVENT_NOT_FOUND');
    assertRefused(await service.get('/api/events/public/nowhere/seating/occupancy'), 404, 'EVENT_NOT_FOUND');
  });
});

describe('GET occupancy', () => {
  it('lists what is held, sold and blocked, and counts what is free', async () => {
    await take(...row('A', 1, 2));
    const body = await occupied();
    assert.deepEqual(
      { ...body, version: 0 },
      {
        event_id: 'evt_play',
        performance_id: 'fri',
        version: 0,
        available: 28,
        held: row('A', 1, 2),
        sold: [],
        blocked: [],
      },
    );
  });

  it('needs a performance_id where there are several performances', async () => {
    assertRefused(await service.get(`${PLAY}/seating/occupancy`), 400, 'PERFORMANCE_REQUIRED');
    const address = `${PLAY}/seating/occupancy?performance_id=sun`;
    assertRefused(await service.get(address), 400, 'PERFORMANCE_NOT_FOUND');
  });

  it('answers ?since= with what changed, each seat in its newest state', async () => {
    const { version } = await occupied();
    const hold = await place([seat('stalls', 'fri', 2, { seat_ids: row('A', 1, 2) })]);
    await take(...row('A', 3));
    await service.delete(`${HOLDS}/${hold.body.id}`, { 'x-session-key': session });
    const body = await occupied(`&since=${version}`);
    assert.ok(body.version > version);
    assert.equal(body.since, version);
    const states = Object.fromEntries(body.changes!.map(({ id, state }) => [id, state]));
    assert.deepEqual(states, { 'S-A-1': 'AVAILABLE', 'S-A-2': 'AVAILABLE', 'S-A-3': 'HELD' });
    assert.deepEqual((await occupied(`&since=${body.version}`)).changes, []);
    assert.equal(body.held, undefined);
  });

  it('gives the full form for a future version, and VALIDATION_ERROR for an invalid one', async () => {
    const { version } = await occupied();
    assert.ok(Array.isArray((await occupied(`&since=${version + 1000}`)).held));
    for (const since of ['-1', 'x', '1.5', '']) {
      const address = `${PLAY}/seating/occupancy?performance_id=fri&since=${since}`;
      assertRefused(await service.get(address), 400, 'VALIDATION_ERROR');
    }
  });

  it('has an ETag that changes with every change of a seat', async () => {
    const address = `${PLAY}/seating/occupancy?performance_id=fri`;
    const etag = (await service.get(address)).headers.get('etag')!;
    assert.equal((await service.get(address, { 'if-none-match': etag })).status, 304);
    await take(...row('A', 1));
    assert.equal((await service.get(address, { 'if-none-match': etag })).status, 200);
  });

  it('shows expired holds as free at the millisecond', async () => {
    await take(...row('A', 1));
    service.wait(10 * MINUTE - 1);
    assert.deepEqual((await occupied()).held, row('A', 1));
    service.wait(1);
    assert.deepEqual((await occupied()).held, []);
  });
});

describe('The wheelchair places of Erfurt', () => {
  it('are 31, and no ordinary seat is sold as one of them', async (t) => {
    const hall = await openServiceWith([sample('erfurt-volley')]);
    t.after(() => hall.close());
    const payload = async () =>
      (await hall.get<EventBody>('/api/events/public/erfurt-volley?performance_id=derby')).body;
    const leftOf = async () =>
      (await payload()).ticketAvailability.find((each) => each.ticket_type_id === 'wheelchair')!.available;
    const { body: layout } = await hall.get<SeatingBody>('/api/events/public/erfurt-volley/seating');
    const all = layout.localities[0]!.sections.flatMap(({ rows }) => rows.flatMap(({ seats }) => seats));
    const [ordinary] = all.filter((each) => !each.accessible && each.zone_key === 'Kategorie I');
    assert.equal(await leftOf(), all.filter((each) => each.accessible && each.zone_key !== 'VIP').length);
    assert.equal(await leftOf(), 31);
    const item = { ticket_type_id: 'wheelchair', selling_stage_id: 'general', performance_id: 'derby', quantity: 1 };
    const pick = (seatId: string) =>
      hall.post(HOLDS, {
        event_id: 'evt_erfurt',
        session_key: newSession(),
        items: [{ ...item, seat_ids: [seatId] }],
      });
    const detail = assertRefused(await pick(ordinary!.id), 400, 'SEAT_NOT_IN_TICKET_TYPE');
    assert.deepEqual(detail['seat_ids'], [ordinary!.id]);
    assert.equal((await pick(all.find((each) => each.accessible)!.id)).status, 201);
    assert.equal(await leftOf(), 30);
  });
});

describe('Best available in Erfurt', () => {
  const hallDate = '?performance_id=derby';
  const types: Record<string, PlainType> = {
    kat1: { zones: ['Kategorie I'], accessible: false },
    kat2: { zones: ['Kategorie II'], accessible: false },
    wheelchair: { zones: ['Kategorie I', 'Kategorie II'], accessible: true },
    vip: { zones: ['VIP'], accessible: false },
  };

  it('is what the reference model gives, on all six blocks until the hall is full', async (t) => {
    const hall = await openServiceWith([sample('erfurt-volley', { limits_at_hold: false })]);
    t.after(() => hall.close());
    const { body: layout } = await hall.get<SeatingBody>('/api/events/public/erfurt-volley/seating');
    const taken = new Set<string>();
    const sectionOf = new Map<string, string>();
    for (const { id, rows } of layout.localities[0]!.sections) {
      for (const { seats } of rows) for (const each of seats) sectionOf.set(each.id, id);
    }
    const rows = rowsOf(layout, { x: 1300, y: 580 });
    const sections = new Set<string>();
    const counts = [2, 5, 3, 8, 1, 4, 13, 2, 6, 21];
    let misses = 0;
    for (let turn = 0; misses < 40; turn += 1) {
      const [ticketTypeId, type] = Object.entries(types)[turn % 4]!;
      const count = misses > 4 ? 1 + (Math.floor(turn / 4) % 2) : counts[turn % counts.length]!;
      const expected = plainBestBlock(
        rows.map((each) => each.map((one) => ({ ...one, free: !taken.has(one.id) }))),
        type,
        count,
      );
      const answer = await hall.post<HoldBody>(HOLDS, {
        event_id: 'evt_erfurt',
        session_key: newSession(),
        items: [
          { ticket_type_id: ticketTypeId, selling_stage_id: 'general', performance_id: 'derby', quantity: count },
        ],
      });
      if (expected === null) {
        assertRefused(answer, 400, 'INSUFFICIENT_TICKETS');
        misses += 1;
        continue;
      }
      misses = 0;
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      const seatIds = answer.body.items[0]!.seat_ids;
      assert.deepEqual(seatIds, expected, `turn ${turn}: ${count} of ${ticketTypeId}`);
      for (const id of seatIds) {
        taken.add(id);
        sections.add(sectionOf.get(id)!);
      }
    }
    assert.deepEqual([...sections].sort(), ['A', 'B', 'C', 'D', 'E', 'F']);
    assert.equal(taken.size, sectionOf.size, 'the hall is full');
    const { body } = await hall.get<OccupancyBody>(`/api/events/public/erfurt-volley/seating/occupancy${hallDate}`);
    assert.deepEqual([...body.held!].sort(), [...taken].sort());
    await audit(hall, 'evt_erfurt');
  });

  /** The rows of the printed layout in the order in which they are tried; a gap of over 1.5 times the usual is an aisle. */
  function rowsOf(layout: SeatingBody, focal: { x: number; y: number }): PlainSeat[][] {
    const rows = layout.localities[0]!.sections.flatMap((section) =>
      section.rows.map(({ seats }) => {
        const gaps = seats.slice(1).map((one, i) => Math.hypot(one.x - seats[i]!.x, one.y - seats[i]!.y));
        const usual = gaps.toSorted((a, b) => a - b)[Math.floor((gaps.length - 1) / 2)] ?? 0;
        return seats.map((one, i) => ({
          id: one.id,
          free: true,
          zone: one.zone_key,
          accessible: one.accessible,
          restricted: one.restricted_view,
          aisleBefore: i > 0 && gaps[i - 1]! > 1.5 * usual,
          x: one.x,
          y: one.y,
        }));
      }),
    );
    const away = (seats: readonly PlainSeat[]) =>
      Math.round(
        Math.hypot((seats[0]!.x + seats.at(-1)!.x) / 2 - focal.x, (seats[0]!.y + seats.at(-1)!.y) / 2 - focal.y) * 1e6,
      );
    return rows.toSorted((a, b) => away(a) - away(b));
  }
});
