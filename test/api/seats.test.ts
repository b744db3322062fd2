/**
 * Numbered seats over HTTP: the form of requests and answers, and whole halls. The rules are scenarios
 * (`scenarios/seats.ts`).
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { EventBody } from '#http/buyers/events/schema.ts';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { OccupancyBody, SeatBody, SeatingBody } from '#http/buyers/seating.ts';
import { plainBestBlock, type PlainSeat, type PlainType } from '../fixtures/best-available-model.ts';
import { assertRefused, audit } from '../fixtures/checks.ts';
import { HOLDS, newSession, type Answer, type ItemRequest } from '../fixtures/client.ts';
import { sample, seat, theatreRun } from '../fixtures/events.ts';
import { MINUTE, ofOneMachine, ofOneThread, openServiceFor, serviceWith } from '../fixtures/service.ts';

const PLAY = '/api/events/public/the-play';
/** Why some hundred questions in one hall are asked of one thread alone. */
const CHOSEN = 'which seats are chosen is up to the event';

const service = serviceWith([theatreRun()]);
let session: string;

beforeEach(() => {
  session = newSession();
  // Every test begins with all seats free: an hour later every hold has run out.
  service.wait(60 * MINUTE);
});

function place(items: readonly ItemRequest[]): Promise<Answer<HoldBody>> {
  return service.post<HoldBody>(HOLDS, { event_id: 'evt_play', session_key: session, items });
}

function suggest(request: object): Promise<Answer<SeatBody[]>> {
  return service.post<SeatBody[]>(`${PLAY}/seating/best-available`, request);
}

describe('seat_ids', () => {
  it('of an item are 1 to 200', async () => {
    const seatIds = Array.from({ length: 201 }, (_, i) => `S-X-${i}`);
    for (const named of [[], seatIds]) {
      const items = [seat('stalls', 'fri', Math.max(1, named.length), { seat_ids: named })];
      assertRefused(await place(items), 400, 'VALIDATION_ERROR');
    }
  });
});

describe('POST best-available', () => {
  it('answers seats in full', async () => {
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
  });

  it('is refused for its form, and of an unknown event', async () => {
    const ask = (request: object) => suggest({ ticket_type_id: 'stalls', count: 1, performance_id: 'fri', ...request });
    assertRefused(await ask({ count: 0 }), 400, 'VALIDATION_ERROR');
    assertRefused(await ask({ count: 201 }), 400, 'VALIDATION_ERROR');
    assertRefused(await ask({ count: 1.5 }), 400, 'VALIDATION_ERROR');
    assertRefused(await ask({ session_key: 'short' }), 400, 'VALIDATION_ERROR');
    const elsewhere = '/api/events/public/nowhere/seating/best-available';
    assertRefused(await service.post(elsewhere, { ticket_type_id: 'x', count: 1 }), 404, 'EVENT_NOT_FOUND');
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
  it('refuses an invalid version with VALIDATION_ERROR', async () => {
    for (const since of ['-1', 'x', '1.5', '']) {
      const address = `${PLAY}/seating/occupancy?performance_id=fri&since=${since}`;
      assertRefused(await service.get(address), 400, 'VALIDATION_ERROR');
    }
  });

  it('has an ETag that changes with every change of a seat', async () => {
    const address = `${PLAY}/seating/occupancy?performance_id=fri`;
    const etag = (await service.get(address)).headers.get('etag')!;
    assert.equal((await service.get(address, { 'if-none-match': etag })).status, 304);
    assert.equal((await place([seat('stalls', 'fri', 1)])).status, 201);
    assert.equal((await service.get(address, { 'if-none-match': etag })).status, 200);
  });
});

describe('The ETag of an occupancy, in full and of what changed,', () => {
  it('is of one activation: a turn may have been shown under the next version, and lost', async (t) => {
    const hall = await openServiceFor(t, [sample('erfurt-volley')]);
    const address = '/api/events/public/erfurt-volley/seating/occupancy?performance_id=derby';
    const { body } = await hall.get<OccupancyBody>(address);
    const addresses = [address, `${address}&since=${body.version}`];
    const read = () => Promise.all(addresses.map((each) => hall.get<OccupancyBody>(each)));
    const before = await read();
    await hall.restart();
    for (const [index, { body: shown, headers }] of before.entries()) {
      const asked = addresses[index]!;
      const after = await hall.get<OccupancyBody>(asked, { 'if-none-match': headers.get('etag')! });
      assert.equal(after.status, 200);
      assert.deepEqual(after.body, shown);
      assert.equal((await hall.get(asked, { 'if-none-match': after.headers.get('etag')! })).status, 304);
    }
  });
});

describe('The wheelchair places of Erfurt', () => {
  it('are 31, and no ordinary seat is sold as one of them', async (t) => {
    const hall = await openServiceFor(t, [sample('erfurt-volley')]);
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

  const skip = ofOneMachine(CHOSEN) || ofOneThread(CHOSEN);
  it('is what the reference model gives, on all six blocks until the hall is full', { skip }, async (t) => {
    const hall = await openServiceFor(t, [sample('erfurt-volley', { limits_at_hold: false })]);
    const { body: layout } = await hall.get<SeatingBody>('/api/events/public/erfurt-volley/seating');
    const taken = new Set<string>();
    const sectionOf = new Map<string, string>();
    for (const { id, rows } of layout.localities[0]!.sections) {
      for (const { seats } of rows) for (const each of seats) sectionOf.set(each.id, id);
    }
    const rows = rowsOf(layout, { x: 1300, y: 580 });
    const sections = new Set<string>();
    const counts = [3, 10, 7, 16, 2, 8, 21, 5, 12, 21];
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

  /**
   * The rows of the printed layout in the order in which they are tried; a gap of over 1.5 times the usual is an aisle.
   */
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
