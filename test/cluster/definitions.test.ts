/**
 * Definitions in a cluster: a number and a slug belong to one event, whichever node they come from, and every node
 * knows it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Overloaded } from '#actors/admission.ts';
import { isRefusal } from '#domain/refusal.ts';
import { concert, place } from '../fixtures/actors.ts';
import { executeAt, withNodes, type TestNode } from '../fixtures/cluster-nodes.ts';
import { until } from '../fixtures/until.ts';

const MARK = { operator: null, note: null };

const event = (id: string, slug = id) => concert({ id: `evt_${id}`, slug });

const define = async ({ engine }: TestNode, id: string, slug = id) => {
  const reply = await engine.events.define(event(id, slug), MARK);
  return isRefusal(reply) ? reply.code : { created: reply.created, changed: reply.changed, version: reply.version };
};

const slugsAt = async ({ engine }: TestNode): Promise<readonly string[]> => {
  const { events } = await engine.events.list({ limit: 100, after: null });
  return events.map(({ slug }) => slug).sort();
};

describe('A definition in a cluster', () => {
  it('is known at the node that was asked when it is answered, and soon in the lists of every other', () =>
    withNodes(['a', 'b', 'c'], async (all) => {
      for (const [place, node] of all.entries()) {
        assert.deepEqual(await define(node, `event-${place}`), { created: true, changed: true, version: 1 });
        assert.notEqual(node.engine.events.bySlug(`event-${place}`), null);
      }
      await until(() => all.every(({ engine }) => engine.state().events === 3));
      for (const node of all) assert.deepEqual(await slugsAt(node), ['event-0', 'event-1', 'event-2']);
    }));

  it('is found at every node from its answer on: a node that has not heard of it asks before it says that there is none', () =>
    withNodes(['a', 'b', 'c'], async ([one, other]) => {
      const log = other!.logs[0]!;
      log.isLate = true;
      await define(one!, 'concert');
      const { events } = other!.engine;
      const finding = Promise.all([
        events.byEventId('evt_concert'),
        events.bySlug('concert'),
        events.byId('hld', 'hld_1_aaaaaaaaaaaaaaaaaaaaaaaa'),
        events.bySlug('no-such-event'),
      ]);
      log.isLate = false;
      const found = (await finding).map((event) => event?.eventId ?? null);
      assert.deepEqual(found, ['evt_concert', 'evt_concert', 'evt_concert', null]);
      log.isReachable = false;
      await assert.rejects(async () => events.bySlug('no-such-event'), Overloaded);
      log.isReachable = true;
    }));

  it('gives each event a number of its own when many come to all nodes at once', () =>
    withNodes(['a', 'b', 'c'], async (all) => {
      const names = Array.from({ length: 12 }, (_, n) => `event-${n}`);
      await Promise.all(names.map((name, n) => define(all[n % 3]!, name)));
      await until(() => all.every(({ engine }) => engine.state().events === names.length));
      const ids = await Promise.all(
        names.map((name, n) => executeAt(all[(n + 1) % 3]!, `evt_${name}`, place('buyer')).then(({ hold }) => hold.id)),
      );
      // Every node leads an id to the event that it was given by.
      for (const node of all) {
        const found = await Promise.all(ids.map((id) => node.engine.events.byId('hld', id)));
        assert.deepEqual(
          found.map((event) => event?.eventId),
          names.map((name) => `evt_${name}`),
        );
      }
    }));

  it('is refused to one of two events that want a slug at once at two nodes', () =>
    withNodes(['a', 'b', 'c'], async (all) => {
      const replies = await Promise.all([define(all[0]!, 'one', 'wanted'), define(all[1]!, 'other', 'wanted')]);
      assert.equal(replies.filter((reply) => reply === 'UPDATE_CONFLICT').length, 1);
      assert.equal(replies.filter((reply) => typeof reply === 'object' && reply.created).length, 1);
    }));

  it('frees the slug that its event had before, and the one that it wanted when it was refused', () =>
    withNodes(['a', 'b', 'c'], async (all) => {
      await define(all[0]!, 'one', 'first');
      await define(all[1]!, 'one', 'second');
      assert.deepEqual(await define(all[2]!, 'other', 'first'), { created: true, changed: true, version: 1 });
      // Where something is held the currency cannot change: refused by the event, after the slug was reserved.
      await executeAt(all[0]!, 'evt_one', place('buyer'));
      const refused = await all[0]!.engine.events.define({ ...event('one', 'third'), currency: 'USD' }, MARK);
      assert.ok(isRefusal(refused));
      assert.deepEqual(await define(all[1]!, 'next', 'third'), { created: true, changed: true, version: 1 });
      const { engine } = all[0]!;
      await until(() => engine.state().events === 3);
      assert.equal((await engine.events.bySlug('second'))?.eventId, 'evt_one');
    }));

  it('changes nothing when the same one comes to every node at once', () =>
    withNodes(['a', 'b', 'c'], async (all) => {
      const replies = await Promise.all(all.map((node) => define(node, 'same')));
      const created = replies.filter((reply) => typeof reply === 'object' && reply.created);
      assert.equal(created.length, 1, JSON.stringify(replies));
      assert.ok(replies.every((reply) => typeof reply === 'object' && reply.version === 1));
    }));

  it('is taken by the next owner of the index when the one that it was sent to is killed', () =>
    withNodes(['a', 'b', 'c'], async (all) => {
      await define(all[0]!, 'before');
      const keeper = all.find(({ name }) => name === all[0]!.engine.cluster.shards()[0]!.owner)!;
      const [one, other] = all.filter((node) => node !== keeper);
      const defining = define(one!, 'during');
      keeper.kill();
      const reply = await defining;
      assert.ok(typeof reply === 'object' && reply.version === 1, JSON.stringify(reply));
      assert.deepEqual(await define(other!, 'after'), { created: true, changed: true, version: 1 });
      await until(() => [one!, other!].every(({ engine }) => engine.state().events === 3));
      assert.equal(await define(one!, 'thief', 'during'), 'UPDATE_CONFLICT');
    }));

  it('is known to a node that joins after the log of the index was purged', () =>
    withNodes(['a', 'b', 'c'], async (all, nodes) => {
      for (const name of ['one', 'two', 'three']) await define(all[0]!, name);
      for (let round = 0; round < 2; round += 1) {
        await define(all[1]!, `more-${round}`);
        const taken = await all[round]!.engine.takeSnapshots({ prune: true }, null);
        assert.ok(!isRefusal(taken) && taken.answer.failed === 0, JSON.stringify(taken));
      }
      const late = await nodes.open('late');
      assert.deepEqual(await slugsAt(late), await slugsAt(all[0]!));
      assert.equal(late.engine.state().events, 5);
      assert.deepEqual(await define(late, 'latest'), { created: true, changed: true, version: 1 });
    }));
});
