import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readCatalogue } from '#catalogue/files.ts';
import { openPictures, pictureBytesMax } from '#catalogue/pictures.ts';
import { smallestEvent } from '../fixtures/events.ts';

const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1]);
const PNG = Buffer.from('\u0089PNG\r\n\u001a\n....', 'latin1');
const AVIF = Buffer.from('\0\0\0\u0020ftypavif', 'latin1');
const WEBP = Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1');

describe('Pictures', () => {
  let root = '';
  let folder = '';

  before(() => {
    root = mkdtempSync(path.join(tmpdir(), 'holdfast-pictures-'));
    folder = path.join(root, 'shop');
    mkdirSync(path.join(folder, 'more'), { recursive: true });
    const files = { 'a.jpg': JPEG, 'b.jpg': PNG, 'more/c.avif': AVIF, 'd.webp': WEBP, '../outside.jpg': JPEG };
    for (const [name, bytes] of Object.entries(files)) writeFileSync(path.join(folder, name), bytes);
    writeFileSync(path.join(folder, 'text.jpg'), '<svg onload="alert(1)"/>');
    writeFileSync(path.join(folder, 'large.jpg'), Buffer.concat([JPEG, Buffer.alloc(pictureBytesMax)]));
    symlinkSync(path.join(root, 'outside.jpg'), path.join(folder, 'link.jpg'));
  });

  after(() => rmSync(root, { recursive: true }));

  it('are what their bytes say, whatever their names', async () => {
    const pictures = openPictures(folder);
    const types = await Promise.all(
      ['a.jpg', 'b.jpg', 'more/c.avif', 'd.webp'].map(async (name) => (await pictures.read(name))?.contentType),
    );
    assert.deepEqual(types, ['image/jpeg', 'image/png', 'image/avif', 'image/webp']);
  });

  it('are files below their folder alone, of a bounded size', async () => {
    const pictures = openPictures(folder);
    const names = ['../outside.jpg', 'link.jpg', 'text.jpg', 'large.jpg', 'none.jpg', 'more', '.a.jpg', 'a.jpg\0', ''];
    for (const name of [...names, 'a'.repeat(300), path.join(folder, 'a.jpg')]) {
      assert.equal(await pictures.read(name), null, name);
    }
  });

  it('are read again once they were replaced', async () => {
    const pictures = openPictures(folder);
    const first = await pictures.read('a.jpg');
    assert.equal(await pictures.read('a.jpg'), first);
    writeFileSync(path.join(folder, 'a.jpg'), Buffer.concat([JPEG, JPEG]));
    utimesSync(path.join(folder, 'a.jpg'), 1, 2);
    assert.notEqual((await pictures.read('a.jpg'))?.etag, first?.etag);
  });

  it('that an event names are checked when its file is read: there, in the folder, a picture, not too large', () => {
    const pictures = ['a.jpg', 'more/c.avif', 'none.jpg', 'link.jpg', 'text.jpg', 'large.jpg'];
    const events = pictures.map((picture, index) => ({
      ...smallestEvent,
      id: `e${index}`,
      slug: `e${index}`,
      picture,
    }));
    writeFileSync(path.join(folder, 'events.json'), JSON.stringify(events));
    const { problems } = readCatalogue(folder);
    assert.deepEqual(
      problems.map((problem) => [problem.path, problem.message]),
      [
        ['/2/picture', '"none.jpg" cannot be found in the folder of the file that names it'],
        ['/3/picture', '"link.jpg" is outside the folder of the file that names it'],
        ['/4/picture', 'is not a JPEG, PNG, WebP or AVIF file by its content'],
        ['/5/picture', `is larger than ${pictureBytesMax} bytes`],
      ],
    );
  });
});
