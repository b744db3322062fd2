/** The book itself, on the examples of the contract and on figures that were worked out by hand. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Book,
  costOf,
  costOfPerks,
  refundDue,
  remainingAmount,
  totalOf,
  type ItemRequest,
  type Order,
} from './book.ts';
import { halfUp, percent, split } from './cents.ts';

const item = (type: string, quantity: number, more: Partial<ItemRequest> = {}): ItemRequest => ({
  ticket_type_id: type,
  selling_stage_id: 'general',
  performance_id: 'd1',
  quantity,
  ...more,
});

const openBook = (): Book => new Book({ refunds: 'MANUAL' }, 0);

function order(book: Book, items: readonly ItemRequest[], promo?: string, installments = 1): Order {
  const asked = { items, email: 'anna@example.org', installment_count: installments };
  return book.place('ord', promo === undefined ? asked : { ...asked, promo_code: promo });
}

describe('The book', () => {
  it('rounds half up, and splits larger parts first', () => {
    assert.deepEqual([halfUp(1, 2), halfUp(1, 3), halfUp(2, 3), percent(3333, 33.3)], [1, 0, 1, 1110]);
    assert.deepEqual([split(1000, 3), split(2, 3), split(7, 1)], [[334, 333, 333], [1, 1, 0], [7]]);
  });

  it('has every unit cost what is left less what is left after it, so that parts add up to the whole', () => {
    const [line] = order(openBook(), [item('adult', 3)], 'THOUSAND').lines;
    const costs = [3, 2, 1, 0].map((units) => costOf(line!, units));
    assert.deepEqual(costs, [8999, 5999, 3000, 0]);
    const credits = costs.slice(1).map((cost, index) => costs[index]! - cost);
    assert.deepEqual(credits, [3000, 2999, 3000]);
  });

  it("takes an item's code off first, then the order's from what remains, item by item", () => {
    const placed = order(openBook(), [item('adult', 1, { discount_code: 'TENTH' }), item('child', 2)], 'THIRD');
    const off = placed.lines.map(({ codeDiscount, promoDiscount }) => [codeDiscount, promoDiscount]);
    // 10 % of 33.33, 33.3 % of the 30.00 that remain; 33.3 % of 25.00.
    assert.deepEqual(off, [
      [333, 999],
      [0, 833],
    ]);
    assert.equal(totalOf(placed), 3333 - 1332 + 2500 - 833);
  });

  it('shares perks as the cards show them: what cannot be shared equally goes to the first tickets', () => {
    const beers = { bar_perks: [{ bar_perk_id: 'beer', quantity: 4 }] };
    const placed = order(openBook(), [item('adult', 3, beers)]);
    const shares = placed.lines[0]!.units.map(({ perks }) => perks.get('beer'));
    assert.deepEqual([shares, costOfPerks(placed.lines[0]!.units)], [[2, 1, 1], 2000]);
  });

  it('owes all of an order that ended, and of a live one what it does not keep', () => {
    const book = openBook();
    const placed = order(book, [item('adult', 2)], undefined, 2);
    assert.deepEqual(placed.installments, [3333, 3333]);
    const payment = book.open(placed, 'cs');
    book.pay(placed, payment);
    book.pay(placed, payment, 500);
    book.pay(placed, payment, 500);
    assert.deepEqual([placed.status, remainingAmount(placed), refundDue(placed)], ['PARTIALLY_PAID', 3333, 500]);
    book.cancelByOperator(placed);
    assert.deepEqual([placed.status, refundDue(placed)], ['CANCELLED', 3833]);
    book.execute(placed, null, null);
    assert.deepEqual(
      placed.refunds.map(({ amount }) => amount),
      [500, 3333],
    );
    book.tryAll('succeeded');
    assert.equal(refundDue(placed), 0);
  });
});
