import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../property.ts';
import { addRelease, clearReleases, createReleaseQueue, firstRelease } from '#domain/inventory/release-queue.ts';

interface Hold {
  status: string;
  expiresAt: number;
  readonly lines: [];
}

const always = (): boolean => true;

const size = (queue: ReturnType<typeof createReleaseQueue>): number =>
  queue.current.length + (queue.draining?.length ?? 0);

test('the first release is the soonest end of a live hold, whatever became of the others', () => {
  const step = fc.tuple(fc.constantFrom('add', 'add', 'move', 'end', 'convert'), fc.nat(500), fc.nat(500));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400, size: 'max' }), (steps) => {
      const queue = createReleaseQueue();
      const holds: Hold[] = [];
      for (const [action, a, b] of steps) {
        const hold = holds[a % holds.length];
        if (action === 'add' || hold === undefined) {
          const added: Hold = { status: 'ACTIVE', expiresAt: b, lines: [] };
          holds.push(added);
          addRelease(queue, added);
        } else if (action === 'end') {
          hold.status = 'EXPIRED';
        } else if (hold.status === 'ACTIVE') {
          hold.expiresAt += 1 + b;
          if (action === 'convert') hold.status = 'CONVERTED';
          addRelease(queue, hold);
        }
        const except = holds[b % holds.length]!;
        const live = holds.filter(({ status }) => status === 'ACTIVE' || status === 'CONVERTED');
        const soonest = (among: readonly Hold[]) =>
          among.length === 0 ? null : Math.min(...among.map((each) => each.expiresAt));
        if (a % 7 > 0) continue;
        assert.equal(firstRelease(queue, null, always), soonest(live));
        assert.equal(firstRelease(queue, except, always), soonest(live.filter((each) => each !== except)));
      }
    }),
    { numRuns: 100 },
  );
});

test('holds that are over do not pile up behind one that lives long', () => {
  const queue = createReleaseQueue();
  addRelease(queue, { status: 'ACTIVE', expiresAt: 0, lines: [] });
  const live = Array.from({ length: 100 }, (_, i) => ({ status: 'ACTIVE', expiresAt: 1_000_000 + i, lines: [] }));
  for (const hold of live) addRelease(queue, hold);
  for (let i = 0; i < 20_000; i += 1) {
    const hold: Hold = { status: 'ACTIVE', expiresAt: 10 + i, lines: [] };
    addRelease(queue, hold);
    hold.status = 'RELEASED';
    assert(size(queue) < 600, `${size(queue)} entries for 101 live holds`);
  }
  assert.equal(firstRelease(queue, null, always), 0);
});

test('a queue that is cleared has nothing to release', () => {
  const queue = createReleaseQueue();
  for (let i = 0; i < 200; i += 1) addRelease(queue, { status: 'ACTIVE', expiresAt: i, lines: [] });
  clearReleases(queue);
  assert.equal(size(queue), 0);
  assert.equal(firstRelease(queue, null, always), null);
});
