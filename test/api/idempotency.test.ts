/** An Idempotency-Key on every change that takes one: the first answer again, one effect, and no refusal is kept. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HoldBody } from '#http/buyers/holds.ts';
import { START_CHECKOUT, setOutage } from '../fixtures/checkout.ts';
import { as, bodyOf, HOLDS, newSession, type Answer, type Json } from '../fixtures/client.ts';
import { gala } from '../fixtures/events.ts';
import { serviceWith } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const DAY_MINUTES = 24 * 60;
const MINUTE = 60_000;

type Headed = Readonly<Record<string, string>>;

const service = serviceWith([
  gala({ max_tickets_per_email: null, hold_max_minutes: 0, hold_minutes: 2 * DAY_MINUTES }),
]);
let keys = 0;
const newKey = (): string => `key-${(keys += 1)}`;
const keyed = (key: string, headers: Headed = {}): Headed => ({ ...headers, 'idempotency-key': key });

const single = (quantity: number): Json => ({ ticket_type_id: 'single', selling_stage_id: 'regular', quantity });

const newHold = async (session: string): Promise<HoldBody> => {
  const body = { event_id: 'evt_gala', session_key: session, items: [single(1)] };
  return bodyOf(await service.post<HoldBody>(HOLDS, body), 201);
};

/** An order; with `paid` its only installment is paid. */
const newOrder = async ({ paid = false, installments = 1, event = 'evt_gala' } = {}): Promise<{
  id: string;
  session: string;
}> => {
  const started = await service.post<Json>(START_CHECKOUT, {
    event_id: event,
    items: [single(1)],
    customer: { name: 'Ada', email: 'ada@example.org' },
    accept_terms: true,
    installment_count: installments,
  });
  assert.equal(started.status, 201, JSON.stringify(started.body));
  const session = String(started.body['checkout_session_id']);
  if (paid) await settle(session, 'paid');
  return { id: String(started.body['order_id']), session };
};

const newEvent = async (): Promise<string> => {
  const id = `evt_off_${newKey()}`;
  const defined = await service.admin.put(`/admin/events/${id}`, gala({ id, slug: id.replaceAll('_', '-') }));
  assert.equal(defined.status, 201, JSON.stringify(defined.body));
  return id;
};

const settle = async (session: string, outcome: string): Promise<void> => {
  const answer = await service.post(`/sandbox/payments/${session}`, { outcome });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
};

/** A change that takes a key, ready to be sent. */
interface Change {
  /** Sends it; with another body where asked. */
  send(headers: Headed, other?: true): Promise<Answer<Json>>;
  /** Does something that the answer would show if it were made anew. */
  meanwhile(): Promise<unknown>;
}

