/** The waiting room: joining, admission, inactivity, passes, the draw, and what a new definition makes of it. */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import type { QueueEntryBody } from '#http/buyers/queue.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { buy, define, draw, join, leave, place, poll, release, type Asking } from './requests.ts';
import { MINUTE, moment, scenario, SECOND, type Sale, type Scenario } from './scenario.ts';

const room = (overrides: object = {}): object => clubNight({ waiting_room: true, waiting_room_rate: 2, ...overrides });
const oneAMinute = room({ waiting_room_rate: 1 });
const opensIn =
  (ms: number, overrides: object = {}) =>
  (now: number): object =>
    room({ waiting_room_opens_at: moment(now + ms), ...overrides });

interface Guest {
  readonly session: string;
  readonly entry: QueueEntryBody;
}

const sessionOf = (name: string) => ({ session: `session-${name}` });

/** Each joins, one after the other. */
async function queueUp<Names extends readonly string[]>(sale: Sale, ...names: Names) {
  const guests: Guest[] = [];
  for (const name of names) guests.push({ ...sessionOf(name), entry: await sale.ask(join(sessionOf(name))) });
  return guests as { readonly [Place in keyof Names]: Guest };
}

const see = (sale: Sale, guest: Guest): Promise<QueueEntryBody> => sale.ask(poll(guest.entry, guest));

/** The status of an entry that polls, or its position where it waits in line. */
async function placeOf(sale: Sale, guest: Guest) {
  const { position, status } = await see(sale, guest);
  return position ?? status;
}

const withPass = ({ session, entry }: Guest): Asking => ({ session, pass: entry.id });
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

const joining: readonly Scenario[] = [
  scenario('Entries are ADMITTED while the rate allows, and the others wait in line', room(), async (sale) => {
    const [first, , ...others] = await queueUp(sale, 'a', 'b', 'c', 'd', 'e');
    const { id, event_id: _, ...view } = first.entry;
    assert.match(id, /^que_/);
    assert.deepEqual(view, {
      status: 'ADMITTED',
      position: null,
      waiting_ahead: 0,
      estimated_minutes: 0,
      open: true,
      opens_at: null,
      admitted_at: moment(sale.now()),
      pass_expires_at: moment(sale.now() + 10 * MINUTE),
      rate: 2,
      draw_commitment: null,
    });
    assert.deepEqual(
      others.map(({ entry }) => [entry.status, entry.position, entry.waiting_ahead, entry.estimated_minutes]),
      [
        ['WAITING', 1, 0, 1],
        ['WAITING', 2, 1, 1],
        ['WAITING', 3, 2, 2],
      ],
    );
  }),

  scenario('A session that joins again has the entry that it had', oneAMinute, async (sale) => {
    const [a, b] = await queueUp(sale, 'a', 'b', 'c');
    sale.wait(SECOND);
    for (const guest of [a, b]) assert.deepEqual(await sale.changesNothing(join(guest)), guest.entry);
  }),

  scenario('Nobody joins where there is no waiting room', room({ waiting_room: false }), async (sale) => {
    await sale.refuses(join(), 'QUEUE_NOT_ENABLED', {});
  }),

  scenario('Nobody joins the waiting room of a draft', room({ status: 'DRAFT' }), async (sale) => {
    await sale.refuses(join(), 'EVENT_NOT_FOUND', {});
  }),

  scenario('An entry that leaves is LEFT, once, and the others move up', oneAMinute, async (sale) => {
    const [a, b, c] = await queueUp(sale, 'a', 'b', 'c');
    assert.equal((await sale.ask(leave(b.entry, b))).status, 'LEFT');
    assert.equal((await sale.changesNothing(leave(b.entry, b))).status, 'LEFT');
    assert.deepEqual([await placeOf(sale, b), await placeOf(sale, c)], ['LEFT', 1]);
    assert.equal((await sale.ask(leave(a.entry, a))).status, 'LEFT');
    await sale.refuses(place(floor(1), withPass(a)), 'QUEUE_PASS_INVALID');
    const again = await sale.ask(join(b));
    assert.notEqual(again.id, b.entry.id);
    assert.equal(again.position, 2);
  }),

  scenario('Leaving changes nothing about an entry that is over', room(), async (sale) => {
    const [a] = await queueUp(sale, 'a');
    sale.wait(10 * MINUTE);
    assert.equal((await sale.ask(leave(a.entry, a))).status, 'EXPIRED');
  }),

  scenario('An entry is found with its own session key alone', room(), async (sale) => {
    const [a, b] = await queueUp(sale, 'a', 'b');
    const unknown = { id: `${a.entry.id.slice(0, -4)}AAAA` };
    for (const call of [poll, leave]) {
      await sale.refuses(call(a.entry, b), 'QUEUE_ENTRY_NOT_FOUND', {});
      await sale.refuses(call(unknown, a), 'QUEUE_ENTRY_NOT_FOUND', {});
    }
  }),
];

