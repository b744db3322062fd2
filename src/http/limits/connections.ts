/**
 * Connections: how many requests may wait on one, what runs when one is gone, and how all of them end when an app
 * closes.
 *
 * Owns one record for each connection that needs one; the record lives as long as its socket.
 *
 * 1. Requests that wait behind another one on the same connection are limited: one more is answered OVERLOADED, and the
 *    connection closes after that answer. A client that sends still more is cut off.
 * 2. After an answer that closes its connection, nothing on that connection is processed any more (RFC 9112, 9.6).
 * 3. What counts something in use for a client registers with `whenGone`, which also reports a connection that is gone
 *    already. A response that waits behind another one never emits `close`, so its own events are not enough.
 * 4. When an app closes, a change whose request has arrived may wait for a payment provider, and gets more time than a
 *    client that still sends. Afterwards every connection that is left is closed.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApp } from '../protocol/app.ts';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { fail } from '../protocol/errors.ts';

interface Connection {
  /** Requests whose answers wait behind another answer. */
  waiting: number;
  /** Whether the answer under way is the last one on this connection (rule 2). */
  isClosing: boolean;
  /** Few at a time. The tables that a `Set` leaves would make all requests of the connection old. */
  readonly whenGone: (() => void)[];
}

const connections = new WeakMap<Socket, Connection>();

function connectionOf(socket: Socket): Connection {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const connection: Connection = { waiting: 0, isClosing: false, whenGone: [] };
  connections.set(socket, connection);
  // One listener for all: a client may have many requests on a connection.
  socket.once('close', () => {
    for (let tell = connection.whenGone.pop(); tell !== undefined; tell = connection.whenGone.pop()) tell();
  });
  return connection;
}

/**
 * Calls back once when the connection is gone, at once where it is gone already. Returns a function that cancels this
 * and says whether the call was still to come.
 */
export function whenGone(socket: Socket, tell: () => void): () => boolean {
  if (socket.destroyed) {
    tell();
    return () => false;
  }
  const { whenGone: told } = connectionOf(socket);
  told.push(tell);
  return () => {
    const at = told.lastIndexOf(tell);
    if (at >= 0) told.splice(at, 1);
    return at >= 0;
  };
}

/** Says that the answer under way is the last one on its connection (rule 2). */
export function closeAfterAnswer(socket: Socket): void {
  connectionOf(socket).isClosing = true;
}

/**
 * Resolves with true when everything before this response is answered, with false when the connection is gone first.
 */
export function whenItsTurn(response: ServerResponse, socket: Socket): Promise<boolean> {
  if (response.socket !== null) return Promise.resolve(!socket.destroyed);
  return new Promise((resolve) => {
    const forget = whenGone(socket, () => resolve(false));
    response.once('socket', () => {
      forget();
      resolve(!socket.destroyed);
    });
  });
}

/** Makes the check of every request: false when it is not to be processed (rules 1 and 2). */
export function createPipelineBound(waitingMax: number): (request: FastifyRequest, reply: FastifyReply) => boolean {
  return (request, reply) => {
    const response = reply.raw;
    if (response.socket !== null) return true;
    const { socket } = request.raw;
    const connection = connectionOf(socket);
    if (connection.isClosing) {
      reply.hijack();
      socket.destroy();
      return false;
    }
    connection.waiting += 1;
    response.once('finish', () => (connection.waiting -= 1));
    if (connection.waiting <= waitingMax) return true;
    connection.isClosing = true;
    reply.header('connection', 'close').refuse(fail('OVERLOADED'));
    return false;
  };
}

// ── closing ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** For clients that still send or read when the app begins to close. */
const CLIENTS_MS_MAX = 2_500;

/** For changes that are under way; calls to a provider are given up before, so that their answers are out by then. */
const CHANGES_MS_MAX = 6_500;

const LOOK_EVERY_MS = 50;

/** Makes the app close in bounded time; `changesUnderWay` counts handlers that are at work. */
export function closeInTime(app: HttpApp, changesUnderWay: () => number): void {
  app.addHook('preClose', (done) => {
    let waitedMs = 0;
    let wasBusy = true;
    const look = setInterval(() => {
      waitedMs += LOOK_EVERY_MS;
      // The answer of a handler that has just ended is on its way.
      const isBusy = changesUnderWay() > 0;
      const mayWait = waitedMs < CLIENTS_MS_MAX || ((isBusy || wasBusy) && waitedMs < CHANGES_MS_MAX);
      wasBusy = isBusy;
      // Connections whose answer came after the app began to close: their clients would keep them open.
      app.server.closeIdleConnections();
      if (mayWait) return;
      clearInterval(look);
      app.server.closeAllConnections();
    }, LOOK_EVERY_MS);
    look.unref();
    app.server.once('close', () => clearInterval(look));
    done();
  });
}
