/** Opening a checkout session while something happens to its event. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkoutBody, START_CHECKOUT, type Started } from '../fixtures/checkout.ts';
import { gala } from '../fixtures/events.ts';
import { openServiceWith } from '../fixtures/service.ts';
import { openSlowProvider } from './stripe-stand-in.ts';

describe('A checkout session', () => {
  it('is opened and recorded although the event is evicted while the provider is called', async (t) => {
    const provider = await openSlowProvider(t);
    const shop = await openServiceWith([gala()], provider.environment);
    t.after(() => shop.close());
    const asked = shop.post<Started>(START_CHECKOUT, checkoutBody());
    await provider.asked;
    shop.internals.engine.events.actors.retireAll();
    provider.answer();
    const { status, body } = await asked;
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(body.checkout_session_id, 'cs_test_slow');
  });
});
