/** Holds: placed, changed, released, run out; what they may ask for and what they leave to others. */
import assert from 'node:assert/strict';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { ItemRequest } from '../fixtures/client.ts';
import { clubNight, crew, floor, seat, theatreRun } from '../fixtures/events.ts';
import {
  block,
  cancelPerformance,
  change,
  define,
  lookAt,
  occupancy,
  one,
  place,
  read,
  release,
  three,
  two,
  type Asking,
} from './requests.ts';
import { HOUR, MINUTE, moment, scenario, type Sale, type Scenario } from './scenario.ts';

/** The available and the reserved singles of the club night, for everybody or for a session. */
async function singlesLeft(sale: Sale, asking: Asking = {}): Promise<readonly [available: number, reserved: number]> {
  const { ticketAvailability } = await sale.ask(lookAt(asking));
  const row = ticketAvailability.find(({ ticket_type_id: id }) => id === 'single')!;
  return [row.available, row.reserved];
}

const linesOf = ({ items }: HoldBody) => items.map(({ ticket_type_id: type, quantity }) => [type, quantity]);
const seatsOf = ({ items }: HoldBody) => items.flatMap(({ seat_ids: seatIds }) => seatIds);
const stalls = (...seatIds: string[]): ItemRequest => seat('stalls', 'fri', seatIds.length, { seat_ids: seatIds });
const endOf = ({ expires_at: end }: HoldBody): number => Date.parse(end);

function assertAdjacent(seatIds: readonly string[]): void {
  const numbers = seatIds.map((id) => Number(id.split('-').at(-1))).sort((a, b) => a - b);
  numbers.forEach((number, index) => assert.equal(number, numbers[0]! + index, seatIds.join()));
}

/** Dates of the club night in every status, and one that is over. */
const datesOfAllStatuses = (now: number) => {
  const dates = ['ON_SALE', 'SOLD_OUT', 'CANCELLED', 'DRAFT'].map((status) => ({
    id: status.toLowerCase(),
    starts_at: moment(now + HOUR),
    ends_at: moment(now + 2 * HOUR),
    status,
  }));
  const over = { id: 'over', starts_at: moment(now - 2 * HOUR), ends_at: moment(now - HOUR) };
  return clubNight({ performances: [...dates, over] });
};