const changes: Readonly<Record<string, () => Promise<Change>>> = {
  'PATCH of a hold': async () => {
    const session = newSession();
    const { id } = await newHold(session);
    const patch = (quantity: number, headers: Headed) =>
      service.patch<Json>(`${HOLDS}/${id}`, { items: [single(quantity)] }, { ...headers, ...as(session) });
    return {
      send: (headers, other) => patch(other === true ? 4 : 2, headers),
      async meanwhile() {
        await service.delete(`${HOLDS}/${id}`, as(session));
      },
    };
  },
  'POST of a payment': async () => {
    const { id, session } = await newOrder();
    await settle(session, 'declined');
    const post = (headers: Headed, body?: Json) =>
      service.post<Json>(`/api/checkout/orders/${id}/payments`, body, headers);
    return {
      send: (headers, other) => post(headers, other === true ? { other: 'body' } : undefined),
      async meanwhile() {
        const again = await post({});
        await settle(String(again.body['checkout_session_id']), 'declined');
        await post({});
      },
    };
  },
  'cancelling an order': async () => {
    const { id } = await newOrder({ paid: true });
    return {
      send: (headers, other) =>
        service.admin.post<Json>(`/admin/orders/${id}/cancel`, { note: other === true ? 'another' : 'one' }, headers),
      meanwhile: () => service.admin.post(`/admin/orders/${id}/refunds`, { amount: 100, note: 'meanwhile' }),
    };
  },
  'recording a refund': async () => {
    const { id } = await newOrder({ paid: true });
    await service.admin.post(`/admin/orders/${id}/cancel`, {});
    return {
      send: (headers, other) =>
        service.admin.post<Json>(`/admin/orders/${id}/refunds`, { amount: other === true ? 600 : 500 }, headers),
      meanwhile: () => service.admin.post(`/admin/orders/${id}/refunds`, { amount: 100, note: 'meanwhile' }),
    };
  },
  'blocking seats': async () => {
    const path = '/admin/events/evt_gala/performances/eve/seats';
    const free = { seat_ids: ['W-1-1', 'W-1-2'], action: 'unblock' };
    await service.admin.post(path, free);
    return {
      send: (headers, other) =>
        service.admin.post<Json>(
          path,
          { seat_ids: other === true ? ['W-1-3'] : free.seat_ids, action: 'block' },
          headers,
        ),
      meanwhile: () => service.admin.post(path, free),
    };
  },
  'unblocking seats': async () => {
    const path = '/admin/events/evt_gala/performances/eve/seats';
    const seat_ids = ['W-1-7', 'W-1-8'];
    await service.admin.post(path, { seat_ids, action: 'block' });
    return {
      send: (headers, other) =>
        service.admin.post<Json>(path, { seat_ids: other === true ? ['W-1-9'] : seat_ids, action: 'unblock' }, headers),
      meanwhile: () => service.admin.post(path, { seat_ids, action: 'block' }),
    };
  },
  'giving back what is due': async () => {
    const id = await newEvent();
    const path = `/admin/events/${id}/refunds`;
    const order = await newOrder({ paid: true, event: id });
    await service.admin.post(`/admin/orders/${order.id}/cancel`, {});
    const due = (await service.admin.get<{ readonly due: readonly Json[] }>(path)).body.due;
    const confirm = due.map(({ amount, currency }) => ({ amount, currency }));
    const isGiven = async () => ((await service.admin.get<Json>(path)).body['succeeded'] as object[]).length > 0;
    return {
      async send(headers, other) {
        const answer = await service.admin.post<Json>(path, { confirm: other === true ? [] : confirm }, headers);
        if (answer.status === 202) await until(isGiven);
        return answer;
      },
      meanwhile: async () => {},
    };
  },
  'cancelling a performance': async () => {
    const id = await newEvent();
    await service.post(HOLDS, { event_id: id, session_key: newSession(), items: [single(1)] });
    return {
      send: (headers, other) =>
        service.admin.post<Json>(
          `/admin/events/${id}/performances/eve/cancel`,
          { note: other === true ? 'another' : 'one' },
          headers,
        ),
      meanwhile: async () => {},
    };
  },
  'taking a snapshot': async () => ({
    send: (headers, other) => service.admin.post<Json>('/admin/snapshot', { prune: other === true }, headers),
    meanwhile: () => newHold(newSession()),
  }),
};

const replayedOf = ({ headers }: Answer<Json>) => headers.get('idempotent-replayed');

for (const [what, prepare] of Object.entries(changes)) {
  describe(`An Idempotency-Key on ${what}`, () => {
    it('is refused with another body, and changes nothing', async () => {
      const change = await prepare();
      const key = newKey();
      const first = await change.send(keyed(key));
      const before = service.factsAppended();
      const other = await change.send(keyed(key), true);
      assert.deepEqual([other.status, other.body['code']], [422, 'IDEMPOTENCY_KEY_REUSED']);
      assert.equal(service.factsAppended(), before);
      assert.deepEqual((await change.send(keyed(key))).body, first.body);
    });

    it('has one effect for concurrent requests', async () => {
      const change = await prepare();
      const key = newKey();
      const answers = await Promise.all(Array.from({ length: 5 }, () => change.send(keyed(key))));
      for (const answer of answers)
        assert.deepEqual([answer.status, answer.body], [answers[0]!.status, answers[0]!.body]);
      assert.equal(answers.filter((answer) => replayedOf(answer) === null).length, 1);
    });

    it('of no or too many characters is a VALIDATION_ERROR', async () => {
      const change = await prepare();
      const answer = await change.send(keyed('x'.repeat(256)));
      assert.deepEqual([answer.status, answer.body['code']], [400, 'VALIDATION_ERROR']);
    });
  });
}

