/**
 * The part of the Redis protocol that the baseline needs: commands are written on one connection as they come, many in
 * a packet, and answers come back in their order. Simple strings, errors, integers and bulk strings are read.
 */
import { once } from 'node:events';
import { connect } from 'node:net';

type RedisAnswer = string | number | null;

interface Redis {
  command(...words: readonly string[]): Promise<RedisAnswer>;
}

/** An answer, and the offset of the next one. */
type Read = { readonly answer: RedisAnswer | Error; readonly next: number } | null;

export async function openRedis(port: number): Promise<Redis> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  const pending: PromiseWithResolvers<RedisAnswer>[] = [];
  let rest = '';
  let outgoing = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    rest += chunk;
    let at = 0;
    for (let read = readAnswer(rest, at); read !== null; read = readAnswer(rest, at)) {
      const waiting = pending.shift();
      if (read.answer instanceof Error) waiting?.reject(read.answer);
      else waiting?.resolve(read.answer);
      at = read.next;
    }
    rest = rest.slice(at);
  });
  return {
    command(...words) {
      if (outgoing === '') {
        setImmediate(() => {
          socket.write(outgoing);
          outgoing = '';
        });
      }
      outgoing += `*${words.length}\r\n`;
      for (const word of words) outgoing += `$${Buffer.byteLength(word)}\r\n${word}\r\n`;
      const answer = Promise.withResolvers<RedisAnswer>();
      pending.push(answer);
      return answer.promise;
    },
  };
}

function readAnswer(text: string, at: number): Read {
  const lineEnd = text.indexOf('\r\n', at);
  if (lineEnd === -1) return null;
  const line = text.slice(at + 1, lineEnd);
  const next = lineEnd + 2;
  switch (text[at]) {
    case '+':
      return { answer: line, next };
    case '-':
      return { answer: new Error(line), next };
    case ':':
      return { answer: Number(line), next };
    case '$': {
      const length = Number(line);
      if (length === -1) return { answer: null, next };
      if (text.length < next + length + 2) return null;
      return { answer: text.slice(next, next + length), next: next + length + 2 };
    }
    default:
      throw new Error(`unknown answer of Redis: ${text.slice(at, lineEnd)}`);
  }
}
