import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../property.ts';
import {
  append,
  createQueuePositions,
  fillReserved,
  occupant,
  peopleFrom,
  rankOf,
  reserveSlots,
  vacate,
  type QueuePositions,
} from '#domain/waiting-room/queue-positions.ts';

interface Person {
  readonly name: number;
  slot: number;
}

/** The queue as an array: a reference model that is simple and slow. */
class NaiveQueue {
  people: Person[] = [];

  check(line: QueuePositions<Person>): void {
    assert.equal(line.size, this.people.length);
    assert.deepEqual(Array.from(peopleFrom(line), names), this.people.map(names));
    this.people.forEach((person, index) => {
      assert.equal(rankOf(line, person.slot), index + 1);
      assert.equal(occupant(line, person.slot), person);
    });
  }
}

const names = ({ name }: Person): number => name;

function joinMany(line: QueuePositions<Person>, count: number, firstName = 0): Person[] {
  return Array.from({ length: count }, (_, index) => {
    const person = { name: firstName + index, slot: -1 };
    person.slot = append(line, person);
    return person;
  });
}

describe('Queue positions', () => {
  it('are right after any joins and removals', () => {
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ act: fc.constant('JOIN' as const), count: fc.integer({ min: 1, max: 300 }) }),
      },
      { weight: 2, arbitrary: fc.record({ act: fc.constant('LEAVE' as const), where: fc.nat() }) },
      {
        weight: 3,
        arbitrary: fc.record({ act: fc.constant('CALL' as const), count: fc.integer({ min: 1, max: 400 }) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ act: fc.constant('SCATTER' as const), keepEvery: fc.integer({ min: 2, max: 600 }) }),
      },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const line = createQueuePositions<Person>();
        const naive = new NaiveQueue();
        let nextName = 0;
        for (const each of steps) {
          if (each.act === 'JOIN') {
            naive.people.push(...joinMany(line, each.count, nextName));
            nextName += each.count;
          } else if (each.act === 'LEAVE' && naive.people.length > 0) {
            const [gone] = naive.people.splice(each.where % naive.people.length, 1);
            vacate(line, gone!.slot, gone!);
          } else if (each.act === 'CALL') {
            for (const gone of naive.people.splice(0, each.count)) vacate(line, gone.slot, gone);
          } else if (each.act === 'SCATTER') {
            const [kept, gone] = [[] as Person[], [] as Person[]];
            naive.people.forEach((person, index) => (index % each.keepEvery === 0 ? kept : gone).push(person));
            for (const person of gone) vacate(line, person.slot, person);
            naive.people = kept;
          }
        }
        naive.check(line);
      }),
      { numRuns: 60 },
    );
  });

  it('reserve slots ahead of those that join meanwhile', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 1500 }),
        fc.integer({ min: 0, max: 1500 }),
        fc.integer({ min: 0, max: 20 }),
        (present, late, before) => {
          const line = createQueuePositions<Person>();
          for (const early of joinMany(line, before)) vacate(line, early.slot, early);
          reserveSlots(line, present.length);
          const lateHalf = joinMany(line, late, 10_000);
          const drawn = present.map((isThere, name) => {
            const person = { name, slot: -1 };
            person.slot = fillReserved(line, isThere ? person : null);
            return person;
          });
          const naive = new NaiveQueue();
          naive.people = [...drawn.filter((_, index) => present[index]), ...lateHalf];
          naive.check(line);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keep an entry whose slot is removed for another one', () => {
    const line = createQueuePositions<Person>();
    const [first] = joinMany(line, 1);
    vacate(line, first!.slot, { name: 7, slot: first!.slot });
    assert.equal(line.size, 1);
  });

  it('use no memory for those that left', () => {
    const line = createQueuePositions<Person>();
    const faithful = joinMany(line, 1)[0]!;
    for (let round = 0; round < 2_000; round += 1) {
      for (const person of joinMany(line, 50)) vacate(line, person.slot, person);
    }
    assert.equal(rankOf(line, faithful.slot), 1);
    assert.ok(line.blocks.filter((block) => block !== null).length <= 2);
    vacate(line, faithful.slot, faithful);
    for (const person of joinMany(line, 200_000)) vacate(line, person.slot, person);
    assert.ok(line.blocks.length <= 1024, `${line.blocks.length} blocks`);
  });
});
