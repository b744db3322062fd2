import assert from 'node:assert/strict';
import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, it } from 'node:test';
import type { EventReader } from '#actors/event-port.ts';
import { NOTHING_SEALED, PersonalDataReader } from '#privacy/personal-data.ts';
import { SEARCH_BEGIN, searchSubject, type SubjectPosition } from '#privacy/subject-search.ts';

/** Reads that an event with so many orders takes: 500 orders each, nobody named. */
const READS = 600;

/** An event of this process, which answers within the round of the loop. */
function eventWithoutNames(): { readonly event: EventReader; readonly reads: string[] } {
  const reads: string[] = [];
  const read = (query: { readonly type: string; readonly from: number | null }): Promise<unknown> => {
    reads.push(query.type);
    if (query.type === 'ListOrders') return Promise.resolve({ orders: [], nextAfter: null });
    const page = (query.from ?? 0) + 1;
    return Promise.resolve({ orders: [], placedAt: null, next: page < READS ? page : null });
  };
  return { event: { eventId: 'evt_large', read } as unknown as EventReader, reads };
}

describe('A search for a person in an event whose orders name nobody', () => {
  const { event, reads } = eventWithoutNames();
  const ports = {
    events: {
      byEventId: () => event,
      listAll: ({ after }: { readonly after: string | null }) =>
        Promise.resolve({ eventIds: after === null ? ['evt_large'] : [], nextAfter: null }),
    },
    personalData: new PersonalDataReader(NOTHING_SEALED),
  };

  it('gives the loop back after each read, and ends after some of them', async () => {
    let readsInRound = 0;
    let isOver = false;
    const search = (async () => {
      const places: SubjectPosition[] = [];
      for (let position: SubjectPosition | null = SEARCH_BEGIN; position !== null;) {
        const page = await searchSubject(ports, 'maria@example.com', { position, limit: 10 });
        assert.deepEqual([page.purchases, page.attendances, page.unreadEvents], [[], [], []]);
        position = page.next;
        if (position !== null) places.push(position);
      }
      isOver = true;
      return places;
    })();
    while (!isOver) {
      const before = reads.length;
      await nextRound();
      readsInRound = Math.max(readsInRound, reads.length - before);
    }
    const places = await search;
    assert.ok(readsInRound <= 2, `${readsInRound} reads in one round`);
    assert.ok(places.length >= 2, 'one call reads a part of the event');
    assert.equal(
      reads.filter((type) => type === 'ListPersonalData').length,
      READS,
      'nothing is read twice or left out',
    );
  });
});
