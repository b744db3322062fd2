/** A call finds the owner of its shard, through hand-overs, deaths and silence. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Overloaded } from '#actors/admission.ts';
import { Moved, type Call, type CommandCall } from '#cluster/calls/shard-calls.ts';
import { DEAD_MS } from '#cluster/calls/membership.ts';
import { eventAt } from '#cluster/calls/router.ts';
import { CALL_MS_MAX, LONG_CALL_MS_MAX } from '#persistence/nats/timing.ts';
import { commandCall, openCluster, queryCall, type TestCluster, type TestNode } from '../nodes.ts';

const SHARD = 3;

interface Three {
  readonly cluster: TestCluster;
  readonly front: TestNode;
  readonly one: TestNode;
  readonly two: TestNode;
  /** Every call that was taken, as `<node> <command id>`. */
  readonly taken: string[];
}

async function openThree(limits: Parameters<typeof openCluster>[0] = {}): Promise<Three> {
  const cluster = openCluster(limits);
  const [front, one, two] = [cluster.open('front'), cluster.open('one'), cluster.open('two')];
  const taken: string[] = [];
  cluster.handle = (_shard, call, node) => {
    taken.push(`${node.name} ${idOf(call)}`);
    return Promise.resolve(node.name);
  };
  await cluster.time.pass(10);
  return { cluster, front, one, two, taken };
}

function idOf(call: Call): string {
  return call.kind === 'command' ? call.commandId : call.kind;
}

function watch(promise: Promise<unknown>): { outcome: unknown } {
  const watched = { outcome: null as unknown };
  const settle = (outcome: unknown): void => void (watched.outcome = outcome);
  promise.then(settle, settle);
  return watched;
}

function overloadOf({ outcome }: { readonly outcome: unknown }): Overloaded {
  assert.ok(outcome instanceof Overloaded);
  return outcome;
}

