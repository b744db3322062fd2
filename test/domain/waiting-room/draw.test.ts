import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { anyText, fc } from '../../property.ts';
import { createHashing } from '#actors/crypto.ts';
import { commitmentOf, drawOrder, findFlaws, type DrawProof, type DrawSecrets } from '#domain/waiting-room/draw.ts';

const hashing = createHashing();
const SEED = '5eed'.repeat(16);
const OPENING = '0be4'.repeat(16);
const SECRETS: DrawSecrets = { seed: SEED, opening: OPENING };

const hexSha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

function entryIdsOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `que_1_${String(index).padStart(24, '0')}`);
}

function proofOf(entryIds: readonly string[], secrets = SECRETS): DrawProof {
  const { entryIds: order, entriesDigest } = drawOrder(secrets, entryIds, hashing);
  return {
    drawCommitment: commitmentOf(secrets.seed, hashing),
    ...secrets,
    count: order.length,
    entriesDigest,
    entries: order.map((entryId) => hexSha256(entryId)),
  };
}

describe('The hashing of draws', () => {
  it("is Node's own SHA-256 and HMAC", () => {
    fc.assert(
      fc.property(anyText(), fc.uint8Array({ maxLength: 100 }), (text, key) => {
        const keyHex = Buffer.from(key).toString('hex');
        assert.equal(hashing.sha256(text), hexSha256(text));
        assert.equal(hashing.sha256OfHex(keyHex), hexSha256(Buffer.from(key)));
        const hmacOf = (message: string | Buffer): string => createHmac('sha256', key).update(message).digest('hex');
        const textHex = Buffer.from(text).toString('hex');
        assert.equal(hashing.hmacSha256(keyHex, text), hmacOf(text));
        assert.equal(hashing.hmacSha256OfHex(keyHex, textHex), hmacOf(Buffer.from(textHex, 'hex')));
      }),
    );
  });
});

describe('A draw', () => {
  const entryIds = entryIdsOf(50);
  const hashes = entryIds.map((entryId) => hexSha256(entryId));
  const digest = hexSha256([...hashes].sort().join(''));

  /** The order by the published rule, with Node's own functions alone. */
  function orderUnder(key: Buffer): string[] {
    const keyOf = (hash: string): string => createHmac('sha256', key).update(`${digest}${hash}`).digest('hex');
    return entryIds
      .map((entryId) => ({ entryId, key: keyOf(hexSha256(entryId)) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ entryId }) => entryId);
  }

  it('orders the entries as the published rule says, word by word', () => {
    const key = createHmac('sha256', Buffer.from(SEED, 'hex')).update(Buffer.from(OPENING, 'hex')).digest();
    assert.deepEqual(drawOrder(SECRETS, entryIds, hashing), { entryIds: orderUnder(key), entriesDigest: digest });
  });

  it('recorded before there were openings has the seed alone as its key', () => {
    const expected = orderUnder(Buffer.from(SEED, 'hex'));
    assert.deepEqual(drawOrder({ seed: SEED, opening: null }, entryIds, hashing).entryIds, expected);
    assert.deepEqual(findFlaws(proofOf(entryIds, { seed: SEED, opening: null }), hashing), []);
  });

  it('does not depend on the order of arrival', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(entryIdsOf(40), { minLength: 40 }), (shuffled) => {
        assert.deepEqual(drawOrder(SECRETS, shuffled, hashing), drawOrder(SECRETS, entryIdsOf(40), hashing));
      }),
      { numRuns: 30 },
    );
  });

  it('has another order for another seed, another opening, and other entries', () => {
    const { entryIds: order } = drawOrder(SECRETS, entryIds, hashing);
    for (const changed of [{ seed: '00'.repeat(32) }, { opening: '00'.repeat(32) }, { opening: null }]) {
      assert.notDeepEqual(drawOrder({ ...SECRETS, ...changed }, entryIds, hashing).entryIds, order);
    }
    const withoutLast = order.filter((entryId) => entryId !== entryIds[49]);
    assert.notDeepEqual(drawOrder(SECRETS, entryIds.slice(0, 49), hashing).entryIds, withoutLast);
  });

  it('without entries is empty', () => {
    assert.deepEqual(drawOrder(SECRETS, [], hashing), { entryIds: [], entriesDigest: hexSha256('') });
    assert.deepEqual(findFlaws(proofOf([]), hashing), []);
  });

  it('gives early entries no advantage', () => {
    const people = 100;
    const draws = 400;
    const arrived = entryIdsOf(people);
    const arrivalOf = new Map(arrived.map((entryId, index) => [entryId, index]));
    let sum = 0;
    for (let draw = 0; draw < draws; draw += 1) {
      const secrets = { seed: hexSha256(`seed ${draw}`), opening: hexSha256(`opening ${draw}`) };
      const { entryIds: order } = drawOrder(secrets, arrived, hashing);
      const squares = order.reduce((total, entryId, place) => total + (arrivalOf.get(entryId)! - place) ** 2, 0);
      sum += 1 - (6 * squares) / (people * (people ** 2 - 1));
    }
    // Spearman's correlation of one fair draw has mean 0 and variance 1 / (n - 1); four standard errors of the mean.
    const bound = 4 / Math.sqrt((people - 1) * draws);
    assert.ok(Math.abs(sum / draws) < bound, `mean rank correlation ${sum / draws}, bound ${bound}`);
  });
});

describe('The proof of a draw', () => {
  it('has no flaw when it is real', () => {
    const random = (): string => randomBytes(32).toString('hex');
    assert.deepEqual(findFlaws(proofOf(entryIdsOf(200), { seed: random(), opening: random() }), hashing), []);
  });

  it('shows any two entries that were swapped', () => {
    const proof = proofOf(entryIdsOf(60));
    fc.assert(
      fc.property(fc.nat({ max: 59 }), fc.nat({ max: 59 }), (a, b) => {
        fc.pre(a !== b);
        const entries = [...proof.entries];
        [entries[a], entries[b]] = [entries[b]!, entries[a]!];
        assert.notDeepEqual(findFlaws({ ...proof, entries }, hashing), []);
      }),
    );
  });

  it('shows every other change of it', () => {
    const proof = proofOf(entryIdsOf(20));
    const { entries } = proof;
    const forgeries: Record<string, DrawProof> = {
      'another seed': { ...proof, seed: 'ab'.repeat(32) },
      'another seed and commitment': {
        ...proof,
        seed: 'ab'.repeat(32),
        drawCommitment: commitmentOf('ab'.repeat(32), hashing),
      },
      'another opening': { ...proof, opening: 'ab'.repeat(32) },
      'an opening that is withheld': { ...proof, opening: null },
      'an opening of other length': { ...proofOf(entryIdsOf(20), { seed: SEED, opening: '0be4' }) },
      'an entry left out': { ...proof, entries: entries.slice(1) },
      'an entry left out and not counted': { ...proof, count: 19, entries: entries.slice(1) },
      'an entry shown twice': { ...proof, count: 21, entries: [entries[0]!, ...entries] },
      'an entry smuggled in': { ...proof, entries: [hexSha256('friend'), ...entries.slice(1)] },
      'another digest': { ...proof, entriesDigest: hexSha256('x') },
    };
    for (const [what, forgery] of Object.entries(forgeries)) {
      assert.notDeepEqual(findFlaws(forgery, hashing), [], what);
    }
  });
});
