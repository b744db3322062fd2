/**
 * Shards of the product: event actors over the domain, in the product's owned shard, on a simulated log. They take no
 * snapshots here; their checkpoints have every fact.
 */
import { createSealer } from '#privacy/sealing.ts';
import { AnswerGate } from '#cluster/shards/answer-gate.ts';
import { OwnedShard, type OwnedShardPorts } from '#cluster/shards/owned-shard.ts';
import { StatesAhead } from '#cluster/shards/states-ahead.ts';
import { joinId } from '#domain/ids.ts';
import { MemoryKeys } from '#persistence/memory/keys.ts';
import { purgeLog } from '#persistence/nats/objects/purge.ts';
import type { ShardJournal } from '#persistence/nats/log/journal.ts';
import { accessOf, timeOf, type ShardKind } from './owner.ts';
import type { World } from './world.ts';

/** The shards of a run; `end` stops their timers, which are the machine's. */
export function actorKind(world: World): ShardKind<OwnedShard> & { end(): void } {
  const opened: OwnedShard[] = [];
  let secrets = 0;
  const secret = (): string => (secrets += 1).toString(16).padStart(24, '0') + '0'.repeat(24);
  const liveEventsMax = world.chance.pick([1, 10]);
  const ids = {
    newId: (prefix: Parameters<typeof joinId>[0], eventNumber: number) => joinId(prefix, eventNumber, secret()),
    newSeed: () => secret().repeat(2).slice(0, 64),
  };
  // No orders are placed: nothing is sealed.
  const keys = new MemoryKeys({ random: (bytes) => Buffer.alloc(bytes) });
  const sealingOf = createSealer(keys);
  const elsewhere = (): Promise<never> => Promise.reject(new Error('the simulation defines and snapshots nothing'));
  return {
    statesAhead: () => new StatesAhead({ snapshots: NO_SNAPSHOTS, time: NO_SLICES, eventsMax: liveEventsMax }),
    async open({ shard, journal, recovered, states, opensAtMs }, process) {
      const time = timeOf(process);
      const gate = new AnswerGate(
        {
          confirm: () => journal.confirmOwnership(),
          stopwatchMs: () => process.stopwatchMs(),
          after: (delayMs, run) => void process.after(delayMs, run),
        },
        opensAtMs,
      );
      const owned = await OwnedShard.open({
        ...{ shard, journal, recovered, gate, ids, keys, sealingOf, time, liveEventsMax },
        snapshots: withoutSnapshots(journal, accessOf(world, process, shard).log, (eventId) => {
          const state = states?.take(eventId) ?? null;
          if (state !== null) world.count('state ahead');
          return state;
        }),
        clockSource: { wallMs: () => process.wallMs(), stopwatchMs: () => process.stopwatchMs() },
        waitingRepliesMax: 1_000,
        isShortOfSpace: () => false,
        noteChanged: () => {},
        defineThere: elsewhere,
        snapshotAll: elsewhere,
      });
      opened.push(owned);
      return owned;
    },
    async checkpoint(shard, { journal }, process) {
      const { log, checkpoints, archive } = accessOf(world, process, shard);
      await checkpoints.write({ ...journal.content(), snapshots: [] });
      world.count('checkpoint');
      if ((await purgeLog(log, archive, checkpoints)) > 0) world.count('purge');
    },
    end() {
      for (const owned of opened) owned.lose();
    },
  };
}

const NO_SNAPSHOTS = { newest: () => Promise.resolve(null), newestSeq: () => 0 };
/** Slices are the same in every run. */
const NO_SLICES = { stopwatchMs: () => 0 };

function withoutSnapshots(
  journal: ShardJournal,
  wholeLog: OwnedShardPorts['snapshots']['wholeLog'],
  takeAhead: StatesAhead['take'],
) {
  const none = (): Promise<never> => Promise.reject(new Error('the simulation takes no snapshots of event actors'));
  return {
    wholeLog,
    lastSnapshotAt: null,
    source: {
      newestSnapshot: NO_SNAPSHOTS.newest,
      factsAfter: (eventId: string, afterSeq: number) => journal.read({ eventId, afterSeq }),
      takeAhead,
      ...NO_SLICES,
    },
    factsInPassing: (eventId: string, afterSeq: number) => journal.read({ eventId, afterSeq }),
    headers: () => [],
    attach: () => {},
    take: none,
    takeRound: none,
    maintain: () => Promise.resolve(),
    stop: () => {},
  } satisfies OwnedShardPorts['snapshots'];
}
