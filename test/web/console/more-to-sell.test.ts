/** More stock and dates by a form over the definition, in the console in a real browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutBrowser } from '../../fixtures/browser.ts';
import { clubNight } from '../../fixtures/events.ts';
import { operatorOf } from './operator.ts';

interface Defined {
  readonly version: number;
  readonly definition: {
    readonly performances: readonly { readonly id: string; readonly name: string; readonly starts_at: string }[];
    readonly localities: readonly { readonly capacity: number }[];
    readonly ticketTypes: readonly { readonly id: string; readonly quota: number | null }[];
  };
}

describe('More stock and dates in the console', { skip: withoutBrowser }, () => {
  const opened = operatorOf((service) => service.define(clubNight()));

  const read = async (): Promise<Defined> =>
    (await opened.service.operate<Defined>('GET', '/admin/events/evt_club')).body;
  const open = async () => {
    const { page } = opened.operator;
    await page.goto('/#/events/evt_club');
    await page.getByRole('button', { name: 'More stock and dates' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    return dialog;
  };

  it('shows what changes, is not answered by Enter, and loads it as a definition', async () => {
    const { page } = opened.operator;
    const dialog = await open();
    await dialog.getByText('Nothing yet.').waitFor();
    await dialog.getByLabel('Floor').fill('150');
    await dialog.getByLabel('Crew of four').fill('60');
    await dialog.getByLabel('Name of a new date').fill('Second night');
    await dialog.getByLabel('It begins').fill('2028-05-09T22:00');
    await dialog.getByText('Floor: 100 → 150 places on each date').waitFor();
    await dialog.getByText('Crew of four: 40 → 60 tickets on each date').waitFor();
    await dialog.getByText(/^New date: Second night, 9 May 2028, 22:00, id second-night/).waitFor();
    await dialog.getByLabel(/^Note/).fill('the second night');
    await page.keyboard.press('Enter');
    assert.ok(await dialog.isVisible(), 'Enter in a field does not answer the question');
    await dialog.getByRole('button', { name: 'Load this' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Second night' }).waitFor();
    const { definition, version } = await read();
    assert.equal(version, 2);
    assert.deepEqual(
      definition.performances.map(({ id }) => id),
      ['night', 'second-night'],
    );
    assert.equal(definition.localities[0]!.capacity, 150);
    assert.equal(definition.ticketTypes.find(({ id }) => id === 'crew')!.quota, 60);
  });

  it('loads nothing while nothing is changed, and overwrites no definition that came meanwhile', async () => {
    const dialog = await open();
    await dialog.getByRole('button', { name: 'Load this' }).click();
    await dialog.getByText('Nothing is changed yet.').waitFor();
    await dialog.getByLabel('Floor').fill('200');
    await opened.service.define(
      clubNight({ name: 'Club night, renamed', localities: [{ id: 'floor', capacity: 170 }] }),
    );
    await dialog.getByRole('button', { name: 'Load this' }).click();
    await dialog.getByText(/Somebody has changed the event meanwhile/).waitFor();
    assert.equal((await read()).definition.localities[0]!.capacity, 170);
  });
});
