/** `compile` refuses what a table cannot say: one machine for each such feature, and nothing else wrong in it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assign, createMachine, type AnyStateMachine } from 'xstate';
import { compile, NotATable } from '#machines/compile.ts';

const plain = createMachine({
  id: 'lamp',
  initial: 'OFF',
  states: { OFF: { on: { PRESS: 'ON' } }, ON: { on: { PRESS: { target: 'OFF', description: 'Again.' } } } },
});

/** A lamp whose OFF state has more parts than a table can say. */
function lampWith(offParts: object): AnyStateMachine {
  return createMachine({ id: 'lamp', initial: 'OFF', states: { OFF: { on: {}, ...offParts }, ON: {} } });
}

/** A lamp whose PRESS does more than lead from one status to another. */
function lampPressedBy(transition: object | readonly object[] | undefined): AnyStateMachine {
  return lampWith({ on: { PRESS: transition } });
}

const inexpressible: readonly (readonly [what: string, machine: () => AnyStateMachine, complaint: RegExp])[] = [
  ['a guard', () => lampPressedBy({ target: 'ON', guard: () => true }), /lamp\.OFF\.PRESS has guard/],
  ['an action', () => lampPressedBy({ target: 'ON', actions: () => {} }), /lamp\.OFF\.PRESS has actions/],
  ['an assignment', () => lampPressedBy({ target: 'ON', actions: assign({}) }), /has actions/],
  ['re-entry', () => lampPressedBy({ target: 'OFF', reenter: true }), /has reenter/],
  ['several transitions for one trigger', () => lampPressedBy([{ target: 'ON' }, { target: 'OFF' }]), /not one plain/],
  ['several targets', () => lampPressedBy({ target: ['ON'] }), /no target, or more than one/],
  ['a transition without a target', () => lampPressedBy({ description: 'Nothing.' }), /no target/],
  ['a forbidden transition', () => lampPressedBy(undefined), /not one plain object/],
  ['a meta it does not print', () => lampPressedBy({ target: 'ON', meta: { colour: 'red' } }), /meta .* has colour/],
  ['a wildcard', () => lampWith({ on: { '*': { target: 'ON' } } }), /lamp\.OFF\.\* is a wildcard/],
  ['a partial wildcard', () => lampWith({ on: { 'press.*': { target: 'ON' } } }), /is a wildcard/],
  ['an eventless transition', () => lampWith({ always: { target: 'ON' } }), /lamp\.OFF has always/],
  ['a delay', () => lampWith({ after: { 1000: { target: 'ON' } } }), /has after/],
  ['an invoked actor', () => lampWith({ invoke: { src: 'bulb' } }), /has invoke/],
  ['an entry action', () => lampWith({ entry: () => {} }), /has entry/],
  ['an exit action', () => lampWith({ exit: () => {} }), /has exit/],
  ['a tag', () => lampWith({ tags: ['dark'] }), /has tags/],
  ['an output', () => lampWith({ type: 'final', output: 1 }), /has output/],
  ['a final state with a way out', () => lampWith({ type: 'final', on: { PRESS: 'ON' } }), /final and has a way out/],
  ['a nested state', () => lampWith({ initial: 'DIM', states: { DIM: {} } }), /lamp\.OFF has (initial|states)/],
  ['a history state', () => lampWith({ type: 'history' }), /is of type history/],
  ['a parallel state', () => lampWith({ type: 'parallel' }), /is of type parallel/],
  ['parallel regions', () => createMachine({ id: 'lamp', type: 'parallel', states: { OFF: {}, ON: {} } }), /has type/],
  ['a context', () => createMachine({ id: 'lamp', initial: 'OFF', context: {}, states: { OFF: {} } }), /has context/],
  [
    'a transition of the whole machine',
    () => createMachine({ id: 'lamp', initial: 'OFF', states: { OFF: {} }, on: { PRESS: '.OFF' } }),
    /machine lamp has on/,
  ],
  [
    'an action at the beginning',
    () => createMachine({ id: 'lamp', initial: { target: 'OFF', actions: () => {} }, states: { OFF: {} } }),
    /the beginning of lamp has actions/,
  ],
  ['a machine without states', () => createMachine({ id: 'lamp' }), /not one plain object/],
];

describe('compile', () => {
  it('turns a flat machine into a table', () => {
    const table = compile(plain);
    assert.equal(table.name, 'lamp');
    assert.equal(table.initial, 'OFF');
    assert.deepEqual(table.statuses, ['OFF', 'ON']);
    assert.deepEqual(table.triggers, ['PRESS']);
    assert.deepEqual(table.ends, []);
    assert.equal(table.next('OFF', 'PRESS'), 'ON');
    assert.deepEqual(table.transitions, [
      { from: null, trigger: null, to: 'OFF', when: '', also: '' },
      { from: 'OFF', trigger: 'PRESS', to: 'ON', when: '', also: '' },
      { from: 'ON', trigger: 'PRESS', to: 'OFF', when: 'Again.', also: '' },
    ]);
  });

  for (const [what, machine, complaint] of inexpressible) {
    it(`refuses ${what}`, () => {
      const acceptedByXstate = machine();
      assert.throws(
        () => compile(acceptedByXstate),
        (error) => error instanceof NotATable && complaint.test(error.message),
      );
    });
  }

  it('refuses a target that is no state of the machine', () => {
    assert.throws(() => compile(lampPressedBy({ target: 'BROKEN' })), /BROKEN/);
    assert.throws(() => compile(lampPressedBy({ target: '#lamp.ON' })), /#lamp\.ON/);
  });
});
