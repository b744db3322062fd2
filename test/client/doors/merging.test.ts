/** Merging: whatever the order in which scans arrive, their conflicts and counters are the same. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  countRefusal,
  countsOf,
  countTicket,
  dropOldMinutes,
  MINUTE_MS,
  MINUTES_SHOWN,
  type CountedScan,
  type CountsByPerformance,
} from '#client/doors/counters.ts';
import { compareScans, countedAt, mergeScans } from '#client/doors/merging.ts';
import type { Reentry } from '#client/doors/verdict.ts';
import { fc } from '../../property.ts';

let serial = 0;

function scan(kind: 'ENTRY' | 'EXIT', at: number, more: Partial<CountedScan> = {}): CountedScan {
  const id = `scan-${String(++serial).padStart(4, '0')}`;
  return {
    id,
    kind,
    at,
    stationId: 'north',
    isUndone: false,
    unfit: null,
    performanceId: 'friday',
    doorId: 'main',
    ...more,
  };
}

interface ConflictCase {
  readonly when: string;
  readonly scans: readonly CountedScan[];
  readonly reentry?: Reentry;
  /** Kind, time of the first scan and of the second. */
  readonly conflicts: readonly (readonly [string, number | null, number])[];
  readonly isInside: boolean;
}

const cases: readonly ConflictCase[] = [
  { when: 'a ticket enters once', scans: [scan('ENTRY', 1)], conflicts: [], isInside: true },
  {
    when: 'a ticket enters that is inside',
    scans: [scan('ENTRY', 2), scan('ENTRY', 1)],
    conflicts: [['DOUBLE_ENTRY', 1, 2]],
    isInside: true,
  },
  {
    when: 'it enters a third time, which is a double of the first as well',
    scans: [scan('ENTRY', 3), scan('ENTRY', 1), scan('ENTRY', 2)],
    conflicts: [
      ['DOUBLE_ENTRY', 1, 2],
      ['DOUBLE_ENTRY', 1, 3],
    ],
    isInside: true,
  },
  {
    when: 'it left between',
    scans: [scan('ENTRY', 3), scan('EXIT', 2), scan('ENTRY', 1)],
    conflicts: [],
    isInside: true,
  },
  {
    when: 'one exit lets it out, however often it entered',
    scans: [scan('ENTRY', 1), scan('ENTRY', 2), scan('EXIT', 3), scan('ENTRY', 4)],
    conflicts: [['DOUBLE_ENTRY', 1, 2]],
    isInside: true,
  },
  {
    when: 'the double is undone',
    scans: [scan('ENTRY', 1), scan('ENTRY', 2, { isUndone: true })],
    conflicts: [],
    isInside: true,
  },
  {
    when: 'the first of two is undone',
    scans: [scan('ENTRY', 1, { isUndone: true }), scan('ENTRY', 2)],
    conflicts: [],
    isInside: true,
  },
  {
    when: 'the exit between is undone',
    scans: [scan('ENTRY', 1), scan('EXIT', 2, { isUndone: true }), scan('ENTRY', 3)],
    conflicts: [['DOUBLE_ENTRY', 1, 3]],
    isInside: true,
  },
  {
    when: 'reentry is ALWAYS',
    scans: [scan('ENTRY', 1), scan('ENTRY', 2)],
    reentry: 'ALWAYS',
    conflicts: [],
    isInside: true,
  },
  {
    when: 'reentry is NEVER and it enters after its exit',
    scans: [scan('ENTRY', 1), scan('EXIT', 2), scan('ENTRY', 3)],
    reentry: 'NEVER',
    conflicts: [['ENTERED_OTHERWISE', 1, 3]],
    isInside: true,
  },
  {
    when: 'reentry is NEVER and it enters while it is inside',
    scans: [scan('ENTRY', 1), scan('ENTRY', 2)],
    reentry: 'NEVER',
    conflicts: [['DOUBLE_ENTRY', 1, 2]],
    isInside: true,
  },
  {
    when: 'it should have been VOID',
    scans: [scan('ENTRY', 1, { unfit: 'VOID' })],
    conflicts: [['ENTERED_VOID', null, 1]],
    isInside: true,
  },
  {
    when: 'it should have been refused otherwise',
    scans: [scan('ENTRY', 1, { unfit: 'OTHERWISE' })],
    conflicts: [['ENTERED_OTHERWISE', null, 1]],
    isInside: true,
  },
  {
    when: 'a double is void: both kinds',
    scans: [scan('ENTRY', 1), scan('ENTRY', 2, { unfit: 'VOID' })],
    conflicts: [
      ['DOUBLE_ENTRY', 1, 2],
      ['ENTERED_VOID', null, 2],
    ],
    isInside: true,
  },
  { when: 'it only left', scans: [scan('EXIT', 1)], conflicts: [], isInside: false },
];

