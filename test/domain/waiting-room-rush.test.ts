/**
 * A waiting room with 20,000 entries under a manual clock, and random commands of a few sessions, against the
 * reference model.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../property.ts';
import { createHashing } from '#actors/crypto.ts';
import { drawOrder } from '#domain/waiting-room/draw.ts';
import { DRAWN_ENTRIES_PER_FACT_MAX } from '#domain/waiting-room/decide.ts';
import { markEverybodySeen } from '#domain/waiting-room/last-seen.ts';
import { drawUnderWay, isRoomOpen, poolIds } from '#domain/waiting-room/state.ts';
import { viewOwnEntry, waitingRoomFigures } from '#domain/waiting-room/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { eventOf, stage, ticketType } from '../fixtures/definitions.ts';
import { assertSameAfterReplay, given, MINUTE, START, type EventFixture } from '../fixtures/event-state.ts';
import { WaitingRoomModel, type WaitingRoomRules } from '../fixtures/waiting-room-model.ts';

const SECOND = 1000;

function roomEvent(more: Partial<EventDefinition>): EventDefinition {
  return eventOf(
    [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 10 }],
    [ticketType('adult', 'floor')],
    [stage('general', { adult: 1000 })],
    { waitingRoom: true, ...more },
  );
}

function promisesOf(definition: EventDefinition): WaitingRoomRules {
  return {
    opensAt: definition.waitingRoomOpensAt,
    rate: definition.waitingRoomRate,
    inactivityMs: definition.waitingRoomInactivitySeconds * SECOND,
    passMs: definition.waitingRoomMinutes * MINUTE,
    maxAdmitted: definition.waitingRoomMaxAdmitted,
  };
}

/** An event whose facts are checked by the reference model as they happen. */
class WatchedEvent {
  readonly fixture: EventFixture;
  readonly model: WaitingRoomModel;
  #watched = 0;

  constructor(definition: EventDefinition) {
    this.fixture = given(definition);
    this.model = new WaitingRoomModel(promisesOf(definition));
  }

  join(sessionKey: string): { id: string; status: string } {
    this.settle();
    const { entry } = this.fixture.do({ type: 'JoinQueue', sessionKey });
    return this.#told(entry);
  }

  poll(entryId: string, sessionKey: string): { id: string; status: string; position: number | null } {
    this.settle();
    const { entry } = this.fixture.do({ type: 'PollQueue', entryId, sessionKey });
    return this.#told(entry);
  }

  leave(entryId: string, sessionKey: string): void {
    this.settle();
    this.fixture.do({ type: 'LeaveQueue', entryId, sessionKey });
    this.catchUp();
  }

  settle(): void {
    this.fixture.settle();
    this.catchUp();
  }

  /** Notes the entry as seen before the model reads the facts, because admission depends on who was seen. */
  #told<Told extends { id: string; status: string }>(entry: Told): Told {
    if (entry.status === 'WAITING' || entry.status === 'ADMITTED') this.model.seen(entry.id, this.fixture.now);
    this.catchUp();
    return entry;
  }

  catchUp(): void {
    const { journal } = this.fixture;
    for (; this.#watched < journal.length; this.#watched += 1) {
      const { fact, at } = journal[this.#watched]!;
      this.model.watch(fact, at);
    }
  }

  /** Holds a draw that is too large for one turn, all at once. */
  draw(): void {
    const draw = drawUnderWay(this.fixture.state);
    if (draw === null) return;
    const { entryIds, entriesDigest } = drawOrder(draw, [...poolIds(draw)], createHashing());
    for (let from = draw.order.length; from < entryIds.length; from += DRAWN_ENTRIES_PER_FACT_MAX) {
      const piece = entryIds.slice(from, from + DRAWN_ENTRIES_PER_FACT_MAX);
      this.fixture.do({ type: 'RecordDraw', from, entryIds: piece, entriesDigest });
      this.catchUp();
    }
  }
}