const placing: readonly Scenario[] = [
  scenario('A hold is answered with its lines, its tickets and the end of its window', clubNight(), async (sale) => {
    const hold = await sale.ask(place([floor(2), crew(1)]));
    const line = { selling_stage_id: 'regular', performance_id: 'night', seat_ids: [], seat_labels: [] };
    const { event_id: eventId, ...body } = hold;
    assert.match(eventId, /^evt_/);
    assert.deepEqual(body, {
      id: hold.id,
      status: 'ACTIVE',
      expires_at: moment(sale.now() + 10 * MINUTE),
      order_id: null,
      items: [
        { ...line, ticket_type_id: 'single', quantity: 2, ticket_count: 2 },
        { ...line, ticket_type_id: 'crew', quantity: 1, ticket_count: 4 },
      ],
    });
    assert.deepEqual(await sale.ask(read(hold)), hold);
  }),

  scenario(
    'A hold takes its tickets from what others can have, and the session sees its own as free',
    clubNight(),
    async (sale) => {
      await sale.ask(place(crew(3)));
      assert.deepEqual(await singlesLeft(sale), [88, 0], 'quantity × group_size');
      await sale.ask(place(floor(5), two));
      assert.deepEqual(await singlesLeft(sale), [83, 5]);
      assert.deepEqual(await singlesLeft(sale, one), [95, 5]);
    },
  ),

  scenario('Items of the same ticket type, stage and date are added up to one line', clubNight(), async (sale) => {
    assert.deepEqual(linesOf(await sale.ask(place([floor(2), floor(3)]))), [['single', 5]]);
    await sale.refuses(place([floor(60), floor(41)]), 'INSUFFICIENT_TICKETS');
    // All types of one locality share its tickets.
    await sale.refuses(place([floor(90), crew(2), floor(3)], two), 'INSUFFICIENT_TICKETS');
  }),

  scenario(
    'A hold needs a performance_id where the event has several dates, and none where it has one',
    theatreRun(),
    async (sale) => {
      const item = { ticket_type_id: 'standing', selling_stage_id: 'general', quantity: 1 };
      await sale.refuses(place(item), 'PERFORMANCE_REQUIRED');
      const [friday] = (theatreRun() as { performances: object[] }).performances;
      await sale.ask(define(theatreRun({ performances: [friday] })));
      assert.equal((await sale.ask(place(item))).items[0]!.performance_id, 'fri');
    },
  ),

  scenario(
    'A date that is a draft is not found; one that is over or closed is not on sale',
    datesOfAllStatuses,
    async (sale) => {
      const on = (id: string) => place(floor(1, { performance_id: id }));
      await sale.ask(on('on_sale'));
      for (const id of ['nowhere', 'draft']) {
        await sale.refuses(on(id), 'PERFORMANCE_NOT_FOUND', { performance_id: id });
      }
      for (const id of ['sold_out', 'cancelled', 'over']) {
        await sale.refuses(on(id), 'PERFORMANCE_NOT_ON_SALE', { performance_id: id });
      }
      sale.wait(2 * HOUR);
      await sale.refuses(on('on_sale'), 'PERFORMANCE_NOT_ON_SALE');
    },
  ),

  scenario('A ticket type and a stage must be known, open, and sold together', clubNight(), async (sale) => {
    await sale.refuses(place(floor(1, { ticket_type_id: 'double' })), 'TICKET_TYPE_NOT_FOUND', {
      ticket_type_id: 'double',
    });
    await sale.refuses(place(floor(1, { selling_stage_id: 'early' })), 'SELLING_STAGE_NOT_FOUND', {
      selling_stage_id: 'early',
    });
    await sale.refuses(place(floor(1, { selling_stage_id: 'late' })), 'TICKET_NOT_ON_SALE', {
      ticket_type_id: 'single',
      selling_stage_id: 'late',
    });
    await sale.refuses(place(crew(1, { selling_stage_id: 'late' })), 'TICKET_NOT_ON_SALE');
  }),

  scenario(
    'Checks of a hold go over all items: dates before types, types before seats, seats before stock',
    datesOfAllStatuses,
    async (sale) => {
      const item = (quantity: number, more: object = {}) => floor(quantity, { performance_id: 'on_sale', ...more });
      const unknown = item(1, { ticket_type_id: 'none', selling_stage_id: 'none' });
      await sale.refuses(place([unknown, item(1, { performance_id: 'cancelled' })]), 'PERFORMANCE_NOT_ON_SALE');
      await sale.refuses(place({ ...unknown, performance_id: 'never' }), 'PERFORMANCE_NOT_FOUND');
      await sale.refuses(place([item(101), unknown]), 'TICKET_TYPE_NOT_FOUND');
    },
  ),

  scenario(
    'Picked seats are as many as the tickets, before the stock of any item is looked at',
    theatreRun(),
    async (sale) => {
      const items = [seat('standing', 'fri', 99), seat('stalls', 'fri', 1, { seat_ids: ['S-A-1', 'S-A-2'] })];
      await sale.refuses(place(items), 'SEAT_COUNT_MISMATCH', { ticket_type_id: 'stalls', expected: 1, given: 2 });
      await sale.refuses(place(items[0]!), 'INSUFFICIENT_TICKETS');
    },
  ),

  scenario('Picked seats that do not fit are refused, every one named', theatreRun(), async (sale) => {
    await sale.ask(block('fri', 'S-A-6'));
    await sale.ask(place(stalls('S-A-1', 'S-A-2'), two));
    await sale.refuses(place(stalls('G-A-1', 'S-Z-9')), 'SEAT_NOT_IN_TICKET_TYPE', { seat_ids: ['G-A-1', 'S-Z-9'] });
    await sale.refuses(place(stalls('S-A-6', 'S-A-1')), 'SEAT_NOT_SELLABLE', { seat_ids: ['S-A-6'] });
    await sale.refuses(place([stalls('S-A-1'), stalls('S-A-3', 'S-A-2')]), 'SEAT_TAKEN', {
      seat_ids: ['S-A-1', 'S-A-2'],
    });
    await sale.refuses(place([stalls('S-A-3'), stalls('S-A-3')]), 'VALIDATION_ERROR');
    await sale.refuses(place(seat('standing', 'fri', 1, { seat_ids: ['S-A-3'] })), 'VALIDATION_ERROR');
    await sale.ask(place(stalls('S-A-3', 'S-A-4')));
  }),

  scenario(
    'Missing tickets are refused with what the session could still take, and when the rest may return',
    clubNight(),
    async (sale) => {
      const theirs = await sale.ask(place(floor(70), two));
      await sale.ask(place(floor(20)));
      const where = { ticket_type_id: 'single', selling_stage_id: 'regular', performance_id: 'night' };
      await sale.refuses(place(floor(31)), 'INSUFFICIENT_TICKETS', {
        available: 30,
        reserved_by_others: true,
        next_release_at: theirs.expires_at,
        ...where,
      });
      await sale.ask(release(theirs, two));
      await sale.refuses(place(floor(101)), 'INSUFFICIENT_TICKETS', {
        available: 100,
        reserved_by_others: false,
        next_release_at: null,
        ...where,
      });
    },
  ),

  scenario('The quota of a ticket type counts tickets', clubNight(), async (sale) => {
    await sale.ask(place(crew(10)));
    assert.equal((await sale.refuses(place(crew(11)), 'INSUFFICIENT_TICKETS'))['available'], 40);
    assert.equal((await sale.refuses(place(crew(1), two), 'INSUFFICIENT_TICKETS'))['available'], 0);
  }),

  scenario(
    'The quota of a stage counts tickets',
    clubNight({ sellingStages: [{ id: 'regular', prices: { single: 1, crew: 2 }, quotas: { crew: 8 } }] }),
    async (sale) => {
      await sale.ask(place(crew(2)));
      assert.equal((await sale.refuses(place(crew(1), two), 'INSUFFICIENT_TICKETS'))['available'], 0);
      await sale.ask(place(floor(1), two));
    },
  ),

  scenario(
    'Seats that are assigned lie side by side, away from those that other items name',
    theatreRun(),
    async (sale) => {
      const gallery = (quantity: number, more: object = {}) => seat('gallery', 'fri', quantity, more);
      const hold = await sale.ask(place([gallery(2, { seat_ids: ['G-A-3', 'G-A-4'] }), gallery(2)]));
      assert.deepEqual(seatsOf(hold), ['G-A-3', 'G-A-4', 'G-A-1', 'G-A-2']);
      const refusal = await sale.refuses(place(gallery(3), two), 'INSUFFICIENT_TICKETS');
      assert.equal(refusal['largest_block'], 2);
    },
  ),

  scenario('A hold over two dates takes all of its items or none', theatreRun(), async (sale) => {
    const both = (fri: number, sat: number) => [seat('standing', 'fri', fri), seat('standing', 'sat', sat)];
    const held = async () => [(await sale.stock('fri')).held, (await sale.stock('sat')).held];
    await sale.ask(place(seat('standing', 'sat', 16), two));
    await sale.refuses(place(both(5, 5)), 'INSUFFICIENT_TICKETS');
    assert.deepEqual(await held(), [0, 16]);
    const hold = await sale.ask(place(both(2, 3)));
    assert.deepEqual(
      hold.items.map((item) => [item.performance_id, item.ticket_count]),
      [
        ['fri', 2],
        ['sat', 3],
      ],
    );
    assert.deepEqual(await held(), [2, 19]);
    await sale.ask(place(seat('stalls', 'sat', 1, { seat_ids: ['S-A-5'] }), three));
    const taken = [stalls('S-A-5'), seat('stalls', 'sat', 1, { seat_ids: ['S-A-5'] })];
    await sale.refuses(place(taken), 'SEAT_TAKEN', { seat_ids: ['S-A-5'] });
    assert.deepEqual(await held(), [2, 20]);
  }),
];

