/** What is read of a shard before it is claimed: told to the others, forgotten, tried again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReadAhead } from '#cluster/shards/read-ahead.ts';
import { VirtualTime } from '../virtual-time.ts';

const READ_MS = 20;

function prepare() {
  const time = new VirtualTime();
  const done: string[] = [];
  let isBroken = false;
  const ahead = new ReadAhead({
    time,
    membership: {
      setAwaited: (shard, isAwaited) => void done.push(`${isAwaited ? 'awaits' : 'does not await'} ${shard}`),
    },
    read: (shard) =>
      new Promise((resolve, reject) => {
        done.push(`reads ${shard}`);
        time.after(READ_MS, () => (isBroken ? reject(new Error('no server answers')) : resolve()));
      }),
    forget: (shard) => void done.push(`forgets ${shard}`),
  });
  const fail = (broken: boolean): void => void (isBroken = broken);
  return { time, ahead, done, fail };
}

describe('A shard that another node owns', () => {
  it('is read once, and awaited when that is done', async () => {
    const { time, ahead, done } = prepare();
    ahead.want(3);
    ahead.want(3);
    assert.deepEqual(done.splice(0), ['reads 3']);
    await time.pass(READ_MS);
    ahead.want(3);
    assert.deepEqual(done.splice(0), ['awaits 3']);
    ahead.end(3);
    ahead.end(3);
    assert.deepEqual(done, ['forgets 3', 'does not await 3']);
  });

  it('is forgotten also where it is not wanted any more before it was read', async () => {
    const { time, ahead, done } = prepare();
    ahead.want(3);
    ahead.end(3);
    done.length = 0;
    await time.pass(READ_MS);
    assert.deepEqual(done, ['forgets 3', 'does not await 3']);
  });

  it('is read beside a few others at most', async () => {
    const { time, ahead, done } = prepare();
    const wantAll = (): void => [1, 2, 3, 4, 5, 6].forEach((shard) => ahead.want(shard));
    wantAll();
    assert.deepEqual(done.splice(0), ['reads 1', 'reads 2', 'reads 3', 'reads 4']);
    await time.pass(READ_MS);
    done.length = 0;
    wantAll();
    assert.deepEqual(done, ['reads 5', 'reads 6']);
  });

  it('is read again a while after it could not be read', async () => {
    const { time, ahead, done, fail } = prepare();
    fail(true);
    ahead.want(3);
    await time.pass(READ_MS + 100);
    ahead.want(3);
    fail(false);
    await time.pass(500);
    ahead.want(3);
    await time.pass(READ_MS);
    assert.deepEqual(done, ['reads 3', 'reads 3', 'awaits 3']);
  });
});
