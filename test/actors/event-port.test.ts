/** The event actor in this process passes the suite of every port. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { openSampleEvent, testEventPort } from './event-port-suite.ts';

testEventPort('an event in this process', async () => {
  const { events, eventId, ...controls } = await openSampleEvent(() => nextRound());
  return { ...controls, find: async () => (await events.byEventId(eventId))! };
});
