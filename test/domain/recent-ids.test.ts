import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecentIds } from '#domain/recent-ids.ts';

describe('the newest ids of a kind', () => {
  it('are kept oldest first, and whoever comes when it is full takes the place of the oldest', () => {
    const recent = new RecentIds(3);
    const forgotten = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => recent.add(id));
    assert.deepEqual(forgotten, [null, null, null, 'a', 'b', 'c', 'd']);
    assert.deepEqual([...recent], ['e', 'f', 'g']);
    assert.equal(recent.size, 3);
  });

  it('are as many as were added while there is room', () => {
    const recent = new RecentIds(3);
    recent.add('a');
    recent.add('b');
    assert.deepEqual([...recent], ['a', 'b']);
    assert.equal(recent.size, 2);
  });
});
