/** Holds cannot take an event off sale: purchase limits apply when a hold is placed, and its life has a maximum. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { EventBody } from '#http/schemas/events.ts';
import type { HoldBody } from '#http/schemas/holds.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { as, HOLDS, newSession, type Answer, type ItemRequest } from '../fixtures/client.ts';
import { clubNight, floor, seat, theatreRun } from '../fixtures/events.ts';
import { MINUTE, openServiceWith, type TestService } from '../fixtures/service.ts';

let service: TestService;
let session: string;

/** Four singles and two crews a performance, six tickets an order. */
const capped = (overrides: object = {}) => {
  const night = clubNight() as { readonly ticketTypes: readonly object[] };
  const [single, crew] = night.ticketTypes;
  const ticketTypes = [
    { ...single, max_per_order: 4 },
    { ...crew, max_per_order: 2 },
  ];
  return clubNight({ ticketTypes, max_tickets_per_order: 6, ...overrides });
};

const crews = (quantity: number): ItemRequest => floor(quantity, { ticket_type_id: 'crew' });

function place(items: readonly ItemRequest[], eventId = 'evt_club', key = session): Promise<Answer<HoldBody>> {
  return service.post<HoldBody>(HOLDS, { event_id: eventId, session_key: key, items });
}

function change(hold: HoldBody, items: readonly ItemRequest[], key = session): Promise<Answer<HoldBody>> {
  return service.patch<HoldBody>(`${HOLDS}/${hold.id}`, { items }, as(key));
}

async function read(hold: HoldBody, key = session): Promise<HoldBody> {
  return (await service.get<HoldBody>(`${HOLDS}/${hold.id}`, as(key))).body;
}

before(async () => {
  service = await openServiceWith([
    capped(),
    capped({ id: 'evt_letter', slug: 'letter', limits_at_hold: false }),
    clubNight({ id: 'evt_open', slug: 'open', localities: [{ id: 'floor', seating: 'GENERAL', capacity: 50_000 }] }),
    theatreRun({ id: 'evt_play', slug: 'the-play', max_tickets_per_order: 3 }),
  ]);
});
after(() => service.close());
beforeEach(() => {
  session = newSession();
  // Every test begins with all tickets free: an hour later every hold has run out.
  service.wait(60 * MINUTE);
});

describe('A hold that no order could take', () => {
  it('is refused at POST over max_per_order, and leaves every ticket on sale', async () => {
    const detail = assertRefused(await place([floor(5)]), 400, 'MAX_PER_ORDER_EXCEEDED');
    assert.deepEqual(detail, { limit: 4, requested: 5, ticket_type_id: 'single' });
    const { body } = await service.get<EventBody>('/api/events/public/club-night');
    assert.equal(body.ticketAvailability[0]!.available, 100);
  });

  it('is refused over max_per_order counted over all items and stages of the performance', async () => {
    const stages = [
      { id: 'regular', prices: { single: 1900 } },
      { id: 'evening', prices: { single: 2100 } },
    ];
    const event = capped({ id: 'evt_stages', slug: 'stages', sellingStages: stages });
    assert.equal((await service.admin.put('/admin/events/evt_stages', event)).status, 201);
    const items = [floor(2), floor(1), floor(2, { selling_stage_id: 'evening' })];
    const detail = assertRefused(await place(items, 'evt_stages'), 400, 'MAX_PER_ORDER_EXCEEDED');
    assert.deepEqual(detail, { limit: 4, requested: 5, ticket_type_id: 'single' });
    assert.equal((await place(items.slice(1), 'evt_stages')).status, 201);
  });

  it('may have max_per_order on each of several performances', async () => {
    const performances = ['fri', 'sat'].map((id) => ({ id, starts_at: '2028-05-12T18:00:00Z' }));
    const event = capped({ id: 'evt_two', slug: 'two', performances, max_tickets_per_order: null });
    assert.equal((await service.admin.put('/admin/events/evt_two', event)).status, 201);
    const both = [floor(4, { performance_id: 'fri' }), floor(4, { performance_id: 'sat' })];
    assert.equal((await place(both, 'evt_two')).status, 201);
  });

  it('is refused at POST over max_tickets_per_order, group tickets counted in full', async () => {
    const detail = assertRefused(await place([crews(2)]), 400, 'MAX_TICKETS_PER_ORDER_EXCEEDED');
    assert.deepEqual(detail, { limit: 6, requested: 8 });
    assertRefused(await place([crews(1), floor(3)]), 400, 'MAX_TICKETS_PER_ORDER_EXCEEDED');
    assert.equal((await place([crews(1), floor(2)])).status, 201);
  });

  it('is refused over 10,000 tickets where the event has no cap', async () => {
    const detail = assertRefused(await place([floor(10_001)], 'evt_open'), 400, 'MAX_TICKETS_PER_ORDER_EXCEEDED');
    assert.deepEqual(detail, { limit: 10_000, requested: 10_001 });
    assert.equal((await place([floor(10_000)], 'evt_open')).status, 201);
  });

  it('is refused at PATCH, which leaves the hold and its window as they were', async () => {
    const { body: hold } = await place([floor(2)]);
    service.wait(MINUTE);
    assertRefused(await change(hold, [floor(5)]), 400, 'MAX_PER_ORDER_EXCEEDED');
    const detail = assertRefused(await change(hold, [floor(4), crews(1)]), 400, 'MAX_TICKETS_PER_ORDER_EXCEEDED');
    assert.deepEqual(detail, { limit: 6, requested: 8 });
    const added = assertRefused(await change(hold, [crews(2)]), 400, 'MAX_TICKETS_PER_ORDER_EXCEEDED');
    assert.equal(added['requested'], 10, 'lines that are not named count too');
    assert.deepEqual(await read(hold), hold);
  });

  it('leaves the previous hold of the session as it was', async () => {
    const { body: hold } = await place([floor(2)]);
    service.wait(MINUTE);
    assertRefused(await place([floor(5)]), 400, 'MAX_PER_ORDER_EXCEEDED');
    assert.deepEqual(await read(hold), hold);
  });

  it('is refused after types and stages, and before seats and stock', async () => {
    assertRefused(await place([floor(5), floor(1, { ticket_type_id: 'none' })]), 400, 'TICKET_TYPE_NOT_FOUND');
    assertRefused(await place([floor(5), floor(1, { selling_stage_id: 'late' })]), 400, 'TICKET_NOT_ON_SALE');
    assertRefused(await place([floor(101)]), 400, 'MAX_PER_ORDER_EXCEEDED');
    const seats = [seat('stalls', 'fri', 4, { seat_ids: ['S-A-1', 'nowhere'] })];
    assertRefused(await place(seats, 'evt_play'), 400, 'MAX_TICKETS_PER_ORDER_EXCEEDED');
  });

  it('is placed where limits_at_hold is false, and refused at checkout alone', async () => {
    const { status, body: hold } = await place([floor(5), crews(3)], 'evt_letter');
    assert.equal(status, 201);
    assert.equal((await change(hold, [floor(60)])).status, 200);
    const start = { event_id: 'evt_letter', hold_id: hold.id, accept_terms: true };
    const customer = { name: 'Ada', email: 'ada@example.org' };
    assertRefused(await service.post('/api/checkout/start', { ...start, customer }), 400, 'MAX_PER_ORDER_EXCEEDED');
    assert.equal((await place([floor(10_001)], 'evt_letter')).status, 400);
  });
});

