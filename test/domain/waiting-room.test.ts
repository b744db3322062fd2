/** The waiting room rule by rule: joining, the opening, admission, inactivity, passes, and changes of the definition. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DRAW_IN_TURN_MAX, checkPass, decideJoinQueue, decideSpendPass } from '#domain/waiting-room/decide.ts';
import { markEverybodySeen } from '#domain/waiting-room/last-seen.ts';
import { drawUnderWay } from '#domain/waiting-room/state.ts';
import { isRoomFull, viewDraw, waitingRoomFigures } from '#domain/waiting-room/view.ts';
import { eventRevision } from '#domain/catalogue/view.ts';
import { drawOrder } from '#domain/waiting-room/draw.ts';
import { isRefusal, type RefusalCode } from '#domain/refusal.ts';
import { createHashing } from '#actors/crypto.ts';
import type { CommandOf } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { QueueEntryView } from '#domain/views.ts';
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
  const item = { ticketTypeId: 'adult', sellingStageId: 'general', quantity, performanceId: null, seatIds: null };
  return { type: 'PlaceHold', sessionKey: `session-${name}`, items: [item], queuePass, idempotency: null };
}

const define = (definition: EventDefinition): CommandOf<'DefineEvent'> => ({
  type: 'DefineEvent',
  definition,
  operator: null,
  note: null,
});

function codeOf(answer: object | null): RefusalCode | null {
  return answer !== null && isRefusal(answer) ? answer.code : null;
}

describe('Joining a room that is open', () => {
  it('admits at once while the rate allows, and lets the others wait', () => {
    const fixture = given(roomEvent());
    const first = join(fixture, 'a');
    assert.deepEqual(first, {
      id: id('que', 1),
      eventId: 'evt',
      status: 'ADMITTED',
      position: null,
      waitingAhead: 0,
      estimatedMinutes: 0,
      open: true,
      opensAt: null,
      admittedAt: START,
      passExpiresAt: START + 10 * MINUTE,
      rate: 2,
      drawCommitment: null,
      soldOut: null,
    } satisfies QueueEntryView);
    join(fixture, 'b');
    const names = ['c', 'd', 'e'];
    const waiting = names.map((name) => join(fixture, name));
    assert.deepEqual(
      waiting.map(({ status, position, waitingAhead, estimatedMinutes }) => ({
        status,
        position,
        waitingAhead,
        estimatedMinutes,
      })),
      [
        { status: 'WAITING', position: 1, waitingAhead: 0, estimatedMinutes: 1 },
        { status: 'WAITING', position: 2, waitingAhead: 1, estimatedMinutes: 1 },
        { status: 'WAITING', position: 3, waitingAhead: 2, estimatedMinutes: 2 },
      ],
    );
    assertSameAfterReplay(fixture);
  });

  it('gives a session that joins again its entry', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    join(fixture, 'a');
    const second = join(fixture, 'b');
    join(fixture, 'c');
    fixture.wait(SECOND);
    const again = fixture.do(joinCommand('b'));
    assert.equal(again.joined, false);
    assert.deepEqual([again.entry.id, again.entry.position], [second.id, 1]);
    assert.equal(fixture.do(joinCommand('d')).joined, true);
    assert.equal(fixture.do(joinCommand('a')).entry.status, 'ADMITTED');
  });

  it('is refused where there is no waiting room, and while the event is a draft', () => {
    given(roomEvent({ waitingRoom: false }))
      .when(joinCommand('a'))
      .refuses('QUEUE_NOT_ENABLED', {});
    given(roomEvent({ status: 'DRAFT' }))
      .when(joinCommand('a'))
      .refuses('EVENT_NOT_FOUND', {});
  });
});

describe('A waiting room with a limit of entries', () => {
  it('refuses one more, but not those that it has', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    joinAll(fixture, ['a', 'b', 'c']);
    assert.equal(isRoomFull(fixture.state, 'session-new', 3), false);
    assert.equal(isRoomFull(fixture.state, 'session-new', 2), true);
    assert.equal(isRoomFull(fixture.state, 'session-b', 2), false);
  });
});

describe('Admission', () => {
  it('admits no more than the rate within any 60 seconds, to the millisecond', () => {
    const fixture = given(roomEvent());
    join(fixture, 'a');
    fixture.wait(30 * SECOND);
    join(fixture, 'b');
    const c = join(fixture, 'c');
    const d = join(fixture, 'd');
    fixture.wait(30 * SECOND - 1);
    assert.equal(poll(fixture, 'c', c).status, 'WAITING');
    fixture.wait(1);
    assert.equal(poll(fixture, 'c', c).status, 'ADMITTED');
    assert.equal(poll(fixture, 'd', d).status, 'WAITING');
    fixture.wait(30 * SECOND);
    assert.equal(poll(fixture, 'd', d).status, 'ADMITTED');
  });

  it('is given to the first entries, whoever polls', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    join(fixture, 'a');
    const b = join(fixture, 'b');
    const c = join(fixture, 'c');
    fixture.wait(MINUTE);
    fixture
      .when(entryCommand('PollQueue', 'c', c))
      .then([
        { type: 'QueueEntriesAdmitted', data: { entryIds: [b.id], passExpiresAt: START + MINUTE + 10 * MINUTE } },
      ]);
    assert.deepEqual([poll(fixture, 'c', c).position, poll(fixture, 'b', b).status], [1, 'ADMITTED']);
  });

  it('lets nobody who just joined overtake those who wait', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    joinAll(fixture, ['a', 'b']);
    fixture.wait(MINUTE);
    assert.equal(join(fixture, 'c').position, 1);
  });

  it('writes nothing when a poll admits nobody', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    join(fixture, 'a');
    const b = join(fixture, 'b');
    fixture.wait(5 * SECOND);
    fixture.when(entryCommand('PollQueue', 'b', b)).then([]);
  });

  it('uses a rate that the operator changes', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 3 }));
    const waiting = joinAll(fixture, ['a', 'b', 'c', 'd', 'e', 'f']);
    fixture.wait(10 * SECOND).do(define(roomEvent({ waitingRoomRate: 4 })));
    assert.equal(poll(fixture, 'f', waiting.get('f')!).position, 2);
    assert.equal(poll(fixture, 'd', waiting.get('d')!).status, 'ADMITTED');
    fixture.do(define(roomEvent({ waitingRoomRate: 1 })));
    fixture.wait(59 * SECOND);
    assert.equal(poll(fixture, 'e', waiting.get('e')!).status, 'WAITING', 'one was admitted 59 seconds ago');
    fixture.wait(SECOND);
    assert.equal(poll(fixture, 'e', waiting.get('e')!).status, 'ADMITTED');
  });
});

describe('An entry that is not seen', () => {
  it('is dropped after the inactivity time, from that millisecond on', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    join(fixture, 'a');
    const b = join(fixture, 'b');
    join(fixture, 'c');
    fixture.wait(50 * SECOND);
    poll(fixture, 'b', b);
    fixture.wait(120 * SECOND - 1);
    fixture.settle();
    assert.deepEqual(waitingRoomFigures(fixture.state, fixture.now)?.waiting, 1, 'c is gone, b is still there');
    fixture.wait(1);
    assert.equal(poll(fixture, 'b', b).status, 'EXPIRED');
    assertSameAfterReplay(fixture);
  });

  it('uses up no admission, and the others move up', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    join(fixture, 'a');
    const staleEntries = joinAll(fixture, ['g1', 'g2', 'g3']);
    const living = join(fixture, 'z');
    assert.equal(living.position, 4);
    fixture.wait(40 * SECOND);
    poll(fixture, 'z', living);
    fixture.wait(80 * SECOND);
    const view = poll(fixture, 'z', living);
    assert.equal(view.status, 'ADMITTED');
    for (const [name, stale] of staleEntries) assert.equal(poll(fixture, name, stale).status, 'EXPIRED');
  });

  it('is dropped also before the opening', () => {
    const fixture = given(roomEvent(opensIn(10 * MINUTE)));
    const silent = join(fixture, 'silent');
    fixture.wait(120 * SECOND);
    assert.equal(poll(fixture, 'silent', silent).status, 'EXPIRED');
  });

  it('keeps its pass once it is admitted', () => {
    const fixture = given(roomEvent());
    const a = join(fixture, 'a');
    fixture.wait(5 * MINUTE);
    assert.equal(poll(fixture, 'a', a).status, 'ADMITTED');
  });

  it('is dropped after the time that the event sets', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1, waitingRoomInactivitySeconds: 0.5 }));
    join(fixture, 'a');
    const b = join(fixture, 'b');
    fixture.wait(499);
    assert.equal(poll(fixture, 'b', b).status, 'WAITING');
    fixture.wait(500);
    assert.equal(poll(fixture, 'b', b).status, 'EXPIRED');
  });

  it('counts as seen when the event is activated again', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    join(fixture, 'a');
    const b = join(fixture, 'b');
    fixture.wait(119 * SECOND);
    markEverybodySeen(fixture.state, fixture.now);
    fixture.wait(119 * SECOND);
    assert.equal(poll(fixture, 'b', b).status, 'ADMITTED');
  });

  it('does not keep its session from joining at the end', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    join(fixture, 'a');
    const b = join(fixture, 'b');
    fixture.wait(60 * SECOND - 1);
    const c = join(fixture, 'c');
    fixture.wait(60 * SECOND + 1);
    const back = fixture.do(joinCommand('b'));
    assert.equal(back.joined, true);
    assert.notEqual(back.entry.id, b.id);
    assert.equal(poll(fixture, 'c', c).status, 'ADMITTED');
    assert.equal(back.entry.position, 1);
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

describe('Leaving', () => {
  it('removes the entry, and answers LEFT again when repeated', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    const a = join(fixture, 'a');
    const b = join(fixture, 'b');
    const c = join(fixture, 'c');
    assert.equal(leave(fixture, 'b', b).status, 'LEFT');
    assert.equal(leave(fixture, 'b', b).status, 'LEFT');
    assert.equal(poll(fixture, 'b', b).position, null);
    assert.equal(poll(fixture, 'c', c).position, 1);
    assert.equal(leave(fixture, 'a', a).status, 'LEFT');
    fixture.when(hold('a', a.id)).refuses('QUEUE_PASS_INVALID');
    const again = join(fixture, 'b');
    assert.notEqual(again.id, b.id);
    assert.equal(again.position, 2);
    assertSameAfterReplay(fixture);
  });

  it('changes nothing about an entry that is over', () => {
    const fixture = given(roomEvent());
    const a = join(fixture, 'a');
    fixture.wait(10 * MINUTE);
    assert.equal(leave(fixture, 'a', a).status, 'EXPIRED');
  });

  it('and polling need the right key of a known entry', () => {
    const fixture = given(roomEvent());
    const a = join(fixture, 'a');
    for (const type of ['PollQueue', 'LeaveQueue'] as const) {
      fixture.when(entryCommand(type, 'b', a)).refuses('QUEUE_ENTRY_NOT_FOUND', {});
      fixture.when(entryCommand(type, 'a', { id: id('que', 9) })).refuses('QUEUE_ENTRY_NOT_FOUND', {});
    }
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

  it('is required to reserve, and valid for several holds until it ends', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    const a = join(fixture, 'a');
    const b = join(fixture, 'b');
    fixture.when(hold('a', null)).refuses('QUEUE_PASS_REQUIRED', {});
    fixture.when(hold('a', id('que', 9))).refuses('QUEUE_PASS_INVALID', {});
    fixture.when(hold('b', b.id)).refuses('QUEUE_PASS_INVALID', {});
    fixture.when(hold('b', a.id)).refuses('QUEUE_PASS_INVALID', {});
    fixture.when(hold('a', a.id)).then(['HoldPlaced']);
    fixture.wait(10 * MINUTE - 1);
    fixture.when(hold('a', a.id)).then(['HoldPlaced']);
    fixture.wait(1);
    fixture.when(hold('a', a.id)).refuses('QUEUE_PASS_INVALID', {});
    assert.deepEqual(
      [poll(fixture, 'a', a)].map(({ status, admittedAt, passExpiresAt }) => ({ status, admittedAt, passExpiresAt })),
      [{ status: 'EXPIRED', admittedAt: START, passExpiresAt: START + 10 * MINUTE }],
    );
  });

  it('is checked before the performances, and not at all without a waiting room', () => {
    const item = { ticketTypeId: 'x', sellingStageId: 'x', quantity: 1, performanceId: 'x', seatIds: null };
    given(roomEvent())
      .when({ ...hold('a', null), items: [item] })
      .refuses('QUEUE_PASS_REQUIRED');
    given(roomEvent({ waitingRoom: false }))
      .when(hold('a', 'anything'))
      .then(['HoldPlaced']);
  });

  it('may come without a session key where that is optional, but not with a wrong one', () => {
    const fixture = given(roomEvent());
    const a = join(fixture, 'a');
    assert.equal(checkPass(fixture.state, null, a.id, fixture.now), null);
    assert.equal(codeOf(checkPass(fixture.state, 'session-b', a.id, fixture.now)), 'QUEUE_PASS_INVALID');
  });
});

describe('A waiting room that limits the number of live passes', () => {
  const limited = roomEvent({ waitingRoomRate: 10, waitingRoomMaxAdmitted: 2 });

  it('admits the next when a pass ends, is left or is spent on an order', () => {
    const fixture = given(limited);
    const a = join(fixture, 'a');
    fixture.wait(SECOND);
    const b = join(fixture, 'b');
    const waiting = joinAll(fixture, ['c', 'd', 'e']);
    assert.equal(waiting.get('c')!.position, 1);
    leave(fixture, 'b', b);
    assert.equal(poll(fixture, 'c', waiting.get('c')!).status, 'ADMITTED');
    assert.equal(poll(fixture, 'd', waiting.get('d')!).status, 'WAITING');
    assert.deepEqual(decideSpendPass(fixture.state, 'session-a', null), [
      { type: 'QueuePassSpent', data: { entryId: a.id } },
    ]);
    assert.deepEqual(decideSpendPass(fixture.state, null, a.id), decideSpendPass(fixture.state, 'session-a', null));
    for (let at = 0; at < 9; at += 1) {
      fixture.wait(MINUTE);
      poll(fixture, 'd', waiting.get('d')!);
    }
    fixture.wait(MINUTE - SECOND);
    assert.equal(poll(fixture, 'd', waiting.get('d')!).status, 'ADMITTED', 'the pass of a has ended');
  });

  it('spends no pass on an event without a limit', () => {
    const fixture = given(roomEvent());
    join(fixture, 'a');
    assert.deepEqual(decideSpendPass(fixture.state, 'session-a', null), []);
  });
});

describe('A waiting room that pauses when nothing is available', () => {
  const pausing = roomEvent({ waitingRoomRate: 2, waitingRoomPauseWhenSoldOut: true });

  it('admits no entry meanwhile, and continues when tickets are available again', () => {
    const fixture = given(pausing);
    const a = join(fixture, 'a');
    assert.equal(a.soldOut, false);
    const held = fixture.do(hold('a', a.id, 10)).hold;
    const b = join(fixture, 'b');
    assert.deepEqual([b.status, b.position, b.soldOut, b.open], ['WAITING', 1, true, true]);
    fixture.wait(MINUTE);
    fixture.when(entryCommand('PollQueue', 'b', b)).then([]);
    fixture.do({ type: 'ReleaseHold', holdId: held.id, sessionKey: 'session-a' });
    fixture.when(entryCommand('PollQueue', 'b', b)).then(['WaitingRoomResumed', 'QueueEntriesAdmitted']);
    assertSameAfterReplay(fixture);
  });

  it('continues when the definition no longer asks for the pause', () => {
    const fixture = given(pausing);
    const a = join(fixture, 'a');
    fixture.do(hold('a', a.id, 10));
    const b = join(fixture, 'b');
    fixture.do(define({ ...pausing, waitingRoomPauseWhenSoldOut: false }));
    const view = poll(fixture, 'b', b);
    assert.deepEqual([view.status, view.soldOut], ['ADMITTED', null]);
  });
});

describe('Before the opening', () => {
  it('every entry waits without a position, and shows how long until the opening', () => {
    const fixture = given(roomEvent(opensIn(5 * MINUTE)));
    const entry = join(fixture, 'a');
    const { status, position, waitingAhead, estimatedMinutes, open, opensAt } = entry;
    assert.deepEqual(
      { status, position, waitingAhead, estimatedMinutes, open, opensAt },
      {
        status: 'WAITING',
        position: null,
        waitingAhead: 0,
        estimatedMinutes: 5,
        open: false,
        opensAt: START + 5 * MINUTE,
      },
    );
    assert.match(entry.drawCommitment!, /^[0-9a-f]{64}$/);
    fixture.wait(1);
    assert.equal(poll(fixture, 'a', entry).estimatedMinutes, 5);
    fixture.wait(119 * SECOND);
    assert.equal(poll(fixture, 'a', entry).estimatedMinutes, 4);
  });
});

describe('The opening', () => {
  const OPENING = 2 * MINUTE;
  const opening = roomEvent({ ...opensIn(OPENING), waitingRoomRate: 3 });
  const names = Array.from({ length: 20 }, (_, index) => `p${index}`);

  /** Twenty people in the pre-queue, all of them seen a minute before the opening. */
  function givenManyEntries(): { fixture: EventFixture; entries: Map<string, QueueEntryView> } {
    const fixture = given(opening);
    const entries = joinAll(fixture, names);
    fixture.wait(MINUTE);
    for (const [name, entry] of entries) poll(fixture, name, entry);
    return { fixture, entries };
  }

  it('draws the order by the published rule, and the first poll already admits', () => {
    const { fixture, entries } = givenManyEntries();
    fixture.wait(MINUTE).settle();
    const seed = fixture.journal.flatMap(({ fact }) =>
      fact.type === 'WaitingRoomAdded' ? [fact.data.drawSeed!] : [],
    )[0]!;
    const opening = fixture.journal.flatMap(({ fact }) =>
      fact.type === 'DrawStarted' ? [fact.data.opening!] : [],
    )[0]!;
    const expected = drawOrder(
      { seed, opening },
      Array.from(entries.values(), (entry) => entry.id),
      hashing,
    );
    const last = [...entries].find(([, entry]) => entry.id === expected.entryIds.at(-1))!;
    assert.equal(poll(fixture, last[0], last[1]).position, names.length - 3);
    const views = [...entries].map(([name, entry]) => poll(fixture, name, entry));
    const inLine = views.filter(({ status }) => status === 'WAITING').sort((a, b) => a.position! - b.position!);
    assert.deepEqual(
      inLine.map((view) => view.id),
      expected.entryIds.slice(3),
    );
    assert.ok(views.every(({ open, opensAt }) => open && opensAt === START + OPENING));
    const proof = viewDraw(fixture.state, { offset: 0, limit: 1000 }, hashing)!;
    assert.deepEqual(proof, {
      eventId: 'evt',
      status: 'drawn',
      drawCommitment: hashing.sha256OfHex(seed),
      seed,
      opening,
      drawnAt: START + OPENING,
      count: 20,
      entriesDigest: expected.entriesDigest,
      entries: expected.entryIds.map((entryId) => hashing.sha256(entryId)),
    });
    assert.deepEqual(viewDraw(fixture.state, { offset: 18, limit: 5 }, hashing)!.entries, proof.entries.slice(18));
    assertSameAfterReplay(fixture);
  });

  it('leaves out those who left or were dropped, and lines up late comers behind', () => {
    const { fixture, entries } = givenManyEntries();
    leave(fixture, 'p3', entries.get('p3')!);
    fixture.wait(MINUTE);
    const late = fixture.do(joinCommand('late'));
    assert.equal(late.entry.position, 20 - 1 - 3 + 1);
    const proof = viewDraw(fixture.state, { offset: 0, limit: 1000 }, hashing)!;
    assert.equal(proof.count, 19);
    assert.ok(!proof.entries.includes(hashing.sha256(entries.get('p3')!.id)));
    assert.ok(!proof.entries.includes(hashing.sha256(late.entry.id)));
  });

  it('drops an entry that becomes stale at that very millisecond before it draws', () => {
    const fixture = given(roomEvent({ ...opensIn(OPENING), waitingRoomInactivitySeconds: 120 }));
    join(fixture, 'silent');
    fixture.wait(1);
    const there = join(fixture, 'there');
    fixture.wait(OPENING - 1);
    assert.equal(poll(fixture, 'there', there).status, 'ADMITTED');
    assert.equal(viewDraw(fixture.state, { offset: 0, limit: 10 }, hashing)!.count, 1);
  });

  it('keeps the seed secret until then, and has no opening', () => {
    const { fixture } = givenManyEntries();
    const { status, seed, opening, count, entries } = viewDraw(fixture.state, { offset: 0, limit: 1000 }, hashing)!;
    assert.deepEqual([status, seed, opening, count, entries], ['pending', null, null, 0, []]);
    assert.equal(viewDraw(given(roomEvent()).state, { offset: 0, limit: 10 }, hashing), null, 'nothing to draw');
  });

  it('of a waiting room without entries is an empty draw', () => {
    const fixture = given(roomEvent(opensIn(-MINUTE)));
    assert.equal(join(fixture, 'a').status, 'ADMITTED');
    assert.equal(viewDraw(fixture.state, { offset: 0, limit: 10 }, hashing)!.count, 0);
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

describe('A new definition', () => {
  const definition = roomEvent(opensIn(10 * MINUTE));

  it('moves an opening that is still to come, and keeps the commitment of the draw', () => {
    const fixture = given(definition);
    const entry = join(fixture, 'a');
    const later = { ...definition, waitingRoomOpensAt: START + 20 * MINUTE };
    fixture.when(define(later)).then(['EventDefined', 'WaitingRoomRescheduled']);
    const view = poll(fixture, 'a', entry);
    assert.deepEqual([view.opensAt, view.drawCommitment], [START + 20 * MINUTE, entry.drawCommitment]);
    fixture.wait(MINUTE).do(define({ ...definition, waitingRoomOpensAt: START + MINUTE }));
    assert.equal(poll(fixture, 'a', entry).status, 'ADMITTED', 'the opening has passed, so the draw is held');
  });

  it('without an opening time opens the waiting room at once, with a draw', () => {
    const fixture = given(definition);
    const entry = join(fixture, 'a');
    fixture.do(define({ ...definition, waitingRoomOpensAt: null }));
    assert.equal(poll(fixture, 'a', entry).status, 'ADMITTED');
    assert.equal(viewDraw(fixture.state, { offset: 0, limit: 10 }, hashing)!.count, 1);
  });

  it('cannot move an opening once it has happened', () => {
    const fixture = given(roomEvent());
    join(fixture, 'a');
    fixture.when(define(definition)).refuses('UPDATE_CONFLICT');
  });

  it('sets an opening time for a waiting room without entries', () => {
    const fixture = given(roomEvent());
    fixture.when(define(definition)).then(['EventDefined', 'WaitingRoomRemoved', 'WaitingRoomAdded']);
    assert.equal(join(fixture, 'a').open, false);
    assertSameAfterReplay(fixture);
  });

  it('removes the waiting room with all its entries, and adds a new one', () => {
    const fixture = given(roomEvent({ waitingRoomRate: 1 }));
    const a = join(fixture, 'a');
    const b = join(fixture, 'b');
    fixture.do(define(roomEvent({ waitingRoom: false })));
    fixture.when(entryCommand('PollQueue', 'b', b)).refuses('QUEUE_ENTRY_NOT_FOUND');
    fixture.when(hold('b', null)).then(['HoldPlaced']);
    fixture.wait(20 * MINUTE).settle();
    fixture.do(define(roomEvent({ waitingRoomRate: 1 })));
    fixture.when(hold('a', a.id)).refuses('QUEUE_PASS_INVALID');
    assert.equal(join(fixture, 'b').status, 'ADMITTED');
    assertSameAfterReplay(fixture);
  });
});
