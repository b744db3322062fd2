/**
 * The tables against the machines: XState's own `transition()` is the oracle for every cell of every law.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fc } from '../property.ts';
import { createActor, transition, type AnyStateMachine } from 'xstate';
import { follow, IllegalChange, type Law } from '#machines/compile.ts';
import { holdLaw } from '#machines/hold.ts';
import { chapters, renderReadme } from '#machines/readme.ts';

/** What XState makes of a trigger: the next status, or undefined where the machine has no such transition. */
function askXstate(machine: AnyStateMachine, status: string, trigger: string): unknown {
  const snapshot = machine.resolveState({ value: status, context: {} });
  if (!snapshot.can({ type: trigger })) return undefined;
  return transition(machine, snapshot, { type: trigger })[0].value;
}

function reachable(law: Law<string, string>): Set<string> {
  const reached = new Set([law.initial]);
  for (const status of reached) {
    for (const trigger of law.triggers) {
      const next = law.next(status, trigger);
      if (next !== undefined) reached.add(next);
    }
  }
  return reached;
}

const everyTrigger = new Set(chapters.flatMap(({ law }) => law.triggers));

for (const { title, machine, law } of chapters) {
  describe(`The law of ${title}`, () => {
    it('gives the same answer as XState in every cell, for triggers of other machines too', () => {
      for (const status of law.statuses) {
        for (const trigger of everyTrigger) {
          assert.equal(law.next(status, trigger), askXstate(machine, status, trigger), `${status} ${trigger}`);
        }
      }
    });

    it('begins where XState begins', () => {
      assert.equal(law.initial, createActor(machine).getSnapshot().value);
    });

    it('knows no status that cannot be reached', () => {
      assert.deepEqual([...reachable(law)].sort(), [...law.statuses].sort());
    });

    it('ends exactly where XState says that a machine is done', () => {
      const done = law.statuses.filter(
        (status) => machine.resolveState({ value: status, context: {} }).status === 'done',
      );
      assert.deepEqual(law.ends, done);
    });

    it('prints statuses and triggers in capitals', () => {
      for (const name of [...law.statuses, ...law.triggers]) assert.match(name, /^[A-Z]+(_[A-Z]+)*$/);
    });

    it('says what each status means and when each change happens', () => {
      for (const status of law.statuses) assert.ok(machine.root.states[status]?.description, status);
      for (const change of law.changes) assert.ok(change.when, `${change.from} ${change.trigger}`);
    });

    it('leads a living actor and a followed table through any triggers to the same status', () => {
      fc.assert(
        fc.property(fc.array(fc.constantFrom(...law.triggers), { maxLength: 30 }), (triggers) => {
          const actor = createActor(machine).start();
          let status = law.initial;
          for (const trigger of triggers) {
            actor.send({ type: trigger });
            if (law.next(status, trigger) !== undefined) status = follow(law, status, trigger);
            assert.equal(actor.getSnapshot().value, status);
          }
          actor.stop();
        }),
        { numRuns: 50 },
      );
    });
  });
}

describe('A law', () => {
  it('is followed where it allows and crashes where it forbids', () => {
    assert.equal(follow(holdLaw, 'ACTIVE', 'CONVERT'), 'CONVERTED');
    assert.throws(
      () => follow(holdLaw, 'EXPIRED', 'CONVERT'),
      (error) => error instanceof IllegalChange && error.message === 'the law of hold knows no CONVERT from EXPIRED',
    );
  });

  it('takes no name of Object for a status or a trigger', () => {
    const law: Law<string, string> = holdLaw;
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty', '']) {
      assert.equal(law.next('ACTIVE', name), undefined);
      assert.equal(law.next(name, 'EXPIRE'), undefined);
      assert.throws(() => follow(law, name, 'EXPIRE'), IllegalChange);
    }
  });

  it('cannot be changed', () => {
    for (const part of [
      holdLaw,
      holdLaw.statuses,
      holdLaw.triggers,
      holdLaw.ends,
      holdLaw.changes,
      holdLaw.changes[0],
    ]) {
      assert.ok(Object.isFrozen(part));
    }
  });
});

describe('machines/README.md', () => {
  it('is what the machines render to: run `npm run render` after a change', () => {
    assert.equal(readFileSync(new URL('../../machines/README.md', import.meta.url), 'utf8'), renderReadme());
  });
});
