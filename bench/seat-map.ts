/**
 * How many frames a second the shop's seat map draws while a hall of 100,000 seats is moved and zoomed in a real
 * browser.
 *
 *     node --import tsx bench/seat-map.ts [seats] [taken]
 *
 * With `taken`, buyers take and give back so many seats a second meanwhile; then long tasks and what the page asks for
 * are measured too, without a hold and with one. The page moves the plan itself, once a frame; chromium draws without a
 * graphics card. On a machine with other work the frames say little, so the processor time of a frame is measured too,
 * over all of chromium's processes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { launchBrowser, newVisitor, type Visitor } from '../test/fixtures/browser.ts';
import { openService } from '../test/fixtures/service.ts';
import { bowl } from './bowl.ts';

/** Seconds of each movement. */
const SECONDS = 4;

/** Runs in the page: sends a movement each frame and returns the milliseconds between frames. */
const measure = (movement: string): string => `new Promise((resolve) => {
  const frame = document.querySelector('.seat-frame');
  const box = frame.getBoundingClientRect();
  const [cx, cy] = [box.left + box.width / 2, box.top + box.height / 2];
  const send = (type, x, y) => frame.dispatchEvent(new PointerEvent(type, {
    pointerId: 1, pointerType: 'mouse', isPrimary: true, button: 0, buttons: 1, clientX: x, clientY: y, bubbles: true }));
  const turn = (delta) => frame.dispatchEvent(new WheelEvent('wheel', {
    deltaY: delta, ctrlKey: true, clientX: cx, clientY: cy, bubbles: true, cancelable: true }));
  const times = [];
  let last = 0;
  let n = 0;
  const step = (now) => {
    if (last > 0) times.push(now - last);
    last = now;
    n += 1;
    if (times.length > 0 && times.reduce((a, b) => a + b, 0) > ${SECONDS * 1000}) {
      send('pointerup', cx, cy);
      return resolve(times);
    }
    (${movement})(n, send, turn, cx, cy);
    requestAnimationFrame(step);
  };
  send('pointerdown', cx, cy);
  requestAnimationFrame(step);
})`;

const MOVEMENTS: Readonly<Record<string, string>> = {
  rest: '() => {}',
  pan: '(n, send, turn, cx, cy) => send("pointermove", cx + 260 * Math.sin(n / 20), cy + 160 * Math.cos(n / 31))',
  zoom: '(n, send, turn) => turn(n % 120 < 60 ? 10 : -10)',
};

/** Processor milliseconds that the processes begun by this one have used. */
function processorMs(): number {
  const stats = new Map<number, { readonly parent: number; readonly ticks: number }>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ');
      stats.set(Number(name), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) });
    } catch {
      // It ended meanwhile.
    }
  }
  const isOwn = (pid: number): boolean => pid === process.pid || (stats.has(pid) && isOwn(stats.get(pid)!.parent));
  return [...stats].reduce((sum, [pid, { ticks }]) => sum + (pid !== process.pid && isOwn(pid) ? ticks * 10 : 0), 0);
}

function report(what: string, times: readonly number[], usedMs: number): void {
  const sorted = times.toSorted((a, b) => a - b);
  const mean = times.reduce((a, b) => a + b, 0) / times.length;
  const at = (share: number): string => sorted[Math.floor(sorted.length * share)]!.toFixed(1);
  const late = times.filter((ms) => ms > 20.5).length / times.length;
  console.log(
    `${what.padEnd(34)} ${(1000 / mean).toFixed(1).padStart(5)} frames/s, ms: median ${at(0.5)}, p95 ${at(0.95)}, ` +
      `worst ${sorted.at(-1)!.toFixed(0)}; over 20 ms: ${(late * 100).toFixed(1)} %; ` +
      `processor ${(usedMs / times.length).toFixed(1)} ms a frame`,
  );
}

/** Takes and gives back so many seats a second, of those with these ids, until the signal. */
async function rush(seatIds: readonly string[], aSecond: number, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n += 1) {
    const at = (n * 7_919 * 2) % (seatIds.length - 2);
    // The hold of a session before this one is given back.
    await service.call('POST', '/api/checkout/holds', {
      body: {
        event_id: 'evt_bowl',
        session_key: `somebody-else-${n % SESSIONS}`,
        items: [{ ...itemOf(seatIds[at]!), quantity: 2, seat_ids: [seatIds[at], seatIds[at + 1]] }],
      },
    });
    await pause(2_000 / aSecond);
  }
}