const admitting: readonly Scenario[] = [
  scenario('No more than the rate are admitted in any 60 seconds, to the millisecond', room(), async (sale) => {
    await queueUp(sale, 'a');
    sale.wait(30 * SECOND);
    const [, c, d] = await queueUp(sale, 'b', 'c', 'd');
    sale.wait(30 * SECOND - 1);
    assert.equal(await placeOf(sale, c), 1);
    sale.wait(1);
    assert.deepEqual([await placeOf(sale, c), await placeOf(sale, d)], ['ADMITTED', 1]);
    sale.wait(30 * SECOND);
    assert.equal(await placeOf(sale, d), 'ADMITTED');
  }),

  scenario('The first in line are admitted, whoever polls or joins', oneAMinute, async (sale) => {
    const [, b, c] = await queueUp(sale, 'a', 'b', 'c');
    sale.wait(5 * SECOND);
    await sale.changesNothing(poll(b.entry, b));
    sale.wait(55 * SECOND);
    const end = moment(sale.now() + 10 * MINUTE);
    assert.equal(await placeOf(sale, c), 1);
    sale.wait(SECOND);
    const { status, pass_expires_at: until } = await see(sale, b);
    assert.deepEqual([status, until], ['ADMITTED', end]);
    sale.wait(MINUTE);
    const [d] = await queueUp(sale, 'd');
    assert.deepEqual([d.entry.position, await placeOf(sale, c)], [1, 'ADMITTED']);
  }),

  scenario('A rate that the operator changes counts from then on', room({ waiting_room_rate: 3 }), async (sale) => {
    const [, , , d, e, f] = await queueUp(sale, 'a', 'b', 'c', 'd', 'e', 'f');
    sale.wait(10 * SECOND);
    await sale.ask(define(room({ waiting_room_rate: 4 })));
    assert.deepEqual([await placeOf(sale, f), await placeOf(sale, d)], [2, 'ADMITTED']);
    await sale.ask(define(oneAMinute));
    sale.wait(59 * SECOND);
    assert.equal(await placeOf(sale, e), 1, 'one was admitted 59 seconds ago');
    sale.wait(SECOND);
    assert.equal(await placeOf(sale, e), 'ADMITTED');
  }),

  scenario(
    'No more passes live than waiting_room_max_admitted: one that is left or ends admits the next',
    room({ waiting_room_rate: 10, waiting_room_max_admitted: 2 }),
    async (sale) => {
      await queueUp(sale, 'a');
      sale.wait(SECOND);
      const [b, c, d] = await queueUp(sale, 'b', 'c', 'd');
      assert.equal(c.entry.position, 1);
      await sale.ask(leave(b.entry, b));
      assert.deepEqual([await placeOf(sale, c), await placeOf(sale, d)], ['ADMITTED', 1]);
      for (let minute = 0; minute < 9; minute += 1) {
        sale.wait(MINUTE);
        assert.equal(await placeOf(sale, d), 1);
      }
      sale.wait(MINUTE - SECOND);
      assert.equal(await placeOf(sale, d), 'ADMITTED');
    },
  ),
];

