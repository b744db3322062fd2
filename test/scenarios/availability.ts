/** What the event shows of its stock: rows of types and stages, dates, and what a session sees of its own hold. */
import assert from 'node:assert/strict';
import type { EventBody } from '#http/buyers/events/schema.ts';
import { clubNight, crew, floor, seat, theatreRun } from '../fixtures/events.ts';
import { buy, define, lookAt, one, place, two, type Asking } from './requests.ts';
import { HOUR, MINUTE, moment, scenario, type Sale, type Scenario } from './scenario.ts';

const rowOf = ({ ticketAvailability: rows }: EventBody, ticketTypeId: string) =>
  rows.find(({ ticket_type_id: id }) => id === ticketTypeId)!;

/** The available and the reserved tickets of a type in its first stage, of all dates or of one. */
async function figures(sale: Sale, ticketTypeId: string, performanceId?: string, asking: Asking = {}) {
  const query = performanceId === undefined ? {} : { performance_id: performanceId };
  const { performance_id: date, available, reserved } = rowOf(await sale.ask(lookAt(asking, query)), ticketTypeId);
  assert.equal(date, performanceId ?? null);
  return [available, reserved];
}

const later = { starts_at: '2028-06-01T18:00:00Z', ends_at: '2028-06-01T20:00:00Z' };

const showing: readonly Scenario[] = [
  scenario('Each pair of a type and a stage with a price has a row', clubNight(), async (sale) => {
    const { ticketAvailability: rows, sellingStages: stages } = await sale.ask(lookAt());
    const row = { performance_id: null, on_sale: true, reserved: 0, available: 100 };
    assert.deepEqual(rows, [
      { ...row, ticket_type_id: 'single', selling_stage_id: 'regular', price: 1900 },
      { ...row, ticket_type_id: 'single', selling_stage_id: 'late', price: 2500, on_sale: false },
      { ...row, ticket_type_id: 'crew', selling_stage_id: 'regular', price: 6800, available: 40 },
    ]);
    assert.deepEqual(
      stages.map(({ id, on_sale: onSale, starts_at: begin }) => [id, onSale, begin]),
      [
        ['regular', true, null],
        ['late', false, '2028-05-08T12:00:00.000Z'],
      ],
    );
  }),

  scenario('Rows count tickets, not units', clubNight(), async (sale) => {
    await sale.ask(place(crew(2)));
    assert.deepEqual(await figures(sale, 'crew'), [32, 8]);
  }),

  scenario(
    'A row has what is left in the locality, in the quota of the type and in that of the stage',
    clubNight({ sellingStages: [{ id: 'regular', prices: { single: 100, crew: 400 }, quotas: { single: 70 } }] }),
    async (sale) => {
      assert.deepEqual([await figures(sale, 'single'), await figures(sale, 'crew')].flat(), [70, 0, 40, 0]);
      await sale.ask(place(floor(70)));
      assert.deepEqual([await figures(sale, 'single'), await figures(sale, 'crew')].flat(), [0, 70, 30, 0]);
    },
  ),

  scenario('Rows sum over the dates; one date may be asked for', theatreRun(), async (sale) => {
    await sale.ask(place(seat('standing', 'fri', 3)));
    assert.deepEqual(await figures(sale, 'standing'), [37, 3]);
    assert.deepEqual(await figures(sale, 'standing', 'fri'), [17, 3]);
    assert.deepEqual(await figures(sale, 'standing', 'sat'), [20, 0]);
    const { performances } = await sale.ask(lookAt());
    assert.deepEqual(
      performances.map(({ id, total_available: total }) => [id, total]),
      [
        ['fri', 47],
        ['sat', 50],
      ],
      'each ticket is counted once',
    );
    await sale.refuses(lookAt({}, { performance_id: 'sun' }), 'PERFORMANCE_NOT_FOUND');
  }),

  scenario("A session's own hold is free for it, and for nobody else", clubNight(), async (sale) => {
    await sale.ask(place(floor(60)));
    for (const [asking, available] of [[{}, 40] as const, [one, 100] as const, [two, 40] as const]) {
      assert.equal((await figures(sale, 'single', undefined, asking))[0], available);
    }
  }),

  scenario(
    'A stage is on sale between its times',
    (now) =>
      clubNight({
        sellingStages: [
          { id: 'soon', starts_at: moment(now + MINUTE), ends_at: moment(now + 2 * MINUTE), prices: { single: 1 } },
        ],
      }),
    async (sale) => {
      for (const [ms, isOnSale] of [
        [MINUTE - 1, false],
        [1, true],
        [MINUTE - 1, true],
        [1, false],
      ] as const) {
        sale.wait(ms);
        assert.equal(rowOf(await sale.ask(lookAt()), 'single').on_sale, isOnSale);
      }
    },
  ),

  scenario('A draft is not shown', clubNight({ status: 'DRAFT' }), async (sale) => {
    await sale.refuses(lookAt(), 'EVENT_NOT_FOUND');
  }),
];

