/**
 * The connections of a rehearsal: kept open, given to one request at a time, replaced when they break.
 *
 * 1. Requests that find none free wait in order of arrival; how long is part of their latency, not of the generator's
 *    lateness.
 * 2. A server closes connections that were idle for long; such a one is replaced when it is wanted, and nothing is sent
 *    over it.
 */
import { openConnection, type PlayerAnswer, type PlayerConnection, type PlayerRequest } from './connection.ts';

interface Sent {
  readonly answer: PlayerAnswer | null;
  readonly sentAt: number;
  /** Whether a connection was free when it was wanted. */
  readonly wasFree: boolean;
}

export interface Connections {
  /** Sends as soon as a connection is free; an answer of null says that the connection broke. */
  send(request: PlayerRequest): Promise<Sent>;
  close(): void;
}

export async function openConnections(url: string, count: number, now: () => number): Promise<Connections> {
  const all = new Set<PlayerConnection>();
  const free: PlayerConnection[] = [];
  let waiting: ((connection: PlayerConnection) => void)[] = [];
  let head = 0;
  let isClosed = false;
  const open = async (): Promise<PlayerConnection> => {
    const connection = await openConnection(url);
    all.add(connection);
    return connection;
  };
  const release = (connection: PlayerConnection): void => {
    const next = waiting[head];
    if (next === undefined) {
      waiting = [];
      head = 0;
      free.push(connection);
      return;
    }
    head += 1;
    next(connection);
  };
  const replace = async (broken: PlayerConnection): Promise<void> => {
    all.delete(broken);
    broken.close();
    while (!isClosed) {
      const connection = await open().catch(() => null);
      if (connection !== null) return release(connection);
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  };
  /** The free one that was used last (rule 2). */
  const takeFree = (): PlayerConnection | undefined => {
    for (let connection = free.pop(); connection !== undefined; connection = free.pop()) {
      if (connection.isOpen) return connection;
      void replace(connection);
    }
    return undefined;
  };
  free.push(...(await Promise.all(Array.from({ length: count }, open))));
  return {
    async send(request) {
      const taken = takeFree();
      const wasFree = taken !== undefined;
      const connection = taken ?? (await new Promise<PlayerConnection>((resolve) => waiting.push(resolve)));
      const sentAt = now();
      try {
        const answer = await connection.send(request);
        release(connection);
        return { answer, sentAt, wasFree };
      } catch {
        void replace(connection);
        return { answer: null, sentAt, wasFree };
      }
    },
    close() {
      isClosed = true;
      for (const connection of all) connection.close();
    },
  };
}

const RECONNECT_MS = 50;