describe('The life of a hold', () => {
  it('does not count in next_release_at for tickets that it gave up at its maximum', async () => {
    const event = clubNight({ id: 'evt_next', slug: 'next', hold_max_minutes: 10 });
    assert.equal((await service.admin.put('/admin/events/evt_next', event)).status, 201);
    const { body: hold } = await place([floor(1), crews(1)], 'evt_next');
    service.wait(MINUTE);
    const other = await place([crews(9)], 'evt_next', newSession());
    const { body: changed } = await change(hold, [crews(0)]);
    assert.equal(changed.expires_at, hold.expires_at);
    const detail = assertRefused(await place([crews(2)], 'evt_next', newSession()), 400, 'INSUFFICIENT_TICKETS');
    assert.deepEqual(
      [detail['available'], detail['reserved_by_others'], detail['next_release_at']],
      [4, true, other.body.expires_at],
    );
  });

  it('ends four times hold_minutes after its first POST where the event says nothing else', async () => {
    const begin = service.now();
    let { body: hold } = await place([floor(1)]);
    for (let minute = 9; minute <= 36; minute += 9) {
      service.wait(9 * MINUTE);
      hold = minute % 2 === 0 ? (await change(hold, [floor(2)])).body : (await place([floor(1)])).body;
      const end = Math.min(minute + 10, 40);
      assert.equal(Date.parse(hold.expires_at), begin + end * MINUTE, `${minute} minutes after the first POST`);
    }
    service.wait(4 * MINUTE - 1);
    assert.equal((await change(hold, [floor(1)])).status, 200);
    service.wait(1);
    assert.equal((await read(hold)).status, 'EXPIRED');
    const next = newSession();
    assert.equal((await place([floor(4)], 'evt_club', next)).status, 201, 'the tickets are free at that millisecond');
  });

  it('has no maximum where hold_max_minutes is 0', async () => {
    const event = clubNight({ id: 'evt_long', slug: 'long', hold_max_minutes: 0 });
    assert.equal((await service.admin.put('/admin/events/evt_long', event)).status, 201);
    const { body: hold } = await place([floor(1)], 'evt_long');
    for (let i = 0; i < 10; i += 1) {
      service.wait(9 * MINUTE);
      const { body } = await change(hold, [floor(1)]);
      assert.equal(Date.parse(body.expires_at), service.now() + 10 * MINUTE);
    }
  });

  it('is not cut short by a change after the operator lowered the maximum below it', async () => {
    const event = (ceiling: number) => clubNight({ id: 'evt_low', slug: 'low', hold_max_minutes: ceiling });
    assert.equal((await service.admin.put('/admin/events/evt_low', event(0))).status, 201);
    const { body: hold } = await place([floor(1)], 'evt_low');
    service.wait(9 * MINUTE);
    const { body: kept } = await change(hold, [floor(1)]);
    assert.equal((await service.admin.put('/admin/events/evt_low', event(10))).status, 200);
    service.wait(2 * MINUTE);
    const { body: changed } = await change(kept, [floor(2)]);
    assert.equal(changed.status, 'ACTIVE');
    assert.equal(changed.expires_at, kept.expires_at);
  });
});
