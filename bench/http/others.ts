/**
 * Others, who hold tickets at a fixed rate while something happens at the service: how long they wait, and how long the
 * service's collector and loop stop meanwhile, by phase.
 *
 * 1. The first holds after a start are figures of their own, for a start compiles and loads: they are part of no phase.
 * 2. What happens may end with a kill; holds that are under way then do not count.
 * 3. A wait is the service's own where its main thread took that long in one go, by processor time, or its collector;
 *    the disk's where a commit did. Else it is the machine's: another process had the core.
 */
import { countOver, mergeHistograms, percentileMillis, unpackHistogram } from '../histogram.ts';
import { startLoadGenerator } from './load-generator.ts';
import type { Stops } from '#rehearsal/server/meter.ts';
import type { Figure } from '../scenario.ts';
import type { OpenLoopJob, OpenLoopResult } from './open-loop.ts';
import type { MeasuredServer } from './server.ts';
import type { Traffic } from './traffic.ts';

export const WAIT_MS_MAX = 20;
const PAUSE_MS_MAX = 10;
/** Holds a second of each of them. */
const PER_SECOND = 25;
const WINDOW_HOLDS = 2 * PER_SECOND;
const CONNECTIONS = 8;
/** Holds of each of them after a start that stand apart (rule 1): at least one over each connection. */
export const FIRST_HOLDS = 10;
const AFTER_A_START = 'after a start';

/** What the whole service used while something happened. */
export interface Spent {
  readonly elapsedMs: number;
  readonly cpuMicros: number;
}

interface Heard {
  readonly phase: string;
  readonly name: string;
  readonly load: OpenLoopResult;
}

interface Stopped extends Stops {
  readonly phase: string;
  readonly loopDelayMaxMs: number;
  readonly seconds: number;
}

/** Each of those named holds tickets from a process of its own. */
export function openOthers(named: Readonly<Record<string, Traffic>>) {
  const openLoop = new URL('./open-loop.ts', import.meta.url);
  const generators = Object.entries(named).map(([name, traffic]) => ({
    name,
    traffic,
    generator: startLoadGenerator<OpenLoopJob, OpenLoopResult>(openLoop),
  }));
  const heard: Heard[] = [];
  const stopped: Stopped[] = [];
  let firstNumber = 1;
  let known: string | null = null;

  /** One window of holds; those that fail count as long as nothing has happened yet (rule 2). */
  const hold = async (url: string, phase: string, isOver: () => boolean): Promise<void> => {
    const holds = phase === AFTER_A_START ? FIRST_HOLDS : WINDOW_HOLDS;
    const pace = { connections: CONNECTIONS, seconds: holds / PER_SECOND, perSecond: PER_SECOND };
    const job = { url, status: 201, firstNumber, ...pace };
    firstNumber += holds;
    // The meter is read for the whole phase.
    const unmetered = { beginMeter: async () => {}, readMeter: async () => null } as unknown as MeasuredServer;
    await Promise.all(
      generators.map(async ({ name, traffic, generator }) => {
        const { load } = await generator.run(unmetered, { ...job, traffic });
        if (load.errors > 0 && !isOver())
          throw new Error(`${load.errors} holds failed: ${JSON.stringify(load.statuses)}`);
        heard.push({ phase, name, load });
      }),
    );
  };

  return {
    /** Holds tickets until something has happened, and while the `end` follows it. */
    async during(
      service: MeasuredServer,
      phase: string,
      happens: () => Promise<unknown>,
      end: () => Promise<unknown> = async () => {},
    ): Promise<Spent> {
      await service.beginMeter();
      await service.takeStops();
      const begin = performance.now();
      const isFirst = service.url !== known;
      known = service.url;
      let isOver = false;
      const spend = async (): Promise<Spent> => {
        await happens();
        const elapsedMs = performance.now() - begin;
        const { cpuMicros, loopDelayMaxMs } = await service.readMeter();
        stopped.push({ phase, ...(await service.takeStops()), loopDelayMaxMs, seconds: elapsedMs / 1_000 });
        isOver = true;
        await end();
        return { elapsedMs, cpuMicros };
      };
      const spent = spend().finally(() => (isOver = true));
      spent.catch(() => {});
      for (let n = 0; !isOver; n += 1) {
        await hold(service.url, isFirst && n === 0 ? AFTER_A_START : phase, () => isOver);
      }
      return spent;
    },
    figures(): Figure[] {
      const phases = [...new Set(stopped.map(({ phase }) => phase))];
      return [
        ...[AFTER_A_START, ...phases].flatMap((phase) =>
          generators.flatMap(({ name }) =>
            waitsOf(
              `${phase}, ${name}`,
              heard.filter((each) => each.phase === phase && each.name === name),
              phase !== AFTER_A_START && phase !== phases[0],
            ),
          ),
        ),
        lateness(heard),
        ...phases.flatMap((phase) =>
          stopsOf(
            phase,
            stopped.filter((each) => each.phase === phase),
            phase !== phases[0],
          ),
        ),
      ];
    },
    close(): void {
      for (const { generator } of generators) generator.close();
    },
  };
}

