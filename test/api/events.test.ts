/** The public event payload and the list of events: what is shown, and that the figures are those of the stock. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { samplesFolder } from '#catalogue/files.ts';
import type { EventBody, EventListEntryBody } from '#http/buyers/events/schema.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { as, bodyOf, newSession } from '../fixtures/client.ts';
import { clubNight, floor, sample, theatreRun } from '../fixtures/events.ts';
import { MINUTE, serviceWith } from '../fixtures/service.ts';

let session: string;

const draft = { ...clubNight(), id: 'evt_draft', slug: 'draft', status: 'DRAFT' };

const shown = sample('club-night', { id: 'evt_shown', slug: 'shown' });
const service = serviceWith([theatreRun(), clubNight(), draft, shown], { PICTURES: samplesFolder });
beforeEach(() => {
  session = newSession();
  // Every test begins with all tickets free: an hour later every hold has run out.
  service.wait(60 * MINUTE);
});

async function look(slug: string, query = '', key?: string): Promise<EventBody> {
  const headers = key === undefined ? {} : as(key);
  const body = bodyOf(await service.get<EventBody>(`/api/events/public/${slug}${query}`, headers));
  return body;
}

describe('The public event payload', () => {
  it('names the doors of the event, one where it defines none, and whether a ticket enters again', async () => {
    const one = await look('club-night');
    assert.deepEqual(one.doors, [{ id: 'main', name: 'Entrance', ticket_type_ids: null }]);
    assert.equal(one.reentry, 'AFTER_EXIT');
  });

  it('has the fields of the contract', async () => {
    const body = await look('club-night');
    assert.deepEqual(Object.keys(body).sort(), [
      'buyer_changes',
      'currency',
      'description',
      'doors',
      'hold_minutes',
      'id',
      'legal',
      'localities',
      'max_installments',
      'max_tickets_per_email',
      'max_tickets_per_order',
      'name',
      'performances',
      'reentry',
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

  it('has a picture that is served while a published event names it, and no longer', async () => {
    const { publicUrl } = service;
    const statusOf = async () => (await fetch(`${publicUrl}/pictures/pictures/the-glass-orchard.webp`)).status;
    const named = (status: string) =>
      service.define(clubNight({ id: 'evt_pic', slug: 'pic', status, picture: 'pictures/the-glass-orchard.webp' }));
    assert.equal(await statusOf(), 404, 'no event names it');
    await named('DRAFT');
    assert.equal(await statusOf(), 404, 'a draft does');
    await named('PUBLISHED');
    assert.equal(await statusOf(), 200);
    await named('DRAFT');
    service.wait(10_000);
    assert.equal(await statusOf(), 404);
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

  it('has the session key in the header or the query', async () => {
    await service.hold({ session_key: session, items: [floor(60)] });
    const left = async (query = '', key?: string) =>
      (await look('club-night', query, key)).ticketAvailability[0]!.available;
    assert.deepEqual([await left(), await left('', session), await left(`?session_key=${session}`)], [40, 100, 100]);
  });

  it('refuses an unknown slug, a draft event and a session key that is none', async () => {
    assertRefused(await service.get('/api/events/public/nowhere'), 404, 'EVENT_NOT_FOUND');
    assertRefused(await service.get('/api/events/public/draft'), 404, 'EVENT_NOT_FOUND');
    assertRefused(await service.get('/api/events/public/the-play?session_key=short'), 400, 'VALIDATION_ERROR');
  });
});

describe('The list of events', () => {
  interface Page {
    readonly events: EventListEntryBody[];
    readonly next_cursor: string | null;
  }

  const list = async (query = ''): Promise<Page> => {
    const body = bodyOf(await service.get<Page>(`/api/events/public${query}`));
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
