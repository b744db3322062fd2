import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createHashing } from '#actors/crypto.ts';
import { createCall, readArguments, type ExitCode } from '#cli/terminal/command.ts';
import { command } from '#cli/service/draw.ts';
import { commitmentOf, drawOrder } from '#domain/waiting-room/draw.ts';
import { newFolder } from '../../fixtures/folders.ts';
import { programOf } from '../holdfast.ts';

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

interface Ran {
  readonly code: ExitCode;
  readonly lines: string;
  readonly json: Readonly<Record<string, unknown>>;
}

async function verify(...args: readonly string[]): Promise<Ran> {
  const lines: string[] = [];
  let json: Ran['json'] = {};
  const output = {
    isJson: false,
    text: (...more: readonly string[]) => void lines.push(...more),
    json: (value: object) => void (json = value as Ran['json']),
    raw: () => Promise.resolve(),
    trouble: () => {},
    progress: () => {},
    waiting: () => {},
    clear: () => {},
  };
  const code = await command.run(createCall(readArguments(command, ['verify', ...args]), output, programOf()));
  return { code, lines: lines.join('\n'), json };
}

function fileOf(t: TestContext, content: unknown): string {
  const file = path.join(newFolder(t), 'draw.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

describe('holdfast draw verify', () => {
  it('accepts a draw as promised, and prints the place of an entry', async (t) => {
    const file = fileOf(t, PROOF);
    const { code, lines, json } = await verify(file, '--entry', ORDER[6]!, '--commitment', PROOF.draw_commitment);
    assert.equal(code, 0);
    assert.match(lines, /evt_rush: the order of 20 entries is as promised\nthe entry was drawn to place 7/);
    assert.deepEqual(json, {
      ok: true,
      eventId: 'evt_rush',
      status: 'drawn',
      drawCommitment: PROOF.draw_commitment,
      count: 20,
      hasOpening: true,
      flaws: [],
      place: 7,
    });
    assert.match((await verify(file, '--entry', 'que_1_somebody')).lines, /took no part/);
  });

  it('rejects an order in which two entries changed places', async (t) => {
    const entries = [...PROOF.entries];
    [entries[3], entries[9]] = [entries[9]!, entries[3]!];
    const { code, lines, json } = await verify(fileOf(t, { ...PROOF, entries }));
    assert.equal(code, 1);
    assert.equal(json['ok'], false);
    assert.match(lines, /not as promised\n {2}the entry at place \d+ stands behind one that it should be ahead of/);
  });

  it('rejects a commitment that was replaced, and pages of different draws', async (t) => {
    const other = await verify(fileOf(t, PROOF), '--commitment', 'ab'.repeat(32));
    assert.equal(other.code, 1);
    assert.match(other.lines, /not the one that was published before the draw/);
    const [front, back] = [PROOF.entries.slice(0, 10), PROOF.entries.slice(10)];
    const pages = [
      { ...PROOF, entries: front },
      { ...PROOF, seed: 'ab'.repeat(32), entries: back },
    ];
    assert.match((await verify(fileOf(t, pages))).lines, /belong to different draws/);
  });

  it('rejects a draw whose opening is missing, replaced or not 32 bytes', async (t) => {
    assert.match((await verify(fileOf(t, { ...PROOF, opening: null }))).lines, /draw is not as promised/);
    assert.match((await verify(fileOf(t, { ...PROOF, opening: 'ab'.repeat(32) }))).lines, /draw is not as promised/);
    await assert.rejects(verify(fileOf(t, { ...PROOF, opening: 'abab' })), /it is no page of a draw/);
  });

  it('accepts a draw of an earlier version without an opening, and prints what that does not prove', async (t) => {
    const { opening: _, ...proof } = PROOF;
    const old = drawOrder({ seed: SEED, opening: null }, ENTRY_IDS, hashing);
    const entries = old.entryIds.map((entryId) => createHash('sha256').update(entryId).digest('hex'));
    const { code, lines, json } = await verify(fileOf(t, { ...proof, entries }));
    assert.equal(code, 0, lines);
    assert.match(lines, /is as promised\nthe draw has no opening: .* could foresee it/);
    assert.equal(json['hasOpening'], false);
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
    const { code, lines } = await verify(fileOf(t, pending));
    assert.equal(code, 1);
    assert.match(lines, /not drawn yet; its commitment is [0-9a-f]{64}/);
  });

  it('reads the pages of a service, with and without the data envelope', async (t) => {
    for (const wrap of [false, true]) {
      const server = createServer((request, response) => {
        const { searchParams } = new URL(request.url!, 'http://service');
        const offset = Number(searchParams.get('offset'));
        const page = { ...PROOF, entries: PROOF.entries.slice(offset, offset + 7) };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(wrap ? { data: page } : page));
      }).listen(0, '127.0.0.1');
      t.after(() => server.close());
      await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/events/public/rush/draw`;
      assert.equal((await verify(url)).code, 0);
    }
  });

  it('explains why a proof cannot be read', async (t) => {
    await assert.rejects(verify(fileOf(t, { hello: 'world' })), /cannot be read: it is no page of a draw/);
    await assert.rejects(verify('no-such-file.json'), /cannot be read/);
    await assert.rejects(verify('http://127.0.0.1:1/draw'), /cannot be read/);
    await assert.rejects(verify(fileOf(t, PROOF), '--commitment', 'x'), /64 digits/);
  });
});
