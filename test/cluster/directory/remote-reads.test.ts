/** Public views of events elsewhere: asked rarely, never older than a second, and new at once after a notice. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryNetwork } from '#cluster/calls/memory-bus.ts';
import { Notices } from '#cluster/calls/notices.ts';
import { FRESH_MS, RemoteReads, REMEMBERED_MAX } from '#cluster/directory/remote-reads.ts';
import type { Query } from '#domain/event/query.ts';
import { VirtualTime } from '../virtual-time.ts';
import { fc } from '../../property.ts';

const payload = (knownRevision: string | null): Query => ({
  type: 'ReadPayload',
  performanceId: null,
  sessionKey: null,
  knownRevision,
});

/** An owner whose event has a revision, and what this node asks of it. */
function open() {
  let now = 0;
  const reads = new RemoteReads({ stopwatchMs: () => now });
  const owner = { revision: 'r1', asked: 0, arrived: Promise.resolve() };
  const ask = (query: Query) => async (): Promise<unknown> => {
    owner.asked += 1;
    const known = 'knownRevision' in query ? query.knownRevision : null;
    const { revision } = owner;
    await owner.arrived;
    return known === revision ? { outcome: 'UNCHANGED' } : { revision };
  };
  return {
    owner,
    reads,
    pass: (ms: number) => void (now += ms),
    read: (query: Query, eventId = 'evt') =>
      reads.read(eventId, query, ask(query)) as Promise<{ readonly outcome?: string; readonly revision?: string }>,
  };
}

describe('A public view of an event elsewhere', () => {
  it('is asked for once a second, as long as nothing changes', async () => {
    const { owner, read, pass } = open();
    assert.deepEqual(await read(payload(null)), { revision: 'r1' });
    for (let ms = 0; ms < FRESH_MS; ms += 100) {
      assert.equal((await read(payload('r1'))).outcome, 'UNCHANGED');
      assert.equal(owner.asked, 1);
      pass(100);
    }
    assert.equal((await read(payload('r1'))).outcome, 'UNCHANGED');
    assert.equal(owner.asked, 2);
    pass(FRESH_MS - 1);
    await read(payload('r1'));
    assert.equal(owner.asked, 2);
  });

  it('is asked for after a notice, and before it another event is not', async () => {
    const { owner, reads, read } = open();
    await read(payload(null));
    await read(payload(null), 'evt_other');
    owner.revision = 'r2';
    reads.forget(['evt']);
    assert.equal((await read(payload('r1'))).revision, 'r2');
    assert.equal((await read(payload('r1'), 'evt_other')).outcome, 'UNCHANGED');
    assert.equal(owner.asked, 3);
  });

  it('is asked for by whoever knows another revision, or none', async () => {
    const { owner, read } = open();
    await read(payload(null));
    await read(payload('r0'));
    await read(payload(null));
    assert.equal(owner.asked, 3);
    assert.equal((await read(payload('r1'))).outcome, 'UNCHANGED');
    assert.equal(owner.asked, 3);
  });

  it('is asked for once by many at a time, and again by those who come after a notice', async () => {
    const { owner, reads, read } = open();
    const { promise, resolve } = Promise.withResolvers<void>();
    owner.arrived = promise;
    const first = [read(payload(null)), read(payload(null))];
    assert.equal(owner.asked, 1);
    owner.revision = 'r2';
    reads.forget(['evt']);
    const second = [read(payload(null)), read(payload(null))];
    assert.equal(owner.asked, 2);
    resolve();
    assert.deepEqual(await Promise.all(first), [{ revision: 'r1' }, { revision: 'r1' }]);
    assert.deepEqual(await Promise.all(second), [{ revision: 'r2' }, { revision: 'r2' }]);
    // What was asked before the notice is not taken for fresh.
    assert.equal((await read(payload('r1'))).revision, 'r2');
    assert.equal((await read(payload('r2'))).outcome, 'UNCHANGED');
    assert.equal(owner.asked, 3);
  });

  it('counts its second from the question, however late the answer is', async () => {
    const { owner, read, pass } = open();
    const { promise, resolve } = Promise.withResolvers<void>();
    owner.arrived = promise;
    const reading = read(payload(null));
    pass(FRESH_MS);
    resolve();
    await reading;
    await read(payload('r1'));
    assert.equal(owner.asked, 2);
  });

  it('of one session is always asked for', async () => {
    const { owner, read } = open();
    const own: Query = { type: 'ReadPayload', performanceId: null, sessionKey: 's', knownRevision: 'r1' };
    for (let times = 0; times < 3; times += 1) await read(own);
    const hold: Query = { type: 'FindHold', holdId: 'h', sessionKey: 's' };
    for (let times = 0; times < 3; times += 1) await read(hold);
    assert.equal(owner.asked, 6);
  });

  it('that could not be read is asked for again', async () => {
    const { reads } = open();
    const fail = (): Promise<unknown> => Promise.reject(new Error('no owner'));
    await assert.rejects(reads.read('evt', payload(null), fail), /no owner/);
    assert.deepEqual(await reads.read('evt', payload(null), () => Promise.resolve({ revision: 'r1' })), {
      revision: 'r1',
    });
    const refusal = { outcome: 'REFUSED', code: 'EVENT_NOT_FOUND' };
    assert.equal(await reads.read('evt', payload('r9'), () => Promise.resolve(refusal)), refusal);
    assert.deepEqual(await reads.read('evt', payload('r9'), () => Promise.resolve({ revision: 'r1' })), {
      revision: 'r1',
    });
  });

  it('is remembered for each view: a layout, the seats of each performance, what changes live', async () => {
    const { owner, read } = open();
    const views: Query[] = [
      payload('r1'),
      { type: 'ReadPayload', performanceId: 'd1', sessionKey: null, knownRevision: 'r1' },
      { type: 'ReadSeating', audience: 'BUYERS', knownRevision: 'r1' },
      { type: 'ReadOccupancy', audience: 'BUYERS', performanceId: 'd1', since: null, knownRevision: 'r1' },
      { type: 'ReadOccupancy', audience: 'BUYERS', performanceId: 'd2', since: null, knownRevision: 'r1' },
      { type: 'ReadLivePerformance', performanceId: 'd1', knownRevision: 'r1' },
    ];
    for (const view of views) await read(view);
    assert.equal(owner.asked, views.length);
    for (const view of views) assert.equal((await read(view)).outcome, 'UNCHANGED');
    assert.equal(owner.asked, views.length);
  });

  it('of changes is asked for each time, once by many at a time', async () => {
    const { owner, read } = open();
    const since = (version: number): Query => ({
      type: 'ReadOccupancy',
      audience: 'BUYERS',
      performanceId: 'd1',
      since: version,
      knownRevision: null,
    });
    await Promise.all([read(since(4)), read(since(4)), read(since(5))]);
    assert.equal(owner.asked, 2);
    await read(since(4));
    assert.equal(owner.asked, 3);
  });

  it('is never older than a second, and no older than the last notice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            what: fc.constantFrom('read', 'read', 'change', 'change and notice'),
            afterMs: fc.integer({ min: 0, max: 700 }),
          }),
          { maxLength: 40 },
        ),
        async (steps) => {
          const { owner, reads, read, pass } = open();
          let [now, known] = [0, null as string | null];
          /** When each revision was replaced, and the revision at the last notice. */
          const replacedAt = new Map<string, number>();
          let noticed = 'r1';
          let changes = 1;
          for (const { what, afterMs } of steps) {
            pass(afterMs);
            now += afterMs;
            if (what === 'read') {
              const answer = await read(payload(known));
              known = answer.revision ?? known;
              const age = now - (replacedAt.get(known!) ?? now);
              assert.ok(age < FRESH_MS, `${known} was replaced ${age} ms ago`);
              assert.ok(Number(known!.slice(1)) >= Number(noticed.slice(1)));
              continue;
            }
            replacedAt.set(owner.revision, now);
            changes += 1;
            owner.revision = `r${changes}`;
            if (what === 'change') continue;
            reads.forget(['evt']);
            noticed = owner.revision;
          }
        },
      ),
    );
  });

  it('is remembered of so many events, of those that were asked last', async () => {
    const { owner, reads, read, pass } = open();
    for (let index = 0; index < REMEMBERED_MAX; index += 1) await read(payload(null), `evt_${index}`);
    pass(FRESH_MS);
    await read(payload('r1'), 'evt_0');
    await read(payload(null), 'evt_new');
    assert.equal(reads.size, REMEMBERED_MAX);
    const { asked } = owner;
    await read(payload('r1'), 'evt_0');
    await read(payload('r1'), 'evt_new');
    assert.equal(owner.asked, asked);
  });
});

