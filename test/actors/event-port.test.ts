/** The event actor in this process passes the suite of every port. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { MemoryJournal } from '#persistence/memory-journal.ts';
import { openActors } from '../fixtures/actors.ts';
import { sampleDefinition } from '../fixtures/events.ts';
import { testEventPort } from './event-port-suite.ts';

testEventPort('an event in this process', async () => {
  const journal = new MemoryJournal({ manual: true });
  const { events, clock } = openActors(journal);
  const definition = sampleDefinition('erfurt-volley');
  journal.onStatus(() => events.actors.retireAll());
  const defining = events.define(definition, { operator: null, note: null });
  while (journal.durableSeq === 0) {
    await nextRound();
    journal.commit();
  }
  await defining;
  return {
    clock,
    find: async () => (await events.byEventId(definition.id))!,
    commit: () => journal.commit(),
    crash() {
      journal.full(true);
      journal.full(false);
    },
  };
});