describe('The conflicts of a ticket', () => {
  for (const { when, scans, reentry = 'AFTER_EXIT', conflicts, isInside } of cases) {
    it(`are ${conflicts.map(([kind]) => kind).join(' and ') || 'none'} when ${when}`, () => {
      const merged = mergeScans(scans, reentry);
      assert.deepEqual(
        merged.conflicts.map(({ kind, first, second }) => [kind, first?.at ?? null, second.at]),
        conflicts,
      );
      assert.equal(merged.isInside, isInside);
    });
  }

  it('are ordered by at, then station id, then scan id', () => {
    const scans = [
      scan('ENTRY', 2, { stationId: 'a', id: 'x' }),
      scan('ENTRY', 1, { stationId: 'b', id: 'y' }),
      scan('ENTRY', 1, { stationId: 'a', id: 'z' }),
      scan('ENTRY', 1, { stationId: 'a', id: 'w' }),
      scan('ENTRY', 1, { stationId: null, id: 'v' }),
    ];
    assert.equal(
      scans
        .toSorted(compareScans)
        .map(({ id }) => id)
        .join(''),
      'vwzyx',
    );
  });
});

describe('A scan that the service checks', () => {
  it('counts at its at, and 1 ms after the last scan of the ticket at the earliest', () => {
    assert.equal(countedAt(100, []), 100);
    assert.equal(countedAt(100, [scan('ENTRY', 50)]), 100);
    assert.equal(countedAt(100, [scan('ENTRY', 100), scan('EXIT', 70)]), 101);
  });
});

// ── any order ────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Arrival extends CountedScan {
  readonly ticketId: string;
}

/** Scans of stations whose clocks are minutes off, with equal times among them. */
const arrivals = fc
  .array(
    fc.record({
      ticketId: fc.constantFrom('one', 'two', 'three'),
      kind: fc.constantFrom('ENTRY' as const, 'EXIT' as const),
      minute: fc.integer({ min: 0, max: 20 }),
      stationId: fc.constantFrom('north', 'south', null),
      isUndone: fc.boolean(),
      unfit: fc.constantFrom('VOID' as const, 'OTHERWISE' as const, null, null, null),
      performanceId: fc.constantFrom('friday', 'saturday'),
      doorId: fc.constantFrom('main', 'side'),
    }),
    { maxLength: 14 },
  )
  .map((scans) =>
    scans.map(({ minute, ...each }, index): Arrival => {
      const clockOffMs = { north: 3 * MINUTE_MS, south: -2 * MINUTE_MS, null: 0 }[`${each.stationId}`]!;
      return { ...each, id: `scan-${index}`, at: minute * MINUTE_MS + clockOffMs };
    }),
  );

