/**
 * One connection that speaks just enough HTTP/1.1 for the own guns: a request, its answer, the next request.
 *
 * Where a load must be exact in time or walk from answer to answer, a full client would take more of the shared processor
 * than the server that is measured. Answers carry a length, as all of the service's JSON does; another answer is an error.
 */
import { connect } from 'node:net';
import { once } from 'node:events';

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface Wire {
  /** Sends a request and waits for its answer; the one before must have been answered. */
  ask(request: Request): Promise<Answer>;
  close(): void;
}

interface Head {
  readonly status: number;
  readonly bodyFrom: number;
  readonly end: number;
}

const NOTHING = Buffer.alloc(0);

export async function openWire(url: string): Promise<Wire> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  let received: Buffer = NOTHING;
  let head: Head | null = null;
  let asked: PromiseWithResolvers<Answer> | null = null;
  const fail = (why: string): void => {
    asked?.reject(new Error(why));
    socket.destroy();
  };
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    try {
      head ??= readHead(received);
    } catch (error) {
      return fail(String(error));
    }
    if (head === null || received.length < head.end) return;
    const answer = { status: head.status, body: received.toString('utf8', head.bodyFrom, head.end) };
    received = NOTHING;
    head = null;
    asked?.resolve(answer);
  });
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('the connection was closed'));
  return {
    ask(request) {
      asked = Promise.withResolvers<Answer>();
      socket.write(textOf(host, request));
      return asked.promise;
    },
    close: () => socket.destroy(),
  };
}

function textOf(host: string, { method, path, headers, body }: Request): string {
  let text = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n`;
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  if (body === undefined) return `${text}\r\n`;
  return `${text}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function readHead(received: Buffer): Head | null {
  const bodyAt = received.indexOf('\r\n\r\n');
  if (bodyAt === -1) return null;
  const text = received.toString('latin1', 0, bodyAt);
  const status = Number(text.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? (status === 304 || status === 204 ? '0' : null);
  if (length === null) throw new Error(`an answer without a length: ${text}`);
  return { status, bodyFrom: bodyAt + 4, end: bodyAt + 4 + Number(length) };
}
