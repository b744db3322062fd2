/** Trouble that is no disk's: a process that stands still, a second one, a clock that jumps, too much at once, slowness. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { HoldBody } from '#http/schemas/holds.ts';
import { openHouse, runToEnd, spawnHouse, START, type House, type Json } from '../api/harness.ts';
import {
  as,
  assertRefused,
  audit,
  callerOf,
  clubNight,
  floor,
  HOLDS,
  MINUTE,
  newSession,
  openShop,
  type Shop,
} from '../api/shop.ts';
import { inUseOnce } from '../api/raw-socket.ts';
import { gala, item, sendWebhook, somebody, start, statusOf } from '../api/till.ts';
import { assertOverloaded, bigClub, isReady, place, readHold, until, verifies } from './process.ts';

describe('A process that was stopped and goes on', () => {
  it('ends what ran out meanwhile, loses nothing, and kept a second process out all the time', async (t) => {
    const house = await spawnHouse();
    t.after(() => house.close());
    const last = { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 2 };
    await house.define(clubNight({ hold_minutes: 0.1, localities: [last] }) as Json);
    await house.define(clubNight({ id: 'evt_long', slug: 'long' }) as Json);
    const [early, late] = [newSession(), newSession()];
    const short = await place(house, early, 2);
    const long = await house.call<HoldBody>('POST', HOLDS, {
      body: { event_id: 'evt_long', session_key: early, items: [floor(3)] },
    });
    assert.deepEqual([short.status, long.status], [201, 201]);
    assert.equal((await place(house, late, 2)).status, 400, 'all is held');

    process.kill(house.pid, 'SIGSTOP');
    const asked = place(house, late, 2);
    const second = await runToEnd({ folder: house.folder });
    assert.equal(second.code, 3);
    assert.match(second.text, new RegExp(`in use by process ${house.pid}`));
    await pause(Math.max(0, Date.parse(short.body.expires_at) - Date.now() + 100));
    process.kill(house.pid, 'SIGCONT');

    assert.equal((await asked).status, 201, 'the first to be served after it gets what ran out');
    assert.equal((await readHold(house, short.body, early)).body.status, 'EXPIRED');
    assert.deepEqual((await readHold(house, long.body, early)).body, long.body);
    assert.equal(await house.end('SIGTERM'), 0);
    await verifies(house.folder);
  });
});

const DAY = 24 * 60 * MINUTE;

describe('A clock of the machine that leaps', () => {
  const isDegraded = async (shop: Shop): Promise<boolean> => {
    const { status, body } = await shop.get<{ status: string; degraded?: string[] }>('/health/ready');
    assert.deepEqual([status, body.status], [200, 'ok']);
    if (body.degraded !== undefined) assert.deepEqual(body.degraded, ['clock']);
    return body.degraded !== undefined;
  };
  const leapsOf = async (shop: Shop): Promise<number> => {
    const { body } = await shop.admin.get<string>('/metrics');
    return Number(/^holdfast_clock_leaps_total (\d+)$/m.exec(String(body))?.[1]);
  };
  const statusOfHold = async (shop: Shop, { id }: HoldBody, session: string): Promise<string> =>
    (await shop.get<HoldBody>(`${HOLDS}/${id}`, as(session))).body.status;

  for (const [how, leapMs] of [
    ['ahead', DAY],
    ['back', -DAY],
  ] as const) {
    it(`${how} a day ends no window early or late, refuses no webhook, and is counted and shown`, async (t) => {
      const shop = await openShop([gala()]);
      t.after(() => shop.close());
      const session = newSession();
      const hold = await shop.hold({ event_id: 'evt_gala', session_key: session, items: [item('single', 1)] });
      const [paidNow, paidLater] = [await start(shop), await start(shop, { customer: somebody() })];
      assert.deepEqual([await isDegraded(shop), await leapsOf(shop)], [false, 0]);

      shop.house.leap(leapMs);
      const isShownAs = await shop.get<{ expires_at: string }>(`${HOLDS}/${hold.id}`, as(session));
      assert.deepEqual(isShownAs.body, hold);
      assert.deepEqual([await isDegraded(shop), await leapsOf(shop)], [true, 1]);
      const machine = { at: shop.now() + leapMs };
      assert.equal((await sendWebhook(shop, { session: paidNow.checkout_session_id, ...machine })).status, 200);
      assert.equal((await statusOf(shop, paidNow)).status, 'CONFIRMED');
      shop.house.leap(-leapMs);
      assert.equal(await leapsOf(shop), 2);
      assert.equal((await sendWebhook(shop, { session: paidLater.checkout_session_id })).status, 200);
      assert.equal((await statusOf(shop, paidLater)).status, 'CONFIRMED');

      shop.wait(10 * MINUTE - 1);
      assert.equal(await statusOfHold(shop, hold, session), 'ACTIVE');
      shop.wait(1);
      assert.equal(await statusOfHold(shop, hold, session), 'EXPIRED');
      assert.equal(await isDegraded(shop), false, 'all is right again');
    });
  }

  it('is taken over by a restart; set right afterwards, windows and webhooks go on', async (t) => {
    const shop = await openShop([gala()]);
    t.after(() => shop.close());
    shop.house.leap(DAY);
    await shop.restart();
    assert.equal(await isDegraded(shop), false, 'nobody can know that it is wrong');
    const session = newSession();
    const hold = await shop.hold({ event_id: 'evt_gala', session_key: session, items: [item('single', 1)] });
    const started = await start(shop);
    shop.house.leap(-DAY);
    for (const _restart of [1, 2]) {
      await shop.restart();
      assert.equal(await isDegraded(shop), true);
      assert.deepEqual((await shop.get(`${HOLDS}/${hold.id}`, as(session))).body, hold);
      shop.wait(4 * MINUTE);
      const another = await shop.hold({ event_id: 'evt_gala', session_key: newSession(), items: [item('single', 1)] });
      assert.equal(Date.parse(another.expires_at), shop.now() + 10 * MINUTE);
    }
    const tooOld = { session: started.checkout_session_id, at: shop.now() - DAY - 6 * MINUTE };
    assert.equal((await sendWebhook(shop, tooOld)).status, 401);
    const signed = { session: started.checkout_session_id, at: shop.now() - DAY };
    assert.equal((await sendWebhook(shop, signed)).status, 200);
    assert.equal((await statusOf(shop, started)).status, 'CONFIRMED');
    shop.wait(2 * MINUTE);
    assert.equal(await statusOfHold(shop, hold, session), 'EXPIRED');
  });
});

describe('The sandbox clock', () => {
  it('never leads beyond its bound, however many move it at once, and what was refused moves nothing', async (t) => {
    const shop = await openShop([clubNight()], { SANDBOX_CLOCK: 'on' });
    t.after(() => shop.close());
    const century = 3_153_600_000;
    const moves = Array.from({ length: 90 }, () => shop.post('/sandbox/clock', { advance_seconds: century }));
    const answers = await Promise.all(moves);
    const moved = answers.filter(({ status }) => status === 200);
    assert.equal(moved.length, Math.floor((Date.UTC(9000, 0, 1) - START) / 1000 / century));
    for (const answer of answers) if (answer.status !== 200) assertRefused(answer, 400, 'VALIDATION_ERROR');
    assert.equal(shop.now(), START + moved.length * century * 1000);
    assert.equal((await shop.post('/sandbox/clock', { advance_seconds: 1 })).status, 200);
  });

  it('stands where it was when a move could not be written', async (t) => {
    const injectFault = { kind: 'FULL', afterCommits: 1, outcome: 'LOST', fullProbes: 2 } as const;
    const house = await openHouse({
      environment: { SANDBOX_CLOCK: 'on' },
      journal: { injectFault, probeEveryMs: 20 },
    });
    t.after(() => house.close());
    await house.define(bigClub);
    const move = () => house.call<{ now: string }>('POST', '/sandbox/clock', { body: { advance_seconds: 60 } });
    assertOverloaded(await move());
    await until('ready again', () => isReady(house));
    const { status, body } = await move();
    assert.equal(status, 200);
    assert.equal(Date.parse(body.now), START + MINUTE);
  });
});

interface Rush {
  /** What those who were refused were told about when to come back. */
  readonly retryAfter: ReadonlySet<string | null>;
  /** Resolves when so many were refused as OVERLOADED; those that were taken on need not be answered by then. */
  refused(count: number): Promise<void>;
  /** Resolves with how many were placed when all are answered. */
  placed(): Promise<number>;
}

