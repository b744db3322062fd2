import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { idHash, IdIndex } from '#domain/collections/hash-tables.ts';
import { pack, unpack } from '#domain/collections/packing.ts';
import { fc } from '../../property.ts';

/** The value as JSON keeps it, because packed records are plain data. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('A packed record', () => {
  it('is unpacked unchanged, the order of its keys included', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const record = { value, tracking: value, list: [value], nothing: null, none: [], absent: undefined };
        assert.equal(JSON.stringify(unpack(pack(record))), JSON.stringify(plain(record)));
      }),
      { numRuns: 500 },
    );
  });

  it('takes one byte a character, in any script', () => {
    for (const name of ['Zoë', 'Łukasz', '王秀英', '🎟️', '\ud800', '\u0000']) {
      const text = pack({ name });
      assert.ok(/^[\u0000-\u00ff]*$/.test(text), text);
      assert.deepEqual(unpack(text), { name });
    }
  });

  it('keeps base64url as bytes, and what only looks like it as it is', () => {
    const bytes = fc.uint8Array({ minLength: 40, maxLength: 200 });
    const sealed = bytes.map((each) => `key.a1.${Buffer.from(each).toString('base64url')}`);
    const alike = fc.string({
      unit: fc.constantFrom('A', '-', '_', '+', '.', 'é', '王'),
      minLength: 60,
      maxLength: 80,
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(sealed, alike), { maxLength: 5 }), (texts) => {
        const record = { texts, again: texts, name: texts[0] };
        assert.deepEqual(unpack(pack(record)), plain(record));
      }),
    );
    const text = `key.a1.${Buffer.alloc(300, 255).toString('base64url')}`;
    assert.ok(pack({ text }).length < 340);
  });

  it('keeps ids and moments in few characters, and what only looks like them as it is', () => {
    const number = fc.constantFrom('1', '1', 'zz', 'a_b', '');
    const secret = fc
      .uint8Array({ minLength: 18, maxLength: 18 })
      .map((each) => Buffer.from(each).toString('base64url'));
    const alike = fc.string({ unit: fc.constantFrom('A', '-', '_', '+', '/', 'é'), minLength: 24, maxLength: 24 });
    const id = fc
      .tuple(fc.constantFrom('ord', 'tkt', 'cs', 'msg', '_'), number, fc.oneof(secret, secret, alike))
      .map((parts) => parts.join('_'));
    const moment = fc.integer({ min: 999_999_999_999, max: 100_000_000_000_000 });
    const any = fc.oneof(id, id, moment, moment, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    fc.assert(
      fc.property(fc.array(any, { maxLength: 20 }), (list) => {
        assert.deepEqual(
          unpack(pack({ list, again: list, last: list.at(-1) })),
          plain({ list, again: list, last: list.at(-1) }),
        );
      }),
      { numRuns: 1_000 },
    );
    const ids = Array.from({ length: 2_000 }, (_, n) => `tkt_1_${String(n).padStart(24, 'x')}`);
    assert.ok(pack(ids).length < 2_000 * 27);
    assert.deepEqual(unpack(pack(ids)), ids);
    assert.ok(pack(ids.map((_, n) => 1_795_886_144_954 + 60_000 * n)).length < 2_000 * 9);
  });

  it('makes no shape of keys that come from requests', () => {
    const fields = (n: number) => Object.fromEntries([[`utm_${n}`, 'x']]);
    for (let n = 0; n < 5_000; n += 1) pack({ tracking: fields(n) });
    const record = { aNewKindOfRecord: { with: 'keys', of: 'its own' } };
    assert.ok(!pack(record).includes('aNewKindOfRecord'), 'there is still room for the shapes of records');
  });
});

describe('The words of packed records', () => {
  it('are not filled by texts that look like ids and stand in one record each', () => {
    const order = (n: number, successUrl: string) => {
      const [one, two] = ['a', 'b'].map((letter) => `ord_1_${String(n).padStart(24, letter)}`);
      return pack({ one, two, successUrl });
    };
    for (let n = 0; n < 5_000; n += 1) order(n, `https://x.org/_1_${String(n).padStart(24, '.')}`);
    const shared = 'https://shop.example.org/thanks';
    const [, , third = ''] = [1, 2, 3].map((n) => order(n, shared));
    assert.ok(!third.includes(shared), third);
  });
});

describe('A packed record, when there are as many shapes as there may be,', () => {
  it('is unpacked unchanged', async () => {
    // A module of its own: what other tests pack still finds room.
    const full = new URL('../../../src/domain/collections/packing.ts?full', import.meta.url).href;
    const { pack, unpack } = (await import(full)) as typeof import('#domain/collections/packing.ts');
    for (let n = 0; n < 3_000; n += 1) pack({ [`key${n}`]: n });
    const later = 'a later long string';
    const inner = { notSeenBefore: 'a long string', inner: { neither: null, nor: later } };
    const records = [
      { first: inner, second: later, third: later },
      { list: [inner, { key1: later }, later] },
      { key1: { notSeenBefore: 'a long string' } },
      { key2: [later, { key3: later }] },
      { key4: later },
      { key5: [inner, later, later] },
    ];
    for (const record of records) assert.equal(JSON.stringify(unpack(pack(record))), JSON.stringify(record));
  });
});

describe('The index of ids', () => {
  it('gives the numbers of every id, and hardly any for an unknown one', () => {
    const index = new IdIndex();
    const ids = Array.from({ length: 20_000 }, (_, n) => `ord_1_${String(n * 7919).padStart(24, 'x')}`);
    for (const [number, id] of ids.entries()) {
      index.add(id, number);
      index.add(id, number);
      index.add(`${id}/hold`, number);
    }
    for (const [number, id] of ids.entries()) {
      assert.equal(
        index.find(id, (each) => each === number),
        number,
      );
      const ofHold = [...index.hashed(idHash(`${id}/hold`))];
      assert.equal(ofHold.filter((each) => each === number).length, 1);
    }
    const strays = ids.filter((id) => index.find(`${id}?`, () => true) !== null).length;
    assert.ok(strays < 10, `${strays} unknown ids lead somewhere`);
  });
});
