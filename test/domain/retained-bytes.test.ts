/**
 * What requests leave in the state is limited in bytes, not only in number.
 *
 * Each kind of request that anybody may send is sent many times with the longest strings that are accepted. What stays
 * is weighed by the characters of a snapshot, which are the same on every machine; orders that are finished and tickets
 * that were scanned are weighed in memory as well.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IDEMPOTENCY_BYTES_MAX, IDEMPOTENCY_WINDOW_MS, IdempotencyBook } from '#domain/idempotency.ts';
import { snapshotPieces } from '#domain/event/snapshot.ts';
import { buyTwo, itemOf, openDomain, placeHold as placeMany } from '../../bench/in-process.ts';
import { hallEvent, hotEvent } from '../../bench/events.ts';
import { RefusedScans } from '#domain/doors/refused-scans.ts';
import { ScannedTickets } from '#domain/doors/scanned-tickets.ts';
import { createEndedHolds, WHOLE_BYTES_MAX } from '#domain/holds/ended-holds.ts';
import { dataBytes } from '#rehearsal/server/memory.ts';
import { definitionOf } from '../fixtures/events.ts';
import { scannedTicket } from '../fixtures/scanned-tickets.ts';
import { anna, buy, checkoutEvent, item, placeHold } from '../fixtures/commands.ts';
import { given, MINUTE, restore, type EventFixture } from '../fixtures/event-state.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';

const HOUR = 60 * MINUTE;

/** As long as a session key may be. */
const keyOf = (n: number): string => `${'k'.repeat(120)}${String(n).padStart(8, '0')}`;

const weigh = ({ state }: EventFixture): number =>
  [...snapshotPieces(state)].reduce((sum, piece) => sum + piece.length, 0);

/** What one request of a kind leaves in the state: after its windows have ended, and after later requests. */
function charactersLeftBy(fixture: EventFixture, requests: number, send: (n: number) => void): number {
  for (let n = 0; n < 50; n += 1) send(n);
  fixture.wait(2 * HOUR).settle();
  const before = weigh(fixture);
  for (let n = 50; n < 50 + requests; n += 1) send(n);
  fixture.wait(HOUR).settle();
  // Details of ended records are dropped when later ones end.
  for (let n = 50 + requests; n < 50 + 1.5 * requests; n += 1) send(n);
  return (weigh(fixture) - before) / (1.5 * requests);
}

const big: Partial<EventDefinition> = {
  localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 100_000 }],
  ticketTypes: checkoutEvent().ticketTypes.filter(({ localityId }) => localityId === 'floor'),
  sellingStages: checkoutEvent().sellingStages.map((stage) => ({
    ...stage,
    prices: { adult: 1000, group: 3000, guest: 0 },
  })),
  waitingRoom: true,
  waitingRoomRate: 1,
};

