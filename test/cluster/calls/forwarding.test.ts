/** Calls between nodes: many in few messages, each taken once, and cut off where the owner is gone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Overloaded } from '#actors/admission.ts';
import { Moved, type Call } from '#cluster/calls/shard-calls.ts';
import { RESEND_MS, SILENT_MS } from '#cluster/calls/forwarding.ts';
import { JournalFault } from '#persistence/journal.ts';
import { commandCall, openCluster, queryCall, type TestCluster, type TestNode } from '../nodes.ts';

const SHARD = 7;
const EPOCH = 40;
const FAR = 1e9;

interface Pair {
  readonly cluster: TestCluster;
  readonly front: TestNode;
  readonly owner: TestNode;
  /** The calls that the owner's shard was given, in their order. */
  readonly taken: Call[];
}

async function openPair(limits: Parameters<typeof openCluster>[0] = {}): Promise<Pair> {
  const cluster = openCluster(limits);
  const [front, owner] = [cluster.open('front'), cluster.open('owner')];
  const taken: Call[] = [];
  cluster.handle = (_shard, call) => {
    taken.push(call);
    return Promise.resolve({ answered: call.kind === 'command' ? call.commandId : call.kind });
  };
  owner.own(SHARD, EPOCH);
  await cluster.time.pass(10);
  return { cluster, front, owner, taken };
}

