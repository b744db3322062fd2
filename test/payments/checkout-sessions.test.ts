/** The way from an order to the provider's page, where something happens to the event meanwhile. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openShop } from '../api/shop.ts';
import { gala, START, wish, type Started } from '../api/till.ts';
import { openSlowProvider } from './slow-provider.ts';

describe('A checkout whose order is written', () => {
  it('gets its session though the event was put to sleep while the provider was asked', async (t) => {
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