const dates: readonly Scenario[] = [
  scenario(
    'Dates that are drafts are not shown; cancelled, closed and past ones have nothing, at the price that they had',
    (now) =>
      clubNight({
        performances: [
          { id: 'open', ...later },
          { id: 'closed', ...later, status: 'SOLD_OUT' },
          { id: 'off', ...later, status: 'CANCELLED' },
          { id: 'hidden', ...later, status: 'DRAFT' },
          { id: 'past', starts_at: moment(now - 2 * HOUR), ends_at: moment(now - HOUR) },
        ],
      }),
    async (sale) => {
      const body = await sale.ask(lookAt());
      assert.deepEqual(
        body.performances.map((date) => [date.id, date.status, date.on_sale, date.total_available, date.from_price]),
        [
          ['open', 'ON_SALE', true, 100, 1900],
          ['closed', 'SOLD_OUT', false, 0, 1900],
          ['off', 'CANCELLED', false, 0, 1900],
          ['past', 'ON_SALE', false, 0, 1900],
        ],
      );
      assert.equal(body.performances.find(({ id }) => id === 'closed')!.sold_out, true);
      assert.equal(rowOf(body, 'single').available, 100);
      assert.equal(rowOf(await sale.ask(lookAt({}, { performance_id: 'off' })), 'single').on_sale, false);
      await sale.refuses(lookAt({}, { performance_id: 'hidden' }), 'PERFORMANCE_NOT_FOUND');
    },
  ),

  scenario(
    'A date is on sale while a stage is open, something is left and it is not over',
    (now) =>
      clubNight({
        performances: [{ id: 'night', starts_at: moment(now + 10 * MINUTE), ends_at: moment(now + 70 * MINUTE) }],
        localities: [{ id: 'floor', seating: 'GENERAL', capacity: 5 }],
        ticketTypes: [{ id: 'crew', locality_id: 'floor', group_size: 4 }],
        sellingStages: [{ id: 'evening', starts_at: moment(now + 10 * MINUTE), prices: { crew: 6800 } }],
      }),
    async (sale) => {
      const isOnSale = async (asking: Asking = {}) => (await sale.ask(lookAt(asking))).performances[0]!.on_sale;
      assert.equal(await isOnSale(), false, 'no stage is open');
      sale.wait(10 * MINUTE);
      assert.equal(await isOnSale(), true);
      await sale.ask(place(crew(1, { selling_stage_id: 'evening' })));
      assert.equal(await isOnSale(), false, 'one place is left, and a crew takes four');
      assert.equal(await isOnSale(one), true, "the session's own hold counts as free");
      sale.wait(10 * MINUTE);
      assert.equal(await isOnSale(), true, 'the hold ran out');
      sale.wait(50 * MINUTE);
      const { performances, ticketAvailability: rows } = await sale.ask(lookAt());
      assert.deepEqual([performances[0]!.on_sale, performances[0]!.status], [false, 'ON_SALE']);
      assert.deepEqual([rows[0]!.on_sale, rows[0]!.available], [false, 0]);
    },
  ),

  scenario('A date may have no fixed time', clubNight({ performances: [{ id: 'any' }] }), async (sale) => {
    const [any] = (await sale.ask(lookAt())).performances;
    assert.deepEqual([any!.starts_at, any!.ends_at, any!.on_sale], [null, null, true]);
  }),

  scenario(
    'reserved sums over the dates as rows do, also those that are over while a hold runs',
    (now) => clubNight({ performances: [{ id: 'tonight', ends_at: moment(now + 5 * MINUTE) }, { id: 'later' }] }),
    async (sale) => {
      await sale.ask(place([floor(3, { performance_id: 'tonight' }), floor(2, { performance_id: 'later' })]));
      sale.wait(5 * MINUTE);
      assert.deepEqual(await figures(sale, 'single', 'tonight'), [0, 3]);
      assert.deepEqual(await figures(sale, 'single', 'later'), [98, 2]);
      assert.deepEqual(await figures(sale, 'single'), [98, 5]);
    },
  ),

  scenario(
    'Dates that are all drafts cannot be named',
    clubNight({ performances: [{ id: 'x', ...later, status: 'DRAFT' }] }),
    async (sale) => {
      await sale.refuses(place(floor(1)), 'PERFORMANCE_NOT_FOUND', { performance_id: null });
      await sale.refuses(buy(floor(1)), 'PERFORMANCE_NOT_FOUND');
      assert.deepEqual((await sale.ask(lookAt())).performances, []);
    },
  ),

  scenario(
    'A date of several is not sold_out while others merely hold the rest',
    clubNight({ performances: ['fri', 'sat'].map((id) => ({ id, ...later })) }),
    async (sale) => {
      await sale.ask(place(floor(100, { performance_id: 'fri' })));
      const [friday] = (await sale.ask(lookAt())).performances;
      assert.deepEqual([friday!.total_available, friday!.sold_out, friday!.status], [0, false, 'ON_SALE']);
    },
  ),
];

const updates: readonly Scenario[] = [
  scenario('A definition that takes away what is held is refused, every conflict named', theatreRun(), async (sale) => {
    await sale.ask(place([seat('standing', 'fri', 5), seat('gallery', 'fri', 1, { seat_ids: ['G-A-6'] })]));
    const [hall, yard] = (theatreRun() as { localities: { sections: object[] }[] }).localities;
    const fewer = {
      ...hall,
      sections: [hall!.sections[0], { id: 'G', zone_key: 'gallery', rows: [{ label: 'A', seats: 5 }] }],
    };
    const smaller = theatreRun({ localities: [fewer, { ...yard, capacity: 4 }] });
    const detail = await sale.refuses(define(smaller), 'UPDATE_CONFLICT');
    assert.deepEqual((detail['conflicts'] as { path: string }[]).map(({ path }) => path).toSorted(), [
      '/localities/0/sections',
      '/localities/1/capacity',
    ]);
    assert.equal((await sale.stock('fri')).available, 44);
  }),

  scenario(
    'An equal definition changes nothing, and a larger one adds its stock at once',
    clubNight(),
    async (sale) => {
      await sale.changesNothing(define(clubNight()));
      await sale.ask(place(floor(100)));
      await sale.refuses(place(floor(2), two), 'INSUFFICIENT_TICKETS');
      await sale.ask(define(clubNight({ localities: [{ id: 'floor', seating: 'GENERAL', capacity: 102 }] })));
      await sale.ask(place(floor(2), two));
    },
  ),
];

export const availabilities = [...showing, ...dates, ...updates];