interface Locality {
  readonly sections: readonly { readonly rows: readonly { readonly seats: readonly { readonly id: string }[] }[] }[];
}

/** Sessions that hold two seats at a time. */
const SESSIONS = 40;
const ZONES: Readonly<Record<string, string>> = { L: 'lower', M: 'middle', U: 'upper' };
const itemOf = (seatId: string) => ({ ticket_type_id: ZONES[seatId[0]!]!, selling_stage_id: 'general' });

/** Counts what a page asks for, and its tasks of more than 50 ms. */
async function traffic({ page }: Visitor): Promise<() => Promise<string>> {
  const network = await page.context().newCDPSession(page);
  let [requests, bytes] = [0, 0];
  network.on('Network.requestWillBeSent', () => (requests += 1));
  network.on('Network.dataReceived', ({ dataLength }) => (bytes += dataLength));
  await network.send('Network.enable');
  await page.evaluate(`globalThis.tasks = [];
    new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' });`);
  let began = Date.now();
  return async () => {
    const seconds = (Date.now() - began) / 1_000;
    const tasks = await page.evaluate<number[]>('globalThis.tasks.splice(0)');
    const text =
      `  long tasks: ${tasks.length}, worst ${Math.round(Math.max(0, ...tasks))} ms, ` +
      `${Math.round(tasks.reduce((a, b) => a + b, 0) / seconds)} ms a second; ` +
      `${(requests / seconds).toFixed(1)} requests and ${Math.round(bytes / seconds / 1_000)} KB a second`;
    [requests, bytes, began] = [0, 0, Date.now()];
    return text;
  };
}

const seats = Number(process.argv[2] ?? 100_000);
const taken = Number(process.argv[3] ?? 0);
const service = await openService({ clock: 'running' });
const browser = await launchBrowser();
try {
  const definition = bowl(seats);
  await service.define(definition);
  const buyer = await newVisitor(browser, service.publicUrl, { viewport: { width: 1280, height: 800 } });
  const began = Date.now();
  await buyer.open('/e/bowl');
  await buyer.page.locator('.seat-frame canvas').waitFor({ timeout: 120_000 });
  console.log(`${seats.toLocaleString('en')} seats, shown after ${Date.now() - began} ms`);
  const run = async (what: string, movement: string): Promise<void> => {
    const before = processorMs();
    const times = await buyer.page.evaluate<number[]>(measure(MOVEMENTS[movement]!));
    report(what, times, processorMs() - before);
  };
  const zoomIn = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1) await buyer.page.getByRole('button', { name: 'Zoom in' }).click();
    await buyer.page.waitForTimeout(1_500);
  };
  const wholeHall = (): Promise<void> =>
    buyer.page.getByRole('button', { name: /^(Show the whole hall|All blocks)$/ }).click();
  if (taken > 0) {
    const { sections } = (definition['localities'] as readonly Locality[])[0]!;
    const ids = sections.flatMap(({ rows }) => rows.flatMap((row) => row.seats.map(({ id }) => id)));
    const stop = new AbortController();
    const load = rush(ids, taken, stop.signal);
    const told = await traffic(buyer);
    for (const state of ['without a hold', 'with a hold']) {
      if (state === 'with a hold') {
        await buyer.press('Best seats for me');
        await buyer.press('Hold 2 tickets');
        await buyer.sees('Go to checkout');
        await wholeHall();
      }
      await buyer.page.waitForTimeout(1_500);
      await told();
      for (const movement of ['rest', 'zoom', 'pan']) {
        await run(`${state}: ${movement}`, movement);
        console.log(await told());
      }
    }
    stop.abort();
    await load;
  } else {
    await run('whole hall: zoom in and out', 'zoom');
    await wholeHall();
    for (const level of [2, 4, 6, 8]) {
      await zoomIn(2);
      await run(`${level} steps in: pan`, 'pan');
      await run(`${level} steps in: zoom`, 'zoom');
    }
  }
  await buyer.close();
} finally {
  await browser.close();
  await service.close();
}