describe('An Idempotency-Key', () => {
  it('on any change gets the first answer again, whatever happened meanwhile and over a restart', async () => {
    const sent = [];
    for (const [what, prepare] of Object.entries(changes)) {
      const change = await prepare();
      const key = newKey();
      const first = await change.send(keyed(key));
      assert.ok(first.status < 300, JSON.stringify(first.body));
      assert.equal(replayedOf(first), null);
      await change.meanwhile();
      sent.push({ what, change, key, first });
    }
    for (const restart of [false, true]) {
      if (restart) await service.restart();
      const before = service.factsAppended();
      for (const { what, change, key, first } of sent) {
        const again = await change.send(keyed(key));
        assert.deepEqual([again.status, again.body, replayedOf(again)], [first.status, first.body, 'true'], what);
      }
      assert.equal(service.factsAppended(), before, 'repeats change nothing');
    }
  });

  it('of a PATCH belongs to the hold and its owner, and shows the hold to no other session', async () => {
    const [ada, bob] = [newSession(), newSession()];
    const [one, other] = [await newHold(ada), await newHold(bob)];
    const key = newKey();
    const patch = (id: string, session: string) =>
      service.patch<Json>(`${HOLDS}/${id}`, { items: [single(2)] }, keyed(key, as(session)));
    assert.equal((await patch(one.id, ada)).body['id'], one.id);
    assert.equal((await patch(other.id, bob)).body['id'], other.id);
    const stranger = await patch(one.id, bob);
    assert.deepEqual([stranger.status, stranger.body['code']], [404, 'HOLD_NOT_FOUND']);
  });

  it('of a payment belongs to its order, and a repeat opens the session that could not be opened', async () => {
    const [one, other] = [
      await newOrder({ installments: 2, paid: true }),
      await newOrder({ installments: 2, paid: true }),
    ];
    const key = newKey();
    const pay = (id: string) => service.post<Json>(`/api/checkout/orders/${id}/payments`, undefined, keyed(key));
    assert.equal((await setOutage(service, { seconds: 60 })).status, 200);
    assert.equal((await pay(one.id)).status, 502);
    assert.equal((await setOutage(service, { seconds: 0 })).status, 200);
    const opened = await pay(one.id);
    assert.deepEqual([opened.status, replayedOf(opened)], [201, null]);
    const again = await pay(one.id);
    assert.deepEqual([again.body, replayedOf(again)], [opened.body, 'true']);
    const { body } = await pay(other.id);
    assert.notEqual(body['checkout_session_id'], opened.body['checkout_session_id']);
  });

  it('of an operator is refused as used for another order', async () => {
    const [one, other] = [await newOrder({ paid: true }), await newOrder({ paid: true })];
    const key = keyed(newKey());
    const refund = (id: string) => service.admin.post<Json>(`/admin/orders/${id}/refunds`, { amount: 1 }, key);
    assert.equal((await refund(one.id)).status, 200);
    assert.equal((await refund(other.id)).status, 422);
  });

  it('is forgotten after a day', async () => {
    const session = newSession();
    const { id } = await newHold(session);
    const key = keyed(newKey(), as(session));
    const patch = () => service.patch<Json>(`${HOLDS}/${id}`, { items: [single(2)] }, key);
    const first = await patch();
    service.wait((DAY_MINUTES - 1) * MINUTE);
    assert.deepEqual((await patch()).body, first.body);
    service.wait(2 * MINUTE);
    const anew = await patch();
    assert.equal(replayedOf(anew), null);
    assert.notEqual(anew.body['expires_at'], first.body['expires_at']);
  });
});
