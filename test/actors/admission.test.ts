import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COMMAND_CLASSES, isRefusedOnLowDisk, waitsForAdmission } from '#actors/admission.ts';
import { openApps } from '../http/apps.ts';
import type { CommandType } from '#domain/command.ts';

const commands = Object.keys(COMMAND_CLASSES) as CommandType[];

describe('Admission control', () => {
  it('refuses new holds, orders and queue entries while the disk is nearly full', () => {
    const refused = ['JoinQueue', 'PlaceHold', 'SellAtCounter', 'StartCheckout'];
    assert.deepEqual(commands.filter(isRefusedOnLowDisk).sort(), refused);
  });

  it('queues only holds, their changes, joining and requests for mail, of all that buyers do', async (t) => {
    const apps = await openApps();
    t.after(() => apps.close());
    const ofBuyers = [...apps.commands].filter(([route]) => !route.includes('/admin/'));
    const waiting = ofBuyers.filter(([, command]) => command !== undefined && waitsForAdmission(command));
    assert.deepEqual(Object.fromEntries(waiting), {
      'POST /api/events/public/:slug/seating/best-available': 'PlaceHold',
      'POST /api/checkout/holds': 'PlaceHold',
      'PATCH /api/checkout/holds/:id': 'ChangeHold',
      'POST /api/checkout/orders/:order_id/amendments/quote': 'ChangeHold',
      'POST /api/checkout/queue': 'JoinQueue',
      'POST /orders/:order_id/mail': 'RequestMail',
    });
  });

  it('knows what every changing route executes that reaches an event', async (t) => {
    const apps = await openApps();
    t.after(() => apps.close());
    const unknown = [...apps.commands].filter(([, command]) => command === undefined).map(([route]) => route);
    assert.deepEqual(unknown.sort(), [
      'POST /admin/orders/:id/amendments/quote',
      'POST /admin/snapshot',
      'POST /api/checkout/quote',
      'POST /sandbox/clock',
      'POST /sandbox/outage',
      'POST /sandbox/pay/:checkout_session_id',
      'POST /sandbox/payments/:checkout_session_id',
      'POST /sandbox/refunds',
      'POST /sandbox/refunds/:reference',
    ]);
  });
});
