/**
 * Everything that a cancelled date owes is given back while the node that does it is killed, starts again, and the next
 * owner stops: by the list of a stand-in for Stripe each payment is given back whole, once (promise 15).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newCustomer, start } from '../fixtures/checkout.ts';
import { gala } from '../fixtures/events.ts';
import { nats, startNats } from '../fixtures/nats.ts';
import { ownerOf, startNodes, type NodeProcess } from '../fixtures/nodes.ts';
import { until } from '../fixtures/until.ts';
import { openStandIn, SECRET_KEY, seen, WEBHOOK_SECRET } from '../payments/stripe-stand-in.ts';

const ORDERS = 40;
const PRICE = 1900;
const SHARDS = 1;
/** So many were given back when the owner is killed, and when the next one is told to stop. */
const KILLED_AT = 12;
const STOPPED_AT = 24;
/** Many calls are under way then: at most 20 begin in a second. */
const CALL_MS = 300;

interface RefundList {
  readonly refunds: readonly { readonly status: string }[];
}

it(
  `${ORDERS} refunds are each given back once, whichever node ends`,
  { skip: nats.missing, timeout: 120_000 },
  async (t) => {
    const server = await startNats();
    t.after(() => server.close());
    const standIn = await openStandIn();
    t.after(() => standIn.close());
    const environment = {
      STRIPE_SECRET_KEY: SECRET_KEY,
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      STRIPE_API_BASE: standIn.url,
    };
    const size = { clusterName: 'refunding', shards: SHARDS, replicas: 1 };
    const nodes = await startNodes(2, { url: server.url, ...size, environment });
    t.after(() => Promise.all(nodes.map((node) => node.close())));
    const [one, two] = nodes as [NodeProcess, NodeProcess];

    assert.equal((await one.admin.put('/admin/events/evt_gala', gala())).status, 201);
    await Promise.all(
      Array.from({ length: ORDERS }, async (_, n) => {
        const [asked, told] = n % 2 === 0 ? [one, two] : [two, one];
        const { checkout_session_id: id } = await start(asked, { customer: newCustomer() });
        const session = standIn.sessions.find((each) => each.id === id)!;
        const { body, headers } = standIn.event('checkout.session.completed', seen(session));
        const { status } = await told.post('/api/payments/webhooks/provider_a', body, headers);
        assert.equal(status, 200);
      }),
    );

    standIn.refunds.delayMs = () => CALL_MS;
    const date = '/admin/events/evt_gala/performances/eve/cancel';
    const cancelled = await one.admin.post(date, { orders: 'TICKETS', refunds: 'EXECUTE' });
    assert.deepEqual(cancelled.body, { released_holds: 0, cancelled_orders: ORDERS, amended_orders: 0 });
    const given = (count: number): Promise<void> =>
      until(() => standIn.refunds.all.length >= count, `${count} refunds`);

    await given(KILLED_AT);
    const killed = (await ownerOf('evt_gala', nodes, SHARDS))!;
    const next = killed === one ? two : one;
    await killed.kill();
    assert.ok(!killed.isRunning);
    // However long the node that was killed takes to start again, the other one stops in the middle.
    const stopping = Promise.withResolvers<number>();
    standIn.refunds.delayMs = () => (standIn.refunds.all.length < STOPPED_AT ? CALL_MS : stopping.promise);
    await killed.start();
    await given(STOPPED_AT);
    assert.ok(standIn.refunds.all.length < ORDERS, 'the next owner stops in the middle');
    const ended = next.end();
    standIn.refunds.delayMs = () => CALL_MS;
    stopping.resolve(CALL_MS);
    assert.equal(await ended, 0);

    await until(async () => {
      const { body } = await killed.admin.get<RefundList>(`/admin/events/evt_gala/refunds?limit=${ORDERS + 1}`);
      return body.refunds.length === ORDERS && body.refunds.every(({ status }) => status === 'SUCCEEDED');
    }, 'all of them succeed');
    assert.equal(await ownerOf('evt_gala', nodes, SHARDS), killed);
    const byPayment = Map.groupBy(standIn.refunds.all, (each) => each.payment_intent);
    assert.equal(byPayment.size, ORDERS);
    for (const [payment, refunds] of byPayment) {
      assert.deepEqual(
        refunds.map(({ amount, status }) => [amount, status]),
        [[PRICE, 'succeeded']],
        payment,
      );
    }
  },
);
