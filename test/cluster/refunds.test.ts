/**
 * Everything that a cancelled date owes is given back while the node that does it is killed, starts again, and the next
 * owner stops: by the list of a stand-in for Stripe each payment is given back whole, once (promise 15).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clusterSecrets } from '../fixtures/cluster.ts';
import { newCustomer, start } from '../fixtures/checkout.ts';
import { gala } from '../fixtures/events.ts';
import { nats, startNats } from '../fixtures/nats.ts';
import { spawnService, type ServiceProcess } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openStandIn, SECRET_KEY, WEBHOOK_SECRET } from '../payments/stripe-stand-in.ts';

const ORDERS = 40;
const PRICE = 1900;
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
    const open = async (name: string): Promise<ServiceProcess> => {
      const node = await spawnService({
        environment: {
          NATS_URL: server.url,
          NODE_NAME: name,
          CLUSTER_SHARDS: '1',
          CLUSTER_REPLICAS: '1',
          ...clusterSecrets,
          STRIPE_SECRET_KEY: SECRET_KEY,
          STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
          STRIPE_API_BASE: standIn.url,
        },
      });
      t.after(() => node.close());
      return node;
    };
    const names = ['one', 'two'];
    const nodes = await Promise.all(names.map(open));
    const ownerPlace = async (asked: ServiceProcess): Promise<number> => {
      const { body } = await asked.admin.get<{ shards: { owner: string | null }[] }>('/admin/cluster');
      return names.indexOf(body.shards[0]!.owner ?? '');
    };

    const [one] = nodes as [ServiceProcess];
    await one.define(gala());
    await Promise.all(
      Array.from({ length: ORDERS }, async (_, n) => {
        const { checkout_session_id: id } = await start(nodes[n % 2]!, { customer: newCustomer() });
        const paid = {
          ...standIn.sessions.find((each) => each.id === id)!,
          form: undefined,
          object: 'checkout.session',
        };
        const { body, headers } = standIn.event('checkout.session.completed', { ...paid, payment_status: 'paid' });
        const { status } = await nodes[(n + 1) % 2]!.post('/api/payments/webhooks/provider_a', body, headers);
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
    const killed = await ownerPlace(one);
    assert.equal(await nodes[killed]!.end('SIGKILL'), null);
    const next = nodes[1 - killed]!;
    // However long the node that was killed takes to start again, the other one stops in the middle.
    const stopping = Promise.withResolvers<number>();
    standIn.refunds.delayMs = () => (standIn.refunds.all.length < STOPPED_AT ? CALL_MS : stopping.promise);
    nodes[killed] = await open(names[killed]!);
    await given(STOPPED_AT);
    assert.ok(standIn.refunds.all.length < ORDERS, 'the next owner stops in the middle');
    const ended = next.end('SIGTERM');
    standIn.refunds.delayMs = () => CALL_MS;
    stopping.resolve(CALL_MS);
    assert.equal(await ended, 0);

    const left = nodes[killed]!;
    await until(async () => {
      const { body } = await left.admin.get<RefundList>(`/admin/events/evt_gala/refunds?limit=${ORDERS + 1}`);
      return body.refunds.length === ORDERS && body.refunds.every(({ status }) => status === 'SUCCEEDED');
    }, 'all of them succeed');
    assert.equal(await ownerPlace(left), killed);
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
