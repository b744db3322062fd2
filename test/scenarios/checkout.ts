/** Checkout: the order of a hold or of items, its price, codes, perks, people and limits. */
import assert from 'node:assert/strict';
import { beers, CODES, DATES, evenings, item, people, PRICES, seats, TYPES } from './event.ts';
import {
  block,
  buy,
  cancelOrder,
  change,
  checkout,
  customer,
  define,
  join,
  lookAt,
  one,
  order,
  paid,
  place,
  quote,
  read,
  release,
  reported,
  statusOf,
  two,
} from './requests.ts';
import { HOUR, MINUTE, moment, scenario, type Sale, type Scenario } from './scenario.ts';
import type { ItemRequest } from '../fixtures/client.ts';

const adult = (quantity: number, overrides: object = {}) => item('adult', quantity, { ...overrides });
const unknownId = (prefix: string) => `${prefix}_1_000000000000000000000099`;

/** The adults' tickets of the first evening that are left. */
async function adultsLeft(sale: Sale): Promise<number> {
  const { ticketAvailability } = await sale.ask(lookAt({}, { performance_id: 'd1' }));
  return ticketAvailability.find(({ ticket_type_id: id }) => id === 'adult')!.available;
}

const ofHolds: readonly Scenario[] = [
  scenario('A checkout takes a hold over and gives it the payment window', evenings(), async (sale) => {
    const hold = await sale.ask(place(adult(2)));
    sale.wait(9 * MINUTE);
    const started = await sale.ask(checkout({ hold_id: hold.id }));
    assert.deepEqual([started.total_amount, started.currency, started.payment_provider], [2000, 'EUR', 'provider_a']);
    assert.equal(started.expires_at, moment(sale.now() + 30 * MINUTE));
    const status = await sale.ask(statusOf(started));
    assert.deepEqual([status.status, status.payment_status, status.remaining_amount], ['PENDING', 'PENDING', 2000]);
    assert.deepEqual(
      status.payments.map(({ amount, status: state }) => [amount, state]),
      [[2000, 'OPEN']],
    );
    const converted = await sale.ask(read(hold));
    assert.deepEqual([converted.status, converted.order_id], ['CONVERTED', started.order_id]);
    assert.equal(converted.expires_at, started.expires_at);
    assert.equal(await adultsLeft(sale), 18);
  }),

  scenario('A checkout of a hold that is unknown or of another session is refused alike', evenings(), async (sale) => {
    const hold = await sale.ask(place(adult(2)));
    await sale.refuses(checkout({ hold_id: unknownId('hld') }), 'HOLD_NOT_FOUND', {});
    await sale.refuses(checkout({ hold_id: hold.id, session_key: two.session }), 'HOLD_NOT_FOUND', {});
    await sale.ask(checkout({ hold_id: hold.id, session_key: one.session }));
  }),

  scenario('A checkout of a hold that ran out, was released or was bought is refused', evenings(), async (sale) => {
    const bought = await sale.ask(place(adult(2)));
    await sale.ask(checkout({ hold_id: bought.id }));
    await sale.refuses(checkout({ hold_id: bought.id }), 'HOLD_NOT_ACTIVE', { status: 'CONVERTED' });
    const released = await sale.ask(place(adult(2)));
    await sale.ask(release(released));
    await sale.refuses(checkout({ hold_id: released.id }), 'HOLD_NOT_ACTIVE', { status: 'RELEASED' });
    const expired = await sale.ask(place(adult(2)));
    sale.wait(10 * MINUTE);
    await sale.refuses(checkout({ hold_id: expired.id }), 'HOLD_EXPIRED', {});
  }),

  scenario('A hold keeps the price and the stage of its placing, also through a change', evenings(), async (sale) => {
    const hold = await sale.ask(place(adult(1)));
    await sale.ask(define(evenings({ sellingStages: [{ id: 'general', prices: { ...PRICES, adult: 9900 } }] })));
    await sale.ask(change(hold, adult(2)));
    const ended = { id: 'general', prices: { ...PRICES, adult: 9900 }, ends_at: moment(sale.now()) };
    await sale.ask(define(evenings({ sellingStages: [ended] })));
    assert.equal((await sale.ask(checkout({ hold_id: hold.id, items: [adult(2)] }))).total_amount, 2000);
  }),

  scenario('Items beside a hold equal its lines', evenings(), async (sale) => {
    const hold = await sale.ask(place([adult(2), seats('H-1-1', 'H-1-2')]));
    const { performance_id: _, ...dateless } = adult(2);
    const mismatches: Readonly<Record<string, readonly ItemRequest[]>> = {
      'another quantity': [adult(3), item('seat', 2)],
      'a line too few': [adult(2)],
      'a line too many': [adult(2), item('seat', 2), item('guest', 1)],
      'another type': [item('guest', 2), item('seat', 2)],
      'another stage': [adult(2, { selling_stage_id: 'late' }), item('seat', 2)],
      'another date': [adult(2, { performance_id: 'd2' }), item('seat', 2)],
      'no date where there are several': [dateless, item('seat', 2)],
      'other seats': [adult(2), seats('H-1-1', 'H-1-3')],
      'too few seats': [adult(2), item('seat', 2, { seat_ids: ['H-1-1'] })],
      'seats on general admission': [adult(2, { seat_ids: ['H-1-1', 'H-1-2'] }), item('seat', 2)],
    };
    for (const items of Object.values(mismatches)) {
      await sale.refuses(checkout({ hold_id: hold.id, items }), 'HOLD_ITEMS_MISMATCH', {});
    }
    assert.equal((await sale.ask(read(hold))).status, 'ACTIVE');
  }),

  scenario('Items beside a hold may be split, in another order, and leave seats out', evenings(), async (sale) => {
    const forms = [
      [seats('H-1-2', 'H-1-1'), adult(2)],
      [adult(1), item('seat', 2), adult(1)],
      [adult(2), seats('H-1-2'), item('seat', 1)],
    ];
    for (const items of forms) {
      const hold = await sale.ask(place([adult(2), seats('H-1-1', 'H-1-2')]));
      await sale.ask(cancelOrder(await sale.ask(checkout({ hold_id: hold.id, items }))));
    }
  }),

  scenario(
    'Items beside a hold may leave the date out where there is one',
    evenings({ performances: DATES.slice(0, 1) }),
    async (sale) => {
      const { performance_id: _, ...dateless } = adult(2);
      const hold = await sale.ask(place(dateless));
      await sale.ask(checkout({ hold_id: hold.id, items: [dateless] }));
    },
  ),

  scenario('Attendees get the seats of their item', evenings(), async (sale) => {
    const hold = await sale.ask(place(seats('H-1-1', 'H-1-2', 'H-1-3')));
    const items = [item('seat', 1, people('Ada')), { ...seats('H-1-3', 'H-1-1'), ...people('Bo', 'Cy') }];
    const { ticket_objects: tickets } = await sale.ask(
      statusOf(await sale.ask(checkout({ hold_id: hold.id, promo_code: 'ALL', items }))),
    );
    assert.deepEqual(
      tickets.map(({ attendee, seat_id, section, row_label, seat_label }) => [
        attendee?.name,
        seat_id,
        section,
        row_label,
        seat_label,
      ]),
      [
        ['Ada', 'H-1-2', 'All', '1', '2'],
        ['Bo', 'H-1-3', 'All', '1', '3'],
        ['Cy', 'H-1-1', 'All', '1', '1'],
      ],
    );
  }),
];

