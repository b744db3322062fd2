/**
 * Attempts to steer a draw by somebody who reads everything that is kept before the opening and controls many entries.
 *
 * The adversary has the seed, every entry id and the rule, and decides until the last moment which of its entries
 * leave.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHashing } from '#actors/crypto.ts';
import { drawOrder } from '#domain/waiting-room/draw.ts';
import { DRAW_IN_TURN_MAX } from '#domain/waiting-room/decide.ts';
import { drawUnderWay, poolIds } from '#domain/waiting-room/state.ts';
import { viewDraw } from '#domain/waiting-room/view.ts';
import { snapshotPieces } from '#domain/event/snapshot.ts';
import type { DrawView } from '#domain/view.ts';
import { eventOf, stage, ticketType } from '../fixtures/definitions.ts';
import { assertSameAfterReplay, EventFixture, given, MINUTE, START } from '../fixtures/event-state.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { evolve } from '#domain/event/evolve.ts';
import { initialState } from '#domain/event/state.ts';

const hashing = createHashing();
const OPENS_AT = START + MINUTE;
const PEOPLE = 30;
/** The first so many of the entries belong to the adversary; the friend comes right after. */
const ACCOMPLICES = 10;

function roomEvent(): EventDefinition {
  return eventOf(
    [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 10 }],
    [ticketType('adult', 'floor')],
    [stage('general', { adult: 1000 })],
    { waitingRoom: true, waitingRoomRate: 2, waitingRoomOpensAt: OPENS_AT },
  );
}

/** A waiting room with so many entries, and their ids in the order of arrival. */
function givenManyEntries(
  people: number,
  newSeed?: () => string,
): { readonly fixture: EventFixture; readonly ids: readonly string[] } {
  const fixture = given(roomEvent(), START, newSeed);
  const ids = Array.from(
    { length: people },
    (_, n) => fixture.do({ type: 'JoinQueue', sessionKey: `session-${n}` }).entry.id,
  );
  return { fixture, ids };
}

function proofOf(fixture: EventFixture): DrawView {
  return viewDraw(fixture.state, { offset: 0, limit: 10_000 }, hashing)!;
}

/** The entries that should leave so that the friend comes first, by the order that follows from the seed on disk. */
function bestToLeave(seed: string, ids: readonly string[]): ReadonlySet<string> {
  const friend = ids[ACCOMPLICES]!;
  let best = { place: Infinity, leaving: new Set<string>() };
  for (let choice = 0; choice < 2 ** ACCOMPLICES; choice += 7) {
    const leaving = new Set(ids.filter((_, n) => n < ACCOMPLICES && ((choice >> n) & 1) === 1));
    const staying = ids.filter((entryId) => !leaving.has(entryId));
    const place = drawOrder({ seed, opening: null }, staying, hashing).entryIds.indexOf(friend);
    if (place < best.place) best = { place, leaving };
    if (place === 0) break;
  }
  assert.equal(best.place, 0, 'by the seed alone the friend could be brought to the front');
  return best.leaving;
}

describe('An adversary who reads seed and entry ids before the opening', () => {
  it('brings a friend no nearer to the front than chance does', () => {
    const draws = 60;
    let made = 0;
    const newSeed = (): string => hashing.sha256(`secret ${(made += 1)}`);
    let sum = 0;
    for (let draw = 0; draw < draws; draw += 1) {
      const { fixture, ids } = givenManyEntries(PEOPLE, newSeed);
      fixture.wait(MINUTE - 1);
      const leaving = bestToLeave(fixture.state.waitingRoom!.draw!.seed, ids);
      for (const entryId of leaving) {
        fixture.do({ type: 'LeaveQueue', entryId, sessionKey: `session-${ids.indexOf(entryId)}` });
      }
      fixture.wait(1).settle();
      const { count, entries } = proofOf(fixture);
      sum += entries.indexOf(hashing.sha256(ids[ACCOMPLICES]!)) / (count - 1);
    }
    // A fair place, as a share of the queue, has mean 1/2 and a variance of about 1/12; four standard errors of the
    // mean.
    const bound = 4 / Math.sqrt(12 * draws);
    assert.ok(Math.abs(sum / draws - 0.5) < bound, `mean place ${sum / draws} of the queue`);
  });

  it('finds nothing of the opening: it is made in the turn that begins the draw, and the order is another for another one', () => {
    const orders = ['aa', 'bb'].map((byte) => {
      const secrets = [hashing.sha256('seed'), byte.repeat(32)];
      const { fixture, ids } = givenManyEntries(PEOPLE, () => secrets.shift()!);
      fixture.wait(MINUTE - 1).settle();
      const kept = [...snapshotPieces(fixture.state), ...fixture.journal.map(({ fact }) => JSON.stringify(fact))].join(
        '\n',
      );
      assert.equal(secrets.length, 1, 'nothing has asked for the opening yet');
      assert.ok(kept.includes(ids[0]!) && !kept.includes(byte.repeat(32)));
      fixture.wait(1).settle();
      return proofOf(fixture).entries;
    });
    assert.notDeepEqual(orders[0], orders[1]);
    assert.deepEqual([...orders[0]!].sort(), [...orders[1]!].sort());
  });
});

