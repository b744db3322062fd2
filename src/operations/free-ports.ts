/**
 * Ports of 127.0.0.1, for programs that cannot choose one themselves: free ones, and whether a program listens at one
 * yet.
 *
 * 1. They lie below those that systems give to outgoing connections. One of those may be taken between its choice and
 *    its use, or while the program that uses it again does not run.
 * 2. For the same reason processes that choose ports at the same time choose from different ones, and a process gives a
 *    port again only after all others of its own.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const PORT_MIN = 12_000;
/** Processes of a machine that run at the same time have numbers near each other. */
const PROCESSES = 200;
const PORTS_EACH = 100;

let chosen = 0;

/** Rule 2. */
function nextPort(): number {
  const port = PORT_MIN + (process.pid % PROCESSES) * PORTS_EACH + (chosen % PORTS_EACH);
  chosen += 1;
  return port;
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
}

/** Different ports; a wanted port stands in its place where it is free. */
export async function freePorts(count: number, wanted: readonly number[] = []): Promise<number[]> {
  const ports = new Set<number>();
  for (let n = 0; n < count; n += 1) {
    let port = wanted[n] ?? nextPort();
    while (ports.has(port) || !(await isFree(port))) port = nextPort();
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
