/** `npm run bench -- --against URL` measures a service that runs already, and leaves nothing on sale behind. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AGAINST, measureAgainst } from '../../bench/against.ts';
import { settingsOf, type Findings } from '../../bench/scenario.ts';
import { isClusterMode } from '../fixtures/cluster.ts';
import { ADMIN_TOKEN, openService } from '../fixtures/service.ts';

const SETTINGS = settingsOf(true, () => {});

describe('A bench against an address', { skip: isClusterMode }, () => {
  it('defines events of its own, measures as a client sees it, and hides the events again', async (t) => {
    const service = await openService({ clock: 'running' });
    t.after(() => service.close());
    const address = {
      url: new URL(service.publicUrl),
      adminUrl: new URL(service.adminUrl),
      token: ADMIN_TOKEN,
      mayBeRemote: false,
    };
    const chosen = AGAINST.filter(({ name }) => name === 'get-event' || name === 'purchases');
    const found = new Map<string, Findings>();
    await measureAgainst(address, chosen, SETTINGS, ({ name }, findings) => found.set(name, findings));
    for (const name of ['get-event', 'purchases']) {
      const figures = new Map(found.get(name)!.figures.map((each) => [each.name, each.value]));
      assert.ok(figures.get('answered')! > 0, name);
      assert.ok(figures.get('latency p99')! >= figures.get('latency p50')!, name);
    }
    assert.deepEqual((await service.get<{ events: object[] }>('/api/events/public')).body.events, []);
    const { body } = await service.admin.get<{ events: { performances: { sold: number }[] }[] }>('/admin/events');
    assert.equal(body.events.length, 2);
    assert.ok(
      body.events.some(({ performances }) => performances[0]!.sold > 0),
      'the purchases were real',
    );
  });

  it('is refused at an address that is not of this machine, before anything is sent', async () => {
    const elsewhere = new URL('http://192.0.2.1:8080');
    const address = { url: elsewhere, adminUrl: elsewhere, token: undefined, mayBeRemote: false };
    await assert.rejects(
      measureAgainst(address, AGAINST, SETTINGS, () => {}),
      /loaded only with --yes-load-this/,
    );
  });
});
