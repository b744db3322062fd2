/** The doors of a date in the console, in a real browser: counts, stations, conflicts, and a ticket by hand. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { buyTickets, codesOf, doorsGala, makeStation, scanAll, scanOf } from '../../fixtures/doors.ts';
import { withoutBrowser } from '../../fixtures/browser.ts';
import type { OrderStatus } from '../../fixtures/checkout.ts';
import { operatorOf } from './operator.ts';

const PAGE = '/#/events/evt_doors/doors/eve';
const POLL_MS = 2_000;

describe('The console’s page of the doors', { skip: withoutBrowser }, () => {
  let order: OrderStatus;
  const opened = operatorOf(async (service) => {
    await service.define(doorsGala());
    order = await buyTickets(service, 'single', 2);
    const station = await makeStation(service, { name: 'North 1' });
    const [code = ''] = codesOf(order);
    await scanAll(service, station, scanOf(service, code), scanOf(service, code, { given: 'ADMIT' }));
  });

  const tile = async (name: string): Promise<string> =>
    opened.operator.page.locator('.tiles div', { hasText: name }).locator('dd').innerText();

  it('is reached from the date, and counts who came and what does not agree', async () => {
    const { page } = opened.operator;
    await page.goto('/#/events/evt_doors');
    await page.getByRole('link', { name: 'Doors' }).first().click();
    await page.getByRole('heading', { name: 'Doors: Eve' }).waitFor();
    assert.ok(page.url().endsWith(PAGE));
    assert.deepEqual(await Promise.all(['Expected', 'Came', 'Inside', 'Conflicts'].map(tile)), ['2', '1', '2', '1']);
    assert.match(await page.locator('[data-door="main"]').innerText(), /Main door\s+2\s+0/);
    await page.getByRole('img', { name: 'Entries in each of the last 60 minutes' }).waitFor();
    const conflict = page.locator('[data-conflict="DOUBLE_ENTRY"]');
    assert.match(await conflict.innerText(), /double entry[^]*Main door, North 1/);
    await conflict.getByRole('link').click();
    await page.waitForURL((url) => url.hash.includes(order.order_id));
    await page.goBack();
  });

  it('lets a ticket in by its code, refuses it again, and undoes it', async () => {
    const { page } = opened.operator;
    const [, code = ''] = codesOf(order);
    await page.getByLabel('Number or code of a ticket').fill(code);
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.getByText('It was not scanned yet.').waitFor();
    assert.ok(page.url().endsWith(`${PAGE}?ticket=${order.tickets[1]}`));
    await page.getByLabel('Note').fill('Forgot his phone.');
    await page.getByRole('button', { name: 'Let in' }).click();
    await page.getByText('Let in.').waitFor();
    await page.getByText('Forgot his phone.').waitFor();
    await page.getByRole('button', { name: 'Let in' }).click();
    await page.getByText('Refused: it is inside already.').waitFor();
    const came = (count: number) => page.locator('.tiles div', { hasText: new RegExp(`^Came\\s*${count}$`) }).waitFor();
    await came(2);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    await came(1);
    await page.getByLabel('Number or code of a ticket').fill('no ticket');
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.getByText('There is nothing at this address.').waitFor();
  });

  it('is where the tickets of an order lead', async () => {
    const { page } = opened.operator;
    await page.goto(`/#/orders/${order.order_id}`);
    await page.getByRole('link', { name: order.ticket_objects[0]!.number }).click();
    await page.getByRole('list', { name: 'Scans' }).waitFor();
    await page.locator('[data-scan]').nth(1).waitFor();
    assert.equal(await page.locator('[data-scan]').count(), 2);
  });

  it('pairs a device with a code that is shown once, and revokes it', async () => {
    const { page, later } = opened.operator;
    await page.goto(PAGE);
    await page.getByRole('button', { name: 'Pair a device…' }).click();
    await page.getByLabel('Name').fill('South 2');
    await page.getByRole('dialog').getByLabel('Door').selectOption('stand');
    await page.getByLabel('For Eve alone').check();
    await page.getByRole('button', { name: 'Make its code' }).click();
    await page.getByRole('img', { name: 'Pairs South 2' }).waitFor();
    const address = await page.locator('.pairing code').innerText();
    const token = address.replace(/^.*\/door#/, '');
    assert.match(token, /^gtk_/);
    const [, code = ''] = codesOf(order);
    const scan = scanOf(opened.service, code, { kind: 'EXIT', door_id: 'stand' });
    assert.equal((await scanAll(opened.service, { token }, scan))[0]!.verdict, 'NOT_INSIDE');
    await page.getByRole('button', { name: 'Done' }).click();
    const row = page.locator('tr[data-station]', { hasText: 'South 2' });
    await later(POLL_MS);
    await row.getByText('LIVE').waitFor();
    await row.getByRole('button', { name: 'Revoke…' }).click();
    await page.getByRole('button', { name: 'Revoke it' }).click();
    await later(POLL_MS);
    await row.getByText('REVOKED').waitFor();
    assert.equal(await page.getByText(token).count(), 0);
  });

  it('gives the list of who may come as a file', async () => {
    const { page } = opened.operator;
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'List of who may come' }).click();
    const download = await downloading;
    assert.match(download.suggestedFilename(), /\.csv$/);
    assert.match(readFileSync(await download.path(), 'utf8'), /^"ticket_id","number","status"[^]*"VALID"/);
  });

  it('gives a gate its token to copy', async () => {
    const { page } = opened.operator;
    await page.getByRole('button', { name: 'Pair a device…' }).click();
    await page.getByLabel('Name').fill('Hall');
    await page.getByLabel('Kind').selectOption('GATE');
    await page.getByRole('button', { name: 'Make its code' }).click();
    await page.getByText('--token-file').waitFor();
    assert.match(await page.locator('.pairing code').innerText(), /^gtk_/);
    assert.equal(await page.locator('.pairing svg').count(), 0);
    await page.getByRole('button', { name: 'Done' }).click();
  });

  it('pairs a device at a gate too whose address in the hall is known', async () => {
    const { page, later } = opened.operator;
    await page.getByRole('button', { name: 'Pair a device…' }).click();
    await page.getByLabel('Name').fill('Arena');
    await page.getByLabel('Kind').selectOption('GATE');
    await page.getByLabel('Its address in the hall').fill('https://gate.hall.example/');
    await page.getByRole('button', { name: 'Make its code' }).click();
    await page.getByText('--token-file').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await later(POLL_MS);
    await page.locator('tr[data-station]', { hasText: 'Arena' }).waitFor();
    await page.getByRole('button', { name: 'Pair a device…' }).click();
    await page.getByLabel('Name').fill('South 3');
    await page.getByRole('button', { name: 'Make its code' }).click();
    await page.getByRole('img', { name: 'Pairs South 3 at the gate Arena' }).waitFor();
    await page.getByRole('img', { name: 'Pairs South 3 at the service' }).waitFor();
    const [atService = '', atGate = ''] = await page.locator('.pairing code').allInnerTexts();
    const [, token] = atService.split('/door#');
    assert.match(token!, /^gtk_/);
    assert.equal(atGate, `https://gate.hall.example/door#${token}`);
    await page.getByRole('button', { name: 'Done' }).click();
  });
});
