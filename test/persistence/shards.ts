/** Shards for tests: claimed, read, and appended to without a journal. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { startNats, type NatsServer } from '../fixtures/nats.ts';
import type { FactRow } from '#persistence/journal.ts';
import { claimShard, type ClaimOptions, type ClaimOutcome } from '#persistence/nats/log/claim.ts';
import { openServers } from '#persistence/nats/servers/servers.ts';
import type { ShardLog } from '#persistence/shard-log.ts';
import { applyRecord, emptyHead, readRecord, type ShardHead } from '#persistence/nats/log/head.ts';

/** Claims a shard that must be there for the taking. */
export async function claimed(
  log: ShardLog,
  options: Partial<ClaimOptions> = {},
): Promise<Extract<ClaimOutcome, { outcome: 'CLAIMED' }>> {
  const outcome = await claimShard(log, { node: 'node-a', checkpoint: null, ...options });
  assert.equal(outcome.outcome, 'CLAIMED');
  return outcome as Extract<ClaimOutcome, { outcome: 'CLAIMED' }>;
}

export interface ReadShard {
  readonly head: ShardHead;
  readonly rows: readonly FactRow[];
  /** What each message was, in order. */
  readonly outcomes: readonly string[];
  readonly commandIds: readonly string[];
}

/** What any reader of a log makes of it. */
export async function readShard(log: ShardLog): Promise<ReadShard> {
  const head = emptyHead();
  const rows: FactRow[] = [];
  const outcomes: string[] = [];
  const commandIds: string[] = [];
  const lastSeq = await log.lastSeq();
  if (lastSeq === 0) return { head, rows, outcomes, commandIds };
  for await (const { seq, body } of log.read(1, lastSeq)) {
    const record = readRecord(seq, body);
    const applied = applyRecord(head, seq, record);
    outcomes.push(applied.outcome);
    if (applied.outcome !== 'COUNTED' || record.kind !== 'batch') continue;
    rows.push(...applied.rows);
    commandIds.push(...record.commands.map(({ id }) => id));
  }
  return { head, rows, outcomes, commandIds };
}

/** Empty logs on a NATS server, which is started for the first of them; `close` ends it. */
export function streamLogs(): { newLog(t: TestContext): Promise<ShardLog>; close(): Promise<void> } {
  let server: Promise<NatsServer> | null = null;
  return {
    async newLog(t) {
      server ??= startNats();
      const { url } = await server;
      const clusterName = `test-${randomUUID().slice(0, 8)}`;
      const servers = await openServers({ servers: [url], clusterName, shards: 1, replicas: 1 }, { name: 'test' });
      t.after(() => servers.close());
      return servers.log(0);
    },
    close: async () => (await server)?.close(),
  };
}