describe('A call to a shard', () => {
  it('is answered here where this node owns it, without a message', async () => {
    const { cluster, front } = await openThree();
    front.own(SHARD, 10);
    await cluster.time.pass(5);
    const { messages } = cluster.network;
    const call = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(0);
    assert.equal(call.outcome, 'front');
    assert.deepEqual([front.router.forwarded, cluster.network.messages], [0, messages]);
  });

  it('goes to the owner', async () => {
    const { cluster, front, one } = await openThree();
    one.own(SHARD, 10);
    await cluster.time.pass(5);
    const call = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(5);
    assert.equal(call.outcome, 'one');
    assert.equal(front.router.forwarded, 1);
  });

  it('waits for an owner, and goes to it at once', async () => {
    const { cluster, front, two } = await openThree();
    const call = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(4_000);
    assert.equal(call.outcome, null);
    two.own(SHARD, 10);
    await cluster.time.pass(5);
    assert.equal(call.outcome, 'two');
    assert.equal(front.router.waiting, 0);
  });

  it('waits for an owner that is this node itself', async () => {
    const { cluster, front } = await openThree();
    const call = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(1_000);
    front.own(SHARD, 10);
    await cluster.time.pass(0);
    assert.equal(call.outcome, 'front');
  });

  it('waits while this node is still announced for a shard that it has lost', async () => {
    const { cluster, front, two } = await openThree();
    front.membership.own(SHARD, 10);
    await cluster.time.pass(5);
    const call = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(1_000);
    assert.deepEqual([call.outcome, front.router.forwarded], [null, 0]);
    two.own(SHARD, 11);
    await cluster.time.pass(5);
    assert.equal(call.outcome, 'two');
  });

  it('is refused after 12 s in which nobody owned it', async () => {
    const { cluster, front } = await openThree();
    const call = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(CALL_MS_MAX - 100);
    assert.equal(call.outcome, null);
    await cluster.time.pass(200);
    assert.ok(overloadOf(call).retryAfterSeconds >= 1);
  });

  it('is refused after 12 s in which the owner did not answer: another node, or this one', async () => {
    const { cluster, front, one } = await openThree();
    cluster.handle = () => new Promise(() => {});
    one.own(SHARD, 10);
    front.own(SHARD + 1, 11);
    await cluster.time.pass(5);
    const calls = [SHARD, SHARD + 1].map((shard) => watch(front.router.call(shard, commandCall(`c${shard}`))));
    await cluster.time.pass(CALL_MS_MAX - 100);
    assert.deepEqual(
      calls.map(({ outcome }) => outcome),
      [null, null],
    );
    await cluster.time.pass(600);
    for (const { outcome } of calls) assert.ok(outcome instanceof Overloaded);
  });

  it('is refused after 12 s here, whatever calls that were refused before are answered meanwhile', async () => {
    const { cluster, front } = await openThree();
    const answers: ((value: unknown) => void)[] = [];
    cluster.handle = () => new Promise((resolve) => answers.push(resolve));
    front.own(SHARD, 10);
    const call = () => watch(front.router.call(SHARD, commandCall('c')));
    const refused = call();
    await cluster.time.pass(CALL_MS_MAX + 500);
    overloadOf(refused);
    const next = call();
    await cluster.time.pass(500);
    answers[0]!('too late');
    await cluster.time.pass(0);
    const last = call();
    await cluster.time.pass(CALL_MS_MAX - 100);
    assert.equal(overloadOf(refused).message, overloadOf(next).message);
    answers[2]!('in time');
    await cluster.time.pass(0);
    assert.equal(last.outcome, 'in time');
  });

  it('that cancels a date has two minutes, here and elsewhere: it is answered after its last order', async () => {
    const { cluster, front, one } = await openThree();
    cluster.handle = (_shard, _call, { name }) =>
      new Promise((resolve) => cluster.time.after(LONG_CALL_MS_MAX - 1_000, () => resolve(name)));
    one.own(SHARD, 10);
    front.own(SHARD + 1, 11);
    await cluster.time.pass(5);
    const cancelled = { type: 'CancelPerformance', performanceId: 'fri', operator: null, note: null } as const;
    const calls = [SHARD, SHARD + 1].map((shard) => watch(eventAt(front.router, shard, 'evt').execute(cancelled)));
    await cluster.time.pass(LONG_CALL_MS_MAX);
    assert.deepEqual(
      calls.map(({ outcome }) => outcome),
      ['one', 'front'],
    );
  });

  it('ends with what the owner failed with, here and elsewhere', async () => {
    const { cluster, front, one } = await openThree();
    cluster.handle = (_shard, call) =>
      Promise.reject(idOf(call) === 'full' ? new Overloaded('full', 7) : new Error('a defect'));
    one.own(SHARD, 10);
    front.own(SHARD + 1, 11);
    await cluster.time.pass(5);
    for (const shard of [SHARD, SHARD + 1]) {
      const full = watch(front.router.call(shard, commandCall('full')));
      const defect = watch(front.router.call(shard, commandCall('x')));
      await cluster.time.pass(5);
      assert.equal(overloadOf(full).retryAfterSeconds, 7);
      assert.match((defect.outcome as Error).message, /a defect/);
    }
  });

  it('is refused while too many wait for an owner', async () => {
    const { cluster, front } = await openThree({ waitingMax: 10 });
    const calls = Array.from({ length: 11 }, (_, index) => watch(front.router.call(SHARD, commandCall(`c${index}`))));
    await cluster.time.pass(5);
    assert.equal(front.router.waiting, 10);
    assert.ok(overloadOf(calls[10]!).retryAfterSeconds >= 1);
    front.own(SHARD, 10);
    await cluster.time.pass(5);
    assert.deepEqual(new Set(calls.slice(0, 10).map(({ outcome }) => outcome)), new Set(['front']));
  });

  it('is refused when this node stops', async () => {
    const { cluster, front } = await openThree();
    const waiting = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(5);
    front.router.close();
    await cluster.time.pass(5);
    assert.ok(waiting.outcome instanceof Overloaded);
    await assert.rejects(front.router.call(SHARD, commandCall('d')), Overloaded);
  });
});

