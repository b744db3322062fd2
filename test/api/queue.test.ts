/** The waiting room over HTTP: entries, passes, the draw and its proof. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { CHECK_DRAW } from '#http/pages/draw.ts';
import type { DrawBody, QueueEntryBody } from '#http/buyers/queue.ts';
import { assertRefused, RFC_3339 } from '../fixtures/checks.ts';
import { as, newSession, type Answer, type Json } from '../fixtures/client.ts';
import { clubNight } from '../fixtures/events.ts';
import { MINUTE, serviceWith } from '../fixtures/service.ts';
import { newFolder } from '../fixtures/folders.ts';

const QUEUE = '/api/checkout/queue';
const run = promisify(execFile);

/** One service for all waiting rooms; each test has an event of its own. */
const service = serviceWith([]);

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

describe('The queue of a waiting room', () => {
  it('answers 201 to a new entry, 200 to a session that joins again, and says when to poll', async () => {
    const room = await openRoom();
    const [a, b, c] = [newSession(), newSession(), newSession()];
    const first = await join(room, a);
    assert.equal(first.status, 201);
    assert.equal(first.headers.get('retry-after'), null);
    assert.equal(first.headers.get('cache-control'), 'no-store');
    assert.match(first.body.id, /^que_[0-9a-z]+_[A-Za-z0-9_-]{24}$/);
    for (const time of [first.body.admitted_at, first.body.pass_expires_at]) assert.match(time!, RFC_3339);
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
    const session = newSession();
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

  it('comes in pieces that a query names, and is waited for with polls', async () => {
    const { room, guests } = await crowdedRoom(3);
    assert.equal((await pollAll(guests))[0]!.headers.get('retry-after'), '5');
    service.wait(MINUTE);
    await pollAll(guests);
    const { entries } = (await service.get<DrawBody>(room.draw)).body;
    assert.deepEqual((await service.get<DrawBody>(`${room.draw}?offset=1&limit=1`)).body.entries, [entries[1]]);
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
  it('see the figures of a waiting room', async () => {
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
  });
});

function withoutTime(body: unknown): Json {
  const { timestamp: _, ...rest } = body as Json;
  return rest;
}