const ofItems: readonly Scenario[] = [
  scenario('A checkout of items reserves them and gives seats', evenings(), async (sale) => {
    const started = await sale.ask(buy([adult(2), item('seat', 2)]));
    assert.equal(started.expires_at, moment(sale.now() + 30 * MINUTE));
    const { items } = await sale.ask(order(started));
    assert.deepEqual(items[1]!.seat_ids, ['H-1-3', 'H-1-4']);
    assert.equal((await sale.stock('d1')).held, 4);
    await sale.refuses(checkout({}), 'VALIDATION_ERROR');
  }),

  scenario("A checkout of items may use the session's own hold, which it replaces", evenings(), async (sale) => {
    const hold = await sale.ask(place(adult(20)));
    await sale.refuses(buy(adult(20)), 'INSUFFICIENT_TICKETS');
    await sale.refuses(buy(adult(20), { session_key: two.session }), 'INSUFFICIENT_TICKETS');
    await sale.ask(buy(adult(15), { session_key: one.session }));
    assert.equal((await sale.ask(read(hold))).status, 'RELEASED');
    await sale.ask(place(adult(2)));
    assert.equal((await sale.stock('d1')).held, 17);
  }),

  scenario('A checkout of items is refused as a hold of them is', evenings(), async (sale) => {
    const { expires_at: end } = await sale.ask(place([adult(19), seats('H-1-1')]));
    await sale.refuses(buy(adult(2)), 'INSUFFICIENT_TICKETS', {
      available: 1,
      reserved_by_others: true,
      next_release_at: end,
      ticket_type_id: 'adult',
      selling_stage_id: 'general',
      performance_id: 'd1',
    });
    await sale.refuses(buy(seats('H-1-1')), 'SEAT_TAKEN', { seat_ids: ['H-1-1'] });
    await sale.refuses(buy(seats('Z-9-9')), 'SEAT_NOT_IN_TICKET_TYPE', { seat_ids: ['Z-9-9'] });
    await sale.refuses(buy(adult(1, { performance_id: 'd9' })), 'PERFORMANCE_NOT_FOUND', { performance_id: 'd9' });
    await sale.refuses(buy(adult(1, { seat_ids: ['H-1-1'] })), 'VALIDATION_ERROR');
    await sale.refuses(buy([seats('H-1-2'), seats('H-1-2')]), 'VALIDATION_ERROR');
    await sale.ask(block('d1', 'H-2-1'));
    await sale.refuses(buy(seats('H-2-1')), 'SEAT_NOT_SELLABLE', { seat_ids: ['H-2-1'] });
  }),

  scenario(
    'An order ends the pass of its session, so that the next may be admitted',
    evenings({ waiting_room: true, waiting_room_max_admitted: 1 }),
    async (sale) => {
      const pass = (await sale.ask(join())).id;
      const hold = await sale.ask(place(adult(1), { ...one, pass }));
      assert.equal((await sale.ask(join(two))).status, 'WAITING');
      await sale.ask(checkout({ hold_id: hold.id }));
      const second = await sale.ask(join(two));
      assert.equal(second.status, 'ADMITTED');
      await sale.ask(buy(adult(1), { queue_pass: second.id }));
      await sale.refuses(buy(adult(1), { queue_pass: second.id }), 'QUEUE_PASS_INVALID');
    },
  ),

  scenario('An event that is a draft sells nothing', evenings({ status: 'DRAFT' }), async (sale) => {
    await sale.refuses(buy(adult(1)), 'EVENT_NOT_FOUND', {});
  }),
];

