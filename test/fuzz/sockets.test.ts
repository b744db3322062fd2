/** Bytes that no client library would send: cut off, mislabelled, smuggled. The service says no, or nothing, and sells on. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { as, clubNight, floor, HOLDS, openShop, type Shop } from '../api/shop.ts';
import { fc } from '../property.ts';

const RUNS = Math.ceil(Number(process.env['FUZZ_RUNS'] ?? 600) / 8);
/** Who gets no answer to bytes that are none waits no longer. */
const SILENCE_MS = 40;
const ANSWER_MS_MAX = 5_000;

let shop: Shop;
before(async () => {
  shop = await openShop([clubNight()]);
});
after(() => shop.close());

const BODY = JSON.stringify({ event_id: 'evt_club', session_key: 'socket-session', items: [floor(1)] });

function whole(headers: readonly string[] = [], body = BODY): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  return [`POST ${HOLDS} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', length, ...headers, '', body].join(
    '\r\n',
  );
}

/** Writes the pieces, then ends its side, breaks off or stays on the line; answers what came until then. */
function write(pieces: readonly Buffer[], ending: 'end' | 'break' | 'stay'): Promise<string> {
  const { hostname, port } = new URL(shop.house.publicUrl);
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
    socket.setTimeout(ending === 'stay' ? ANSWER_MS_MAX : SILENCE_MS, finish);
    for (const piece of pieces) socket.write(piece);
    if (ending === 'end') socket.end();
    if (ending === 'break') void pause(2).then(() => socket.resetAndDestroy());
  });
}

/** What was cut off, or has a byte that it should not have, or comes in pieces. */
const brokenRequest = fc
  .record({
    at: fc.nat({ max: whole().length - 1 }),
    harm: fc.constantFrom('cut', 'insert', 'flip', 'split'),
    byte: fc.integer({ min: 0, max: 255 }),
    ending: fc.constantFrom<'end' | 'break'>('end', 'break'),
  })
  .map(({ at, harm, byte, ending }) => {
    const bytes = Buffer.from(whole());
    if (harm === 'cut') return { pieces: [bytes.subarray(0, at)], ending };
    if (harm === 'split') return { pieces: [bytes.subarray(0, at), bytes.subarray(at)], ending };
    if (harm === 'insert') {
      return { pieces: [Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)])], ending };
    }
    bytes[at] = byte;
    return { pieces: [bytes], ending };
  });

/** Every answer in a text is HTTP, of a known status, no 5xx; a refusal leaves no fact. */
async function judge(send: () => Promise<string>): Promise<string> {
  const { journal } = shop.house.service.engine;
  const before = journal.appendedSeq;
  const text = await send();
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
  assert.ok(text === '' || statuses.length > 0, text);
  for (const status of statuses) assert.ok(status < 500, text);
  const isRefused = statuses.length > 0 && statuses.every((status) => status >= 400);
  if (isRefused) assert.equal(journal.appendedSeq, before, text);
  return text;
}

it('A request that is cut off or damaged anywhere is refused, ignored or understood, never half of it', async () => {
  await fc.assert(
    fc.asyncProperty(brokenRequest, async ({ pieces, ending }) => void (await judge(() => write(pieces, ending)))),
    { numRuns: RUNS },
  );
  assert.equal((await shop.get('/health/ready')).status, 200);
});

it('A body that is shorter than announced changes nothing', async () => {
  const { journal } = shop.house.service.engine;
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
    const { journal } = shop.house.service.engine;
    const before = journal.appendedSeq;
    const answer = await judge(() => write([Buffer.from(text, 'latin1')], 'stay'));
    assert.match(answer, /^HTTP\/1\.1 4\d\d [^]*"code":"VALIDATION_ERROR"[^]*\}$/);
    assert.equal(journal.appendedSeq, before);
  });
}

it('Requests in one piece are answered in their order', async () => {
  const read = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
  const answer = await judge(() => write([Buffer.from(read + whole() + read + whole(['Connection: close']))], 'stay'));
  const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
  assert.deepEqual(statuses, ['200', '201', '200', '201']);
  const [id] = /hld_\w+_[\w-]{24}/.exec(answer)!;
  assert.equal((await shop.get(`${HOLDS}/${id}`, as('socket-session'))).status, 200);
});