const unseen: readonly Scenario[] = [
  scenario(
    'An entry that is not seen for two minutes is EXPIRED, also before the opening',
    opensIn(10 * MINUTE),
    async (sale) => {
      const [silent] = await queueUp(sale, 'silent');
      sale.wait(1);
      const [there] = await queueUp(sale, 'there');
      sale.wait(2 * MINUTE - 1);
      assert.deepEqual([await placeOf(sale, silent), await placeOf(sale, there)], ['EXPIRED', 'WAITING']);
      sale.wait(2 * MINUTE - 1);
      assert.equal(await placeOf(sale, there), 'WAITING');
    },
  ),

  scenario('An entry that is EXPIRED takes no admission, and the others move up', oneAMinute, async (sale) => {
    const [, ...stale] = await queueUp(sale, 'a', 'g1', 'g2', 'g3');
    const [there] = await queueUp(sale, 'there');
    assert.equal(there.entry.position, 4);
    sale.wait(40 * SECOND);
    await see(sale, there);
    sale.wait(80 * SECOND);
    assert.equal(await placeOf(sale, there), 'ADMITTED');
    for (const guest of stale) assert.equal(await placeOf(sale, guest), 'EXPIRED');
  }),

  scenario('A session whose entry is EXPIRED may join again, at the end', oneAMinute, async (sale) => {
    const [, silent] = await queueUp(sale, 'a', 'silent');
    sale.wait(MINUTE - 1);
    const [there] = await queueUp(sale, 'there');
    sale.wait(MINUTE + 1);
    const back = await sale.ask(join(silent));
    assert.notEqual(back.id, silent.entry.id);
    assert.deepEqual([await placeOf(sale, there), back.position], ['ADMITTED', 1]);
  }),

  scenario(
    'An entry is EXPIRED after the inactivity time of the event',
    room({ waiting_room_rate: 1, waiting_room_inactivity_seconds: 0.5 }),
    async (sale) => {
      const [, b] = await queueUp(sale, 'a', 'b');
      sale.wait(499);
      assert.equal(await placeOf(sale, b), 1);
      sale.wait(500);
      assert.equal(await placeOf(sale, b), 'EXPIRED');
    },
  ),
];

const passes: readonly Scenario[] = [
  scenario('A hold needs a pass, which is good for several holds until it ends', oneAMinute, async (sale) => {
    const begin = sale.now();
    const [a, b] = await queueUp(sale, 'a', 'b');
    const unknown = `${a.entry.id.slice(0, -4)}AAAA`;
    await sale.refuses(place(floor(1), a), 'QUEUE_PASS_REQUIRED', {});
    const wrong = [{ ...a, pass: unknown }, { ...a, pass: 'nonsense' }, withPass(b), { ...b, pass: a.entry.id }];
    for (const asking of wrong) await sale.refuses(place(floor(1), asking), 'QUEUE_PASS_INVALID', {});
    await sale.ask(place(floor(1), withPass(a)));
    sale.wait(5 * MINUTE);
    assert.equal(await placeOf(sale, a), 'ADMITTED', 'a pass needs no polls');
    sale.wait(5 * MINUTE - 1);
    await sale.ask(place(floor(1), withPass(a)));
    sale.wait(1);
    await sale.refuses(place(floor(1), withPass(a)), 'QUEUE_PASS_INVALID', {});
    const { status, admitted_at: admitted, pass_expires_at: end } = await see(sale, a);
    assert.deepEqual([status, admitted, end], ['EXPIRED', moment(begin), moment(begin + 10 * MINUTE)]);
  }),

  scenario('A checkout without a hold needs a pass', oneAMinute, async (sale) => {
    const [a, b] = await queueUp(sale, 'a', 'b');
    await sale.refuses(buy(floor(1)), 'QUEUE_PASS_REQUIRED');
    await sale.refuses(buy(floor(1), { queue_pass: b.entry.id }), 'QUEUE_PASS_INVALID');
    await sale.ask(buy(floor(1), { queue_pass: a.entry.id, session_key: a.session }));
  }),

  scenario('A pass is good for one order without a session key, and for many with its own', room(), async (sale) => {
    const [a] = await queueUp(sale, 'a');
    const pass = { queue_pass: a.entry.id };
    const own = { ...pass, session_key: a.session };
    const keyed = buy(floor(1), pass, { key: 'keyless-order' });
    const first = await sale.ask(keyed);
    assert.deepEqual(await sale.repeats(keyed), first);
    await sale.refuses(buy(floor(1), { ...pass, session_key: 'session-b' }), 'QUEUE_PASS_INVALID');
    for (let orders = 0; orders < 2; orders += 1) {
      await sale.refuses(buy(floor(1), pass), 'QUEUE_PASS_INVALID');
      assert.equal(await placeOf(sale, a), 'ADMITTED');
      await sale.ask(buy(floor(1), own));
    }
    await sale.ask(place(floor(1), withPass(a)));
  }),

  scenario('A pass is checked before the performances', room(), async (sale) => {
    await sale.refuses(place(floor(1, { performance_id: 'nowhere' })), 'QUEUE_PASS_REQUIRED');
  }),

  scenario('A pass is not needed where there is no waiting room', room({ waiting_room: false }), async (sale) => {
    await sale.ask(place(floor(1), { session: 'session-a', pass: 'whatever' }));
  }),
];

