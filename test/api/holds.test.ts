/** Holds over HTTP: the requests of buyers and their answers, rule by rule. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { EventBody } from '#http/schemas/events.ts';
import type { HoldBody } from '#http/schemas/holds.ts';
import { assertRefused, audit, RFC_3339 } from '../fixtures/checks.ts';
import { as, HOLDS, newSession, type Answer, type HoldRequest, type ItemRequest } from '../fixtures/client.ts';
import { clubNight, floor, seat, theatreRun } from '../fixtures/events.ts';
import { MINUTE, openServiceWith, type TestService } from '../fixtures/service.ts';

let service: TestService;
let session: string;

/** A hold of the club night, answered or refused. */
function place(items: readonly ItemRequest[], overrides: object = {}): Promise<Answer<HoldBody>> {
  return service.post<HoldBody>(HOLDS, { event_id: 'evt_club', session_key: session, items, ...overrides });
}

function read(hold: HoldBody, key = session): Promise<Answer<HoldBody>> {
  return service.get<HoldBody>(`${HOLDS}/${hold.id}`, as(key));
}

function change(hold: HoldBody, items: readonly ItemRequest[], key = session): Promise<Answer<HoldBody>> {
  return service.patch<HoldBody>(`${HOLDS}/${hold.id}`, { items }, as(key));
}

function release(hold: HoldBody, key = session): Promise<Answer<HoldBody>> {
  return service.delete<HoldBody>(`${HOLDS}/${hold.id}`, as(key));
}

/** The available singles of the club night, for everybody or with a session's own hold counted as free. */
async function singlesLeft(key?: string): Promise<{ readonly available: number; readonly reserved: number }> {
  const { body } = await service.get<EventBody>('/api/events/public/club-night', key === undefined ? {} : as(key));
  const row = body.ticketAvailability.find((each) => each.ticket_type_id === 'single')!;
  return { available: row.available, reserved: row.reserved };
}

before(async () => {
  service = await openServiceWith([clubNight(), theatreRun()]);
});
after(() => service.close());
beforeEach(async () => {
  session = newSession();
  // Every test begins with all tickets free: an hour later every hold has run out.
  service.wait(60 * MINUTE);
});

