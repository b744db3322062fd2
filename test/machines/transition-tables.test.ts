/**
 * The tables against the machines: XState's own `transition()` must give the same result in every cell of every table.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fc } from '../property.ts';
import { createActor, transition, type AnyStateMachine } from 'xstate';
import { follow, IllegalTransition, type TransitionTable } from '#machines/compile.ts';
import { holdTransitions } from '#machines/hold.ts';
import { chapters, renderReadme } from '#machines/readme.ts';

/** The next status according to XState, or undefined when the machine has no such transition. */
function nextInXstate(machine: AnyStateMachine, status: string, trigger: string): unknown {
  const snapshot = machine.resolveState({ value: status, context: {} });
  if (!snapshot.can({ type: trigger })) return undefined;
  return transition(machine, snapshot, { type: trigger })[0].value;
}

function reachable(table: TransitionTable<string, string>): Set<string> {
  const reached = new Set([table.initial]);
  for (const status of reached) {
    for (const trigger of table.triggers) {
      const next = table.next(status, trigger);
      if (next !== undefined) reached.add(next);
    }
  }
  return reached;
}

const everyTrigger = new Set(chapters.flatMap(({ table }) => table.triggers));

for (const { title, machine, table } of chapters) {
  describe(`The transition table of ${title}`, () => {
    it('gives the same status as XState in every cell, for triggers of other machines too', () => {
      for (const status of table.statuses) {
        for (const trigger of everyTrigger) {
          assert.equal(table.next(status, trigger), nextInXstate(machine, status, trigger), `${status} ${trigger}`);
        }
      }
    });

    it('starts at the initial state of XState', () => {
      assert.equal(table.initial, createActor(machine).getSnapshot().value);
    });

    it('has no status that cannot be reached', () => {
      assert.deepEqual([...reachable(table)].sort(), [...table.statuses].sort());
    });

    it('ends in exactly the statuses that XState calls done', () => {
      const done = table.statuses.filter(
        (status) => machine.resolveState({ value: status, context: {} }).status === 'done',
      );
      assert.deepEqual(table.ends, done);
    });

    it('names statuses and triggers in capitals', () => {
      for (const name of [...table.statuses, ...table.triggers]) assert.match(name, /^[A-Z]+(_[A-Z]+)*$/);
    });

    it('describes each status and when each transition happens', () => {
      for (const status of table.statuses) assert.ok(machine.root.states[status]?.description, status);
      for (const { from, trigger, when } of table.transitions) assert.ok(when, `${from} ${trigger}`);
    });

    it('leads to the same status as an XState actor through any triggers', () => {
      fc.assert(
        fc.property(fc.array(fc.constantFrom(...table.triggers), { maxLength: 30 }), (triggers) => {
          const actor = createActor(machine).start();
          let status = table.initial;
          for (const trigger of triggers) {
            actor.send({ type: trigger });
            if (table.next(status, trigger) !== undefined) status = follow(table, status, trigger);
            assert.equal(actor.getSnapshot().value, status);
          }
          actor.stop();
        }),
        { numRuns: 50 },
      );
    });
  });
}

describe('A transition table', () => {
  it('is followed where it has a transition and throws where it has none', () => {
    assert.equal(follow(holdTransitions, 'ACTIVE', 'CONVERT'), 'CONVERTED');
    assert.throws(
      () => follow(holdTransitions, 'EXPIRED', 'CONVERT'),
      (error) =>
        error instanceof IllegalTransition &&
        error.message === 'the transition table of hold must have CONVERT from EXPIRED',
    );
  });

  it('takes no name of Object for a status or a trigger', () => {
    const table: TransitionTable<string, string> = holdTransitions;
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty', '']) {
      assert.equal(table.next('ACTIVE', name), undefined);
      assert.equal(table.next(name, 'EXPIRE'), undefined);
      assert.throws(() => follow(table, name, 'EXPIRE'), IllegalTransition);
    }
  });

  it('cannot be changed', () => {
    for (const part of [
      holdTransitions,
      holdTransitions.statuses,
      holdTransitions.triggers,
      holdTransitions.ends,
      holdTransitions.transitions,
      holdTransitions.transitions[0],
    ]) {
      assert.ok(Object.isFrozen(part));
    }
  });
});

describe('machines/README.md', () => {
  it('has the text that the machines render: run `npm run render` after a change', () => {
    assert.equal(readFileSync(new URL('../../machines/README.md', import.meta.url), 'utf8'), renderReadme());
  });
});
