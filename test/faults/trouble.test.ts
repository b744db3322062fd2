/**
 * Trouble that is no disk's: a process that stands still, a second one, a clock that jumps, too much at once, slowness.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { HoldBody } from '#http/buyers/holds.ts';
import { newCustomer, sendWebhook, start, statusOf } from '../fixtures/checkout.ts';
import { assertRefused, audit } from '../fixtures/checks.ts';
import { as, HOLDS, newSession } from '../fixtures/client.ts';
import { clubNight, floor, gala, item } from '../fixtures/events.ts';
import { inUseOnce } from '../fixtures/raw-socket.ts';
import {
  MINUTE,
  openService,
  openServiceFor,
  runToEnd,
  spawnServiceFor,
  START,
  type TestService,
} from '../fixtures/service.ts';
import { assertOverloaded, bigClub, isReady, place, readHold, verifies } from './calls.ts';
import { until } from '../fixtures/until.ts';

/** Connections of a rush, fewer where the kernel keeps fewer; Node alone would ask it for 511. */
const backlog = Math.min(1_000, kernelBacklog() - 8);

function kernelBacklog(): number {
  const file = '/proc/sys/net/core/somaxconn';
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 128;
}

function connectTo(url: string, count: number) {
  const { hostname, port } = new URL(url);
  let opened = 0;
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname, () => (opened += 1)));
  for (const socket of sockets) socket.on('error', () => {});
  return { sockets, opened: () => opened };
}

describe('A process that was paused and continues', () => {
  it('expires what ran out meanwhile, loses nothing, turns no connection away, and keeps its lock all the time', async (t) => {
    const service = await spawnServiceFor(t);
    const last = { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 2 };
    await service.define(clubNight({ hold_minutes: 0.07, localities: [last] }));
    await service.define(clubNight({ id: 'evt_long', slug: 'long' }));
    const [early, late] = [newSession(), newSession()];
    const short = await place(service, early, 2);
    const long = await service.call<HoldBody>('POST', HOLDS, {
      body: { event_id: 'evt_long', session_key: early, items: [floor(3)] },
    });
    assert.deepEqual([short.status, long.status], [201, 201]);
    assert.equal((await place(service, late, 2)).status, 400, 'all is held');

    process.kill(service.pid, 'SIGSTOP');
    const asked = place(service, late, 2);
    const waiting = connectTo(service.publicUrl, backlog);
    t.after(() => waiting.sockets.forEach((socket) => socket.destroy()));
    await until(
      () => waiting.opened() === backlog,
      () => `${waiting.opened()} of ${backlog} connections open`,
    );
    const second = await runToEnd({ folder: service.folder });
    assert.equal(second.code, 3);
    assert.match(second.text, new RegExp(`in use by process ${service.pid}`));
    await pause(Math.max(0, Date.parse(short.body.expires_at) - Date.now() + 100));
    process.kill(service.pid, 'SIGCONT');

    assert.equal((await asked).status, 201, 'the first to be served after it gets what ran out');
    assert.equal((await readHold(service, short.body, early)).body.status, 'EXPIRED');
    assert.deepEqual((await readHold(service, long.body, early)).body, long.body);
    assert.equal(await service.end('SIGTERM'), 0);
    await verifies(service.folder);
  });
});

const DAY = 24 * 60 * MINUTE;