describe('An adversary who reads the opening when it is recorded', () => {
  it('is too late: the entries of the draw are fixed in the same turn', () => {
    const people = DRAW_IN_TURN_MAX + 1;
    const { fixture, ids } = givenManyEntries(people);
    fixture.wait(MINUTE).settle();
    const draw = drawUnderWay(fixture.state)!;
    const { entryIds, entriesDigest } = drawOrder(draw, ids, hashing);
    const late = fixture.do({ type: 'JoinQueue', sessionKey: 'session-late' }).entry;
    for (const entryId of entryIds.slice(1, 200)) {
      fixture.do({ type: 'LeaveQueue', entryId, sessionKey: `session-${ids.indexOf(entryId)}` });
    }
    assert.deepEqual([...poolIds(draw)].sort(), [...ids].sort());
    fixture.do({ type: 'RecordDraw', from: 0, entryIds, entriesDigest });
    const { entries } = proofOf(fixture);
    assert.deepEqual(
      entries,
      entryIds.map((entryId) => hashing.sha256(entryId)),
    );
    assert.ok(!entries.includes(hashing.sha256(late.id)));
  });

  it('and joins in the millisecond of the opening, is behind every drawn entry', () => {
    const { fixture } = givenManyEntries(PEOPLE);
    const { entry } = fixture.wait(MINUTE).do({ type: 'JoinQueue', sessionKey: 'session-late' });
    assert.equal(entry.position, PEOPLE - 2 + 1);
    assert.equal(proofOf(fixture).count, PEOPLE);
  });
});

describe('An operator who changes the waiting room before the opening', () => {
  const define = (fixture: EventFixture, changes: Partial<EventDefinition>) =>
    fixture.do({ type: 'DefineEvent', definition: { ...roomEvent(), ...changes }, operator: null, note: null });

  it('cannot exchange the seed by moving the opening or changing anything else', () => {
    const { fixture } = givenManyEntries(PEOPLE);
    const { drawCommitment } = proofOf(fixture);
    define(fixture, { waitingRoomOpensAt: OPENS_AT + MINUTE });
    define(fixture, { waitingRoomOpensAt: OPENS_AT + 2 * MINUTE, waitingRoomRate: 7, name: 'Another name' });
    define(fixture, { waitingRoomOpensAt: OPENS_AT, status: 'DRAFT' });
    define(fixture, {});
    assert.equal(proofOf(fixture).drawCommitment, drawCommitment);
    fixture.wait(MINUTE).settle();
    assert.equal(proofOf(fixture).drawCommitment, drawCommitment);
    assert.equal(proofOf(fixture).count, PEOPLE);
  });

  it('can only replace the waiting room, with a new commitment and without entries', () => {
    const { fixture, ids } = givenManyEntries(PEOPLE);
    const { drawCommitment } = proofOf(fixture);
    define(fixture, { waitingRoom: false, waitingRoomOpensAt: null });
    define(fixture, {});
    assert.notEqual(proofOf(fixture).drawCommitment, drawCommitment);
    const poll = fixture.execute({ type: 'PollQueue', entryId: ids[0]!, sessionKey: 'session-0' });
    assert.equal((poll as { code?: string }).code, 'QUEUE_ENTRY_NOT_FOUND');
  });
});

describe('A draw in progress', () => {
  it('that an older version began without an opening goes on to the order that the seed alone leads to', () => {
    const { fixture, ids } = givenManyEntries(DRAW_IN_TURN_MAX + 1);
    fixture.wait(MINUTE).settle();
    const old = new EventFixture(initialState(fixture.state.eventId, fixture.state.eventNumber), fixture.now);
    for (const { fact, at } of fixture.journal) {
      const { type, data } = fact;
      const kept = type === 'DrawStarted' ? { type, data: { entryCount: data.entryCount } } : fact;
      evolve(old.state, kept, at);
      old.journal.push({ fact: kept, at });
    }
    const draw = drawUnderWay(old.state)!;
    assert.equal(draw.opening, null);
    assert.ok(![...snapshotPieces(old.state)].join('').includes('"opening"'), 'its fingerprint is what it was');
    const { entryIds, entriesDigest } = drawOrder({ seed: draw.seed, opening: null }, ids, hashing);
    assert.deepEqual(drawOrder(draw, ids, hashing).entryIds, entryIds);
    old.do({ type: 'RecordDraw', from: 0, entryIds: entryIds.slice(0, 1000), entriesDigest });
    assertSameAfterReplay(old);
    old.do({ type: 'RecordDraw', from: 1000, entryIds: entryIds.slice(1000), entriesDigest });
    const { seed, opening } = proofOf(old);
    assert.deepEqual([seed, opening], [draw.seed, null]);
    assertSameAfterReplay(old);
  });

  it('keeps its opening in a snapshot and a replay', () => {
    const { fixture, ids } = givenManyEntries(DRAW_IN_TURN_MAX + 1);
    fixture.wait(MINUTE).settle();
    assert.ok(
      [...snapshotPieces(fixture.state)].join('').includes(`"opening":"${drawUnderWay(fixture.state)!.opening!}"`),
    );
    const { entryIds, entriesDigest } = drawOrder(drawUnderWay(fixture.state)!, ids, hashing);
    fixture.do({ type: 'RecordDraw', from: 0, entryIds: entryIds.slice(0, 1000), entriesDigest });
    assertSameAfterReplay(fixture);
  });
});
