/** The waiting room over HTTP: entries, passes, the draw and its proof. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { CHECK_DRAW } from '#http/pages/draw-page.ts';
import type { DrawBody, QueueEntryBody } from '#http/schemas/queue.ts';
import { newCustomer, START_CHECKOUT } from '../fixtures/checkout.ts';
import { assertRefused, RFC_3339 } from '../fixtures/checks.ts';
import { as, HOLDS, newSession, type Answer, type Json } from '../fixtures/client.ts';
import { clubNight, floor, item } from '../fixtures/events.ts';
import { MINUTE, ofOneMachine, openServiceWith, spawnService, type TestService } from '../fixtures/service.ts';
import { newFolder } from '../fixtures/folders.ts';

const skip = ofOneMachine('a process is killed and started again on its folder');

const QUEUE = '/api/checkout/queue';
const run = promisify(execFile);
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

/** One service for all waiting rooms; each test has an event of its own. */
let service: TestService;
before(async () => {
  service = await openServiceWith([]);
});
after(() => service.close());

interface Room {
  readonly eventId: string;
  /** Where the proof of its draw is. */
  readonly draw: string;
  readonly definition: Json;
}

let rooms = 0;

/** A club night with a waiting room, or whatever the overrides make of it. */
async function openRoom(overrides: object = {}): Promise<Room> {
  rooms += 1;
  const [id, slug] = [`evt_room${rooms}`, `room-${rooms}`];
  const definition = clubNight({ id, slug, waiting_room: true, waiting_room_rate: 2, ...overrides }) as Json;
  await service.define(definition);
  return { eventId: id, draw: `/api/events/public/${slug}/draw`, definition };
}

const isoIn = (ms: number): string => new Date(service.now() + ms).toISOString();

const join = ({ eventId }: Room, session: string): Promise<Answer<QueueEntryBody>> =>
  service.post<QueueEntryBody>(QUEUE, { event_id: eventId, session_key: session });

const poll = (session: string, id: string): Promise<Answer<QueueEntryBody>> =>
  service.get<QueueEntryBody>(`${QUEUE}/${id}`, as(session));

const leave = (session: string, id: string): Promise<Answer<QueueEntryBody>> =>
  service.delete<QueueEntryBody>(`${QUEUE}/${id}`, as(session));

function holdWith({ eventId }: Room, session: string, queuePass?: string): Promise<Answer> {
  const pass = queuePass === undefined ? {} : { queue_pass: queuePass };
  return service.post(HOLDS, { event_id: eventId, session_key: session, items: [floor(1)], ...pass });
}