const free: readonly Scenario[] = [
  scenario('A free order is CONFIRMED at once, with tickets and without a payment', evenings(), async (sale) => {
    const hold = await sale.ask(place(item('guest', 2)));
    const started = await sale.ask(checkout({ hold_id: hold.id, installment_count: 3 }));
    const { payment_provider: provider, checkout_session_id: session, expires_at: end } = started;
    assert.deepEqual([provider, session, end, started.total_amount], ['FREE', null, null, 0]);
    const status = await sale.ask(statusOf(started));
    assert.deepEqual([status.status, status.payment_status, status.tickets.length], ['CONFIRMED', 'COMPLETED', 2]);
    assert.deepEqual([status.payments, status.total_installments], [[], 0]);
    assert.equal((await sale.ask(read(hold))).status, 'CONSUMED');
    sale.wait(HOUR);
    assert.equal((await sale.stock('d1')).sold, 2);
  }),

  scenario('An order may be free by its codes, but for its perks', evenings(), async (sale) => {
    assert.equal((await sale.ask(buy(adult(1), { promo_code: 'all' }))).payment_provider, 'FREE');
    const { payment_provider: provider, total_amount: total } = await sale.ask(
      buy(adult(1, { discount_code: 'ALL', ...beers(1) })),
    );
    assert.deepEqual([provider, total], ['provider_a', 500]);
  }),
];

