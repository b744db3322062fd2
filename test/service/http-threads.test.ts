/** Several threads that answer buyers: what is one for the process, and what happens when one of them ends. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { audit } from '../fixtures/checks.ts';
import { readConfig } from '#service/config.ts';
import type { StartThread } from '#service/http-threads.ts';
import { startService } from '#service/service.ts';
import type { ToThread } from '#service/thread-messages.ts';
import { clientOf, HOLDS, newSession, type Json } from '../fixtures/client.ts';
import { clubNight, floor, largeHall, sample, smallGallery, theatreRun } from '../fixtures/events.ts';
import { makeFolder, newDataFolder, newFolder, removeFolder } from '../fixtures/folders.ts';
import { ofOneMachine, openService, runToEnd, spawnServiceFor } from '../fixtures/service.ts';
import { startKeptThread } from '../threads/kept-threads.ts';
import { ADMIN_TOKEN, environmentOf, type TestService, type TestServiceOptions } from '../fixtures/test-service.ts';
import { bytesOf, connectRaw, inUse, type RawClient } from '../fixtures/raw-socket.ts';
import { troublesAt } from '../fixtures/troubles.ts';
import { until } from '../fixtures/until.ts';

const THREADS = { HTTP_THREADS: '2' };
/** Threads of this service alone, as the product starts them. */
const OWN = { worker: {} };
const CLOSING = { connection: 'close' };

async function open(t: TestContext, options: TestServiceOptions = {}): Promise<TestService> {
  const service = await openService({ ...options, environment: { ...THREADS, ...options.environment } });
  t.after(() => service.close());
  return service;
}

/** Asks on new connections until both threads have answered, told by their request ids; answers how often. */
async function bothAnswer(service: TestService, path = '/health/live'): Promise<number> {
  const apps = new Set<string>();
  let asked = 0;
  await until(async () => {
    const { status, headers } = await service.get(path, CLOSING);
    asked += 1;
    assert.equal(status, 200);
    apps.add(headers.get('x-request-id')!.split('-')[0]!);
    return apps.size === 2;
  });
  return asked;
}

async function metric(service: TestService, line: RegExp): Promise<number> {
  const { body } = await service.admin.get<string>('/metrics');
  return Number(line.exec(body)?.[1]);
}

/** Connections to one thread and to the other one, so many at least. */
async function connectToBoth(
  service: TestService,
  count: number,
): Promise<[readonly RawClient[], readonly RawClient[]]> {
  const byThread = new Map<string, RawClient[]>();
  for (;;) {
    const client = connectRaw(service.publicUrl);
    client.write(bytesOf('GET', '/health/live'));
    const [, thread] = /x-request-id: (.+)-/.exec(await client.receives('{"status":"ok"}'))!;
    byThread.set(thread!, [...(byThread.get(thread!) ?? []), client]);
    const [one = [], other = []] = byThread.values();
    if (Math.min(one.length, other.length) >= count) return [one, other];
  }
}

/**
 * A module by which the first thread that sees a file removes it and then takes all the memory that it may have.
 * `rmSync` would tell two threads that each of them has removed it.
 */