describe('Notices', () => {
  function openNodes() {
    const time = new VirtualTime();
    const network = new MemoryNetwork({ later: time.later, travelMs: () => 1 });
    const heard: string[][] = [[], []];
    const [one, two] = ['one', 'two'].map(
      (name, index) =>
        new Notices({ bus: network.connect(name), time, cluster: 'test' }, (ids) => heard[index]!.push(...ids)),
    );
    return { time, network, heard, one: one!, two: two! };
  }

  it('reach every node within 50 ms, the changes of a while in one message', async () => {
    const { time, network, heard, one } = openNodes();
    for (let turn = 0; turn < 500; turn += 1) one.note(`evt_${turn % 3}`);
    await time.pass(52);
    assert.deepEqual(heard, [
      ['evt_0', 'evt_1', 'evt_2'],
      ['evt_0', 'evt_1', 'evt_2'],
    ]);
    assert.equal(network.messages, 1);
    await time.pass(1_000);
    assert.equal(network.messages, 1);
    one.note('evt_0');
    await time.pass(52);
    assert.equal(network.messages, 2);
  });

  it('of very many events take several messages that servers take', async () => {
    const { time, network, heard, two } = openNodes();
    for (let event = 0; event < 12_000; event += 1) two.note(`evt_${event}`);
    await time.pass(60);
    assert.equal(new Set(heard[0]).size, 12_000);
    assert.equal(network.messages, 3);
    assert.ok(network.largestBytes < 1024 * 1024);
  });

  it('that cannot be read are left', async () => {
    const { time, network, heard, one } = openNodes();
    const stranger = network.connect('stranger');
    for (const text of ['', '{', 'null', '[1,"evt_1"]']) stranger.publish('test.notice', Buffer.from(text));
    one.note('evt_2');
    await time.pass(60);
    assert.deepEqual(heard[1], ['evt_1', 'evt_2']);
  });

  it('end with their node', async () => {
    const { time, network, one, two, heard } = openNodes();
    one.note('evt_1');
    one.close();
    two.note('evt_2');
    await time.pass(60);
    assert.deepEqual(heard, [[], ['evt_2']]);
    assert.equal(network.messages, 1);
  });
});
