/** Messages between nodes are taken only from nodes of the cluster, and each of them once. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, it, type TestContext } from 'node:test';
import { MemoryNetwork } from '#cluster/calls/memory-bus.ts';
import { messageKeysOf, signedBus, unverifiedBus, type MessageKeys } from '#cluster/calls/signed-bus.ts';
import type { Bus, BusMessage } from '#cluster/calls/bus.ts';
import { troublesAt } from '../../fixtures/troubles.ts';
import { VirtualTime } from '../virtual-time.ts';

const ticketKey = (n: number): string => Buffer.alloc(32, n).toString('base64url');
const KEYS = messageKeysOf('shop', [ticketKey(1)]);
const HOUR_MS = 3_600_000;

interface Wire {
  readonly time: VirtualTime;
  readonly network: MemoryNetwork;
  /** What was ignored so far. */
  readonly ignored: () => number;
  node(name: string, keys?: MessageKeys): Bus;
  /** What a stranger who listens gets of a subject. */
  overhear(subject: string): BusMessage[];
}

function open(t: TestContext): Wire {
  const time = new VirtualTime();
  const network = new MemoryNetwork({ later: time.later, travelMs: () => 1 });
  let ignored = 0;
  const count = (): void => void (ignored += 1);
  subscribe('holdfast:cluster-foreign', count);
  t.after(() => unsubscribe('holdfast:cluster-foreign', count));
  return {
    time,
    network,
    ignored: () => ignored,
    node: (name, keys = KEYS) => signedBus({ bus: network.connect(name), time, keys, instance: `${name}.1` }),
    overhear(subject) {
      const heard: BusMessage[] = [];
      network.connect('eavesdropper').subscribe(subject, (message) => heard.push(message));
      return heard;
    },
  };
}

/** What comes by a subject, as texts. */
function listen(bus: Pick<Bus, 'subscribe'>, subject: string): string[] {
  const heard: string[] = [];
  bus.subscribe(subject, ({ data, replyTo }) => {
    heard.push(`${Buffer.from(data).toString()}${replyTo === null ? '' : ` to ${replyTo}`}`);
  });
  return heard;
}

const bytes = (text: string): Buffer => Buffer.from(text);

