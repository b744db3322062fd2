/**
 * What Lighthouse itself says about a page, with its own emulation of a phone. It is fetched from the registry when it
 * is asked for, because it brings more packages than all tests together.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { executable } from '../../test/fixtures/browser.ts';
import { median, ROUNDS } from './load.ts';

const VERSION = 'lighthouse@13.5.0';

const OPTIONS = [
  '--quiet',
  '--only-categories=performance',
  '--output=json',
  '--chrome-flags=--headless --no-sandbox',
  // A live stream stays open: the network is never idle, for which it would wait 45 s.
  '--max-wait-for-load=12000',
];

/** Medians of five loads, the score from 0 to 100 and milliseconds. */
export interface LighthouseFigures {
  readonly score: number;
  readonly blocking: number;
}

interface LighthouseReport {
  readonly categories: { readonly performance: { readonly score: number } };
  readonly audits: { readonly 'total-blocking-time': { readonly numericValue: number } };
}

export async function askLighthouse(url: string): Promise<LighthouseFigures> {
  const [scores, blocking]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { stdout } = await promisify(execFile)('npx', ['--yes', VERSION, url, ...OPTIONS], {
      env: { ...process.env, CHROME_PATH: executable },
      maxBuffer: 64 << 20,
    });
    const { categories, audits } = JSON.parse(stdout) as LighthouseReport;
    scores.push(categories.performance.score * 100);
    blocking.push(audits['total-blocking-time'].numericValue);
  }
  return { score: median(scores), blocking: median(blocking) };
}
