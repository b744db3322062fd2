/** The minutes of the last hours are what counters grew by, and are bounded. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Counted, MetricsHistory } from '#http/metrics/history.ts';
import { MINUTE, START } from '../../fixtures/service.ts';

const NOTHING: Counted = {
  requests: [0, 0, 0],
  clientErrors: 0,
  serverErrors: 0,
  commits: [0, 0],
  refusals: new Map(),
};

function openHistory(t: { after(work: () => void): void }) {
  const world = { now: START, counted: NOTHING, admissionQueue: 0 };
  const history = new MetricsHistory({
    now: () => world.now,
    count: () => world.counted,
    admissionQueue: () => world.admissionQueue,
    requestBounds: [0.01, 0.1],
    commitBounds: [0.002],
  });
  t.after(() => history.stop());
  return { world, history };
}

describe('The history of the metrics', () => {
  it('has what was counted in each minute, also in the one that runs', (t) => {
    const { world, history } = openHistory(t);
    const refusals = new Map([['SEAT_TAKEN', 3]]);
    world.admissionQueue = 4;
    history.sample();
    world.admissionQueue = 1;
    world.counted = { requests: [90, 10, 0], clientErrors: 3, serverErrors: 1, commits: [10, 0], refusals };
    world.now += MINUTE;
    history.sample();
    world.admissionQueue = 0;
    world.counted = {
      ...world.counted,
      requests: [90, 10, 2],
      refusals: new Map([...refusals, ['HOLD_EXPIRED', 1], ['SALE_PAUSED', 2]]),
    };
    const [first, running, ...others] = history.read(0, Infinity);
    assert.deepEqual(others, []);
    assert.deepEqual(first, {
      at: START,
      requests: 100,
      clientErrors: 3,
      serverErrors: 1,
      latency: { p50Ms: 5.56, p95Ms: 55, p99Ms: 91 },
      commits: 10,
      commit: { p50Ms: 1, p95Ms: 1.9, p99Ms: 1.98 },
      admissionQueueMax: 4,
      refused: 3,
      refusals: [{ code: 'SEAT_TAKEN', count: 3 }],
    });
    const { at, requests, latency, commit, admissionQueueMax, refusals: later } = running!;
    assert.deepEqual([at, requests, latency?.p50Ms, commit], [START + MINUTE, 2, 100, null]);
    assert.equal(admissionQueueMax, 0);
    assert.deepEqual(later, [
      { code: 'SALE_PAUSED', count: 2 },
      { code: 'HOLD_EXPIRED', count: 1 },
    ]);
    assert.deepEqual(history.read(START + MINUTE, Infinity), [running]);
    assert.deepEqual(history.read(0, START + MINUTE), [first]);
  });

  it('forgets minutes of more than twelve hours, and names twenty codes of a minute', (t) => {
    const { world, history } = openHistory(t);
    for (let minute = 0; minute < 800; minute += 1) {
      world.now += MINUTE;
      history.sample();
    }
    const minutes = history.read(0, Infinity);
    assert.deepEqual([minutes.length, minutes[0]!.at], [721, START + 80 * MINUTE]);
    const refusals = new Map(Array.from({ length: 30 }, (_, n) => [`CODE_${n}`, n + 1]));
    world.counted = { ...NOTHING, refusals };
    const { refused, refusals: named } = history.read(world.now - MINUTE, Infinity).at(-1)!;
    assert.deepEqual([refused, named.length, named[0]], [465, 20, { code: 'CODE_29', count: 30 }]);
  });
});
