/**
 * A schedule keeps the order and the gaps of a trace, at any speed, and models the reads and polls that facts do not
 * tell.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scheduleOf, type Pace } from '#rehearsal/player/schedule.ts';
import type { Intent, Trace } from '#rehearsal/trace/trace.ts';
import { fc } from '../property.ts';
import { eventOf, hall, stage, ticketType } from '../fixtures/definitions.ts';
import { traceOf } from './traces.ts';

const PACE: Pace = { speed: 1, pollSeconds: 5, pageReads: 1, lookSeconds: 10 };

/** Traces of people who join or hold, change, and buy at any moments. */
const traces = fc
  .array(
    fc.record({
      person: fc.integer({ min: 0, max: 5 }),
      at: fc.integer({ min: 0, max: 600_000 }),
      gap: fc.integer({ min: 0, max: 60_000 }),
      joins: fc.boolean(),
    }),
    { minLength: 1, maxLength: 20 },
  )
  .map((arrivals): Trace => {
    const intents = arrivals.flatMap(({ person, at, gap, joins }, hold): Intent[] => [
      ...(joins
        ? [{ kind: 'JOIN' as const, at, person, entry: hold, end: { at: at + gap / 2, by: 'ADMITTED' as const } }]
        : []),
      {
        kind: 'HOLD',
        at: at + gap,
        person,
        hold,
        items: [{ performanceId: 'p', ticketTypeId: 'seat', sellingStageId: 's', quantity: 1, seatIds: null }],
      },
      { kind: 'RELEASE', at: at + 2 * gap, person, hold },
    ]);
    return traceOf(intents.sort((a, b) => a.at - b.at));
  });
const speeds = fc.double({ min: 0.1, max: 50, noNaN: true });

describe('A schedule', () => {
  it('keeps the order of the trace, and its gaps divided by the speed', () => {
    fc.assert(
      fc.property(traces, speeds, (trace, speed) => {
        const { steps } = scheduleOf(trace, { ...PACE, speed });
        const own = steps.filter(({ intent }) => intent !== null);
        assert.deepEqual(
          own.map(({ intent }) => intent),
          trace.intents,
        );
        for (const [index, step] of own.entries()) {
          const gap = step.at - own[0]!.at;
          const then = trace.intents[index]!.at - trace.intents[0]!.at;
          assert.ok(Math.abs(gap - then / speed) < 1e-6);
        }
        assert.ok(steps.every(({ at }, index) => at >= 0 && (index === 0 || at >= steps[index - 1]!.at)));
      }),
    );
  });

  it('lets nothing of a person overtake what the person did before', () => {
    fc.assert(
      fc.property(traces, speeds, (trace, speed) => {
        const { steps } = scheduleOf(trace, { ...PACE, speed });
        for (let person = 0; person < trace.people; person += 1) {
          const own = steps.filter((step) => step.person === person);
          assert.deepEqual(
            own.filter(({ intent }) => intent !== null).map(({ intent }) => intent),
            trace.intents.filter((each) => each.person === person),
          );
          if (own.length > 0) assert.equal(own[0]!.kind, 'READ_EVENT');
        }
      }),
    );
  });

  it('follows an admission with what somebody did after it, as long after', () => {
    fc.assert(
      fc.property(traces, speeds, (trace, speed) => {
        const joins = new Map(
          trace.intents.flatMap((each) => (each.kind === 'JOIN' ? [[each.entry, each.end] as const] : [])),
        );
        for (const { intent, afterEntry } of scheduleOf(trace, { ...PACE, speed }).steps) {
          if (intent === null || afterEntry === null) continue;
          assert.ok(Math.abs(afterEntry.ms - (intent.at - joins.get(afterEntry.entry)!.at) / speed) < 1e-6);
        }
      }),
    );
  });

  it('models as many reads and polls as its settings say, and none with --reads 0', () => {
    const wait: Intent = { kind: 'JOIN', at: 0, person: 0, entry: 0, end: { at: 60_000, by: 'ADMITTED' } };
    const { steps, askedBySecond, pollEveryMs } = scheduleOf(traceOf([wait]), {
      ...PACE,
      speed: 2,
      pageReads: 3,
      lookSeconds: 12,
    });
    assert.deepEqual(
      steps.map(({ kind, at }) => [kind, at]),
      [
        ['READ_EVENT', 0],
        ['READ_EVENT', 2_000],
        ['READ_EVENT', 4_000],
        ['JOIN', 6_000],
      ],
    );
    assert.equal(pollEveryMs, 2_500);
    assert.equal(
      askedBySecond.reduce((sum, each) => sum + each, 0),
      4 + 11,
    );
    assert.deepEqual(
      scheduleOf(traceOf([wait]), { ...PACE, pageReads: 0 }).steps.map(({ kind, at }) => [kind, at]),
      [['JOIN', 0]],
    );
  });

  it('reads the seats before a hold only where the tickets have seats', () => {
    const definition = eventOf(
      [hall(['aaaa']), { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 9 }],
      [ticketType('seat', 'hall'), ticketType('stand', 'floor')],
      [stage('s', { seat: 1, stand: 1 })],
    );
    const hold = (ticketTypeId: string, number: number): Intent => ({
      kind: 'HOLD',
      at: 0,
      person: number,
      hold: number,
      items: [{ performanceId: 'p', ticketTypeId, sellingStageId: 's', quantity: 1, seatIds: null }],
    });
    const { steps } = scheduleOf({ ...traceOf([hold('seat', 0), hold('stand', 1)]), definition }, PACE);
    assert.deepEqual(
      steps.filter(({ kind }) => kind === 'READ_SEATS').map(({ person, subject }) => [person, subject]),
      [[0, 'p']],
    );
  });
});
