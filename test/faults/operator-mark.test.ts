/** Who did it and why: the operator and the note of every change on the operators' side are kept with the fact. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newCustomer, settle, start } from '../fixtures/checkout.ts';
import { assertRefused } from '../fixtures/checks.ts';
import type { Json } from '../fixtures/client.ts';
import { clubNight, gala, theatreRun } from '../fixtures/events.ts';
import { serviceWith } from '../fixtures/service.ts';

const OPERATOR = 'Zoë from sales';
/** The header as clients send it: the bytes of UTF-8. */
const by = { 'x-operator': Buffer.from(OPERATOR).toString('latin1') };

const service = serviceWith([theatreRun(), gala()]);

/** The marks on the newest fact of a type; notes about orders are sealed. */
async function markOf(type: string): Promise<Json> {
  const { engine } = service.internals;
  const newest = [...engine.journal.read()].filter((row) => row.type === type).at(-1)!;
  const { operator, note, opened } = JSON.parse(await engine.personalData.openFact(newest)) as Json;
  return { operator, note: opened ?? note };
}

it('keeps the operator and the note of every change with its fact', async () => {
  const seats = '/admin/events/evt_play/performances/fri/seats';
  const seat_ids = ['S-A-1'];
  await service.admin.put('/admin/events/evt_club?note=on%20sale%20now', clubNight(), by);
  assert.deepEqual(await markOf('EventDefined'), { operator: OPERATOR, note: 'on sale now' });
  for (const [action, type] of [
    ['block', 'SeatsBlocked'],
    ['unblock', 'SeatsUnblocked'],
  ] as const) {
    const answer = await service.admin.post(seats, { seat_ids, action, note: `to ${action}` }, by);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual(await markOf(type), { operator: OPERATOR, note: `to ${action}` });
  }
  await service.admin.post('/admin/events/evt_play/performances/fri/cancel', { note: 'the star is ill' }, by);
  assert.deepEqual(await markOf('PerformanceCancelled'), { operator: OPERATOR, note: 'the star is ill' });

  const started = await start(service, { customer: newCustomer() });
  await settle(service, started, 'paid');
  const order = `/admin/orders/${started.order_id}`;
  await service.admin.post(`${order}/cancel`, { note: 'asked on the phone' }, by);
  assert.deepEqual(await markOf('OrderCancelled'), { operator: OPERATOR, note: 'asked on the phone' });
  await service.admin.post(`${order}/refunds`, { amount: 100, note: 'in cash' }, by);
  assert.deepEqual(await markOf('RefundRecorded'), { operator: OPERATOR, note: 'in cash' });
});

it('accepts changes without operator and note, and refuses too long ones', async () => {
  const cancel = '/admin/events/evt_play/performances/sat/cancel';
  assertRefused(await service.admin.post(cancel, { note: 'x'.repeat(1_001) }), 400, 'VALIDATION_ERROR');
  assertRefused(await service.admin.post(cancel, {}, { 'x-operator': 'x'.repeat(201) }), 400, 'VALIDATION_ERROR');
  assert.equal((await service.admin.post(cancel)).status, 200);
  assert.deepEqual(await markOf('PerformanceCancelled'), { operator: null, note: null });
});
