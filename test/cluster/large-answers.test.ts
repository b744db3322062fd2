/** Views of the largest halls and definitions of stadiums pass between nodes in messages that every server takes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PART_BYTES_MAX } from '#cluster/calls/wire.ts';
import { eventOf, hall, stage, ticketType } from '../fixtures/definitions.ts';
import { openActors } from '../fixtures/actors.ts';
import { openCluster } from './nodes.ts';
import type { Call, CommandCall, QueryCall } from '#cluster/calls/shard-calls.ts';
import type { Query } from '#domain/event/query.ts';

const SHARD = 1;
const SEATS = 60_000;

const stadium = eventOf(
  [hall(Array.from({ length: 60 }, () => '.'.repeat(SEATS / 60)))],
  [ticketType('seat', 'hall')],
  [stage('general', { seat: 4_500 })],
);

async function openStadium() {
  const { events } = openActors();
  await events.define(stadium, { operator: null, note: null });
  const actor = (await events.byEventId(stadium.id))!;
  const cluster = openCluster();
  const [front, owner] = [cluster.open('front'), cluster.open('owner')];
  cluster.handle = async (_shard, call) => {
    if (call.kind === 'shard') throw new Error('no call of a shard');
    return call.kind === 'command' ? actor.execute(call.command) : actor.read(call.query);
  };
  owner.own(SHARD, 5);
  await cluster.time.pass(10);
  /** The answer, and the bytes of the messages that brought it. */
  const call = async (asked: Call) => {
    const before = { messages: cluster.network.messages, bytes: cluster.network.bytes };
    const answering = front.router.call(SHARD, asked);
    await cluster.time.pass(20);
    const answer = await answering;
    const { messages, bytes, largestBytes } = cluster.network;
    return { answer, messages: messages - before.messages, bytes: bytes - before.bytes, largestBytes };
  };
  return { actor, call };
}

const queryOf = (query: Query): QueryCall => ({ kind: 'query', eventId: stadium.id, query });

describe('A hall of 60,000 seats', () => {
  it('is read from another node: payload, layout and occupancy, for buyers and operators', async () => {
    const { actor, call } = await openStadium();
    const queries: Query[] = [
      { type: 'ReadPayload', performanceId: null, sessionKey: null, knownRevision: null },
      { type: 'ReadSeating', audience: 'BUYERS', knownRevision: null },
      { type: 'ReadSeating', audience: 'OPERATORS', knownRevision: null },
      { type: 'ReadOccupancy', audience: 'BUYERS', performanceId: null, since: null, knownRevision: null },
      { type: 'ReadTotals', performanceId: null },
    ];
    let bytesOfAll = 0;
    for (const query of queries) {
      const { answer, bytes, messages, largestBytes } = await call(queryOf(query));
      assert.deepEqual(answer, await actor.read(query as never), query.type);
      assert.ok(largestBytes <= PART_BYTES_MAX + 64, `${query.type}: ${largestBytes} bytes in a message`);
      assert.ok(messages <= 2 + bytes / PART_BYTES_MAX + 10, `${query.type}: ${messages} messages`);
      bytesOfAll += bytes;
    }
    assert.ok(bytesOfAll > 4 * PART_BYTES_MAX, `only ${bytesOfAll} bytes: nothing was in parts`);
  });

  it('is defined through another node', async () => {
    const { actor, call } = await openStadium();
    const definition = { ...stadium, name: 'The same under another name' };
    const command = { type: 'DefineEvent', definition, operator: 'olga', note: null } as const;
    const asked: CommandCall = { kind: 'command', commandId: 'n-1', eventId: stadium.id, command };
    const { answer, largestBytes } = await call(asked);
    assert.deepEqual(answer, { outcome: 'DONE', eventId: stadium.id, version: 2, changed: true });
    assert.ok(largestBytes <= PART_BYTES_MAX + 64);
    const view = await actor.read({ type: 'ReadOperatorEvent' });
    assert.equal(JSON.stringify(view).includes(definition.name), true);
  });
});
