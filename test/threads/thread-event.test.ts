/** An event behind rings passes the suite of every port: its calls and answers cross shared memory as texts. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { createAnswers } from '#threads/calls.ts';
import { makeBell } from '#threads/doorbell.ts';
import { AnsweringSide, makeRings, openCalls } from '#threads/sides.ts';
import { openSampleEvent, testEventPort } from '../actors/event-port-suite.ts';

/** Rounds of the event loop in which a call arrives, is answered from memory, and the answer comes back. */
const ROUNDS = 20;

async function arrive(): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) await nextRound();
}

testEventPort('an event on another thread', async () => {
  const { events, eventId, ...controls } = await openSampleEvent(arrive);
  const [rings, engineBell] = [makeRings(), makeBell()];
  const answer = createAnswers({
    deployment: { events } as unknown as Parameters<typeof createAnswers>[0]['deployment'],
    payments: {} as Parameters<typeof createAnswers>[0]['payments'],
    readState: () => {
      throw new Error('the state is not asked here');
    },
    isTiming: false,
  });
  const side = new AnsweringSide(engineBell);
  const connection = side.connect(rings, answer, (number, text) => calls.take(number, text));
  const { calls } = openCalls({
    rings,
    engineBell,
    definitions: () => 0,
    isTiming: false,
    sendLong: (number, text) => connection.take(number, text),
  });
  return { ...controls, find: async () => (await calls.events.byEventId(eventId))! };
});
