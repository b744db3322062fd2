/**
 * How soon a slow phone shows the shop's pages, and what they weigh: `node bench/pages.ts [URL] [--lighthouse]` against
 * a service with the demo events that runs already (`npm start`).
 *
 *  1. A phone is emulated by Chromium: a processor four times as slow, 1.6 Mbit/s, 150 ms a round trip, an empty cache.
 *  2. Shown is the median of five loads: first and largest contentful paint, layout shift, requests and kilobytes on
 *     the wire; of the main thread after the first paint the longest task, and what tasks take beyond 50 ms each.
 *  3. With `--lighthouse` Lighthouse loads the pages five times too, with its own emulation of a phone: the medians of
 *     its score for performance and of its total blocking time. It is fetched from the registry when it is asked for,
 *     because it brings more packages than all tests together.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { executable, launchBrowser, PHONE } from '../test/fixtures/browser.ts';

const ROUNDS = 5;
const PAGES = ['/', '/e/night-shift', '/e/the-glass-orchard', '/e/erfurt-volley'];
const NETWORK = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };

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

const LIGHTHOUSE = 'lighthouse@13.5.0';

interface Load {
  readonly fcp: number;
  readonly lcp: number;
  readonly cls: number;
  /** Milliseconds of the longest task after the first paint, and of tasks beyond 50 ms each. */
  readonly longest: number;
  readonly blocking: number;
  readonly requests: number;
  readonly bytes: number;
}

const [base = 'http://127.0.0.1:8080'] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const browser = await launchBrowser();
try {
  for (const page of PAGES) {
    const loads: Load[] = [];
    for (let round = 0; round < ROUNDS; round += 1) loads.push(await load(base + page));
    const middle = (field: keyof Load): number => median(loads.map((each) => each[field]));
    const [fcp, lcp, longest, blocking] = (['fcp', 'lcp', 'longest', 'blocking'] as const).map(middle).map(Math.round);
    const [shift, kilobytes] = [middle('cls').toFixed(3), (middle('bytes') / 1024).toFixed(0)];
    console.log(
      `${page}: first paint ${fcp} ms, largest ${lcp} ms, shift ${shift}, longest task ${longest} ms, ` +
        `blocking ${blocking} ms, ${middle('requests')} requests, ${kilobytes} KB`,
    );
  }
} finally {
  await browser.close();
}
if (process.argv.includes('--lighthouse')) for (const page of PAGES) await askLighthouse(page);

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Rule 3. */
async function askLighthouse(page: string): Promise<void> {
  const options = [
    '--quiet',
    '--only-categories=performance',
    '--output=json',
    '--chrome-flags=--headless --no-sandbox',
  ];
  const env = { ...process.env, CHROME_PATH: executable };
  const [scores, blocking]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { stdout } = await promisify(execFile)('npx', ['--yes', LIGHTHOUSE, base + page, ...options], {
      env,
      maxBuffer: 64 << 20,
    });
    const { categories, audits } = JSON.parse(stdout) as {
      categories: { performance: { score: number } };
      audits: Record<'total-blocking-time', { numericValue: number }>;
    };
    scores.push(categories.performance.score * 100);
    blocking.push(audits['total-blocking-time'].numericValue);
  }
  const spread = `${Math.min(...scores).toFixed(0)} to ${Math.max(...scores).toFixed(0)}`;
  console.log(
    `${page}: Lighthouse ${median(scores).toFixed(0)} (${spread}), total blocking ${median(blocking).toFixed(0)} ms`,
  );
}

async function load(url: string): Promise<Load> {
  const context = await browser.newContext({
    ...PHONE,
    deviceScaleFactor: 2,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', NETWORK);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  let [requests, bytes] = [0, 0];
  cdp.on('Network.requestWillBeSent', () => (requests += 1));
  cdp.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.addInitScript({ content: OBSERVE });
  await page.goto(url, { waitUntil: 'load' });
  // A live stream stays open, so that the network is never idle: what comes after this is not counted.
  await page.waitForTimeout(4_000);
  const seen = await page.evaluate<Omit<Load, 'requests' | 'bytes'>>(READ);
  await context.close();
  return { ...seen, requests, bytes };
}
