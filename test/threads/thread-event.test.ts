/** An event behind rings passes the suite of every port: its calls and answers cross shared memory as texts. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { createAnswers } from '#threads/calls.ts';
import { followBell, makeBell } from '#threads/doorbell.ts';
import { EngineCalls } from '#threads/engine-calls.ts';
import { FrameLink } from '#threads/link.ts';
import { makeRing } from '#threads/ring.ts';
import { openSampleEvent, testEventPort } from '../actors/event-port-suite.ts';

/** Rounds of the event loop in which a call arrives, is answered from memory, and the answer comes back. */
const ROUNDS = 20;

async function arrive(): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) await nextRound();
}

testEventPort('an event on another thread', async () => {
  const { events, eventId, ...controls } = await openSampleEvent(arrive);
  const [callsRing, answersRing] = [makeRing(), makeRing()];
  const [engineBell, ownBell] = [new Int32Array(makeBell()), new Int32Array(makeBell())];
  const answer = createAnswers({
    deployment: { events } as unknown as Parameters<typeof createAnswers>[0]['deployment'],
    payments: {} as Parameters<typeof createAnswers>[0]['payments'],
    readState: () => {
      throw new Error('the state is not asked here');
    },
    isTiming: false,
  });
  const engine: FrameLink = new FrameLink({
    incoming: callsRing,
    outgoing: answersRing,
    bell: ownBell,
    isAnswering: true,
    take: (number, text) => answer(text, (packed) => engine.send(number, packed)),
    sendLong: (number, text) => calls.take(number, text),
  });
  const calls = new EngineCalls({
    send: (number, text, isAlone) => own.send(number, text, isAlone),
    definitions: () => 0,
    isTiming: false,
  });
  const own: FrameLink = new FrameLink({
    incoming: answersRing,
    outgoing: callsRing,
    bell: engineBell,
    isAnswering: false,
    take: (number, text) => calls.take(number, text),
    sendLong: (number, text) => answer(text, (packed) => engine.send(number, packed)),
  });
  for (const [bell, link] of [
    [engineBell, engine],
    [ownBell, own],
  ] as const)
    followBell(bell, { hasWork: () => link.hasWork(), work: () => link.work() });
  return { ...controls, find: async () => (await calls.events.byEventId(eventId))! };
});