const pausing = room({
  waiting_room_pause_when_sold_out: true,
  localities: [{ id: 'floor', seating: 'GENERAL', capacity: 1 }],
});

const pauses: readonly Scenario[] = [
  scenario('A waiting room that pauses admits nobody while nothing is available', pausing, async (sale) => {
    const [a] = await queueUp(sale, 'a');
    assert.equal(a.entry.sold_out, false);
    const hold = await sale.ask(place(floor(1), withPass(a)));
    const [b] = await queueUp(sale, 'b');
    const { status, position, sold_out: soldOut, open } = b.entry;
    assert.deepEqual([status, position, soldOut, open], ['WAITING', 1, true, true]);
    sale.wait(MINUTE);
    await sale.changesNothing(poll(b.entry, b));
    await sale.ask(release(hold, a));
    const admitted = await see(sale, b);
    assert.deepEqual([admitted.status, admitted.sold_out], ['ADMITTED', false]);
  }),

  scenario('A waiting room goes on when its definition asks for no pause any more', pausing, async (sale) => {
    const [a] = await queueUp(sale, 'a');
    await sale.ask(place(floor(1), withPass(a)));
    const [b] = await queueUp(sale, 'b');
    await sale.ask(define({ ...pausing, waiting_room_pause_when_sold_out: false }));
    const admitted = await see(sale, b);
    assert.deepEqual([admitted.status, admitted.sold_out], ['ADMITTED', undefined]);
  }),
];

const TWELVE = Array.from({ length: 12 }, (_, index) => `guest-${index}`);

const draws: readonly Scenario[] = [
  scenario('Before the opening every entry waits without a position', opensIn(5 * MINUTE), async (sale) => {
    const opensAt = moment(sale.now() + 5 * MINUTE);
    const [a] = await queueUp(sale, 'a');
    const { status, position, waiting_ahead: ahead, open, opens_at: opens, draw_commitment: commitment } = a.entry;
    assert.deepEqual([status, position, ahead, open, opens], ['WAITING', null, 0, false, opensAt]);
    const minutes = [a.entry.estimated_minutes];
    for (const ms of [1, 2 * MINUTE - 1]) {
      sale.wait(ms);
      minutes.push((await see(sale, a)).estimated_minutes);
    }
    assert.deepEqual(minutes, [5, 5, 3]);
    const { event_id: _, ...proof } = await sale.ask(draw());
    assert.deepEqual(proof, {
      status: 'pending',
      draw_commitment: commitment,
      seed: null,
      opening: null,
      drawn_at: null,
      count: 0,
      entries_digest: null,
      entries: [],
    });
  }),

  scenario('At the opening the order is drawn, as everybody can check', opensIn(MINUTE), async (sale) => {
    const guests = await queueUp(sale, ...TWELVE);
    sale.wait(MINUTE);
    const views: QueueEntryBody[] = [];
    for (const guest of [...guests, guests[0]!]) views.push(await see(sale, guest));
    const proof = await sale.ask(draw());
    const hashes = guests.map(({ entry }) => sha256(entry.id));
    const digest = sha256(hashes.toSorted().join(''));
    const seed = Buffer.from(proof.seed!, 'hex');
    const key = createHmac('sha256', seed).update(Buffer.from(proof.opening!, 'hex')).digest();
    const keyOf = (hash: string): string => createHmac('sha256', key).update(digest).update(hash).digest('hex');
    const order = hashes.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    const { event_id: _, ...shown } = proof;
    assert.deepEqual(shown, {
      status: 'drawn',
      draw_commitment: guests[0]!.entry.draw_commitment,
      seed: proof.seed,
      opening: proof.opening,
      drawn_at: moment(sale.now()),
      count: 12,
      entries_digest: digest,
      entries: order,
    });
    assert.equal(sha256(seed), proof.draw_commitment);
    assert.doesNotMatch(JSON.stringify(proof), /que_/);
    for (const { id, position, status, open } of views) {
      const drawn = order.indexOf(sha256(id));
      assert.deepEqual([position ?? status, open], [drawn < 2 ? 'ADMITTED' : drawn - 1, true]);
    }
    assert.deepEqual((await sale.ask(draw({ offset: '10', limit: '5' }))).entries, order.slice(10));
  }),

  scenario('A draw leaves out those who left; who comes later waits behind', opensIn(MINUTE), async (sale) => {
    const [first] = await queueUp(sale, ...TWELVE);
    await sale.ask(leave(first!.entry, first!));
    sale.wait(MINUTE);
    const [late] = await queueUp(sale, 'late');
    assert.equal(late.entry.position, 12 - 1 - 2 + 1);
    const proof = await sale.ask(draw());
    assert.equal(proof.count, 11);
    for (const { entry } of [first!, late]) assert.ok(!proof.entries.includes(sha256(entry.id)));
  }),

  scenario(
    'An entry that becomes stale at the millisecond of the opening is not drawn',
    opensIn(2 * MINUTE),
    async (sale) => {
      await queueUp(sale, 'silent');
      sale.wait(1);
      const [there] = await queueUp(sale, 'there');
      sale.wait(2 * MINUTE - 1);
      assert.equal(await placeOf(sale, there), 'ADMITTED');
      assert.equal((await sale.ask(draw())).count, 1);
    },
  ),

  scenario('A room that nobody waited for has an empty draw', opensIn(-MINUTE), async (sale) => {
    assert.equal((await sale.ask(join())).status, 'ADMITTED');
    assert.equal((await sale.ask(draw())).count, 0);
  }),
];

