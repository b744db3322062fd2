/** A load generator in a process of its own, and what a server used while it was under its load. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { MeterReading } from './meter.ts';
import type { MeasuredServer } from './server.ts';

export interface Shot<Load> {
  readonly load: Load;
  readonly meter: MeterReading;
}

export interface Gun<Job, Load> {
  /** Puts a server under load with its meters at nought, and reads them when the load is over. */
  shoot(server: MeasuredServer, job: Job): Promise<Shot<Load>>;
  close(): void;
}

/** Starts a generator: a file that answers every job it is sent with one message. */
export function openGun<Job extends object, Load>(file: URL): Gun<Job, Load> {
  const child = fork(file);
  const ended = once(child, 'exit').then((): never => {
    throw new Error('the load generator ended');
  });
  ended.catch(() => {});
  return {
    async shoot(server, job) {
      await server.beginMeter();
      const done = once(child, 'message');
      child.send(job);
      const [load] = (await Promise.race([done, ended])) as [Load];
      return { load, meter: await server.readMeter() };
    },
    close: () => child.disconnect(),
  };
}

/** Microseconds of all threads of the server for one of whatever the load counts. */
export function cpuOf({ load, meter }: Shot<{ readonly requests: number }>): number {
  return meter.cpuMicros / load.requests;
}
