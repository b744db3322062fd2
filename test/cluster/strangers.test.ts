/** Somebody who reaches the bus of a cluster, but does not know its secrets: nodes believe and do nothing of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { subjects, targetOf } from '#cluster/calls/forwarding.ts';
import { HEARTBEAT_MS, heartbeatSubject } from '#cluster/calls/membership.ts';
import { writeAnswers, writeCall, writeCalls } from '#cluster/calls/wire.ts';
import type { BusMessage } from '#cluster/calls/bus.ts';
import { shardOf } from '#cluster/directory/placement.ts';
import { until } from '../fixtures/until.ts';
import { concert, place } from '../fixtures/actors.ts';
import { defineAt, executeAt, ownerOf, withNodes, type TestNode, type TestNodes } from '../fixtures/cluster-nodes.ts';

const CLUSTER = 'test';
const EVENT = 'evt_concert';

describe('A stranger on the bus of a cluster', () => {
  it('gets no answer, owns nothing and changes nothing, also by what nodes sent before', async () => {
    await withNodes(['north', 'south'], async (all, { network }) => {
      await defineAt(all, concert({ id: EVENT }));
      const owner = ownerOf(all, EVENT);
      const other = all.find((node) => node !== owner)!;
      const { shard, epoch } = owner.engine.cluster.shards()[shardOf(EVENT, 4)]!;
      const target = targetOf(shard, epoch!);
      const stranger = network.connect('stranger');
      const overheard: BusMessage[] = [];
      stranger.subscribe(`${CLUSTER}.>`, (message) => overheard.push(message));
      await executeAt(other, EVENT, place('session-1', 1));
      const call = overheard.find(({ subject }) => subject === subjects.calls(CLUSTER, target));
      assert.ok(call?.replyTo, 'the call was overheard');

      // 1. Calls and answers of its own.
      const answers: BusMessage[] = [];
      stranger.subscribe(`${CLUSTER}.reply.stranger.>`, (message) => answers.push(message));
      const forged = writeCall(1, {
        kind: 'command',
        commandId: 'stranger-1',
        eventId: EVENT,
        command: place('session-stranger', 1),
      });
      stranger.publish(call.subject, writeCalls(0, [forged]), `${CLUSTER}.reply.stranger.${target}`);
      stranger.publish(call.replyTo, writeAnswers(['[2,0,{"outcome":"DONE"}]']));
      // 2. What nodes sent, again.
      const before = owner.engine.state().journal.appendedSeq;
      for (const { subject, data, replyTo } of [...overheard]) stranger.publish(subject, data, replyTo ?? undefined);
      // 3. A node that owns everything with a far epoch.
      const phantom = {
        node: 'phantom',
        instance: 'phantom-1',
        beat: 1,
        shards: [0, 1, 2, 3].map((each) => [each, 1e9]),
        leaving: false,
      };
      stranger.publish(heartbeatSubject(CLUSTER), Buffer.from(JSON.stringify(phantom)));
      await pause(2 * HEARTBEAT_MS);

      assert.deepEqual(answers, []);
      assert.equal(owner.engine.state().journal.appendedSeq, before);
      for (const { engine } of all) {
        assert.deepEqual(
          engine.cluster.nodes().map(({ name }) => name),
          ['north', 'south'],
        );
        assert.equal(engine.cluster.shards()[shard]!.owner, owner.name);
        assert.equal(engine.state().trouble, null);
      }
      await executeAt(other, EVENT, place('session-2', 1));
    });
  });
});

describe('A node whose calls find nobody', () => {
  it('is not ready though all heartbeats look good, and says whom it cannot reach, until it is answered', async () => {
    const work = async (all: readonly TestNode[], { network }: TestNodes): Promise<void> => {
      await defineAt(all, concert({ id: EVENT }));
      const owner = ownerOf(all, EVENT);
      const other = all.find((node) => node !== owner)!;
      network.cut(other.name, owner.name);
      const call = executeAt(other, EVENT, place('session-1', 1)).catch(() => null);
      const reason = `calls of this node find nobody: ${owner.name}, which announces shard ${shardOf(EVENT, 4)}, answers none of them`;
      await until(
        () => other.engine.state().trouble === reason,
        () => String(other.engine.state().trouble),
      );
      assert.equal(owner.engine.state().trouble, null);
      network.heal();
      await until(
        () => other.engine.state().trouble === null,
        () => String(other.engine.state().trouble),
      );
      await call;
    };
    await withNodes(['north', 'south'], work);
  });
});
