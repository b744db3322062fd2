import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../property.ts';
import { LazyHeap } from '#domain/collections/lazy-heap.ts';

interface Subject {
  isLive: boolean;
  endsAt: number;
}

const stands = (subject: Subject, at: number): boolean => subject.isLive && subject.endsAt === at;

function add(heap: LazyHeap<Subject>, subject: Subject): void {
  heap.add(subject, subject.endsAt);
  heap.clean(stands);
}

function firstAt(heap: LazyHeap<Subject>, except: Subject | null = null): number | null {
  return heap.first(stands, except)?.at ?? null;
}

test('the first entry is the earliest valid one, after any changes of the others', () => {
  const step = fc.tuple(fc.constantFrom('add', 'add', 'move', 'end'), fc.nat(500), fc.nat(500));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400, size: 'max' }), (steps) => {
      const heap = new LazyHeap<Subject>();
      const subjects: Subject[] = [];
      for (const [action, a, b] of steps) {
        const subject = subjects[a % subjects.length];
        if (action === 'add' || subject === undefined) {
          const added: Subject = { isLive: true, endsAt: b };
          subjects.push(added);
          add(heap, added);
        } else if (action === 'end') {
          subject.isLive = false;
        } else if (subject.isLive) {
          subject.endsAt += 1 + b;
          add(heap, subject);
        }
        const except = subjects[b % subjects.length]!;
        const live = subjects.filter(({ isLive }) => isLive);
        const soonest = (among: readonly Subject[]) =>
          among.length === 0 ? null : Math.min(...among.map(({ endsAt }) => endsAt));
        if (a % 7 > 0) continue;
        assert.equal(firstAt(heap), soonest(live));
        assert.equal(firstAt(heap, except), soonest(live.filter((each) => each !== except)));
      }
    }),
    { numRuns: 100 },
  );
});

test('stale entries do not accumulate behind one that stays valid for long', () => {
  const heap = new LazyHeap<Subject>();
  add(heap, { isLive: true, endsAt: 0 });
  for (let i = 0; i < 100; i += 1) add(heap, { isLive: true, endsAt: 1_000_000 + i });
  for (let i = 0; i < 20_000; i += 1) {
    const subject = { isLive: true, endsAt: 10 + i };
    add(heap, subject);
    subject.isLive = false;
    assert(heap.length < 600, `${heap.length} entries for 101 live subjects`);
  }
  assert.equal(firstAt(heap), 0);
});

test('a heap that is cleared has no entries', () => {
  const heap = new LazyHeap<Subject>();
  for (let i = 0; i < 200; i += 1) add(heap, { isLive: true, endsAt: i });
  heap.clear();
  assert.equal(heap.length, 0);
  assert.equal(firstAt(heap), null);
});
