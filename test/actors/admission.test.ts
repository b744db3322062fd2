import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COMMAND_CLASSES, isRefusedOnLowDisk, waitsForAdmission } from '#actors/admission.ts';
import { COMMAND_BY_ROUTE } from '#http/admission-queue.ts';
import { openApps } from '../http/apps.ts';
import type { CommandType } from '#domain/command.ts';

const commands = Object.keys(COMMAND_CLASSES) as CommandType[];

describe('Admission control', () => {
  it('refuses new holds, checkouts and queue entries while the disk is nearly full', () => {
    assert.deepEqual(commands.filter(isRefusedOnLowDisk).sort(), ['JoinQueue', 'PlaceHold', 'StartCheckout']);
  });

  it('queues only holds, their changes and joining, of all commands of buyers', () => {
    const waiting = new Set(Object.values(COMMAND_BY_ROUTE).filter(waitsForAdmission));
    assert.deepEqual([...waiting].sort(), ['ChangeHold', 'JoinQueue', 'PlaceHold']);
  });

  it('knows the commands of routes that exist', async (t) => {
    const apps = await openApps();
    t.after(() => apps.close());
    const { paths } = (await apps.app.inject('/openapi.json')).json<{ paths: Record<string, object> }>();
    for (const route of Object.keys(COMMAND_BY_ROUTE)) {
      const [method = '', url = ''] = route.split(' ');
      const operations = paths[url.replace(/:(\w+)/g, '{$1}')] ?? {};
      assert.ok(Object.hasOwn(operations, method.toLowerCase()), route);
    }
  });
});