describe('A signed bus', () => {
  it('brings what a node sent, in every node, whatever its length', async (t) => {
    const { time, node, ignored } = open(t);
    const [a, b] = [node('a'), node('b')];
    const [atA, atB] = [listen(a, 'shop.hb'), listen(b, 'shop.hb')];
    const long = 'é'.repeat(100_000);
    a.publish('shop.hb', bytes('first'), 'shop.reply.a');
    a.publish('shop.hb', bytes(''));
    b.publish('shop.hb', bytes(long));
    await time.pass(5);
    assert.deepEqual(atA.toSorted(), atB.toSorted());
    assert.deepEqual(atB, ['first to shop.reply.a', '', long]);
    assert.equal(ignored(), 0);
  });

  it('ignores and counts what no node of the cluster signed, and says so once', async (t) => {
    const { time, network, node, overhear, ignored } = open(t);
    const troubles = troublesAt(t, 'cluster');
    const [a, b] = [node('a'), node('b')];
    const heard = listen(b, 'shop.>');
    const [first] = [overhear('shop.cmd.1.10')];
    a.publish('shop.cmd.1.10', bytes('a call'), 'shop.reply.a');
    await time.pass(5);
    assert.deepEqual(heard, ['a call to shop.reply.a']);
    const { data } = first[0]!;
    const stranger = network.connect('stranger');
    stranger.publish('shop.hb', bytes('{"node":"phantom"}'));
    stranger.publish('shop.hb', bytes(''));
    // What was overheard, led to somebody else or changed: the answer, the owner, and each byte of the message.
    stranger.publish('shop.cmd.1.10', data, 'shop.reply.stranger');
    stranger.publish('shop.cmd.1.11', data, 'shop.reply.a');
    for (let at = 0; at < data.length; at += 1) {
      const changed = Buffer.from(data);
      changed[at]! ^= 1;
      stranger.publish('shop.cmd.1.10', changed, 'shop.reply.a');
    }
    await time.pass(5);
    assert.deepEqual(heard, ['a call to shop.reply.a']);
    assert.equal(ignored(), 4 + data.length);
    const reported = troubles.map(({ message }) => message);
    assert.equal(reported.filter((message) => message.includes('no node of this cluster signed them')).length, 1);
    assert.match(reported[0]!, /^messages to shop\.hb are ignored, because no node .* cluster check says/);
    await time.pass(HOUR_MS);
    stranger.publish('shop.hb', bytes('again'));
    await time.pass(5);
    assert.equal(troubles.length, reported.length + 1);
  });

  it('has nodes with other keys see each other’s mistake, at both sides', async (t) => {
    const { time, node, ignored } = open(t);
    const troubles = troublesAt(t, 'cluster');
    const one = node('one');
    const other = node('other', messageKeysOf('shop', [ticketKey(2)]));
    const sameKeyElsewhere = node('elsewhere', messageKeysOf('theatre', [ticketKey(1)]));
    const heard = [listen(one, 'shop.hb'), listen(other, 'shop.hb')];
    for (const bus of [one, other, sameKeyElsewhere]) bus.publish('shop.hb', bytes('I am here'));
    await time.pass(5);
    assert.deepEqual(heard, [['I am here'], ['I am here']], 'each hears itself alone');
    assert.equal(ignored(), 4);
    assert.deepEqual(troubles.map(({ message }) => message).toSorted(), [
      'messages of one.1 are ignored, because they are signed with another key: give all nodes of the cluster the same TICKET_KEY',
      'messages of other.1 are ignored, because they are signed with another key: give all nodes of the cluster the same TICKET_KEY',
    ]);
  });

  it('verifies with every key and signs with the first, so that the key is changed node by node', async (t) => {
    const { time, node, ignored } = open(t);
    const [before, after] = [ticketKey(1), ticketKey(2)];
    const keysOf = (...keys: [string, ...string[]]) => messageKeysOf('shop', keys);
    const nodes = [keysOf(before), keysOf(before, after), keysOf(after, before), keysOf(after)];
    const buses = nodes.map((keys, n) => node(`node-${n}`, keys));
    const heard = buses.map((bus) => listen(bus, 'shop.hb'));
    for (const [n, bus] of buses.entries()) bus.publish('shop.hb', bytes(String(n)));
    await time.pass(5);
    assert.deepEqual(
      heard.map((each) => each.toSorted().join('')),
      ['01', '0123', '0123', '23'],
    );
    assert.equal(ignored(), 4);
  });

  it('takes a message once, and one that was overtaken as well unless it comes too late', async (t) => {
    const { time, network, node, overhear, ignored } = open(t);
    const troubles = troublesAt(t, 'cluster');
    const [a, b] = [node('a'), node('b')];
    const overheard = overhear('shop.notice');
    for (let n = 0; n <= 5_000; n += 1) a.publish('shop.notice', bytes(String(n)));
    await time.pass(5);
    const heard = listen(b, 'shop.notice');
    const stranger = network.connect('stranger');
    const send = async (...numbers: readonly number[]): Promise<string[]> => {
      for (const n of numbers) stranger.publish('shop.notice', overheard[n]!.data);
      await time.pass(5);
      return heard.splice(0);
    };
    assert.deepEqual(await send(100, 98, 99, 100, 98), ['100', '98', '99']);
    assert.equal(ignored(), 2);
    assert.match(troubles[0]!.message, /^messages of a\.1 are ignored, because they came before/);
    assert.deepEqual(await send(3_000, 2_999, 959, 958, 98, 3_000), ['3000', '2999', '959']);
    assert.deepEqual(await send(5_000, 4_000, 3_000, 4_000), ['5000', '4000']);
    const fresh = listen(b, 'shop.notice');
    await send(5_000);
    assert.deepEqual(fresh, ['5000'], 'each subscription counts for itself');
  });

  it('forgets a sender only when a thousand others were heard since', async (t) => {
    const { time, network, node, overhear } = open(t);
    const overheard = overhear('shop.hb');
    const heard = listen(node('reader'), 'shop.hb');
    const senders = Array.from({ length: 1_001 }, (_, n) => node(`node-${n}`));
    const stranger = network.connect('stranger');
    const sayAll = async (all: readonly Bus[]): Promise<void> => {
      for (const bus of all) bus.publish('shop.hb', bytes('x'));
      await time.pass(5);
    };
    await sayAll(senders.slice(0, 1_000));
    stranger.publish('shop.hb', overheard[0]!.data);
    await time.pass(5);
    assert.equal(heard.length, 1_000);
    await sayAll(senders.slice(1_000));
    stranger.publish('shop.hb', overheard[500]!.data);
    stranger.publish('shop.hb', overheard[0]!.data);
    await time.pass(5);
    assert.equal(heard.length, 1_002, 'the one heard longest ago was forgotten');
  });

  it('passes on what the servers say themselves, and its connection', async (t) => {
    const { time, network, node } = open(t);
    const a = node('a');
    const nobody: boolean[] = [];
    a.subscribe('shop.reply.a', ({ isNobodyThere }) => nobody.push(isNobodyThere));
    a.publish('shop.cmd.1.10', bytes('a call'), 'shop.reply.a');
    await time.pass(5);
    assert.deepEqual(nobody, [true]);
    const changes: boolean[] = [];
    a.onConnection((isConnected) => changes.push(isConnected));
    network.setConnected('a', false);
    assert.deepEqual([a.isConnected, changes], [false, [false]]);
  });

  it('lets somebody without the key read what has the form of a message', async (t) => {
    const { time, network, node } = open(t);
    const heard = listen(unverifiedBus(network.connect('reader')), 'shop.hb');
    node('a').publish('shop.hb', bytes('I am here'));
    network.connect('stranger').publish('shop.hb', bytes('{"node":"phantom"}'));
    await time.pass(5);
    assert.deepEqual(heard, ['I am here']);
  });
});
