/** The bus in memory behaves as the one on real servers: subjects, order, nobody there, and connections that break. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryNetwork } from '#cluster/calls/memory-bus.ts';
import { VirtualTime } from '../virtual-time.ts';
import type { Bus, BusMessage } from '#cluster/calls/bus.ts';

type Travel = (from: string, to: string, subject: string) => number | null;

function open(travel: Travel = () => 1): { readonly time: VirtualTime; readonly network: MemoryNetwork } {
  const time = new VirtualTime();
  return { time, network: new MemoryNetwork({ later: time.later, travelMs: travel }) };
}

const bytes = (text: string): Buffer => Buffer.from(text);

/** What comes by a subject, as texts. */
function listen(bus: Bus, subject: string): string[] {
  const heard: string[] = [];
  bus.subscribe(subject, ({ data }) => heard.push(Buffer.from(data).toString()));
  return heard;
}

describe('The bus in memory', () => {
  it('delivers to everybody who listens to the subject, the sender too', async () => {
    const { time, network } = open();
    const [a, b] = [network.connect('a'), network.connect('b')];
    const heard = [listen(a, 'x.y'), listen(b, 'x.y'), listen(b, 'x.>'), listen(b, 'x.z'), listen(b, 'x.y.>')];
    a.publish('x.y', bytes('1'));
    await time.pass(5);
    assert.deepEqual(heard, [['1'], ['1'], ['1'], [], []]);
  });

  it('delivers longer subjects to those who listen to their beginning', async () => {
    const { time, network } = open();
    const [a, b] = [network.connect('a'), network.connect('b')];
    const heard = [listen(b, 'x.>'), listen(b, 'x.y.>'), listen(b, 'x.y')];
    a.publish('x.y.z', bytes('1'));
    a.publish('xx.y', bytes('2'));
    await time.pass(5);
    assert.deepEqual(heard, [['1'], ['1'], []]);
  });

  it('delivers nothing after a subscription ended', async () => {
    const { time, network } = open();
    const [a, b] = [network.connect('a'), network.connect('b')];
    const heard: BusMessage[] = [];
    const end = b.subscribe('x', (message) => heard.push(message));
    a.publish('x', bytes('1'));
    end();
    await time.pass(5);
    assert.deepEqual(heard, []);
  });

  it('keeps the order of each sender, however late its messages are', async () => {
    const delays = [50, 1, 20, 1];
    const { time, network } = open(() => delays.shift() ?? 1);
    const [a, b] = [network.connect('a'), network.connect('b')];
    const heard = listen(b, 'x');
    for (const text of ['1', '2', '3', '4']) a.publish('x', bytes(text));
    await time.pass(30);
    assert.deepEqual(heard, []);
    await time.pass(30);
    assert.deepEqual(heard, ['1', '2', '3', '4']);
  });

  it('tells a sender who wants an answer that nobody listens, and says nothing where somebody does', async () => {
    const { time, network } = open();
    const [a, b] = [network.connect('a'), network.connect('b')];
    const answers: BusMessage[] = [];
    a.subscribe('inbox.>', (message) => answers.push(message));
    a.publish('x', bytes('1'), 'inbox.1');
    a.publish('x', bytes('without'));
    await time.pass(5);
    assert.deepEqual(
      answers.map(({ subject, isNobodyThere, data }) => [subject, isNobodyThere, data.length]),
      [['inbox.1', true, 0]],
    );
    listen(b, 'x');
    a.publish('x', bytes('2'), 'inbox.2');
    await time.pass(5);
    assert.equal(answers.length, 1);
    network.kill('b');
    a.publish('x', bytes('3'), 'inbox.3');
    await time.pass(5);
    assert.deepEqual([answers.at(-1)?.subject, answers.at(-1)?.isNobodyThere], ['inbox.3', true]);
  });

  it('loses what is sent while a connection is broken, on its way to it too, and tells its node', async () => {
    const { time, network } = open();
    const [a, b] = [network.connect('a'), network.connect('b')];
    const heard = listen(b, 'x');
    const changes: boolean[] = [];
    b.onConnection((isConnected) => changes.push(isConnected));
    a.publish('x', bytes('on its way'));
    network.setConnected('b', false);
    a.publish('x', bytes('meanwhile'));
    b.publish('x', bytes('from there'));
    await time.pass(5);
    assert.equal(b.isConnected, false);
    network.setConnected('b', true);
    await time.pass(5);
    a.publish('x', bytes('afterwards'));
    await time.pass(5);
    assert.deepEqual(heard, ['afterwards']);
    assert.deepEqual(changes, [false, true]);
  });

  it('loses what goes one way while that is cut', async () => {
    const { time, network } = open();
    const [a, b] = [network.connect('a'), network.connect('b')];
    const heard = [listen(a, 'x'), listen(b, 'x')];
    network.cut('a', 'b');
    a.publish('x', bytes('a'));
    b.publish('x', bytes('b'));
    await time.pass(5);
    network.heal();
    a.publish('x', bytes('healed'));
    await time.pass(5);
    assert.deepEqual(heard, [
      ['a', 'b', 'healed'],
      ['b', 'healed'],
    ]);
  });

  it('keeps what is sent to a paused node until it goes on', async () => {
    const { time, network } = open();
    const [a, b] = [network.connect('a'), network.connect('b')];
    const heard = listen(b, 'x');
    network.pause('b');
    for (const text of ['1', '2']) a.publish('x', bytes(text));
    await time.pass(5_000);
    assert.deepEqual(heard, []);
    network.resume('b');
    assert.deepEqual(heard, ['1', '2']);
  });

  it('loses single messages where the test says so', async () => {
    const { time, network } = open((_from, _to, subject) => (subject === 'lost' ? null : 1));
    const [a, b] = [network.connect('a'), network.connect('b')];
    const heard = [listen(b, 'lost'), listen(b, 'kept')];
    a.publish('lost', bytes('1'));
    a.publish('kept', bytes('2'));
    await time.pass(5);
    assert.deepEqual(heard, [[], ['2']]);
  });
});