describe('A machine clock that leaps', () => {
  const isDegraded = async (service: TestService): Promise<boolean> => {
    const { status, body } = await service.get<{ status: string; degraded?: string[] }>('/health/ready');
    assert.deepEqual([status, body.status], [200, 'ok']);
    if (body.degraded !== undefined) assert.deepEqual(body.degraded, ['clock']);
    return body.degraded !== undefined;
  };
  const leapsOf = async (service: TestService): Promise<number> => {
    const { body } = await service.admin.get<string>('/metrics');
    return Number(/^holdfast_clock_leaps_total (\d+)$/m.exec(String(body))?.[1]);
  };
  const statusOfHold = async (service: TestService, { id }: HoldBody, session: string): Promise<string> =>
    (await service.get<HoldBody>(`${HOLDS}/${id}`, as(session))).body.status;

  for (const [how, leapMs] of [
    ['ahead', DAY],
    ['back', -DAY],
  ] as const) {
    it(`${how} a day ends no window early or late, refuses no webhook, and is counted and shown`, async (t) => {
      const service = await openServiceFor(t, [gala()]);
      const session = newSession();
      const hold = await service.hold({ event_id: 'evt_gala', session_key: session, items: [item('single', 1)] });
      const [paidNow, paidLater] = [await start(service), await start(service, { customer: newCustomer() })];
      assert.deepEqual([await isDegraded(service), await leapsOf(service)], [false, 0]);

      service.leap(leapMs);
      const isShownAs = await service.get<{ expires_at: string }>(`${HOLDS}/${hold.id}`, as(session));
      assert.deepEqual(isShownAs.body, hold);
      assert.deepEqual([await isDegraded(service), await leapsOf(service)], [true, 1]);
      const machine = { at: service.now() + leapMs };
      assert.equal((await sendWebhook(service, { session: paidNow.checkout_session_id, ...machine })).status, 200);
      assert.equal((await statusOf(service, paidNow)).status, 'CONFIRMED');
      service.leap(-leapMs);
      assert.equal(await leapsOf(service), 2);
      assert.equal((await sendWebhook(service, { session: paidLater.checkout_session_id })).status, 200);
      assert.equal((await statusOf(service, paidLater)).status, 'CONFIRMED');

      service.wait(10 * MINUTE - 1);
      assert.equal(await statusOfHold(service, hold, session), 'ACTIVE');
      service.wait(1);
      assert.equal(await statusOfHold(service, hold, session), 'EXPIRED');
      assert.equal(await isDegraded(service), false, 'all is right again');
    });
  }

  it('is taken over by a restart; when it is corrected afterwards, windows and webhooks still work', async (t) => {
    const service = await openServiceFor(t, [gala()]);
    service.leap(DAY);
    await service.restart();
    assert.equal(await isDegraded(service), false, 'the process cannot know that the clock is wrong');
    const session = newSession();
    const hold = await service.hold({ event_id: 'evt_gala', session_key: session, items: [item('single', 1)] });
    const started = await start(service);
    service.leap(-DAY);
    for (const _restart of [1, 2]) {
      await service.restart();
      assert.equal(await isDegraded(service), true);
      assert.deepEqual((await service.get(`${HOLDS}/${hold.id}`, as(session))).body, hold);
      service.wait(4 * MINUTE);
      const another = await service.hold({
        event_id: 'evt_gala',
        session_key: newSession(),
        items: [item('single', 1)],
      });
      assert.equal(Date.parse(another.expires_at), service.now() + 10 * MINUTE);
    }
    const tooOld = { session: started.checkout_session_id, at: service.now() - DAY - 6 * MINUTE };
    assert.equal((await sendWebhook(service, tooOld)).status, 401);
    const signed = { session: started.checkout_session_id, at: service.now() - DAY };
    assert.equal((await sendWebhook(service, signed)).status, 200);
    assert.equal((await statusOf(service, started)).status, 'CONFIRMED');
    service.wait(2 * MINUTE);
    assert.equal(await statusOfHold(service, hold, session), 'EXPIRED');
  });
});

describe('The sandbox clock', () => {
  it('never passes its limit, however many requests move it at once, and refused moves change nothing', async (t) => {
    const service = await openServiceFor(t, [clubNight()], { SANDBOX_CLOCK: 'on' });
    const century = 3_153_600_000;
    const moves = Array.from({ length: 90 }, () => service.post('/sandbox/clock', { advance_seconds: century }));
    const answers = await Promise.all(moves);
    const moved = answers.filter(({ status }) => status === 200);
    assert.equal(moved.length, Math.floor((Date.UTC(9000, 0, 1) - START) / 1000 / century));
    for (const answer of answers) if (answer.status !== 200) assertRefused(answer, 400, 'VALIDATION_ERROR');
    assert.equal(service.now(), START + moved.length * century * 1000);
    assert.equal((await service.post('/sandbox/clock', { advance_seconds: 1 })).status, 200);
  });

  it('does not move when the move could not be written', async (t) => {
    const injectFault = { kind: 'FULL', afterCommits: 1, outcome: 'LOST', fullProbes: 2 } as const;
    const service = await openService({
      environment: { SANDBOX_CLOCK: 'on' },
      journal: { injectFault, probeEveryMs: 20 },
    });
    t.after(() => service.close());
    await service.define(bigClub);
    const move = () => service.call<{ now: string }>('POST', '/sandbox/clock', { body: { advance_seconds: 60 } });
    assertOverloaded(await move());
    await until(() => isReady(service), 'the service is ready again');
    const { status, body } = await move();
    assert.equal(status, 200);
    assert.equal(Date.parse(body.now), START + MINUTE);
  });
});

interface Rush {
  /** The values of Retry-After in the refusals. */
  readonly retryAfter: ReadonlySet<string | null>;
  /** Resolves when so many were refused as OVERLOADED; those that were taken on need not be answered by then. */
  refused(count: number): Promise<void>;
  /** Resolves with how many were placed when all are answered. */
  placed(): Promise<number>;
}

