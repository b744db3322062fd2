/**
 * What tests of backup and import share: a folder with sales of all kinds, an empty cluster in memory, and what a
 * folder says.
 */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { startEngine, type Engine } from '#engine/engine.ts';
import { SERVICE_STREAM, type NotificationCursor } from '#engine/service-facts.ts';
import { verifyFolder, type FolderReport } from '#offline/verification.ts';
import { backUpCluster, type ClusterBackupReport, type ShardStore } from '#cluster/moving/backup.ts';
import { importFolder, type ImportReport, type KeysToImport } from '#cluster/moving/import.ts';
import { MemoryNetwork } from '#cluster/calls/memory-bus.ts';
import { nodeTiming } from '#persistence/nats/timing.ts';
import { isRefusal } from '#domain/refusal.ts';
import { isNotifiable } from '#notifications/messages.ts';
import { QUEUES } from '#notifications/mail.ts';
import { openWhole } from '#persistence/folder/backup.ts';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { MemoryObjects } from '#persistence/memory/objects.ts';
import { MemoryKeyLog } from '#persistence/memory/key-log.ts';
import { keysPath } from '#persistence/sqlite/key-file.ts';
import { makePastSales } from '../../bench/sold-out-events.ts';
import { concert, place } from '../fixtures/actors.ts';
import { makeFolder, newFolder, removeFolder } from '../fixtures/folders.ts';

export const SOLD_AT = Date.UTC(2026, 0, 9, 12);
export const CLUSTER = 'shop';
const DAY = 24 * 60 * 60 * 1000;

const base = makeFolder();
process.once('exit', () => removeFolder(base));
let made: Promise<void> | null = null;

/** A folder with an archive, confirmed orders, holds, drafts and an answer under a key, closed; `more` happens last. */
export async function soldFolder(
  t: Pick<TestContext, 'after'>,
  more: ((engine: Engine) => Promise<void>) | null = null,
): Promise<string> {
  await (made ??= makeBase(path.join(base, 'data')));
  const folder = path.join(newFolder(t), 'data');
  cpSync(path.join(base, 'data'), folder, { recursive: true });
  if (more === null) return folder;
  const { engine } = await open(folder);
  await more(engine);
  await engine.stop({ snapshotMsMax: 0 });
  return folder;
}

async function open(folder: string): Promise<{ readonly engine: Engine; readonly clock: { now: number } }> {
  const clock = { now: SOLD_AT + 3 * DAY };
  const engine = await startEngine({
    folder,
    liveEventsMax: 100,
    waitingRepliesMax: 1_000,
    clockSource: () => clock.now,
    onFatal: (fault) => assert.fail(fault),
  });
  return { engine, clock };
}

async function makeBase(folder: string): Promise<void> {
  await makePastSales(folder, { sales: 30, events: 6, soldAt: SOLD_AT });
  const { engine, clock } = await open(folder);
  const define = async (n: number, slug: string): Promise<void> => {
    const definition = concert({ id: `evt_${n}`, slug });
    assert.ok(!isRefusal(await engine.events.define(definition, { operator: 'Zoë', note: null })));
  };
  for (let n = 0; n < 12; n += 1) await define(n, `slug-${n}`);
  for (let n = 0; n < 40; n += 1) {
    clock.now += n % 3 === 0 ? 1_000 : 0;
    const actor = (await engine.events.byEventId(`evt_${n % 9}`))!;
    assert.ok(!isRefusal(await actor.execute(place(`session-${n}`, 1 + (n % 2)))));
  }
  await define(3, 'renamed');
  await engine.stream.once({ key: 'k1', digest: 'd1' }, () => Promise.resolve({ taken: 3 }));
  await engine.stop({ snapshotMsMax: 0 });
}

export interface MemoryCluster extends ShardStore {
  readonly logs: readonly MemoryLog[];
  readonly archive: MemoryObjects;
  readonly keys: MemoryKeyLog;
  /** The keys that it is noted to be sealed with. */
  notedKeysId: string | null;
  readonly network: MemoryNetwork;
}