describe('Placing a hold', () => {
  it('answers 201 with the hold', async () => {
    const { status, body } = await place([floor(2), { ...floor(1), ticket_type_id: 'crew' }]);
    assert.equal(status, 201);
    assert.match(body.id, /^hld_[A-Za-z0-9_-]{22,}$/);
    assert.deepEqual(body, {
      id: body.id,
      event_id: 'evt_club',
      status: 'ACTIVE',
      expires_at: new Date(service.now() + 10 * MINUTE).toISOString(),
      order_id: null,
      items: [
        {
          ticket_type_id: 'single',
          selling_stage_id: 'regular',
          performance_id: 'night',
          quantity: 2,
          ticket_count: 2,
          seat_ids: [],
          seat_labels: [],
        },
        {
          ticket_type_id: 'crew',
          selling_stage_id: 'regular',
          performance_id: 'night',
          quantity: 1,
          ticket_count: 4,
          seat_ids: [],
          seat_labels: [],
        },
      ],
    });
    assert.match(body.expires_at, RFC_3339);
  });

  it('takes the tickets out of everyone else’s available, quantity × group_size of them', async () => {
    await place([{ ...floor(3), ticket_type_id: 'crew' }]);
    assert.deepEqual(await singlesLeft(), { available: 88, reserved: 0 });
    await service.hold({ session_key: newSession(), items: [floor(5)] });
    assert.deepEqual(await singlesLeft(), { available: 83, reserved: 5 });
    assert.equal((await singlesLeft(session)).available, 95, "the session's own hold counts as free");
  });

  it('adds up two items with the same ticket type, stage and performance', async () => {
    const { body } = await place([floor(2), floor(3)]);
    assert.equal(
      body.items.reduce((sum, item) => sum + item.ticket_count, 0),
      5,
    );
    assertRefused(await place([floor(60), floor(41)]), 400, 'INSUFFICIENT_TICKETS');
  });

  it('carries X-Request-Id and X-Api-Version, and echoes a valid request id', async () => {
    const answer = await place([floor(1)]);
    assert.ok(answer.headers.get('x-request-id'));
    assert.equal(answer.headers.get('x-api-version'), '1.3.0');
    const echoed = await service.get('/api/events/public', { 'x-request-id': 'my-request.42' });
    assert.equal(echoed.headers.get('x-request-id'), 'my-request.42');
  });

  it('ignores unknown fields, and does not coerce wrong types', async () => {
    assert.equal((await place([{ ...floor(1), note: 'window' } as ItemRequest], { theme: 'dark' })).status, 201);
    const items = [{ ...floor(1), quantity: '2' }] as unknown as ItemRequest[];
    assertRefused(await place(items), 400, 'VALIDATION_ERROR');
  });

  it('needs a performance_id on events with several performances, and none on others', async () => {
    const items = [{ ticket_type_id: 'standing', selling_stage_id: 'general', quantity: 1 }];
    assertRefused(await place(items, { event_id: 'evt_play' }), 400, 'PERFORMANCE_REQUIRED');
    const { body } = await place([floor(1)]);
    assert.equal(body.items[0]!.performance_id, 'night');
  });

  it('refuses a performance, a type or a stage that does not exist, and a stage that is closed', async () => {
    assertRefused(await place([floor(1, { performance_id: 'day' })]), 400, 'PERFORMANCE_NOT_FOUND');
    assertRefused(await place([floor(1, { ticket_type_id: 'double' })]), 400, 'TICKET_TYPE_NOT_FOUND');
    assertRefused(await place([floor(1, { selling_stage_id: 'early' })]), 400, 'SELLING_STAGE_NOT_FOUND');
    assertRefused(await place([floor(1, { selling_stage_id: 'late' })]), 400, 'TICKET_NOT_ON_SALE');
  });

  it('refuses a type that is not sold in the stage', async () => {
    const items = [floor(1, { ticket_type_id: 'crew', selling_stage_id: 'late' })];
    assertRefused(await place(items), 400, 'TICKET_NOT_ON_SALE');
  });

  it('refuses an unknown event with EVENT_NOT_FOUND', async () => {
    assertRefused(await place([floor(1)], { event_id: 'evt_nowhere' }), 404, 'EVENT_NOT_FOUND');
  });

  it('refuses with the number that this session could still take, whether others hold the rest, and until when', async () => {
    const other = await service.hold({ session_key: newSession(), items: [floor(70)] });
    await place([floor(20)]);
    const detail = assertRefused(await place([floor(31)]), 400, 'INSUFFICIENT_TICKETS');
    assert.deepEqual(detail, {
      available: 30,
      reserved_by_others: true,
      next_release_at: other.expires_at,
      ticket_type_id: 'single',
      selling_stage_id: 'regular',
      performance_id: 'night',
    });
  });

  it('refuses with no time of return where nobody holds the missing tickets', async () => {
    const detail = assertRefused(await place([floor(101)]), 400, 'INSUFFICIENT_TICKETS');
    assert.deepEqual(
      [detail['available'], detail['reserved_by_others'], detail['next_release_at']],
      [100, false, null],
    );
  });

  it("keeps to a ticket type's quota", async () => {
    assert.equal((await place([floor(10, { ticket_type_id: 'crew' })])).status, 201);
    const detail = assertRefused(await place([floor(11, { ticket_type_id: 'crew' })]), 400, 'INSUFFICIENT_TICKETS');
    assert.equal(detail['available'], 40);
  });

  it('gives ids that cannot be guessed', async () => {
    const ids = new Set<string>();
    for (let i = 0; i < 20; i += 1) ids.add((await service.hold({ session_key: newSession() })).id);
    assert.equal(ids.size, 20);
    for (const id of ids) assert.match(id, /^hld_\d+_[A-Za-z0-9_-]{22,}$/, 'at least 128 random bits');
  });
});

