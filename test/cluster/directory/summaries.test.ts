/** Lists of events in a cluster: how often their shards are asked. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Summaries } from '#cluster/directory/summaries.ts';
import { shardOf } from '#cluster/directory/placement.ts';
import type { EventSummary } from '#domain/event/public-view.ts';

const SHARDS = 4;
const IDS = Array.from({ length: 20 }, (_, n) => `evt_${n}`);

function openSummaries() {
  const time = { now: 0, stopwatchMs: () => time.now };
  const asked: { readonly shard: number; readonly eventIds: readonly string[] }[] = [];
  const shown = { versions: new Map<string, number>(), isBroken: false };
  const summaries = new Summaries({
    shards: SHARDS,
    time,
    ask: async (shard, eventIds) => {
      asked.push({ shard, eventIds });
      if (shown.isBroken) throw new Error('nobody owns it');
      return eventIds.map((eventId) =>
        eventId === 'evt_7'
          ? null
          : ({ eventId, version: shown.versions.get(eventId) ?? 1 } as unknown as EventSummary),
      );
    },
  });
  return { summaries, time, asked, shown };
}

describe('The summaries of a list', () => {
  it('are asked of each shard at once, and come in the order of the list, without those that are not shown', async () => {
    const { summaries, asked } = openSummaries();
    const read = (await summaries.read(IDS)) as unknown as readonly { readonly eventId: string }[];
    assert.deepEqual(
      read.map(({ eventId }) => eventId),
      IDS.filter((eventId) => eventId !== 'evt_7'),
    );
    assert.equal(asked.length, new Set(IDS.map((eventId) => shardOf(eventId, SHARDS))).size);
    for (const { shard, eventIds } of asked) assert.ok(eventIds.every((eventId) => shardOf(eventId, SHARDS) === shard));
  });

  it('are asked for once by lists that are read at once, and again after a second', async () => {
    const { summaries, asked, time } = openSummaries();
    await Promise.all([summaries.read(IDS), summaries.read(IDS)]);
    const once = asked.length;
    time.now = 999;
    await summaries.read(IDS);
    assert.equal(asked.length, once);
    time.now = 1_000;
    await summaries.read(IDS);
    assert.equal(asked.length, 2 * once);
  });

  it('are asked for again when the event has changed, and those of no other', async () => {
    const { summaries, asked, shown } = openSummaries();
    await summaries.read(IDS);
    const once = asked.length;
    shown.versions.set('evt_3', 2);
    summaries.forget(['evt_3', 'evt_unknown']);
    const read = (await summaries.read(IDS)) as unknown as readonly { eventId: string; version: number }[];
    assert.equal(read.find(({ eventId }) => eventId === 'evt_3')!.version, 2);
    assert.deepEqual(asked.slice(once), [{ shard: shardOf('evt_3', SHARDS), eventIds: ['evt_3'] }]);
  });

  it('are asked for again after they could not be read', async () => {
    const { summaries, shown } = openSummaries();
    shown.isBroken = true;
    await assert.rejects(summaries.read(IDS));
    shown.isBroken = false;
    assert.equal((await summaries.read(IDS)).length, IDS.length - 1);
  });
});