/** Places holds all at once. */
function rush(house: House, count: number): Rush {
  let placed = 0;
  let refused = 0;
  const retryAfter = new Set<string | null>();
  const all = Promise.all(
    Array.from({ length: count }, async () => {
      const answer = await place(house, newSession());
      if (answer.status === 201) placed += 1;
      else {
        assertOverloaded(answer);
        refused += 1;
        retryAfter.add(answer.headers.get('retry-after'));
      }
    }),
  );
  return {
    retryAfter,
    refused: (many) => until(`${many} are refused`, () => Promise.resolve(refused === many)),
    placed: () => all.then(() => placed),
  };
}

/** From now on the disk stands still: nothing is known to be durable until the answer is called. */
function stopDisk({ service }: House): () => void {
  const { journal } = service.engine;
  const durable = journal.durable.bind(journal);
  const waiting: (() => void)[] = [];
  journal.durable = (seq) => new Promise((resolve) => waiting.push(() => resolve(durable(seq))));
  return () => {
    journal.durable = durable;
    for (const go of waiting) go();
  };
}

/** Sends requests in one piece, so that the loop finds them all in one pass, and returns their statuses in order. */
async function sendAtOnce(url: string, requests: readonly string[]): Promise<readonly number[]> {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname }).setEncoding('latin1');
  socket.write(requests.join(''));
  let text = '';
  for await (const chunk of socket) {
    text += chunk as string;
    if (text.split('HTTP/1.1 ').length > requests.length && text.endsWith('}')) break;
  }
  return Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status));
}