describe('A hold over two performances', () => {
  const both = (fri: number, sat: number) => [seat('standing', 'fri', fri), seat('standing', 'sat', sat)];
  const placePlay = (items: readonly ItemRequest[], key = session) =>
    place(items, { event_id: 'evt_play', session_key: key });

  it('takes tickets of both', async () => {
    const { status, body } = await placePlay(both(2, 3));
    assert.equal(status, 201);
    assert.deepEqual(
      body.items.map((item) => [item.performance_id, item.ticket_count]),
      [
        ['fri', 2],
        ['sat', 3],
      ],
    );
    const performances = await audit(service, 'evt_play');
    assert.deepEqual([performances.get('fri')!.held, performances.get('sat')!.held], [2, 3]);
  });

  it('takes all items or none', async () => {
    await placePlay([seat('standing', 'sat', 19)], newSession());
    assertRefused(await placePlay(both(5, 2)), 400, 'INSUFFICIENT_TICKETS');
    const performances = await audit(service, 'evt_play');
    assert.deepEqual([performances.get('fri')!.held, performances.get('sat')!.held], [0, 19]);
  });

  it('takes none when a seat of the second performance is taken', async () => {
    await placePlay([seat('stalls', 'sat', 1, { seat_ids: ['S-A-5'] })], newSession());
    const items = [
      seat('stalls', 'fri', 1, { seat_ids: ['S-A-5'] }),
      seat('stalls', 'sat', 1, { seat_ids: ['S-A-5'] }),
    ];
    assertRefused(await placePlay(items), 409, 'SEAT_TAKEN');
    assert.equal((await audit(service, 'evt_play')).get('fri')!.held, 0);
  });
});

describe('The session key', () => {
  it('is taken as the header X-Session-Key or as the query parameter session_key', async () => {
    const hold = await service.hold({ session_key: session });
    assert.equal((await read(hold)).status, 200);
    assert.equal((await service.get(`${HOLDS}/${hold.id}?session_key=${session}`)).status, 200);
    assert.equal((await service.delete(`${HOLDS}/${hold.id}?session_key=${session}`)).status, 200);
  });

  it('missing or of wrong length is a VALIDATION_ERROR', async () => {
    const hold = await service.hold({ session_key: session });
    const address = `${HOLDS}/${hold.id}`;
    assertRefused(await service.get(address), 400, 'VALIDATION_ERROR');
    assertRefused(await service.get(address, as('short')), 400, 'VALIDATION_ERROR');
    assertRefused(await service.get(`${address}?session_key=short`), 400, 'VALIDATION_ERROR');
    assertRefused(await service.get(`${address}?session_key=${'x'.repeat(129)}`), 400, 'VALIDATION_ERROR');
    assertRefused(await service.patch(address, { items: [floor(1)] }), 400, 'VALIDATION_ERROR');
    assertRefused(await service.delete(address), 400, 'VALIDATION_ERROR');
    assertRefused(await place([floor(1)], { session_key: 'short' }), 400, 'VALIDATION_ERROR');
    assertRefused(await place([floor(1)], { session_key: 'x'.repeat(129) }), 400, 'VALIDATION_ERROR');
    assert.equal((await place([floor(1)], { session_key: 'x'.repeat(128) })).status, 201);
  });

  it('that does not own the hold gets exactly the answer of an id that does not exist', async () => {
    const hold = await service.hold({ session_key: session });
    const unknown = { ...hold, id: `${hold.id.slice(0, -4)}AAAA` };
    const stranger = newSession();
    const calls = [read, (each: HoldBody, key: string) => change(each, [floor(2)], key), release];
    for (const call of calls) {
      const foreign = await call(hold, stranger);
      const missing = await call(unknown, stranger);
      assertRefused(foreign, 404, 'HOLD_NOT_FOUND');
      assert.deepEqual(withoutTime(foreign.body), withoutTime(missing.body));
    }
    assert.equal((await read(hold)).body.status, 'ACTIVE');
  });

  it('is required for ids of any form', async () => {
    for (const id of ['x', 'hld_', 'hld_99_abc', 'ord_1_abc', '%20', 'hld_1_' + 'a'.repeat(300)]) {
      assertRefused(await service.get(`${HOLDS}/${id}`, as(session)), 404, 'HOLD_NOT_FOUND');
    }
  });

  const withoutTime = (body: object) => ({ ...body, timestamp: '' });
});

