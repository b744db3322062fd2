import { createActor, transition } from 'xstate';
import { holdTransitions, holdMachine } from '#machines/hold.ts';
import { figureOf, secondsOf, type Scenario } from '../scenario.ts';

const LOOKUPS = 5_000_000;
const TRANSITIONS = 20_000;

export const tableLookup: Scenario = {
  name: 'table-lookup',
  about: 'the next status of a hold: the compiled table, XState transition() and a living XState actor',
  async run({ rounds }) {
    const table: number[] = [];
    const pure: number[] = [];
    const living: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const inTable = ((await secondsOf(lookUp)) / LOOKUPS) * 1e9;
      const byTransition = ((await secondsOf(callTransition)) / TRANSITIONS) * 1e9;
      const bySend = ((await secondsOf(sendToActor)) / TRANSITIONS) * 1e9;
      // The first round warms up.
      if (round === 0) continue;
      table.push(inTable);
      pure.push(byTransition);
      living.push(bySend);
    }
    return {
      figures: [
        figureOf('compiled table', 'ns', table),
        figureOf('XState transition()', 'ns', pure),
        figureOf('send to a living XState actor', 'ns', living),
      ],
    };
  },
};

/** Statuses and triggers alternate, so that no answer is the same twice in a row. */
function lookUp(): void {
  let changed = 0;
  for (let i = 0; i < LOOKUPS; i += 1) {
    const status = holdTransitions.next('ACTIVE', i % 2 === 0 ? 'CHANGE' : 'CONVERT');
    if (status === 'CONVERTED') changed += 1;
  }
  if (changed !== LOOKUPS / 2) throw new Error('the table answered otherwise');
}

function callTransition(): void {
  const actor = createActor(holdMachine).start();
  const state = actor.getSnapshot();
  for (let i = 0; i < TRANSITIONS; i += 1) transition(holdMachine, state, { type: 'CHANGE' });
}

function sendToActor(): void {
  const actor = createActor(holdMachine).start();
  for (let i = 0; i < TRANSITIONS; i += 1) actor.send({ type: 'CHANGE' });
}
