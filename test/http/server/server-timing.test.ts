/** `Server-Timing`: with SERVER_TIMING=on an answer says where its time went; without, nothing is measured. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { beginStep, stepChannel } from '#actors/channels.ts';
import { HOLDS } from '../../fixtures/client.ts';
import { isClusterMode } from '../../fixtures/cluster.ts';
import { openServiceWith, type TestService } from '../../fixtures/service.ts';
import { clubNight } from '../../fixtures/events.ts';

const SESSION = 'a-session-of-the-test';
const HOLD = {
  event_id: 'evt_club',
  session_key: SESSION,
  items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 1 }],
};

/** The parts of the header in milliseconds, by name. */
function timesOf(headers: Headers): Record<string, number> {
  const header = headers.get('server-timing');
  assert.ok(header !== null, 'the header is there');
  return Object.fromEntries(
    header.split(', ').map((part) => {
      const [, name, ms] = /^(\w+);dur=(\d+\.\d{3})$/.exec(part) ?? assert.fail(part);
      return [name!, Number(ms)];
    }),
  );
}

describe('Server-Timing', { skip: isClusterMode }, () => {
  async function withService(setting: string, use: (service: TestService) => Promise<void>): Promise<void> {
    const service = await openServiceWith([clubNight()], { SERVER_TIMING: setting });
    try {
      await use(service);
    } finally {
      await service.close();
    }
  }

  it('says of a change how long admission, its turn and the disk took, and the parts fit into the total', () =>
    withService('on', async (service) => {
      const { status, headers } = await service.post(HOLDS, HOLD);
      assert.equal(status, 201);
      const { admission, turn, disk, total, ...rest } = timesOf(headers);
      assert.deepEqual(rest, {});
      assert.ok(admission! >= 0 && turn! > 0 && disk! > 0);
      assert.ok(admission! + turn! + disk! <= total! + 0.01, JSON.stringify({ admission, turn, disk, total }));
    }));

  it('names no step that did not happen', () =>
    withService('on', async (service) => {
      const [held, refused, read, unknown] = await Promise.all([
        service.post(HOLDS, HOLD),
        service.post(HOLDS, {}),
        service.get('/api/events/public/club-night'),
        service.get('/nothing/is/here'),
      ]);
      assert.deepEqual(Object.keys(timesOf(held.headers)), ['admission', 'turn', 'disk', 'total']);
      assert.deepEqual(Object.keys(timesOf(refused.headers)), ['admission', 'total']);
      assert.deepEqual(Object.keys(timesOf(read.headers)), ['turn', 'total']);
      assert.deepEqual(Object.keys(timesOf(unknown.headers)), ['total']);
    }));

  it('adds up the turns of one request: a checkout writes its order and then its session', () =>
    withService('on', async (service) => {
      let turns = 0;
      const count = (message: unknown): void => {
        if ((message as { step: string }).step === 'disk') turns += 1;
      };
      const { id } = await service.hold({ session_key: SESSION });
      stepChannel.subscribe(count);
      const body = {
        event_id: 'evt_club',
        hold_id: id,
        session_key: SESSION,
        accept_terms: true,
        customer: { name: 'A Buyer', email: 'buyer@example.com' },
      };
      const { status, headers } = await service.post('/api/checkout/start', body);
      stepChannel.unsubscribe(count);
      assert.equal(status, 201);
      assert.ok(turns >= 2, 'several turns waited for the disk');
      const { turn, disk, total } = timesOf(headers);
      assert.ok(turn! + disk! <= total! + 0.01);
    }));

  it('is off unless it is asked for: no header, nobody listens, and no clock is read', () =>
    withService('off', async (service) => {
      const { headers } = await service.post(HOLDS, HOLD);
      assert.equal(headers.get('server-timing'), null);
      assert.equal(stepChannel.hasSubscribers, false);
      assert.equal(beginStep(), 0);
    }));
});