describe('A new POST of the same session', () => {
  it('releases the previous hold on the event', async () => {
    const first = await service.hold({ session_key: session, items: [floor(3)] });
    const second = await service.hold({ session_key: session, items: [floor(2)] });
    assert.equal((await read(first)).body.status, 'RELEASED');
    assert.equal((await read(second)).body.status, 'ACTIVE');
    assert.equal((await audit(service, 'evt_club')).get('night')!.held, 2);
  });

  it('may use the tickets of the previous hold', async () => {
    await service.hold({ session_key: session, items: [floor(60)] });
    assert.equal((await place([floor(100)])).status, 201);
    assert.equal((await audit(service, 'evt_club')).get('night')!.available, 0);
  });

  it('may use the seats of the previous hold', async () => {
    const mine = [seat('stalls', 'fri', 2, { seat_ids: ['S-A-1', 'S-A-2'] })];
    const request: HoldRequest = { event_id: 'evt_play', session_key: session, items: mine };
    await service.hold(request);
    await service.hold({ ...request, items: [seat('stalls', 'fri', 2, { seat_ids: ['S-A-2', 'S-A-3'] })] });
    const { body } = await service.get<{ held: string[] }>(
      '/api/events/public/the-play/seating/occupancy?performance_id=fri',
    );
    assert.deepEqual(body.held, ['S-A-2', 'S-A-3']);
  });

  it('that fails leaves the previous hold untouched, window included', async () => {
    const first = await service.hold({ session_key: session, items: [floor(3)] });
    service.wait(MINUTE);
    assertRefused(await place([floor(101)]), 400, 'INSUFFICIENT_TICKETS');
    assert.deepEqual((await read(first)).body, first);
  });

  it('leaves holds of other sessions and of other events alone', async () => {
    const neighbour = newSession();
    const club = await service.hold({ session_key: session });
    const theirs = await service.hold({ session_key: neighbour });
    await service.hold({ event_id: 'evt_play', session_key: session, items: [seat('standing', 'fri', 1)] });
    assert.equal((await read(club)).body.status, 'ACTIVE');
    assert.equal((await read(theirs, neighbour)).body.status, 'ACTIVE');
  });
});

