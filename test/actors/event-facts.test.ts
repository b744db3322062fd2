/** The text of a fact; and the gate at which answers wait for the disk: for which facts, and what a fault loses. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Overloaded } from '#actors/admission.ts';
import { EventFacts, textOf } from '#actors/event-facts.ts';
import { fact, type Fact, type FactData, type FactOf } from '#domain/fact.ts';
import type { Decision } from '#domain/decision.ts';
import type { Journal } from '#persistence/journal.ts';
import { item, openCheckoutEvent, placeHold } from '../fixtures/commands.ts';
import { anyText, fc } from '../property.ts';

const holdReleased: Fact = fact('HoldReleased', { holdId: 'hld_1_a' });
const entryLeft: Fact = fact('QueueEntryLeft', { entryId: 'que_1_a' });

/** The facts of an event on a journal whose disk writes when it is told to. */
function onSlowDisk() {
  const waiting: { seq: number; done: () => void; failed: (fault: Error) => void }[] = [];
  const journal = {
    appendedSeq: 0,
    durableSeq: 0,
    append: ({ facts }: { facts: readonly unknown[] }) => (journal.appendedSeq += facts.length),
    durable: (seq: number) => new Promise<void>((done, failed) => waiting.push({ seq, done, failed })),
  };
  const facts = new EventFacts('evt_1', journal as unknown as Journal, 0, 0);
  const given: string[] = [];
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    append: (...appended: Fact[]) => facts.append({ facts: appended, reply: null } as unknown as Decision, 1),
    ask(name: string, of: 'ROOM' | 'SALE') {
      const lost = (fault: Overloaded) => given.push(`${name} lost: ${fault.name}`);
      facts.onceDurable(name, of === 'ROOM', (answer) => given.push(answer), lost);
    },
    async write(seq: number) {
      journal.durableSeq = seq;
      for (const each of waiting.splice(0)) each.seq <= seq ? each.done() : waiting.push(each);
      await settle();
    },
    async fail() {
      for (const { failed } of waiting.splice(0)) failed(new Error('the disk is gone'));
      await settle();
    },
    given,
    waiting: () => facts.waiting,
  };
}

describe('The gate of an event', () => {
  it('lets an answer wait for every fact before it, and a poll for all but those of holds', async () => {
    const disk = onSlowDisk();
    disk.append(holdReleased);
    disk.ask('poll beside a hold', 'ROOM');
    disk.ask('hold', 'SALE');
    assert.deepEqual(disk.given, ['poll beside a hold']);
    disk.append(holdReleased, entryLeft);
    disk.ask('poll', 'ROOM');
    disk.append(holdReleased);
    disk.ask('last hold', 'SALE');
    disk.ask('last poll', 'ROOM');
    await disk.write(1);
    assert.deepEqual(disk.given.splice(0), ['poll beside a hold', 'hold']);
    await disk.write(3);
    assert.deepEqual(disk.given.splice(0), ['poll', 'last poll']);
    assert.equal(disk.waiting(), 1);
    await disk.write(4);
    assert.deepEqual(disk.given, ['last hold']);
    assert.equal(disk.waiting(), 0);
  });

  it('reports every answer that waits as lost when its facts cannot be written', async () => {
    const disk = onSlowDisk();
    disk.append(entryLeft);
    disk.ask('poll', 'ROOM');
    disk.ask('hold', 'SALE');
    await disk.fail();
    assert.deepEqual(disk.given, ['poll lost: Overloaded', 'hold lost: Overloaded']);
    assert.equal(disk.waiting(), 0);
  });
});

describe('The text of a fact', () => {
  const text = anyText({ maxLength: 20 });
  const line = fc.record({
    performanceId: text,
    ticketTypeId: text,
    sellingStageId: text,
    quantity: fc.nat(),
    ticketCount: fc.nat(),
    unitPriceCents: fc.nat(),
    seatIds: fc.array(text, { maxLength: 3 }),
  });
  const id = fc.stringMatching(/^hld_[0-9a-z]{1,8}_[A-Za-z0-9_-]{24}$/);
  /** Every field that there may be, so that one more does not compile without being tried here. */
  type Placed = { readonly [Name in keyof Required<FactData['HoldPlaced']>]: FactData['HoldPlaced'][Name] };
  const placed: fc.Arbitrary<Placed> = fc.record({
    holdId: id,
    sessionKey: text,
    lines: fc.array(line, { maxLength: 3 }),
    expiresAt: fc.maxSafeNat(),
    firstPlacedAt: fc.maxSafeNat(),
    replacedHoldId: fc.option(id),
    idempotency: fc.option(fc.record({ key: text, digest: text })),
    orderId: fc.option(text, { nil: undefined }),
  });

  it('is what JSON.stringify makes, of a hold too, whose lines may be those of the one before', () => {
    fc.assert(
      fc.property(fc.array(placed, { minLength: 1, maxLength: 4 }), (all) => {
        const shared = all.flatMap((data, index) => {
          const { lines } = data;
          const next = all[(index + 1) % all.length]!;
          const { expiresAt, firstPlacedAt } = next;
          // One with the lines of the first alone, then one with all that holds of one moment share.
          return [data, { ...next, lines }, { ...data, expiresAt, firstPlacedAt }];
        });
        for (const data of shared)
          assert.equal(textOf(fact('HoldPlaced', data as FactData['HoldPlaced'])), JSON.stringify(data));
      }),
    );
  });

  it('of a hold has every field that a turn gives it, and its lines are those of other holds of the same', () => {
    const sale = openCheckoutEvent();
    const [first, second, more] = ['one "session"', 'another', 'the third'].map((session, index) => {
      placeHold(sale, [item('adult', index === 2 ? 2 : 1)], session);
      return sale.journal.at(-1)!.fact as FactOf<'HoldPlaced'>;
    });
    for (const each of [first!, second!, more!]) assert.equal(textOf(each), JSON.stringify(each.data));
    assert.equal(second!.data.lines, first!.data.lines);
    assert.equal(more!.data.lines[0]!.quantity, 2);
  });
});
