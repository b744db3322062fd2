/** The book itself, on the examples of the contract and on figures that were worked out by hand. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Book,
  type By,
  costOf,
  costOfPerks,
  refundDue,
  remainingAmount,
  ticketIdsOf,
  totalOf,
  type ItemRequest,
  type Order,
} from './book.ts';
import { enterAmendment, planOf, type Plan, type Request } from './amendment.ts';
import { halfUp, percent, split } from './cents.ts';
import type { BuyerChanges } from './event.ts';

const item = (type: string, quantity: number, more: Partial<ItemRequest> = {}): ItemRequest => ({
  ticket_type_id: type,
  selling_stage_id: 'general',
  performance_id: 'd1',
  quantity,
  ...more,
});

const START = Date.UTC(2027, 4, 7, 12);

const openBook = (): Book => new Book({ refunds: 'MANUAL' }, 0);

function order(book: Book, items: readonly ItemRequest[], promo?: string, installments = 1): Order {
  const asked = { items, email: 'anna@example.org', installment_count: installments };
  return book.place('ord', promo === undefined ? asked : { ...asked, promo_code: promo });
}

/** An order with its first installment paid, in a book of its own, and what amends it. */
function paidOrder(
  items: readonly ItemRequest[],
  promo?: string,
  changes: BuyerChanges | null = null,
  installments = 1,
) {
  const book = new Book({ refunds: 'MANUAL', buyer_changes: changes }, START);
  const placed = order(book, items, promo, installments);
  book.pay(placed, book.open(placed, 'cs'));
  let tickets = 0;
  for (const unit of placed.lines.flatMap(({ units }) => units)) {
    const size = placed.lines.find(({ units }) => units.includes(unit))!.type.group_size ?? 1;
    unit.ticketIds = Array.from({ length: size }, () => `t${(tickets += 1) - 1}`);
  }
  /** Credit, charge, fee, difference and what becomes due. */
  const amend = (request: Request, by: By = 'OPERATOR'): readonly number[] => {
    placed.listed = ticketIdsOf(placed);
    const plan = planOf(book, placed, request, by);
    assert.ok('quoted' in plan, JSON.stringify(plan));
    const { credit, charge, fee, difference, to_refund: due } = plan.quoted;
    enterAmendment(book, placed, plan, request, { id: 'amd', by, newIds: newIdsOf(plan), seats: new Map() });
    return [credit, charge, fee, difference, due];
  };
  return { book, placed, amend };
}

const newIdsOf = ({ quoted }: Plan): ReadonlyMap<string, string> =>
  new Map(quoted.tickets.filter(({ action }) => action !== 'CANCEL').map(({ ticket_id: id }) => [id, `new ${id}`]));

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

  it('credits by goodwill, fee and share what tickets cost, and keeps the fees alone of an order without any', () => {
    const { book, placed, amend } = paidOrder([item('adult', 3)], 'THOUSAND');
    assert.deepEqual(amend({ cancel: ['t0'], fee: 100 }), [3000, 0, 100, -2900, 2900]);
    assert.deepEqual([placed.status, totalOf(placed), refundDue(placed)], ['CONFIRMED', 6099, 2900]);
    // 41.00 less the share of the code, 333 of 667, and the other way round.
    assert.deepEqual(
      amend({ change: [{ ticket_ids: ['t1'], selling_stage_id: 'premium' }], goodwill: true }),
      [2999, 3766, 0, 767, 0],
    );
    assert.deepEqual([totalOf(placed), placed.goodwill, refundDue(placed)], [6099, 767, 2900]);
    assert.deepEqual(amend({ cancel: ['new t1', 't2'], fee: 5 }), [2999 + 3000, 0, 5, -5994, 5994]);
    assert.deepEqual([placed.status, totalOf(placed), refundDue(placed)], ['CANCELLED', 105, 8894]);
    assert.deepEqual(book.revoked, ['t0', 't1', 't2', 'new t1']);
  });

  it('has buyers pay what the rules ask, at most what they are credited with, and nothing while they may withdraw', () => {
    const rules = { cancel: { fee: 5000, fee_percent: 10 }, change: { fee: 50, fee_percent: 50 } };
    const bought = [item('child', 2), item('group', 1)];
    assert.deepEqual(paidOrder(bought, undefined, rules).amend({ cancel: ['t0'] }, 'BUYER'), [1250, 0, 1250, 0, 0]);
    const withdrawal = paidOrder(bought, undefined, { ...rules, withdrawal_days: 1 });
    assert.deepEqual(withdrawal.amend({ cancel: ['t0'] }, 'BUYER'), [1250, 0, 0, -1250, 1250]);
    const { amend } = paidOrder(bought, undefined, rules);
    const toGuests = { change: [{ ticket_ids: ['t2', 't3', 't4'], ticket_type_id: 'guest' }], reissue: ['t0'] };
    assert.deepEqual(amend(toGuests, 'BUYER'), [7001, 0, 4 * 50 + 3501, 3701 - 7001, 3300]);
  });

  it('splits what an amendment leaves over the installments that are not paid', () => {
    const { placed, amend } = paidOrder(
      [item('adult', 2), item('seat', 1, { seat_ids: ['H-1-1'] })],
      undefined,
      null,
      3,
    );
    assert.deepEqual(placed.installments, [3089, 3088, 3088]);
    assert.deepEqual(amend({ cancel: ['t0'] }), [3333, 0, 0, -3333, 0]);
    assert.deepEqual([placed.installments, remainingAmount(placed)], [[3089, 1422, 1421], 2843]);
    assert.deepEqual(amend({ cancel: ['t1'] }), [3333, 0, 0, -3333, 490]);
    assert.deepEqual([placed.status, placed.installments, refundDue(placed)], ['CONFIRMED', [3089], 490]);
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