describe('PATCH of a hold', () => {
  it('sets quantities, keeps lines not named, and restarts the window', async () => {
    const hold = await service.hold({ session_key: session, items: [floor(2), floor(1, { ticket_type_id: 'crew' })] });
    service.wait(MINUTE);
    const { status, body } = await change(hold, [floor(5)]);
    assert.equal(status, 200);
    assert.equal(body.id, hold.id);
    assert.equal(body.expires_at, new Date(service.now() + 10 * MINUTE).toISOString());
    assert.deepEqual(
      body.items.map((item) => [item.ticket_type_id, item.quantity]),
      [
        ['single', 5],
        ['crew', 1],
      ],
    );
  });

  it('adds a line that the hold does not have, and drops one at quantity 0', async () => {
    const hold = await service.hold({ session_key: session, items: [floor(2)] });
    const more = await change(hold, [floor(1, { ticket_type_id: 'crew' })]);
    assert.equal(more.body.items.length, 2);
    const less = await change(hold, [floor(0)]);
    assert.deepEqual(
      less.body.items.map((item) => item.ticket_type_id),
      ['crew'],
    );
    assert.equal((await audit(service, 'evt_club')).get('night')!.held, 4);
  });

  it('does not drop the last line', async () => {
    const hold = await service.hold({ session_key: session });
    assertRefused(await change(hold, [floor(0)]), 400, 'VALIDATION_ERROR');
    assert.deepEqual((await read(hold)).body, hold);
  });

  it('is all or nothing: a refused one leaves the hold and its window unchanged', async () => {
    const hold = await service.hold({ session_key: session, items: [floor(2)] });
    await service.hold({ session_key: newSession(), items: [floor(90)] });
    service.wait(MINUTE);
    const items = [floor(1), floor(3, { ticket_type_id: 'crew' })];
    assertRefused(await change(hold, items), 400, 'INSUFFICIENT_TICKETS');
    assertRefused(await change(hold, [floor(1), floor(1, { ticket_type_id: 'none' })]), 400, 'TICKET_TYPE_NOT_FOUND');
    assert.deepEqual((await read(hold)).body, hold);
    assert.equal((await audit(service, 'evt_club')).get('night')!.held, 92);
  });

  it('counts its own tickets as free', async () => {
    const hold = await service.hold({ session_key: session, items: [floor(60)] });
    assert.equal((await change(hold, [floor(100)])).status, 200);
  });

  it('of a hold whose window ran out is HOLD_EXPIRED, of one released HOLD_NOT_ACTIVE', async () => {
    const hold = await service.hold({ session_key: session });
    await release(hold);
    assertRefused(await change(hold, [floor(2)]), 409, 'HOLD_NOT_ACTIVE');
    const next = await service.hold({ session_key: session });
    service.wait(10 * MINUTE);
    assertRefused(await change(next, [floor(2)]), 409, 'HOLD_EXPIRED');
  });

  it('grows a numbered line beside the held seats, and shrinks it without leaving an orphan', async () => {
    const items = [seat('stalls', 'fri', 2, { seat_ids: ['S-A-5', 'S-A-6'] })];
    const hold = await service.hold({ event_id: 'evt_play', session_key: session, items });
    const grown = await change(hold, [seat('stalls', 'fri', 4)]);
    const seats = grown.body.items[0]!.seat_ids;
    assert.equal(seats.length, 4);
    assert.ok(seats.includes('S-A-5') && seats.includes('S-A-6'), seats.join());
    assertNeighbours(seats);
    const shrunk = (await change(hold, [seat('stalls', 'fri', 3)])).body.items[0]!.seat_ids;
    assert.equal(shrunk.length, 3);
    assert.ok(shrunk.every((id) => seats.includes(id)));
    assertNeighbours(shrunk);
  });

  it('assigns a new best block where neighbours cannot be had', async () => {
    const items = [seat('stalls', 'fri', 1, { seat_ids: ['S-B-4'] })];
    const hold = await service.hold({ event_id: 'evt_play', session_key: session, items });
    const grown = await change(hold, [seat('stalls', 'fri', 5)]);
    assert.equal(grown.body.items[0]!.seat_ids.length, 5);
    assertNeighbours(grown.body.items[0]!.seat_ids);
  });

  it('may name other seats', async () => {
    const items = [seat('stalls', 'fri', 1, { seat_ids: ['S-A-5'] })];
    const hold = await service.hold({ event_id: 'evt_play', session_key: session, items });
    const moved = await change(hold, [seat('stalls', 'fri', 2, { seat_ids: ['S-A-1', 'S-A-2'] })]);
    assert.deepEqual(moved.body.items[0]!.seat_ids, ['S-A-1', 'S-A-2']);
    assert.deepEqual(moved.body.items[0]!.seat_labels, ['1', '2']);
  });

  function assertNeighbours(seatIds: readonly string[]): void {
    const places = seatIds.map((id) => Number(id.split('-').at(-1))).sort((a, b) => a - b);
    places.forEach((place, i) => assert.equal(place, places[0]! + i, seatIds.join()));
  }
});

describe('DELETE of a hold', () => {
  it('releases it, and answers the same again', async () => {
    const hold = await service.hold({ session_key: session, items: [floor(4)] });
    for (let i = 0; i < 2; i += 1) {
      const { status, body } = await release(hold);
      assert.equal(status, 200);
      assert.equal(body.status, 'RELEASED');
    }
    assert.equal((await audit(service, 'evt_club')).get('night')!.held, 0);
  });

  it('of one that ran out is HOLD_NOT_ACTIVE', async () => {
    const hold = await service.hold({ session_key: session });
    service.wait(10 * MINUTE);
    assertRefused(await release(hold), 409, 'HOLD_NOT_ACTIVE');
  });
});

