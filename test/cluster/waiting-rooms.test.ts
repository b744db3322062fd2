/** Waiting rooms and evicted events of a cluster, when their owner changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { concert, place, START } from '../fixtures/actors.ts';
import { defineAt, executeAt, findAt, withNodes, ownerOf, type TestNode } from '../fixtures/cluster-nodes.ts';
import { until } from '../fixtures/until.ts';

const EVENT = 'evt_concert';
const SECOND = 1_000;
const OPENS_AT = START + 60 * SECOND;
const ROOM = {
  waiting_room: true,
  waiting_room_opens_at: new Date(OPENS_AT).toISOString(),
  waiting_room_rate: 60,
  waiting_room_inactivity_seconds: 90,
};

const otherThan = (all: readonly TestNode[], owner: TestNode): TestNode => all.find((node) => node !== owner)!;

describe('A waiting room whose owner is killed', () => {
  it('keeps the places of all who wait, draws as it would have, and admits them', () =>
    withNodes(['a', 'b', 'c'], async (all, nodes) => {
      await defineAt(all, concert(ROOM));
      const sessions = Array.from({ length: 9 }, (_, n) => `session-${n}`);
      const joined = await Promise.all(
        sessions.map((sessionKey, n) => executeAt(all[n % 3]!, EVENT, { type: 'JoinQueue', sessionKey })),
      );
      const owner = ownerOf(all, EVENT);
      const next = otherThan(all, owner);
      owner.kill();
      const poll = (n: number) => {
        const entryId = joined[n]!.entry.id;
        return executeAt(next, EVENT, { type: 'PollQueue', entryId, sessionKey: sessions[n]! });
      };
      for (const n of sessions.keys()) assert.equal((await poll(n)).entry.status, 'WAITING');
      nodes.clock.now = OPENS_AT + 5 * SECOND;
      const statuses = async () =>
        (await Promise.all(sessions.map((_, n) => poll(n)))).map(({ entry }) => entry.status);
      await until(async () => (await statuses()).every((status) => status === 'ADMITTED'), 'all are admitted');
      await executeAt(next, EVENT, { ...place(sessions[0]!), queuePass: joined[0]!.entry.id });
    }));
});

describe('Events that are evicted', () => {
  it('are activated again at their owner and at the next one, with all that was sold', () =>
    // A node keeps a few events of each shard in memory.
    withNodes(
      ['a', 'b', 'c'],
      async (all) => {
        const ids = Array.from({ length: 40 }, (_, n) => `evt_many-${n}`);
        for (const id of ids) await defineAt(all, concert({ id, slug: id.slice(4) }));
        for (const [n, id] of ids.entries()) await executeAt(all[n % 3]!, id, place('buyer', (n % 5) + 1));
        const inMemory = all.reduce((sum, { engine }) => sum + engine.active().length, 0);
        assert.ok(inMemory < ids.length, `${inMemory} of ${ids.length} events are in memory`);
        const owner = ownerOf(all, ids[0]!);
        const next = otherThan(all, owner);
        owner.kill();
        for (const [n, id] of ids.entries()) {
          const { performances } = await (
            await findAt(next.engine, id)
          ).read({ type: 'ReadTotals', performanceId: null });
          assert.equal(performances[0]!.held, (n % 5) + 1, id);
        }
      },
      { shards: 2, liveEventsMax: 1 },
    ));
});