function takingMemory(order: string): string {
  const source = `
    import { unlinkSync } from 'node:fs';
    const look = () => {
      try { unlinkSync(${JSON.stringify(order)}); } catch { return; }
      for (const kept = []; ; ) kept.push(Array(20_000).fill(0));
    };
    setInterval(look, 20).unref();`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/** A module by which a thread that starts waits while there is a file. */
function waitingFor(file: string): string {
  const source = `
    import { existsSync } from 'node:fs';
    import { setTimeout as pause } from 'node:timers/promises';
    while (existsSync(${JSON.stringify(file)})) await pause(20);`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/** Sends the head of a request on a connection of its own. */
function stream(service: TestService, address: string): RawClient {
  const client = connectRaw(service.publicUrl);
  client.write(`GET /api/events/public/club-night/live HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n\r\n`);
  return client;
}

describe('HTTP_THREADS=2', { skip: ofOneMachine('one machine is opened with threads') }, () => {
  it('has two threads answer on one port, whose requests are counted together', async (t) => {
    const service = await open(t, OWN);
    const asked = await bothAnswer(service);
    const counted = (): Promise<number> =>
      metric(
        service,
        /^http_request_duration_seconds_count\{method="GET",route="\/health\/live",status="2xx"\} (\d+)$/m,
      );
    for (let n = 0; n < 20; n += 1) await service.get('/health/live', CLOSING);
    await until(async () => (await counted()) === asked + 20);
    assert.equal(await metric(service, /^holdfast_http_threads (\d+)$/m), 2);
    const { body } = await service.admin.get<string>('/metrics');
    for (const thread of ['http-0', 'http-1']) {
      assert.match(body, new RegExp(`^holdfast_http_thread_lag_seconds\\{thread="${thread}",what="p99"\\} \\d`, 'm'));
    }
    // A command's codes are known before one was answered.
    assert.match(body, /^holdfast_turns_total\{command="PlaceHold",code="SEAT_TAKEN"\} 0$/m);
  });

  it('moves a slug on every thread at once, and answers what is longer than a ring takes', async (t) => {
    const service = await open(t);
    const yard = { id: 'yard', name: 'Yard', seating: 'GENERAL', capacity: 500 };
    const play = theatreRun({ localities: [largeHall(60, { seats: 50 }, smallGallery), yard] }) as Json;
    const slug = String(play['slug']);
    await service.define(play);
    await bothAnswer(service, `/api/events/public/${slug}/seating`);
    const { body } = await service.get<Json>(`/api/events/public/${slug}/seating`);
    assert.ok(JSON.stringify(body).length > 256 * 1024);
    await service.define({ ...play, slug: 'renamed' });
    for (let n = 0; n < 8; n += 1) {
      assert.equal((await service.get(`/api/events/public/${slug}`, CLOSING)).status, 404);
      assert.equal((await service.get('/api/events/public/renamed', CLOSING)).status, 200);
    }
  });

  it('limits changes and streams of all threads together', async (t) => {
    const service = await open(t, {
      environment: { RATE_LIMIT_PER_MINUTE: '6', TRUST_PROXY: '1' },
      limits: { liveListenersMax: 5, clientStreamsMax: 2, wrongTokensPerMinuteMax: 3 },
    });
    await service.define(clubNight());
    const statuses: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      const body = { event_id: 'evt_club', session_key: newSession(), items: [floor(1)] };
      statuses.push((await service.post(HOLDS, body, CLOSING)).status);
    }
    assert.equal(statuses.filter((status) => status === 201).length, 6, statuses.join());
    assert.equal(statuses.filter((status) => status === 429).length, 14);
    service.wait(60_000);
    const again = { event_id: 'evt_club', session_key: newSession(), items: [floor(1)] };
    assert.equal((await service.post(HOLDS, again, CLOSING)).status, 201, 'a minute later');

    const wrong: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      wrong.push((await service.get('/api/doors/sync', { ...CLOSING, authorization: 'Bearer gtk_wrong' })).status);
    }
    assert.deepEqual(wrong, [401, 401, 401, ...Array<number>(7).fill(429)]);

    // One client has two, all clients have five.
    const answers: string[] = [];
    const streams: RawClient[] = [];
    for (let n = 0; n < 12; n += 1) {
      const client = stream(service, `192.0.2.${n < 6 ? 1 : n}`);
      streams.push(client);
      answers.push(/^HTTP\/1.1 (\d+)/.exec(await client.receives('\r\n\r\n'))![1]!);
    }
    const of = (status: string): number => answers.filter((each) => each === status).length;
    assert.deepEqual([answers.slice(0, 2).join(), of('200'), of('429')], ['200,200', 5, 4], answers.join());
    assert.equal((await inUse(service))['live_streams'], 5);
    for (const { socket } of streams) socket.destroy();
    await until(async () => (await inUse(service))['live_streams'] === 0);
  });

  it('closes connections beyond the limit of all threads together', async (t) => {
    const service = await open(t, { limits: { connectionsMax: 6 } });
    const clients = Array.from({ length: 12 }, () => connectRaw(service.publicUrl));
    const closed = (): number => clients.filter(({ socket }) => socket.closed).length;
    await until(() => closed() === 6);
    for (const { socket } of clients) socket.destroy();
    await until(async () => (await service.get('/health/live', CLOSING).catch(() => null))?.status === 200);
  });

  it('has all threads go by the sandbox clock from the answer on that moved it', async (t) => {
    const service = await open(t, { environment: { SANDBOX_CLOCK: 'on' } });
    for (let n = 0; n < 5; n += 1) {
      const moved = await service.post<Json>('/sandbox/clock', { advance_seconds: 700 });
      const { headers } = await service.get('/health/live', CLOSING);
      assert.ok(Date.parse(headers.get('date')!) >= Date.parse(String(moved.body['now'])) - 1_000, String(n));
    }
  });

  it('shows in Server-Timing what the turn, the disk and the way between the threads took', async (t) => {
    const service = await open(t, { environment: { SERVER_TIMING: 'on' } });
    await service.define(clubNight());
    const body = { event_id: 'evt_club', session_key: newSession(), items: [floor(1)] };
    const { headers } = await service.post(HOLDS, body);
    const times = Object.fromEntries(
      headers
        .get('server-timing')!
        .split(', ')
        .map((metric) => metric.split(';dur='))
        .map(([name, ms]) => [name, Number(ms)] as const),
    );
    assert.deepEqual(Object.keys(times), ['admission', 'turn', 'disk', 'handover', 'total']);
    const { turn, disk, handover, total } = times;
    assert.ok(
      turn! > 0 && disk! > 0 && handover! > 0 && turn! + disk! + handover! <= total! + 0.01,
      headers.get('server-timing')!,
    );
  });

  it('starts a thread again that ended, keeps what was answered and counted, and says so meanwhile', async (t) => {
    const service = await open(t, OWN);
    await service.define(clubNight());
    const holds = [];
    for (let n = 0; n < 10; n += 1) {
      const sessionKey = newSession();
      const body = { event_id: 'evt_club', session_key: sessionKey, items: [floor(1)] };
      const { body: hold } = await service.post<Json>(HOLDS, body, CLOSING);
      holds.push({ sessionKey, id: hold['id'] as string });
    }
    // So many that none of one thread is next to impossible: the system spreads them by chance.
    const streams = Array.from({ length: 16 }, (_, n) => stream(service, `192.0.2.${n}`));
    await Promise.all(streams.map((client) => client.receives('event: snapshot')));
    const counted = (): Promise<number> =>
      metric(
        service,
        /^http_request_duration_seconds_count\{method="POST",route="\/api\/checkout\/holds",status="2xx"\} (\d+)$/m,
      );
    await until(async () => (await counted()) === 10);
    const { threads } = service.internals;
    await threads!.kill(0);
    await until(() => threads!.running === 1);
    const { body: ready } = await service.operate<Json>('GET', '/health/ready');
    assert.deepEqual(ready, { status: 'ok', degraded: ['thread:0'] });
    // The streams of the thread that goes on are all that is left, once their clients have heard that the others ended.
    const left = (): number => streams.filter(({ socket }) => !socket.destroyed).length;
    await until(async () => (await inUse(service))['live_streams'] === left());
    assert.ok(left() < streams.length);
    assert.equal((await inUse(service))['live_streams'], left());
    for (const { id, sessionKey } of holds) {
      const { body } = await service.call<Json>('GET', `${HOLDS}/${id}`, { sessionKey, headers: CLOSING });
      assert.equal(body['status'], 'ACTIVE');
    }
    await until(() => threads!.running === 2);
    await bothAnswer(service);
    assert.equal(await counted(), 10);
    assert.equal(await metric(service, /^holdfast_http_thread_restarts_total (\d+)$/m), 1);
    assert.deepEqual((await service.operate<Json>('GET', '/health/ready')).body, { status: 'ok' });
    for (const { socket } of streams) socket.destroy();
  });

  it('bounds bodies of all threads, and those that wait at one make none give way at another', async (t) => {
    const [KIB, bodiesBytesMax] = [1024, 400 * 1024];
    const service = await open(t, { limits: { bodiesBytesMax } });
    await service.define(clubNight());
    const headers = ['Content-Type: application/json', `Content-Length: ${150 * KIB}`];
    const [silent, others] = await connectToBoth(service, 6);
    t.after(() => [...silent, ...others].forEach(({ socket }) => socket.destroy()));
    const send = (client: RawClient, body: string): void => client.write(bytesOf('POST', HOLDS, headers) + body);
    for (const client of silent) send(client, ' '.repeat(90 * KIB));
    await until(() => silent.some((client) => client.text().includes('HTTP/1.1 503 ')));
    for (const client of others) {
      const body = JSON.stringify({ event_id: 'evt_club', session_key: newSession(), items: [floor(1)] });
      send(client, body.padEnd(150 * KIB));
      assert.match(await client.receives('HTTP/1.1 ', 2), /HTTP\/1\.1 201 /);
      const { body_bytes: bytes = 0 } = await inUse(service);
      assert.ok(bytes > 0 && bytes <= bodiesBytesMax, `${bytes} bytes`);
    }
  });

  it('keeps every hold that was answered while threads end under load, and holds no ticket twice', async (t) => {
    const folder = makeFolder();
    t.after(() => removeFolder(folder));
    const order = path.join(folder, 'take all memory');
    // What survives in a large young generation can be more than Node has to spare when a thread is at its limit, and
    // then the whole process ends.
    const resourceLimits = { maxOldGenerationSizeMb: 150, maxYoungGenerationSizeMb: 4 };
    const worker = { execArgv: ['--import', takingMemory(order)], resourceLimits };
    const troubles = troublesAt(t, 'http');
    const service = await open(t, { worker });
    await service.define(
      clubNight({ localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 100_000 }] }),
    );
    const { threads } = service.internals;
    const answered: { readonly sessionKey: string; readonly id: string }[] = [];
    let unanswered = 0;
    let isOver = false;
    // So that a machine that is slow to start a thread again sells no more than another.
    let pauseMs = 0;
    const buy = async (): Promise<void> => {
      while (!isOver) {
        if (pauseMs > 0) await pause(pauseMs);
        const sessionKey = newSession();
        const body = { event_id: 'evt_club', session_key: sessionKey, items: [floor(1)] };
        try {
          const { status, body: hold } = await service.post<Json>(HOLDS, body);
          if (status === 201) answered.push({ sessionKey, id: String(hold['id']) });
        } catch {
          unanswered += 1;
        }
      }
    };
    t.after(() => void (isOver = true));
    const buyers = Array.from({ length: 16 }, buy);
    const ends = [() => threads!.kill(0), () => threads!.kill(1), () => writeFileSync(order, '')];
    for (const [index, end] of ends.entries()) {
      pauseMs = 0;
      const before = answered.length;
      await until(() => answered.length > before + 100);
      await end();
      pauseMs = 50;
      await until(() => threads!.restarts === index + 1 && threads!.running === 2);
    }
    assert.equal(troubles.length, ends.length);
    assert.equal((troubles.at(-1)!.error as NodeJS.ErrnoException).code, 'ERR_WORKER_OUT_OF_MEMORY');
    assert.equal(await metric(service, /^holdfast_http_thread_restarts_total (\d+)$/m), ends.length);
    isOver = true;
    await Promise.all(buyers);
    assert.ok(unanswered > 0, 'connections broke');
    const unread = answered.values();
    const read = async (): Promise<void> => {
      for (const { id, sessionKey } of unread) {
        const { body } = await service.call<Json>('GET', `${HOLDS}/${id}`, { sessionKey });
        assert.equal(body['status'], 'ACTIVE', id);
      }
    };
    await Promise.all(buyers.map(read));
    const { held } = (await audit(service, 'evt_club')).values().next().value!;
    assert.ok(held >= answered.length && held <= answered.length + unanswered, `${held} of ${answered.length}`);
  });

  it('is not ready while no thread answers', async (t) => {
    const file = path.join(newFolder(t), 'wait');
    const service = await open(t, { worker: { execArgv: ['--import', waitingFor(file)] } });
    const { threads } = service.internals;
    writeFileSync(file, '');
    await Promise.all([threads!.kill(0), threads!.kill(1)]);
    await until(() => threads!.running === 0);
    const [{ status, body }, isReady] = await Promise.all([
      service.operate<Json>('GET', '/health/ready'),
      metric(service, /^holdfast_ready (\d)$/m),
    ]);
    assert.deepEqual([status, body], [503, { status: 'unavailable', reason: 'no thread answers requests' }]);
    assert.equal(isReady, 0);
    rmSync(file);
    await until(() => threads!.running === 2);
    assert.equal((await service.get('/health/ready')).status, 200);
  });

  it('knows its address from the first answer on, before all threads listen', async (t) => {
    const environment = { ...environmentOf(newDataFolder(t)), ...THREADS, PORT: '0', HOST: '127.0.0.1' };
    const reading = readConfig(environment);
    assert.ok('config' in reading);
    let url = '';
    const meanwhile = async (port: number): Promise<void> => {
      url = `http://127.0.0.1:${port}`;
      const client = clientOf([url], [''], ADMIN_TOKEN);
      const session = newSession();
      const { id } = await client.hold({ session_key: session });
      const customer = { name: 'Ada', email: 'ada@example.com' };
      const body = { event_id: 'evt_club', hold_id: id, session_key: session, customer, accept_terms: true };
      const paid = await client.post<Json>('/api/checkout/start', body);
      assert.equal(paid.status, 201, JSON.stringify(paid.body));
      assert.ok(String(paid.body['redirect_url']).startsWith(`${url}/`), JSON.stringify(paid.body));
      const shop = await client.get<string>('/');
      assert.match(shop.body, new RegExp(`<link rel="canonical" href="${url}/"`));
    };
    const asked = Promise.withResolvers<void>();
    const start: StartThread = (data) => {
      const thread = startKeptThread(data);
      if (data.line === 0) return thread;
      const post = thread.postMessage;
      thread.postMessage = (message: ToThread) => {
        if (message.kind === 'listen')
          meanwhile(message.port)
            .then(asked.resolve, asked.reject)
            .finally(() => post(message));
        else post(message);
      };
      return thread;
    };
    const log = pino({ level: 'silent' });
    const service = await startService(reading.config, { demo: true, log, threads: { start } });
    t.after(() => service.stop());
    await asked.promise;
    assert.equal(service.publicUrl, url);
  });

  it('does not share its port with another process: exit code 2', async (t) => {
    const first = await spawnServiceFor(t, { environment: THREADS });
    await first.define(sample('club-night'));
    const { port } = new URL(first.publicUrl);
    const { code, text } = await runToEnd({ environment: { ...THREADS, PORT: port } });
    assert.equal(code, 2);
    assert.match(text, new RegExp(`^PORT is ${port}: it must be a port that nobody else listens on$`, 'm'));
    assert.equal(await first.end('SIGTERM'), 0);
  });
});
