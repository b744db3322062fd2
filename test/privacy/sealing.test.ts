import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { Overloaded } from '#actors/admission.ts';
import { createAddressHash, createSealer, openSealed, SealDamaged } from '#privacy/sealing.ts';
import { keyIdOf, type PersonalData } from '#domain/personal.ts';
import { MemoryKeys } from '#persistence/memory/keys.ts';
import { fc } from '../property.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const textOrNull = fc.option(text, { nil: null });
const person = { name: text, documentNumber: textOrNull, phone: textOrNull };

/** Personal data of any order: names of any length, nobody or somebody named, attribution or none. */
const arbitraryData: fc.Arbitrary<PersonalData> = fc.record(
  {
    customer: fc.record({ email: text, ...person }, { noNullPrototype: true }),
    attendees: fc.array(
      fc.option(fc.array(fc.record({ email: textOrNull, ...person }, { noNullPrototype: true }), { maxLength: 3 }), {
        nil: null,
      }),
    ),
    tracking: fc.option(
      fc.dictionary(fc.string({ minLength: 1, unit: 'grapheme-ascii' }), text, { noNullPrototype: true }),
      {
        nil: null,
      },
    ),
  },
  { noNullPrototype: true },
);

describe('Sealing', () => {
  it('opens what it sealed with the key that the text names, and says nothing of it', async () => {
    const keys = new MemoryKeys();
    const { seal } = createSealer(keys)('evt_a');
    await fc.assert(
      fc.asyncProperty(arbitraryData, async (value) => {
        const sealed = seal('ord_1', 'OrderPlaced', value);
        assert.match(sealed, /^[\w-]{8}\.[0-9a-z]+\.[\w-]+$/);
        const key = (await keys.read([keyIdOf(sealed)])).get(keyIdOf(sealed))!;
        assert.deepEqual(openSealed(key, { orderId: 'ord_1', factType: 'OrderPlaced' }, sealed), value);
      }),
    );
    await keys.close();
  });

  it('opens no text that was changed, moved to another order or fact, or sealed with another key', async () => {
    const keys = new MemoryKeys();
    const { seal } = createSealer(keys)('evt_a');
    const about = { orderId: 'ord_1', factType: 'OrderCancelled' } as const;
    const sealed = seal('ord_1', 'OrderCancelled', 'to maria@example.com');
    const key = (await keys.read([keyIdOf(sealed)])).get(keyIdOf(sealed))!;
    const body = Buffer.from(sealed.slice(keyIdOf(sealed).length + 1), 'base64url');
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const changed = Buffer.from(body);
        changed[place] = changed[place]! ^ change;
        const text = `${keyIdOf(sealed)}.${changed.toString('base64url')}`;
        assert.throws(() => openSealed(key, about, text), SealDamaged);
      }),
    );
    assert.throws(() => openSealed(key, { ...about, orderId: 'ord_2' }, sealed), SealDamaged);
    assert.throws(() => openSealed(key, { ...about, factType: 'RefundRecorded' }, sealed), SealDamaged);
    assert.throws(() => openSealed(randomBytes(32), about, sealed), SealDamaged);
    assert.throws(() => openSealed(key, about, `${keyIdOf(sealed)}.`), SealDamaged);
    assert.throws(() => openSealed(key, about, sealed.slice(0, -8)), SealDamaged);
    await keys.close();
  });

  it('uses a key and a nonce once', async () => {
    const keys = new MemoryKeys();
    const { seal } = createSealer(keys)('evt_a');
    const texts = Array.from({ length: 1_500 }, () => seal('ord_1', 'RefundRecorded', 'a'));
    assert.equal(new Set(texts.map(keyIdOf)).size, texts.length);
    const nonces = texts.map((text) => Buffer.from(text.slice(keyIdOf(text).length + 1), 'base64url').subarray(0, 12));
    assert.equal(new Set(nonces.map((nonce) => nonce.toString('hex'))).size, texts.length);
    await keys.close();
  });

  it('refuses as Overloaded when no key is ready', async () => {
    const keys = new MemoryKeys({ poolSize: 1 });
    const { seal } = createSealer(keys)('evt_a');
    seal('ord_1', 'RefundRecorded', 'a');
    assert.throws(() => seal('ord_2', 'RefundRecorded', 'a'), Overloaded);
    await keys.close();
  });
});

describe('The hash of an address', () => {
  it('is the HMAC that its comment names, equal for one buyer, different for other events and keys', () => {
    const addressKey = randomBytes(32);
    const hash = createAddressHash(addressKey);
    const expected = createHmac('sha256', addressKey).update('evt_a\nmaria@example.com').digest().subarray(0, 16);
    assert.equal(hash('evt_a', 'maria@example.com'), expected.toString('base64url'));
    assert.equal(hash('evt_a', ' Maria+tickets@Example.com '), hash('evt_a', 'maria@example.com'));
    assert.notEqual(hash('evt_b', 'maria@example.com'), hash('evt_a', 'maria@example.com'));
    assert.notEqual(createAddressHash(randomBytes(32))('evt_a', 'maria@example.com'), expected.toString('base64url'));
  });
});
