/**
 * Holds over HTTP: keys, repeats, restarts and the form of requests. The rules of holds are scenarios
 * (`scenarios/holds.ts`).
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { EventBody } from '#http/buyers/events/schema.ts';
import type { HoldBody } from '#http/buyers/holds.ts';
import { assertRefused, audit } from '../fixtures/checks.ts';
import { as, HOLDS, newSession, type Answer, type ItemRequest } from '../fixtures/client.ts';
import { clubNight, floor, seat, theatreRun } from '../fixtures/events.ts';
import { MINUTE, openServiceWith, serviceWith } from '../fixtures/service.ts';

const service = serviceWith([clubNight(), theatreRun()]);
let session: string;

/** A hold of the club night, answered or refused. */
function place(items: readonly ItemRequest[], overrides: object = {}): Promise<Answer<HoldBody>> {
  return service.post<HoldBody>(HOLDS, { event_id: 'evt_club', session_key: session, items, ...overrides });
}

function read(hold: HoldBody, key = session): Promise<Answer<HoldBody>> {
  return service.get<HoldBody>(`${HOLDS}/${hold.id}`, as(key));
}

beforeEach(async () => {
  session = newSession();
  // Every test begins with all tickets free: an hour later every hold has run out.
  service.wait(60 * MINUTE);
});

describe('Placing a hold', () => {
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

  it('refuses an unknown event with EVENT_NOT_FOUND', async () => {
    assertRefused(await place([floor(1)], { event_id: 'evt_nowhere' }), 404, 'EVENT_NOT_FOUND');
  });

  it('gives ids that cannot be guessed', async () => {
    const ids = new Set<string>();
    for (let i = 0; i < 20; i += 1) ids.add((await service.hold({ session_key: newSession() })).id);
    assert.equal(ids.size, 20);
    for (const id of ids) assert.match(id, /^hld_\d+_[A-Za-z0-9_-]{22,}$/, 'at least 128 random bits');
  });
});

describe('A hold over two performances', () => {
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

  it('is required for ids of any form', async () => {
    for (const id of ['x', 'hld_', 'hld_99_abc', 'ord_1_abc', '%20', 'hld_1_' + 'a'.repeat(300)]) {
      assertRefused(await service.get(`${HOLDS}/${id}`, as(session)), 404, 'HOLD_NOT_FOUND');
    }
  });
});

describe('A new POST of the same session', () => {
  it('leaves holds of other sessions and of other events alone', async () => {
    const neighbour = newSession();
    const club = await service.hold({ session_key: session });
    const theirs = await service.hold({ session_key: neighbour });
    await service.hold({ event_id: 'evt_play', session_key: session, items: [seat('standing', 'fri', 1)] });
    assert.equal((await read(club)).body.status, 'ACTIVE');
    assert.equal((await read(theirs, neighbour)).body.status, 'ACTIVE');
  });
});

describe('The window of a hold', () => {
  it('outlives a restart to the millisecond', async () => {
    const hold = await service.hold({ session_key: session, items: [floor(7)] });
    await service.restart();
    assert.deepEqual((await read(hold)).body, hold);
    service.wait(10 * MINUTE);
    assert.equal((await read(hold)).body.status, 'EXPIRED');
    assert.equal((await audit(service, 'evt_club')).get('night')!.held, 0);
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
