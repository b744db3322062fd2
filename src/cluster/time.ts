/** The time of this machine as a node takes it: what keeps its process alive are its connections, and nothing that is due. */
import { machineTiming, type Timing } from '#persistence/nats/timing.ts';

export const machineTime: Timing = {
  ...machineTiming,
  after(delayMs, run) {
    const timeout = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timeout);
  },
};
