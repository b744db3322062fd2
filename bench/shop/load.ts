/**
 * A page as a slow phone loads it, emulated by Chromium: a processor four times as slow, an empty cache, 1.6 Mbit/s and
 * 150 ms a round trip.
 *
 * Those are the figures that Lighthouse 12 simulates (`mobileSlow4G` in its `core/config/constants.js`): a request over
 * an open connection takes one round trip, and the first one another to connect, which Chromium does not delay; it is
 * added to both paints. Where Lighthouse applies its network in place of simulating it, it takes 562 ms for each
 * request.
 */
import type { BrowserContext } from 'playwright-core';
import { PHONE, type VisitorOptions } from '../../test/fixtures/browser.ts';
import type { Figures } from './score.ts';

export const SLOW_PHONE = {
  ...PHONE,
  deviceScaleFactor: 2,
  locale: 'en-GB',
  timezoneId: 'Europe/Berlin',
} as const satisfies VisitorOptions;

const SLOWER = 4;
const ROUND_TRIP_MS = 150;
const NETWORK = { offline: false, latency: ROUND_TRIP_MS, downloadThroughput: 200_000, uploadThroughput: 93_750 };
/** A live stream stays open, so that the network is never idle: what comes later is not counted. */
const WATCHED_MS = 4_000;

/** Collects in the page what its observers see; layout shifts without a user's input are what counts. */
const OBSERVE = `globalThis.seen = { lcp: 0, cls: 0, tasks: [] };
new PerformanceObserver((list) => { for (const entry of list.getEntries()) seen.lcp = entry.startTime; }).observe({ type: 'largest-contentful-paint', buffered: true });
new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.cls += entry.value; }).observe({ type: 'layout-shift', buffered: true });
new PerformanceObserver((list) => { for (const { startTime, duration } of list.getEntries()) seen.tasks.push([startTime, duration]); }).observe({ type: 'longtask', buffered: true });`;

const READ = `(() => {
  const { tasks, ...rest } = seen;
  const fcp = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
  const durations = tasks.filter(([start, duration]) => start + duration > fcp).map(([, duration]) => duration);
  const blocking = durations.reduce((sum, duration) => sum + duration - 50, 0);
  return { ...rest, fcp, longest: Math.max(0, ...durations), blocking };
})()`;

export interface Load extends Figures {
  /** Milliseconds of the longest task after the first paint. */
  readonly longest: number;
  readonly requests: number;
  readonly bytes: number;
}

/** Loads an address in a new page of a profile, which may hold tickets; its cache is not used. */
export async function loadPage(context: BrowserContext, url: string): Promise<Load> {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
  await cdp.send('Network.emulateNetworkConditions', NETWORK);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  let [requests, bytes] = [0, 0];
  cdp.on('Network.requestWillBeSent', () => (requests += 1));
  cdp.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.addInitScript({ content: OBSERVE });
  await page.goto(url, { waitUntil: 'load' });
  await page.waitForTimeout(WATCHED_MS);
  const seen = await page.evaluate<Omit<Load, 'requests' | 'bytes'>>(READ);
  await page.close();
  return { ...seen, fcp: seen.fcp + ROUND_TRIP_MS, lcp: seen.lcp + ROUND_TRIP_MS, requests, bytes };
}

export const ROUNDS = 5;

/** The middle of each figure. */
export function mediansOf(loads: readonly Load[]): Load {
  const names = Object.keys(loads[0]!) as (keyof Load)[];
  return Object.fromEntries(names.map((name) => [name, median(loads.map((load) => load[name]))])) as unknown as Load;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
