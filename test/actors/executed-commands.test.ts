/** Commands with an id: sent again, also after another actor took over, they are answered by what was named then. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEventActor } from '#actors/event-composition.ts';
import type { EventActor } from '#actors/event-actor.ts';
import { createClock } from '#actors/clock.ts';
import { createIdSource } from '#actors/crypto.ts';
import { activate } from '#actors/activation.ts';
import { isRefusal } from '#domain/refusal.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { openConcert, openActors, place, START } from '../fixtures/actors.ts';
import type { ReplyReference } from '#domain/decision.ts';
import type { Unit } from '#persistence/journal.ts';

/** An actor of the concert over a journal that keeps what commands named. */
async function openActor(journal: MemoryJournal, executed: Map<string, string>): Promise<EventActor> {
  const append = journal.append.bind(journal);
  journal.append = (unit: Unit) => {
    if (unit.command !== undefined) executed.set(unit.command.id, unit.command.reply);
    return append(unit);
  };
  const factsAfter = (eventId: string, afterSeq: number) => journal.read({ eventId, afterSeq });
  const source = { newestSnapshot: async () => null, factsAfter };
  const activated = await activate(source, 'evt_concert', 1);
  return createEventActor(activated, {
    journal,
    clock: createClock(() => START),
    ids: createIdSource(),
    waitingRepliesMax: 10,
    executed: (commandId) =>
      executed.has(commandId) ? (JSON.parse(executed.get(commandId)!) as ReplyReference) : undefined,
    schedule: () => {},
    retired: (_actor, defect) => assert.fail(String(defect)),
  });
}

describe('A command with an id', () => {
  it('has one effect when it is sent twice, and the second reply is the first one', async () => {
    const journal = new MemoryJournal();
    await openConcert(openActors(journal));
    const actor = await openActor(journal, new Map());
    const first = await actor.execute(place('a', 2), 'command-1');
    const again = await actor.execute(place('a', 2), 'command-1');
    assert.ok(!isRefusal(first) && !isRefusal(again));
    assert.deepEqual(again.hold, first.hold);
    const placed = [...journal.read()].filter(({ type }) => type === 'HoldPlaced');
    assert.equal(placed.length, 1);
  });

  it('is answered by the next actor as the one before it would have, without a fact', async () => {
    const journal = new MemoryJournal();
    await openConcert(openActors(journal));
    const executed = new Map<string, string>();
    const first = await (await openActor(journal, executed)).execute(place('a', 2), 'command-1');
    const next = await openActor(journal, executed);
    const { appendedSeq } = journal;
    const again = await next.execute(place('a', 2), 'command-1');
    assert.ok(!isRefusal(first) && !isRefusal(again));
    assert.equal(again.hold.id, first.hold.id);
    assert.equal(journal.appendedSeq, appendedSeq);
  });

  it('is decided anew when it led to a refusal', async () => {
    const journal = new MemoryJournal();
    await openConcert(openActors(journal));
    const actor = await openActor(journal, new Map());
    const refused = await actor.execute(place('a', 11), 'command-1');
    assert.ok(isRefusal(refused));
    const again = await actor.execute(place('a', 11), 'command-1');
    assert.ok(isRefusal(again) && again.code === refused.code);
  });
});
