/** What an owner answers of an event that it does not know. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerGate, PROOF_MS } from '#cluster/shards/answer-gate.ts';
import { Moved, type Call } from '#cluster/calls/shard-calls.ts';
import { OwnedShard, type OwnedShardPorts } from '#cluster/shards/owned-shard.ts';
import { Overloaded } from '#actors/admission.ts';
import { createSealer } from '#privacy/sealing.ts';
import { MemoryKeys } from '#persistence/memory/keys.ts';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { claimShard } from '#persistence/nats/log/claim.ts';
import type { ShardContent, ShardJournal } from '#persistence/nats/log/journal.ts';
import { VirtualTime } from '../virtual-time.ts';

const none = (): Promise<never> => Promise.reject(new Error('nothing here takes snapshots or defines events'));

async function open(log: MemoryLog, time: VirtualTime, node: string): Promise<OwnedShard> {
  const claimed = await claimShard(log, { node, checkpoint: null });
  assert.equal(claimed.outcome, 'CLAIMED');
  const { journal, recovered } = claimed as { readonly journal: ShardJournal; readonly recovered: ShardContent };
  const keys = new MemoryKeys();
  const ports: OwnedShardPorts = {
    shard: 9,
    ...{ journal, recovered, keys, time },
    gate: new AnswerGate(
      {
        confirm: () => journal.confirmOwnership(),
        stopwatchMs: () => time.stopwatchMs(),
        after: (delayMs, run) => void time.after(delayMs, run),
      },
      time.stopwatchMs(),
    ),
    sealingOf: createSealer(keys),
    ids: { newId: (prefix, eventNumber) => `${prefix}_${eventNumber}`, newSeed: () => '0'.repeat(64) },
    snapshots: {
      wholeLog: {} as OwnedShardPorts['snapshots']['wholeLog'],
      lastSnapshotAt: null,
      source: { newestSnapshot: async () => null, factsAfter: () => [], stopwatchMs: () => 0 },
      factsInPassing: () => [],
      headers: () => [],
      attach: () => {},
      take: none,
      takeRound: none,
      maintain: async () => {},
      stop: () => {},
    },
    clockSource: () => 1,
    liveEventsMax: 10,
    waitingRepliesMax: 10,
    isShortOfSpace: () => false,
    noteChanged: () => {},
    defineThere: none,
    snapshotAll: none,
  };
  return OwnedShard.open(ports);
}

describe('An event that an owner does not know', () => {
  const calls: readonly Call[] = [
    { kind: 'query', eventId: 'evt_new', query: { type: 'ReadLayout' } } as unknown as Call,
    { kind: 'command', eventId: 'evt_new', commandId: 'c1', command: { type: 'PlaceHold' } } as unknown as Call,
  ];

  it('may come to it later, while it is the owner, and is asked for at the next one, once it is not', async (t) => {
    const log = new MemoryLog();
    const time = new VirtualTime();
    const owner = await open(log, time, 'first');
    for (const call of calls) await assert.rejects(owner.handle(call), Overloaded);

    // The other node defines the event; nothing tells the first one, which may have been paused.
    const next = await open(log.reconnected(), time, 'next');
    t.after(() => [owner, next].forEach((each) => each.lose()));
    await time.pass(PROOF_MS + 1);
    for (const call of calls) await assert.rejects(owner.handle(call), Moved);
  });
});
