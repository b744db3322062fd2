/** Purchase limits of holds: where the event wants it so, what no order could take is not held either. */
import assert from 'node:assert/strict';
import { clubNight, crew, floor, seat, theatreRun } from '../fixtures/events.ts';
import { change, checkout, place, read } from './requests.ts';
import { MINUTE, scenario, type Scenario } from './scenario.ts';

/** Four singles and two crews a performance, six tickets an order, for holds as well. */
const capped = (overrides: object = {}) => {
  const [single, crews] = (clubNight() as { readonly ticketTypes: readonly object[] }).ticketTypes;
  const ticketTypes = [
    { ...single, max_per_order: 4 },
    { ...crews, max_per_order: 2 },
  ];
  return clubNight({ ticketTypes, max_tickets_per_order: 6, limits_at_hold: true, ...overrides });
};

const overType = { limit: 4, requested: 5, ticket_type_id: 'single' };

export const limits: readonly Scenario[] = [
  scenario('A hold over max_per_order of a ticket type is refused', capped(), async (sale) => {
    await sale.refuses(place(floor(5)), 'MAX_PER_ORDER_EXCEEDED', overType);
    assert.equal((await sale.stock()).available, 100);
  }),

  scenario(
    'max_per_order counts all items and stages of a date together',
    capped({
      sellingStages: [
        { id: 'regular', prices: { single: 1900 } },
        { id: 'evening', prices: { single: 2100 } },
      ],
    }),
    async (sale) => {
      const items = [floor(2), floor(1), floor(2, { selling_stage_id: 'evening' })];
      await sale.refuses(place(items), 'MAX_PER_ORDER_EXCEEDED', overType);
      await sale.ask(place(items.slice(1)));
    },
  ),

  scenario(
    'max_per_order counts each date by itself',
    capped({
      performances: ['fri', 'sat'].map((id) => ({ id, starts_at: '2028-05-12T18:00:00Z' })),
      max_tickets_per_order: null,
    }),
    async (sale) => {
      await sale.ask(place([floor(4, { performance_id: 'fri' }), floor(4, { performance_id: 'sat' })]));
    },
  ),

  scenario('max_tickets_per_order counts group tickets in full', capped(), async (sale) => {
    await sale.refuses(place(crew(2)), 'MAX_TICKETS_PER_ORDER_EXCEEDED', { limit: 6, requested: 8 });
    await sale.refuses(place([crew(1), floor(3)]), 'MAX_TICKETS_PER_ORDER_EXCEEDED', { limit: 6, requested: 7 });
    await sale.ask(place([crew(1), floor(2)]));
  }),

  scenario(
    'A hold of more than 10,000 tickets is refused where the event has no cap',
    clubNight({ localities: [{ id: 'floor', seating: 'GENERAL', capacity: 50_000 }] }),
    async (sale) => {
      const detail = { limit: 10_000, requested: 10_001 };
      await sale.refuses(place(floor(10_001)), 'MAX_TICKETS_PER_ORDER_EXCEEDED', detail);
      await sale.ask(place(floor(10_000)));
    },
  ),

  scenario('A hold over a limit leaves the hold of its session and its window', capped(), async (sale) => {
    const hold = await sale.ask(place(floor(2)));
    sale.wait(MINUTE);
    await sale.refuses(place(floor(5)), 'MAX_PER_ORDER_EXCEEDED');
    await sale.refuses(change(hold, floor(5)), 'MAX_PER_ORDER_EXCEEDED', overType);
    const detail = { limit: 6, requested: 8 };
    await sale.refuses(change(hold, [floor(4), crew(1)]), 'MAX_TICKETS_PER_ORDER_EXCEEDED', detail);
    // Lines that are not named count too.
    await sale.refuses(change(hold, crew(2)), 'MAX_TICKETS_PER_ORDER_EXCEEDED', { limit: 6, requested: 10 });
    assert.deepEqual(await sale.ask(read(hold)), hold);
  }),

  scenario(
    'Limits of a hold are checked after types and stages, and before seats and stock',
    capped(),
    async (sale) => {
      await sale.refuses(place([floor(5), floor(1, { ticket_type_id: 'none' })]), 'TICKET_TYPE_NOT_FOUND');
      await sale.refuses(place([floor(5), floor(1, { selling_stage_id: 'late' })]), 'TICKET_NOT_ON_SALE');
      await sale.refuses(place(floor(101)), 'MAX_PER_ORDER_EXCEEDED');
    },
  ),

  scenario(
    'Limits of a hold are checked before its picked seats',
    theatreRun({ max_tickets_per_order: 3, limits_at_hold: true }),
    async (sale) => {
      const seats = seat('stalls', 'fri', 4, { seat_ids: ['S-A-1', 'nowhere'] });
      await sale.refuses(place(seats), 'MAX_TICKETS_PER_ORDER_EXCEEDED');
    },
  ),

  scenario(
    'Without limits_at_hold the limits are left to the checkout, and the stock to the hold',
    capped({ limits_at_hold: undefined }),
    async (sale) => {
      const hold = await sale.ask(place([floor(5), crew(3)]));
      await sale.ask(change(hold, floor(60)));
      await sale.refuses(checkout({ hold_id: hold.id }), 'MAX_PER_ORDER_EXCEEDED');
      await sale.refuses(place(floor(101)), 'INSUFFICIENT_TICKETS');
    },
  ),
];