/** Places holds all at once. */
function rush(service: TestService, count: number): Rush {
  let placed = 0;
  let refused = 0;
  const retryAfter = new Set<string | null>();
  const all = Promise.all(
    Array.from({ length: count }, async () => {
      const answer = await place(service, newSession());
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
    refused: (many) => until(() => refused === many, `${many} are refused`),
    placed: () => all.then(() => placed),
  };
}

/** Stops the disk: nothing becomes durable until the returned function is called. */
function stopDisk({ internals }: TestService): () => void {
  const { journal } = internals.engine;
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

describe('Too many requests at once', () => {
  it('for one event are refused at once, while accepted requests are answered', async (t) => {
    const service = await openService({ limits: { waitingRepliesMax: 8 } });
    t.after(() => service.close());
    await service.define(bigClub);
    const release = stopDisk(service);
    const flood = rush(service, 60);
    await flood.refused(52);
    release();
    assert.equal(await flood.placed(), 8);
    assert.equal((await place(service, newSession())).status, 201);
  });

  it('for the whole process are refused above its limit, while reads are served', async (t) => {
    const service = await openService({ limits: { inFlightRequestsMax: 10 } });
    t.after(() => service.close());
    await service.define(bigClub);
    const release = stopDisk(service);
    const flood = rush(service, 60);
    await flood.refused(50);
    assert.equal((await service.call('GET', '/api/events/public/club-night')).status, 200);
    release();
    assert.equal(await flood.placed(), 10);
  });
});

describe('More connections than there may be', () => {
  it('are closed at once; open ones continue, and new ones are accepted when some have closed', async (t) => {
    const service = await openService({ limits: { connectionsMax: 4 } });
    t.after(() => service.close());
    const { port } = new URL(service.publicUrl);
    const sockets = Array.from({ length: 4 }, () => connect({ port: Number(port), host: '127.0.0.1' }));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const fifth = connect({ port: Number(port), host: '127.0.0.1' });
    await once(fifth.resume(), 'close');
    sockets[0]!.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
    const [answer] = (await once(sockets[0]!, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 200 /);
    for (const socket of sockets) socket.destroy();
    await until(() => isReady(service).catch(() => false), 'there is room for another connection');
  });
});

describe('More claims than may run at once', () => {
  it('wait in the admission queue, and commands that give tickets back do not', async (t) => {
    const service = await openService({ limits: { runningRequestsMax: 4, admissionWaitMsMax: 60_000 } });
    t.after(() => service.close());
    await service.define(bigClub);
    const hold = (n: number): string => {
      const body = JSON.stringify({ event_id: 'evt_club', session_key: `session-${n}`, items: [floor(1)] });
      return `POST ${HOLDS} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    };
    const release = `DELETE ${HOLDS}/hld_none?session_key=session-0 HTTP/1.1\r\nhost: x\r\n\r\n`;
    const requests = Array.from({ length: 40 }, (_, n) => (n % 10 === 9 ? release : hold(n)));
    const statuses = await sendAtOnce(service.publicUrl, requests);
    assert.deepEqual(
      statuses,
      Array.from({ length: 40 }, (_, n) => (n % 10 === 9 ? 404 : 201)),
    );
  });

  it('are shed when they have waited too long, with different values of Retry-After', async (t) => {
    const service = await openService({ limits: { runningRequestsMax: 4, admissionWaitMsMax: 50 } });
    t.after(() => service.close());
    await service.define(bigClub);
    const release = stopDisk(service);
    const flood = rush(service, 40);
    await flood.refused(36);
    assert.deepEqual([...flood.retryAfter].sort(), ['1', '2', '3']);
    release();
    assert.equal(await flood.placed(), 4);
    assert.equal((await place(service, newSession())).status, 201);
  });

  it('are dropped when their clients have disconnected', async (t) => {
    const service = await openService({ limits: { runningRequestsMax: 1, admissionWaitMsMax: 60_000 } });
    t.after(() => service.close());
    await service.define(bigClub);
    const release = stopDisk(service);
    const first = place(service, newSession());
    await inUseOnce(service, (counts) => counts['claims_at_work'] === 1);
    const impatient = new AbortController();
    const body = JSON.stringify({ event_id: 'evt_club', session_key: newSession(), items: [floor(7)] });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: impatient.signal };
    const dropped = assert.rejects(fetch(`${service.publicUrl}${HOLDS}`, init), { name: 'AbortError' });
    await inUseOnce(service, (counts) => counts['claims_in_line'] === 1);
    impatient.abort();
    await dropped;
    await inUseOnce(service, (counts) => counts['claims_in_line'] === 0);
    release();
    assert.equal((await first).status, 201);
    assert.equal((await place(service, newSession())).status, 201);
    const { body: event } = await service.operate<{ performances: { held: number }[] }>(
      'GET',
      '/admin/events/evt_club',
    );
    assert.equal(event.performances[0]!.held, 2);
  });
});

describe('A slow disk', () => {
  it('makes answers late but never wrong, with bounded batches and nothing left pending', async (t) => {
    const service = await openService({ journal: { injectFault: { ...slowDisk, delayMs: 60 } } });
    t.after(() => service.close());
    await service.define(bigClub);
    const { journal } = service.internals.engine;
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
          const { status, body } = await place(service, session);
          assert.equal(status, 201);
          sessions.push(session);
          holds.push(body);
        }
      }),
    );
    assert.ok(pendingMost <= clients, `${pendingMost} facts were on their way for ${clients} clients`);
    assert.equal(journal.appendedSeq, journal.durableSeq);
    for (const [n, hold] of holds.entries()) {
      assert.deepEqual((await readHold(service, hold, sessions[n]!)).body, hold);
    }
    assert.equal((await audit(service, 'evt_club')).get('night')!.held, clients * 6);
  });
});
