import { setTimeout as pause } from 'node:timers/promises';
import { hallEvent, hotEvent, waitingRoomEvent } from '../events.ts';
import { startHoldfast } from '../http/server.ts';
import { requestOf } from '../http/traffic.ts';
import { figureOf, type Scenario } from '../scenario.ts';

const EVENTS = [hotEvent, waitingRoomEvent, hallEvent(600)];
const HOLDS = 100;

/** Until what a start, the holds and the compiler leave to do is done. */
const SETTLING_MS = 10_000;
const QUICK_SETTLING_MS = 3_000;

export const idle: Scenario = {
  name: 'idle',
  about: 'what a service takes of a core while nobody sends a request, with events on sale and live holds',
  async run({ quick, rounds, seconds, report }) {
    const service = await startHoldfast(EVENTS);
    try {
      for (let n = 0; n < HOLDS; n += 1) {
        const { method, path, body } = requestOf({ recipe: 'hot-hold' }, n);
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(service.url + path, { method, body: body!, headers });
        if (answer.status !== 201) throw new Error(await answer.text());
      }
      report('settling');
      await pause(quick ? QUICK_SETTLING_MS : SETTLING_MS);
      const shares: number[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        report(`round ${round} of ${rounds}`);
        const before = await service.readMeter();
        const begin = performance.now();
        await pause(2 * seconds * 1_000);
        const { totalCpuMicros } = await service.readMeter();
        const micros = (performance.now() - begin) * 1_000;
        shares.push((100 * (totalCpuMicros - before.totalCpuMicros)) / micros);
      }
      return { figures: [figureOf('share of a core', '%', shares, { atMost: 0.3 })] };
    } finally {
      await service.stop();
      service.removeFolder();
    }
  },
};