describe('What a request leaves in the state', () => {
  it('is for a replaced hold its end alone, for two hours', () => {
    const fixture = given(checkoutEvent({ ...big, waitingRoom: false }));
    const place = (n: number): void => {
      placeHold(fixture, [item('adult', 1)], keyOf(n % 3));
    };
    const left = charactersLeftBy(fixture, 2_000, place);
    assert.ok(left < 200, `${left} characters a hold`);
    fixture.wait(3 * HOUR);
    for (let n = 0; n < 2_000; n += 1) place(n);
    assert.ok(fixture.state.holds.ended.cutCount < 4_000, 'the first are forgotten');
  });

  it('is less than 300 bytes of memory for a replaced hold, however large its cart was', () => {
    const fixture = openDomain(definitionOf(hallEvent(2_000)));
    const replace = (count: number): void => {
      for (let n = 0; n < count; n += 1)
        fixture.do({ ...placeMany(n % 5, 'seat', 20), items: Array(10).fill(itemOf('seat', 20)) });
    };
    replace(500);
    const before = dataBytes();
    replace(2_000);
    const bytes = (dataBytes() - before) / 2_000;
    assert.ok(bytes < 300, `${bytes} bytes a hold`);
  });

  it('is for all released holds no more than 48 MiB: the oldest lose their items first, and read as they ended', () => {
    const ended = createEndedHolds();
    const seatIds = Array.from({ length: 1_000 }, (_, n) => `S-A-${n}`);
    const at = { performanceId: 'fri', ticketTypeId: 'stalls', sellingStageId: 'general' };
    const lines = [{ ...at, quantity: 1_000, ticketCount: 1_000, unitPriceCents: 1, seatIds }];
    const times = { expiresAt: 5, firstPlacedAt: 1, orderId: null };
    const cut: string[] = [];
    for (let n = 0; n < 5_000; n += 1) {
      const hold = { id: `hld_${n}`, sessionKey: 'k', status: 'RELEASED', lines, ...times } as const;
      cut.push(...ended.add({ ...hold }, 'RELEASE', n).map(({ id }) => id));
      assert.ok(ended.wholeBytes <= WHOLE_BYTES_MAX);
    }
    const whole = [...ended.whole()].map(({ id }) => id);
    assert.ok(whole.length > 3_000 && cut.length === ended.cutCount && cut.length + whole.length === 5_000);
    assert.deepEqual([...cut, ...whole].slice(0, 3), ['hld_0', 'hld_1', 'hld_2']);
    assert.equal(ended.find('hld_0', 'k')?.status, 'RELEASED');
  });

  it('is of an entry that was left how it ended, for two hours', () => {
    const fixture = given(checkoutEvent(big));
    const joinAndLeave = (n: number): void => {
      const { entry } = fixture.do({ type: 'JoinQueue', sessionKey: keyOf(n) });
      fixture.do({ type: 'LeaveQueue', entryId: entry.id, sessionKey: keyOf(n) });
    };
    const left = charactersLeftBy(fixture, 2_000, joinAndLeave);
    assert.ok(left < 100, `${left} characters an entry`);
  });

  it('is for an unpaid order the order alone, with the longest tracking', () => {
    const fixture = given(checkoutEvent({ ...big, waitingRoom: false }));
    const tracking = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`utm_${n}`, 'x'.repeat(4_000)]));
    const left = charactersLeftBy(fixture, 200, (n) => {
      fixture.do(
        buy([item('adult', 1)], { sessionKey: keyOf(n), customer: { ...anna, email: `a${n}@example.org` }, tracking }),
      );
    });
    assert.ok(left < 25 * 1024, `${left} characters an order`);
  });

  it('is as much memory for a hold from a snapshot as for one that was placed', () => {
    const long = 'x'.repeat(60);
    const [adult] = checkoutEvent().ticketTypes;
    const [stage] = checkoutEvent().sellingStages;
    const fixture = given(
      checkoutEvent({
        ...big,
        ticketTypes: [{ ...adult!, id: `t-${long}` }],
        sellingStages: [{ ...stage!, id: `s-${long}`, prices: { [`t-${long}`]: 1000 } }],
        waitingRoom: false,
      }),
    );
    const items = [{ ...item(`t-${long}`, 1), sellingStageId: `s-${long}` }];
    const place = (n: number): void => {
      placeHold(fixture, items, `session-${n}`);
      fixture.journal.length = 0;
    };
    // The first thousand compile the code, whose memory is not that of holds.
    for (let n = 0; n < 1_000; n += 1) place(n);
    restore(fixture.state);
    const empty = dataBytes();
    for (let n = 1_000; n < 11_000; n += 1) place(n);
    const placed = (dataBytes() - empty) / 10_000;
    const before = dataBytes();
    const restored = restore(fixture.state);
    const bytes = (dataBytes() - before) / 11_000;
    assert.equal(restored.holds.byId.size, 11_000);
    // Tables that have just grown differ by a tenth; copies of the ids would make 1.4 times as much.
    assert.ok(bytes < 1.25 * placed, `${bytes} bytes a hold, ${placed} when it was placed`);
  });

  it('is under 1,000 bytes of memory for a finished order, with its hold and all its ids', () => {
    const fixture = openDomain(definitionOf(hotEvent));
    for (let n = 0; n < 1_000; n += 1) buyTwo(fixture, n);
    const before = dataBytes();
    // Enough that the tables, which grow by a quarter at a time, count for what they take on average.
    for (let n = 1_000; n < 11_000; n += 1) buyTwo(fixture, n);
    const bytes = (dataBytes() - before) / 10_000;
    assert.equal(fixture.state.orders.inOrder.settledCount, 11_000);
    assert.ok(bytes < 1_000, `${bytes} bytes an order`);
  });
});

