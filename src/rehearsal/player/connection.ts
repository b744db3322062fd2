/**
 * An HTTP/1.1 connection with as little work as possible: a request, its answer, the next request.
 *
 * Some load generators need exact times or requests that depend on answers; a complete HTTP client would take more
 * processor time than the measured server. An answer must have a content-length, as all JSON of the service has.
 */
import { connect } from 'node:net';
import { once } from 'node:events';

export interface PlayerRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface PlayerAnswer {
  readonly status: number;
  /** Status line and headers. */
  readonly head: string;
  readonly body: string;
}

export interface PlayerConnection {
  /** False once it broke, or the server closed it because it was idle. */
  readonly isOpen: boolean;
  /**
   * Sends a request and waits for its answer; the request before must be answered. Rejects when the connection is
   * closed.
   */
  send(request: PlayerRequest): Promise<PlayerAnswer>;
  close(): void;
}

interface Head {
  readonly status: number;
  readonly text: string;
  readonly bodyFrom: number;
  readonly end: number;
}

const NOTHING = Buffer.alloc(0);

export async function openConnection(url: string): Promise<PlayerConnection> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  let received: Buffer = NOTHING;
  let head: Head | null = null;
  let pending: PromiseWithResolvers<PlayerAnswer> | null = null;
  const fail = (why: string): void => {
    pending?.reject(new Error(why));
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
    const answer = { status: head.status, head: head.text, body: received.toString('utf8', head.bodyFrom, head.end) };
    received = NOTHING;
    head = null;
    pending?.resolve(answer);
  });
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('the connection was closed'));
  return {
    get isOpen() {
      return !socket.destroyed && !socket.readableEnded;
    },
    send(request) {
      // No event would come of a socket that is closed already.
      if (socket.destroyed) return Promise.reject(new Error('the connection was closed'));
      pending = Promise.withResolvers<PlayerAnswer>();
      socket.write(textOf(host, request));
      return pending.promise;
    },
    close: () => socket.destroy(),
  };
}

function textOf(host: string, { method, path, headers, body }: PlayerRequest): string {
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
  return { status, text, bodyFrom: bodyAt + 4, end: bodyAt + 4 + Number(length) };
}