export function memoryCluster(shards = 8): MemoryCluster {
  const logs = Array.from({ length: shards }, () => new MemoryLog());
  return {
    shards,
    logs,
    log: (shard) => logs[shard]!,
    archive: new MemoryObjects(),
    keys: new MemoryKeyLog(),
    notedKeysId: null,
    network: new MemoryNetwork({ later: (work) => void setImmediate(work) }),
  };
}

/** How many messages each log has that were not purged. */
export async function sizesOf({ logs }: MemoryCluster): Promise<number[]> {
  const sizes = logs.map(async (log) => {
    let messages = 0;
    for await (const message of log.read(1, await log.lastSeq())) if (message.seq > 0) messages += 1;
    return messages;
  });
  return Promise.all(sizes);
}

/** Imports a folder without waiting for the heartbeats of nodes longer than a few turns. */
export async function importInto(
  cluster: MemoryCluster,
  folder: string,
  keys: Partial<Pick<KeysToImport, 'file' | 'isLossAccepted'>> = {},
): Promise<ImportReport> {
  const whole = openWhole(folder);
  try {
    return await importFolder({
      folder: whole,
      keys: {
        file: keysPath(folder),
        log: cluster.keys,
        async note(keysId) {
          cluster.notedKeysId = keysId;
        },
        isLossAccepted: false,
        ...keys,
      },
      store: cluster,
      filledBuckets: () => Promise.resolve([]),
      bus: cluster.network.connect('importer'),
      cluster: CLUSTER,
      queues: QUEUES,
      // What was published before is delivered first, however late the timer is.
      time: { ...nodeTiming, after: (_, work) => nodeTiming.after(20, () => void setImmediate(work)) },
    });
  } finally {
    whole.close();
  }
}

/** Backs a cluster up as `holdfast backup` does; `keysTo` null leaves the keys out. */
export function backUp(
  cluster: MemoryCluster,
  out: string,
  keysTo: string | null = keysPath(out),
): Promise<ClusterBackupReport> {
  return backUpCluster(cluster, { out, keys: { log: cluster.keys, to: keysTo }, queues: QUEUES });
}

/** Verifies a folder as `holdfast verify` does. */
export async function good(folder: string): Promise<FolderReport> {
  const report = await verifyFolder(folder);
  assert.deepEqual(report.problems, []);
  return report;
}

/** The facts of each event with the sizes of their units, in order; the service's own by type. */
export function factsByStream(folder: string): Map<string, string[]> {
  const whole = openWhole(folder);
  const streams = new Map<string, string[]>();
  for (const { facts } of whole.batches()) {
    for (const { eventId, at, type, data, seq, unit } of facts) {
      const known = streams.get(eventId) ?? [];
      known.push(eventId === SERVICE_STREAM ? type : `${at} ${type} ${data} -${unit - seq}`);
      streams.set(eventId, known);
    }
  }
  whole.close();
  return streams;
}

/** The moments of all facts of events in their order. */
export function momentsIn(folder: string): number[] {
  const whole = openWhole(folder);
  const moments = [...whole.batches()].flatMap(({ facts }) =>
    facts.filter(({ eventId }) => eventId !== SERVICE_STREAM),
  );
  whole.close();
  return moments.map(({ at }) => at);
}

/**
 * Which notifiable facts a cursor leaves to be delivered, as event and number within the event; null without a cursor.
 */
export function undelivered(folder: string): string[] | null {
  const whole = openWhole(folder);
  let cursor: NotificationCursor | null = null;
  const places = new Map<string, number>();
  const facts: { readonly eventId: string; readonly seq: number; readonly place: number }[] = [];
  for (const batch of whole.batches()) {
    for (const { eventId, seq, type, data } of batch.facts) {
      if (type === 'NotificationsDelivered') cursor = JSON.parse(data) as NotificationCursor;
      const at = (places.get(eventId) ?? 0) + 1;
      places.set(eventId, at);
      if (isNotifiable(type)) facts.push({ eventId, seq, place: at });
    }
  }
  whole.close();
  if (cursor === null) return null;
  const { throughSeq, behind } = cursor;
  return facts
    .filter(({ eventId, seq }) => seq > (behind[eventId] ?? throughSeq))
    .map(({ eventId, place: at }) => `${eventId} ${at}`)
    .sort();
}
