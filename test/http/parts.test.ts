/** The small parts of the HTTP layer: digests, cursors, tags, error bodies, bounded schemas, kept payloads. */
import assert from 'node:assert/strict';
import { calendarOf } from '#http/pages/calendar.ts';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { fc } from '../property.ts';
import {
  toCursor,
  readCursor,
  canonicalJson,
  digestOf,
  readIdempotencyKey,
  requiredSessionKey,
} from '#http/protocol/request-parts.ts';
import { errorBody, ERRORS } from '#http/protocol/errors.ts';
import type { SealedText } from '#http/protocol/envelope.ts';
import { formatTime } from '#http/protocol/formats.ts';
import { etagOf, tagNamed } from '#http/protocol/negotiation.ts';
import { createPayloadCache } from '#http/protocol/payload-cache.ts';
import { boundLists } from '#http/protocol/validation.ts';
import { refuse } from '#domain/refusal.ts';

/** The same value with the fields of every object in another order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, part]) => [name, turned(part)]),
  );
}

test('a moment is written as JavaScript writes it, whatever was written before', () => {
  const nearby = fc.tuple(
    fc.date({ noInvalidDate: true }),
    fc.array(fc.double({ min: -3_000, max: 3_000, noNaN: true })),
  );
  fc.assert(
    fc.property(nearby, ([first, offsets]) => {
      const farthestMs = 8.64e15;
      const moments = offsets.map((offset) => Math.max(-farthestMs, Math.min(farthestMs, first.getTime() + offset)));
      assert.deepEqual(
        moments.map(formatTime),
        moments.map((ms) => new Date(ms).toISOString()),
      );
    }),
  );
  assert.throws(() => formatTime(Number.NaN), RangeError);
});

describe('the digest of a request', () => {
  test('canonical JSON is JSON of an equal value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        assert.deepEqual(JSON.parse(canonicalJson(plain)), plain);
      }),
    );
  });

  test('does not depend on the order of fields, and does on every value and on the route', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        assert.equal(digestOf('POST /a', turned(one)), digestOf('POST /a', one));
        assert.notEqual(digestOf('POST /b', one), digestOf('POST /a', one));
        const same = canonicalJson(one) === canonicalJson(other);
        assert.equal(digestOf('POST /a', one) === digestOf('POST /a', other), same);
      }),
    );
  });

  test('takes fields that are nested deeper than the call stack allows', () => {
    const depth = 100_000;
    const deep = JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;
    assert.equal(canonicalJson(deep).length, depth * 2);
  });

  test('a key of 1 to 255 characters marks a request', () => {
    const keyOf = (key: string) => readIdempotencyKey('POST /a', { headers: { 'idempotency-key': key }, body: {} });
    assert.equal(readIdempotencyKey('POST /a', { headers: {}, body: {} }), null);
    for (const key of ['k', 'k'.repeat(255)]) assert.equal((keyOf(key) as { key: string }).key, `POST /a ${key}`);
    for (const key of ['', 'k'.repeat(256)]) assert.equal((keyOf(key) as { code: string }).code, 'VALIDATION_ERROR');
  });
});

describe('the session key', () => {
  const keyOf = (header?: string, query?: string) =>
    requiredSessionKey({
      headers: header === undefined ? {} : { 'x-session-key': header },
      query: query === undefined ? {} : { session_key: query },
    });

  test('comes from the header, or else from the query', () => {
    assert.equal(keyOf('from-header', 'from-query'), 'from-header');
    assert.equal(keyOf(undefined, 'from-query'), 'from-query');
  });

  test('has 8 to 128 characters, counted as code points', () => {
    for (const good of ['12345678', 'x'.repeat(128)]) assert.equal(keyOf(good), good);
    const bytes = (text: string) => Buffer.from(text).toString('latin1');
    assert.equal(keyOf(bytes('schlüssel')), 'schlüssel');
    assert.equal(keyOf('schl\xfcssel'), 'schlüssel');
    assert.equal(keyOf(bytes('🎫'.repeat(128))), '🎫'.repeat(128));
    for (const bad of [undefined, '', '1234567', 'x'.repeat(129), bytes('🎫'.repeat(7))]) {
      assert.equal(typeof keyOf(bad), 'object');
    }
  });
});

describe('cursors', () => {
  test('lead back to where the next page starts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (after) => {
        assert.deepEqual(readCursor(toCursor(after)!), { after });
      }),
    );
    assert.deepEqual(readCursor(undefined), { after: null });
  });

  test('an invalid cursor is refused', () => {
    for (const text of ['', 'x', 'YWJj', `${toCursor('evt_a')}=`, '%%%']) {
      assert.equal((readCursor(text) as { code?: string }).code, 'VALIDATION_ERROR');
    }
  });
});

test('an If-None-Match names a tag strongly, weakly, in a list or by a star', () => {
  const etag = etagOf('evt "1"', 7);
  assert.match(etag, /^"[\x21\x23-\x7e]+"$/);
  for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) assert.equal(tagNamed(etag, given), etag);
  for (const coding of ['br', 'gzip']) {
    const coded = etag.replace(/"$/, `-${coding}"`);
    assert.equal(tagNamed(etag, `"other", W/${coded}`), coded);
  }
  for (const given of [undefined, '', '"other"', etag.slice(1, -1)]) assert.equal(tagNamed(etag, given), null);
});

describe('error bodies', () => {
  test('every code has a status, a message and a meaning of one line', () => {
    for (const [code, { status, message, meaning }] of Object.entries(ERRORS)) {
      assert.ok(status >= 400 && status < 600, code);
      assert.match(message, /^[A-Z].*[.]$/, code);
      assert.match(meaning, /^[^\n|]+[.]$/, code);
    }
  });

  test('details have the API’s names and forms', () => {
    const refusal = refuse('INSUFFICIENT_TICKETS', {
      available: 1,
      reservedByOthers: true,
      nextReleaseAt: 0,
      ticketTypeId: 'tt',
      sellingStageId: 'ss',
      performanceId: 'p',
      largestBlock: 1,
    });
    assert.deepEqual(errorBody(refusal.code, refusal.detail, 1).detail, {
      available: 1,
      reserved_by_others: true,
      next_release_at: '1970-01-01T00:00:00.000Z',
      ticket_type_id: 'tt',
      selling_stage_id: 'ss',
      performance_id: 'p',
      largest_block: 1,
    });
  });

  test('problems in a body have its names, conflicts with a definition those of the file', () => {
    const path = ['items', 0, 'seatIds'];
    assert.deepEqual(errorBody('VALIDATION_ERROR', { errors: [{ path, message: 'm' }] }, 0).detail, {
      errors: [{ path: '/items/0/seat_ids', message: 'm' }],
    });
    const conflicts = [{ path: ['ticketTypes', 1, 'a/b~c'], message: 'm' }];
    assert.deepEqual(errorBody('UPDATE_CONFLICT', { conflicts }, 0).detail, {
      conflicts: [{ path: '/ticketTypes/1/a~1b~0c', message: 'm' }],
    });
  });
});

test('a bounded schema accepts what the plain one accepts', () => {
  const schema = {
    type: 'object',
    properties: {
      list: { type: 'array', minItems: 1, maxItems: 3, uniqueItems: true, items: { type: 'string' } },
      deep: { type: 'array', maxItems: 2, items: { type: 'array', maxItems: 2, items: { type: 'integer' } } },
    },
  };
  const ajv = new Ajv({ strict: false });
  const plain = ajv.compile(schema);
  const bounded = ajv.compile(boundLists(schema) as object);
  const small = fc.array(fc.oneof(fc.string({ maxLength: 1 }), fc.integer({ max: 2 })), { maxLength: 5 });
  const body = fc.record(
    { list: fc.oneof(small, fc.constant(7)), deep: fc.array(small, { maxLength: 4 }) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(body, (value) => assert.equal(bounded(value), plain(value))),
    { numRuns: 500 },
  );
});

test('A kept body is sent while the event answers UNCHANGED to its revision', async () => {
  const cache = createPayloadCache(10, 10_000);
  let made = 0;
  const recall = async (key: string, revision: string | null) => {
    const read = async (known: string | null) =>
      known !== null && known === revision ? ({ outcome: 'UNCHANGED' } as const) : { revision };
    const kept = await cache.recall(key, read, () => ({ body: { text: String((made += 1)), byteLength: 1 } }));
    return 'outcome' in kept ? kept.code : (kept.body as SealedText).text;
  };
  assert.equal(await recall('event', 'a.1'), '1');
  assert.equal(await recall('event', 'a.1'), '1');
  assert.equal(await recall('event', 'a.2'), '2');
  assert.equal(await recall('event performance', 'a.2'), '3');
  assert.equal(await recall('event', 'b.2'), '4', 'another activation may count to the same version');
  assert.equal(await recall('event', null), '5', 'the view of one session');
  assert.equal(await recall('event', 'b.2'), '4', 'is not kept');
  const refusal = refuse('EVENT_NOT_FOUND', {});
  assert.equal(
    await cache.recall(
      'other',
      async () => refusal,
      () => assert.fail('nothing is made of a refusal'),
    ),
    refusal,
  );
  assert.equal(await recall('other', 'a.1'), '6', 'a refusal is not kept');
});

test('a calendar file has every line break of a name escaped, and no other control character', () => {
  const breaks = ['\r\n', '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029'];
  const name = `a${breaks.join('b')}c\u0007\u001b`;
  const performance = { id: 'd1', name, startsAt: 0, endsAt: null, status: 'ON_SALE' } as const;
  const event = { id: 'e', slug: 'e', name, performances: [performance] };
  const order = { id: 'ord_1_x', placedAt: 0, event } as unknown as Parameters<typeof calendarOf>[0];
  const place = { inALine: 'Hall; north' };
  const file = calendarOf(order, { place, brand: { name }, baseUrl: 'https://shop.example' });
  const summary = file
    .replaceAll('\r\n ', '')
    .split('\r\n')
    .find((line) => line.startsWith('SUMMARY:'));
  assert.ok(file.includes('PRODID:-//a\\nb'), file);
  assert.equal(summary, `SUMMARY:a${'\\nb'.repeat(breaks.length - 1)}\\nc`);
  assert.ok(!/[^\P{Cc}\r\n]|[\u2028\u2029]/u.test(file));
});
