import assert from 'node:assert/strict';
import { createPublicKey, sign, verify } from 'node:crypto';
import { test } from 'node:test';
import { createGenuineCheck, privateKeyOf } from '#tickets/genuine.ts';
import { fc } from '../property.ts';

const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const payloads = fc.uint8Array({ maxLength: 400 });
/** Of the base point: S and S + this are the same point. */
const ORDER = (1n << 252n) + 27_742_317_777_372_353_535_851_937_790_883_648_493n;
const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The check, of bytes. */
function checkOf(seed: Buffer): (payload: Uint8Array, signature: string) => boolean {
  const isGenuine = createGenuineCheck(seed);
  return (payload, signature) => isGenuine(Buffer.from(payload).toString('base64url'), signature);
}

function signed(seed: Buffer, payload: Uint8Array): Buffer {
  return sign(null, payload, privateKeyOf(seed));
}

test('the signature of a key is genuine, for any payload', () => {
  fc.assert(
    fc.property(seeds, payloads, (seed, payload) => {
      const signature = signed(seed, payload);
      assert.ok(checkOf(seed)(payload, signature.toString('base64url')));
      assert.ok(verify(null, payload, createPublicKey(privateKeyOf(seed)), signature));
    }),
  );
});

test('a signature with one bit changed is not, nor one of another payload or another key', () => {
  fc.assert(
    fc.property(seeds, seeds, payloads, payloads, fc.nat(511), (seed, other, payload, further, bit) => {
      const isGenuine = checkOf(seed);
      const forged = signed(seed, payload);
      forged[bit >> 3]! ^= 1 << (bit & 7);
      assert.equal(isGenuine(payload, forged.toString('base64url')), false);
      fc.pre(!seed.equals(other) && Buffer.compare(payload, further) !== 0);
      assert.equal(isGenuine(further, signed(seed, payload).toString('base64url')), false);
      assert.equal(isGenuine(payload, signed(other, payload).toString('base64url')), false);
    }),
  );
});

test('R and S of two signatures of a key make none, whatever the payload', () => {
  fc.assert(
    fc.property(seeds, payloads, payloads, (seed, one, other) => {
      fc.pre(Buffer.compare(one, other) !== 0);
      const mixed = Buffer.concat([signed(seed, one).subarray(0, 32), signed(seed, other).subarray(32)]);
      const isGenuine = checkOf(seed);
      for (const payload of [one, other]) assert.equal(isGenuine(payload, mixed.toString('base64url')), false);
    }),
  );
});

test('points of small order, zeros and ones are no signature', () => {
  const seed = Buffer.alloc(32, 7);
  const isGenuine = checkOf(seed);
  const payload = Buffer.from('{"ticket_id":"tkt_1"}');
  const halves = [Buffer.alloc(32), Buffer.from(`01${'00'.repeat(31)}`, 'hex'), Buffer.alloc(32, 0xff)];
  for (const R of [...halves, signed(seed, payload).subarray(0, 32)]) {
    for (const S of halves) assert.equal(isGenuine(payload, Buffer.concat([R, S]).toString('base64url')), false);
  }
});

test('there is one text of a signature', () => {
  fc.assert(
    fc.property(seeds, payloads, (seed, payload) => {
      const isGenuine = checkOf(seed);
      const signature = signed(seed, payload);
      const text = signature.toString('base64url');
      const last = CHARACTERS.indexOf(text.at(-1)!);
      for (let spare = 1; spare < 16; spare += 1) {
        const character = CHARACTERS[last + spare]!;
        assert.equal(isGenuine(payload, text.slice(0, -1) + character), false);
      }
      const larger = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + ORDER;
      const S = Buffer.from(larger.toString(16).padStart(64, '0'), 'hex').reverse();
      const same = Buffer.concat([signature.subarray(0, 32), S]).toString('base64url');
      assert.equal(isGenuine(payload, same), false);
      for (const wrong of ['', text.slice(0, -1), `${text}A`]) assert.equal(isGenuine(payload, wrong), false);
    }),
  );
});