/** What became of a promise by now. */
function watch(promise: Promise<unknown>): { outcome: unknown; isSettled: boolean } {
  const watched = { outcome: undefined as unknown, isSettled: false };
  const settle = (outcome: unknown): void => void Object.assign(watched, { outcome, isSettled: true });
  promise.then(settle, settle);
  return watched;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('Calls to the owner of a shard', () => {
  it('that are made together travel in one message, and so do their answers', async () => {
    const { cluster, front, taken } = await openPair();
    const before = cluster.network.messages;
    const calls = numbers(200).map((index) => front.forwarding.call(SHARD, EPOCH, commandCall(`c${index}`), FAR));
    await cluster.time.pass(5);
    const answers = await Promise.all(calls);
    assert.deepEqual(
      answers,
      numbers(200).map((index) => ({ answered: `c${index}` })),
    );
    assert.deepEqual(
      taken,
      numbers(200).map((index) => commandCall(`c${index}`)),
    );
    assert.equal(cluster.network.messages - before, 2);
  });

  it('are spread over several messages where there are many', async () => {
    const { cluster, front } = await openPair();
    const before = cluster.network.messages;
    const calls = numbers(1_000).map((index) => front.forwarding.call(SHARD, EPOCH, commandCall(`c${index}`), FAR));
    await cluster.time.pass(5);
    assert.equal((await Promise.all(calls)).length, 1_000);
    assert.equal(cluster.network.messages - before, 8);
  });

  it('are answered as each is ready, whatever the order', async () => {
    const { cluster, front } = await openPair();
    const ready = new Map<string, (value: unknown) => void>();
    cluster.handle = (_shard, call) =>
      new Promise((resolve) => ready.set(call.kind === 'command' ? call.commandId : '', resolve));
    const [slow, quick] = ['slow', 'quick'].map((id) =>
      watch(front.forwarding.call(SHARD, EPOCH, commandCall(id), FAR)),
    );
    await cluster.time.pass(5);
    ready.get('quick')!('Q');
    await cluster.time.pass(5);
    assert.deepEqual([quick!.outcome, slow!.isSettled], ['Q', false]);
    ready.get('slow')!('S');
    await cluster.time.pass(5);
    assert.equal(slow!.outcome, 'S');
    assert.equal(front.forwarding.underWay, 0);
  });

  it('are not sent to an owner that was not there a moment ago, and are all sent soon after', async () => {
    const { cluster, front, owner } = await openPair();
    const forward = () => watch(front.forwarding.call(SHARD + 1, EPOCH, queryCall('s'), FAR));
    const calls = [forward()];
    await cluster.time.pass(5);
    const before = cluster.network.messages;
    calls.push(...Array.from({ length: 100 }, forward));
    await cluster.time.pass(5);
    assert.equal(cluster.network.messages, before);
    owner.own(SHARD + 1, EPOCH);
    await cluster.time.pass(110);
    for (const { outcome } of calls) assert.deepEqual(outcome, { answered: 'query' });
  });

  it('go on though somebody says all the time that nobody listens', async () => {
    const { cluster, front, taken } = await openPair();
    const stranger = cluster.network.connect('stranger');
    const claim = (): void => {
      // As servers say it of a message to a subject without a listener.
      stranger.publish('test.nowhere', Buffer.from(''), `test.reply.front-1.${SHARD}.${EPOCH}`);
      cluster.time.after(1, claim);
    };
    claim();
    await cluster.time.pass(20);
    const call = watch(front.forwarding.call(SHARD, EPOCH, commandCall('c'), FAR));
    await cluster.time.pass(110);
    assert.deepEqual(call.outcome, { answered: 'c' });
    assert.deepEqual(taken, [commandCall('c')]);
  });

  it('are cut off at once when somebody else is known to own the shard; a late answer is ignored', async () => {
    const { cluster, front } = await openPair();
    let answer = (_value: unknown): void => {};
    cluster.handle = () => new Promise((resolve) => (answer = resolve));
    const call = watch(front.forwarding.call(SHARD, EPOCH, commandCall('c'), FAR));
    await cluster.time.pass(5);
    front.forwarding.cutOffMoved(() => EPOCH);
    assert.equal(call.isSettled, false);
    front.forwarding.cutOffMoved(() => EPOCH + 1);
    await cluster.time.pass(0);
    assert.ok(call.outcome instanceof Moved);
    assert.equal(front.forwarding.underWay, 0);
    answer('too late');
    await cluster.time.pass(5);
    assert.ok(call.outcome instanceof Moved);
  });

  it('are rejected while there is no connection', async () => {
    const { cluster, front } = await openPair();
    cluster.network.setConnected('front', false);
    await assert.rejects(front.forwarding.call(SHARD, EPOCH, commandCall('c'), FAR), Moved);
  });

  it('end with what the owner failed with', async () => {
    const { cluster, front } = await openPair();
    const failures: Error[] = [
      new Overloaded('the waiting room is full', 3),
      new Overloaded('evt_concert cannot be activated', 8, new Error('why'), 'evt_concert'),
      new JournalFault('FULL', 'the disk is full', 'make room'),
      new Moved(SHARD, 'another node claimed it'),
      new TypeError('x is not a function'),
    ];
    const outcomes = [];
    for (const [index, failure] of failures.entries()) {
      cluster.handle = () => Promise.reject(failure);
      const call = watch(front.forwarding.call(SHARD, EPOCH, commandCall(`c${index}`), FAR));
      await cluster.time.pass(5);
      outcomes.push(call.outcome as Overloaded);
    }
    const [full, broken, journal, moved, defect] = outcomes;
    assert.ok(full instanceof Overloaded && broken instanceof Overloaded && journal instanceof Overloaded);
    assert.deepEqual([full.message, full.retryAfterSeconds, full.brokenEventId], [failures[0]!.message, 3, null]);
    assert.deepEqual([broken.retryAfterSeconds, broken.brokenEventId], [8, 'evt_concert']);
    assert.equal(journal.brokenEventId, null);
    assert.ok(moved instanceof Moved);
    assert.equal((moved as Moved).message, failures[3]!.message);
    assert.ok(!(defect instanceof Overloaded) && /x is not a function/.test(defect!.message));
  });

  it('fail as defects where an answer cannot be written', async () => {
    const { cluster, front } = await openPair();
    cluster.handle = () => Promise.resolve({ seats: 10n });
    const call = watch(front.forwarding.call(SHARD, EPOCH, queryCall('s'), FAR));
    await cluster.time.pass(5);
    assert.match((call.outcome as Error).message, /BigInt/);
  });

  it('fail as defects where the owner throws instead of answering', async () => {
    const { cluster, front } = await openPair();
    cluster.handle = () => {
      throw new Error('thrown at once');
    };
    const call = watch(front.forwarding.call(SHARD, EPOCH, queryCall('s'), FAR));
    await cluster.time.pass(5);
    assert.match((call.outcome as Error).message, /thrown at once/);
  });
});

describe('A message that is lost', () => {
  it('with calls is sent again, and each command is taken once', async () => {
    const { cluster, front, taken } = await openPair();
    let isLost = true;
    cluster.travel = (_from, to) => (to === 'owner' && isLost ? null : 1);
    const calls = numbers(3).map((index) => watch(front.forwarding.call(SHARD, EPOCH, commandCall(`c${index}`), FAR)));
    await cluster.time.pass(RESEND_MS / 2);
    isLost = false;
    await cluster.time.pass(RESEND_MS);
    assert.deepEqual(
      calls.map(({ outcome }) => outcome),
      numbers(3).map((index) => ({ answered: `c${index}` })),
    );
    assert.equal(taken.length, 3);
  });

  it('with answers is asked for again; a command is answered what it was answered, a query is read again', async () => {
    const { cluster, front, taken } = await openPair();
    let isLost = true;
    cluster.travel = (_from, to, subject) => (to === 'front' && subject.includes('reply') && isLost ? null : 1);
    let answers = 0;
    cluster.handle = (_shard, call) => {
      taken.push(call);
      return Promise.resolve((answers += 1));
    };
    const command = watch(front.forwarding.call(SHARD, EPOCH, commandCall('c'), FAR));
    const query = watch(front.forwarding.call(SHARD, EPOCH, queryCall('s'), FAR));
    await cluster.time.pass(RESEND_MS / 2);
    isLost = false;
    await cluster.time.pass(RESEND_MS);
    assert.equal(command.outcome, 1);
    assert.equal(query.outcome, 3);
    assert.deepEqual(taken, [commandCall('c'), queryCall('s'), queryCall('s')]);
  });

  it('is no reason to take a call again that is still under way', async () => {
    const { cluster, front, taken } = await openPair();
    let answer = (_value: unknown): void => {};
    cluster.handle = (_shard, call) => {
      taken.push(call);
      return new Promise((resolve) => (answer = resolve));
    };
    for (const call of [commandCall('c'), queryCall('s')]) {
      taken.length = 0;
      const watched = watch(front.forwarding.call(SHARD, EPOCH, call, FAR));
      await cluster.time.pass(4 * RESEND_MS);
      answer('done');
      await cluster.time.pass(5);
      assert.equal(watched.outcome, 'done');
      assert.equal(taken.length, 1);
    }
  });

  it('by a connection that broke is sent again as soon as it is back', async () => {
    const { cluster, front } = await openPair();
    const call = watch(front.forwarding.call(SHARD, EPOCH, commandCall('c'), FAR));
    cluster.network.setConnected('front', false);
    await cluster.time.pass(100);
    assert.equal(call.isSettled, false);
    cluster.network.setConnected('front', true);
    await cluster.time.pass(10);
    assert.deepEqual(call.outcome, { answered: 'c' });
  });

  it('leaves nothing behind: answers are kept until the next message, or for a while', async () => {
    const { cluster, front, owner } = await openPair();
    for (const round of numbers(20)) {
      const calls = numbers(50).map((index) =>
        front.forwarding.call(SHARD, EPOCH, commandCall(`c${round}-${index}`), FAR),
      );
      await cluster.time.pass(5);
      await Promise.all(calls);
      assert.ok(owner.server.kept <= 50);
    }
    assert.equal(owner.server.underWay, 0);
    await cluster.time.pass(31_000);
    assert.equal(owner.server.kept, 0);
  });
});

describe('A command that its sender gave up and sends again', () => {
  it('is taken once while it is under way at the same owner', async () => {
    const { cluster, front, taken } = await openPair();
    let answer = (_value: unknown): void => {};
    cluster.handle = (_shard, call) => {
      taken.push(call);
      return new Promise((resolve) => (answer = resolve));
    };
    const first = watch(front.forwarding.call(SHARD, EPOCH, commandCall('c'), FAR));
    await cluster.time.pass(5);
    front.forwarding.cutOffMoved(() => null);
    await cluster.time.pass(0);
    assert.ok(first.outcome instanceof Moved);
    // Another call says that everything before it is settled.
    const other = watch(front.forwarding.call(SHARD, EPOCH, queryCall('s'), FAR));
    await cluster.time.pass(5);
    const answerQuery = answer;
    const again = watch(front.forwarding.call(SHARD, EPOCH, commandCall('c'), FAR));
    await cluster.time.pass(5);
    assert.deepEqual(taken, [commandCall('c'), queryCall('s')]);
    answerQuery('read');
    await cluster.time.pass(5);
    assert.deepEqual([other.outcome, again.isSettled], ['read', false]);
  });

  it('is decided anew when it was not accepted', async () => {
    const { cluster, front } = await openPair();
    let tries = 0;
    cluster.handle = () =>
      (tries += 1) === 1 ? Promise.reject(new Overloaded('full', 1)) : Promise.resolve('accepted');
    const first = watch(front.forwarding.call(SHARD, EPOCH, commandCall('c'), FAR));
    await cluster.time.pass(5);
    const again = watch(front.forwarding.call(SHARD, EPOCH, commandCall('c'), FAR));
    await cluster.time.pass(5);
    assert.ok(first.outcome instanceof Overloaded);
    assert.equal(again.outcome, 'accepted');
  });
});

describe('A shard that is given up', () => {
  it('answers what it has taken, and says of the rest that it moved', async () => {
    const { cluster, front, owner } = await openPair();
    let answer = (_value: unknown): void => {};
    cluster.handle = () => new Promise((resolve) => (answer = resolve));
    const taken = watch(front.forwarding.call(SHARD, EPOCH, commandCall('taken'), FAR));
    await cluster.time.pass(5);
    owner.server.giveUp(SHARD, EPOCH);
    const late = watch(front.forwarding.call(SHARD, EPOCH, commandCall('late'), FAR));
    await cluster.time.pass(5);
    assert.ok(late.outcome instanceof Moved);
    answer('done');
    await cluster.time.pass(5);
    assert.equal(taken.outcome, 'done');
    await cluster.time.pass(2_000);
    const later = watch(front.forwarding.call(SHARD, EPOCH, commandCall('later'), FAR));
    await cluster.time.pass(5);
    assert.equal(later.isSettled, false, 'until somebody else is known to own it');
    front.forwarding.cutOffMoved(() => null);
    await cluster.time.pass(5);
    assert.ok(later.outcome instanceof Moved);
  });
});

describe('An owner that answers nothing', () => {
  const openSilent = async () => {
    const pair = await openPair();
    const { cluster, front } = pair;
    const calls = [commandCall('c'), queryCall('s')].map((call) =>
      watch(front.forwarding.call(SHARD, EPOCH, call, cluster.time.stopwatchMs() + 5_000)),
    );
    return { ...pair, calls };
  };

  it('is silent after three seconds, whether nobody listens or nothing comes back, until it answers', async () => {
    for (const lost of ['its calls', 'its answers', 'its subscription']) {
      const { cluster, front, owner } = await openSilent();
      const silent = () => front.forwarding.silentOwner;
      if (lost === 'its subscription') owner.server.close();
      cluster.travel = (_from, to, subject) =>
        (lost === 'its calls' && to === 'owner') || (lost === 'its answers' && subject.includes('reply')) ? null : 1;
      await cluster.time.pass(SILENT_MS - 500);
      assert.equal(silent(), null, lost);
      await cluster.time.pass(1_000);
      assert.deepEqual([silent()?.shard, silent()?.epoch], [SHARD, EPOCH]);
      // Also when no call waits any more.
      await cluster.time.pass(10_000);
      assert.deepEqual([front.forwarding.underWay, silent()?.shard], [0, SHARD]);
      cluster.travel = () => 1;
      owner.server.serve(SHARD, EPOCH);
      await cluster.time.pass(500);
      assert.equal(silent(), null, `${lost} come again`);
    }
  });

  it('is not silent where its log takes long, where this node had no connection, or once another one owns the shard', async () => {
    const slow = await openPair();
    slow.cluster.handle = () => new Promise(() => {});
    const call = watch(slow.front.forwarding.call(SHARD, EPOCH, commandCall('c'), FAR));
    await slow.cluster.time.pass(2 * SILENT_MS);
    assert.deepEqual([call.isSettled, slow.front.forwarding.silentOwner], [false, null]);

    const apart = await openSilent();
    apart.cluster.network.setConnected('front', false);
    await apart.cluster.time.pass(2 * SILENT_MS);
    assert.equal(apart.front.forwarding.silentOwner, null);

    const moved = await openSilent();
    moved.cluster.travel = (_from, to) => (to === 'owner' ? null : 1);
    await moved.cluster.time.pass(2 * SILENT_MS);
    assert.notEqual(moved.front.forwarding.silentOwner, null);
    moved.front.forwarding.cutOffMoved(() => EPOCH + 1);
    assert.equal(moved.front.forwarding.silentOwner, null);
  });
});

describe('Limits', () => {
  it('of the sender: a further call is refused, and nothing has happened', async () => {
    const { cluster, front, taken } = await openPair({ forwardedMax: 10 });
    const calls = numbers(11).map((index) => watch(front.forwarding.call(SHARD, EPOCH, commandCall(`c${index}`), FAR)));
    await cluster.time.pass(5);
    assert.ok(calls[10]!.outcome instanceof Overloaded);
    assert.equal(taken.length, 10);
    const next = watch(front.forwarding.call(SHARD, EPOCH, commandCall('next'), FAR));
    await cluster.time.pass(5);
    assert.deepEqual(next.outcome, { answered: 'next' });
  });

  it('of the owner: a further call is refused, and nothing has happened', async () => {
    const { cluster, front, owner, taken } = await openPair({ servedMax: 10 });
    cluster.handle = (_shard, call) => {
      taken.push(call);
      return new Promise(() => {});
    };
    const calls = numbers(11).map((index) => watch(front.forwarding.call(SHARD, EPOCH, commandCall(`c${index}`), FAR)));
    await cluster.time.pass(5);
    assert.deepEqual([owner.server.underWay, taken.length], [10, 10]);
    const { outcome } = calls[10]!;
    assert.ok(outcome instanceof Overloaded && outcome.retryAfterSeconds >= 1);
  });

  it('of the answers that are kept: the oldest are dropped', async () => {
    const { cluster, front, owner } = await openPair({ keptMax: 10 });
    const calls = numbers(50).map((index) => front.forwarding.call(SHARD, EPOCH, commandCall(`c${index}`), FAR));
    await cluster.time.pass(5);
    await Promise.all(calls);
    for (const index of numbers(10)) {
      void front.forwarding.call(SHARD, EPOCH, commandCall(`d${index}`), FAR);
      await cluster.time.pass(5);
      assert.ok(owner.server.kept <= 50);
    }
    assert.ok(owner.server.kept <= 10);
  });

  it('of time: a call that is not answered is refused at its deadline', async () => {
    const { cluster, front } = await openPair();
    cluster.handle = () => new Promise(() => {});
    const untilMs = cluster.time.stopwatchMs() + 12_000;
    const call = watch(front.forwarding.call(SHARD, EPOCH, commandCall('c'), untilMs));
    await cluster.time.pass(11_900);
    assert.equal(call.isSettled, false);
    await cluster.time.pass(500);
    assert.ok(call.outcome instanceof Overloaded);
    assert.equal(front.forwarding.underWay, 0);
  });
});

describe('A message of somebody else', () => {
  it('that cannot be read is left, and the next one is taken', async () => {
    const { cluster, front } = await openPair();
    const stranger = cluster.network.connect('stranger');
    stranger.publish(`test.cmd.${SHARD}.${EPOCH}`, Buffer.from('{"calls":'), 'test.reply.x');
    stranger.publish(`test.cmd.${SHARD}.${EPOCH}`, Buffer.from('P'), 'test.reply.x');
    stranger.publish(`test.cmd.${SHARD}.${EPOCH}`, Buffer.from('"text"'), 'test.reply.x');
    stranger.publish(`test.reply.front-1.${SHARD}.${EPOCH}`, Buffer.from('x'));
    const call = watch(front.forwarding.call(SHARD, EPOCH, commandCall('c'), FAR));
    await cluster.time.pass(5);
    assert.deepEqual(call.outcome, { answered: 'c' });
  });
});
