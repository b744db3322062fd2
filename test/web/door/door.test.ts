/** The page of stations in a real browser: paired, scanning with and without a network, and never losing a scan. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { isOpenByDayAndNight } from '../../fixtures/axe.ts';
import { launchBrowser, withoutBrowser } from '../../fixtures/browser.ts';
import type { Json } from '../../fixtures/client.ts';
import { buyTickets, codesOf, countsOf, doorsGala, makeStation, scanAll, scanOf } from '../../fixtures/doors.ts';
import { openServiceWith, type TestService } from '../../fixtures/service.ts';
import { until } from '../../fixtures/until.ts';
import { MINUTE, SECOND } from '../../fixtures/test-service.ts';
import { KEEPS_PAGE, newDevice, pairDevice, placeDevice, type Device } from './device.ts';

describe('The page of stations', { skip: withoutBrowser }, () => {
  let service: TestService;
  let browser: Browser;
  let devices: Device[] = [];

  before(async () => {
    service = await openServiceWith([doorsGala(), doorsGala({ id: 'evt_other', slug: 'other' })]);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  const device = async (options: Parameters<typeof newDevice>[2] = {}): Promise<Device> => {
    const made = await newDevice(browser, service, options);
    devices.push(made);
    return made;
  };
  const paired = async (station: object = {}, options: Parameters<typeof newDevice>[2] = {}, eventId = 'evt_doors') => {
    const made = await device(options);
    const keys = await makeStation(service, station, eventId);
    await pairDevice(made, keys);
    return Object.assign(made, { keys });
  };
  /** Closes what a test opened; throws what went wrong in a page. */
  const close = async (): Promise<void> => {
    const opened = devices;
    devices = [];
    for (const each of opened) await each.close();
  };
  const test = (name: string, run: () => Promise<void>): void => {
    it(name, async () => {
      try {
        await run();
      } finally {
        await close();
      }
    });
  };
  const buy = async (...given: Parameters<typeof buyTickets> extends [unknown, ...infer Rest] ? Rest : never) =>
    codesOf(await buyTickets(service, ...given));
  const conflicts = async (eventId = 'evt_doors') => {
    const { body } = await service.admin.get<{ readonly conflicts: readonly Json[] }>(
      `/admin/events/${eventId}/doors/conflicts?performance_id=eve`,
    );
    return body.conflicts;
  };
  const settled = async (one: Device): Promise<void> => {
    await one.round();
    await one.status('Waiting', 0);
    await one.is('ready');
  };

  test('is paired by its address, which keeps no token, and by a token that is typed; it is ready after its first sync', async () => {
    const one = await device();
    const { page } = one;
    const { token } = await makeStation(service, { performance_ids: ['eve'] });
    await one.open('/door');
    await one.is('unpaired');
    await page.getByLabel('Token').fill('gtk_1_nobody');
    await one.press('Pair');
    await one.sees('The service knows no such token.');
    await page.goto(`/door#${token}`);
    await one.is('ready');
    assert.equal(new URL(page.url()).hash, '');
    await page.goBack();
    assert.ok(!page.url().includes(token), page.url());
    await page.goForward();
    assert.ok(!page.url().includes(token), page.url());
    const optionsOf = (name: string) => page.locator(`select[name="${name}"]`).locator('option');
    await optionsOf('date').first().waitFor({ state: 'attached' });
    assert.deepEqual(await optionsOf('date').allInnerTexts(), ['Eve · Sat, 8 May 2027, 15:00']);
    assert.deepEqual(await optionsOf('door').allInnerTexts(), ['Main door', 'Stand door']);
    const other = await device();
    await other.open('/door');
    await other.is('unpaired');
    await other.page.route('**/api/doors/**', (route) => route.abort());
    await other.page.getByLabel('Token').fill(token);
    await other.press('Pair');
    await other.is('not-ready');
    await other.sees('Not ready to work offline yet');
    await other.page.unroute('**/api/doors/**');
    await other.round();
    await other.is('ready');
  });

  test('is installable, and of its own origin alone', async () => {
    const one = await device();
    const response = await one.page.goto('/door');
    const policy = response!.headers()['content-security-policy']!;
    assert.match(policy, /script-src 'self' 'wasm-unsafe-eval';/);
    assert.match(policy, /worker-src 'self'/);
    const shop = await fetch(new URL('/', service.publicUrl));
    assert.doesNotMatch(shop.headers.get('content-security-policy')!, /wasm/);
    const manifest = (await (await fetch(new URL('/door/manifest.webmanifest', service.publicUrl))).json()) as {
      readonly start_url: string;
      readonly icons: readonly { readonly src: string }[];
    };
    assert.equal(manifest.start_url, '/door');
    const icon = await fetch(new URL(manifest.icons[0]!.src, service.publicUrl));
    assert.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/svg+xml']);
    // iOS takes no SVG.
    const [, touchIcon = ''] = /rel="apple-touch-icon" href="([^"]+)"/.exec(await response!.text()) ?? [];
    const picture = await fetch(new URL(touchIcon, service.publicUrl));
    assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png']);
    assert.deepEqual([...Buffer.from(await picture.arrayBuffer()).subarray(1, 4)], [...Buffer.from('PNG')]);
    const worker = await fetch(new URL('/door/service-worker.js', service.publicUrl));
    assert.equal(worker.headers.get('service-worker-allowed'), '/door');
    for (const path of ['/door/none', '/door/assets/none.js']) {
      assert.equal((await fetch(new URL(path, service.publicUrl))).status, 404);
    }
  });

  test('admits, and shows each refusal until it is touched', async () => {
    const one = await paired({ name: 'North' });
    const { page } = one;
    const [code = '', other = ''] = await buy('seat', 2);
    const [late = '', later = ''] = await buy('single', 2, { performance: 'late' });
    const [ofOther = ''] = await buy('single', 1, { eventId: 'evt_other' });
    const order = await buyTickets(service);
    await service.admin.post(`/admin/orders/${order.order_id}/cancel`);
    const [payload = ''] = code.split('.');
    const typed = async (): Promise<void> => {
      await page.keyboard.type('BEGIN:VCARD');
      await page.keyboard.press('Enter');
    };
    assert.equal(await one.verdict(typed), 'UNKNOWN');
    await one.says(/No ticket/);
    await page.getByRole('alertdialog').click();
    await one.next();
    assert.equal(await one.scan(code), 'ADMIT');
    await one.says(/Online[^]*Admit[^]*Seat — West · 1/);
    await one.later(1_500);
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await one.next();
    await one.status('Inside', 1);
    for (const [text, verdict, words] of [
      [codesOf(order)[0]!, 'VOID', /Void/],
      [late, 'WRONG_PERFORMANCE', /Wrong date[^]*Ticket for Late Sun, 9 May 2027/],
      [ofOther, 'WRONG_EVENT', /Wrong event/],
      [`${payload}.${'A'.repeat(86)}`, 'FORGED', /Forged/],
    ] as const) {
      assert.equal(await one.scan(text), verdict);
      await one.says(words);
      await one.next();
    }
    await page.getByRole('button', { name: 'Change' }).click();
    await placeDevice(one, 'Main door', /Late/);
    // Another one: a code is scanned once within five seconds, wherever the station stands.
    assert.equal(await one.scan(later), 'NOT_YET');
    await one.says(/Doors open Sun, 9 May 2027, 21:00/);
    await one.later(5 * SECOND);
    assert.equal(await one.scan(other), 'NOT_YET', 'a refusal stays');
    await one.later(SECOND);
    await one.says(/Not yet/);
    await page.keyboard.press('Escape');
    await one.next();
    await page.getByRole('button', { name: 'Change' }).click();
    await placeDevice(one, 'Stand door');
    const [single = ''] = await buy();
    assert.equal(await one.scan(single), 'WRONG_DOOR');
    await one.says(/Go to: Main door/);
    await one.next();
    assert.equal(await one.scan(code), 'ALREADY_ADMITTED');
    await one.says(/Since 14:00, Main door, North/);
    await one.next();
    await page.getByText('Exit', { exact: true }).click();
    assert.equal(await one.scan(other), 'NOT_INSIDE');
    await one.next();
    assert.equal(await one.scan(code), 'EXIT');
    await one.next();
    assert.equal(await one.verdict(() => one.press('Take back')), 'UNDONE');
  });

  test('sends a code once within five seconds, and takes typed ones', async () => {
    const one = await paired();
    const { page } = one;
    const [code = ''] = await buy();
    const before = await countsOf(service);
    await page.getByLabel('Code').fill(code);
    assert.equal(await one.verdict(() => one.press('Check')), 'ADMIT');
    await one.next();
    await page.getByLabel('Code').fill(code);
    await one.press('Check');
    await one.sees('This code was read a moment ago.');
    await one.later(5 * SECOND);
    assert.equal(await one.scan(code), 'ALREADY_ADMITTED');
    const { entries, refused } = await countsOf(service);
    assert.deepEqual(
      [entries - before.entries, (refused['ALREADY_ADMITTED'] ?? 0) - (before.refused['ALREADY_ADMITTED'] ?? 0)],
      [1, 1],
    );
  });

  test('admits at two doors without a network; the service counts each once, both stations and the console name the conflict', async () => {
    const [north, south] = [await paired({ name: 'North' }, KEEPS_PAGE), await paired({ name: 'South' }, KEEPS_PAGE)];
    const [twice = '', once = '', online = ''] = await buy('single', 3);
    const before = await countsOf(service);
    assert.equal(await north.scan(online), 'ADMIT');
    await north.next();
    // North's entry is the earlier one, and comes to the service before South's.
    await north.cut(true);
    assert.equal(await north.scan(twice), 'ADMIT');
    await north.says(/Offline[^]*Decided by this station/);
    await north.next();
    await north.is('offline');
    service.wait(MINUTE);
    await south.page.reload();
    await south.is('ready');
    await south.cut(true);
    assert.equal(await south.scan(twice), 'ADMIT');
    await south.next();
    assert.equal(await north.scan(once), 'ADMIT');
    await north.next();
    assert.equal(await north.scan(online), 'ALREADY_ADMITTED');
    await north.next();
    await north.status('Waiting', 3);
    await north.status('Inside', before.inside + 3);
    await north.page.reload();
    await north.is('offline');
    await north.status('Waiting', 3);
    assert.match(await north.stored(), new RegExp(once.slice(0, 40)));
    await north.cut(false);
    await settled(north);
    await south.cut(false);
    await settled(south);
    const after = await countsOf(service);
    const grown = (name: 'entries' | 'admitted' | 'inside' | 'conflicts') => after[name] - before[name];
    assert.deepEqual([grown('entries'), grown('admitted'), grown('inside'), grown('conflicts')], [4, 3, 4, 1]);
    const [conflict] = await conflicts();
    const stationOf = (name: string) => (conflict![name] as Json)['station_name'];
    assert.equal(conflict!['kind'], 'DOUBLE_ENTRY');
    assert.deepEqual([stationOf('first'), stationOf('second')].toSorted(), ['North', 'South']);
    assert.equal((conflict!['second'] as Json)['offline'], true);
    const notice = (of: Device) => of.page.getByRole('status').filter({ hasText: '1 ticket was let in twice' });
    for (const [one, said] of [
      [south, /14:01 Single · Also let in 14:00, Main door, North/],
      [north, /14:00 Single · Also let in 14:01, Main door, South/],
    ] as const) {
      await one.round();
      await notice(one).filter({ hasText: said }).waitFor();
    }
    await north.page.reload();
    await settled(north);
    assert.deepEqual(await countsOf(service), after, 'nothing is counted twice');
    await notice(north).waitFor();
    for (const one of [south, north]) {
      await one.press('Seen');
      await notice(one).waitFor({ state: 'detached' });
    }
  });

  test('decides alone after a second without an answer, and at 429 and 5xx, and says what it cannot tell', async () => {
    const one = await paired();
    const { page } = one;
    for (const answer of [429, 503, null]) {
      const [code = ''] = await buy();
      await page.route('**/api/doors/**', (route) => (answer === null ? undefined : route.fulfill({ status: answer })));
      const scanned = async (): Promise<void> => {
        const asked = page.waitForRequest('**/api/doors/scans');
        await one.type(code);
        await asked;
        if (answer !== null) return;
        await one.later(SECOND - 1);
        assert.equal(await page.getByRole('alertdialog').count(), 0);
        await one.later(1);
      };
      assert.equal(await one.verdict(scanned), 'ADMIT');
      await one.next();
      await one.is('offline');
      await page.unroute('**/api/doors/**');
      // After which a round waits no more for what is not answered.
      await one.later(20 * SECOND);
      await settled(one);
    }
    const [code = ''] = await buy();
    const [payload = '', signature = ''] = code.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const foreign = Buffer.from(JSON.stringify({ ...claims, kid: 'another' })).toString('base64url');
    const before = await countsOf(service);
    await one.cut(true);
    assert.equal(await one.scan(`${foreign}.${signature}`), 'CANNOT_TELL');
    await one.says(/Cannot tell/);
    await one.next();
    await one.cut(false);
    await settled(one);
    const after = await countsOf(service);
    assert.deepEqual(
      [after.entries, after.refused['CANNOT_TELL']],
      [before.entries, (before.refused['CANNOT_TELL'] ?? 0) + 1],
    );
  });

  test('scans no more once it is revoked, and sends what it has when it is paired anew', async () => {
    const one = await paired();
    const [code = ''] = await buy();
    const before = await countsOf(service);
    await one.cut(true);
    assert.equal(await one.scan(code), 'ADMIT');
    await one.next();
    await service.admin.post(`/admin/events/evt_doors/stations/${one.keys.id}/revoke`);
    await one.cut(false);
    await one.is('revoked');
    await one.sees(/1 scan waits\. Nothing is lost/);
    assert.equal(await one.page.locator('.scanning').count(), 0);
    assert.equal((await countsOf(service)).entries, before.entries);
    const { token } = await makeStation(service);
    await one.page.getByLabel('Token').fill(token);
    await one.press('Pair anew');
    await settled(one);
    assert.equal((await countsOf(service)).entries, before.entries + 1);
  });

  test('is unpaired, or paired anew, while scans wait only where its user says so', async () => {
    const one = await paired();
    const { page } = one;
    const [code = ''] = await buy();
    await one.cut(true);
    await one.scan(code);
    await one.next();
    const { token } = await makeStation(service);
    await page.evaluate(`location.hash = '${token}'`);
    await one.sees(/1 scan waits\. They are sent with the new pairing/);
    assert.ok(!page.url().includes(token));
    await one.press('Leave as it is');
    await page.getByText('More', { exact: true }).click();
    await one.press('Unpair');
    await one.sees(/Unpair all the same\?/);
    await page.locator('footer .primary').click();
    await one.is('unpaired');
    assert.match(await one.stored(), new RegExp(code.slice(0, 40)), 'the queue is kept');
    await one.cut(false);
    await page.getByLabel('Token').fill(token);
    await one.press('Pair');
    await settled(one);
  });

  test('lists what the service refuses, and saves it as a file', async () => {
    const one = await paired();
    const { page } = one;
    const codes = await buy('single', 2);
    const before = await countsOf(service);
    await one.cut(true);
    for (const code of codes) {
      await one.scan(code);
      await one.next();
    }
    await page.route('**/api/doors/scans', async (route) => {
      const { scans } = route.request().postDataJSON() as { readonly scans: readonly { readonly code: string }[] };
      const isRefused = scans.some(({ code }) => code === codes[0]);
      if (!isRefused) return route.continue();
      const body = { statusCode: 403, code: 'STATION_NOT_ALLOWED', message: '', detail: {}, timestamp: '' };
      return route.fulfill({ status: 403, json: body });
    });
    await one.cut(false);
    await one.sees('1 refused scan');
    await settled(one);
    assert.equal((await countsOf(service)).entries, before.entries + 1);
    await page.unroute('**/api/doors/scans');
    await page.reload();
    await one.sees('1 refused scan');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save as a file' }).click(),
    ]);
    const { scans } = JSON.parse(readFileSync(await download.path(), 'utf8')) as { readonly scans: readonly Json[] };
    assert.deepEqual(
      scans.map(({ code, given }) => [code, given]),
      [[codes[0], 'ADMIT']],
    );
  });

  test('keeps nothing about people: in no database, no cache, no answer', async () => {
    const one = await paired({}, KEEPS_PAGE);
    const { page } = one;
    const answers: Promise<string>[] = [];
    page.on('response', (response) => {
      // A body that the page no longer waits for cannot be read.
      if (response.url().includes('/api/doors/')) answers.push(response.text().catch(() => ''));
    });
    const order = await buyTickets(service, 'seat', 2);
    const [first = '', second = ''] = codesOf(order);
    assert.equal(await one.scan(first), 'ADMIT');
    await one.next();
    await one.cut(true);
    assert.equal(await one.scan(second), 'ADMIT');
    await one.next();
    const waiting = await one.stored();
    await one.cut(false);
    await settled(one);
    const synced = await one.stored();
    const { customer } = (
      await service.admin.get<{ readonly customer: { readonly name: string; readonly email: string } }>(
        `/admin/orders/${order.order_id}`,
      )
    ).body;
    assert.ok(customer.name.length > 3 && customer.email.includes('@'));
    const told = (await Promise.all(answers)).filter((text) => text !== '');
    for (const text of [waiting, synced, ...told]) {
      for (const secret of [customer.name, customer.email, order.order_id]) assert.ok(!text.includes(secret), secret);
    }
    assert.ok(waiting.includes(second) && !synced.includes(second), 'a code leaves with its scan');
    assert.ok(!synced.includes(first));
    assert.ok(told.length > 0);
  });

  test('is one station in one window at a time', async () => {
    const one = await paired();
    const other = await one.tab('/door');
    await other.sees('This station is open in another window.');
    await one.page.close();
    await other.page.locator('html[data-state="ready"]').waitFor();
  });

  test('shuts nobody out, by day and by night, at 320 pixels, in German too', async () => {
    for (const [locale, words] of [
      ['en-GB', ['Begin to scan', 'Admit', 'Pair', '1 ticket was let in twice']],
      ['de-AT', ['Scannen', 'Einlassen', 'Koppeln', '1 Ticket wurde zweimal eingelassen']],
    ] as const) {
      const one = await device({ locale, viewport: { width: 320, height: 640 } });
      const { page } = one;
      const check = async (state: string): Promise<void> => {
        assert.equal(await one.overflows(), false, `${state} ${locale}`);
        // In another language the words alone are others.
        if (locale !== 'en-GB') return;
        let isChecked = false;
        const checked = isOpenByDayAndNight(one, state).finally(() => (isChecked = true));
        // Axe waits for timers of the page, whose clock is stopped while a verdict is shown.
        const ticking = async (): Promise<void> => {
          while (!isChecked) await one.later(1);
        };
        await Promise.all([checked, ticking()]);
      };
      await one.open('/door');
      await one.is('unpaired');
      await one.sees(words[2]);
      await check('unpaired');
      const { token } = await makeStation(service);
      await page.goto(`/door#${token}`);
      await one.is('ready');
      await one.sees(words[0]);
      await check('choice');
      await placeDevice(one);
      await check('scanning');
      assert.equal(await one.scan((await buy())[0]!), 'ADMIT');
      await one.sees(words[1]);
      await check('ADMIT');
      await one.next();
      assert.equal(await one.scan('nothing'), 'UNKNOWN');
      await check('UNKNOWN');
      await one.next();
      await one.cut(true);
      const [code = ''] = await buy('seat');
      await scanAll(service, await makeStation(service), scanOf(service, code));
      assert.equal(await one.scan(code), 'ADMIT');
      await one.next();
      await one.cut(false);
      await one.sees(words[3]);
      await check('let in twice');
      await page.locator('summary').click();
      await page.locator('details button').click();
      await check('unpairing');
    }
  });

  test('says where camera and work without a network do not exist, and scans all the same', async () => {
    const { port } = new URL(service.publicUrl);
    const one = await paired({}, { origin: `http://hall.test:${port}` });
    await one.sees('Camera and offline work need https.');
    assert.equal(await one.page.getByRole('button', { name: 'Start camera' }).count(), 0);
    const [code = ''] = await buy();
    assert.equal(await one.scan(code), 'ADMIT');
  });

  test('stays in the version that it runs while scans wait, and takes the newer one after that', async () => {
    const one = await paired({}, KEEPS_PAGE);
    const { page } = one;
    const [code = ''] = await buy();
    const isControlled = () => page.evaluate<boolean>('navigator.serviceWorker.controller !== null');
    await until(isControlled, 'the service worker serves the page');
    const versionOf = () => page.locator('meta[name="version"]').getAttribute('content');
    const version = await versionOf();
    await one.cut(true);
    await one.scan(code);
    await one.next();
    await page.evaluate(`navigator.serviceWorker.dispatchEvent(new MessageEvent('message', {
      data: 'a newer version', source: navigator.serviceWorker.controller,
    }))`);
    await one.sees(/It waits until 1 scan is sent/);
    assert.equal(await versionOf(), version);
    const reloaded = page.waitForEvent('load');
    await one.cut(false);
    await reloaded;
    await settled(one);
  });
});
