/** The credential of stations. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { EVENT_NUMBER } from '../../fixtures/event-state.ts';
import { sha256Of } from '#http/doors/station-auth.ts';
import { openApps, type Apps } from '../apps.ts';

const TOKEN = `gtk_${EVENT_NUMBER}_${'a'.repeat(24)}`;

let apps: Apps;
before(async () => {
  apps = await openApps();
  const [fixture] = apps.fixtures.values();
  const all = { performanceIds: null, doorIds: null, expiresAt: null, operator: null };
  fixture!.do({ type: 'AddStation', name: 'North', kind: 'STATION', tokenSha256: sha256Of(TOKEN), ...all });
});
after(() => apps.close());

describe('A request of a station', () => {
  const send = async (payload: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await apps.app.inject({ method: 'POST', url: '/api/doors/scans', headers, payload });
    return [answer.statusCode, answer.json<{ readonly code: string }>().code];
  };

  it('is refused for its shape also while its event does not answer', async () => {
    assert.deepEqual(await send({ scans: [] }), [400, 'VALIDATION_ERROR']);
    apps.trouble = Object.assign(new Error('disk full'), { name: 'JournalFault' });
    assert.deepEqual(await send({ scans: [] }), [400, 'VALIDATION_ERROR']);
    apps.trouble = null;
  });
});
