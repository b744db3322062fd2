/** Quotes: what the tickets of a hold cost with a promo code, before anything is ordered. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newCustomer, start } from '../fixtures/checkout.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { newSession, type Json } from '../fixtures/client.ts';
import { gala, item } from '../fixtures/events.ts';
import { MINUTE, openServiceWith, type TestService } from '../fixtures/service.ts';

const QUOTE = '/api/checkout/quote';

describe('A quote', () => {
  let service: TestService;
  before(async () => {
    const promoCodes = [
      { code: 'TENTH', percent_off: 10 },
      { code: 'ONCE', amount_off: 500, max_uses: 1 },
    ];
    service = await openServiceWith([gala({ promoCodes })]);
  });
  after(() => service.close());

  /** A hold of two seats, 60.00, and what asks for its quote. */
  const held = async () => {
    const session_key = newSession();
    const { id } = await service.hold({ event_id: 'evt_gala', session_key, items: [item('seat', 2)] });
    const quote = (more: Json = {}) =>
      service.post<Json>(QUOTE, { event_id: 'evt_gala', hold_id: id, session_key, ...more });
    return { id, quote };
  };

  it('prices the tickets of a hold, with and without a code', async () => {
    const { quote } = await held();
    assert.deepEqual((await quote()).body, { tickets_amount: 6000, discount_amount: 0, currency: 'EUR' });
    const reduced = await quote({ promo_code: ' tenth ' });
    assert.deepEqual(
      [reduced.status, reduced.body['tickets_amount'], reduced.body['discount_amount']],
      [200, 5400, 600],
    );
  });

  it('spends no code, and says what the checkout then asks for', async () => {
    const { id, quote } = await held();
    const facts = service.factsAppended();
    for (let n = 0; n < 3; n += 1) assert.equal((await quote({ promo_code: 'ONCE' })).body['tickets_amount'], 5500);
    assert.equal(service.factsAppended(), facts);
    const started = await start(service, {
      items: undefined,
      hold_id: id,
      promo_code: 'ONCE',
      customer: newCustomer(),
    });
    assert.equal(started.total_amount, 5500);
    const other = await held();
    assertRefused(await other.quote({ promo_code: 'ONCE' }), 400, 'PROMO_CODE_EXHAUSTED');
  });

  it('is refused where a checkout of the hold would be', async () => {
    const { quote } = await held();
    assertRefused(await quote({ promo_code: 'NOTHING' }), 400, 'PROMO_CODE_INVALID');
    assertRefused(await quote({ session_key: newSession() }), 404, 'HOLD_NOT_FOUND');
    assertRefused(await quote({ event_id: 'evt_nothing' }), 404, 'EVENT_NOT_FOUND');
    assertRefused(await quote({ hold_id: undefined }), 400, 'VALIDATION_ERROR');
    service.wait(11 * MINUTE);
    assertRefused(await quote(), 409, 'HOLD_EXPIRED');
  });

  it('counts codes that do not exist together with starts', async () => {
    const { quote } = await held();
    let status = 400;
    for (let n = 0; status === 400; n += 1) ({ status } = await quote({ promo_code: `GUESS${n}` }));
    assert.equal(status, 429);
    assert.equal((await quote()).status, 200);
  });
});