const defining: readonly Scenario[] = [
  scenario('An opening to come may be moved, and the commitment stays', opensIn(10 * MINUTE), async (sale) => {
    const later = moment(sale.now() + 20 * MINUTE);
    const [a] = await queueUp(sale, 'a');
    await sale.ask(define(room({ waiting_room_opens_at: later })));
    const { opens_at: opensAt, draw_commitment: commitment } = await see(sale, a);
    assert.deepEqual([opensAt, commitment], [later, a.entry.draw_commitment]);
    sale.wait(MINUTE);
    await sale.ask(define(room({ waiting_room_opens_at: moment(sale.now()) })));
    assert.equal(await placeOf(sale, a), 'ADMITTED', 'the opening is reached, so the draw is held');
  }),

  scenario('A room that loses its opening time opens at once, with a draw', opensIn(10 * MINUTE), async (sale) => {
    const [a] = await queueUp(sale, 'a');
    await sale.ask(define(room()));
    assert.equal(await placeOf(sale, a), 'ADMITTED');
    assert.equal((await sale.ask(draw())).count, 1);
  }),

  scenario('An opening cannot be moved once it has happened', room(), async (sale) => {
    await queueUp(sale, 'a');
    const later = opensIn(MINUTE)(sale.now());
    const { conflicts } = (await sale.refuses(define(later), 'UPDATE_CONFLICT')) as { conflicts: { path: string }[] };
    assert.deepEqual(
      conflicts.map(({ path }) => path),
      ['/waiting_room_opens_at'],
    );
  }),

  scenario('A room that nobody joined may get an opening time', room(), async (sale) => {
    await sale.ask(define(opensIn(10 * MINUTE)(sale.now())));
    assert.equal((await sale.ask(join())).open, false);
  }),

  scenario('An event that loses its waiting room loses its entries and passes', oneAMinute, async (sale) => {
    const [a, b] = await queueUp(sale, 'a', 'b');
    await sale.ask(define(room({ waiting_room: false })));
    await sale.refuses(poll(b.entry, b), 'QUEUE_ENTRY_NOT_FOUND');
    await sale.ask(place(floor(1), b));
    sale.wait(20 * MINUTE);
    await sale.ask(define(oneAMinute));
    await sale.refuses(place(floor(1), withPass(a)), 'QUEUE_PASS_INVALID');
    assert.equal((await sale.ask(join(b))).status, 'ADMITTED');
  }),
];

export const waitingRooms = [...joining, ...admitting, ...unseen, ...passes, ...pauses, ...draws, ...defining];
