/** Large answers in a content coding that the client accepts: compressed once and kept; small answers stay plain. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { chooseCoding, LARGE_BYTES_MIN, LargeBody, LASTING } from '#http/protocol/encoding.ts';
import { clubHold, openApps, type Apps } from '../apps.ts';

const decoders = { br: brotliDecompressSync, gzip: gunzipSync } as const;

const HALL = '/api/events/public/erfurt-volley';

test('the coding is the supported one that the client prefers, Brotli before gzip', () => {
  const choices: readonly (readonly [given: string | undefined, chosen: string | null])[] = [
    [undefined, null],
    ['', null],
    ['identity', null],
    ['deflate, zstd', null],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip, br;q=0.5', 'gzip'],
    ['gzip;q=0, br;q=0', null],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['*', 'br'],
    ['*;q=0', null],
    ['br;q=0, *', 'gzip'],
    ['identity, gzip;q=0.5', null],
    ['GZIP', 'gzip'],
    ['gzip;q=x', null],
  ];
  for (const [given, chosen] of choices) assert.equal(chooseCoding(given), chosen, String(given));
});

describe('a large answer', () => {
  let apps: Apps;
  before(async () => {
    apps = await openApps();
  });
  after(() => apps.close());

  const large = [`${HALL}/seating`, '/openapi.json', '/docs/errors', '/docs/states', '/docs/operations/createHold'];

  for (const url of large) {
    test(`${url} comes in Brotli and gzip, and is the same`, async () => {
      const plain = await apps.app.inject(url);
      assert.equal(plain.headers['content-encoding'], undefined);
      assert.match(String(plain.headers['vary']), /\bAccept-Encoding\b/);
      assert.ok(plain.rawPayload.length >= LARGE_BYTES_MIN, `${plain.rawPayload.length} bytes`);
      for (const coding of ['br', 'gzip'] as const) {
        const coded = await apps.app.inject({ url, headers: { 'accept-encoding': coding } });
        assert.equal(coded.headers['content-encoding'], coding);
        assert.equal(coded.headers['content-type'], plain.headers['content-type']);
        assert.equal(coded.headers['content-length'], String(coded.rawPayload.length));
        assert.match(String(coded.headers['vary']), /\bAccept-Encoding\b/);
        assert.ok(coded.rawPayload.length * 2 < plain.rawPayload.length);
        assert.ok(decoders[coding](coded.rawPayload).equals(plain.rawPayload));
      }
    });
  }

  test('has a tag for each coding, and any of them answers 304 without a body', async () => {
    const tags = new Set<string>();
    for (const coding of ['identity', 'br', 'gzip']) {
      const headers = { 'accept-encoding': coding };
      const first = await apps.app.inject({ url: `${HALL}/seating`, headers });
      const etag = String(first.headers['etag']);
      tags.add(etag);
      const again = await apps.app.inject({
        url: `${HALL}/seating`,
        headers: { ...headers, 'if-none-match': etag },
      });
      assert.deepEqual([again.statusCode, again.body, again.headers['etag']], [304, '', etag]);
      assert.match(String(again.headers['vary']), /\bAccept-Encoding\b/);
    }
    assert.equal(tags.size, 3);
  });

  test('answers HEAD with the headers of GET', async () => {
    for (const coding of ['identity', 'br', 'gzip']) {
      const request = { url: `${HALL}/seating`, headers: { 'accept-encoding': coding } };
      const got = await apps.app.inject({ ...request, method: 'GET' });
      const head = await apps.app.inject({ ...request, method: 'HEAD' });
      assert.equal(head.body, '');
      for (const name of ['content-length', 'content-encoding', 'etag', 'vary', 'content-type', 'cache-control']) {
        assert.equal(head.headers[name], got.headers[name], name);
      }
    }
  });

  test('of a full occupancy changes with the seats that are taken', async () => {
    const seating = (await apps.app.inject(`${HALL}/seating`)).json<{
      localities: { sections: { rows: { seats: { id: string; accessible: boolean; zone_key: string }[] }[] }[] }[];
    }>();
    const seats = seating.localities.flatMap(({ sections }) =>
      sections.flatMap(({ rows }) => rows.map((row) => row.seats)),
    );
    const date = (await apps.app.inject(HALL)).json<{
      performances: { id: string }[];
      ticketTypes: { id: string; zone_keys: string[] | null; accessible: boolean }[];
    }>();
    const [performance] = date.performances;
    const held: string[] = [];
    const url = `${HALL}/seating/occupancy?performance_id=${performance!.id}`;
    const headers = { 'accept-encoding': 'gzip' };
    const { event_id: eventId } = (await apps.app.inject(url)).json<{ event_id: string }>();
    const fixture = apps.fixtures.get(eventId)!;
    for (const row of seats) {
      const seatIds = row.filter(({ accessible }) => !accessible).map(({ id }) => id);
      if (seatIds.length === 0) continue;
      fixture.execute({ type: 'BlockSeats', performanceId: performance!.id, seatIds, operator: null, note: null });
      held.push(...seatIds);
      const answer = await apps.app.inject({ url, headers });
      const text =
        answer.headers['content-encoding'] === 'gzip' ? gunzipSync(answer.rawPayload).toString() : answer.body;
      const { blocked } = JSON.parse(text) as { blocked: string[] };
      assert.equal(blocked.length, held.length);
    }
    const last = await apps.app.inject({ url, headers });
    assert.equal(last.headers['content-encoding'], 'gzip');
  });
});

test('a small answer and a personal one are never compressed', async () => {
  const apps = await openApps();
  const headers = { 'accept-encoding': 'br, gzip' };
  const club = '/api/events/public/night-shift';
  await apps.app.inject({ method: 'POST', url: '/api/checkout/holds', payload: clubHold() });
  for (const url of [club, `${club}?session_key=session-one`, '/health/live', '/nowhere', '/api/events/public']) {
    const { headers: got } = await apps.app.inject({ url, headers });
    assert.equal(got['content-encoding'], undefined, url);
  }
  await apps.close();
});

test('a body is compressed once for any number of concurrent requests, and is kept', async () => {
  const body = new LargeBody(Buffer.from('seat '.repeat(20_000)), LASTING);
  const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => body.inCoding('gzip')));
  assert.ok(first !== null && first !== undefined);
  for (const other of others) assert.equal(other, first);
  assert.equal(await body.inCoding('gzip'), first);
});

test('when too many compressions are in progress the plain bytes are sent, and later ones are compressed again', async () => {
  const bodies = Array.from({ length: 6 }, (_, n) => new LargeBody(Buffer.from(`seat ${n} `.repeat(50_000)), LASTING));
  const coded = await Promise.all(bodies.map((body) => body.inCoding('br')));
  assert.ok(coded.some((each) => each === null));
  assert.ok(coded.some((each) => each !== null));
  for (const body of bodies) assert.ok((await body.inCoding('br')) !== null);
});