describe('The queue of a waiting room', () => {
  it('answers 201 to a new entry, 200 to a session that joins again, and says when to poll', async () => {
    const room = await openRoom();
    const [a, b, c] = [newSession(), newSession(), newSession()];
    const first = await join(room, a);
    assert.equal(first.status, 201);
    assert.equal(first.headers.get('retry-after'), null);
    assert.equal(first.headers.get('cache-control'), 'no-store');
    const { id, admitted_at: admittedAt, pass_expires_at: passExpiresAt, ...rest } = first.body;
    assert.match(id, /^que_[0-9a-z]+_[A-Za-z0-9_-]{24}$/);
    assert.match(admittedAt!, RFC_3339);
    assert.equal(Date.parse(passExpiresAt!) - Date.parse(admittedAt!), 10 * MINUTE);
    assert.deepEqual(rest, {
      event_id: room.eventId,
      status: 'ADMITTED',
      position: null,
      waiting_ahead: 0,
      estimated_minutes: 0,
      open: true,
      opens_at: null,
      rate: 2,
      draw_commitment: null,
    });
    await join(room, b);
    const third = await join(room, c);
    assert.deepEqual([third.status, third.body.status, third.body.position], [201, 'WAITING', 1]);
    assert.equal(third.headers.get('retry-after'), '5');
    const again = await join(room, c);
    assert.deepEqual([again.status, again.body.id], [200, third.body.id]);
    service.wait(MINUTE);
    const admitted = await poll(c, third.body.id);
    assert.deepEqual([admitted.status, admitted.body.status], [200, 'ADMITTED']);
    const left = await leave(c, third.body.id);
    assert.deepEqual([left.status, left.body.status], [200, 'LEFT']);
    const leftAgain = await service.delete<QueueEntryBody>(`${QUEUE}/${third.body.id}?session_key=${c}`);
    assert.deepEqual([leftAgain.status, leftAgain.body.status], [200, 'LEFT']);
  });

  it('refuses unknown events and entries, with the same error for a wrong key and an unknown id', async () => {
    const room = await openRoom();
    const without = await openRoom({ waiting_room: false });
    const session = newSession();
    assertRefused(
      await service.post(QUEUE, { event_id: without.eventId, session_key: session }),
      400,
      'QUEUE_NOT_ENABLED',
    );
    assertRefused(await service.post(QUEUE, { event_id: 'evt_none', session_key: session }), 404, 'EVENT_NOT_FOUND');
    assertRefused(await service.post(QUEUE, { event_id: room.eventId }), 400, 'VALIDATION_ERROR');
    assertRefused(await service.post(QUEUE, { event_id: room.eventId, session_key: 'short' }), 400, 'VALIDATION_ERROR');
    const { id } = (await join(room, session)).body;
    assertRefused(await service.get(`${QUEUE}/${id}`), 400, 'VALIDATION_ERROR');
    const unknown = `${id.slice(0, -24)}${'x'.repeat(24)}`;
    for (const method of ['get', 'delete'] as const) {
      const wrongKey = await service[method](`${QUEUE}/${id}`, as(newSession()));
      const wrongId = await service[method](`${QUEUE}/${unknown}`, as(session));
      const noId = await service[method](`${QUEUE}/nonsense`, as(session));
      for (const answer of [wrongKey, wrongId, noId]) assertRefused(answer, 404, 'QUEUE_ENTRY_NOT_FOUND');
      assert.deepEqual(withoutTime(wrongKey.body), withoutTime(wrongId.body));
    }
  });

  it('admits the first entries, and never faster than the rate', async () => {
    const room = await openRoom();
    const sessions = Array.from({ length: 6 }, newSession);
    const entries: string[] = [];
    for (const session of sessions) entries.push((await join(room, session)).body.id);
    service.wait(MINUTE);
    await poll(sessions[5]!, entries[5]!);
    const states = await Promise.all(sessions.map((session, index) => poll(session, entries[index]!)));
    assert.deepEqual(
      states.map(({ body }) => body.position ?? body.status),
      ['ADMITTED', 'ADMITTED', 'ADMITTED', 'ADMITTED', 1, 2],
    );
  });

  it('drops an entry that does not poll for two minutes; its session may join again at the end', async () => {
    const room = await openRoom({ waiting_room_rate: 1 });
    const [a, b, c] = [newSession(), newSession(), newSession()];
    await join(room, a);
    const silent = (await join(room, b)).body;
    const there = (await join(room, c)).body;
    service.wait(MINUTE - 1);
    await poll(c, there.id);
    service.wait(MINUTE + 1);
    const gone = await poll(b, silent.id);
    assert.deepEqual([gone.body.status, gone.body.position], ['EXPIRED', null]);
    assert.equal((await poll(c, there.id)).body.status, 'ADMITTED');
    const back = await join(room, b);
    assert.deepEqual([back.status, back.body.position], [201, 1]);
  });
});

