/** Quotes: what the tickets of a hold cost with a promo code, before anything is ordered. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertRefused } from '../fixtures/checks.ts';
import { newSession, type Json } from '../fixtures/client.ts';
import { gala, item } from '../fixtures/events.ts';
import { serviceWith } from '../fixtures/service.ts';

const QUOTE = '/api/checkout/quote';

describe('A quote', () => {
  const promoCodes = [
    { code: 'TENTH', percent_off: 10 },
    { code: 'ONCE', amount_off: 500, max_uses: 1 },
  ];
  const service = serviceWith([gala({ promoCodes })]);

  /** A hold of two seats, 60.00, and what asks for its quote. */
  const held = async () => {
    const session_key = newSession();
    const { id } = await service.hold({ event_id: 'evt_gala', session_key, items: [item('seat', 2)] });
    const quote = (more: Json = {}) =>
      service.post<Json>(QUOTE, { event_id: 'evt_gala', hold_id: id, session_key, ...more });
    return { id, quote };
  };

  it('names an event and a hold, and appends no fact', async () => {
    const { quote } = await held();
    const facts = service.factsAppended();
    assert.equal((await quote()).status, 200);
    assertRefused(await quote({ event_id: 'evt_nothing' }), 404, 'EVENT_NOT_FOUND');
    assertRefused(await quote({ hold_id: undefined }), 400, 'VALIDATION_ERROR');
    assert.equal(service.factsAppended(), facts);
  });

  it('counts codes that do not exist together with starts', async () => {
    const { quote } = await held();
    let status = 400;
    for (let n = 0; status === 400; n += 1) ({ status } = await quote({ promo_code: `GUESS${n}` }));
    assert.equal(status, 429);
    assert.equal((await quote()).status, 200);
  });
});
