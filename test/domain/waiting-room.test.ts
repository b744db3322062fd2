/**
 * What the state keeps of a waiting room between turns: draws in pieces, entries and passes that no turn has settled
 * yet. The rules are scenarios (`scenarios/waiting-room.ts`).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DRAW_IN_TURN_MAX, checkPass, decideJoinQueue } from '#domain/waiting-room/decide.ts';
import { markEverybodySeen } from '#domain/waiting-room/last-seen.ts';
import { drawUnderWay } from '#domain/waiting-room/state.ts';
import { isRoomFull, viewDraw } from '#domain/waiting-room/view.ts';
import { eventRevision } from '#domain/event/public-view.ts';
import { drawOrder } from '#domain/waiting-room/draw.ts';
import { isRefusal } from '#domain/refusal.ts';
import { createHashing } from '#actors/crypto.ts';
import type { CommandOf } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { QueueEntryView } from '#domain/view.ts';
import { item, place } from '../fixtures/commands.ts';
import { eventOf, stage, ticketType } from '../fixtures/definitions.ts';
import {
  assertSameAfterReplay,
  given,
  id,
  MINUTE,
  restore,
  START,
  type EventFixture,
} from '../fixtures/event-state.ts';

const SECOND = 1000;
const hashing = createHashing();

function roomEvent(more: Partial<EventDefinition> = {}): EventDefinition {
  return eventOf(
    [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 10 }],
    [ticketType('adult', 'floor')],
    [stage('general', { adult: 1000 })],
    { waitingRoom: true, waitingRoomRate: 2, ...more },
  );
}

const opensIn = (ms: number): Partial<EventDefinition> => ({ waitingRoomOpensAt: START + ms });

const joinCommand = (name: string): CommandOf<'JoinQueue'> => ({ type: 'JoinQueue', sessionKey: `session-${name}` });

const join = (fixture: EventFixture, name: string): QueueEntryView => fixture.do(joinCommand(name)).entry;

const entryCommand = <Type extends 'PollQueue' | 'LeaveQueue'>(type: Type, name: string, entry: { id: string }) => ({
  type,
  entryId: entry.id,
  sessionKey: `session-${name}`,
});

const poll = (fixture: EventFixture, name: string, entry: { id: string }): QueueEntryView =>
  fixture.do(entryCommand('PollQueue', name, entry)).entry;

const leave = (fixture: EventFixture, name: string, entry: { id: string }): QueueEntryView =>
  fixture.do(entryCommand('LeaveQueue', name, entry)).entry;

function joinAll(fixture: EventFixture, names: readonly string[]): Map<string, QueueEntryView> {
  return new Map(names.map((name) => [name, join(fixture, name)]));
}

function hold(name: string, queuePass: string | null, quantity = 1): CommandOf<'PlaceHold'> {
  return place([{ ...item('adult', quantity), performanceId: null }], `session-${name}`, queuePass);
}

describe('A waiting room with a limit of entries', () => {
  it('refuses one more, but not those that it has', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    joinAll(fixture, ['a', 'b', 'c']);
    assert.equal(isRoomFull(fixture.state, 'session-new', 3), false);
    assert.equal(isRoomFull(fixture.state, 'session-new', 2), true);
    assert.equal(isRoomFull(fixture.state, 'session-b', 2), false);
  });
});

describe('An entry that is not seen', () => {
  it('counts as seen when the event is activated again', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    join(fixture, 'a');
    const b = join(fixture, 'b');
    fixture.wait(119 * SECOND);
    markEverybodySeen(fixture.state, fixture.now);
    fixture.wait(119 * SECOND);
    assert.equal(poll(fixture, 'b', b).status, 'ADMITTED');
  });
});

describe('The payload of the event', () => {
  it('does not change while entries join, wait and are admitted', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    const before = eventRevision(fixture.state, fixture.now);
    const a = join(fixture, 'a');
    leave(fixture, 'b', join(fixture, 'b'));
    assert.equal(eventRevision(fixture.state, fixture.now), before);
    assert.equal(eventRevision(restore(fixture.state), fixture.now), before);
    fixture.do(hold('a', a.id));
    assert.notEqual(eventRevision(fixture.state, fixture.now), before);
  });
});

describe('A stale entry in front that no sweep has dropped yet', () => {
  it('is dropped by the next poll or join, and uses up no admission', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    join(fixture, 'first');
    const stale = join(fixture, 'stale');
    const now = START + 120 * SECOND;
    const turn = { now, newId: () => id('que', 9) };
    const decision = decideJoinQueue(fixture.state, joinCommand('person'), turn);
    assert.ok(!isRefusal(decision));
    const passExpiresAt = now + 10 * MINUTE;
    assert.deepEqual(decision.facts, [
      { type: 'QueueEntryJoined', data: { entryId: id('que', 9), sessionKey: 'session-person' } },
      { type: 'QueueEntriesDropped', data: { entryIds: [stale.id] } },
      { type: 'QueueEntriesAdmitted', data: { entryIds: [id('que', 9)], passExpiresAt } },
    ]);
  });
});

describe('A pass', () => {
  it('is over from the exact millisecond on, also before its end was settled', () => {
    const fixture = given(roomEvent({ waitingRoomMinutes: 1 }));
    const { id: pass } = join(fixture, 'a');
    assert.equal(checkPass(fixture.state, 'session-a', pass, START + MINUTE - 1), null);
    const late = checkPass(fixture.state, 'session-a', pass, START + MINUTE);
    assert.equal(late?.code, 'QUEUE_PASS_INVALID');
  });
});

describe('A draw too large for one turn', () => {
  const count = DRAW_IN_TURN_MAX + 1;

  /** A large waiting room at its opening, with the input and the output of its draw. */
  function drawing(): { fixture: EventFixture; entries: QueueEntryView[]; order: readonly string[]; digest: string } {
    const fixture = given(roomEvent({ ...opensIn(MINUTE), waitingRoomRate: 5 }));
    const entries = Array.from({ length: count }, (_, index) => join(fixture, `p${index}`));
    fixture.wait(MINUTE).settle();
    const draw = drawUnderWay(fixture.state)!;
    const { entryIds, entriesDigest } = drawOrder(
      draw,
      entries.map((entry) => entry.id),
      hashing,
    );
    return { fixture, entries, order: entryIds, digest: entriesDigest };
  }

  const piece = (order: readonly string[], from: number, to: number, digest: string): CommandOf<'RecordDraw'> => ({
    type: 'RecordDraw',
    from,
    entryIds: order.slice(from, to),
    entriesDigest: digest,
  });

  it('shows no position and admits no entry until it is complete', () => {
    const { fixture, entries, order, digest } = drawing();
    const view = poll(fixture, 'p0', entries[0]!);
    assert.deepEqual([view.status, view.position, view.open, view.estimatedMinutes], ['WAITING', null, false, 0]);
    const late = join(fixture, 'late');
    assert.deepEqual([late.position, late.open], [null, false]);
    fixture.when(piece(order, 0, 1500, digest)).then(['LineDrawn']);
    assertSameAfterReplay(fixture);
    assert.equal(poll(fixture, 'p0', entries[0]!).position, null);
    fixture.when(piece(order, 1500, count, digest)).then(['LineDrawn', 'DrawFinished']);
    assert.equal(poll(fixture, 'late', late).position, count - 5 + 1);
    assertSameAfterReplay(fixture);
  });

  it('records a piece once, however often it comes', () => {
    const { fixture, order, digest } = drawing();
    assert.equal(fixture.do(piece(order, 0, 1000, digest)).drawnEntries, 1000);
    fixture.when(piece(order, 0, 1000, digest)).then([]);
    fixture.when(piece(order, 1500, count, digest)).then([]);
    assert.equal(fixture.do(piece(order, 0, 1000, digest)).drawnEntries, 1000);
    fixture.when(piece(order, 1000, count, digest)).then(['LineDrawn', 'DrawFinished']);
    fixture.when(piece(order, 1000, count, digest)).then([]);
  });

  it('may go on when somebody leaves meanwhile: they are in the proof and have no position', () => {
    const { fixture, entries, order, digest } = drawing();
    const nameOf = (entryId: string): string => `p${entries.findIndex((entry) => entry.id === entryId)}`;
    leave(fixture, nameOf(order[0]!), { id: order[0]! });
    fixture.do(piece(order, 0, 1000, digest));
    leave(fixture, nameOf(order[1]!), { id: order[1]! });
    leave(fixture, nameOf(order[1999]!), { id: order[1999]! });
    assertSameAfterReplay(fixture);
    fixture.do(piece(order, 1000, count, digest));
    const views = order.map((entryId) => poll(fixture, nameOf(entryId), { id: entryId }));
    assert.deepEqual(
      views.slice(0, 8).map(({ status, position }) => position ?? status),
      ['LEFT', 'LEFT', 'ADMITTED', 'ADMITTED', 'ADMITTED', 'ADMITTED', 'ADMITTED', 1],
    );
    assert.equal(views.at(-1)!.position, count - 3 - 5);
    assert.equal(viewDraw(fixture.state, { offset: 0, limit: 1 }, hashing)!.count, count);
    assertSameAfterReplay(fixture);
  });
});
