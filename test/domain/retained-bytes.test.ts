/**
 * What requests leave in the state is limited in bytes, not only in number.
 *
 * Each kind of request that anybody may send is sent many times with the longest strings that are accepted. What stays is weighed
 * by the characters of a snapshot, which are the same on every machine; orders that are finished are weighed in memory as well.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { IDEMPOTENCY_BYTES_MAX, IDEMPOTENCY_WINDOW_MS, IdempotencyBook } from '#domain/idempotency.ts';
import { snapshotPieces } from '#domain/snapshot.ts';
import { buyTwo, openDomain } from '../../bench/in-process.ts';
import { definitionOf, hotEvent } from '../../bench/events.ts';
import { anna, buy, checkoutEvent, item } from '../fixtures/commands.ts';
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

/** Bytes in use, without garbage. */
function used(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < 4; i += 1) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
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
      const command = { type: 'PlaceHold', items: [item('adult', 1)], queuePass: null, idempotency: null } as const;
      fixture.do({ ...command, sessionKey: keyOf(n % 3) });
    };
    const left = charactersLeftBy(fixture, 2_000, place);
    assert.ok(left < 200, `${left} characters a hold`);
    fixture.wait(3 * HOUR);
    for (let n = 0; n < 2_000; n += 1) place(n);
    assert.ok(fixture.state.holds.ended.cutCount < 4_000, 'the first are forgotten');
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
      fixture.do({ type: 'PlaceHold', items, queuePass: null, idempotency: null, sessionKey: `session-${n}` });
      fixture.journal.length = 0;
    };
    // The first thousand compile the code, whose memory is not that of holds.
    for (let n = 0; n < 1_000; n += 1) place(n);
    restore(fixture.state);
    const empty = used();
    for (let n = 1_000; n < 11_000; n += 1) place(n);
    const placed = (used() - empty) / 10_000;
    const before = used();
    const restored = restore(fixture.state);
    const bytes = (used() - before) / 11_000;
    assert.equal(restored.holds.byId.size, 11_000);
    // Tables that have just grown differ by a tenth; copies of the ids would make 1.4 times as much.
    assert.ok(bytes < 1.25 * placed, `${bytes} bytes a hold, ${placed} when it was placed`);
  });

  it('is under 1.1 KiB of memory for a finished order, with its hold and all its ids', () => {
    const fixture = openDomain(definitionOf(hotEvent));
    for (let n = 0; n < 1_000; n += 1) buyTwo(fixture, n);
    const before = used();
    for (let n = 1_000; n < 11_000; n += 1) buyTwo(fixture, n);
    const bytes = (used() - before) / 10_000;
    assert.equal(fixture.state.orders.inOrder.packedCount, 11_000);
    assert.ok(bytes < 1_152, `${bytes} bytes an order`);
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

  it('are dropped after a day', () => {
    const book = new IdempotencyBook<string>();
    book.add({ key: 'old', digest: 'd', at: 1_000, answer: 'a' });
    book.dropOld(999 + IDEMPOTENCY_WINDOW_MS);
    assert.equal(book.size, 1);
    book.dropOld(1_000 + IDEMPOTENCY_WINDOW_MS);
    assert.equal(book.size, 0);
  });
});