describe('When the owner changes', () => {
  it('by a hand-over, a call goes to the next owner with its id, and nobody sees an error', async () => {
    const { cluster, front, one, two, taken } = await openThree();
    one.own(SHARD, 10);
    await cluster.time.pass(5);
    const calls = [];
    for (let index = 0; index < 200; index += 1) {
      calls.push(watch(front.router.call(SHARD, commandCall(`c${index}`))));
      if (index === 100) one.release(SHARD);
      if (index === 130) two.own(SHARD, 11);
      await cluster.time.pass(1);
    }
    await cluster.time.pass(100);
    assert.ok(calls.every(({ outcome }) => outcome === 'one' || outcome === 'two'));
    const ids = taken.map((each) => each.split(' ')[1]);
    assert.equal(new Set(ids).size, 200);
    assert.equal(ids.length, 200, 'each is taken once');
  });

  it('by its death, the calls under way go to the next owner with their ids as soon as it is known', async () => {
    const { cluster, front, one, two, taken } = await openThree();
    cluster.handle = (_shard, call, node) => {
      taken.push(`${node.name} ${idOf(call)}`);
      return node.name === 'one' ? new Promise(() => {}) : Promise.resolve(node.name);
    };
    one.own(SHARD, 10);
    await cluster.time.pass(5);
    const calls = ['c1', 'c2'].map((id) => watch(front.router.call(SHARD, commandCall(id))));
    const query = watch(front.router.call(SHARD, queryCall('s')));
    await cluster.time.pass(5);
    one.kill();
    await cluster.time.pass(500);
    two.own(SHARD, 11);
    await cluster.time.pass(5);
    for (const { outcome } of [...calls, query]) assert.equal(outcome, 'two');
    assert.deepEqual(taken, ['one c1', 'one c2', 'one query', 'two c1', 'two c2', 'two query']);
  });

  it('is not known yet, the calls under way wait for who comes', async () => {
    const { cluster, front, one, two } = await openThree();
    one.own(SHARD, 10);
    await cluster.time.pass(5);
    one.kill();
    const call = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(DEAD_MS + 500);
    assert.equal(call.outcome, null);
    two.own(SHARD, 11);
    await cluster.time.pass(5);
    assert.equal(call.outcome, 'two');
  });

  it('because the owner was fenced, a call here goes to the next owner with its id', async () => {
    const { cluster, front, two, taken } = await openThree();
    const answering = cluster.handle;
    cluster.handle = (shard, call, node) => {
      if (node.name !== 'front') return answering(shard, call, node);
      taken.push(`${node.name} ${idOf(call)}`);
      front.release(SHARD);
      return Promise.reject(new Moved(shard, 'another node claimed it'));
    };
    front.own(SHARD, 10);
    const call = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(300);
    two.own(SHARD, 11);
    await cluster.time.pass(5);
    assert.equal(call.outcome, 'two');
    assert.deepEqual(taken, ['front c', 'two c']);
  });

  it('and the newer one is not heard for a while, a call that was tried there does not go back to the older one', async () => {
    const { cluster, front, one, two, taken } = await openThree();
    cluster.handle = (_shard, call, node) => {
      taken.push(`${node.name} ${idOf(call)}`);
      return node.name === 'one' ? Promise.resolve('stale') : new Promise(() => {});
    };
    one.own(SHARD, 10);
    two.own(SHARD, 11);
    await cluster.time.pass(5);
    const call = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(5);
    two.pause();
    await cluster.time.pass(DEAD_MS + 1_000);
    assert.equal(front.membership.ownerOf(SHARD)?.node, 'one');
    assert.deepEqual([call.outcome, taken], [null, ['two c']]);
    cluster.handle = (_shard, _call, node) => Promise.resolve(node.name);
    two.kill();
    cluster.open('two').own(SHARD, 12);
    await cluster.time.pass(100);
    assert.equal(call.outcome, 'two');
  });

  it('and this node has not found out, a call goes to the one that announces the shard with a higher epoch', async () => {
    const { cluster, front, two } = await openThree();
    front.own(SHARD, 10);
    two.own(SHARD, 11);
    await cluster.time.pass(5);
    const call = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(5);
    assert.equal(call.outcome, 'two');
  });

  it('a stale owner that is still heard of costs a try and no error', async () => {
    const { cluster, front, one, two, taken } = await openThree();
    one.own(SHARD, 10);
    two.own(SHARD, 11);
    // What the new owner says of itself does not arrive.
    cluster.travel = (from, to, subject) => (from === 'two' && to === 'front' && subject.endsWith('.hb') ? null : 1);
    cluster.handle = (shard, call, node) => {
      taken.push(`${node.name} ${idOf(call)}`);
      return node.name === 'one' ? Promise.reject(new Moved(shard, 'fenced')) : Promise.resolve(node.name);
    };
    await cluster.time.pass(DEAD_MS * 2);
    const call = watch(front.router.call(SHARD, commandCall('c')));
    await cluster.time.pass(200);
    assert.equal(call.outcome, null);
    cluster.travel = () => 1;
    await cluster.time.pass(500);
    assert.equal(call.outcome, 'two');
    assert.ok(taken.length <= 12, 'it is tried now and then');
  });
});

describe('Commands through the router', () => {
  it('have an id that no other command of any process has', async () => {
    const { cluster, front, one } = await openThree();
    const ids = [front, one, cluster.open('front')].flatMap(({ router }) => [
      router.newCommandId(),
      router.newCommandId(),
    ]);
    assert.equal(new Set(ids).size, 6);
    const call: CommandCall = { ...(commandCall('c') as CommandCall), commandId: ids[0]! };
    assert.equal(idOf(JSON.parse(JSON.stringify(call)) as Call), ids[0]);
  });

  it('that wait by the thousand share one look', async () => {
    const { cluster, front, two, taken } = await openThree();
    const calls = Array.from({ length: 3_000 }, (_, index) =>
      watch(front.router.call(SHARD, commandCall(`c${index}`))),
    );
    await cluster.time.pass(100);
    assert.equal(front.router.waiting, 3_000);
    const { messages } = cluster.network;
    two.own(SHARD, 10);
    await cluster.time.pass(10);
    assert.ok(calls.every(({ outcome }) => outcome === 'two'));
    assert.equal(taken.length, 3_000);
    // Twelve messages with calls, as many with answers, and heartbeats.
    assert.ok(cluster.network.messages - messages < 30);
  });
});