describe('A pass', () => {
  it('is required by holds and by checkouts without a hold', async () => {
    const room = await openRoom({ waiting_room_rate: 1 });
    const [a, b] = [newSession(), newSession()];
    const pass = (await join(room, a)).body.id;
    const waiting = (await join(room, b)).body.id;
    assertRefused(await holdWith(room, a), 403, 'QUEUE_PASS_REQUIRED');
    assertRefused(await holdWith(room, b, waiting), 403, 'QUEUE_PASS_INVALID');
    assertRefused(await holdWith(room, b, pass), 403, 'QUEUE_PASS_INVALID');
    assertRefused(await holdWith(room, a, 'nonsense'), 403, 'QUEUE_PASS_INVALID');
    const held = await holdWith(room, a, pass);
    assert.equal(held.status, 201);
    assert.equal((await holdWith(room, a, pass)).status, 201, 'good for several holds');
    const wish = {
      event_id: room.eventId,
      items: [item('single', 1, { selling_stage_id: 'regular', performance_id: 'night' })],
      customer: newCustomer(),
      accept_terms: true,
    };
    assertRefused(await service.post(START_CHECKOUT, wish), 403, 'QUEUE_PASS_REQUIRED');
    assertRefused(await service.post(START_CHECKOUT, { ...wish, queue_pass: waiting }), 403, 'QUEUE_PASS_INVALID');
    const started = await service.post(START_CHECKOUT, { ...wish, queue_pass: pass, session_key: a });
    assert.equal(started.status, 201, JSON.stringify(started.body));
    service.wait(10 * MINUTE);
    assertRefused(await holdWith(room, a, pass), 403, 'QUEUE_PASS_INVALID');
  });

  it('is good for one order without a session key, and for many with it', async () => {
    const room = await openRoom({});
    const session = newSession();
    const pass = (await join(room, session)).body.id;
    const buy = (more: object, headers: Record<string, string> = {}): Promise<Answer> => {
      const items = [item('single', 1, { selling_stage_id: 'regular', performance_id: 'night' })];
      const body = { event_id: room.eventId, items, customer: newCustomer(), accept_terms: true, queue_pass: pass };
      return service.post(START_CHECKOUT, { ...body, ...more }, headers);
    };
    const customer = newCustomer();
    const key = { 'idempotency-key': 'keyless-order' };
    const first = await buy({ customer }, key);
    assert.equal(first.status, 201, JSON.stringify(first.body));
    assert.deepEqual((await buy({ customer }, key)).body, first.body, 'a repeat is the same order');
    assertRefused(await buy({}), 403, 'QUEUE_PASS_INVALID');
    assert.equal((await poll(session, pass)).body.status, 'ADMITTED');
    assert.equal((await buy({ session_key: session })).status, 201);
    assert.equal((await buy({ session_key: session })).status, 201);
    assert.equal((await holdWith(room, session, pass)).status, 201);
    await service.restart();
    assertRefused(await buy({}), 403, 'QUEUE_PASS_INVALID');
  });

  it('is not required where there is no waiting room', async () => {
    const room = await openRoom({ waiting_room: false });
    assert.equal((await holdWith(room, newSession(), 'whatever')).status, 201);
  });

  it('ends with the order where the event limits how many live at once', async () => {
    const room = await openRoom({ waiting_room_rate: 10, waiting_room_max_admitted: 1 });
    const [a, b] = [newSession(), newSession()];
    const pass = (await join(room, a)).body.id;
    const next = (await join(room, b)).body;
    assert.equal(next.status, 'WAITING');
    const hold = (await holdWith(room, a, pass)).body as { id: string };
    const started = await service.post(START_CHECKOUT, {
      event_id: room.eventId,
      hold_id: hold.id,
      customer: newCustomer(),
      accept_terms: true,
    });
    assert.equal(started.status, 201, JSON.stringify(started.body));
    assert.equal((await poll(a, pass)).body.status, 'EXPIRED');
    assert.equal((await poll(b, next.id)).body.status, 'ADMITTED');
  });
});

describe('A waiting room that pauses when nothing is left', () => {
  it('shows so to waiting entries, and continues when tickets are available again', async () => {
    const room = await openRoom({
      waiting_room_pause_when_sold_out: true,
      localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 1 }],
    });
    const [a, b] = [newSession(), newSession()];
    const pass = (await join(room, a)).body.id;
    const hold = (await holdWith(room, a, pass)).body as { id: string };
    const waiting = (await join(room, b)).body;
    assert.deepEqual([waiting.status, waiting.sold_out], ['WAITING', true]);
    await service.delete(`${HOLDS}/${hold.id}`, as(a));
    const admitted = (await poll(b, waiting.id)).body;
    assert.deepEqual([admitted.status, admitted.sold_out], ['ADMITTED', false]);
  });
});

