/**
 * The player is an open loop: under a timeline of the test, every step is sent at its moment or when the person's own
 * answer before it came, however long the service takes for anybody else.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Connections } from '#rehearsal/player/connections.ts';
import { play, type Played } from '#rehearsal/player/player.ts';
import { requestsFor } from '#rehearsal/player/requests.ts';
import { scheduleOf } from '#rehearsal/player/schedule.ts';
import { percentileOf } from '#rehearsal/player/tally.ts';
import type { Timeline } from '#rehearsal/player/timeline.ts';
import { Sales } from '#rehearsal/trace/sales.ts';
import type { Intent, Trace } from '#rehearsal/trace/trace.ts';
import { fc } from '../property.ts';
import { traceOf } from './traces.ts';

/** Time that passes only when nothing else can happen. */
class TestTimeline implements Timeline {
  #now = 0;
  #waiting: { moment: number; order: number; resolve: () => void }[] = [];
  #order = 0;

  begin(): void {}

  now = (): number => this.#now;

  at(moment: number): Promise<void> {
    if (moment <= this.#now) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ moment, order: (this.#order += 1), resolve }));
  }

  async runUntil<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    for (;;) {
      await nextRound();
      if (isDone) return done;
      this.#waiting.sort((a, b) => a.moment - b.moment || a.order - b.order);
      const next = this.#waiting.shift();
      assert.ok(next !== undefined, 'the player waits for nothing');
      this.#now = next.moment;
      next.resolve();
    }
  }
}

interface Sent {
  readonly session: string;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** A service that takes so long for each request, in the order in which they come. */
function slowService(timeline: TestTimeline, durations: readonly number[], sent: Sent[], admitAfter = 0): Connections {
  let count = 0;
  return {
    async send({ path, body, headers }) {
      const number = (count += 1);
      const sentAt = timeline.now();
      const session =
        headers?.['x-session-key'] ?? (JSON.parse(body ?? '{}') as { session_key?: string }).session_key ?? path;
      await timeline.at(sentAt + durations[number % durations.length]!);
      sent.push({ session, sentAt, answeredAt: timeline.now() });
      const isAdmitted = timeline.now() >= admitAfter;
      const entry = {
        status: isAdmitted ? 'ADMITTED' : 'WAITING',
        admitted_at: isAdmitted ? new Date(admitAfter).toISOString() : null,
      };
      const answer = { status: 201, head: '', body: JSON.stringify({ id: `id-${number}`, items: [], ...entry }) };
      return { answer, sentAt, wasFree: true };
    },
    close: () => {},
  };
}

function playAt(
  timeline: TestTimeline,
  trace: Trace,
  connections: Connections,
  hasWaitingRoom = false,
): Promise<Played> {
  return timeline.runUntil(
    play({
      schedule: scheduleOf(trace, { speed: 1, pollSeconds: 5, pageReads: 0, lookSeconds: 0 }),
      requests: requestsFor({ eventId: 'evt', slug: 'evt', requiresNames: false, run: 'test' }),
      connections,
      timeline,
      momentOf: (at) => at,
      hasWaitingRoom,
      sales: new Sales(null),
      endMs: 10_000_000,
    }),
  );
}

const item = { performanceId: 'd1', ticketTypeId: 'any', sellingStageId: 'general', quantity: 1, seatIds: null };

/** People who each hold and release. */
const traces = fc
  .array(fc.record({ at: fc.integer({ min: 0, max: 20_000 }), gap: fc.integer({ min: 0, max: 2_000 }) }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((arrivals) => {
    const intents = arrivals.flatMap(({ at, gap }, person): Intent[] => [
      { kind: 'HOLD', at, person, hold: person, items: [item] },
      { kind: 'RELEASE', at: at + gap, person, hold: person },
    ]);
    return traceOf(intents.sort((a, b) => a.at - b.at));
  });
const durations = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 6 });

describe('The player', () => {
  it('sends every step at its moment, or when the answer before it came, whatever others wait for', async () => {
    await fc.assert(
      fc.asyncProperty(traces, durations, async (trace, takes) => {
        const timeline = new TestTimeline();
        const sent: Sent[] = [];
        const { tally, notTried } = await playAt(timeline, trace, slowService(timeline, takes, sent));
        let waited = 0;
        for (let person = 0; person < trace.people; person += 1) {
          const intents = trace.intents.filter((each) => each.person === person);
          const own = sent.filter(({ session }) => session === `rehearsal-test-${person}`);
          assert.equal(own.length, 2);
          let readyAt = 0;
          for (const [index, { sentAt, answeredAt }] of own.entries()) {
            assert.equal(sentAt, Math.max(intents[index]!.at, readyAt));
            readyAt = answeredAt;
            waited += answeredAt - sentAt;
          }
        }
        assert.deepEqual(notTried, {});
        assert.equal(percentileOf(tally.lateness, 99), 0.001, 'the generator itself was never late');
        const measured = tally.routes.reduce((sum, { latency }) => sum + latency.meanMs * latency.count, 0);
        assert.ok(Math.abs(measured - waited) <= waited / 500, 'latencies count from the moments that were due');
      }),
      { numRuns: 40 },
    );
  });

  it('polls who waits at the pace of the schedule, and goes on as long after the admission as then', async () => {
    const timeline = new TestTimeline();
    const sent: Sent[] = [];
    const trace = traceOf([
      { kind: 'JOIN', at: 0, person: 0, entry: 0, end: { at: 12_000, by: 'ADMITTED' } },
      { kind: 'HOLD', at: 15_000, person: 0, hold: 0, items: [item] },
    ]);
    // Admitted after 31 s, which is learned from the poll at 35 s; then they held 3 s after the admission.
    const { polls } = await playAt(timeline, trace, slowService(timeline, [1], sent, 31_000), true);
    assert.equal(polls, 7);
    assert.deepEqual(
      sent.map(({ sentAt }) => sentAt),
      [0, 5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 35_000, 35_001],
    );
  });

  it('stops polling when somebody stopped then, and does not try what needs what was refused', async () => {
    const timeline = new TestTimeline();
    const sent: Sent[] = [];
    const trace = traceOf([
      { kind: 'JOIN', at: 0, person: 0, entry: 0, end: { at: 12_000, by: 'GONE' } },
      { kind: 'RELEASE', at: 20_000, person: 1, hold: 7 },
    ]);
    const { notTried } = await playAt(timeline, trace, slowService(timeline, [1], sent, 1e9), true);
    assert.deepEqual(
      sent.map(({ sentAt }) => sentAt),
      [0, 5_000, 10_000],
    );
    assert.deepEqual(notTried, { 'gave up waiting, as then': 1, 'RELEASE: the hold was refused': 1 });
  });
});
