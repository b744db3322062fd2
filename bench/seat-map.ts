/**
 * How many frames a second the shop's seat map draws while a hall of 100,000 seats is moved and zoomed in a real browser.
 *
 *     node --import tsx bench/seat-map.ts [seats]
 *
 * The page moves the plan itself, once a frame; chromium draws without a graphics card. On a machine with other work the frames say
 * little, so the processor time of a frame is measured too, over all of chromium's processes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { launchBrowser, newVisitor } from '../test/fixtures/browser.ts';
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

const seats = Number(process.argv[2] ?? 100_000);
const service = await openService({ clock: 'running' });
const browser = await launchBrowser();
try {
  await service.define(bowl(seats));
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
  await run('whole hall: zoom in and out', 'zoom');
  await buyer.page.getByRole('button', { name: 'Show the whole hall' }).click();
  for (const level of [2, 4, 6, 8]) {
    await zoomIn(2);
    await run(`${level} steps in: pan`, 'pan');
    await run(`${level} steps in: zoom`, 'zoom');
  }
  await buyer.close();
} finally {
  await browser.close();
  await service.close();
}
