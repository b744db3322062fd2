/** Bodies under way: what clients have sent of them is bounded together, and small where a route has no lists. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOLDS, newSession } from '../../fixtures/client.ts';
import { clubNight, floor } from '../../fixtures/events.ts';
import { bytesOf, connectRaw, inUse, inUseAtRest, inUseOnce, NOTHING_IN_USE } from '../../fixtures/raw-socket.ts';
import { serviceWith } from '../../fixtures/service.ts';

const KIB = 1024;
const BODIES_MAX = 400 * KIB;
const ANNOUNCED = 200 * KIB;
/** What a piece counts for beside its bytes. */
const PIECE_BYTES = 256;

const service = serviceWith([clubNight()], {}, { limits: { bodiesBytesMax: BODIES_MAX } });

const headOf = (length: number | 'chunked'): string => {
  const how = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return bytesOf('POST', HOLDS, ['Content-Type: application/json', how]);
};

/** A client that has sent so much of a body of ANNOUNCED bytes, and nothing since. */
async function silent(sent: number) {
  const client = connectRaw(service.publicUrl);
  const before = (await inUse(service))['body_bytes']!;
  client.write(headOf(ANNOUNCED) + ' '.repeat(sent));
  await inUseOnce(service, ({ body_bytes: bytes = 0 }) => bytes >= before + sent || client.text() !== '');
  return client;
}

const placeHold = () => service.post(HOLDS, { event_id: 'evt_club', session_key: newSession(), items: [floor(1)] });

describe('Bodies under way', () => {
  it('are bounded in sum: the one that began first is answered OVERLOADED, and its connection closes', async () => {
    const clients = [await silent(100 * KIB), await silent(100 * KIB), await silent(100 * KIB)];
    assert.deepEqual(
      clients.map((client) => client.text()),
      ['', '', ''],
    );
    const last = connectRaw(service.publicUrl);
    last.write(headOf(ANNOUNCED) + ' '.repeat(150 * KIB));
    const answer = await clients[0]!.closed();
    assert.match(answer, /^HTTP\/1\.1 503 [^]*connection: close\r\n[^]*retry-after: 1\r\n[^]*"code":"OVERLOADED"/i);
    const { body_bytes: bytes = 0 } = await inUse(service);
    assert.ok(bytes <= BODIES_MAX, `${bytes} bytes`);
    assert.equal((await placeHold()).status, 201);
    assert.equal(clients[2]!.text(), '');
    for (const { socket } of [...clients, last]) socket.destroy();
    assert.deepEqual(await inUseAtRest(service), NOTHING_IN_USE);
  });

  it('give way where they are large: small ones that began before stay', async () => {
    const small = await silent(2 * KIB);
    const large = [await silent(190 * KIB), await silent(190 * KIB), connectRaw(service.publicUrl)];
    large[2]!.write(headOf(ANNOUNCED) + ' '.repeat(190 * KIB));
    assert.match(await large[0]!.closed(), /^HTTP\/1\.1 503 /);
    assert.equal(small.text(), '');
    for (const { socket } of [small, ...large]) socket.destroy();
    assert.deepEqual(await inUseAtRest(service), NOTHING_IN_USE);
  });

  it('cost more than their bytes where they come byte by byte, and give way all the same', async () => {
    const trickling = Array.from({ length: 4 }, () => connectRaw(service.publicUrl));
    for (const { socket } of trickling) {
      socket.setNoDelay(true);
      socket.write(headOf('chunked'));
    }
    const isRefused = () => trickling.some((client) => client.text().startsWith('HTTP/1.1 503 '));
    for (let n = 0; n < 2_000 && !isRefused(); n += 1) {
      for (const { socket } of trickling) if (socket.writable) socket.write('1\r\n \r\n');
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(isRefused(), `${(await inUse(service))['body_bytes']} bytes`);
    for (const { socket } of trickling) socket.destroy();
    assert.deepEqual(await inUseAtRest(service), NOTHING_IN_USE);
  });

  it('that come in pieces are counted until their ends, those of one piece are not, on a connection for all', async () => {
    const client = connectRaw(service.publicUrl);
    const hold = () => JSON.stringify({ event_id: 'evt_club', session_key: newSession(), items: [floor(1)] });
    const whole = () => bytesOf('POST', HOLDS, [], hold());
    for (const ended of [1, 2]) {
      const [head, body] = whole().split('\r\n\r\n') as [string, string];
      client.write(`${whole()}${whole()}${head}\r\n\r\n${body.slice(0, 20)}`);
      await client.receives('HTTP/1.1 201 ', 3 * ended - 1);
      const { body_bytes: bytes } = await inUseOnce(service, ({ body_bytes: bytes }) => bytes !== 0);
      assert.equal(bytes, 20 + PIECE_BYTES);
      client.write(body.slice(20));
      await client.receives('HTTP/1.1 201 ', 3 * ended);
      assert.deepEqual(await inUse(service), NOTHING_IN_USE);
    }
    client.socket.destroy();
  });

  it('that are too large for their route are no longer counted once that is answered', async () => {
    const client = connectRaw(service.publicUrl);
    client.write(headOf('chunked') + `${(257 * KIB).toString(16)}\r\n${' '.repeat(257 * KIB)}\r\n`);
    assert.match(await client.closed(), /^HTTP\/1\.1 413 /);
    assert.deepEqual(await inUseAtRest(service), NOTHING_IN_USE);
  });

  const ballast = (bytes: number) => ({ ballast: 'x'.repeat(bytes) });

  for (const address of [
    '/api/checkout/queue',
    '/api/checkout/quote',
    '/api/events/public/club-night/seating/best-available',
    '/api/checkout/orders/ord_1_x/payments',
    '/sandbox/payments/cs_1_x',
    '/sandbox/outage',
  ]) {
    it(`have at most 16 KiB where there are no lists: POST ${address}`, async () => {
      const { status, body } = await service.post<{ code: string }>(address, ballast(16 * KIB));
      assert.deepEqual([status, body.code], [413, 'PAYLOAD_TOO_LARGE']);
      assert.notEqual((await service.post(address, ballast(15 * KIB))).status, 413);
    });
  }

  it('have at most 64 KiB at a webhook, and 256 KiB where there are lists', async () => {
    const address = '/api/payments/webhooks/provider_a';
    assert.equal((await service.post(address, ballast(64 * KIB))).status, 413);
    assert.equal((await service.post(address, ballast(60 * KIB))).status, 401);
    assert.notEqual((await service.post(HOLDS, ballast(250 * KIB))).status, 413);
  });
});
