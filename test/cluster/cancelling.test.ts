/** The cancellation of a performance with many orders, whose owner is lost in its middle. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { concert } from '../fixtures/actors.ts';
import { defineAt, executeAt, findAt, ownerOf, type TestNode, withNodes } from '../fixtures/cluster-nodes.ts';
import { buy, item } from '../fixtures/commands.ts';

const EVENT = 'evt_concert';
/** Several turns of a cancellation. */
const ORDERS = 900;

const sale = concert({
  localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: ORDERS }],
  sellingStages: [{ id: 'now', name: 'Now', prices: { stand: 0 } }],
});

async function soldAt(node: TestNode): Promise<number> {
  const { performances } = await (await findAt(node.engine, EVENT)).read({ type: 'ReadTotals', performanceId: null });
  return performances[0]!.sold;
}

it('is finished by the next owner, and then answered at the node that was asked', () =>
  withNodes(['a', 'b', 'c'], async (all) => {
    await defineAt(all, sale);
    const owner = ownerOf(all, EVENT);
    const bought = { performanceId: 'fri', sellingStageId: 'now' };
    await Promise.all(Array.from({ length: ORDERS }, () => executeAt(owner, EVENT, buy([item('stand', 1, bought)]))));
    const asked = all.find((node) => node !== owner)!;
    const cancelled = executeAt(asked, EVENT, {
      type: 'CancelPerformance',
      performanceId: 'fri',
      operator: 'olga',
      note: null,
    });
    while ((await soldAt(owner)) === ORDERS) await nextRound();
    const left = await soldAt(owner);
    owner.kill();
    assert.ok(left > 0, 'the owner was lost in the middle');
    const { cancelledOrders } = await cancelled;
    assert.equal(cancelledOrders, ORDERS);
    assert.notEqual(ownerOf(all, EVENT), owner);
    assert.equal(await soldAt(asked), 0);
  }));
