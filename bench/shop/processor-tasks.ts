/**
 * What the tasks of a page's main thread cost, by the processor time of that thread: other work on the machine makes a
 * task longer on the clock, not here. So a test can bound it, where a time on the clock would fail by chance.
 */
import type { Browser, Page } from 'playwright-core';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/**
 * Runs what a page does and resolves to the processor milliseconds of each task of its main thread. No other page may
 * be open in the browser: its tasks would be counted too.
 */
export async function taskTimes(browser: Browser, page: Page, work: () => Promise<void>): Promise<readonly number[]> {
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', '__metadata'] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const threads = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  const isOfPage = ({ pid, tid }: TraceEvent): boolean => threads.some((each) => each.pid === pid && each.tid === tid);
  const tasks = traceEvents.filter((event) => event.name === 'RunTask' && isOfPage(event));
  return tasks.flatMap(({ tdur }) => (tdur === undefined ? [] : [tdur / 1_000]));
}
