/** Reading a stream through a consumer, where servers do not yet all know that it was made. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { LogUnreachable } from '#persistence/shard-log.ts';
import { StreamReader } from '#persistence/nats/stream-reader.ts';
import { until } from '../../fixtures/until.ts';

type Receive = (error: null, message: object) => void;

/**
 * A connection whose server refuses the first requests for messages, as if nobody were there, and then gives all of
 * them.
 */
function readerOf({ refusals, messages, fromSeq = 1 }: { refusals: number; messages: number; fromSeq?: number }) {
  let receive: Receive = () => {};
  let asked = 0;
  const nobodyThere = { data: new Uint8Array(), headers: { code: 503, get: () => '' } };
  const nats = {
    subscribe(_inbox: string, options: { callback: Receive }) {
      receive = options.callback;
      return { unsubscribe: () => {} };
    },
    publish() {
      asked += 1;
      const isRefused = asked <= refusals;
      setImmediate(() => {
        if (isRefused) return receive(null, nobodyThere);
        for (let seq = 1; seq <= messages; seq += 1)
          receive(null, { data: Buffer.from(String(seq)), reply: `$JS.ACK.stream.consumer.1.${seq}.${seq}.0.0` });
      });
    },
  };
  const connection = { nats, onConnection: () => () => {} };
  const jsm = { consumers: { add: () => Promise.resolve({ name: 'consumer' }), delete: () => Promise.resolve(true) } };
  const range = { stream: 'stream', fromSeq, lastSeq: messages };
  const lastSeq = () => Promise.resolve(messages);
  return { reader: new StreamReader(connection as never, jsm as never, range, lastSeq), asked: () => asked };
}

async function seqsOf(reader: StreamReader): Promise<number[]> {
  const seqs: number[] = [];
  for await (const piece of reader.pieces()) seqs.push(...piece.map(({ seq }) => seq));
  return seqs;
}

/**
 * A connection whose server has the first messages alone and sends heartbeats, while the leader has more; the time of
 * the reader's stopwatch passes by itself.
 */
function readerOfLagging(
  t: TestContext,
  { there, lastSeq, leader }: { there: number; lastSeq: number; leader: number },
) {
  let receive: Receive = () => {};
  let elapsedMs = 0;
  t.mock.method(process.hrtime, 'bigint', () => BigInt(Math.round(elapsedMs * 1e6)));
  const heartbeat = { data: new Uint8Array(), headers: { code: 100, get: () => '' } };
  let heartbeats: NodeJS.Timeout | undefined;
  const nats = {
    subscribe(_inbox: string, options: { callback: Receive }) {
      receive = options.callback;
      return { unsubscribe: () => clearInterval(heartbeats) };
    },
    publish() {
      setImmediate(() => {
        for (let seq = 1; seq <= there; seq += 1)
          receive(null, { data: Buffer.from(String(seq)), reply: `$JS.ACK.stream.consumer.1.${seq}.${seq}.0.0` });
      });
      heartbeats ??= setInterval(() => {
        elapsedMs += 1_000;
        receive(null, heartbeat);
      }, 1);
    },
  };
  const connection = { nats, onConnection: () => () => {} };
  const jsm = { consumers: { add: () => Promise.resolve({ name: 'consumer' }), delete: () => Promise.resolve(true) } };
  const range = { stream: 'stream', fromSeq: 1, lastSeq };
  const reader = new StreamReader(connection as never, jsm as never, range, () => Promise.resolve(leader));
  return { reader, elapsedMs: () => elapsedMs };
}

describe('A consumer at a replica that is behind', () => {
  it('may begin before the message that was asked for: what the caller has is left out', async () => {
    const { reader } = readerOf({ refusals: 0, messages: 9, fromSeq: 7 });
    assert.deepEqual(await seqsOf(reader), [7, 8, 9]);
  });

  it('is given up when a message of its range does not come', async (t) => {
    const { reader, elapsedMs } = readerOfLagging(t, { there: 3, lastSeq: 9, leader: 9 });
    await assert.rejects(seqsOf(reader), /does not send message 4/);
    assert.ok(elapsedMs() < 10_000, `after ${elapsedMs()} ms`);
  });

  it('is given up when what the leader had some seconds ago does not come', async (t) => {
    const { reader, elapsedMs } = readerOfLagging(t, { there: 3, lastSeq: Infinity, leader: 4 });
    await assert.rejects(seqsOf(reader), /does not send message 4/);
    assert.ok(elapsedMs() < 15_000, `after ${elapsedMs()} ms`);
  });

  it('is followed for as long as there is nothing more', async (t) => {
    const { reader, elapsedMs } = readerOfLagging(t, { there: 3, lastSeq: Infinity, leader: 3 });
    const end = new AbortController();
    const seqs: number[] = [];
    const following = (async () => {
      for await (const piece of reader.pieces(end.signal)) seqs.push(...piece.map(({ seq }) => seq));
    })();
    await until(() => elapsedMs() > 60_000);
    end.abort();
    await following;
    assert.deepEqual(seqs, [1, 2, 3]);
  });
});

describe('A consumer that the server of this connection does not know yet', () => {
  it('is asked again, and read from its first message', async () => {
    const { reader, asked } = readerOf({ refusals: 3, messages: 3 });
    assert.deepEqual(await seqsOf(reader), [1, 2, 3]);
    assert.equal(asked(), 4);
  });

  it('is given up after many refusals', async () => {
    const { reader } = readerOf({ refusals: Infinity, messages: 3 });
    await assert.rejects(seqsOf(reader), LogUnreachable);
  });
});