/** What the scans come to when they arrive one after the other, as the service counts them. */
function countArrivals(inOrder: readonly Arrival[], reentry: Reentry) {
  const counts: CountsByPerformance = new Map();
  const byTicket = new Map<string, Arrival[]>();
  for (const arrival of inOrder) {
    const known = byTicket.get(arrival.ticketId) ?? [];
    if (known.some(({ id }) => id === arrival.id)) continue;
    countTicket(counts, mergeScans(known, reentry), 'floor', -1);
    const all = [...known, arrival];
    byTicket.set(arrival.ticketId, all);
    countTicket(counts, mergeScans(all, reentry), 'floor', 1);
  }
  const conflicts = [...byTicket].flatMap(([ticketId, scans]) =>
    mergeScans(scans, reentry).conflicts.map(({ kind, first, second }) =>
      [ticketId, kind, first?.id, second.id].join(),
    ),
  );
  return { counts: plain(counts), conflicts: conflicts.toSorted() };
}

/** Without what is 0, and in one order. */
function plain(value: unknown): unknown {
  if (value instanceof Map) {
    const fields = [...value].map(([key, each]) => [String(key), plain(each)] as const);
    return Object.fromEntries(fields.filter(([, each]) => JSON.stringify(each) !== '{}').toSorted());
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, each]) => [key, plain(each)] as const);
  return Object.fromEntries(fields.filter(([, each]) => each !== 0 && JSON.stringify(each) !== '{}'));
}

describe('Scans of any order', () => {
  it('come to the same conflicts and counters, however often each arrives', () => {
    const shuffled = arrivals.chain((scans) =>
      fc.record({
        scans: fc.constant(scans),
        order: fc.shuffledSubarray([...scans, ...scans], { minLength: scans.length * 2 }),
        reentry: fc.constantFrom<Reentry>('AFTER_EXIT', 'NEVER', 'ALWAYS'),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ scans, order, reentry }) => {
        assert.deepEqual(countArrivals(order, reentry), countArrivals(scans, reentry));
      }),
    );
  });

  it('have as many inside as entries less exits, and admit a ticket once at a date', () => {
    fc.assert(
      fc.property(arrivals, (scans) => {
        const counts: CountsByPerformance = new Map();
        for (const [, ofTicket] of Map.groupBy(scans, ({ ticketId }) => ticketId)) {
          countTicket(counts, mergeScans(ofTicket, 'AFTER_EXIT'), 'floor', 1);
        }
        const counted = scans.filter(({ isUndone }) => !isUndone);
        for (const [performanceId, { entries, exits, admitted, byDoor, byMinute }] of counts) {
          const here = counted.filter((each) => each.performanceId === performanceId);
          const entered = here.filter(({ kind }) => kind === 'ENTRY');
          assert.equal(entries, entered.length);
          assert.equal(exits, here.length - entered.length);
          assert.equal(admitted, new Set(entered.map(({ ticketId }) => ticketId)).size);
          for (const parts of [byDoor, byMinute]) {
            assert.equal(
              [...parts.values()].reduce((sum, part) => sum + part.entries, 0),
              entries,
            );
          }
        }
      }),
    );
  });
});

describe('Counters', () => {
  it('count refusals by what they were refused for, and take one back', () => {
    const counts: CountsByPerformance = new Map();
    countRefusal(counts, 'friday', 'VOID', 1);
    countRefusal(counts, 'friday', 'VOID', 1);
    countRefusal(counts, 'friday', 'NOT_YET', 1);
    countRefusal(counts, 'friday', 'NOT_YET', -1);
    assert.deepEqual([...countsOf(counts, 'friday').refused], [['VOID', 2]]);
  });

  it('keep the minutes of the last hour', () => {
    const counts: CountsByPerformance = new Map();
    countTicket(counts, mergeScans([scan('ENTRY', 0), scan('EXIT', 70 * MINUTE_MS)], 'AFTER_EXIT'), 'floor', 1);
    dropOldMinutes(counts, 70 * MINUTE_MS);
    assert.deepEqual([...countsOf(counts, 'friday').byMinute.keys()], [70]);
    assert.equal(MINUTES_SHOWN, 60);
  });
});