const repeated: readonly Scenario[] = [
  scenario('An Idempotency-Key of a checkout gets its order again, whatever became of it', evenings(), async (sale) => {
    const keyed = buy(adult(2), {}, { key: 'key-1' });
    const first = await sale.ask(keyed);
    assert.deepEqual(await sale.repeats(keyed), first);
    sale.wait(31 * MINUTE);
    assert.deepEqual(await sale.repeats(keyed), first);
    assert.equal((await sale.ask(statusOf(first))).status, 'EXPIRED');
    const gift = buy(item('guest', 1), {}, { key: 'key-2' });
    assert.deepEqual(await sale.ask(gift), await sale.repeats(gift));
  }),

  scenario('An Idempotency-Key of another checkout is refused before anything else is', evenings(), async (sale) => {
    await sale.ask(buy(adult(2), {}, { key: 'key-1' }));
    await sale.refuses(buy(adult(2), { accept_terms: false }, { key: 'key-1' }), 'IDEMPOTENCY_KEY_REUSED', {});
  }),

  scenario('An Idempotency-Key of a checkout keeps no refusal', evenings(), async (sale) => {
    await sale.refuses(buy(adult(2), { accept_terms: false }, { key: 'key-1' }), 'TERMS_NOT_ACCEPTED', {});
    await sale.ask(buy(adult(2), {}, { key: 'key-1' }));
  }),
];

const bounded: readonly Scenario[] = [
  scenario(
    'max_per_order counts units, items of one kind on one date added up',
    evenings({ ticketTypes: TYPES.map((type) => ({ ...type, max_per_order: 2 })) }),
    async (sale) => {
      const detail = { limit: 2, requested: 3, ticket_type_id: 'group' };
      await sale.refuses(buy(item('group', 3)), 'MAX_PER_ORDER_EXCEEDED', detail);
      await sale.refuses(buy([item('group', 2), item('group', 1)]), 'MAX_PER_ORDER_EXCEEDED', detail);
      await sale.ask(buy([item('group', 2), item('group', 2, { performance_id: 'd2' })]));
    },
  ),

  scenario(
    'max_tickets_per_order counts the tickets of all items, and leaves a hold as it was',
    evenings({ max_tickets_per_order: 5 }),
    async (sale) => {
      const many = [item('group', 1), adult(2)];
      const detail = { limit: 5, requested: 6 };
      await sale.refuses(buy(many), 'MAX_TICKETS_PER_ORDER_EXCEEDED', detail);
      const hold = await sale.ask(place(many));
      await sale.refuses(checkout({ hold_id: hold.id }), 'MAX_TICKETS_PER_ORDER_EXCEEDED', detail);
      assert.equal((await sale.ask(read(hold))).status, 'ACTIVE');
      await sale.ask(buy([item('group', 1), adult(1)]));
    },
  ),

  scenario(
    'max_tickets_per_email counts the live orders of an address, however it is written',
    evenings({ max_tickets_per_email: 6 }),
    async (sale) => {
      const started = await sale.ask(buy(item('group', 1), customer('Anna+friends@Example.org ')));
      assert.equal((await sale.ask(order(started))).customer.email, 'Anna+friends@Example.org ');
      for (const email of ['anna@example.org', ' an\u200bna@ＥＸＡＭＰＬＥ.org']) {
        const detail = { limit: 6, requested: 3 };
        await sale.refuses(buy(adult(3), customer(email)), 'MAX_TICKETS_PER_EMAIL_EXCEEDED', detail);
      }
      await sale.ask(buy(adult(3), customer('anna@example.com')));
      await sale.ask(buy(adult(2), customer(' ANNA@example.org')));
      sale.wait(30 * MINUTE);
      await sale.ask(buy(adult(6), customer('anna@example.org')));
    },
  ),

  scenario('Attendees are as many as the tickets of their item', evenings(), async (sale) => {
    const detail = { ticket_type_id: 'group', expected: 4, given: 1 };
    await sale.refuses(buy(item('group', 1, people('Ada'))), 'ATTENDEE_COUNT_MISMATCH', detail);
    await sale.refuses(buy(adult(1, people())), 'ATTENDEE_COUNT_MISMATCH');
  }),

  scenario(
    'Attendees must be named where the event asks for them, with a hold too',
    evenings({ require_individual_data: true }),
    async (sale) => {
      const detail = { ticket_type_id: 'adult', expected: 1, given: 0 };
      await sale.refuses(buy(adult(1)), 'ATTENDEE_COUNT_MISMATCH', detail);
      const hold = await sale.ask(place(adult(1)));
      await sale.refuses(checkout({ hold_id: hold.id }), 'ATTENDEE_COUNT_MISMATCH', detail);
      await sale.ask(checkout({ hold_id: hold.id, items: [adult(1, people('Ada'))] }));
    },
  ),

  scenario('An order is paid in at most max_installments', evenings(), async (sale) => {
    await sale.refuses(buy(adult(1), { installment_count: 4 }), 'INSTALLMENTS_NOT_ALLOWED', { limit: 3, requested: 4 });
    const started = await sale.ask(buy(item('seat', 2), { installment_count: 3 }));
    assert.equal((await sale.ask(statusOf(started))).payments[0]!.amount, 1733, 'the larger parts come first');
  }),
];

