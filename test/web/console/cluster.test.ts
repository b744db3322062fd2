/** The console of a node in a real browser: live nodes, owners of shards, takeovers, and what is missing. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { pagesOf } from '#http/pages/bundle.ts';
import { isOpenToAll } from '../../fixtures/axe.ts';
import { launchBrowser, newVisitor, PHONE, withoutBrowser } from '../../fixtures/browser.ts';
import { ADMIN_TOKEN, clusterOfTwo, openApps, type Apps } from '../../http/apps.ts';

describe('The console of a node', { skip: withoutBrowser }, () => {
  let apps: Apps;
  let browser: Browser;
  let url: string;

  before(async () => {
    const console = pagesOf(new URL('../../../src/web/console/', import.meta.url));
    apps = await openApps({}, ['club-night'], { cluster: clusterOfTwo(), console });
    await apps.admin.listen({ host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${(apps.admin.server.address() as AddressInfo).port}`;
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await apps?.close();
  });

  it('shows live nodes, the owner of each shard, takeovers, and a shard without an owner until it has one', async () => {
    const operator = await newVisitor(browser, url, PHONE);
    const { page } = operator;
    await page.goto('/');
    await page.getByLabel('Token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Cluster' }).click();
    await page.getByRole('heading', { name: 'Cluster' }).waitFor();
    await page.getByText('1 of 4 shards have no owner').waitFor();
    await page.locator('[data-node="north"]', { hasText: /north\s*live250 %/ }).waitFor();
    await page.locator('[data-node="south"]', { hasText: /south\s*stopping125 %/ }).waitFor();
    assert.deepEqual(
      await page.locator('.shards li').evaluateAll((items) => items.map((item) => item.dataset['owner'])),
      ['north', 'south', 'north', ''],
    );
    await page.getByRole('cell', { name: '1,630 ms' }).waitFor();
    assert.equal(await operator.overflows(), false);
    await isOpenToAll(operator, 'cluster');

    const { now } = apps.deployment;
    const shards = now.cluster!.shards.map((shard) =>
      shard.owner === null ? { ...shard, owner: 'south', epoch: 5 } : shard,
    );
    apps.deployment.now = { ...now, cluster: { ...now.cluster!, isConnected: false, shards, takeovers: [] } };
    await page.locator('.shards li[data-owner=""]').waitFor({ state: 'detached' });
    await page.getByText('north has no connection to a NATS server').waitFor();
    await page.getByText('None since this node has started.').waitFor();
    await operator.close();
  });
});
