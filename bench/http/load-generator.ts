/** Runs a load generator in a process of its own and measures what the server uses under its load. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { MeterResult } from '#rehearsal/server/meter.ts';
import type { MeasuredServer } from './server.ts';

export interface LoadRun<Load> {
  readonly load: Load;
  readonly meter: MeterResult;
}

export interface LoadGenerator<Job, Load> {
  /** Resets the server's meters, runs one job and reads the meters. */
  run(server: MeasuredServer, job: Job): Promise<LoadRun<Load>>;
  close(): void;
}

/** `file` receives jobs as messages and answers each with one message. */
export function startLoadGenerator<Job extends object, Load>(file: URL): LoadGenerator<Job, Load> {
  // What the process of a test loads first is not the generator's.
  const child = fork(file, { execArgv: [] });
  const ended = once(child, 'exit').then((): never => {
    throw new Error('the load generator ended');
  });
  ended.catch(() => {});
  return {
    async run(server, job) {
      await server.beginMeter();
      const done = once(child, 'message');
      child.send(job);
      const [load] = (await Promise.race([done, ended])) as [Load];
      return { load, meter: await server.readMeter() };
    },
    close: () => child.disconnect(),
  };
}

/** Processor time of all threads of the server in microseconds, for one counted request or purchase. */
export function cpuOf({ load, meter }: LoadRun<{ readonly requests: number }>): number {
  return meter.cpuMicros / load.requests;
}