const reduced: readonly Scenario[] = [
  scenario(
    'A code that is unknown, out of its time or not for these tickets is refused',
    (now) => evenings({ promoCodes: [...CODES, { code: 'OVER', percent_off: 50, ends_at: moment(now) }] }),
    async (sale) => {
      for (const code of ['NOSUCH', 'OVER', 'SEATS']) {
        const detail = { promo_code: code };
        await sale.refuses(buy(adult(1), { promo_code: code }), 'PROMO_CODE_INVALID', detail);
        await sale.refuses(buy(adult(1, { discount_code: code })), 'PROMO_CODE_INVALID', detail);
      }
    },
  ),

  scenario('A code of an order reduces the tickets that it is for', evenings(), async (sale) => {
    const started = await sale.ask(buy([adult(1), item('seat', 1)], { promo_code: 'SEATS' }));
    assert.equal(started.total_amount, 1000 + 1299);
    const { discounts } = await sale.ask(statusOf(started));
    assert.deepEqual(discounts, [{ code: 'SEATS', item_index: null, amount: 1300 }]);
  }),

  scenario("Codes apply one after the other: the item's own, then the order's", evenings(), async (sale) => {
    const started = await sale.ask(buy(item('seat', 1, { discount_code: 'THIRD' }), { promo_code: 'TENTH' }));
    const { discounts } = await sale.ask(statusOf(started));
    assert.deepEqual(
      discounts.map(({ amount }) => amount),
      [865, 173],
    );
    assert.equal(started.total_amount, 2599 - 865 - 173);
  }),

  scenario('An amount comes off each item that names its code, and off the order once', evenings(), async (sale) => {
    const five = adult(1, { discount_code: 'FIVE' });
    const started = await sale.ask(buy([five, five, adult(1)], { promo_code: 'five' }));
    assert.deepEqual(
      (await sale.ask(order(started))).items.map((line) => line.discount_amount),
      [1000, 500, 0],
    );
  }),

  scenario('The uses of a code are counted however it is typed, once for each order', evenings(), async (sale) => {
    const once = [adult(1, { discount_code: ' once ' }), item('seat', 1, { discount_code: 'once' })];
    const typed = await sale.ask(buy(adult(1), { promo_code: ' once ' }));
    await sale.refuses(buy(adult(1), { promo_code: 'ONCE' }), 'PROMO_CODE_EXHAUSTED', { promo_code: 'ONCE' });
    await sale.ask(cancelOrder(typed));
    const first = await sale.ask(buy(once, { promo_code: 'ONCE' }));
    for (const code of ['ONCE', 'once', ' once ', ' Once\u00a0']) {
      await sale.refuses(buy(adult(1), { promo_code: code }), 'PROMO_CODE_EXHAUSTED', { promo_code: 'ONCE' });
    }
    await sale.ask(cancelOrder(first));
    await sale.ask(buy(once));
    await sale.refuses(buy(once), 'PROMO_CODE_EXHAUSTED', { promo_code: 'ONCE' });
    sale.wait(30 * MINUTE);
    await sale.ask(buy(once));
  }),

  scenario('Perks must be of the ticket type, within their cap and in stock', evenings(), async (sale) => {
    await sale.refuses(buy(item('guest', 1, beers(1))), 'BAR_PERK_NOT_FOUND', { bar_perk_id: 'beer' });
    const three = { bar_perks: [...beers(2).bar_perks, ...beers(1).bar_perks] };
    const over = { limit: 2, requested: 3, bar_perk_id: 'beer' };
    await sale.refuses(buy(adult(1, three)), 'BAR_PERK_LIMIT_EXCEEDED', over);
    const soldOut = { bar_perk_id: 'beer', available: 5 };
    await sale.refuses(buy([adult(2, beers(3)), adult(2, beers(3))]), 'BAR_PERK_SOLD_OUT', soldOut);
    const glasses = { bar_perks: [{ bar_perk_id: 'glass', quantity: 99 }] };
    assert.equal((await sale.ask(buy(adult(1, glasses)))).total_amount, 1000 + 9900);
  }),

  scenario('Perks are taken with the order and return when it ends', evenings(), async (sale) => {
    const beersLeft = async () => (await sale.ask(lookAt())).ticketTypes[0]!.barPerks[0]!.available;
    await sale.ask(buy(adult(2, beers(4))));
    assert.equal(await beersLeft(), 1);
    await sale.refuses(buy(adult(1, beers(2))), 'BAR_PERK_SOLD_OUT', { bar_perk_id: 'beer', available: 1 });
    sale.wait(30 * MINUTE);
    assert.equal(await beersLeft(), 5);
  }),

  scenario('A quote prices the tickets of a hold with a code, and spends none', evenings(), async (sale) => {
    const hold = await sale.ask(place(item('seat', 2)));
    const priced = { tickets_amount: 5198, discount_amount: 0, currency: 'EUR' };
    assert.deepEqual(await sale.ask(quote(hold)), priced);
    const tenth = await sale.ask(quote(hold, { promo_code: ' tenth ' }));
    assert.deepEqual(tenth, { ...priced, tickets_amount: 4678, discount_amount: 520 });
    for (let time = 0; time < 3; time += 1) {
      assert.equal((await sale.changesNothing(quote(hold, { promo_code: 'ONCE' }))).tickets_amount, 2599);
    }
    await sale.refuses(quote(hold, { promo_code: 'NOTHING' }), 'PROMO_CODE_INVALID');
    await sale.refuses(quote(hold, { session_key: two.session }), 'HOLD_NOT_FOUND');
    const other = await sale.ask(place(item('seat', 1), two));
    assert.equal((await sale.ask(checkout({ hold_id: hold.id, promo_code: 'ONCE' }))).total_amount, 2599);
    const theirs = { session_key: two.session, promo_code: 'ONCE' };
    await sale.refuses(quote(other, theirs), 'PROMO_CODE_EXHAUSTED');
    sale.wait(10 * MINUTE);
    await sale.refuses(quote(other, theirs), 'HOLD_EXPIRED');
  }),
];

