/** Clients that write bytes themselves: what no client library would send, or would not send like that. */
import { connect, type Socket } from 'node:net';
import type { House } from './harness.ts';

/** A connection that shows what came back so far. */
export interface RawClient {
  readonly socket: Socket;
  /** Everything that was received. */
  text(): string;
  write(bytes: string): void;
  /** Resolves with the text once the words have come so many times; rejects when the connection closes first. */
  receives(words: string, times?: number): Promise<string>;
  /** Resolves with the text once the connection is closed, however. */
  closed(): Promise<string>;
}

export function connectRaw(url: string, options: { readonly allowHalfOpen?: boolean } = {}): RawClient {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ port: Number(port), host, ...options });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (piece: string) => (text += piece));
  // How a connection ends is the test's business, which looks at `closed`.
  socket.on('error', () => {});
  return {
    socket,
    text: () => text,
    write: (bytes) => void socket.write(bytes),
    receives(words, times = 1) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          if (text.split(words).length <= times) return;
          socket.off('data', look);
          resolve(text);
        };
        socket.on('data', look);
        void closed.then(() => reject(new Error(`the connection was closed before ${words} came: ${text}`)));
        look();
      });
    },
    closed: () => closed.then(() => text),
  };
}

/** A request as its bytes. */
export function bytesOf(method: string, path: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  return [`${method} ${path} HTTP/1.1`, 'Host: x', ...length, ...headers, '', body].join('\r\n');
}

/** What clients take up now, by name, as the metrics show it. */
export async function inUse(house: Pick<House, 'adminUrl'>): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${house.adminUrl}/metrics`)).text();
  const lines = text.matchAll(/^holdfast_in_use\{what="(\w+)"\} (\S+)$/gm);
  return Object.fromEntries(Array.from(lines, ([, what, count]) => [what, Number(count)]));
}

const WAIT_MS_MAX = 20_000;

/** Waits until what is in use is as asked; answers what is in use then, or when waiting was in vain. */
export async function inUseOnce(
  house: Pick<House, 'adminUrl'>,
  isReached: (counts: Readonly<Record<string, number>>) => boolean,
): Promise<Readonly<Record<string, number>>> {
  const late = Date.now() + WAIT_MS_MAX;
  for (;;) {
    const counts = await inUse(house);
    if (isReached(counts) || Date.now() > late) return counts;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What is still in use when every client is gone; all zero, or something leaks. */
export function inUseAtRest(house: Pick<House, 'adminUrl'>): Promise<Readonly<Record<string, number>>> {
  return inUseOnce(house, (counts) => Object.values(counts).every((count) => count === 0));
}

export const NOTHING_IN_USE = {
  live_streams: 0,
  changes_under_way: 0,
  claims_at_work: 0,
  claims_in_line: 0,
  provider_calls: 0,
  provider_calls_waiting: 0,
} as const;