describe('The window of a hold', () => {
  it('ends at the exact millisecond of expires_at, whether or not a timer has fired', async () => {
    const hold = await service.hold({ session_key: session, items: [floor(100)] });
    const neighbour = newSession();
    service.wait(10 * MINUTE - 1);
    assert.equal((await read(hold)).body.status, 'ACTIVE');
    assertRefused(await place([floor(1)], { session_key: neighbour }), 400, 'INSUFFICIENT_TICKETS');
    service.wait(1);
    assert.equal((await place([floor(100)], { session_key: neighbour })).status, 201);
    assert.equal((await read(hold)).body.status, 'EXPIRED');
  });

  it('makes the tickets available in the payload of the event when it ends', async () => {
    await service.hold({ session_key: session, items: [floor(100)] });
    assert.equal((await singlesLeft()).available, 0);
    service.wait(10 * MINUTE);
    assert.deepEqual(await singlesLeft(), { available: 100, reserved: 0 });
  });

  it('may be a fraction of a minute', async () => {
    const quick = { ...clubNight(), id: 'evt_quick', slug: 'quick', hold_minutes: 0.05, payment_minutes: 1 };
    assert.equal((await service.admin.put('/admin/events/evt_quick', quick)).status, 201);
    const hold = await service.hold({ event_id: 'evt_quick', session_key: session });
    assert.equal(Date.parse(hold.expires_at), service.now() + 3000);
  });

  it('is cut at hold_max_minutes, counted from the first POST, through PATCH and replacement', async () => {
    const capped = { ...clubNight(), id: 'evt_cap', slug: 'cap', hold_max_minutes: 15 };
    assert.equal((await service.admin.put('/admin/events/evt_cap', capped)).status, 201);
    const begin = service.now();
    const hold = await service.hold({ event_id: 'evt_cap', session_key: session });
    assert.equal(Date.parse(hold.expires_at), begin + 10 * MINUTE);
    service.wait(4 * MINUTE);
    assert.equal(Date.parse((await change(hold, [floor(2)])).body.expires_at), begin + 14 * MINUTE);
    service.wait(4 * MINUTE);
    const replaced = await service.hold({ event_id: 'evt_cap', session_key: session });
    assert.equal(Date.parse(replaced.expires_at), begin + 15 * MINUTE);
    service.wait(6 * MINUTE);
    assert.equal(Date.parse((await change(replaced, [floor(2)])).body.expires_at), begin + 15 * MINUTE);
    service.wait(MINUTE);
    assert.equal((await read(replaced)).body.status, 'EXPIRED');
    const fresh = await service.hold({ event_id: 'evt_cap', session_key: session });
    assert.equal(Date.parse(fresh.expires_at), service.now() + 10 * MINUTE, 'a new life begins after the end of one');
  });

  it('outlives a restart to the millisecond', async () => {
    const hold = await service.hold({ session_key: session, items: [floor(7)] });
    await service.restart();
    assert.deepEqual((await read(hold)).body, hold);
    service.wait(10 * MINUTE);
    assert.equal((await read(hold)).body.status, 'EXPIRED');
    assert.equal((await audit(service, 'evt_club')).get('night')!.held, 0);
  });
});

describe('Performances that are not on sale', () => {
  it('refuse holds: cancelled, closed by the operator, over, or a draft', async () => {
    const performances = ['ON_SALE', 'SOLD_OUT', 'CANCELLED', 'DRAFT'].map((status) => ({
      id: status.toLowerCase(),
      name: status,
      starts_at: '2028-01-01T18:00:00Z',
      ends_at: '2028-01-01T20:00:00Z',
      status,
    }));
    const over = { id: 'over', name: 'Over', starts_at: '2027-01-01T18:00:00Z', ends_at: '2027-01-01T20:00:00Z' };
    const event = { ...clubNight(), id: 'evt_dates', slug: 'dates', performances: [...performances, over] };
    assert.equal((await service.admin.put('/admin/events/evt_dates', event)).status, 201);
    const on = (id: string) => place([floor(1, { performance_id: id })], { event_id: 'evt_dates' });
    assert.equal((await on('on_sale')).status, 201);
    assertRefused(await on('sold_out'), 400, 'PERFORMANCE_NOT_ON_SALE');
    assertRefused(await on('cancelled'), 400, 'PERFORMANCE_NOT_ON_SALE');
    assertRefused(await on('over'), 400, 'PERFORMANCE_NOT_ON_SALE');
    assertRefused(await on('draft'), 400, 'PERFORMANCE_NOT_FOUND');
  });

  it('cancelled by the operator release their holds', async () => {
    const event = { ...clubNight(), id: 'evt_off', slug: 'off' };
    assert.equal((await service.admin.put('/admin/events/evt_off', event)).status, 201);
    const hold = await service.hold({ event_id: 'evt_off', session_key: session });
    const cancelled = await service.admin.post('/admin/events/evt_off/performances/night/cancel');
    assert.equal(cancelled.status, 200);
    assert.equal((await read(hold)).body.status, 'RELEASED');
    assertRefused(await place([floor(1)], { event_id: 'evt_off' }), 400, 'PERFORMANCE_NOT_ON_SALE');
  });
});

