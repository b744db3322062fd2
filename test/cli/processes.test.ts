/**
 * Commands as processes of their own, of each kind some: they end by themselves when they are done. What they do is
 * tested in one process.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeFolder, newFolder, removeFolder } from '../fixtures/folders.ts';
import { folderOf, readGolden } from '../golden/golden.ts';
import { holdfastProcess, samples, spawnHoldfast } from './holdfast.ts';

describe('As a process', { concurrency: 2 }, () => {
  let parent: string;
  let data: string;

  before(async () => {
    parent = makeFolder();
    data = path.join(parent, 'data');
    const { code, stderr } = await holdfastProcess(['load', '--offline', samples, '--data', data]);
    assert.deepEqual([code, stderr], [0, '']);
  });
  after(() => removeFolder(parent));

  const commands: readonly (readonly [code: number, args: readonly string[]])[] = [
    [0, ['verify']],
    [0, ['upgrade', '--check']],
    [0, ['backup', 'OUT/backup']],
    [0, ['restore', '--to', 'OUT/restored']],
    [0, ['export', 'orders', 'evt_club']],
  ];
  for (const [expected, args] of commands) {
    it(`${args.slice(0, 2).join(' ')} ends with exit code ${expected}`, async (t) => {
      const out = newFolder(t);
      const given = args.map((arg) => arg.replace('OUT', out));
      const { code, stderr } = await holdfastProcess(given, { DATA_DIR: data });
      assert.equal(code, expected, stderr);
    });
  }

  it('those that open the folder for themselves give it free again: snapshot, erase, seal', async (t) => {
    for (const [expected, args] of [
      [0, ['snapshot']],
      [1, ['erase', 'ord_1_aaaaaaaaaaaaaaaaaaaaaaaa', '--yes']],
      [0, ['seal', data, path.join(newFolder(t), 'sealed')]],
    ] as const) {
      const { code, stderr } = await holdfastProcess(args, { DATA_DIR: data });
      assert.equal(code, expected, stderr);
    }
  });

  it('journal ends without an error when its reader has seen enough', async (t) => {
    // More than a pipe holds.
    const folder = await folderOf(t, Array.from({ length: 20 }, () => readGolden('journal-1.ndjson')).flat());
    const child = spawnHoldfast(['journal', '--full', '--json', '--data', folder]);
    let troubles = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (troubles += text));
    child.stdout!.once('data', () => child.stdout!.destroy());
    const [code] = (await once(child, 'close')) as [number | null];
    assert.deepEqual([code, troubles], [0, '']);
  });
});
