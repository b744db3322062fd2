/** Which events the outbox of refunds reads, and when. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { activationChannel, type ActivationMessage } from '#actors/channels.ts';
import type { EventPort } from '#actors/event-port.ts';
import { openRefundOutbox } from '#payments/refund-outbox.ts';
import type { PaymentProvider } from '#payments/provider.ts';

const HOUR = 3_600_000;

const publish = (eventId: string): void =>
  activationChannel.publish({ eventId, alive: true, factsReplayed: 0, tookMs: 0 } satisfies ActivationMessage);

it('Events whose refunds are due later take turns in memory for nothing but their first reading', async (t) => {
  const provider: PaymentProvider = {
    openSession: () => assert.fail('no session is opened'),
    expireSession: null,
    readWebhook: () => assert.fail('no webhook comes'),
    refunds: null,
  };
  const reads: string[] = [];
  let inMemory = '';
  const activate = async (eventId: string): Promise<EventPort> => {
    await nextRound();
    if (inMemory !== eventId) publish((inMemory = eventId));
    const read = () => Promise.resolve({ due: [], nextAt: HOUR, at: reads.push(eventId) });
    return { eventId, read } as unknown as EventPort;
  };
  const outbox = openRefundOutbox({
    providers: { provider_a: provider, provider_b: provider },
    events: { byEventId: activate, byId: () => null },
    owns: () => true,
    clock: { now: () => 0 },
    elapsedMs: () => 0,
    lookAfter: () => {},
  });
  t.after(() => outbox.stop());
  const eventIds = ['evt_one', 'evt_two'];
  eventIds.forEach(publish);
  for (let round = 0; round < 100; round += 1) await nextRound();
  assert.deepEqual(reads.toSorted(), eventIds);
});