describe('Checks', () => {
  it('run in the contract’s order, and the first that fails answers', async () => {
    const bad = { performance_id: 'never', ticket_type_id: 'none', selling_stage_id: 'none' };
    assertRefused(await place([{ ...floor(0), ...bad }], { event_id: 'none' }), 400, 'VALIDATION_ERROR');
    assertRefused(await place([{ ...floor(1), ...bad }], { event_id: 'none' }), 404, 'EVENT_NOT_FOUND');
    assertRefused(await place([{ ...floor(1), ...bad }]), 400, 'PERFORMANCE_NOT_FOUND');
    const { performance_id: _date, ...dateless } = bad;
    assertRefused(await place([{ ...floor(1), ...dateless }]), 400, 'TICKET_TYPE_NOT_FOUND');
    const play = { event_id: 'evt_play' };
    const seats = [seat('standing', 'fri', 99), seat('stalls', 'fri', 1, { seat_ids: ['S-A-1', 'S-A-2'] })];
    assertRefused(await place(seats, play), 400, 'SEAT_COUNT_MISMATCH');
    assertRefused(await place([seats[0]!], play), 400, 'INSUFFICIENT_TICKETS');
  });
});

describe('An Idempotency-Key on POST holds', () => {
  const keyed = (key: string, quantity = 2) =>
    service.post<HoldBody>(
      HOLDS,
      { event_id: 'evt_club', session_key: session, items: [floor(quantity)] },
      { 'idempotency-key': key },
    );

  it('gives the first answer again, status and body, with Idempotent-Replayed', async () => {
    const first = await keyed('key-1');
    assert.equal(first.headers.get('idempotent-replayed'), null);
    service.wait(MINUTE);
    const again = await keyed('key-1');
    assert.deepEqual([again.status, again.body], [201, first.body]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal((await audit(service, 'evt_club')).get('night')!.held, 2);
  });

  it('gives it also after a restart, for 24 hours', async () => {
    const first = await keyed('key-2');
    await service.restart();
    service.wait(24 * 60 * MINUTE - 1);
    assert.deepEqual((await keyed('key-2')).body, first.body);
    service.wait(1);
    const anew = await keyed('key-2');
    assert.equal(anew.status, 201);
    assert.notEqual(anew.body.id, first.body.id);
  });

  it('with another body is IDEMPOTENCY_KEY_REUSED', async () => {
    await keyed('key-3');
    assertRefused(await keyed('key-3', 3), 422, 'IDEMPOTENCY_KEY_REUSED');
  });

  it('keeps no refusal: a repeat is checked anew', async () => {
    const rival = newSession();
    const theirs = await service.hold({ session_key: rival, items: [floor(100)] });
    assertRefused(await keyed('key-4'), 400, 'INSUFFICIENT_TICKETS');
    await release(theirs, rival);
    assert.equal((await keyed('key-4')).status, 201);
  });

  it('leads to one hold for concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => keyed('key-5')));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
    assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
    assert.equal(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null).length, 1);
  });

  it('has 1 to 255 characters', async () => {
    assert.equal((await keyed('k'.repeat(255))).status, 201);
    assertRefused(await keyed('k'.repeat(256)), 400, 'VALIDATION_ERROR');
  });
});

describe('RESPONSE_ENVELOPE=data', () => {
  it('wraps successful bodies and no errors', async () => {
    const wrapped = await openServiceWith([clubNight()], { RESPONSE_ENVELOPE: 'data' });
    try {
      const body = { event_id: 'evt_club', session_key: session, items: [floor(1)] };
      const { status, body: answer } = await wrapped.post<{ data: HoldBody }>(HOLDS, body);
      assert.equal(status, 201);
      assert.equal(answer.data.status, 'ACTIVE');
      const payload = await wrapped.get<{ data: EventBody }>('/api/events/public/club-night');
      assert.equal(payload.body.data.slug, 'club-night');
      assertRefused(await wrapped.post(HOLDS, { ...body, event_id: 'none' }), 404, 'EVENT_NOT_FOUND');
    } finally {
      await wrapped.close();
    }
  });
});
