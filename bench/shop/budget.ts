/**
 * `npm run shop-budget`: whether the pages of a purchase keep their budget on a slow phone (`load.ts`), each as the
 * median of five loads: a score for performance of at least 95 (`score.ts`), and at most 200 ms of total blocking time.
 *
 *   npm run shop-budget [-- --lighthouse] [--json]
 *
 * With `--lighthouse` the same is asked of Lighthouse itself (`lighthouse.ts`), for each page that anybody can open;
 * the checkout is of those who hold tickets.
 *
 * The pages are an event without seats, one with the seats of a real hall (1,222), the checkout of held seats and a
 * paid order, of a service of its own. Blocking time is time on the clock: on a machine with other work it says little,
 * and the command says so. Exit code 0 where all is kept, 1 where a page is over, 2 wrong use.
 */
import { commandOptions } from '../../test/command-options.ts';
import { openShop, type Shop } from '../../test/web/storefront/shop.ts';
import { busyWarning, calibrate } from '../calibration.ts';
import { askLighthouse, type LighthouseFigures } from './lighthouse.ts';
import { loadPage, mediansOf, ROUNDS, SLOW_PHONE, type Load } from './load.ts';
import { scoreOf } from './score.ts';

const SCORE_MIN = 95;
const BLOCKING_MS_MAX = 200;

const isOff = { type: 'boolean', default: false } as const;
const { json, lighthouse: isLighthouseAsked } = commandOptions(
  { json: isOff, lighthouse: isOff },
  'npm run shop-budget [-- --lighthouse] [--json]',
);

interface Row extends Load {
  readonly page: string;
  readonly score: number;
  /** Null where it was not asked. */
  readonly lighthouse: LighthouseFigures | null;
  readonly isKept: boolean;
}

/** The pages by name; the checkout is of tickets that are held just before, in the same profile. */
async function pagesOf(shop: Shop): Promise<Readonly<Record<string, string>>> {
  const event = await shop.ownEvent('club-night', 'budget-event');
  const hall = await shop.ownEvent('erfurt-volley', 'budget-hall');
  return { event, seats: hall, checkout: `${hall}/checkout`, order: await shop.buy(event) };
}

/** Loads a page in a profile of its own, five times; the checkout with a seat that it holds. */
async function measure(shop: Shop, page: string, path: string): Promise<Row> {
  const loads: Load[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const buyer = await shop.enter(page === 'checkout' ? path.replace('/checkout', '') : '/nowhere', SLOW_PHONE);
    if (page === 'checkout') {
      await buyer.press('Best seats for me');
      await buyer.press('Continue with 2 tickets');
      await buyer.page.getByLabel('E-mail').waitFor();
    }
    loads.push(await loadPage(buyer.page.context(), shop.service.publicUrl + path));
    await buyer.close();
  }
  const middle = mediansOf(loads);
  const score = scoreOf(middle);
  const lighthouse =
    isLighthouseAsked && page !== 'checkout' ? await askLighthouse(shop.service.publicUrl + path) : null;
  const keeps = (each: LighthouseFigures): boolean => each.score >= SCORE_MIN && each.blocking <= BLOCKING_MS_MAX;
  const isKept = keeps({ score, blocking: middle.blocking }) && (lighthouse === null || keeps(lighthouse));
  return { page, ...middle, score, lighthouse, isKept };
}

const isBusy = busyWarning(await calibrate()) !== null;
if (isBusy) console.error('this machine is busy: what is over its budget here may keep it on an idle one');
const shop = await openShop();
const rows: Row[] = [];
try {
  for (const [page, path] of Object.entries(await pagesOf(shop))) rows.push(await measure(shop, page, path));
} finally {
  await shop.close();
}
if (json) console.log(JSON.stringify({ rounds: ROUNDS, isBusy, pages: rows }, null, 2));
else {
  const line = (cells: readonly string[]): string =>
    cells.map((cell, n) => (n === 0 ? cell.padEnd(9) : cell.padStart(11))).join('');
  const names = ['page', 'score', 'blocking', 'longest', 'first', 'largest', 'shift', 'requests', 'KB'];
  console.log(line([...names, ...(isLighthouseAsked ? ['Lighthouse', 'blocking'] : []), 'budget']));
  const msText = (ms: number): string => `${Math.round(ms)} ms`;
  for (const { page, score, blocking, longest, fcp, lcp, cls, requests, bytes, lighthouse, isKept } of rows) {
    const rest = [cls.toFixed(3), String(requests), (bytes / 1024).toFixed(0)];
    const asked = lighthouse === null ? ['', ''] : [lighthouse.score.toFixed(0), msText(lighthouse.blocking)];
    if (isLighthouseAsked) rest.push(...asked);
    console.log(
      line([page, score.toFixed(1), ...[blocking, longest, fcp, lcp].map(msText), ...rest, isKept ? 'kept' : 'OVER']),
    );
  }
}
process.exitCode = rows.every(({ isKept }) => isKept) ? 0 : 1;