const shown: readonly Scenario[] = [
  scenario(
    'An order shows operators its items, prices, codes, perks, people and attribution',
    evenings(),
    async (sale) => {
      const agreed = {
        promo_code: 'TENTH',
        promoter_code: 'radio',
        referral_code: 'bo',
        success_url: 'https://shop.example/{ORDER_ID}',
      };
      const bob = { name: 'Bob', email: null, document_number: '42', phone: null };
      const started = await sale.ask(
        buy([item('group', 2, { discount_code: 'FIVE' }), adult(1, { ...beers(2), attendees: [bob] })], {
          ...agreed,
          tracking: { utm_source: 'x', other: 3 },
          customer: { email: 'ada@example.com', name: 'Ada', document_number: 'D1', phone: '0361' },
        }),
      );
      assert.equal(started.total_amount, 6000 - 500 - 550 + 1000 - 100 + 1000);
      const found = await sale.ask(order(started));
      assert.deepEqual({ ...found, ...agreed, cancel_url: null, tracking: { utm_source: 'x' } }, found);
      assert.deepEqual(found.customer, { email: 'ada@example.com', name: 'Ada', document_number: 'D1', phone: '0361' });
      assert.deepEqual(
        found.items.map(({ attendees, discount_amount: discount, bar_perks: perks }) => [attendees, discount, perks]),
        [
          [[], 1050, []],
          [[bob], 100, [{ bar_perk_id: 'beer', name: 'Beer', quantity: 2, unit_price: 500 }]],
        ],
      );
      const status = await sale.ask(statusOf(started));
      assert.deepEqual(status.discounts, [
        { code: 'FIVE', item_index: 0, amount: 500 },
        { code: 'TENTH', item_index: null, amount: 650 },
      ]);
      assert.deepEqual(status.customer, { email: 'ada@example.com', name: 'Ada' });
      const [{ sort_order: _, ...date }] = DATES as [(typeof DATES)[0]];
      assert.equal(status.event.name, 'Evenings');
      assert.deepEqual(status.event.performances, [{ ...date, status: 'ON_SALE' }]);
      await sale.ask(paid(started));
      assert.equal((await sale.ask(statusOf(started))).ticket_objects.at(-1)!.attendee?.name, 'Bob');
      for (const asked of [statusOf, order])
        await sale.refuses(asked({ order_id: unknownId('ord') }), 'ORDER_NOT_FOUND');
    },
  ),

  scenario(
    'The checks of a checkout run in the order of the API, and the first that fails answers',
    evenings({
      ticketTypes: TYPES.map((type) => ({ ...type, max_per_order: 6 })),
      max_tickets_per_order: 5,
      max_tickets_per_email: 4,
      require_individual_data: true,
      waiting_room: true,
    }),
    async (sale) => {
      const room = { session_key: one.session };
      const first = (await sale.ask(join())).id;
      const coded = adult(1, { performance_id: 'd2', discount_code: 'ONCE', ...people('Ada') });
      await sale.ask(buy(coded, { ...room, queue_pass: first }));
      const pass = (await sale.ask(join())).id;
      const hold = await sale.ask(place(adult(1), { ...one, pass }));

      let asked: ItemRequest = item('nosuch', 7, {
        discount_code: 'NOSUCH',
        bar_perks: [{ bar_perk_id: 'nosuch', quantity: 1 }],
        seat_ids: ['H-1-1'],
        performance_id: undefined,
      });
      let fields: object = { ...room, accept_terms: false, installment_count: 9, hold_id: unknownId('hld') };
      const step = async (code: Parameters<Sale['refuses']>[1], overrides: object, more: object = {}) => {
        await sale.refuses(buy(asked, { ...fields }), code);
        asked = { ...asked, ...overrides };
        fields = { ...fields, ...more };
      };
      await step('TERMS_NOT_ACCEPTED', {}, { accept_terms: true });
      await step('HOLD_NOT_FOUND', {}, { hold_id: hold.id });
      await step('HOLD_ITEMS_MISMATCH', {}, { hold_id: null });
      await step('QUEUE_PASS_REQUIRED', {}, { queue_pass: unknownId('que') });
      await step('QUEUE_PASS_INVALID', {}, { queue_pass: pass });
      await step('PERFORMANCE_REQUIRED', { performance_id: 'd9' });
      await step('PERFORMANCE_NOT_FOUND', { performance_id: 'd1' });
      await step('TICKET_TYPE_NOT_FOUND', { ticket_type_id: 'seat', selling_stage_id: 'nosuch' });
      await step('SELLING_STAGE_NOT_FOUND', { selling_stage_id: 'general' });
      await step('INSTALLMENTS_NOT_ALLOWED', {}, { installment_count: 1 });
      await step('MAX_PER_ORDER_EXCEEDED', { quantity: 6 });
      await step('MAX_TICKETS_PER_ORDER_EXCEEDED', { quantity: 4 });
      await step('MAX_TICKETS_PER_EMAIL_EXCEEDED', { quantity: 3 });
      await step('ATTENDEE_COUNT_MISMATCH', people('Ada', 'Bo', 'Cy'));
      await step('PROMO_CODE_INVALID', { discount_code: 'ONCE' });
      await step('PROMO_CODE_EXHAUSTED', { discount_code: undefined });
      await step('BAR_PERK_NOT_FOUND', { bar_perks: [] });
      await step('SEAT_COUNT_MISMATCH', { seat_ids: ['H-1-1', 'H-1-2', 'Z-9-9'] });
      await step('SEAT_NOT_IN_TICKET_TYPE', { seat_ids: ['H-1-1', 'H-1-2', 'H-1-3'] });
      await sale.ask(block('d1', 'H-1-1'));
      await step('SEAT_NOT_SELLABLE', { seat_ids: ['H-1-2', 'H-1-3', 'H-1-4'] });
      await sale.ask(reported('declined', await sale.ask(buy(asked, { ...fields }))));
    },
  ),
];

export const checkouts = [...ofHolds, ...ofItems, ...free, ...repeated, ...bounded, ...reduced, ...shown];
