/** Numbered seats: picked ones, those that are assigned, companions, suggestions, and what the seating plan shows. */
import assert from 'node:assert/strict';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { ItemRequest } from '../fixtures/client.ts';
import { seat, theatreRun } from '../fixtures/events.ts';
import { block, buy, change, lookAt, occupancy, place, release, suggest, unblock } from './requests.ts';
import { MINUTE, scenario, type Sale, type Scenario } from './scenario.ts';

const row = (label: string, ...numbers: number[]) => numbers.map((number) => `S-${label}-${number}`);
const whole = (label: string) => row(label, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
const fri = (ticketTypeId: string, quantity: number) => seat(ticketTypeId, 'fri', quantity);
const pick = (ticketTypeId: string, ...seatIds: string[]) =>
  seat(ticketTypeId, 'fri', seatIds.length, { seat_ids: seatIds });
const seatsOf = ({ items }: HoldBody) => items.flatMap(({ seat_ids: seatIds }) => seatIds);

let others = 0;
const somebody = () => ({ session: `somebody-${(others += 1)}` });

/** What one more buyer gets. */
const got = async (sale: Sale, ...items: ItemRequest[]) => seatsOf(await sale.ask(place(items, somebody())));

/** Somebody else takes seats by name. */
const take = (sale: Sale, ...seatIds: string[]) => got(sale, pick('stalls', ...seatIds));

async function suggested(sale: Sale, ticketTypeId: string, count: number, more: object = {}) {
  const seats = await sale.ask(suggest(ticketTypeId, count, { performance_id: 'fri', ...more }));
  return seats.map(({ id }) => id);
}

const shown = (sale: Sale, query: object = {}) => sale.ask(occupancy({ performance_id: 'fri', ...query }));

/** The tickets that are left of each type. */
async function left(sale: Sale) {
  const { ticketAvailability: rows } = await sale.ask(lookAt({}, { performance_id: 'fri' }));
  return Object.fromEntries(rows.map(({ ticket_type_id: id, available }) => [id, available]));
}

const picking: readonly Scenario[] = [
  scenario('Picked seats are held as they are named, and may leave a seat alone', theatreRun(), async (sale) => {
    const { items } = await sale.ask(place(pick('stalls', ...row('A', 9, 10))));
    assert.deepEqual([items[0]!.seat_ids, items[0]!.seat_labels], [row('A', 9, 10), ['9', '10']]);
    assert.deepEqual((await shown(sale)).held, row('A', 9, 10));
    assert.deepEqual(await take(sale, 'S-A-2'), ['S-A-2']);
  }),

  scenario('Picked seats are quantity × group_size', theatreRun(), async (sale) => {
    const detail = { ticket_type_id: 'pair', expected: 4, given: 3 };
    const three = { seat_ids: row('A', 1, 2, 3) };
    await sale.refuses(place(seat('pair', 'fri', 2, three)), 'SEAT_COUNT_MISMATCH', detail);
  }),

  scenario('An ordinary seat is not sold as an accessible one, whatever asks for it', theatreRun(), async (sale) => {
    const detail = { seat_ids: ['S-A-1', 'S-C-3'] };
    await sale.refuses(place(pick('wheel', 'S-A-1', 'S-C-1', 'S-C-3')), 'SEAT_NOT_IN_TICKET_TYPE', detail);
    assert.deepEqual((await shown(sale)).held, []);
    await sale.refuses(buy(pick('wheel', 'S-A-1')), 'SEAT_NOT_IN_TICKET_TYPE');
    const hold = await sale.ask(place(pick('wheel', 'S-C-2')));
    await sale.refuses(change(hold, pick('wheel', 'S-A-1')), 'SEAT_NOT_IN_TICKET_TYPE');
  }),

  scenario(
    'An accessible seat is not sold as an ordinary one where an accessible type sells its zone',
    theatreRun(),
    async (sale) => {
      const detail = { seat_ids: ['S-C-1'] };
      await sale.refuses(place(pick('stalls', 'S-C-1', 'S-C-3')), 'SEAT_NOT_IN_TICKET_TYPE', detail);
      await sale.refuses(buy(pick('stalls', 'S-C-1')), 'SEAT_NOT_IN_TICKET_TYPE', detail);
    },
  ),

  scenario(
    'Without an accessible type accessible seats are named like others, and counted',
    theatreRun({ sellingStages: [{ id: 'general', prices: { stalls: 1, gallery: 1, pair: 1, standing: 1 } }] }),
    async (sale) => {
      assert.equal((await left(sale))['stalls'], 24);
      assert.deepEqual(await take(sale, 'S-C-1'), ['S-C-1']);
      assert.equal((await left(sale))['stalls'], 23);
    },
  ),

  scenario('A seat is named once in a request, and not beside a line that has it', theatreRun(), async (sale) => {
    const first = pick('stalls', 'S-A-1');
    const both = [first, first];
    const pathOf = async (request: Parameters<Sale['refuses']>[0]) => {
      const { errors } = (await sale.refuses(request, 'VALIDATION_ERROR')) as { errors: { path: string }[] };
      return errors[0]!.path;
    };
    await sale.refuses(place(pick('stalls', 'S-A-1', 'S-A-1')), 'VALIDATION_ERROR');
    assert.equal(await pathOf(place(both)), '/items/1/seat_ids');
    await pathOf(place(both.map((item) => ({ ...item, performance_id: 'none' }))));
    await pathOf(buy(both));
    const hold = await sale.ask(place(first));
    await pathOf(change(hold, both));
    assert.equal(await pathOf(change(hold, seat('pair', 'fri', 1, { seat_ids: row('A', 1, 2) }))), '/items/0/seat_ids');
    await sale.ask(place(['fri', 'sat'].map((date) => seat('stalls', date, 1, { seat_ids: ['S-A-1'] }))));
  }),

  scenario('Operators block free seats, and put them back on sale', theatreRun(), async (sale) => {
    await take(sale, 'S-A-1');
    await sale.refuses(block('fri', 'S-A-1', 'S-A-2'), 'SEAT_TAKEN', { seat_ids: ['S-A-1'] });
    await sale.refuses(block('fri', 'nowhere'), 'VALIDATION_ERROR');
    await sale.ask(block('fri', 'S-A-2', 'S-A-3'));
    await sale.changesNothing(block('fri', 'S-A-2'));
    assert.deepEqual((await shown(sale)).blocked, row('A', 2, 3));
    assert.equal((await sale.stock('fri')).blocked, 2);
    await sale.refuses(place(pick('stalls', 'S-A-2')), 'SEAT_NOT_SELLABLE', { seat_ids: ['S-A-2'] });
    await sale.ask(unblock('fri', 'S-A-2', 'S-A-4'));
    assert.deepEqual((await shown(sale)).blocked, ['S-A-3']);
    await take(sale, 'S-A-2');
  }),
];

const assigning: readonly Scenario[] = [
  scenario('Assigned seats are neighbours in the front row, nearest its centre', theatreRun(), async (sale) => {
    assert.deepEqual(await got(sale, fri('stalls', 2)), row('A', 5, 6));
    assert.deepEqual(await got(sale, fri('stalls', 2)), row('A', 3, 4));
    assert.equal((await got(sale, fri('pair', 2))).length, 4, 'group tickets count in full');
  }),

  scenario('Assigned seats leave no single free seat beside them', theatreRun(), async (sale) => {
    await take(sale, 'S-A-4');
    // Seats 5 to 10 are one run: a block at its start or end leaves the rest together, if that is more than one.
    assert.deepEqual(await suggested(sale, 'stalls', 2), row('A', 5, 6));
    assert.deepEqual(await suggested(sale, 'stalls', 3), row('A', 5, 6, 7));
  }),

  scenario('Assigned seats come from the next row where this one would leave one alone', theatreRun(), async (sale) => {
    await take(sale, ...row('A', 4, 5, 6, 7, 8, 9, 10));
    // Row A has three free seats: two of them would leave one. Row B has four before its aisle.
    assert.deepEqual(await suggested(sale, 'stalls', 2), row('B', 5, 6));
    assert.deepEqual(await suggested(sale, 'stalls', 3), row('A', 1, 2, 3));
  }),

  scenario(
    'Avoiding single seats costs no booking: where each block leaves some, fewest',
    theatreRun(),
    async (sale) => {
      await take(sale, ...row('A', 4, 5, 6, 7, 8, 9, 10), ...whole('B'), ...row('C', 3, 4));
      const seats = await got(sale, fri('stalls', 2));
      assert.ok([row('A', 1, 2).join(), row('A', 2, 3).join()].includes(seats.join()), seats.join());
    },
  ),

  scenario('Assigned seats do not extend over an aisle', theatreRun(), async (sale) => {
    await take(sale, ...whole('A'));
    assert.deepEqual(await suggested(sale, 'stalls', 6), row('B', 5, 6, 7, 8, 9, 10));
    assert.deepEqual(await suggested(sale, 'stalls', 7), []);
    const detail = await sale.refuses(place(fri('stalls', 7)), 'INSUFFICIENT_TICKETS');
    assert.deepEqual([detail['largest_block'], detail['available']], [6, 12]);
  }),

  scenario(
    'Assigned seats are at most as many as the quota leaves, in largest_block as well',
    theatreRun({
      sellingStages: [
        {
          id: 'general',
          prices: { stalls: 1, gallery: 1, pair: 1, wheel: 1, standing: 1 },
          quotas: { stalls: 2 },
        },
      ],
    }),
    async (sale) => {
      const detail = await sale.refuses(place(fri('stalls', 3)), 'INSUFFICIENT_TICKETS');
      assert.deepEqual([detail['available'], detail['largest_block']], [2, 2]);
    },
  ),

  scenario('Accessible seats are for accessible types, which get no others', theatreRun(), async (sale) => {
    assert.deepEqual(await suggested(sale, 'wheel', 2), row('C', 1, 2));
    assert.deepEqual(await suggested(sale, 'wheel', 3), []);
    await take(sale, ...whole('A'), ...whole('B'));
    assert.deepEqual(await suggested(sale, 'stalls', 2), row('C', 3, 4));
    assert.deepEqual(await suggested(sale, 'stalls', 3), []);
  }),

  scenario('Seats with a restricted view are assigned where no other block is as large', theatreRun(), async (sale) => {
    const gallery = [1, 2, 3, 4, 5, 6].map((number) => `G-A-${number}`);
    assert.deepEqual(await suggested(sale, 'gallery', 4), gallery.slice(0, 4));
    assert.deepEqual(await suggested(sale, 'gallery', 6), gallery);
  }),

  scenario('Of an accessible type the accessible seats alone are left and held', theatreRun(), async (sale) => {
    assert.deepEqual(await left(sale), { stalls: 22, gallery: 6, pair: 22, wheel: 2, standing: 20 });
    const lacking = async (quantity: number) => {
      const detail = await sale.refuses(place(fri('wheel', quantity)), 'INSUFFICIENT_TICKETS');
      const { available, reserved_by_others: reserved, next_release_at: next, largest_block: largest } = detail;
      return [available, reserved, next !== null, largest];
    };
    assert.deepEqual(await lacking(3), [2, false, false, 2]);
    await take(sale, ...row('A', 1, 2));
    assert.deepEqual(await lacking(3), [2, false, false, 2], 'ordinary seats that are held do not return as others');
    assert.deepEqual(await left(sale), { stalls: 20, gallery: 6, pair: 20, wheel: 2, standing: 20 });
    await got(sale, pick('wheel', 'S-C-1'));
    assert.deepEqual(await left(sale), { stalls: 20, gallery: 6, pair: 20, wheel: 1, standing: 20 });
    assert.deepEqual(await lacking(2), [1, true, true, 1]);
    await got(sale, fri('wheel', 1));
    assert.deepEqual(await left(sale), { stalls: 20, gallery: 6, pair: 20, wheel: 0, standing: 20 });
  }),
];

const [wheel, stall] = [fri('wheel', 1), fri('stalls', 1)];

const accompanying: readonly Scenario[] = [
  scenario('Companions sit beside accessible seats, in whatever order the items come', theatreRun(), async (sale) => {
    for (const items of [
      [wheel, stall],
      [stall, wheel],
    ]) {
      const hold = await sale.ask(place(items));
      assert.deepEqual(seatsOf(hold).toSorted(), row('C', 2, 3));
      assert.deepEqual(hold.items.find((item) => item.ticket_type_id === 'wheel')!.seat_ids, ['S-C-2']);
    }
    const both = await sale.ask(place([fri('wheel', 2), fri('stalls', 2)]));
    assert.deepEqual(seatsOf(both), row('C', 1, 2, 3, 4));
  }),

  scenario('Companions sit as near as possible where the row has no free seats', theatreRun(), async (sale) => {
    await take(sale, ...row('C', 3, 4));
    assert.deepEqual(await got(sale, wheel, fri('stalls', 2)), ['S-C-2', ...row('B', 1, 2)]);
  }),

  scenario('Companions sit so at a checkout, and after a change that names both lines', theatreRun(), async (sale) => {
    await sale.ask(buy([stall, wheel]));
    assert.deepEqual((await shown(sale)).held, row('C', 2, 3));
    sale.wait(30 * MINUTE);
    const hold = await sale.ask(place(wheel));
    const own = seatsOf(hold);
    assert.deepEqual(seatsOf(await sale.ask(change(hold, [stall, wheel]))), [...own, 'S-C-3']);
  }),

  scenario('Companions are not those of another date, nor of seats that are named', theatreRun(), async (sale) => {
    assert.deepEqual(seatsOf(await sale.ask(place([wheel, seat('stalls', 'sat', 1)]))), ['S-C-1', 'S-A-5']);
    assert.deepEqual(seatsOf(await sale.ask(place([pick('wheel', 'S-C-2'), stall]))), ['S-C-2', 'S-A-5']);
  }),

  scenario(
    'Companions are two for each accessible seat, further tickets ordinary seats',
    theatreRun(),
    async (sale) => {
      const hold = await sale.ask(place([wheel, fri('stalls', 2), seat('pair', 'fri', 1)]));
      assert.deepEqual(seatsOf(hold), ['S-C-2', ...row('C', 3, 4), ...row('A', 5, 6)]);
      await sale.ask(release(hold));
      assert.deepEqual(await got(sale, wheel, fri('stalls', 6)), ['S-C-2', ...row('A', 4, 5, 6, 7), ...row('C', 3, 4)]);
    },
  ),

  scenario(
    'Companions sit with further tickets of their item where these would find no seats without them',
    theatreRun({
      localities: [
        {
          id: 'hall',
          seating: 'NUMBERED',
          sections: [
            {
              id: 'S',
              zone_key: 'stalls',
              rows: [
                { label: 'A', seats: 7 },
                { label: 'B', seats: 4, accessible: [4] },
              ],
            },
          ],
        },
      ],
      ticketTypes: ['stalls', 'wheel'].map((id) => ({ id, accessible: id === 'wheel' })),
      sellingStages: [{ id: 'general', prices: { stalls: 1, wheel: 1 } }],
    }),
    async (sale) => {
      await take(sale, ...row('B', 1, 2, 3));
      assert.deepEqual(await got(sale, wheel, fri('stalls', 7)), ['S-B-4', ...row('A', 1, 2, 3, 4, 5, 6, 7)]);
    },
  ),

  scenario('Companions that find no seat are refused, and the request takes nothing', theatreRun(), async (sale) => {
    const detail = await sale.refuses(place([wheel, fri('stalls', 13)]), 'INSUFFICIENT_TICKETS');
    assert.deepEqual([detail['ticket_type_id'], detail['largest_block']], ['stalls', 10]);
    assert.deepEqual((await shown(sale)).held, []);
  }),
];

const suggesting: readonly Scenario[] = [
  scenario('Suggested seats are those that a hold would get, and are not held', theatreRun(), async (sale) => {
    await take(sale, ...row('A', 5, 6));
    for (const count of [1, 2, 3, 4, 5, 6]) {
      const proposal = await suggested(sale, 'stalls', count);
      assert.deepEqual((await shown(sale)).held, row('A', 5, 6));
      const hold = await sale.ask(place(fri('stalls', count)));
      assert.deepEqual(seatsOf(hold), proposal);
      await sale.ask(release(hold));
    }
  }),

  scenario("Suggestions count the session's own seats as free", theatreRun(), async (sale) => {
    const session = { session_key: 'buyer-one' };
    assert.deepEqual(seatsOf(await sale.ask(place(fri('stalls', 2)))), row('A', 5, 6));
    assert.notDeepEqual(await suggested(sale, 'stalls', 2), row('A', 5, 6));
    assert.deepEqual(await suggested(sale, 'stalls', 2, session), row('A', 5, 6));
  }),

  scenario('Seats are suggested of numbered types and dates that exist', theatreRun(), async (sale) => {
    const friday = { performance_id: 'fri' };
    await sale.refuses(suggest('none', 1, friday), 'TICKET_TYPE_NOT_FOUND');
    await sale.refuses(suggest('standing', 1, friday), 'SEATING_NOT_ENABLED');
    await sale.refuses(suggest('stalls', 1, { performance_id: 'sun' }), 'PERFORMANCE_NOT_FOUND');
    await sale.refuses(suggest('stalls', 1), 'PERFORMANCE_REQUIRED');
    assert.deepEqual(await suggested(sale, 'stalls', 200), []);
  }),
];

const showing: readonly Scenario[] = [
  scenario('The occupancy lists what is taken, and counts what is free', theatreRun(), async (sale) => {
    await sale.refuses(occupancy(), 'PERFORMANCE_REQUIRED');
    await sale.refuses(occupancy({ performance_id: 'sun' }), 'PERFORMANCE_NOT_FOUND');
    await take(sale, ...row('A', 1, 2));
    const { event_id: _, version, ...seats } = await shown(sale);
    const taken = { held: row('A', 1, 2), sold: [], blocked: [] };
    assert.deepEqual(seats, { performance_id: 'fri', available: 28, ...taken });
    assert.deepEqual((await shown(sale, { since: String(version + 1_000) })).held, taken.held);
    sale.wait(10 * MINUTE - 1);
    assert.deepEqual((await shown(sale)).held, row('A', 1, 2));
    sale.wait(1);
    assert.deepEqual((await shown(sale)).held, []);
  }),

  scenario('The occupancy since a version lists what changed, in its newest state', theatreRun(), async (sale) => {
    const { version } = await shown(sale);
    const hold = await sale.ask(place(pick('stalls', ...row('A', 1, 2))));
    await take(sale, 'S-A-3');
    await sale.ask(release(hold));
    const changed = await shown(sale, { since: String(version) });
    assert.deepEqual([changed.since, changed.held], [version, undefined]);
    const states = Object.fromEntries(changed.changes!.map(({ id, state }) => [id, state]));
    assert.deepEqual(states, { 'S-A-1': 'AVAILABLE', 'S-A-2': 'AVAILABLE', 'S-A-3': 'HELD' });
    assert.ok(changed.version > version);
    assert.deepEqual((await shown(sale, { since: String(changed.version) })).changes, []);
  }),
];

export const seatings = [...picking, ...assigning, ...accompanying, ...suggesting, ...showing];
