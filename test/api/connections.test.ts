/** The limits of connections, streams and requests in progress: each is released however the client disconnects. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { sample } from '../fixtures/events.ts';
import {
  bytesOf,
  connectRaw,
  inUse,
  inUseAtRest,
  inUseOnce,
  NOTHING_IN_USE,
  type RawClient,
} from '../fixtures/raw-socket.ts';
import { ofOneThread, openService, serviceWith } from '../fixtures/service.ts';

const LIVE = '/api/events/public/night-shift/live';
const HOLDS = '/api/checkout/holds';
const LISTENERS_MAX = 5;
const PIPELINED_MAX = 10;

const holdBody = (sessionKey: string) =>
  JSON.stringify({
    event_id: 'evt_club',
    session_key: sessionKey,
    items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 1 }],
  });

describe('A live stream', () => {
  const clients: RawClient[] = [];
  after(() => clients.forEach(({ socket }) => socket.destroy()));
  const limits = { liveListenersMax: LISTENERS_MAX, pipelinedRequestsMax: PIPELINED_MAX };
  const service = serviceWith([sample('club-night')], {}, { limits });
  const client = (options = {}): RawClient => {
    const made = connectRaw(service.publicUrl, options);
    clients.push(made);
    return made;
  };

  const noneLeft = async (): Promise<void> => assert.deepEqual(await inUseAtRest(service), NOTHING_IN_USE);

  it('counts once however often its connection requests it, and is released', async () => {
    for (let round = 0; round < LISTENERS_MAX; round += 1) {
      const greedy = client();
      greedy.write(bytesOf('GET', LIVE).repeat(LISTENERS_MAX));
      await greedy.receives('event: snapshot');
      assert.equal((await inUse(service))['live_streams'], 1);
      greedy.socket.destroy();
      await noneLeft();
    }
    const another = client();
    another.write(bytesOf('GET', LIVE));
    assert.match(await another.receives('event: snapshot'), /^HTTP\/1\.1 200 /);
    another.socket.destroy();
    await noneLeft();
  });

  const endings: readonly (readonly [how: string, end: (client: RawClient) => void])[] = [
    ['it closes', ({ socket }) => socket.end()],
    ['it breaks off', ({ socket }) => socket.resetAndDestroy()],
    ['it vanishes', ({ socket }) => socket.destroy()],
  ];
  for (const [how, end] of endings) {
    it(`is released when ${how}`, async () => {
      const watching = client();
      watching.write(bytesOf('GET', LIVE));
      await watching.receives('event: snapshot');
      end(watching);
      await noneLeft();
    });

    it(`does not count where ${how} before the stream has begun`, async () => {
      const hasty = client();
      hasty.write(bytesOf('GET', LIVE));
      end(hasty);
      await noneLeft();
    });
  }

  it('of a client that has closed its own side is closed too', async () => {
    const halfClosed = client({ allowHalfOpen: true });
    halfClosed.write(bytesOf('GET', LIVE));
    await halfClosed.receives('event: snapshot');
    halfClosed.socket.end();
    await halfClosed.closed();
    await noneLeft();
  });

  it('begins after the answers before it, and is never mixed with them', async () => {
    const patient = client();
    patient.write(bytesOf('POST', HOLDS, [], holdBody('session-before-stream')) + bytesOf('GET', LIVE));
    const text = await patient.receives('event: snapshot');
    assert.match(text, /^HTTP\/1\.1 201 [^]*"status":"ACTIVE"[^]*\}HTTP\/1\.1 200 OK[^]*event: snapshot/);
    patient.socket.destroy();
    await noneLeft();
  });

  it('is the last answer of its connection: a further request on it closes the connection', async () => {
    const talkative = client();
    talkative.write(bytesOf('GET', LIVE));
    await talkative.receives('event: snapshot');
    talkative.write(bytesOf('POST', HOLDS, [], holdBody('session-behind-stream')));
    const text = await talkative.closed();
    assert.equal(text.match(/HTTP\/1\.1/g)?.length, 1);
    await noneLeft();
  });

  it('is sent to an HTTP/1.0 client as well', async () => {
    const old = client();
    old.write(`GET ${LIVE} HTTP/1.0\r\n\r\n`);
    await old.receives('event: snapshot');
    old.socket.destroy();
    await noneLeft();
  });

  it('is refused as OVERLOADED over the limit of streams, and accepted again when one is released', async () => {
    const watching = Array.from({ length: LISTENERS_MAX }, () => client());
    for (const each of watching) each.write(bytesOf('GET', LIVE));
    await Promise.all(watching.map((each) => each.receives('event: snapshot')));
    const answer = await service.call('GET', LIVE);
    assert.deepEqual([answer.status, answer.body['code']], [503, 'OVERLOADED']);
    watching[0]!.socket.destroy();
    await inUseOnce(service, (counts) => counts['live_streams'] === LISTENERS_MAX - 1);
    const late = client();
    late.write(bytesOf('GET', LIVE));
    await late.receives('event: snapshot');
    for (const { socket } of [...watching, late]) socket.destroy();
    await noneLeft();
  });
});

describe('Pipelined requests on one connection', () => {
  const limits = { pipelinedRequestsMax: PIPELINED_MAX };
  const service = serviceWith([sample('club-night')], {}, { limits });

  it('are answered in order up to a limit; over it the answer is OVERLOADED and the connection closes', async () => {
    const ahead = connectRaw(service.publicUrl);
    const holds = Array.from({ length: PIPELINED_MAX + 5 }, (_, n) =>
      bytesOf('POST', HOLDS, [], holdBody(`session-ahead-${n}`)),
    );
    ahead.write(holds.join(''));
    const text = await ahead.closed();
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    assert.ok(statuses.length <= PIPELINED_MAX + 2, text);
    assert.ok(
      statuses.every((status, place) => status === (place <= PIPELINED_MAX ? 201 : 503)),
      String(statuses),
    );
    assert.deepEqual(await inUseAtRest(service), NOTHING_IN_USE);
  });

  it('may be of any number where only a few are unanswered at a time', async () => {
    const steady = connectRaw(service.publicUrl);
    const read = bytesOf('GET', '/health/live');
    steady.write(read.repeat(PIPELINED_MAX));
    for (let answered = 1; answered <= 5 * PIPELINED_MAX; answered += 1) {
      await steady.receives('HTTP/1.1 200 ', answered);
      steady.write(read);
    }
    assert.ok(!steady.text().includes('503'));
    steady.socket.destroy();
  });
});

describe('A change whose client disconnects', () => {
  const limits = { runningRequestsMax: 1, admissionWaitMsMax: 60_000 };
  const service = serviceWith([sample('club-night')], {}, { limits });

  const request = bytesOf('POST', HOLDS, [], holdBody('session-that-leaves'));
  const cuts: readonly (readonly [where: string, bytes: string])[] = [
    ['before its headers are whole', request.slice(0, 40)],
    ['before its body', request.slice(0, request.indexOf('\r\n\r\n') + 4)],
    ['in the middle of its body', request.slice(0, -20)],
    ['before the answer', request],
    ['with several requests under way', request.repeat(8)],
    ['with an expectation', request.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n')],
    ['speaking HTTP/1.0', request.replace('HTTP/1.1', 'HTTP/1.0')],
  ];
  for (const [where, bytes] of cuts) {
    for (const ending of ['end', 'destroy', 'resetAndDestroy'] as const) {
      it(`${where} (${ending}) leaves nothing in use`, async () => {
        const leaving = Array.from({ length: 8 }, () => connectRaw(service.publicUrl));
        for (const { socket } of leaving) {
          socket.write(bytes);
          socket[ending]();
        }
        await Promise.all(leaving.map((each) => each.closed()));
        assert.deepEqual(await inUseAtRest(service), NOTHING_IN_USE);
      });
    }
  }

  it('leaves the admission queue at once, although no other request leaves it', async () => {
    const { journal } = service.internals.engine;
    const durable = journal.durable.bind(journal);
    const held: (() => void)[] = [];
    // No write is completed, so the one claim that may run stays in progress.
    journal.durable = (seq) => new Promise((resolve) => held.push(() => resolve(durable(seq))));
    const clients = Array.from({ length: 6 }, (_, n) => {
      const each = connectRaw(service.publicUrl);
      each.write(bytesOf('POST', HOLDS, [], holdBody(`session-line-${n}`)));
      return each;
    });
    // Threads that look at the same moment admit one each; a request of the test before may come late.
    const areAllThere = (counts: Readonly<Record<string, number>>) =>
      counts['claims_at_work']! + counts['claims_in_line']! >= clients.length && counts['claims_in_line']! >= 4;
    await inUseOnce(service, areAllThere);
    for (const { socket } of clients) socket.destroy();
    const counts = await inUseOnce(service, ({ claims_in_line: inLine }) => inLine === 0);
    assert.equal(counts['claims_in_line'], 0);
    journal.durable = durable;
    for (const release of held) release();
    assert.deepEqual(await inUseAtRest(service), NOTHING_IN_USE);
  });
});

describe('A slow client', () => {
  const RECEIVE_MS = 300;
  const MARGIN_MS = 20_000;

  const slow: readonly (readonly [what: string, bytes: string])[] = [
    ['that sends nothing', ''],
    ['that stops in the middle of its headers', 'POST /api/checkout/holds HTTP/1.1\r\nHost: x\r\n'],
    ['that stops in the middle of its body', bytesOf('POST', HOLDS, [], holdBody('session-slow')).slice(0, -5)],
  ];
  for (const [what, bytes] of slow) {
    it(`${what} is answered REQUEST_TIMEOUT and closed after the limit on receiving, not much later`, async (t) => {
      const service = await openService({ limits: { requestReceiveMsMax: RECEIVE_MS } });
      t.after(() => service.close());
      const begun = Date.now();
      const client = connectRaw(service.publicUrl);
      client.write(bytes);
      const text = await client.closed();
      assert.match(text, /^HTTP\/1\.1 408 [^]*"code":"REQUEST_TIMEOUT"/);
      assert.ok(Date.now() - begun >= RECEIVE_MS - 50);
      assert.ok(Date.now() - begun < RECEIVE_MS + MARGIN_MS, `closed after ${Date.now() - begun} ms`);
    });
  }

  const skip = ofOneThread('its connections are on this thread');
  it('that reads nothing of its answer is closed after a time', { skip }, async (t) => {
    const service = await openService({ limits: { stalledMsMax: RECEIVE_MS }, demo: true });
    t.after(() => service.close());
    const accepted = new Promise<Socket>((resolve) => {
      const take = (message: unknown): void => {
        unsubscribe('net.server.socket', take);
        resolve((message as { readonly socket: Socket }).socket);
      };
      subscribe('net.server.socket', take);
    });
    const client = connectRaw(service.publicUrl);
    const serving = await accepted;
    client.socket.pause();
    // More answers than sockets buffer.
    client.write(bytesOf('GET', '/api/events/public/erfurt-volley/seating').repeat(60));
    await once(serving, 'close');
    client.socket.destroy();
  });
});

describe('HOST=localhost', () => {
  it('has the same limits and errors at every address on which the service listens', async (t) => {
    const service = await openService({ environment: { HOST: 'localhost', ADMIN_HOST: 'localhost' } });
    t.after(() => service.close());
    const { port } = new URL(service.publicUrl);
    let heard = 0;
    for (const host of ['127.0.0.1', '[::1]']) {
      const client = connectRaw(`http://${host}:${port}`);
      client.write('HELLO\r\n\r\n');
      const text = await client.closed();
      if (text === '') continue;
      heard += 1;
      assert.match(text, /^HTTP\/1\.1 400 [^]*"code":"VALIDATION_ERROR"/, host);
    }
    assert.ok(heard > 0);
    assert.equal((await service.call('GET', '/health/live')).status, 200);
  });
});