describe('A ticket that was scanned', () => {
  it('takes at most 200 bytes of memory with one entry, and at most 32 for each further scan id', () => {
    const COUNT = 100_000;
    const before = dataBytes();
    const tickets = new ScannedTickets();
    for (let number = 0; number < COUNT; number += 1) tickets.put(null, scannedTicket(number), true);
    const between = dataBytes();
    const refused = new RefusedScans();
    const refusal = { verdict: 'FORGED', given: null, isOfGate: false } as const;
    for (let number = 0; number < COUNT; number += 1)
      refused.put(`refused-scan-${number}-of-many`, { ...refusal, digest: number });
    const bytes = [between - before, dataBytes() - between].map((each) => each / COUNT);
    assert.ok(tickets.count === COUNT && refused.count === COUNT);
    assert.ok(bytes[0]! <= 200 && bytes[1]! <= 32, bytes.join(' and '));
  });
});

describe('The idempotency keys', () => {
  /** An answer of some 10 KB, as of a hold of many seats. */
  const answer = { seats: Array.from({ length: 1_000 }, (_, n) => `A-${n}-x`) };
  const key = (n: number): string => `${'i'.repeat(240)}${String(n).padStart(10, '0')}`;

  it('keep no more than 64 MiB of answers, and drop the oldest first', () => {
    const book = new IdempotencyBook<typeof answer>();
    const count = 8_000;
    for (let n = 0; n < count; n += 1) {
      book.add({ key: key(n), digest: 'd'.repeat(43), at: n, answer });
      book.dropOld(n);
      assert.ok(book.bytes <= IDEMPOTENCY_BYTES_MAX);
    }
    assert.ok(book.size < count);
    assert.equal(book.get(key(count - book.size - 1)), undefined);
    assert.deepEqual(book.get(key(count - book.size))?.answer, answer);
    for (let n = count - book.size; n < count; n += 1) book.delete(key(n));
    assert.equal(book.bytes, 0);
  });

  it('keep a record in its place when another form of its answer is put into it', () => {
    const book = new IdempotencyBook<string>();
    for (const at of [1, 2, 3]) book.add({ key: `key-${at}`, digest: 'd', at, answer: 'short' });
    book.dropOld(4);
    const { bytes } = book;
    book.replace(book.get('key-1')!, 'a longer answer');
    assert.equal(book.bytes, bytes + 10);
    assert.deepEqual(book.get('key-1'), { key: 'key-1', digest: 'd', at: 1, answer: 'a longer answer' });
    book.dropOld(1 + IDEMPOTENCY_WINDOW_MS);
    assert.deepEqual(
      [...book.values()].map(({ key }) => key),
      ['key-2', 'key-3'],
    );
  });

  it('are dropped after a day', () => {
    const book = new IdempotencyBook<string>();
    book.add({ key: 'old', digest: 'd', at: 1_000, answer: 'a' });
    book.dropOld(999 + IDEMPOTENCY_WINDOW_MS);
    assert.equal(book.size, 1);
    book.dropOld(1_000 + IDEMPOTENCY_WINDOW_MS);
    assert.equal(book.size, 0);
  });
});
