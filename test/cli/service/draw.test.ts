import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createHashing } from '#actors/crypto.ts';
import { commitmentOf, drawOrder } from '#domain/waiting-room/draw.ts';
import { newFolder } from '../../fixtures/folders.ts';
import { serveHttp } from '../../fixtures/http-server.ts';
import { holdfast, type Ended } from '../holdfast.ts';

const hashing = createHashing();
const SEED = '5eed'.repeat(16);
const OPENING = '0be4'.repeat(16);
const ENTRY_IDS = Array.from({ length: 20 }, (_, index) => `que_1_${String(index).padStart(24, '0')}`);
const { entryIds: ORDER, entriesDigest } = drawOrder({ seed: SEED, opening: OPENING }, ENTRY_IDS, hashing);

const PROOF = {
  event_id: 'evt_rush',
  status: 'drawn',
  draw_commitment: commitmentOf(SEED, hashing),
  seed: SEED,
  opening: OPENING,
  drawn_at: '2027-05-07T12:00:00.000Z',
  count: ORDER.length,
  entries_digest: entriesDigest,
  entries: ORDER.map((entryId) => createHash('sha256').update(entryId).digest('hex')),
};

const verify = (...args: readonly string[]): Promise<Ended> => holdfast(['draw', 'verify', ...args]);

async function assertUnread(expected: RegExp, ...args: readonly string[]): Promise<void> {
  const { code, stderr } = await verify(...args);
  assert.notEqual(code, 0);
  assert.match(stderr, expected);
}

function fileOf(t: TestContext, content: unknown): string {
  const file = path.join(newFolder(t), 'draw.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

describe('holdfast draw verify', () => {
  it('accepts a draw as promised, and prints the place of an entry', async (t) => {
    const file = fileOf(t, PROOF);
    const args = [file, '--entry', ORDER[6]!, '--commitment', PROOF.draw_commitment];
    const { code, stdout } = await verify(...args);
    assert.equal(code, 0);
    assert.match(stdout, /evt_rush: the order of 20 entries is as promised\nthe entry was drawn to place 7/);
    assert.deepEqual((await verify(...args, '--json')).json(), {
      ok: true,
      event_id: 'evt_rush',
      status: 'drawn',
      draw_commitment: PROOF.draw_commitment,
      count: 20,
      has_opening: true,
      flaws: [],
      place: 7,
    });
    assert.match((await verify(file, '--entry', 'que_1_somebody')).stdout, /took no part/);
  });

  it('rejects an order in which two entries changed places', async (t) => {
    const entries = [...PROOF.entries];
    [entries[3], entries[9]] = [entries[9]!, entries[3]!];
    const file = fileOf(t, { ...PROOF, entries });
    const { code, stdout } = await verify(file);
    assert.equal(code, 1);
    assert.equal((await verify(file, '--json')).json()['ok'], false);
    assert.match(stdout, /not as promised\n {2}the entry at place \d+ stands behind one that it should be ahead of/);
  });

  it('rejects a commitment that was replaced, and pages of different draws', async (t) => {
    const other = await verify(fileOf(t, PROOF), '--commitment', 'ab'.repeat(32));
    assert.equal(other.code, 1);
    assert.match(other.stdout, /not the one that was published before the draw/);
    const [front, back] = [PROOF.entries.slice(0, 10), PROOF.entries.slice(10)];
    const pages = [
      { ...PROOF, entries: front },
      { ...PROOF, seed: 'ab'.repeat(32), entries: back },
    ];
    assert.match((await verify(fileOf(t, pages))).stdout, /belong to different draws/);
  });

  it('rejects a draw whose opening is missing, replaced or not 32 bytes', async (t) => {
    assert.match((await verify(fileOf(t, { ...PROOF, opening: null }))).stdout, /draw is not as promised/);
    assert.match((await verify(fileOf(t, { ...PROOF, opening: 'ab'.repeat(32) }))).stdout, /draw is not as promised/);
    await assertUnread(/it is no page of a draw/, fileOf(t, { ...PROOF, opening: 'abab' }));
  });

  it('accepts a draw of an earlier version without an opening, and prints what that does not prove', async (t) => {
    const { opening: _, ...proof } = PROOF;
    const old = drawOrder({ seed: SEED, opening: null }, ENTRY_IDS, hashing);
    const entries = old.entryIds.map((entryId) => createHash('sha256').update(entryId).digest('hex'));
    const file = fileOf(t, { ...proof, entries });
    const { code, stdout } = await verify(file);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /is as promised\nthe draw has no opening: .* could foresee it/);
    assert.equal((await verify(file, '--json')).json()['has_opening'], false);
  });

  it('reports that an event is not drawn yet', async (t) => {
    const pending = {
      ...PROOF,
      status: 'pending',
      seed: null,
      opening: null,
      count: 0,
      entries_digest: null,
      entries: [],
    };
    const { code, stdout } = await verify(fileOf(t, pending));
    assert.equal(code, 1);
    assert.match(stdout, /not drawn yet; its commitment is [0-9a-f]{64}/);
  });

  it('reads the pages of a service, with and without the data envelope', async (t) => {
    for (const wrap of [false, true]) {
      const server = await serveHttp((request, response) => {
        const { searchParams } = new URL(request.url!, 'http://service');
        const offset = Number(searchParams.get('offset'));
        const page = { ...PROOF, entries: PROOF.entries.slice(offset, offset + 7) };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(wrap ? { data: page } : page));
      });
      t.after(() => server.close());
      const url = `${server.url}/api/events/public/rush/draw`;
      assert.equal((await verify(url)).code, 0);
    }
  });

  it('explains why a proof cannot be read', async (t) => {
    await assertUnread(/cannot be read: it is no page of a draw/, fileOf(t, { hello: 'world' }));
    await assertUnread(/cannot be read/, 'no-such-file.json');
    await assertUnread(/cannot be read/, 'http://127.0.0.1:1/draw');
    await assertUnread(/64 digits/, fileOf(t, PROOF), '--commitment', 'x');
  });
});
