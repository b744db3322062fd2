/** `<holdfast-seats>` on pages of another origin than the service: installed, plain and bundled, in a real browser. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { isOpenToAll } from '../fixtures/axe.ts';
import { launchBrowser, newVisitor, PHONE, withoutBrowser, type VisitorOptions } from '../fixtures/browser.ts';
import { serveHttp, type OtherServer } from '../fixtures/http-server.ts';
import { openService, type TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { codeIn, installPackages, type InstalledPackages } from './installed.ts';

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

/** Serves the files of a folder at an origin of its own. */
function serveFolder(folder: string): Promise<OtherServer> {
  return serveHttp(({ url = '/' }, response) => {
    try {
      const body = readFileSync(path.join(folder, new URL(url, 'http://shop').pathname));
      response.setHeader('content-type', TYPES[path.extname(url)] ?? 'text/html').end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
}

describe('<holdfast-seats>', { skip: withoutBrowser }, () => {
  let service: TestService;
  let installed: InstalledPackages;
  let shop: OtherServer;
  let browser: Browser;
  let plain: string;

  before(async () => {
    service = await openService({ demo: true, clock: 'running' });
    installed = await installPackages();
    shop = await serveFolder(installed.folder);
    browser = await launchBrowser();
    plain = codeIn('seats-element', 'html', service.publicUrl)[0]!;
    installed.write('plain.html', plain);
  });

  after(async () => {
    await browser.close();
    await shop.close();
    await service.close();
  });

  const enter = async (name: string, options: VisitorOptions = {}) => {
    const hosts = [shop.url, service.publicUrl].map((origin) => new URL(origin).host);
    const visitor = await newVisitor(browser, shop.url, { hosts, reuse: true, ...options });
    await visitor.open(`/${name}`);
    return visitor;
  };

  const seat = (page: Page, name: string | RegExp) => page.getByRole('checkbox', { name });

  /** A page with the element, and the events that it dispatches in `globalThis.told`. */
  const ownPage = (name: string, attributes: string, around = ''): string => {
    const address = `./node_modules/@holdfast/seats/seats.js`;
    installed.write(
      `${name}.html`,
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Seats</title><link rel="icon" href="data:,">
      <main><h1>Seats</h1>${around}<form><holdfast-seats src="${service.publicUrl}" ${attributes}>Please wait</holdfast-seats></form></main>
      <script type="module">
        globalThis.told = [];
        for (const name of ['ready', 'change', 'taken', 'limit', 'steering', 'error'])
          addEventListener('holdfast-' + name, ({ detail }) => told.push({ name, detail }));
        globalThis.seats = document.querySelector('holdfast-seats');
        await import('${address}');
      </script></html>`,
    );
    return `${name}.html`;
  };

  const told = <Detail>(page: Page, name: string): Promise<Detail[]> =>
    page.evaluate((wanted) => {
      const all = (globalThis as unknown as { told: { name: string; detail: unknown }[] }).told;
      return all.filter((each) => each.name === wanted).map(({ detail }) => detail);
    }, name) as Promise<Detail[]>;

  /** Chooses two seats side by side on a page, buys them, and pays. */
  async function buyTwo(name: string, row: string): Promise<void> {
    const visitor = await enter(name);
    const { page } = visitor;
    for (const number of [3, 4]) await seat(page, `Stalls · Row ${row}, seat ${number} ·`).click();
    await visitor.sees(`Stalls, row ${row}, seats 3 and 4: €`);
    await page.getByRole('button', { name: 'Buy' }).click();
    await page.waitForURL(/\/sandbox\//);
    await page.getByRole('button', { name: /^Pay/ }).click();
    await visitor.sees('Your tickets are below.');
    await visitor.close();
  }

  it('sells two seats from a page of forty lines of another origin', async () => {
    assert.ok(plain.trim().split('\n').length <= 40);
    await buyTwo('plain.html', 'H');
  });

  it('sells two seats from a bundled page of another origin', async () => {
    const script = /<script type="module">(?<code>[^]*)<\/script>/.exec(plain)!;
    const { outputFiles } = await build({
      stdin: { contents: script.groups!['code']!, resolveDir: installed.folder },
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
    });
    installed.write('bundle.js', outputFiles[0]!.text);
    const page = plain
      .replace(/ *<script type="importmap">[^]*?<\/script>/, '')
      .replace(script[0], '<script type="module" src="bundle.js"></script>');
    installed.write('bundled.html', page);
    await buyTwo('bundled.html', 'J');
  });

  it('is chosen from by keyboard and read out, and shuts nobody out', async () => {
    const visitor = await enter(ownPage('keyboard', 'event="the-glass-orchard" performance="premiere"'));
    const { page } = visitor;
    await seat(page, 'Stalls · Row K, seat 3 ·').waitFor();
    await page.getByRole('group', { name: /^Seats of/ }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const [change] = await told<{ selected: string[]; total: number; currency: string }>(page, 'change');
    assert.equal(change!.selected.length, 1);
    assert.ok(change!.total > 0 && change!.currency === 'EUR');
    assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 1);
    await isOpenToAll(visitor, 'a chosen seat');
    await visitor.close();
  });

  it('has the choice as properties, which the page may set, and as the value of a form', async () => {
    const attributes = 'event="the-glass-orchard" performance="premiere" name="seat" max="2"';
    const visitor = await enter(ownPage('properties', attributes));
    const { page } = visitor;
    // More than its limit are not chosen, and the plan is there all the same.
    await page.evaluate("seats.selected = ['stalls-L-5', 'stalls-L-6', 'stalls-L-7']");
    await seat(page, 'Stalls · Row L, seat 5 ·').waitFor();
    assert.deepEqual(await page.evaluate('seats.selected'), []);
    assert.deepEqual(await told(page, 'limit'), [{ max: 2 }]);
    await page.evaluate("seats.selected = ['stalls-L-5', 'stalls-L-6', 'no-such-seat']");
    await page.getByRole('checkbox', { name: 'Stalls · Row L, seat 5 ·', checked: true }).waitFor();
    assert.deepEqual(await page.evaluate('seats.names'), ['Stalls, row L, seats 5 and 6']);
    const sent = "[...new FormData(document.querySelector('form'))].map(([name, value]) => name + '=' + value)";
    assert.deepEqual(await page.evaluate(sent), ['seat=stalls-L-5', 'seat=stalls-L-6']);
    assert.deepEqual(await page.evaluate('seats.items.map(({ quantity, seat_ids }) => ({ quantity, seat_ids }))'), [
      { quantity: 2, seat_ids: ['stalls-L-5', 'stalls-L-6'] },
    ]);
    await seat(page, 'Stalls · Row L, seat 7 ·').click();
    assert.deepEqual(await told(page, 'limit'), [{ max: 2 }, { max: 2 }]);
    await page.evaluate("document.querySelector('form').reset()");
    assert.deepEqual(await page.evaluate('seats.selected'), []);
    await visitor.close();
  });

  /** Somebody else holds a seat. */
  async function takeSeat(id: string): Promise<void> {
    const item = { ticket_type_id: 'stalls', selling_stage_id: 'general', performance_id: 'premiere', quantity: 1 };
    const { status } = await service.call('POST', '/api/checkout/holds', {
      body: { event_id: 'evt_theatre', session_key: `takes-${id}`, items: [{ ...item, seat_ids: [id] }] },
    });
    assert.equal(status, 201);
  }

  it('loses chosen seats that somebody else takes, and keeps those of its hold', async () => {
    const visitor = await enter(ownPage('taken', 'event="the-glass-orchard" performance="premiere"'));
    const { page } = visitor;
    await page.evaluate("seats.selected = ['stalls-M-5']");
    await page.getByRole('checkbox', { name: 'Stalls · Row M, seat 5 ·', checked: true }).waitFor();
    await page.evaluate('seats.placeHold().then(() => null)');
    await seat(page, /^Stalls · Row M, seat 5 ·.*held for you/).waitFor();
    await seat(page, 'Stalls · Row M, seat 8 ·').click();
    await takeSeat('stalls-M-8');
    await until(async () => (await told(page, 'taken')).length > 0);
    assert.deepEqual(await told(page, 'taken'), [{ seatIds: ['stalls-M-8'] }]);
    assert.deepEqual(await page.evaluate('seats.selected'), ['stalls-M-5']);
    // A live stream that is behind: the hold is refused with the seat's id.
    await page.evaluate(`{
      const { client } = seats;
      let isFirst = true;
      seats.client = { ...client, watchDate: (watch) => client.watchDate({
        ...watch,
        onState: (state) => { if (isFirst) watch.onState(state); isFirst = false; },
      }) };
    }`);
    await seat(page, 'Stalls · Row M, seat 9 ·').click();
    await takeSeat('stalls-M-9');
    assert.equal(await page.evaluate('seats.placeHold().catch(({ code }) => code)'), 'SEAT_TAKEN');
    assert.deepEqual((await told(page, 'taken')).at(-1), { seatIds: ['stalls-M-9'] });
    assert.deepEqual(await page.evaluate('seats.selected'), ['stalls-M-5']);
    await visitor.close();
  });

  it('shows what the organizer says, follows its attributes, and says what cannot be shown', async () => {
    const visitor = await enter(ownPage('steering', 'event="the-glass-orchard" performance="premiere"'));
    const { page } = visitor;
    await seat(page, 'Stalls · Row K, seat 3 ·').waitFor();
    const steer = (body: object) => service.operate('PUT', '/admin/events/evt_theatre/steering', { body });
    await steer({ paused: true, message: 'Back in five minutes.' });
    await visitor.sees('Back in five minutes.');
    await steer({ paused: false, message: null });
    await page.getByText('Back in five minutes.').waitFor({ state: 'detached' });
    assert.deepEqual(await told(page, 'steering'), [{ paused: true, message: 'Back in five minutes.' }, null]);
    await page.evaluate("seats.setAttribute('lang', 'de')");
    await seat(page, 'Stalls · Reihe K, Platz 3 ·').waitFor();
    await page.evaluate("seats.setAttribute('event', 'no-such-event')");
    await visitor.sees('Please wait');
    await until(async () => (await told(page, 'error')).length > 0);
    await visitor.close();
  });

  it('fills the screen of a phone at a tap, and leaves it with Escape', async () => {
    const visitor = await enter(ownPage('phone', 'event="the-glass-orchard" performance="premiere"'), PHONE);
    const { page } = visitor;
    await page.getByRole('group', { name: /^Seats of/ }).tap();
    await page.getByRole('button', { name: 'Back to the page' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Fill the screen with the plan' }).waitFor();
    assert.equal(await visitor.overflows(), false);
    await visitor.close();
  });
});
