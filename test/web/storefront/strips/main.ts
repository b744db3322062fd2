/**
 * `npm run strips`: pictures of purchases, to be looked at: each state on a phone and on a desktop, and a page with all
 * of them.
 *
 *   npm run strips -- --folder FOLDER [--language de] [--dark] [--only seats,declined]
 *
 * The folder is made where there is none; pictures in it are replaced. Exit code 0 good, 2 wrong use; a purchase that
 * does not come to its end fails with what it waited for.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isLanguage, LANGUAGES } from '#texts/locale/language.ts';
import { commandOptions, wrongUse } from '../../../command-options.ts';
import { PHONE, withoutBrowser } from '../../../fixtures/browser.ts';
import { openShop } from '../shop.ts';
import { contactSheet, type Strip } from './contact-sheet.ts';
import { purchases } from './purchases.ts';

const USE = 'npm run strips -- --folder FOLDER [--language LANGUAGE] [--dark] [--only PURCHASE,PURCHASE]';

const DEVICES = {
  phone: { ...PHONE, deviceScaleFactor: 2 },
  desktop: { viewport: { width: 1440, height: 900 } },
} as const;

const { folder, language, dark, only } = commandOptions(
  {
    folder: { type: 'string' },
    language: { type: 'string', default: 'en' },
    dark: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(purchases).join() },
  },
  USE,
);
if (withoutBrowser !== false) wrongUse(withoutBrowser, USE);
if (folder === undefined) wrongUse('--folder is missing', USE);
if (!isLanguage(language)) wrongUse(`--language is one of ${Object.keys(LANGUAGES).join(', ')}`, USE);
const names = only.split(',');
const unknown = names.find((name) => !Object.hasOwn(purchases, name));
if (unknown !== undefined) wrongUse(`${unknown} is none of ${Object.keys(purchases).join(', ')}`, USE);

mkdirSync(folder, { recursive: true });
const shop = await openShop();
const strips: Strip[] = [];
try {
  for (const purchase of names) {
    for (const [device, options] of Object.entries(DEVICES)) {
      const strip: Strip = { purchase, device, pictures: [] };
      strips.push(strip);
      await purchases[purchase]!({
        shop,
        language,
        options: { ...options, colorScheme: dark ? 'dark' : 'light' },
        name: device,
        async at({ page }, state) {
          const number = String(strip.pictures.length + 1).padStart(2, '0');
          const file = `${purchase}-${device}-${number}-${state.replaceAll(' ', '-')}.png`;
          await page.screenshot({ path: path.join(folder, file) });
          strip.pictures.push({ file, state });
        },
      });
      console.log(`${purchase}, ${device}: ${strip.pictures.length} pictures`);
    }
  }
} finally {
  await shop.close();
}
const sheet = path.join(folder, 'index.html');
writeFileSync(sheet, contactSheet(strips, language));
console.log(sheet);