describe('The draw', () => {
  interface Guest {
    readonly session: string;
    readonly entry: QueueEntryBody;
  }

  /** A waiting room that opens in a minute, with so many entries. */
  async function crowdedRoom(people: number): Promise<{ room: Room; guests: Guest[] }> {
    const room = await openRoom({ waiting_room_opens_at: isoIn(MINUTE) });
    const guests: Guest[] = [];
    for (let index = 0; index < people; index += 1) {
      const session = newSession();
      guests.push({ session, entry: (await join(room, session)).body });
    }
    return { room, guests };
  }

  const pollAll = (guests: readonly Guest[]): Promise<Answer<QueueEntryBody>[]> =>
    Promise.all(guests.map(({ session, entry }) => poll(session, entry.id)));

  it('is announced before the opening', async () => {
    const { room, guests } = await crowdedRoom(1);
    const [answer] = await pollAll(guests);
    assert.equal(answer!.headers.get('retry-after'), '5');
    const { status, position, open, estimated_minutes: minutes, draw_commitment: commitment } = answer!.body;
    assert.deepEqual([status, position, open, minutes], ['WAITING', null, false, 1]);
    assert.deepEqual((await service.get<DrawBody>(room.draw)).body, {
      event_id: room.eventId,
      status: 'pending',
      draw_commitment: commitment,
      seed: null,
      opening: null,
      drawn_at: null,
      count: 0,
      entries_digest: null,
      entries: [],
    });
  });

  it('gives the order that its proof leads to, and shows no pass', async () => {
    const { room, guests } = await crowdedRoom(12);
    service.wait(MINUTE);
    const views = await pollAll(guests);
    const { body } = await service.get<DrawBody>(room.draw);
    const hashes = guests.map(({ entry }) => sha256(entry.id));
    const digest = sha256([...hashes].sort().join(''));
    const seed = Buffer.from(body.seed!, 'hex');
    assert.equal(sha256(seed), guests[0]!.entry.draw_commitment);
    const key = createHmac('sha256', seed).update(Buffer.from(body.opening!, 'hex')).digest();
    const keyOf = (hash: string): string => createHmac('sha256', key).update(digest).update(hash).digest('hex');
    const byKey = [...hashes].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    assert.deepEqual([body.status, body.count, body.entries_digest], ['drawn', 12, digest]);
    assert.deepEqual(body.entries, byKey);
    assert.match(body.drawn_at!, RFC_3339);
    for (const { body: view } of views) {
      const place = byKey.indexOf(sha256(view.id));
      assert.equal(view.status, place < 2 ? 'ADMITTED' : 'WAITING');
      if (view.position !== null) assert.equal(view.position, place - 1);
    }
    assert.ok(!JSON.stringify(body).includes('que_'));
    assert.deepEqual((await service.get<DrawBody>(`${room.draw}?offset=10&limit=5`)).body.entries, byKey.slice(10));
    for (const query of ['limit=0', 'limit=10001', 'limit=x', 'offset=-1']) {
      assertRefused(await service.get(`${room.draw}?${query}`), 400, 'VALIDATION_ERROR');
    }
  });

  it('is shown to browsers as a page whose lines check it', async (t) => {
    const { room } = await crowdedRoom(12);
    service.wait(MINUTE);
    const page = await service.get<string>(room.draw, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    assert.match(page.headers.get('content-type')!, /^text\/html/);
    const { body: proof } = await service.get<DrawBody>(room.draw, { accept: 'application/json, text/html;q=0.5' });
    for (const figure of [proof.seed!, proof.opening!, proof.draw_commitment, proof.entries_digest!]) {
      assert.ok(page.body.includes(figure));
    }
    const shown = /<pre>([^]*?)<\/pre>/.exec(page.body)![1]!;
    const lines = shown
      .replaceAll('&gt;', '>')
      .replaceAll('&lt;', '<')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&');
    assert.equal(lines, CHECK_DRAW);
    const file = path.join(newFolder(t), 'check-draw.mjs');
    writeFileSync(file, lines);
    const { stdout } = await run(process.execPath, [file, `${service.publicUrl}${room.draw}`]);
    assert.equal(stdout.match(/: true/g)?.length, 4, stdout);
  });

  it('is not found where nothing is drawn', async () => {
    assertRefused(await service.get((await openRoom()).draw), 404, 'NOT_FOUND');
    assertRefused(await service.get((await openRoom({ waiting_room: false })).draw), 404, 'NOT_FOUND');
    assertRefused(await service.get((await openRoom({ status: 'DRAFT' })).draw), 404, 'EVENT_NOT_FOUND');
    assertRefused(await service.get('/api/events/public/none/draw'), 404, 'EVENT_NOT_FOUND');
  });

  it('and the order of the queue survive a restart', async () => {
    const { room, guests } = await crowdedRoom(8);
    service.wait(MINUTE);
    const bodiesOf = (answers: readonly Answer<unknown>[]): unknown[] => answers.map(({ body }) => body);
    const before = bodiesOf([...(await pollAll(guests)), await service.get(room.draw)]);
    await service.restart();
    assert.deepEqual(bodiesOf([...(await pollAll(guests)), await service.get(room.draw)]), before);
  });
});

describe('Operators', () => {
  it('see the figures of a waiting room, and cannot move an opening once it has happened', async () => {
    const room = await openRoom({ waiting_room_rate: 1 });
    for (let index = 0; index < 3; index += 1) await join(room, newSession());
    const { body } = await service.admin.get<{ waiting_room: Json }>(`/admin/events/${room.eventId}`);
    assert.deepEqual(body.waiting_room, {
      status: 'OPEN',
      opens_at: null,
      waiting: 2,
      admitted: 1,
      admitted_last_minute: 1,
      joined: 3,
      draw_commitment: null,
    });
    const later = { ...room.definition, waiting_room_opens_at: isoIn(MINUTE) };
    const detail = assertRefused(
      await service.admin.put(`/admin/events/${room.eventId}`, later),
      409,
      'UPDATE_CONFLICT',
    );
    assert.equal((detail['conflicts'] as { path: string }[])[0]?.path, '/waiting_room_opens_at');
  });
});

describe('A waiting room killed at any moment', () => {
  it('keeps every place and pass that was answered, and draws once', { skip }, async () => {
    const environment = { SANDBOX_CLOCK: 'on' };
    const service = await spawnService({ environment });
    const opensAt = new Date(Date.now() + MINUTE).toISOString();
    try {
      await service.define(
        clubNight({ waiting_room: true, waiting_room_rate: 3, waiting_room_opens_at: opensAt }) as Json,
      );
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          service.call<QueueEntryBody>('POST', QUEUE, {
            body: { event_id: 'evt_club', session_key: `person-${index}` },
          }),
        ),
      );
      await service.end('SIGKILL');
      const again = await spawnService({ folder: service.folder, environment });
      try {
        await again.call('POST', '/sandbox/clock', { body: { advance_seconds: 60 } });
        const pollAll = (): Promise<Answer<QueueEntryBody>[]> =>
          Promise.all(
            answers.map(({ body }, index) =>
              again.call<QueueEntryBody>('GET', `${QUEUE}/${body.id}`, { sessionKey: `person-${index}` }),
            ),
          );
        const views = await pollAll();
        assert.deepEqual(
          views.map(({ status }) => status),
          answers.map(() => 200),
        );
        const positions = views.flatMap(({ body }) => body.position ?? []).sort((a, b) => a - b);
        assert.deepEqual(
          positions,
          Array.from({ length: 37 }, (_, index) => index + 1),
        );
        const draw = await again.call<DrawBody>('GET', '/api/events/public/club-night/draw');
        assert.equal(draw.body.count, 40);
        assert.equal(draw.body.draw_commitment, answers[0]!.body.draw_commitment);
        assert.equal(sha256(Buffer.from(draw.body.seed!, 'hex')), draw.body.draw_commitment);
      } finally {
        await again.close();
      }
    } finally {
      await service.close();
    }
  });
});

function withoutTime(body: unknown): Json {
  const { timestamp: _, ...rest } = body as Json;
  return rest;
}
