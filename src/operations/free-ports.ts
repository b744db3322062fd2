/**
 * Ports of 127.0.0.1, for programs that cannot choose one themselves: free ones, and whether a program listens at one
 * yet.
 *
 * They lie below those that systems give to outgoing connections. One of those may be taken between its choice and its
 * use, and while a program that is to come back to it does not run.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const PORT_MIN = 12_000;
const PORT_MAX = 32_000;

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
}

/** Different ports: each that is wanted, in its place, where it is free. */
export async function freePorts(count: number, wanted: readonly number[] = []): Promise<number[]> {
  const ports = new Set<number>();
  for (let n = 0; n < count; n += 1) {
    let port = wanted[n] ?? randomInt(PORT_MIN, PORT_MAX);
    while (ports.has(port) || !(await isFree(port))) port = randomInt(PORT_MIN, PORT_MAX);
    ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return true;
  } catch {
    return false;
  }
}

export async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
