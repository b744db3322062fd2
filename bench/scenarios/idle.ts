import { setTimeout as pause } from 'node:timers/promises';
import { hallEvent, waitingRoomEvent } from '../events.ts';
import { fillHolds } from '../folders.ts';
import { makeFolder, startHoldfast } from '../http/server.ts';
import { figureOf, type Scenario } from '../scenario.ts';

const HOLDS = 100;

/** Until what a start, the holds and the compiler leave to do is done. */
const SETTLING_MS = 10_000;
const QUICK_SETTLING_MS = 3_000;

export const idle: Scenario = {
  name: 'idle',
  about: 'what a service takes of a core while nobody sends a request, with events on sale and live holds',
  async run({ quick, rounds, seconds, report }) {
    const folder = makeFolder();
    await fillHolds(folder, HOLDS);
    const service = await startHoldfast([waitingRoomEvent, hallEvent(600)], folder);
    try {
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
