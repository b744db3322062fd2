/**
 * Proves, before a node serves, that these servers append only one of two appends with the same expectation. The
 * cluster depends on this.
 *
 * 1. It runs on a stream of its own, with the replicas of a shard's. Nodes that start together share it: a round that
 *    another node's append came into has no winner and is played again. Two winners are never possible.
 * 2. The two appends of a round come from two connections, and so from two servers where there are several.
 */

import { randomUUID } from 'node:crypto';
import { ServersRefused } from '../connection.ts';
import type { AppendOutcome, ShardLog } from '../../shard-log.ts';

const GUARD_ROUNDS = 200;
/** The most rounds, including those that another node, a time limit or an election spoils. */
const ROUNDS_MAX = 10 * GUARD_ROUNDS;

/** Rejects with ServersRefused when two writers won a round, with LogUnreachable when too few rounds had an outcome. */
export async function raceGuard(logs: readonly [ShardLog, ShardLog], rounds = GUARD_ROUNDS): Promise<void> {
  let seq = await logs[0].lastSeq();
  let played = 0;
  for (let round = 0; played < rounds; round += 1) {
    if (round === ROUNDS_MAX) throw refused(`only ${played} of ${rounds} rounds between two writers had a winner`);
    const bodies = [Buffer.from(randomUUID()), Buffer.from(randomUUID())] as const;
    const outcomes = await Promise.all(logs.map((log, writer) => log.append(bodies[writer]!, seq)));
    const winners = outcomes.filter(({ outcome }) => outcome === 'APPENDED');
    if (winners.length > 1) throw refused('two writers appended after the same message');
    if (winners.length === 1 && outcomes.some(({ outcome }) => outcome === 'CONFLICT')) {
      await requireInLog(logs[0], seq + 1, outcomes, bodies);
      seq += 1;
      played += 1;
    } else {
      seq = await logs[0].lastSeq();
    }
  }
}

/** The winner's message is where it was acknowledged; checked now and then, because it costs a request. */
async function requireInLog(
  log: ShardLog,
  seq: number,
  outcomes: readonly AppendOutcome[],
  bodies: readonly Uint8Array[],
): Promise<void> {
  const winner = outcomes.findIndex(({ outcome }) => outcome === 'APPENDED');
  const answer = outcomes[winner]!;
  if (answer.outcome === 'APPENDED' && answer.seq !== seq)
    throw refused(`an append after message ${seq - 1} was acknowledged as message ${answer.seq}`);
  if (seq % 20 !== 0) return;
  const message = await log.get(seq);
  if (message !== null && !bodies[winner]!.every((byte, index) => message.body[index] === byte))
    throw refused(`message ${seq} was acknowledged to a writer, but is another's`);
}

function refused(reason: string): ServersRefused {
  const hint =
    'Do not sell on these servers: two nodes could sell the same ticket. Check their versions and that each has a store of its own.';
  return new ServersRefused(`the NATS servers fail the race guard: ${reason}`, hint);
}