function waitsOf(subject: string, heard: readonly Heard[], isBounded: boolean): Figure[] {
  const all = mergeHistograms(heard.map(({ load }) => load.histogram));
  const { totalCount } = unpackHistogram(all);
  if (totalCount === 0) return [];
  const wait = (name: string, percentile: number): Figure => {
    return { name: `${subject}: ${name}`, value: percentileMillis(all, percentile), unit: 'ms' };
  };
  return [
    { name: `${subject}: holds`, value: totalCount, unit: '' },
    wait('p50', 50),
    wait('p99', 99),
    wait('p99.9', 99.9),
    { ...wait('longest', 100), ...(isBounded && { budget: { atMost: WAIT_MS_MAX } }) },
    { name: `${subject}: over ${WAIT_MS_MAX} ms`, value: countOver(all, WAIT_MS_MAX), unit: '' },
  ];
}

/** How late the generators themselves sent: waits can be wrong by as much. */
function lateness(heard: readonly Heard[]): Figure {
  const all = mergeHistograms(heard.map(({ load }) => load.lateness));
  return { name: 'sent late by the generators, longest', value: percentileMillis(all, 100), unit: 'ms' };
}

function stopsOf(phase: string, stopped: readonly Stopped[], isBounded: boolean): Figure[] {
  const pauses = stopped.flatMap((each) => each.pauses);
  const seconds = stopped.reduce((sum, each) => sum + each.seconds, 0);
  const subject = `service, ${phase}`;
  const longest = (what: string, msOf: (each: Stopped) => number): Figure => {
    return { name: `${subject}: longest ${what}`, value: Math.max(...stopped.map(msOf)), unit: 'ms' };
  };
  const kinds = { young: ['young'], full: ['full'], other: ['marking', 'weak'] };
  return [
    ...Object.entries(kinds).flatMap(([name, kindsOfIt]): Figure[] => {
      const took = pauses.filter(({ kind }) => kindsOfIt.includes(kind)).map(({ ms }) => ms);
      const over = took.filter((ms) => ms > PAUSE_MS_MAX).length;
      return [
        { name: `${subject}: ${name} collections, longest pause`, value: Math.max(0, ...took), unit: 'ms' },
        { name: `${subject}: ${name} collections, over ${PAUSE_MS_MAX} ms`, value: over, unit: '' },
      ];
    }),
    {
      name: `${subject}: collections, a second`,
      value: pauses.reduce((sum, { ms }) => sum + ms, 0) / seconds,
      unit: 'ms',
    },
    longest('delay of the loop', ({ loopDelayMaxMs }) => loopDelayMaxMs),
    longest('commit of the journal', ({ commitMaxMs }) => commitMaxMs),
    {
      ...longest('processor time in one go', ({ busyMaxMs }) => busyMaxMs),
      ...(isBounded && { budget: { atMost: WAIT_MS_MAX } }),
    },
  ];
}
