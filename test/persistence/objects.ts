/** The suite of the contract of named objects, which the bucket and its twin in memory pass. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Objects } from '#persistence/objects.ts';

/** Describes the contract for the stores that `open` makes, each empty. */
export function describeObjects(
  what: string,
  open: () => Promise<Objects>,
  options: { skip?: string | false } = {},
): void {
  describe(what, options, () => {
    it('gives out the bytes that were put, of every length', async () => {
      const objects = await open();
      for (const length of [0, 1, 128 * 1024, 128 * 1024 + 1, 700_000]) {
        const bytes = randomBytes(length);
        await objects.put(`of/${length}`, bytes);
        assert.deepEqual(Buffer.from((await objects.get(`of/${length}`))!), bytes, `${length} bytes`);
      }
    });

    it('has no object under a name that was never put', async () => {
      const objects = await open();
      assert.equal(await objects.get('nothing'), null);
      assert.deepEqual(await objects.list(''), []);
      await objects.delete('nothing');
    });

    it('gives out the newest bytes of a name', async () => {
      const objects = await open();
      await objects.put('a', randomBytes(300_000));
      await objects.put('a', Buffer.from('second'));
      assert.equal(Buffer.from((await objects.get('a'))!).toString(), 'second');
      assert.deepEqual(await objects.list(''), ['a']);
    });

    it('lists names by prefix and in order, and forgets what was deleted', async () => {
      const objects = await open();
      for (const name of ['7/b', '7/a', '70/a', '8/%C3 ~/+', '7/a/0001']) await objects.put(name, Buffer.from(name));
      assert.deepEqual(await objects.list('7/'), ['7/a', '7/a/0001', '7/b']);
      await objects.delete('7/a');
      assert.deepEqual(await objects.list('7/'), ['7/a/0001', '7/b']);
      assert.equal(await objects.get('7/a'), null);
      assert.equal(Buffer.from((await objects.get('8/%C3 ~/+'))!).toString(), '8/%C3 ~/+');
      assert.deepEqual(await objects.list(''), ['7/a/0001', '7/b', '70/a', '8/%C3 ~/+']);
      await objects.put('7/a', Buffer.from('again'));
      assert.equal(Buffer.from((await objects.get('7/a'))!).toString(), 'again');
    });
  });
}
