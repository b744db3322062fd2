import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fc } from '../property.ts';
import { fingerprintOf, listSnapshots, SnapshotFault, SnapshotFolder } from '#persistence/snapshots.ts';
import { newDataFolder } from '../fixtures/folders.ts';

describe('A snapshot', () => {
  it('is read back as it was written, whatever the stream is called', async (t) => {
    const folder = newDataFolder(t);
    const names = fc.oneof(
      fc.constantFrom('', '@service', '..', 'a/b', 'x'.repeat(400)),
      fc.string({ unit: 'grapheme' }),
    );
    let seq = 0;
    await fc.assert(
      fc.asyncProperty(names, fc.array(fc.json({ maxDepth: 2 }), { maxLength: 20 }), async (eventId, pieces) => {
        seq += 1;
        const snapshots = new SnapshotFolder(folder);
        await snapshots.write({ eventId, seq, at: 5, about: { pieces: pieces.length } }, pieces);
        for (const reader of [snapshots, new SnapshotFolder(folder)]) {
          const found = await reader.newest(eventId);
          const { digest, ...header } = found!.header;
          assert.match(digest ?? '', /^[0-9a-f]{64}$/);
          assert.deepEqual(header, { format: 1, eventId, seq, at: 5, about: { pieces: pieces.length } });
          assert.deepEqual(found?.pieces, pieces);
          assert.equal(found?.fingerprint, fingerprintOf(pieces));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('is the newest good one at or before a fact', async (t) => {
    const snapshots = new SnapshotFolder(newDataFolder(t));
    assert.equal(await snapshots.newest('evt_a'), null);
    assert.equal(snapshots.has('evt_a'), false);
    for (const seq of [5, 90, 100]) await snapshots.write({ eventId: 'evt_a', seq, at: 1, about: null }, [`${seq}`]);
    assert.equal((await snapshots.newest('evt_a'))?.header.seq, 100);
    assert.equal((await snapshots.newest('evt_a', 99))?.header.seq, 90);
    assert.equal(await snapshots.newest('evt_a', 4), null);
    assert.equal(await snapshots.newest('evt'), null);
    assert.equal(snapshots.has('evt_a'), true);
  });

  it('removes the oldest of its stream, and the drafts of a crash', async (t) => {
    const folder = newDataFolder(t);
    mkdirSync(join(folder, 'snapshots'), { recursive: true });
    writeFileSync(join(folder, 'snapshots', 'evt_a-1.snapshot.99-1.tmp'), 'half');
    const snapshots = new SnapshotFolder(folder, { keepMax: 2 });
    for (const seq of [1, 2, 10]) await snapshots.write({ eventId: 'evt_a', seq, at: 1, about: null }, []);
    await snapshots.write({ eventId: 'evt_b', seq: 3, at: 1, about: null }, []);
    assert.deepEqual(readdirSync(join(folder, 'snapshots')).sort(), [
      'evt_a-10.snapshot',
      'evt_a-2.snapshot',
      'evt_b-3.snapshot',
    ]);
    assert.deepEqual(
      listSnapshots(folder).map(({ header, seq }) => [header?.eventId, seq]),
      [
        ['evt_a', 2],
        ['evt_a', 10],
        ['evt_b', 3],
      ],
    );
  });

  it('leaves no file when a piece is not one line or its iterator throws', async (t) => {
    const folder = newDataFolder(t);
    const snapshots = new SnapshotFolder(folder);
    await assert.rejects(snapshots.write({ eventId: 'e', seq: 1, at: 1, about: null }, ['{\n}']), SnapshotFault);
    const failing = (function* (): Generator<string> {
      yield '1';
      throw new Error('the state moved');
    })();
    await assert.rejects(snapshots.write({ eventId: 'e', seq: 2, at: 1, about: null }, failing), /the state moved/);
    assert.deepEqual(readdirSync(join(folder, 'snapshots')), []);
    assert.equal(await snapshots.newest('e'), null);
  });

  it('does not count when a byte on the disk is not the one that was written', async (t) => {
    const folder = newDataFolder(t);
    const snapshots = new SnapshotFolder(folder);
    const inFolder = join(folder, 'snapshots');
    await snapshots.write({ eventId: 'e', seq: 1, at: 1, about: null }, ['"older"']);
    const size = 600_000;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: size - 1 }), fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        const damaging = (function* (): Generator<string> {
          yield JSON.stringify('x'.repeat(size));
          // What the first piece made is in the file by now.
          const draft = join(
            inFolder,
            readdirSync(inFolder).find((name) => name.endsWith('.tmp'))!,
          );
          const bytes = readFileSync(draft);
          bytes[at]! ^= bits;
          writeFileSync(draft, bytes);
          yield '"last"';
        })();
        await assert.rejects(snapshots.write({ eventId: 'e', seq: 2, at: 1, about: null }, damaging), SnapshotFault);
        assert.deepEqual(readdirSync(inFolder), ['e-1.snapshot']);
        assert.equal((await snapshots.newest('e'))?.header.seq, 1);
      }),
      { numRuns: 20 },
    );
  });

  for (const isOld of [false, true]) {
    it(`${isOld ? 'of an earlier version, whose header has no digest,' : 'that was'} changed anywhere is refused or reads as before`, async (t) => {
      const folder = newDataFolder(t);
      const { path } = await new SnapshotFolder(folder).write(
        { eventId: 'e', seq: 7, at: 1, about: { title: 'Gala' } },
        ['{"a":1}', '[2]'],
      );
      if (isOld) writeFileSync(path, withoutDigest(readFileSync(path, 'utf8')));
      const good = readFileSync(path);
      const asWritten = await new SnapshotFolder(folder).newest('e');
      assert.ok(asWritten !== null && (asWritten.header.digest === undefined) === isOld);
      for (let at = 0; at < good.length; at += 1) {
        const bad = Buffer.from(good);
        bad[at]! ^= 1;
        writeFileSync(path, bad);
        const read = await new SnapshotFolder(folder).newest('e');
        if (read !== null) assert.deepEqual(read, asWritten, `byte ${at}`);
      }
    });
  }

  it('has one JSON text per line', async (t) => {
    const folder = newDataFolder(t);
    const { path } = await new SnapshotFolder(folder).write({ eventId: 'e', seq: 7, at: 1, about: [1] }, [
      '{"a":1}',
      '[2]',
    ]);
    const lines = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    assert.equal(lines.length, 4);
    assert.partialDeepStrictEqual(lines[0], { format: 1, eventId: 'e', seq: 7, at: 1, about: [1] });
  });

  it('of some size blocks the event loop only in slices', async (t) => {
    const snapshots = new SnapshotFolder(newDataFolder(t));
    const piece = JSON.stringify('x'.repeat(2_000));
    const pieces = Array.from({ length: 4_000 }, () => piece);
    let ticks = 0;
    let isOver = false;
    const tick = (): void => {
      ticks += 1;
      if (!isOver) setImmediate(tick);
    };
    tick();
    await snapshots.write({ eventId: 'e', seq: 1, at: 1, about: null }, pieces);
    isOver = true;
    assert.ok(ticks >= 30, `the loop turned ${ticks} times`);
  });
});

/** A snapshot as earlier versions wrote it: the header has no digest, and the checksum covers it. */
function withoutDigest(text: string): string {
  const [header = '', ...further] = text.trimEnd().split('\n');
  const trailer = JSON.parse(further.pop()!) as { checksum: string };
  const { digest: _digest, ...old } = JSON.parse(header) as { readonly digest: string };
  const covered = [JSON.stringify(old), ...further, ''].join('\n');
  trailer.checksum = createHash('sha256').update(covered).digest('hex');
  return `${covered}${JSON.stringify(trailer)}\n`;
}
