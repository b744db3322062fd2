import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openConnections } from '#rehearsal/player/connections.ts';
import { openConnection } from '#rehearsal/player/connection.ts';
import { until } from '../fixtures/until.ts';

async function startServer(t: TestContext) {
  const server = createServer((request, response) => {
    response.setHeader('content-length', request.url!.length).end(request.url);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const connectionCount = promisify(server.getConnections.bind(server));
  /** Closes the connections on which nothing is under way, as a server does after a while. */
  const closeIdle = async (): Promise<void> => {
    server.closeIdleConnections();
    await until(async () => (await connectionCount()) === 0);
    // The other ends are in this process as well, and hear of it a moment later.
    await pause(50);
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, closeIdle };
}

const get = (path: string) => ({ method: 'GET', path }) as const;

describe('The connections of a rehearsal', () => {
  it('are replaced where the server closed them because they were idle, and no request waits for ever', async (t) => {
    const { url, closeIdle } = await startServer(t);
    const connections = await openConnections(url, 3, () => performance.now());
    t.after(() => connections.close());
    for (const round of ['/first', '/second']) {
      const sent = await Promise.all(Array.from({ length: 5 }, (_, n) => connections.send(get(`${round}/${n}`))));
      assert.deepEqual(
        sent.map(({ answer }) => answer?.body),
        Array.from({ length: 5 }, (_, n) => `${round}/${n}`),
      );
      await closeIdle();
    }
    const { answer, wasFree } = await connections.send(get('/third'));
    assert.deepEqual([answer?.body, wasFree], ['/third', false]);
  });
});

describe('A connection', () => {
  it('that was closed says so, and rejects what is sent over it', async (t) => {
    const { url, closeIdle } = await startServer(t);
    const connection = await openConnection(url);
    assert.equal((await connection.send(get('/once'))).body, '/once');
    await closeIdle();
    assert.equal(connection.isOpen, false);
    await assert.rejects(connection.send(get('/again')), /closed/);
  });
});
