/** Codes before a camera: what the shipped decoder reads, and a page that scans by it. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { createTicketSigner } from '#tickets/signing.ts';
import { launchBrowser, withoutBrowser, type Visitor } from '../../fixtures/browser.ts';
import { buyTickets, codesOf, countsOf, doorsGala, makeStation } from '../../fixtures/doors.ts';
import { openServiceWith, type TestService } from '../../fixtures/service.ts';
import { HEIGHT, pictureOf, toFilm, toPixels, WIDTH, type PictureOptions } from './code-pictures.ts';
import { KEEPS_PAGE, newDevice, pairDevice } from './device.ts';

const PICTURES = 3;

describe('The decoder of the page of stations', () => {
  const signer = createTicketSigner([Buffer.alloc(32, 7).toString('base64url')]);
  const codes = Array.from({ length: PICTURES }, (_, number) =>
    signer.codeOf({
      ticketId: `tkt_1_${String(number).padStart(20, 'k')}`,
      eventId: 'evt_doors',
      performanceId: 'eve',
      seatId: `W-1-${number}`,
      ticketTypeId: 'seat',
    }),
  );
  before(() => {
    const program = fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm'));
    prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(readFileSync(program)).buffer } });
  });

  const shares: Readonly<Record<string, readonly [options: PictureOptions, least: number]>> = {
    'held well': [{}, 3],
    blurred: [{ blur: 4 }, 3],
    small: [{ edge: 180 }, 3],
    'small and blurred': [{ edge: 220, blur: 2 }, 2],
    tilted: [{ tilt: 27 }, 3],
    'from the side': [{ aside: 35 }, 2],
    'upside down': [{ tilt: 174 }, 3],
    'with glare': [{ glare: 0.35 }, 2],
  };
  for (const [name, [options, least]] of Object.entries(shares)) {
    it(`reads at least ${least} of ${PICTURES} codes that are ${name}`, async () => {
      let read = 0;
      for (const [index, code] of codes.entries()) {
        const data = toPixels(pictureOf(code, { ...options, seed: index + 1 }));
        const found = await readBarcodes(
          { data, width: WIDTH, height: HEIGHT, colorSpace: 'srgb' },
          { formats: ['QRCode'], maxNumberOfSymbols: 1, tryHarder: true },
        );
        for (const { text } of found) assert.equal(text, code, 'never another code');
        read += Number(found.length > 0);
      }
      assert.ok(read >= least, `${read} of ${PICTURES}`);
    });
  }
});

describe('A camera at a door', { skip: withoutBrowser }, () => {
  let service: TestService;
  let browser: Browser;
  const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-film-'));
  const film = path.join(folder, 'film.y4m');
  const show = (...pictures: readonly Uint8Array[]): void => writeFileSync(film, toFilm(pictures));
  /** Resolves once the page has the answers to so many scans. */
  const scanned = ({ page }: Visitor, count: number): Promise<unknown> => {
    let left = count;
    return page.waitForResponse((answer) => answer.url().endsWith('/api/doors/scans') && (left -= 1) === 0);
  };
  before(async () => {
    service = await openServiceWith([doorsGala()]);
    const camera = ['use-fake-ui-for-media-stream', 'use-fake-device-for-media-stream'];
    // It is opened anew by each page that starts the camera.
    browser = await launchBrowser([...camera, `use-file-for-fake-video-capture=${film}`]);
  });
  after(async () => {
    await browser?.close();
    await service?.close();
    rmSync(folder, { recursive: true });
  });

  it('scans each code that is held before it once, by the shipped decoder', async () => {
    const [first = '', second = ''] = codesOf(await buyTickets(service, 'seat', 2));
    const nothing = new Uint8Array(WIDTH * HEIGHT).fill(90);
    show(pictureOf(first, { tilt: 8 }), nothing, pictureOf(second, { blur: 2 }), nothing);
    const device = await newDevice(browser, service, { permissions: ['camera'], ...KEEPS_PAGE });
    const { page } = device;
    assert.equal(await page.evaluate("'BarcodeDetector' in globalThis"), false, 'this browser has none of its own');
    // One verdict may follow the other sooner than the page can be asked what it shows.
    const both = scanned(device, 2);
    await pairDevice(device, await makeStation(service));
    await both;
    await page.locator('html:not([data-verdict])').waitFor();
    const { entries, refused } = await countsOf(service);
    assert.deepEqual([entries, refused], [2, {}]);
    await device.close();
  });

  it('scans by the decoder of the browser, where it reads QR codes', async () => {
    const [code = ''] = codesOf(await buyTickets(service));
    const { entries } = await countsOf(service);
    show(new Uint8Array(WIDTH * HEIGHT).fill(90));
    const device = await newDevice(browser, service, { permissions: ['camera'] });
    await device.page.addInitScript(`globalThis.BarcodeDetector = class {
      static getSupportedFormats = async () => ['ean_13', 'qr_code'];
      detect = async (video) => (video.videoWidth > 0 ? [{ rawValue: ${JSON.stringify(code)} }] : []);
    };`);
    const requested: string[] = [];
    device.page.on('request', (request) => requested.push(request.url()));
    const one = scanned(device, 1);
    await pairDevice(device, await makeStation(service));
    await one;
    assert.equal((await countsOf(service)).entries, entries + 1);
    assert.ok(!requested.some((url) => url.includes('/decoder-') && !url.includes('service-worker')));
    await device.close();
  });

  it('without the decoder says so and leaves typed codes, and goes on once it can be loaded', async () => {
    const [typed = '', shown = ''] = codesOf(await buyTickets(service, 'single', 2));
    const { entries } = await countsOf(service);
    show(pictureOf(shown));
    const device = await newDevice(browser, service, { permissions: ['camera'] });
    let isMissing = true;
    await device.page.route('**/door/assets/decoder-*.js', (route) => (isMissing ? route.abort() : route.continue()));
    await pairDevice(device, await makeStation(service));
    await device.sees('could not be loaded.');
    assert.equal(await device.scan(typed), 'ADMIT');
    isMissing = false;
    await device.next();
    const one = scanned(device, 1);
    await device.press('Start camera');
    await one;
    assert.equal((await countsOf(service)).entries, entries + 2);
    assert.equal(await device.page.getByText('could not be loaded.').count(), 0);
    await device.close();
  });

  it('that is forbidden leaves typed codes', async () => {
    const device = await newDevice(await launchBrowser(), service);
    await pairDevice(device, await makeStation(service));
    await device.press('Start camera');
    await device.sees('The camera cannot be used.');
    const [code = ''] = codesOf(await buyTickets(service));
    assert.equal(await device.scan(code), 'ADMIT');
    await device.close();
  });
});