/** A small generator of chance with a seed (mulberry32), so that the rush is the same every time. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('A rush', () => {
  it('of 20,000 entries, a fifth of them stale, is admitted in order and never faster than the rate', () => {
    const people = 20_000;
    const tickMs = 500;
    const random = chance(7);
    const definition = roomEvent({
      waitingRoomOpensAt: START + 2 * MINUTE,
      // More than a turn admits at most.
      waitingRoomRate: 6_000,
      waitingRoomMinutes: 3,
    });
    const room = new WatchedEvent(definition);
    const { fixture, model } = room;
    // The actions in each tick; people are numbers, and their session is named after the number.
    const plans: number[][] = [];
    const plan = (person: number, tick: number): void => void (plans[tick] ??= []).push(person);
    const entryIds: (string | undefined)[] = [];
    const places: (number | null)[] = [];
    const isStale = (person: number): boolean => person % 5 === 0;
    for (let person = 0; person < people; person += 1) plan(person, Math.floor(random() * 480));
    for (let tick = 0; tick < plans.length; tick += 1) {
      fixture.wait(tickMs);
      room.settle();
      if (tick > 245) room.draw();
      for (const person of plans[tick] ?? []) {
        const sessionKey = `session-${person}`;
        const entryId = entryIds[person];
        const entry = entryId === undefined ? room.join(sessionKey) : room.poll(entryId, sessionKey);
        entryIds[person] = entry.id;
        if (entry.status !== 'WAITING' || isStale(person)) continue;
        if (random() < 0.005) room.leave(entry.id, sessionKey);
        else plan(person, tick + 1 + Math.floor((20 + random() * 40) * 2));
        const { position = null } = entry as { position?: number | null };
        assert.ok(position === null || position <= (places[person] ?? people), 'nobody moves back in the queue');
        places[person] = position ?? null;
      }
    }
    model.assertSpans();
    fixture.wait(5 * MINUTE);
    room.settle();
    assert.equal(model.statusOf.size, people);
    assert.deepEqual([model.count('WAITING'), model.count('ADMITTED')], [0, 0]);
    const { waiting, admitted, joined } = waitingRoomFigures(fixture.state, fixture.now)!;
    assert.deepEqual({ waiting, admitted, joined }, { waiting: 0, admitted: 0, joined: people });
    assert.ok(model.admittedAt.length > 14_000, `${model.admittedAt.length} got in`);
    const turns = fixture.journal.flatMap(({ fact }) =>
      fact.type === 'QueueEntriesAdmitted' ? [fact.data.entryIds.length] : [],
    );
    assert.equal(Math.max(...turns), 5_000, 'a turn admits no more');
  });
});

describe('Random commands of a few sessions', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const act = fc.oneof(
    { weight: 4, arbitrary: fc.record({ act: fc.constant('JOIN' as const), who: fc.constantFrom(...names) }) },
    { weight: 6, arbitrary: fc.record({ act: fc.constant('POLL' as const), who: fc.constantFrom(...names) }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('LEAVE' as const), who: fc.constantFrom(...names) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        act: fc.constant('WAIT' as const),
        ms: fc.oneof(fc.nat(20 * SECOND), fc.constantFrom(1, 999, 29_999, 30_000, 59_999, 60_000, 120_000)),
      }),
    },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('RESTART' as const) }) },
  );
  const settings = fc.record({
    waitingRoomOpensAt: fc.constantFrom(null, START + 30 * SECOND),
    waitingRoomRate: fc.integer({ min: 1, max: 3 }),
    waitingRoomMinutes: fc.constantFrom(0.5, 2),
    waitingRoomInactivitySeconds: fc.constantFrom(30, 120),
    waitingRoomMaxAdmitted: fc.constantFrom(null, 1, 2),
  });

  it('keep the promises of the waiting room, and a replay and a snapshot give the same state', () => {
    fc.assert(
      fc.property(settings, fc.array(act, { maxLength: 80, size: 'max' }), (more, acts) => {
        const room = new WatchedEvent(roomEvent(more));
        const entryIds = new Map<string, string>();
        for (const each of acts) {
          if (each.act === 'WAIT') room.fixture.wait(each.ms);
          else if (each.act === 'RESTART') restart(room);
          else if (each.act === 'JOIN') entryIds.set(each.who, room.join(`session-${each.who}`).id);
          else {
            const entryId = entryIds.get(each.who);
            if (entryId === undefined) continue;
            if (each.act === 'POLL') room.poll(entryId, `session-${each.who}`);
            else room.leave(entryId, `session-${each.who}`);
          }
        }
        room.settle();
        room.model.assertSpans();
        assertEverybodyCounts(room);
        assertSameAfterReplay(room.fixture);
      }),
      { numRuns: 150 },
    );
  });

  /** The process ends and begins again. */
  function restart({ fixture, model }: WatchedEvent): void {
    markEverybodySeen(fixture.state, fixture.now);
    model.restarted(fixture.now);
  }

  /** Positions are 1 to n without a gap, and each entry has the status that the model has. */
  function assertEverybodyCounts({ fixture, model }: WatchedEvent): void {
    const { waiting, admitted } = waitingRoomFigures(fixture.state, fixture.now)!;
    assert.deepEqual([waiting, admitted], [model.count('WAITING'), model.count('ADMITTED')]);
    const positions: number[] = [];
    for (const { fact } of fixture.journal) {
      if (fact.type !== 'QueueEntryJoined') continue;
      const { entryId, sessionKey } = fact.data;
      const view = viewOwnEntry(fixture.state, entryId, sessionKey, fixture.now);
      assert.ok(!isRefusal(view));
      assert.equal(view.status, model.statusOf.get(entryId));
      if (view.position !== null) positions.push(view.position);
    }
    const expected = isRoomOpen(fixture.state.waitingRoom!) ? waiting : 0;
    assert.deepEqual(
      positions.sort((a, b) => a - b),
      Array.from({ length: expected }, (_, index) => index + 1),
    );
  }
});
