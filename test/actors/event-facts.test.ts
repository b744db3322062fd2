/** The gate at which answers wait for the disk: which facts each kind of answer waits for, and what a fault loses. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Overloaded } from '#actors/admission.ts';
import { EventFacts } from '#actors/event-facts.ts';
import { fact, type Fact } from '#domain/fact.ts';
import type { Decision } from '#domain/decision.ts';
import type { Journal } from '#persistence/journal.ts';

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
      facts.onceDurable(of === 'ROOM', () => given.push(name), lost);
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
