/** Reading a stream through a consumer, where servers do not yet all know that it was made. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LogUnreachable } from '#persistence/nats/shard-log.ts';
import { StreamReader } from '#persistence/nats/stream-reader.ts';

type Receive = (error: null, message: object) => void;

/** A connection whose server refuses the first requests for messages, as if nobody were there, and then gives all of them. */
function readerOf({ refusals, messages }: { refusals: number; messages: number }) {
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
  const range = { stream: 'stream', fromSeq: 1, lastSeq: messages };
  return { reader: new StreamReader(connection as never, jsm as never, range), asked: () => asked };
}

async function seqsOf(reader: StreamReader): Promise<number[]> {
  const seqs: number[] = [];
  for await (const piece of reader.pieces()) seqs.push(...piece.map(({ seq }) => seq));
  return seqs;
}

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
