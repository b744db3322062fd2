/**
 * Bytes that no client library would send: cut off, mislabelled, smuggled. The service refuses them or does not answer.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { as, HOLDS } from '../fixtures/client.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { bytesOf, connectRaw, inUseAtRest, NOTHING_IN_USE } from '../fixtures/raw-socket.ts';
import { serviceWith } from '../fixtures/service.ts';
import { deep } from '../depth.ts';
import { fc } from '../property.ts';

const RUNS = deep(12);
/** How long a test waits for an answer, by how the sender ends. */
const SILENCE_MS = { end: 40, break: 40, stay: 30_000 } as const;

/**
 * A damaged request can leave the service waiting for more bytes; an answer, if there is one, comes within this time.
 */
const DAMAGED_MS_MAX = 700;

const service = serviceWith([clubNight()]);

const BODY = JSON.stringify({ event_id: 'evt_club', session_key: 'socket-session', items: [floor(1)] });

function whole(headers: readonly string[] = [], body = BODY): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  return [`POST ${HOLDS} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', length, ...headers, '', body].join(
    '\r\n',
  );
}

/** Writes the pieces, then ends its side, resets the connection or waits; returns what was received. */
function write(
  pieces: readonly Buffer[],
  ending: 'end' | 'break' | 'stay',
  silenceMs: number = SILENCE_MS[ending],
): Promise<string> {
  const { hostname, port } = new URL(service.publicUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    const finish = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => (text += piece));
    socket.on('error', finish);
    socket.on('close', finish);
    socket.setTimeout(silenceMs, finish);
    for (const piece of pieces) socket.write(piece);
    if (ending === 'end') socket.end();
    if (ending === 'break') void pause(2).then(() => socket.resetAndDestroy());
  });
}

type Harm = 'cut' | 'insert' | 'flip' | 'split';

/** The bytes of a damaged request, as the pieces in which they arrive. */
function harmed(harms: readonly Harm[], request: string): fc.Arbitrary<readonly Buffer[]> {
  const bytes = Buffer.from(request);
  return fc
    .record({
      at: fc.nat({ max: bytes.length - 1 }),
      harm: fc.constantFrom(...harms),
      byte: fc.integer({ min: 0, max: 255 }),
    })
    .map(({ at, harm, byte }) => {
      const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
      switch (harm) {
        case 'cut':
          return [head];
        case 'split':
          return [head, tail];
        case 'insert':
          return [Buffer.concat([head, Buffer.from([byte]), tail])];
        case 'flip':
          return [Buffer.concat([head, Buffer.from([byte]), tail.subarray(1)])];
      }
    });
}

/** Asserts that every answer in the text is HTTP with a status below 500; returns the statuses. */
function statusesIn(text: string): readonly number[] {
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
  assert.ok(text === '' || statuses.length > 0, text);
  for (const status of statuses) assert.ok(status < 500, text);
  return statuses;
}

it('A damaged request whose sender waits is refused without a fact, or accepted', async () => {
  const { journal } = service.internals.engine;
  const requests = harmed(['insert', 'flip', 'split'], whole(['Connection: close']));
  const property = fc.asyncProperty(requests, async (pieces) => {
    const before = journal.appendedSeq;
    const text = await write(pieces, 'stay', DAMAGED_MS_MAX);
    const statuses = statusesIn(text);
    const isRefused = statuses.length > 0 && statuses.every((status) => status >= 400);
    if (isRefused) assert.equal(journal.appendedSeq, before, text);
  });
  await fc.assert(property, { numRuns: RUNS });
});

it('A body that is shorter than announced changes nothing', async () => {
  const { journal } = service.internals.engine;
  const before = journal.appendedSeq;
  for (const length of [0, 1, 20, BODY.length - 1]) {
    const bytes = Buffer.from(whole().slice(0, whole().length - BODY.length + length));
    for (const ending of ['end', 'break'] as const) await write([bytes], ending);
  }
  assert.equal(journal.appendedSeq, before);
});

const smuggled: readonly (readonly [what: string, text: string])[] = [
  ['two lengths', whole(['Content-Length: 5'])],
  ['a length and chunks', whole(['Transfer-Encoding: chunked'])],
  ['a length below zero', whole().replace(/Content-Length: \d+/, 'Content-Length: -1')],
  ['a length that is no number', whole().replace(/Content-Length: \d+/, 'Content-Length: 0x10')],
  ['a chunk of another size', whole().replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked')],
  ['a header without a name', whole([': x'])],
  ['a folded header', whole(['X-A: b', ' c'])],
  ['a space before the colon', whole(['X-A : b'])],
  ['a bare line feed', whole().replaceAll('\r\n', '\n')],
  ['another version', whole().replace('HTTP/1.1', 'HTTP/9.9')],
  ['a method that is none', whole().replace('POST', 'SELL')],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a handshake of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
];

for (const [what, text] of smuggled) {
  it(`With ${what} a request is refused whole`, async () => {
    const { journal } = service.internals.engine;
    const before = journal.appendedSeq;
    const answer = await write([Buffer.from(text, 'latin1')], 'stay');
    assert.match(answer, /^HTTP\/1\.1 4\d\d [^]*"code":"VALIDATION_ERROR"[^]*\}$/);
    assert.equal(journal.appendedSeq, before);
  });
}

it('Requests in one piece are answered in their order', async () => {
  const read = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
  const answer = await write([Buffer.from(read + whole() + read + whole(['Connection: close']))], 'stay');
  const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
  assert.deepEqual(statuses, ['200', '201', '200', '201']);
  const [id] = /hld_\w+_[\w-]{24}/.exec(answer)!;
  assert.equal((await service.get(`${HOLDS}/${id}`, as('socket-session'))).status, 200);
});

const LIVE = '/api/events/public/club-night/live';

/** Requests that a client may send before earlier answers have come, complete or not. */
const SENT_AHEAD = {
  stream: bytesOf('GET', LIVE),
  'stream of another time': bytesOf('GET', LIVE, ['Last-Event-ID: x-1']),
  'stream of nothing': bytesOf('GET', '/api/events/public/nowhere/live'),
  'stream in HTTP/1.0': `GET ${LIVE} HTTP/1.0\r\n\r\n`,
  'head of a stream': bytesOf('HEAD', LIVE),
  hold: whole(),
  'hold that is expected': whole(['Expect: 100-continue']),
  'last hold': whole(['Connection: close']),
  event: bytesOf('GET', '/api/events/public/club-night'),
  order: bytesOf('POST', '/api/checkout/start', [], JSON.stringify({ event_id: 'evt_club' })),
  half: whole().slice(0, -9),
  nonsense: 'SELL ME\r\n\r\n',
} as const;

it('Whatever a client pipelines and however it disconnects, nothing is in use afterwards', async () => {
  const kind = fc.constantFrom(...(Object.keys(SENT_AHEAD) as (keyof typeof SENT_AHEAD)[]));
  const send = fc.record({
    sent: fc.array(kind, { minLength: 1, maxLength: 6 }),
    times: fc.constantFrom(1, 1, 30),
    end: fc.constantFrom('end', 'destroy', 'resetAndDestroy'),
    isHasty: fc.boolean(),
  });
  const property = fc.asyncProperty(fc.array(send, { minLength: 1, maxLength: 5 }), async (visits) => {
    const leaving = visits.map(async ({ sent, times, end, isHasty }) => {
      const client = connectRaw(service.publicUrl);
      client.write(
        sent
          .map((name) => SENT_AHEAD[name])
          .join('')
          .repeat(times),
      );
      // An incomplete request gets no answer.
      if (!isHasty && !sent[0]!.startsWith('h')) await client.receives('HTTP/1.1').catch(() => {});
      client.socket[end]();
      statusesIn((await client.closed()).replace(/^[^]*?HTTP\/1\.1 503 [^]*$/, ''));
    });
    await Promise.all(leaving);
    assert.deepEqual(await inUseAtRest(service), NOTHING_IN_USE);
  });
  await fc.assert(property, { numRuns: RUNS });
  const watching = connectRaw(service.publicUrl);
  watching.write(SENT_AHEAD.stream);
  await watching.receives('event: snapshot');
  watching.socket.destroy();
});

// Last, because complete requests of such a sender may still be in progress.
it('A request whose sender disconnects in the middle of it leaves the service ready', async () => {
  const requests = harmed(['cut', 'insert', 'flip', 'split'], whole());
  const ending = fc.constantFrom<'end' | 'break'>('end', 'break');
  const property = fc.asyncProperty(requests, ending, async (pieces, how) => void statusesIn(await write(pieces, how)));
  await fc.assert(property, { numRuns: RUNS });
  assert.equal((await service.get('/health/ready')).status, 200);
});
