import assert from 'node:assert/strict';
import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { activate } from '#actors/activation.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { openActors, openConcert, place } from '../fixtures/actors.ts';

const HOLDS = 2_000;

/** How many collections of young objects were asked for during some work. */
async function collectionsDuring(work: () => Promise<unknown>): Promise<number> {
  const { NODE_PERFORMANCE_GC_MINOR: minor, NODE_PERFORMANCE_GC_FLAGS_FORCED: forced } = constants;
  let count = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { kind, flags } = (entry as PerformanceEntry & { readonly detail: Record<'kind' | 'flags', number> })
        .detail;
      if (kind === minor && (flags & forced) !== 0) count += 1;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  await work();
  // Entries are delivered in a later round of the loop.
  for (let round = 0; round < 3; round += 1) await nextRound();
  observer.disconnect();
  return count;
}

describe('The activation of a large event', () => {
  it('lets other work run between slices, and has the collector move what they made in small portions', async () => {
    const floor = { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: HOLDS };
    const actors = openActors(new MemoryJournal(), { waitingRepliesMax: HOLDS });
    const { journal, actor } = await openConcert(actors, { localities: [floor] });
    await Promise.all(Array.from({ length: HOLDS }, (_, n) => actor.execute(place(`session-${n}`))));
    let readings = 0;
    const source = {
      newestSnapshot: async () => null,
      factsAfter: (eventId: string, afterSeq: number) => journal.read({ eventId, afterSeq }),
      // Each reading is a millisecond after the one before.
      stopwatchMs: () => (readings += 1),
    };
    let rounds = 0;
    let isOver = false;
    const count = (): void => {
      rounds += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const collections = await collectionsDuring(async () => {
      const { state } = await activate(source, 'evt_concert', null);
      assert.equal(state.holds.byId.size, HOLDS);
    });
    isOver = true;
    assert.ok(rounds >= 10, `${rounds} rounds`);
    assert.ok(collections >= 2 && collections <= rounds / 3, `${collections} collections in ${rounds} rounds`);
  });

  it('asks for no collection when it is over at once', async () => {
    const { journal } = await openConcert();
    const source = {
      newestSnapshot: async () => null,
      factsAfter: (eventId: string, afterSeq: number) => journal.read({ eventId, afterSeq }),
    };
    assert.equal(await collectionsDuring(() => activate(source, 'evt_concert', null)), 0);
  });
});
