/**
 * How soon a slow phone shows the shop's pages, and what they weigh: `node bench/pages.ts [URL]` against a service with
 * the demo events that runs already (`npm start`).
 *
 * A phone is emulated by Chromium: a processor four times as slow, 1.6 Mbit/s, 150 ms a round trip, an empty cache.
 * Shown is the median of five loads: first and largest contentful paint, layout shift, requests and kilobytes on the
 * wire.
 */
import { launchBrowser, PHONE } from '../test/fixtures/browser.ts';

const ROUNDS = 5;
const PAGES = ['/', '/e/night-shift', '/e/the-glass-orchard', '/e/erfurt-volley'];
const NETWORK = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };

/** Collects in the page what its observers see; layout shifts without a user's input are what counts. */
const OBSERVE = `globalThis.seen = { lcp: 0, cls: 0 };
new PerformanceObserver((list) => { for (const entry of list.getEntries()) seen.lcp = entry.startTime; }).observe({ type: 'largest-contentful-paint', buffered: true });
new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.cls += entry.value; }).observe({ type: 'layout-shift', buffered: true });`;

const READ = `({ ...seen, fcp: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0 })`;

interface Load {
  readonly fcp: number;
  readonly lcp: number;
  readonly cls: number;
  readonly requests: number;
  readonly bytes: number;
}

const base = process.argv[2] ?? 'http://127.0.0.1:8080';
const browser = await launchBrowser();
try {
  for (const page of PAGES) {
    const loads: Load[] = [];
    for (let round = 0; round < ROUNDS; round += 1) loads.push(await load(base + page));
    const middle = (field: keyof Load): number => loads.map((each) => each[field]).sort((a, b) => a - b)[ROUNDS >> 1]!;
    const [fcp, lcp] = [middle('fcp'), middle('lcp')].map(Math.round);
    const [shift, kilobytes] = [middle('cls').toFixed(3), (middle('bytes') / 1024).toFixed(0)];
    console.log(
      `${page}: first paint ${fcp} ms, largest ${lcp} ms, shift ${shift}, ${middle('requests')} requests, ${kilobytes} KB`,
    );
  }
} finally {
  await browser.close();
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
  const seen = await page.evaluate<Pick<Load, 'fcp' | 'lcp' | 'cls'>>(READ);
  await context.close();
  return { ...seen, requests, bytes };
}
