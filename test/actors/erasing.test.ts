/** Erasing at the event actor: the fact is durable, then its keys are destroyed, then the answer leaves. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { Overloaded } from '#actors/admission.ts';
import { KeyDestruction } from '#privacy/key-destruction.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { keyIdOf } from '#domain/personal.ts';
import { isRefusal } from '#domain/refusal.ts';
import { KeyStoreFault } from '#persistence/keys.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { MemoryKeys } from '#persistence/memory/keys.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { CommandOf, CommandType, ReplyTo } from '#domain/command.ts';
import type { OrderView } from '#domain/view.ts';
import { commitFirst, openActors, openConcert } from '../fixtures/actors.ts';
import { erase, start, visitor } from '../fixtures/commands.ts';
import { until } from '../fixtures/until.ts';

/** A concert whose journal commits on request, with a free order. */
async function openSale(t: TestContext, keys = new MemoryKeys()) {
  const journal = new MemoryJournal({ manual: true });
  const actors = openActors(journal, { keys });
  t.after(() => keys.close());
  const free = { sellingStages: [{ id: 'now', name: 'Now', prices: { stand: 0 } }] };
  const { actor } = await commitFirst(journal, openConcert(actors, free));
  const { order } = await committed(journal, actor, buy('maria@example.com'));
  return { ...actors, journal, actor, keys, order };
}

function buy(email: string): CommandOf<'StartCheckout'> {
  const item = { ticketTypeId: 'stand', sellingStageId: 'now', quantity: 1, performanceId: null, seatIds: null };
  const items = [{ ...item, discountCode: null, attendees: [visitor('Bernd')], barPerks: [] }];
  return start({ items, customer: { email, name: 'Maria', documentNumber: null, phone: null } });
}

async function committed<Type extends CommandType>(
  journal: MemoryJournal,
  actor: EventActor,
  command: CommandOf<Type>,
): Promise<ReplyTo<Type>> {
  const answer = actor.execute(command);
  await nextRound();
  journal.commit();
  const reply = await answer;
  if (isRefusal(reply)) assert.fail(JSON.stringify(reply));
  return reply;
}

function keyIdIn({ personal }: OrderView): string {
  return keyIdOf(personal.sealed!);
}

describe('Erasing an order', () => {
  it('destroys its key after the fact is durable, and is answered after that', async (t) => {
    const { journal, actor, keys, order } = await openSale(t);
    const reader = new PersonalDataReader(keys);
    assert.equal((await reader.open(order)).customer?.email, 'maria@example.com');
    const keyId = keyIdIn(order);
    let isAnswered = false;
    const answer = actor.execute(erase(order.id)).then((reply) => {
      isAnswered = true;
      return reply;
    });
    await nextRound();
    assert.ok(keys.storage.keys.has(keyId), 'the key is there while the fact is in doubt');
    const { promise: allowed, resolve: allow } = Promise.withResolvers<void>();
    const destroy = keys.destroy.bind(keys);
    t.mock.method(keys, 'destroy', async (ids: readonly string[]) => {
      await allowed;
      return destroy(ids);
    });
    journal.commit();
    for (let rounds = 0; rounds < 5; rounds += 1) await nextRound();
    assert.equal(isAnswered, false, 'nobody is answered while the key is there');
    allow();
    const reply = await answer;
    assert.ok(!isRefusal(reply) && reply.order.personal.sealed === null);
    assert.ok(!keys.storage.keys.has(keyId));
    assert.equal((await reader.open(order)).state, 'ERASED', 'also of a view from before');
  });

  it('is refused as Overloaded while keys cannot be destroyed, which is done later, and found done by a repeat', async (t) => {
    const { journal, actor, keys, order } = await openSale(t);
    keys.fail(true);
    const refused = assert.rejects(actor.execute(erase(order.id)), Overloaded);
    await nextRound();
    journal.commit();
    await refused;
    await assert.rejects(actor.execute(erase(order.id)), Overloaded, 'a repeat does not say done before it is');
    assert.ok(keys.storage.keys.has(keyIdIn(order)));
    keys.fail(false);
    await until(() => !keys.storage.keys.has(keyIdIn(order)), 'the key is destroyed in the background');
    const again = await actor.execute(erase(order.id));
    assert.ok(!isRefusal(again) && again.repeated);
  });

  it('leaves the key where the fact was lost', async (t) => {
    const { journal, actor, keys, order } = await openSale(t);
    const answer = actor.execute(erase(order.id));
    journal.breakDown();
    await assert.rejects(answer, Overloaded);
    assert.ok(keys.storage.keys.has(keyIdIn(order)));
  });
});

describe('A purchase without a key', () => {
  it('is refused as Overloaded and changes nothing', async (t) => {
    const keys = new MemoryKeys({ poolSize: 2 });
    const { journal, actor } = await openSale(t, keys);
    while (keys.take() !== null);
    const before = actor.inspect((state) => state.revision);
    await assert.rejects(actor.execute(buy('bo@example.com')), Overloaded);
    assert.equal(
      actor.inspect((state) => state.revision),
      before,
    );
    assert.equal(actor.isRetired, false);
    await until(async () => {
      const key = keys.take();
      return key !== null;
    }, 'keys are made');
    await committed(journal, actor, buy('bo@example.com'));
  });
});

describe('The destruction of keys', () => {
  it('keeps what failed and tries it with the next', async () => {
    const destroyed: string[][] = [];
    let isFailing = true;
    const later: (() => void)[] = [];
    const destruction = new KeyDestruction(
      {
        destroy: async (ids) => {
          if (isFailing) throw new KeyStoreFault('no', 'wait');
          destroyed.push([...ids]);
        },
      },
      { later: (work) => later.push(work) },
    );
    await assert.rejects(destruction.destroy(['a', 'b']), Overloaded);
    await assert.rejects(destruction.destroy(['c']), Overloaded);
    assert.deepEqual([destruction.waitingCount, later.length], [3, 1], 'one retry is under way');
    isFailing = false;
    await destruction.destroy(['d']);
    assert.deepEqual(destroyed, [['a', 'b', 'c', 'd']]);
    assert.equal(destruction.waitingCount, 0);
    later[0]!();
    await destruction.destroy([]);
    assert.equal(destroyed.length, 1, 'nothing is left to destroy');
  });

  it('tries nothing again once its owner has stopped', async () => {
    let tries = 0;
    const later: (() => void)[] = [];
    const destroy = (): Promise<void> => {
      tries += 1;
      return Promise.reject(new KeyStoreFault('no', 'wait'));
    };
    const destruction = new KeyDestruction({ destroy }, { later: (work) => later.push(work) });
    await assert.rejects(destruction.destroy(['a']), Overloaded);
    destruction.stop();
    later[0]!();
    await assert.rejects(destruction.destroy(['b']), Overloaded);
    assert.deepEqual([tries, later.length], [2, 1]);
  });

  it('admits no further erasure while too many keys wait', async () => {
    const fault = new KeyStoreFault('no', 'wait');
    const destruction = new KeyDestruction({ destroy: () => Promise.reject(fault) }, { later: () => {} });
    const ids = Array.from({ length: 20_000 }, (_, n) => `key.${n}`);
    destruction.admit();
    await assert.rejects(destruction.destroy(ids), Overloaded);
    assert.throws(() => destruction.admit(), Overloaded);
  });
});
