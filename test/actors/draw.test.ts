/** Draws that are too large for one turn, by the real actor and its worker. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { createHashing } from '#actors/crypto.ts';
import { drawOrder, findFlaws } from '#domain/waiting-room/draw.ts';
import { isRefusal } from '#domain/refusal.ts';
import { DRAW_IN_TURN_MAX } from '#domain/waiting-room/decide.ts';
import { drawUnderWay } from '#domain/waiting-room/state.ts';
import { viewDraw } from '#domain/waiting-room/view.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { inspectDurably, openActors, openConcert, START } from '../fixtures/actors.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { DrawView } from '#domain/view.ts';

const MINUTE = 60_000;
const PEOPLE = DRAW_IN_TURN_MAX + 1_500;
const hashing = createHashing();
const room = {
  waiting_room: true,
  waiting_room_opens_at: new Date(START + MINUTE).toISOString(),
  waiting_room_rate: 3,
};

/** Fills the pre-queue of a concert; returns the ids. */
async function fill(actor: EventActor): Promise<string[]> {
  const replies = Array.from({ length: PEOPLE }, (_, index) =>
    actor.execute({ type: 'JoinQueue', sessionKey: `session-${index}` }),
  );
  return (await Promise.all(replies)).map((reply) => {
    assert.ok(!isRefusal(reply));
    return reply.entry.id;
  });
}

/** Waits, one round of the event loop at a time, until the waiting room is open. */
async function untilDrawn(actor: EventActor): Promise<DrawView> {
  while (actor.inspect(drawUnderWay) !== null) await nextRound();
  return inspectDurably(actor, (state) => viewDraw(state, { offset: 0, limit: PEOPLE }, hashing)!);
}

function assertProved(proof: DrawView, entryIds: readonly string[]): void {
  const { seed, opening, entriesDigest, drawCommitment, count, entries } = proof;
  assert.deepEqual(
    findFlaws({ seed: seed!, opening, entriesDigest: entriesDigest!, drawCommitment, count, entries }, hashing),
    [],
  );
  assert.match(opening!, /^[0-9a-f]{64}$/);
  const expected = drawOrder({ seed: seed!, opening }, entryIds, hashing).entryIds.map((entryId) =>
    hashing.sha256(entryId),
  );
  assert.deepEqual(entries, expected);
}

describe('A large draw', () => {
  // The worker does not keep the process running, because it must not delay a service that stops.
  let keepAlive: NodeJS.Timeout;
  before(() => (keepAlive = setInterval(() => {}, 1_000)));
  after(() => clearInterval(keepAlive));

  it('runs between the turns of other commands, and opens the waiting room', async () => {
    const { actor, clock } = await openConcert(openActors(new MemoryJournal(), { waitingRepliesMax: 10_000 }), room);
    const entryIds = await fill(actor);
    clock.now += MINUTE;
    actor.settleDue();
    assert.notEqual(actor.inspect(drawUnderWay), null);
    const meanwhile = await actor.execute({ type: 'PollQueue', entryId: entryIds[0]!, sessionKey: 'session-0' });
    assert.ok(!isRefusal(meanwhile) && meanwhile.entry.position === null);
    assertProved(await untilDrawn(actor), entryIds);
    const last = await actor.execute({ type: 'JoinQueue', sessionKey: 'session-late' });
    assert.ok(!isRefusal(last) && last.entry.position === PEOPLE - 3 + 1);
  });

  it('continues after a crash in its middle, with the same order', async () => {
    const journal = new MemoryJournal();
    const actors = openActors(journal, { waitingRepliesMax: 10_000 });
    const { actor, clock } = await openConcert(actors, room);
    const entryIds = await fill(actor);
    clock.now += MINUTE;
    actor.settleDue();
    const isHalfDrawn = (): boolean => actor.inspect((state) => (drawUnderWay(state)?.order.length ?? PEOPLE) > 0);
    while (!isHalfDrawn()) await nextRound();
    const crashed = journal.crashAfter();
    actor.retire();
    const again = openActors(crashed, { waitingRepliesMax: 10_000 });
    again.clock.now = clock.now;
    const revived = (await again.events.byEventId('evt_concert'))!;
    assert.notEqual(revived.inspect(drawUnderWay), null, 'the crash was in the middle');
    assertProved(await untilDrawn(revived), entryIds);
    const drawn = [...crashed.read()].filter(({ type }) => type === 'LineDrawn');
    const pieces = drawn.map(({ data }) => (JSON.parse(data) as { entryIds: string[] }).entryIds);
    assert.ok(pieces.length >= 2);
    assert.deepEqual([...pieces.flat()].sort(), [...entryIds].sort(), 'nobody is drawn twice');
  });

  it('waits while the disk is full, and continues', async () => {
    const journal = new MemoryJournal();
    const { actor, clock, events } = await openConcert(openActors(journal, { waitingRepliesMax: 10_000 }), room);
    const entryIds = await fill(actor);
    clock.now += MINUTE;
    actor.settleDue();
    while (actor.inspect((state) => drawUnderWay(state)!.order.length) === 0) await nextRound();
    journal.full(true);
    events.actors.retireAll();
    journal.full(false);
    const revived = (await events.byEventId('evt_concert'))!;
    assertProved(await untilDrawn(revived), entryIds);
  });
});
