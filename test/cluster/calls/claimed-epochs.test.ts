/** An announced epoch is believed as far as the shard's log says that it was claimed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClaimedEpochs } from '#cluster/calls/claimed-epochs.ts';
import { HEARTBEAT_MS, heartbeatSubject, Membership } from '#cluster/calls/membership.ts';
import { MemoryNetwork } from '#cluster/calls/memory-bus.ts';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { encodeRecord } from '#persistence/nats/log/records.ts';
import { VirtualTime } from '../virtual-time.ts';

const claim = (node: string): Uint8Array => encodeRecord({ kind: 'claim', id: `of ${node}`, node });
const proof = (epoch: number): Uint8Array => encodeRecord({ kind: 'proof', id: `of ${epoch}`, epoch });

function open() {
  const time = new VirtualTime();
  const log = new MemoryLog();
  let changes = 0;
  const claimed = new ClaimedEpochs({ time, log: () => log, changed: () => (changes += 1) });
  const verdict = (epoch: number, node = 'north') => claimed.verdict({ shard: 0, epoch, node });
  /** The verdict once the log was asked. */
  const lookedUp = async (epoch: number, node = 'north') => {
    verdict(epoch, node);
    for (let round = 0; round < 20; round += 1) await time.pass(0);
    return verdict(epoch, node);
  };
  return { time, log, verdict, lookedUp, changes: () => changes };
}

describe('An announced epoch', () => {
  it('is proven by the claim of its node, and refuted where the log has another record, or none yet', async () => {
    const { log, verdict, lookedUp, changes } = open();
    log.put(claim('south'));
    log.put(proof(1));
    log.put(claim('north'));
    assert.equal(verdict(3), 'UNKNOWN');
    assert.equal(await lookedUp(3), 'PROVEN');
    assert.equal(changes(), 1);
    for (const epoch of [1, 2, 4, 1e12, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.equal(await lookedUp(epoch), 'REFUTED', String(epoch));
    }
    assert.equal(await lookedUp(1, 'south'), 'PROVEN');
  });

  it('whose claim was purged is proven by the newest records, also behind some of the owner before', async () => {
    const { log, lookedUp } = open();
    for (const body of [claim('south'), proof(1), claim('north'), proof(3), proof(3), proof(1)]) log.put(body);
    await log.purge(5);
    assert.equal(await lookedUp(3), 'PROVEN');
    for (const epoch of [1, 2, 4, 7]) assert.equal(await lookedUp(epoch), 'REFUTED', String(epoch));
    log.put(claim('south'));
    assert.equal(await lookedUp(7, 'south'), 'PROVEN');
    assert.equal(await lookedUp(2, 'west'), 'REFUTED');
  });

  it('is looked up again while the log does not answer or does not have it, and only now and then', async () => {
    const { time, log, verdict, lookedUp, changes } = open();
    log.isReachable = false;
    assert.equal(await lookedUp(1), 'UNKNOWN');
    log.isReachable = true;
    await time.pass(100);
    assert.equal(await lookedUp(1), 'UNKNOWN');
    await time.pass(500);
    assert.equal(await lookedUp(1), 'REFUTED');
    log.put(claim('north'));
    assert.equal(await lookedUp(1), 'REFUTED');
    await time.pass(500);
    assert.equal(await lookedUp(1), 'PROVEN');
    log.isReachable = false;
    assert.equal(verdict(1), 'PROVEN');
    assert.equal(changes(), 2);
  });
});

describe('Of several nodes that announce a shard', () => {
  it('the proven one owns it, one that nothing is known of where no other does, and a refuted one never', async () => {
    const { time, log, membership, say, changes } = openMembership();
    log.put(claim('north'));
    say('north', 1);
    await time.pass(HEARTBEAT_MS);
    assert.equal(membership.ownerOf(0)?.node, 'north');
    // A far epoch.
    const before = changes();
    say('phantom', 1e9);
    await time.pass(1);
    assert.equal(membership.ownerOf(0)?.node, 'north', 'not even until it is looked up');
    await time.pass(2 * HEARTBEAT_MS);
    assert.equal(membership.ownerOf(0)?.node, 'north');
    assert.ok(changes() > before, 'whoever follows is told');
    // The log is away: what nobody contradicts is believed, so that a shard of a live node is not claimed.
    log.isReachable = false;
    say('south', 7, 1);
    await time.pass(1);
    assert.equal(membership.ownerOf(1)?.node, 'south');
    log.isReachable = true;
    await time.pass(4 * HEARTBEAT_MS);
    assert.equal(membership.ownerOf(1), null, 'the log refutes it');
    for (let n = 0; n < 6; n += 1) log.put(claim('south'));
    say('south', 7, 1);
    await time.pass(4 * HEARTBEAT_MS);
    assert.deepEqual(membership.ownerOf(1), { node: 'south', instance: 'south-1', epoch: 7 });
  });
});

function openMembership() {
  const time = new VirtualTime();
  const log = new MemoryLog();
  const network = new MemoryNetwork({ later: time.later, travelMs: () => 0 });
  const epochs = new ClaimedEpochs({ time, log: () => log, changed: () => membership.reconsider() });
  const membership: Membership = new Membership({
    bus: network.connect('reader'),
    time,
    cluster: 'test',
    node: 'reader',
    instance: 'reader-1',
    verdict: (announced) => epochs.verdict(announced),
  });
  let changes = 0;
  membership.onChange(() => (changes += 1));
  membership.start();
  let beat = 0;
  const others = network.connect('others');
  const timers = new Map<string, () => void>();
  /** A node announces a shard from now on. */
  const say = (node: string, epoch: number, shard = 0): void => {
    timers.get(node)?.();
    const repeat = (): void => {
      beat += 1;
      const heartbeat = { node, instance: `${node}-1`, beat, shards: [[shard, epoch]], leaving: false };
      others.publish(heartbeatSubject('test'), Buffer.from(JSON.stringify(heartbeat)));
      timers.set(node, time.after(HEARTBEAT_MS, repeat));
    };
    repeat();
  };
  return { time, log, membership, say, changes: () => changes };
}