const owning: readonly Scenario[] = [
  scenario(
    'A hold of another session is not found, exactly as an id that does not exist',
    clubNight(),
    async (sale) => {
      const hold = await sale.ask(place(floor(1)));
      const unknown = { id: `${hold.id.slice(0, -4)}AAAA` };
      for (const each of [hold, unknown]) {
        await sale.refuses(read(each, two), 'HOLD_NOT_FOUND', {});
        await sale.refuses(change(each, floor(2), two), 'HOLD_NOT_FOUND', {});
        await sale.refuses(release(each, two), 'HOLD_NOT_FOUND', {});
      }
      await sale.refuses(read(unknown), 'HOLD_NOT_FOUND');
      await sale.refuses(change(unknown, floor(1)), 'HOLD_NOT_FOUND');
      assert.equal((await sale.ask(read(hold))).status, 'ACTIVE');
    },
  ),

  scenario(
    "A new hold of a session replaces its hold on the event, and leaves others' alone",
    clubNight(),
    async (sale) => {
      const first = await sale.ask(place(floor(3)));
      const theirs = await sale.ask(place(floor(1), two));
      const second = await sale.ask(place(floor(2)));
      assert.equal((await sale.ask(read(first))).status, 'RELEASED');
      assert.equal((await sale.ask(read(second))).status, 'ACTIVE');
      assert.equal((await sale.ask(read(theirs, two))).status, 'ACTIVE');
      assert.equal((await sale.stock()).held, 3);
    },
  ),

  scenario(
    'A new hold of a session may use the tickets and seats of the hold it replaces',
    theatreRun(),
    async (sale) => {
      await sale.ask(place([seat('standing', 'fri', 15), stalls('S-A-1', 'S-A-2')]));
      await sale.ask(place([seat('standing', 'fri', 20), stalls('S-A-2', 'S-A-3')]));
      assert.deepEqual((await sale.ask(occupancy({ performance_id: 'fri' }))).held, ['S-A-2', 'S-A-3']);
      assert.equal((await sale.stock('fri')).held, 22);
    },
  ),

  scenario('A new hold that is refused leaves the hold of the session and its window', clubNight(), async (sale) => {
    const hold = await sale.ask(place(floor(3)));
    sale.wait(MINUTE);
    await sale.refuses(place(floor(101)), 'INSUFFICIENT_TICKETS');
    assert.deepEqual(await sale.ask(read(hold)), hold);
  }),
];

