import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isSnapshotDue } from '#actors/actor-pool.ts';
import { isRefusal } from '#domain/refusal.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { SnapshotJob, SnapshotOutcome } from '#actors/activation.ts';
import { openActors, openConcert, place } from '../fixtures/actors.ts';
import { fc } from '../property.ts';

/** Facts between two checks. */
const CHECKED_EVERY = 10_000;

/** A stretch of a sale: so many checks, and how many records each fact adds to the state or removes from it. */
const stretches = fc.array(
  fc.record({ checks: fc.integer({ min: 1, max: 60 }), recordsPerFact: fc.double({ min: -1, max: 1, noNaN: true }) }),
  { minLength: 1, maxLength: 12 },
);

interface Check {
  readonly factsSinceSnapshot: number;
  readonly recordCount: number;
  readonly isDue: boolean;
}

function checksOf(sale: readonly { readonly checks: number; readonly recordsPerFact: number }[]): readonly Check[] {
  const checks: Check[] = [];
  let factsSinceSnapshot = 0;
  let recordCount = 0;
  for (const { recordsPerFact, checks: count } of sale) {
    for (let n = 0; n < count; n += 1) {
      factsSinceSnapshot += CHECKED_EVERY;
      recordCount = Math.max(0, recordCount + recordsPerFact * CHECKED_EVERY);
      const isDue = isSnapshotDue({ factsSinceSnapshot, recordCount });
      checks.push({ factsSinceSnapshot, recordCount, isDue });
      if (isDue) factsSinceSnapshot = 0;
    }
  }
  return checks;
}

describe('The snapshots of an event', () => {
  it('have fewer records than there were facts, and leave a replay that the size of the event bounds', () => {
    fc.assert(
      fc.property(stretches, (sale) => {
        const checks = checksOf(sale);
        const taken = checks.filter(({ isDue }) => isDue);
        const written = taken.reduce((sum, { recordCount }) => sum + recordCount, 0);
        assert.ok(written <= (checks.length * CHECKED_EVERY) / 1.5, `${written} records`);
        assert.ok(taken.length <= (checks.length * CHECKED_EVERY) / 50_000, `${taken.length} snapshots`);
        for (const { factsSinceSnapshot, recordCount, isDue } of checks) {
          assert.ok(isDue || factsSinceSnapshot < Math.max(50_000, 1.5 * recordCount));
        }
      }),
    );
  });

  it('are none while each fact adds a record: the facts are read as fast', () => {
    assert.ok(checksOf([{ checks: 200, recordsPerFact: 1 }]).every(({ isDue }) => !isDue));
    assert.ok(checksOf([{ checks: 200, recordsPerFact: 0.5 }]).some(({ isDue }) => isDue));
  });

  it('cover the facts before them, also when others are added before those are durable', async () => {
    const taking = Promise.withResolvers<void>();
    const snapshot = async ({ eventId, seq }: SnapshotJob): Promise<SnapshotOutcome> => {
      await taking.promise;
      return { eventId, seq, fingerprint: 'f', trouble: null };
    };
    const { actor, events } = await openConcert(openActors(new MemoryJournal(), { snapshot }));
    await hold(actor, 'session-1');
    const added = [hold(actor, 'session-2')];
    const before = actor.facts.sinceSnapshot;
    const outcome = events.actors.snapshot(actor);
    added.push(hold(actor, 'session-3'));
    await Promise.all(added);
    await hold(actor, 'session-4');
    taking.resolve();
    assert.equal((await outcome).trouble, null);
    assert.ok(before >= 3);
    assert.equal(actor.facts.sinceSnapshot, 2);
  });
});

async function hold(actor: EventActor, sessionKey: string): Promise<void> {
  assert.ok(!isRefusal(await actor.execute(place(sessionKey))));
}
