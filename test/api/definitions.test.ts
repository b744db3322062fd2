/** Definitions: what they set and refuse, a slug that belongs to one event, and a date that they cancel. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../fixtures/client.ts';
import { start } from '../fixtures/checkout.ts';
import { gala, item, sample } from '../fixtures/events.ts';
import { serviceWith } from '../fixtures/service.ts';

const service = serviceWith([]);

describe('The days that personal data is kept', () => {
  it('are set with the event, shown to operators alone, and null where nobody sets them', async () => {
    const put = (more: object) =>
      service.operate('PUT', '/admin/events/evt_kept', {
        body: sample('club-night', { id: 'evt_kept', slug: 'kept', ...more }),
      });
    const shown = async () =>
      (await service.operate<{ readonly definition: Json }>('GET', '/admin/events/evt_kept')).body.definition[
        'retention_days'
      ];
    assert.equal((await put({})).status, 201);
    assert.equal(await shown(), null);
    assert.equal((await put({ retention_days: 90 })).status, 200);
    assert.equal(await shown(), 90);
    assert.ok(!('retention_days' in (await service.call<Json>('GET', '/api/events/public/kept')).body));
    assert.equal((await put({ retention_days: '90' })).status, 400);
  });

  it('come with a warning where a performance has no time, because such an event is never over', async () => {
    const put = async (performances: readonly object[]) => {
      const body = sample('club-night', { id: 'evt_dated', slug: 'dated', retention_days: 90, performances });
      return (await service.operate<Json>('PUT', '/admin/events/evt_dated', { body })).body['warnings'];
    };
    const dated = { id: 'night', name: 'Night', starts_at: '2028-05-08T20:00:00Z' };
    const isAboutRetention = (warning: string) => warning.startsWith('/retention_days: ');
    assert.equal(await put([dated]), undefined);
    assert.ok(((await put([dated, { id: 'any', name: 'Any day' }])) as string[]).some(isAboutRetention));
  });
});

it('A definition with a field that it does not have is refused, and the event stays as it was', async () => {
  const put = (changes: object) =>
    service.operate<Json>('PUT', '/admin/events/evt_club', { body: { ...sample('club-night'), ...changes } });
  assert.equal((await put({ max_tickets_per_order: 4, x_note: 'asked by Ada' })).status, 201);
  const { status, body } = await put({ max_ticket_per_order: 4 });
  assert.deepEqual(
    [status, (body['detail'] as Json)['errors']],
    [400, [{ path: '/max_ticket_per_order', message: 'unknown field; did you mean max_tickets_per_order?' }]],
  );
  const kept = await service.operate<Json>('GET', '/admin/events/evt_club');
  assert.equal((kept.body['definition'] as Json)['max_tickets_per_order'], 4);
});

describe('A slug belongs to one event', () => {
  const put = (id: string, slug: string) =>
    service.operate('PUT', `/admin/events/${id}`, { body: sample('club-night', { id, slug }) });
  const idBehind = async (slug: string) => (await service.call<Json>('GET', `/api/events/public/${slug}`)).body['id'];

  /**
   * One of the answers is good, the other an UPDATE_CONFLICT that names the slug; returns the index of the good one.
   */
  const oneWins = (
    answers: readonly { readonly status: number; readonly body: Json }[],
    goodStatus: number,
  ): number => {
    const place = answers.findIndex(({ status }) => status === goodStatus);
    const other = answers[1 - place];
    assert.deepEqual([answers[place]?.status, other?.status], [goodStatus, 409], JSON.stringify(answers));
    assert.equal(other!.body['code'], 'UPDATE_CONFLICT');
    const detail = other!.body['detail'] as { readonly conflicts: readonly { readonly path: string }[] };
    assert.deepEqual(
      detail.conflicts.map(({ path }) => path),
      ['/slug'],
    );
    return place;
  };

  it('when two new events use it at once', async () => {
    const ids = ['evt_first', 'evt_second'];
    const place = oneWins(await Promise.all(ids.map((id) => put(id, 'wanted'))), 201);
    assert.equal(await idBehind('wanted'), ids[place]);
    assert.equal((await service.operate('GET', `/admin/events/${ids[1 - place]}`)).status, 404);
  });

  it('when two events change to it at once, and the one that lost keeps its own', async () => {
    const ids = ['evt_left', 'evt_right'];
    for (const id of ids) assert.equal((await put(id, id.replace('_', '-'))).status, 201);
    const place = oneWins(await Promise.all(ids.map((id) => put(id, 'contested'))), 200);
    assert.equal(await idBehind('contested'), ids[place]);
    assert.equal(await idBehind(ids[1 - place]!.replace('_', '-')), ids[1 - place]);
    await service.restart();
    assert.equal(await idBehind('contested'), ids[place]);
    assert.equal(await idBehind(ids[1 - place]!.replace('_', '-')), ids[1 - place]);
  });

  it('when an event changes to it and a new one uses it', async () => {
    assert.equal((await put('evt_settled', 'settled')).status, 201);
    // Which of the two is first is open: in a cluster they may go through different nodes.
    const [change, creation] = await Promise.all([put('evt_settled', 'moved-to'), put('evt_comer', 'moved-to')]);
    const answers = [change.status, creation.status];
    const isMoved = change.status === 200;
    assert.deepEqual(answers, isMoved ? [200, 409] : [409, 201]);
    assert.equal(await idBehind('moved-to'), isMoved ? 'evt_settled' : 'evt_comer');
    assert.equal(await idBehind('settled'), isMoved ? undefined : 'evt_settled');
  });

  it('and is free again once its event has another', async () => {
    assert.equal((await put('evt_mover', 'old-place')).status, 201);
    assert.equal((await put('evt_mover', 'new-place')).status, 200);
    assert.equal((await put('evt_heir', 'old-place')).status, 201);
    assert.equal(await idBehind('old-place'), 'evt_heir');
    assert.equal(await idBehind('new-place'), 'evt_mover');
  });
});

describe('A date that a definition cancels', () => {
  it('has no live order any more when the definition is answered, however many there were', async () => {
    const ORDERS = 250;
    const floor = { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: ORDERS };
    const localities = (gala() as { localities: object[] }).localities.with(0, floor);
    const on = gala({ localities, max_tickets_per_email: null }) as { performances: object[] };
    await service.define(on);
    await Promise.all(Array.from({ length: ORDERS }, () => start(service, { items: [item('guest', 1)] })));
    const list = async (status: string) =>
      (await service.operate<Json>('GET', `/admin/events/evt_gala/orders?status=${status}&limit=1`)).body['orders'];
    assert.equal(((await list('CONFIRMED')) as object[]).length, 1);
    const off = { ...on, performances: on.performances.map((date) => ({ ...date, status: 'CANCELLED' })) };
    assert.equal((await service.operate('PUT', '/admin/events/evt_gala', { body: off })).status, 200);
    assert.deepEqual(await list('CONFIRMED'), []);
  });
});