const changing: readonly Scenario[] = [
  scenario(
    'A change sets the quantities that it names, keeps other lines and restarts the window',
    clubNight(),
    async (sale) => {
      const hold = await sale.ask(place([floor(2), crew(1)]));
      sale.wait(MINUTE);
      const changed = await sale.ask(change(hold, floor(5)));
      assert.equal(changed.id, hold.id);
      assert.equal(changed.expires_at, moment(sale.now() + 10 * MINUTE));
      assert.deepEqual(linesOf(changed), [
        ['single', 5],
        ['crew', 1],
      ]);
      assert.deepEqual(await sale.ask(read(hold)), changed);
    },
  ),

  scenario(
    'A change adds lines that the hold does not have, on other dates too, and drops those at 0',
    theatreRun(),
    async (sale) => {
      const [friday, saturday] = ['fri', 'sat'].map((date) => (quantity: number) => seat('standing', date, quantity));
      const hold = await sale.ask(place([friday!(2), saturday!(1)]));
      const grown = await sale.ask(change(hold, [friday!(5), seat('gallery', 'fri', 1)]));
      assert.deepEqual(
        grown.items.map((item) => [item.ticket_type_id, item.performance_id, item.quantity]),
        [
          ['standing', 'fri', 5],
          ['standing', 'sat', 1],
          ['gallery', 'fri', 1],
        ],
      );
      const shrunk = await sale.ask(change(hold, [friday!(0), seat('gallery', 'fri', 0)]));
      assert.deepEqual(
        shrunk.items.map((item) => item.performance_id),
        ['sat'],
      );
      assert.deepEqual([(await sale.stock('fri')).held, (await sale.stock('sat')).held], [0, 1]);
    },
  ),

  scenario('A change keeps at least one line and names each once', clubNight(), async (sale) => {
    const hold = await sale.ask(place(floor(1)));
    await sale.refuses(change(hold, floor(0)), 'VALIDATION_ERROR');
    await sale.refuses(change(hold, [floor(2), floor(3)]), 'VALIDATION_ERROR');
    assert.deepEqual(await sale.ask(read(hold)), hold);
  }),

  scenario(
    'A change accepts quantity 0 for a line that the hold does not have, not for an unknown one',
    clubNight(),
    async (sale) => {
      const hold = await sale.ask(place(floor(1)));
      assert.deepEqual(linesOf(await sale.ask(change(hold, crew(0)))), [['single', 1]]);
      await sale.refuses(change(hold, floor(0, { ticket_type_id: 'none' })), 'TICKET_TYPE_NOT_FOUND');
      await sale.refuses(change(hold, floor(0, { selling_stage_id: 'none' })), 'SELLING_STAGE_NOT_FOUND');
    },
  ),

  scenario('A change that is refused leaves the hold and its window', clubNight(), async (sale) => {
    const hold = await sale.ask(place(floor(2)));
    await sale.ask(place(floor(90), two));
    sale.wait(MINUTE);
    await sale.refuses(change(hold, [floor(1), crew(3)]), 'INSUFFICIENT_TICKETS');
    await sale.refuses(change(hold, [floor(1), floor(1, { ticket_type_id: 'none' })]), 'TICKET_TYPE_NOT_FOUND');
    assert.deepEqual(await sale.ask(read(hold)), hold);
    assert.equal((await sale.stock()).held, 92);
  }),

  scenario("A change counts the hold's own tickets as free", clubNight(), async (sale) => {
    const hold = await sale.ask(place(floor(60)));
    assert.deepEqual(linesOf(await sale.ask(change(hold, floor(100)))), [['single', 100]]);
  }),

  scenario(
    'A line that grows takes no tickets of the lines that are kept',
    clubNight({ localities: [{ id: 'floor', seating: 'GENERAL', capacity: 11 }] }),
    async (sale) => {
      const hold = await sale.ask(place([crew(1), floor(4)]));
      await sale.refuses(change(hold, crew(2)), 'INSUFFICIENT_TICKETS');
    },
  ),

  scenario('A change of a hold that ran out, was released or never was is refused', clubNight(), async (sale) => {
    const released = await sale.ask(place(floor(1), two));
    await sale.ask(release(released, two));
    await sale.refuses(change(released, floor(1), two), 'HOLD_NOT_ACTIVE', { status: 'RELEASED' });
    const expired = await sale.ask(place(floor(1)));
    sale.wait(10 * MINUTE);
    await sale.refuses(change(expired, floor(2)), 'HOLD_EXPIRED', {});
  }),

  scenario(
    'A change checks the dates of all items before the types of any, wherever tickets are added',
    theatreRun(),
    async (sale) => {
      const item = (date: string, quantity: number) => seat('standing', date, quantity);
      const hold = await sale.ask(place([item('sat', 1), item('fri', 1)]));
      await sale.refuses(change(hold, [seat('none', 'fri', 1), item('never', 1)]), 'PERFORMANCE_NOT_FOUND');
      const { performances } = theatreRun() as { performances: { id: string }[] };
      const [friday, saturday] = performances;
      await sale.ask(define(theatreRun({ performances: [{ ...friday, status: 'SOLD_OUT' }, saturday] })));
      await sale.refuses(change(hold, [seat('none', 'sat', 1), item('fri', 3)]), 'PERFORMANCE_NOT_ON_SALE');
      await sale.refuses(change(hold, [seat('none', 'sat', 1), item('fri', 1)]), 'TICKET_TYPE_NOT_FOUND');
    },
  ),

  scenario(
    'A line may shrink but not grow once its stage has closed',
    (now) =>
      clubNight({ sellingStages: [{ id: 'regular', ends_at: moment(now + 5 * MINUTE), prices: { single: 1 } }] }),
    async (sale) => {
      const hold = await sale.ask(place(floor(3)));
      sale.wait(6 * MINUTE);
      await sale.refuses(change(hold, floor(4)), 'TICKET_NOT_ON_SALE');
      assert.deepEqual(await sale.ask(read(hold)), hold);
      assert.deepEqual(linesOf(await sale.ask(change(hold, floor(1)))), [['single', 1]]);
    },
  ),

  scenario(
    'A line of seats grows beside those it has, and shrinks without leaving a seat alone',
    theatreRun(),
    async (sale) => {
      const hold = await sale.ask(place(stalls('S-A-5', 'S-A-6')));
      const grown = seatsOf(await sale.ask(change(hold, seat('stalls', 'fri', 4))));
      assert.equal(grown.length, 4);
      assert.ok(grown.includes('S-A-5') && grown.includes('S-A-6'), grown.join());
      assertAdjacent(grown);
      const shrunk = seatsOf(await sale.ask(change(hold, seat('stalls', 'fri', 3))));
      assert.equal(shrunk.length, 3);
      assert.ok(shrunk.every((id) => grown.includes(id)));
      assertAdjacent(shrunk);
    },
  ),

  scenario(
    'A line of seats gets a new best block where neighbours cannot be had, or the seats it names',
    theatreRun(),
    async (sale) => {
      const hold = await sale.ask(place(stalls('S-B-4')));
      const grown = seatsOf(await sale.ask(change(hold, seat('stalls', 'fri', 5))));
      assert.equal(grown.length, 5);
      assertAdjacent(grown);
      const moved = await sale.ask(change(hold, stalls('S-A-1', 'S-A-2')));
      assert.deepEqual(seatsOf(moved), ['S-A-1', 'S-A-2']);
      assert.deepEqual(moved.items[0]!.seat_labels, ['1', '2']);
    },
  ),

  scenario(
    'A changed line keeps the tickets of a unit that the hold was placed with, so that nothing is taken twice',
    clubNight({ localities: [{ id: 'floor', seating: 'GENERAL', capacity: 10 }] }),
    async (sale) => {
      const night = clubNight({ localities: [{ id: 'floor', seating: 'GENERAL', capacity: 10 }] });
      const { ticketTypes } = night as { ticketTypes: { id: string }[] };
      const hold = await sale.ask(place(crew(2)));
      await sale.ask(place(floor(2), two));
      const larger = ticketTypes.map((type) => (type.id === 'crew' ? { ...type, group_size: 6 } : type));
      await sale.ask(define({ ...night, ticketTypes: larger }));
      for (const quantity of [2, 1, 2]) {
        const changed = await sale.ask(change(hold, crew(quantity)));
        assert.equal(changed.items[0]!.ticket_count, 4 * quantity);
      }
      await sale.refuses(change(hold, crew(3)), 'INSUFFICIENT_TICKETS');
    },
  ),
];

