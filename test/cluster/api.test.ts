/**
 * The tests of `test/api` once more, with three nodes in place of one machine (`fixtures/cluster.ts`): what buyers and
 * operators are promised does not depend on it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { deep } from '../depth.ts';
import { newSession } from '../fixtures/client.ts';
import { clubNight } from '../fixtures/events.ts';
import { nats } from '../fixtures/nats.ts';
import { importApiTests } from '../groups.ts';

/** Files that are about one machine, and why; single tests say so with `ofOneMachine`. */
const ofOneMachine = {
  'connections.test.ts': 'the connections and the admission queue of one process, and what a stalled disk does to them',
  'crash.test.ts': 'one process is killed and started on its folder; failures.test.ts kills nodes',
  'killed.test.ts': 'one process is killed and started on its folder; failures.test.ts kills nodes',
  'serving.test.ts': 'the process, its exit codes, its folder and the secrets that it keeps there',
  'stopping.test.ts': 'one process is ended and started on its folder; failures.test.ts ends nodes',
  'walkthrough.test.ts': 'the README starts one machine',
};

/**
 * Files about the rules of one event alone, and where a cluster's part in them is tested: whichever node is asked, the
 * event's owner decides as one machine does. What a cluster could break is the way there, which `calls/wire.test.ts`
 * and the other files take. Run from TEST_DEPTH=2 on.
 */
const ofOneEvent = {
  'attendees.test.ts': 'a list of one event; operators-views.test.ts reads pages of orders',
  'brand.test.ts': 'what a definition says; definitions.test.ts reads it at every node',
  'counter.test.ts': 'an order like others, paid at once',
  'errors.test.ts':
    'bodies that are refused before an event is asked; queue.test.ts and doors.test.ts have refusals of events',
  'hand-scans.test.ts': 'the rules; doors.test.ts sends the scans of stations',
  'large-orders.test.ts': 'sizes; large-answers.test.ts has answers that are longer than a message',
  'order-changes.test.ts': 'pages; amendments.test.ts sends the same commands',
  'quote.test.ts': 'the rules; checkout.test.ts sends the same items',
  'races.test.ts': 'the owner decides; failures.test.ts sells a stock exactly at three nodes',
  'scenarios.test.ts': 'the rules; holds, checkout, payments, queue, seats and others send the same commands',
};

process.env['TEST_CLUSTER'] = 'on';
const { leaveServer, openCluster, useServer } = await import('../fixtures/cluster.ts');

/** One for all clusters. */
if (nats.missing === false) {
  before(async () => void (await useServer()));
  after(leaveServer);
}

describe('Three nodes, requests in turn,', { skip: nats.missing }, () => {
  it('all answer, and forward what they do not own', async () => {
    const cluster = await openCluster();
    try {
      await cluster.define(clubNight());
      const served = new Set<string | null>();
      for (let n = 0; n < 6; n += 1) {
        await cluster.hold({ session_key: newSession() });
        served.add((await cluster.get('/health/ready')).headers.get('x-served-by'));
      }
      assert.deepEqual([...served].toSorted(), ['node-0', 'node-1', 'node-2']);
      const forwarded = cluster.services.map(({ engine }) => engine.state().cluster!.forwarded);
      // Two of three requests come to a node that does not own the event.
      assert.ok(forwarded.reduce((sum, count) => sum + count, 0) >= 4, forwarded.join(', '));
    } finally {
      await cluster.close();
    }
  });
});

if (nats.missing === false) await importApiTests(deep(1) > 1 ? ofOneMachine : { ...ofOneMachine, ...ofOneEvent });
