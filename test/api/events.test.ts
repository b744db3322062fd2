/** The public event payload and the list of events: what is shown, and that the figures are those of the stock. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { samplesFolder } from '#catalogue/files.ts';
import type { EventBody, EventListEntryBody } from '#http/schemas/events.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { as, newSession } from '../fixtures/client.ts';
import { clubNight, floor, sample, seat, theatreRun } from '../fixtures/events.ts';
import { MINUTE, openServiceWith, type TestService } from '../fixtures/service.ts';

let service: TestService;
let session: string;

const draft = { ...clubNight(), id: 'evt_draft', slug: 'draft', status: 'DRAFT' };

before(async () => {
  const shown = sample('club-night', { id: 'evt_shown', slug: 'shown' });
  service = await openServiceWith([theatreRun(), clubNight(), draft, shown], { PICTURES: samplesFolder });
});
after(() => service.close());
beforeEach(() => {
  session = newSession();
  // Every test begins with all tickets free: an hour later every hold has run out.
  service.wait(60 * MINUTE);
});

async function look(slug: string, query = '', key?: string): Promise<EventBody> {
  const headers = key === undefined ? {} : as(key);
  const { status, body } = await service.get<EventBody>(`/api/events/public/${slug}${query}`, headers);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

function rowOf(event: EventBody, ticketTypeId: string, stageId = event.sellingStages[0]!.id) {
  return event.ticketAvailability.find(
    (row) => row.ticket_type_id === ticketTypeId && row.selling_stage_id === stageId,
  )!;
}

describe('The public event payload', () => {
  it('has the fields of the contract', async () => {
    const body = await look('club-night');
    assert.deepEqual(Object.keys(body).sort(), [
      'currency',
      'description',
      'hold_minutes',
      'id',
      'legal',
      'localities',
      'max_installments',
      'max_tickets_per_email',
      'max_tickets_per_order',
      'name',
      'performances',
      'require_individual_data',
      'sellingStages',
      'slug',
      'ticketAvailability',
      'ticketTypes',
      'timezone',
      'waiting_room',
      'waiting_room_minutes',
      'waiting_room_opens_at',
      'waiting_room_rate',
    ]);
    assert.deepEqual(body.localities, [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 100 }]);
    assert.deepEqual(Object.keys(body.ticketTypes[0]!).sort(), [
      'accessible',
      'barPerks',
      'description',
      'entry_cutoff',
      'group_size',
      'id',
      'late_fee',
      'locality_id',
      'max_per_order',
      'min_consumption',
      'name',
      'zone_keys',
    ]);
    assert.deepEqual(
      [body.waiting_room, body.hold_minutes, body.max_installments, body.require_individual_data],
      [false, 10, 1, false],
    );
  });

  it('has picture, venue, line-up and entrance times of events that set them, and the list what it shows of them', async () => {
    const body = await look('shown');
    assert.equal(body.picture, '/pictures/pictures/night-shift.webp');
    assert.deepEqual(body.venue, { name: 'Kesselhaus', address: 'Lagerstraße 9', city: 'Leipzig', country: 'DE' });
    assert.deepEqual(body.lineup?.[0], { name: 'Mira Okafor', time: '23:00' });
    assert.equal(body.performances[0]!.doors_at, '2028-09-23T20:30:00.000Z');
    const { body: page } = await service.get<{ events: EventListEntryBody[] }>('/api/events/public');
    const entry = page.events.find(({ slug }) => slug === 'shown')!;
    assert.deepEqual([entry.picture, entry.venue], [body.picture, { name: 'Kesselhaus', city: 'Leipzig' }]);
  });

  it('names a picture that this service serves by what its bytes are, and that a client may keep', async () => {
    const address = `${service.publicUrl}${(await look('shown')).picture}`;
    const answer = await fetch(address);
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/webp']);
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=3600');
    const again = await fetch(address, { headers: { 'if-none-match': answer.headers.get('etag')! } });
    assert.equal(again.status, 304);
    for (const other of [
      'none.webp',
      'club-night.json',
      '../files.ts',
      '..%2ffiles.ts',
      '%00',
      '',
      '.hidden',
      'pictures',
    ]) {
      const refused = await fetch(`${service.publicUrl}/pictures/${other}`);
      assert.equal(refused.status, 404, other);
    }
  });

  it('has one row for each pair of type and stage with a price', async () => {
    const { ticketAvailability } = await look('club-night');
    assert.deepEqual(ticketAvailability, [
      rowWith({ ticket_type_id: 'single', selling_stage_id: 'regular', price: 1900, available: 100 }),
      rowWith({ ticket_type_id: 'single', selling_stage_id: 'late', price: 2500, available: 100, on_sale: false }),
      rowWith({ ticket_type_id: 'crew', selling_stage_id: 'regular', price: 6800, available: 40 }),
    ]);
  });

  const rowWith = (fields: object) => ({ performance_id: null, on_sale: true, reserved: 0, ...fields });

  it('shows a stage as on sale between its times', async () => {
    const { sellingStages } = await look('club-night');
    assert.deepEqual(
      sellingStages.map(({ id, on_sale, starts_at }) => [id, on_sale, starts_at]),
      [
        ['regular', true, null],
        ['late', false, '2028-05-08T12:00:00.000Z'],
      ],
    );
  });

  it('shows total_available, from_price and sold_out of performances only where there are several', async () => {
    const single = (await look('club-night')).performances[0]!;
    assert.deepEqual(Object.keys(single).sort(), [
      'ends_at',
      'id',
      'name',
      'on_sale',
      'sort_order',
      'starts_at',
      'status',
    ]);
    const several = (await look('the-play')).performances;
    assert.deepEqual(
      several.map((date) => [date.id, date.status, date.total_available, date.from_price, date.sold_out]),
      [
        ['fri', 'ON_SALE', 50, 900, false],
        ['sat', 'ON_SALE', 50, 900, false],
      ],
    );
  });

  it('sums rows over the performances, and shows the stock of one with ?performance_id=', async () => {
    await service.hold({ event_id: 'evt_play', session_key: session, items: [seat('standing', 'fri', 3)] });
    const all = rowOf(await look('the-play'), 'standing');
    assert.deepEqual([all.performance_id, all.available, all.reserved], [null, 37, 3]);
    const friday = rowOf(await look('the-play', '?performance_id=fri'), 'standing');
    assert.deepEqual([friday.performance_id, friday.available, friday.reserved], ['fri', 17, 3]);
    const saturday = rowOf(await look('the-play', '?performance_id=sat'), 'standing');
    assert.deepEqual([saturday.performance_id, saturday.available, saturday.reserved], ['sat', 20, 0]);
    const ofPerformances = (await look('the-play')).performances.map((each) => each.total_available);
    assert.deepEqual(ofPerformances, [47, 50], 'each ticket is counted once');
  });

  it('counts tickets, not units', async () => {
    await service.hold({ session_key: session, items: [floor(2, { ticket_type_id: 'crew' })] });
    const crew = rowOf(await look('club-night'), 'crew');
    assert.deepEqual([crew.available, crew.reserved], [32, 8]);
  });

  it('limits available by what is left in the locality, in the type’s quota and in the stage’s quota', async () => {
    await service.hold({ session_key: session, items: [floor(70)] });
    assert.equal(rowOf(await look('club-night'), 'crew').available, 30);
    const quotas = clubNight({
      id: 'evt_quota',
      slug: 'quota',
      sellingStages: [{ id: 'regular', name: 'Regular', prices: { single: 100, crew: 400 }, quotas: { single: 9 } }],
    });
    assert.equal((await service.admin.put('/admin/events/evt_quota', quotas)).status, 201);
    const event = await look('quota');
    assert.deepEqual([rowOf(event, 'single').available, rowOf(event, 'crew').available], [9, 40]);
  });

  it('counts the session’s own ACTIVE hold as free, with the key in the header or the query', async () => {
    await service.hold({ session_key: session, items: [floor(60)] });
    assert.equal(rowOf(await look('club-night'), 'single').available, 40);
    assert.equal(rowOf(await look('club-night', '', session), 'single').available, 100);
    assert.equal(rowOf(await look('club-night', `?session_key=${session}`), 'single').available, 100);
    assert.equal(rowOf(await look('club-night', '', newSession()), 'single').available, 40);
    assert.equal(rowOf(await look('club-night'), 'single').available, 40, 'and for nobody else');
  });

  it('changes with every hold and with time alone', async () => {
    const event = clubNight({
      id: 'evt_soon',
      slug: 'soon',
      sellingStages: [
        {
          id: 'soon',
          name: 'Soon',
          starts_at: new Date(service.now() + MINUTE).toISOString(),
          ends_at: new Date(service.now() + 2 * MINUTE).toISOString(),
          prices: { single: 100 },
        },
      ],
    });
    assert.equal((await service.admin.put('/admin/events/evt_soon', event)).status, 201);
    const onSale = async () => rowOf(await look('soon'), 'single').on_sale;
    service.wait(MINUTE - 1);
    assert.equal(await onSale(), false);
    service.wait(1);
    assert.equal(await onSale(), true);
    service.wait(MINUTE - 1);
    assert.equal(await onSale(), true);
    service.wait(1);
    assert.equal(await onSale(), false);
  });

  it('refuses an unknown slug, a draft event and an unknown performance', async () => {
    assertRefused(await service.get('/api/events/public/nowhere'), 404, 'EVENT_NOT_FOUND');
    assertRefused(await service.get('/api/events/public/draft'), 404, 'EVENT_NOT_FOUND');
    assertRefused(await service.get('/api/events/public/the-play?performance_id=sun'), 400, 'PERFORMANCE_NOT_FOUND');
    assertRefused(await service.get('/api/events/public/the-play?session_key=short'), 400, 'VALIDATION_ERROR');
  });
});

describe('Performances in the payload', () => {
  const date = (id: string, more: object = {}) => ({
    id,
    name: id,
    starts_at: '2028-06-01T18:00:00Z',
    ends_at: '2028-06-01T20:00:00Z',
    ...more,
  });

  it('leave out drafts, and count 0 where cancelled, closed by the operator or over', async () => {
    const event = clubNight({
      id: 'evt_dates',
      slug: 'dates',
      performances: [
        date('open'),
        date('closed', { status: 'SOLD_OUT' }),
        date('off', { status: 'CANCELLED' }),
        date('hidden', { status: 'DRAFT' }),
        date('past', { starts_at: '2027-01-01T18:00:00Z', ends_at: '2027-01-01T20:00:00Z' }),
      ],
    });
    assert.equal((await service.admin.put('/admin/events/evt_dates', event)).status, 201);
    const body = await look('dates');
    const shown = body.performances.map((each) => [
      each.id,
      [each.status, each.on_sale, each.total_available, each.from_price],
    ]);
    assert.deepEqual(Object.fromEntries(shown), {
      open: ['ON_SALE', true, 100, 1900],
      closed: ['SOLD_OUT', false, 0, 0],
      off: ['CANCELLED', false, 0, 0],
      past: ['ON_SALE', false, 0, 0],
    });
    assert.equal(rowOf(body, 'single').available, 100);
    assert.equal(rowOf(await look('dates', '?performance_id=off'), 'single').on_sale, false);
    assertRefused(await service.get('/api/events/public/dates?performance_id=hidden'), 400, 'PERFORMANCE_NOT_FOUND');
  });

  it('have on_sale, which is false when over, sold out, or when no stage is open, on events with one performance too', async () => {
    const start = service.now() + 10 * MINUTE;
    const at = (minutes: number) => new Date(start + minutes * MINUTE).toISOString();
    const event = clubNight({
      id: 'evt_moment',
      slug: 'moment',
      performances: [date('night', { starts_at: at(0), ends_at: at(60) })],
      localities: [{ id: 'floor', seating: 'GENERAL', capacity: 5 }],
      ticketTypes: [{ id: 'crew', locality_id: 'floor', group_size: 4 }],
      sellingStages: [{ id: 'evening', starts_at: at(0), ends_at: null, prices: { crew: 6800 } }],
    });
    assert.equal((await service.admin.put('/admin/events/evt_moment', event)).status, 201);
    const onSale = async (key?: string) => (await look('moment', '', key)).performances[0]!.on_sale;
    assert.equal(await onSale(), false, 'no stage is open');
    service.wait(10 * MINUTE);
    assert.equal(await onSale(), true);
    const items = [{ ticket_type_id: 'crew', selling_stage_id: 'evening', quantity: 1 }];
    await service.hold({ event_id: 'evt_moment', session_key: session, items });
    assert.equal(await onSale(), false, 'one place is left, and a crew takes four');
    assert.equal(await onSale(session), true, "the session's own hold counts as free");
    service.wait(10 * MINUTE);
    assert.equal(await onSale(), true, 'the hold ran out');
    service.wait(50 * MINUTE);
    const over = await look('moment');
    assert.deepEqual([over.performances[0]!.on_sale, over.performances[0]!.status], [false, 'ON_SALE']);
    assert.deepEqual([over.ticketAvailability[0]!.on_sale, over.ticketAvailability[0]!.available], [false, 0]);
  });

  it('may have no fixed time', async () => {
    const event = clubNight({ id: 'evt_pass', slug: 'season-pass', performances: [{ id: 'any', name: 'Any day' }] });
    assert.equal((await service.admin.put('/admin/events/evt_pass', event)).status, 201);
    const [any] = (await look('season-pass')).performances;
    assert.deepEqual([any!.starts_at, any!.ends_at, any!.on_sale], [null, null, true]);
  });

  it('sum reserved as their rows do, also those that are over while a hold runs', async () => {
    const end = new Date(service.now() + 5 * MINUTE).toISOString();
    const performances = [date('tonight', { starts_at: null, ends_at: end }), date('later')];
    const event = clubNight({ id: 'evt_sums', slug: 'sums', performances });
    assert.equal((await service.admin.put('/admin/events/evt_sums', event)).status, 201);
    const items = [floor(3, { performance_id: 'tonight' }), floor(2, { performance_id: 'later' })];
    await service.hold({ event_id: 'evt_sums', session_key: session, items });
    service.wait(5 * MINUTE);
    const rows = [];
    for (const id of ['tonight', 'later']) rows.push(rowOf(await look('sums', `?performance_id=${id}`), 'single'));
    assert.deepEqual(
      rows.map(({ available, reserved }) => [available, reserved]),
      [
        [0, 3],
        [98, 2],
      ],
    );
    const { available, reserved } = rowOf(await look('sums'), 'single');
    assert.deepEqual([available, reserved], [98, 5]);
  });

  it('that are all drafts cannot be named: PERFORMANCE_NOT_FOUND', async () => {
    const event = clubNight({ id: 'evt_bare', slug: 'bare', performances: [date('x', { status: 'DRAFT' })] });
    assert.equal((await service.admin.put('/admin/events/evt_bare', event)).status, 201);
    const hold = { event_id: 'evt_bare', session_key: session, items: [floor(1)] };
    const detail = assertRefused(await service.post('/api/checkout/holds', hold), 400, 'PERFORMANCE_NOT_FOUND');
    assert.deepEqual(detail, { performance_id: null });
    const customer = { name: 'Ada', email: 'ada@example.org' };
    const start = { event_id: 'evt_bare', accept_terms: true, customer, items: [floor(1)] };
    assertRefused(await service.post('/api/checkout/start', start), 400, 'PERFORMANCE_NOT_FOUND');
    assert.deepEqual((await look('bare')).performances, []);
  });

  it('are not sold_out while others merely hold the rest', async () => {
    const items = [seat('standing', 'fri', 20)];
    const rest = { ...theatreRun({ id: 'evt_small', slug: 'small' }) } as Record<string, unknown>;
    const localities = (rest['localities'] as { id: string }[]).filter(({ id }) => id === 'yard');
    const ticketTypes = (rest['ticketTypes'] as { id: string }[]).filter(({ id }) => id === 'standing');
    const sellingStages = [{ id: 'general', name: 'General', prices: { standing: 900 } }];
    const event = { ...rest, localities, ticketTypes, sellingStages };
    assert.equal((await service.admin.put('/admin/events/evt_small', event)).status, 201);
    await service.hold({ event_id: 'evt_small', session_key: session, items });
    const friday = (await look('small')).performances[0]!;
    assert.deepEqual([friday.total_available, friday.sold_out, friday.status], [0, false, 'ON_SALE']);
  });
});

describe('The list of events', () => {
  interface Page {
    readonly events: EventListEntryBody[];
    readonly next_cursor: string | null;
  }

  const list = async (query = ''): Promise<Page> => {
    const { status, body } = await service.get<Page>(`/api/events/public${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };

  it('shows published events by their first performance', async () => {
    const { events } = await list();
    assert.ok(!events.some(({ id }) => id === 'evt_draft'));
    const starts = events.map((event) => event.starts_at!);
    assert.deepEqual(starts, starts.toSorted());
    assert.deepEqual(
      events.find(({ id }) => id === 'evt_play'),
      {
        id: 'evt_play',
        slug: 'the-play',
        name: 'The play',
        starts_at: '2028-05-12T18:00:00.000Z',
        ends_at: '2028-05-13T21:00:00.000Z',
        currency: 'EUR',
        from_price: 900,
        sold_out: false,
        waiting_room: false,
        timezone: 'UTC',
      },
    );
  });

  it('comes in pages by cursor', async () => {
    const whole = (await list()).events.map(({ id }) => id);
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = await list(`?limit=1${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
      assert.equal(page.events.length, 1);
      paged.push(page.events[0]!.id);
      cursor = page.next_cursor;
    } while (cursor !== null);
    assert.deepEqual(paged, whole);
  });

  it('refuses a malformed limit or cursor with VALIDATION_ERROR', async () => {
    for (const query of [
      'limit=0',
      'limit=501',
      'limit=x',
      'limit=1.5',
      'limit=',
      'cursor=',
      'cursor=%00',
      'cursor=!',
    ]) {
      assertRefused(await service.get(`/api/events/public?${query}`), 400, 'VALIDATION_ERROR');
    }
  });
});
