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
import { executable, launchBrowser } from '../test/fixtures/browser.ts';
import { loadPage, median, mediansOf, ROUNDS, SLOW_PHONE, type Load } from './shop/load.ts';

const PAGES = ['/', '/e/night-shift', '/e/the-glass-orchard', '/e/erfurt-volley'];
const LIGHTHOUSE = 'lighthouse@13.5.0';

const [base = 'http://127.0.0.1:8080'] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const browser = await launchBrowser();
try {
  for (const page of PAGES) {
    const loads: Load[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const context = await browser.newContext(SLOW_PHONE);
      loads.push(await loadPage(context, base + page));
      await context.close();
    }
    const middle = mediansOf(loads);
    const [fcp, lcp, longest, blocking] = (['fcp', 'lcp', 'longest', 'blocking'] as const).map((name) =>
      Math.round(middle[name]),
    );
    const [shift, kilobytes] = [middle.cls.toFixed(3), (middle.bytes / 1024).toFixed(0)];
    console.log(
      `${page}: first paint ${fcp} ms, largest ${lcp} ms, shift ${shift}, longest task ${longest} ms, ` +
        `blocking ${blocking} ms, ${middle.requests} requests, ${kilobytes} KB`,
    );
  }
} finally {
  await browser.close();
}
if (process.argv.includes('--lighthouse')) for (const page of PAGES) await askLighthouse(page);

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