const slowDisk = { kind: 'SLOW', afterCommits: 1, outcome: 'LOST', fullProbes: 0 } as const;

describe('Too much at once', () => {
  it('at one event is refused at once, while what was taken on is answered', async (t) => {
    const house = await openHouse({ limits: { mailboxCommandsMax: 8 } });
    t.after(() => house.close());
    await house.define(bigClub);
    const release = stopDisk(house);
    const flood = rush(house, 60);
    await flood.refused(52);
    release();
    assert.equal(await flood.placed(), 8);
    assert.equal((await place(house, newSession())).status, 201);
  });

  it('in the whole process is refused before it is looked at', async (t) => {
    const house = await openHouse({ limits: { inFlightRequestsMax: 10 } });
    t.after(() => house.close());
    await house.define(bigClub);
    const release = stopDisk(house);
    const flood = rush(house, 60);
    await flood.refused(50);
    assert.equal((await house.call('GET', '/api/events/public/club-night')).status, 200);
    release();
    assert.equal(await flood.placed(), 10);
  });
});

describe('More connections than there may be', () => {
  it('are closed at once; those that are open go on, and others may come when some have gone', async (t) => {
    const house = await openHouse({ limits: { connectionsMax: 4 } });
    t.after(() => house.close());
    const { port } = new URL(house.publicUrl);
    const sockets = Array.from({ length: 4 }, () => connect({ port: Number(port), host: '127.0.0.1' }));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const fifth = connect({ port: Number(port), host: '127.0.0.1' });
    await once(fifth.resume(), 'close');
    sockets[0]!.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
    const [answer] = (await once(sockets[0]!, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 200 /);
    for (const socket of sockets) socket.destroy();
    await until('room for another', () => isReady(house).catch(() => false));
  });
});

describe('More claims than can be worked on at once', () => {
  it('wait in line for a while, and what gives back goes past them', async (t) => {
    const house = await openHouse({ limits: { claimsAtOnceMax: 4, claimWaitMsMax: 60_000 } });
    t.after(() => house.close());
    await house.define(bigClub);
    const hold = (n: number): string => {
      const body = JSON.stringify({ event_id: 'evt_club', session_key: `session-${n}`, items: [floor(1)] });
      return `POST ${HOLDS} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    };
    const release = `DELETE ${HOLDS}/hld_none?session_key=session-0 HTTP/1.1\r\nhost: x\r\n\r\n`;
    const requests = Array.from({ length: 40 }, (_, n) => (n % 10 === 9 ? release : hold(n)));
    const statuses = await sendAtOnce(house.publicUrl, requests);
    assert.deepEqual(
      statuses,
      Array.from({ length: 40 }, (_, n) => (n % 10 === 9 ? 404 : 201)),
    );
  });

  it('are turned away when they have waited too long, with differing times to return', async (t) => {
    const house = await openHouse({ limits: { claimsAtOnceMax: 4, claimWaitMsMax: 50 } });
    t.after(() => house.close());
    await house.define(bigClub);
    const release = stopDisk(house);
    const flood = rush(house, 40);
    await flood.refused(36);
    assert.deepEqual([...flood.retryAfter].sort(), ['1', '2', '3']);
    release();
    assert.equal(await flood.placed(), 4);
    assert.equal((await place(house, newSession())).status, 201);
  });

  it('are let go unheard when those who asked have hung up', async (t) => {
    const house = await openHouse({ limits: { claimsAtOnceMax: 1, claimWaitMsMax: 60_000 } });
    t.after(() => house.close());
    await house.define(bigClub);
    const release = stopDisk(house);
    const first = place(house, newSession());
    await inUseOnce(house, (counts) => counts['claims_at_work'] === 1);
    const impatient = new AbortController();
    const body = JSON.stringify({ event_id: 'evt_club', session_key: newSession(), items: [floor(7)] });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: impatient.signal };
    const unheard = assert.rejects(fetch(`${house.publicUrl}${HOLDS}`, init), { name: 'AbortError' });
    await inUseOnce(house, (counts) => counts['claims_in_line'] === 1);
    impatient.abort();
    await unheard;
    await inUseOnce(house, (counts) => counts['claims_in_line'] === 0);
    release();
    assert.equal((await first).status, 201);
    assert.equal((await place(house, newSession())).status, 201);
    const { body: event } = await house.operate<{ performances: { held: number }[] }>('GET', '/admin/events/evt_club');
    assert.equal(event.performances[0]!.held, 2);
  });
});

describe('A slow disk', () => {
  it('makes answers late and never wrong, with bounded batches and nothing left behind', async (t) => {
    const house = await openHouse({ journal: { injectFault: { ...slowDisk, delayMs: 60 } } });
    t.after(() => house.close());
    await house.define(bigClub);
    const { journal } = house.service.engine;
    let pendingMost = 0;
    const watch = setInterval(() => {
      pendingMost = Math.max(pendingMost, journal.appendedSeq - journal.durableSeq);
    }, 5);
    t.after(() => clearInterval(watch));
    const clients = 24;
    const sessions: string[] = [];
    const holds: HoldBody[] = [];
    await Promise.all(
      Array.from({ length: clients }, async () => {
        for (let n = 0; n < 6; n += 1) {
          const session = newSession();
          const { status, body } = await place(house, session);
          assert.equal(status, 201);
          sessions.push(session);
          holds.push(body);
        }
      }),
    );
    assert.ok(pendingMost <= clients, `${pendingMost} facts were on their way for ${clients} clients`);
    assert.equal(journal.appendedSeq, journal.durableSeq);
    for (const [n, hold] of holds.entries()) {
      assert.deepEqual((await readHold(house, hold, sessions[n]!)).body, hold);
    }
    const shop = {
      ...callerOf((...args) => house.call(...args)),
      admin: callerOf((...args) => house.operate(...args)),
    };
    assert.equal((await audit(shop, 'evt_club')).get('night')!.held, clients * 6);
  });
});