const ending: readonly Scenario[] = [
  scenario(
    'A hold runs out at the exact millisecond of expires_at, and its tickets are on sale again',
    clubNight(),
    async (sale) => {
      const hold = await sale.ask(place(floor(100)));
      sale.wait(10 * MINUTE - 1);
      assert.equal((await sale.ask(read(hold))).status, 'ACTIVE');
      assert.deepEqual(await singlesLeft(sale), [0, 100]);
      await sale.refuses(place(floor(1), two), 'INSUFFICIENT_TICKETS');
      sale.wait(1);
      assert.deepEqual(await singlesLeft(sale), [100, 0]);
      await sale.ask(place(floor(100), two));
      assert.equal((await sale.ask(read(hold))).status, 'EXPIRED');
    },
  ),

  scenario(
    'The window of a hold may be a fraction of a minute',
    clubNight({ hold_minutes: 0.05, payment_minutes: 1 }),
    async (sale) => {
      assert.equal(endOf(await sale.ask(place(floor(1)))), sale.now() + 3_000);
    },
  ),

  scenario('A hold is released once, and answers the same again', clubNight(), async (sale) => {
    const hold = await sale.ask(place(floor(4)));
    assert.equal((await sale.ask(release(hold))).status, 'RELEASED');
    assert.equal((await sale.changesNothing(release(hold))).status, 'RELEASED');
    assert.equal((await sale.stock()).held, 0);
    const expired = await sale.ask(place(floor(1)));
    sale.wait(10 * MINUTE);
    await sale.refuses(release(expired), 'HOLD_NOT_ACTIVE', { status: 'EXPIRED' });
  }),

  scenario(
    'hold_max_minutes is counted from the first hold, through changes and replacements',
    clubNight({ hold_max_minutes: 15 }),
    async (sale) => {
      const begin = sale.now();
      const hold = await sale.ask(place(floor(1)));
      assert.equal(endOf(hold), begin + 10 * MINUTE);
      sale.wait(4 * MINUTE);
      assert.equal(endOf(await sale.ask(change(hold, floor(2)))), begin + 14 * MINUTE);
      sale.wait(4 * MINUTE);
      const replaced = await sale.ask(place(floor(1)));
      assert.equal(endOf(replaced), begin + 15 * MINUTE);
      sale.wait(6 * MINUTE);
      assert.equal(endOf(await sale.ask(change(replaced, floor(2)))), begin + 15 * MINUTE);
      sale.wait(MINUTE);
      assert.equal((await sale.ask(read(replaced))).status, 'EXPIRED');
      assert.equal(endOf(await sale.ask(place(floor(1)))), sale.now() + 10 * MINUTE, 'a new life begins');
    },
  ),

  scenario('A hold may be changed for ever where the event sets no hold_max_minutes', clubNight(), async (sale) => {
    let hold = await sale.ask(place(floor(1)));
    for (let time = 0; time < 10; time += 1) {
      sale.wait(9 * MINUTE);
      hold = await sale.ask(time % 2 === 0 ? change(hold, floor(1)) : place(floor(1)));
      assert.equal(endOf(hold), sale.now() + 10 * MINUTE);
    }
  }),

  scenario(
    'A change cuts no time that a hold has already, after the operator lowered its maximum',
    clubNight({ hold_max_minutes: 0 }),
    async (sale) => {
      const hold = await sale.ask(place(floor(1)));
      sale.wait(9 * MINUTE);
      const kept = await sale.ask(change(hold, floor(1)));
      await sale.ask(define(clubNight({ hold_max_minutes: 10 })));
      sale.wait(2 * MINUTE);
      const changed = await sale.ask(change(kept, floor(2)));
      assert.deepEqual([changed.status, changed.expires_at], ['ACTIVE', kept.expires_at]);
    },
  ),

  scenario(
    'next_release_at leaves out tickets that a hold at its maximum gave up',
    clubNight({ hold_max_minutes: 10 }),
    async (sale) => {
      const hold = await sale.ask(place([floor(1), crew(1)]));
      sale.wait(MINUTE);
      const theirs = await sale.ask(place(crew(9), two));
      assert.equal((await sale.ask(change(hold, crew(0)))).expires_at, hold.expires_at);
      const refusal = await sale.refuses(place(crew(2), three), 'INSUFFICIENT_TICKETS');
      assert.deepEqual(
        [refusal['available'], refusal['reserved_by_others'], refusal['next_release_at']],
        [4, true, theirs.expires_at],
      );
    },
  ),

  scenario('A cancelled date releases its holds, whole, and takes no new ones', theatreRun(), async (sale) => {
    const hold = await sale.ask(place([seat('standing', 'fri', 1), seat('standing', 'sat', 1)]));
    assert.deepEqual(await sale.ask(cancelPerformance('sat')), {
      released_holds: 1,
      cancelled_orders: 0,
      amended_orders: 0,
    });
    assert.equal((await sale.changesNothing(cancelPerformance('sat'))).released_holds, 0);
    await sale.refuses(cancelPerformance('nowhere'), 'PERFORMANCE_NOT_FOUND', { performance_id: 'nowhere' });
    assert.equal((await sale.ask(read(hold))).status, 'RELEASED');
    assert.equal((await sale.stock('fri')).held, 0);
    await sale.refuses(place(seat('standing', 'sat', 1)), 'PERFORMANCE_NOT_ON_SALE', { performance_id: 'sat' });
  }),
];

