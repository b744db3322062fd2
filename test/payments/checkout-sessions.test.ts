/** Opening a checkout session while something happens to its event. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openShop } from '../api/shop.ts';
import { gala, START, wish, type Started } from '../api/till.ts';
import { openSlowProvider } from './stripe-stand-in.ts';

describe('A checkout session', () => {
  it('is opened and recorded although the event is evicted while the provider is called', async (t) => {
    const provider = await openSlowProvider(t);
    const shop = await openShop([gala()], provider.environment);
    t.after(() => shop.close());
    const asked = shop.post<Started>(START, wish());
    await provider.asked;
    shop.house.service.engine.directory.dropAll();
    provider.answer();
    const { status, body } = await asked;
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(body.checkout_session_id, 'cs_test_slow');
  });
});
