/**
 * What a node refuses of its servers, told by a socket that speaks as much of their protocol as a client needs to
 * connect.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import { until } from '../fixtures/until.ts';
import { connectToServers, ServersRefused, StreamQuestions } from '#persistence/nats/connection.ts';
import { LogUnreachable } from '#persistence/shard-log.ts';

interface Told {
  readonly version?: string;
  readonly jetstream?: boolean;
  readonly max_payload?: number;
  /** Addresses of further servers. */
  readonly connect_urls?: readonly string[];
}

/** A server that says this of itself and takes every client. */
class TellingServer {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  told: Told;

  constructor(told: Told) {
    this.told = told;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  async listen(t: TestContext): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    t.after(() => {
      this.#server.close();
      this.disconnect();
    });
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get isConnected(): boolean {
    return this.#sockets.size > 0;
  }

  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    const good = { version: '2.10.27', jetstream: true, max_payload: 8 * 1024 * 1024 };
    const told = { server_id: 'S', server_name: 'told', proto: 1, headers: true, ...good, ...this.told };
    socket.write(`INFO ${JSON.stringify(told)}\r\n`);
    socket.on('data', (data) => {
      for (const _ of data.toString('latin1').matchAll(/PING\r\n/g)) socket.write('PONG\r\n');
    });
  }
}

function connectTo(address: string): ReturnType<typeof connectToServers> {
  return connectToServers({ servers: [`nats://${address}`] }, { name: 'test', signal: AbortSignal.timeout(60_000) });
}

async function assertRefused(t: TestContext, told: Told, reason: RegExp): Promise<void> {
  const address = await new TellingServer(told).listen(t);
  await assert.rejects(
    connectTo(address),
    (error) => error instanceof ServersRefused && reason.test(`${error.message} ${error.hint}`),
  );
}

describe('A connection to NATS servers', () => {
  it('is refused where the server is too old, has no JetStream, or takes small messages only', async (t) => {
    await assertRefused(t, { version: '2.10.22' }, /version 2\.10\.22.*Update all NATS servers to 2\.10\.23/);
    await assertRefused(t, { jetstream: false }, /JetStream is off.*sync_interval: always/);
    await assertRefused(t, { max_payload: 1024 * 1024 }, /messages of 1048576 bytes.*max_payload: 8MB/);
  });

  it('is refused where another server that this one names is too old, and not where that one is away', async (t) => {
    const old = await new TellingServer({ version: '2.9.25' }).listen(t);
    await assertRefused(t, { connect_urls: [old] }, /2\.9\.25/);
    const alone = await new TellingServer({ connect_urls: ['127.0.0.1:1'] }).listen(t);
    const connection = await connectTo(alone);
    assert.equal(connection.isConnected, true);
    await connection.close();
  });

  it('is none while its server came back as one that is too old', async (t) => {
    const server = new TellingServer({});
    const connection = await connectTo(await server.listen(t));
    t.after(() => connection.close());
    const changes: boolean[] = [];
    connection.onConnection((isConnected) => changes.push(isConnected));
    server.told = { version: '2.9.25' };
    server.disconnect();
    await until(() => changes.length === 1);
    await until(() => server.isConnected);
    await assert.rejects(connection.untilLost(Promise.resolve('an answer')), /no connection/);
    server.told = {};
    await until(() => changes.length === 2);
    assert.deepEqual(changes, [false, true]);
    assert.equal(await connection.untilLost(Promise.resolve('an answer')), 'an answer');
  });
});

describe('A question about a stream', () => {
  const refused = (code: number): Promise<never> =>
    Promise.reject(new JetStreamApiError({ code: 503, err_code: code, description: `refused with ${code}` }));

  async function questions(t: TestContext): Promise<StreamQuestions> {
    const connection = await connectTo(await new TellingServer({}).listen(t));
    t.after(() => connection.close());
    return new StreamQuestions(connection, await jetstreamManager(connection.nats, { checkAPI: false }), 'S');
  }

  it('is asked again while a server knows no leader of it, for two seconds, and not when it is refused for anything else', async (t) => {
    const asked = await questions(t);
    let tries = 0;
    const answer = await asked.answered(async () => ((tries += 1) < 4 ? refused(10_008) : 'the answer'));
    assert.deepEqual([answer, tries], ['the answer', 4]);
    tries = 0;
    const startMs = performance.now();
    await assert.rejects(
      asked.answered(() => ((tries += 1), refused(10_008))),
      LogUnreachable,
    );
    assert.ok(tries > 4 && performance.now() - startMs > 1_990, `${tries} tries`);
    tries = 0;
    await assert.rejects(
      asked.answered(() => ((tries += 1), refused(10_059))),
      LogUnreachable,
    );
    assert.equal(tries, 1);
  });
});