const repeating: readonly Scenario[] = [
  scenario(
    'An Idempotency-Key gets the first answer again for 24 hours, also of a hold that is over',
    clubNight(),
    async (sale) => {
      const keyed = place(floor(2), { ...one, key: 'key-1' });
      const hold = await sale.ask(keyed);
      sale.wait(MINUTE);
      assert.deepEqual(await sale.repeats(keyed), hold);
      assert.equal((await sale.stock()).held, 2);
      await sale.ask(release(hold));
      sale.wait(24 * HOUR - MINUTE - 1);
      assert.deepEqual(await sale.repeats(keyed), hold);
      sale.wait(1);
      assert.notEqual((await sale.ask(keyed)).id, hold.id);
    },
  ),

  scenario('An Idempotency-Key with another body is refused', clubNight(), async (sale) => {
    await sale.ask(place(floor(2), { ...one, key: 'key-1' }));
    await sale.refuses(place(floor(3), { ...one, key: 'key-1' }), 'IDEMPOTENCY_KEY_REUSED', {});
  }),

  scenario('An Idempotency-Key keeps no refusal: a repeat is checked anew', clubNight(), async (sale) => {
    const theirs = await sale.ask(place(floor(100), two));
    const keyed = place(floor(1), { ...one, key: 'key-1' });
    await sale.refuses(keyed, 'INSUFFICIENT_TICKETS');
    await sale.ask(release(theirs, two));
    const hold = await sale.ask(keyed);
    const wish = { ...one, key: 'key-2' };
    await sale.refuses(change(hold, floor(101), wish), 'INSUFFICIENT_TICKETS');
    await sale.ask(change(hold, floor(2), wish));
  }),
];

export const holds = [...placing, ...owning, ...changing, ...ending, ...repeating];
