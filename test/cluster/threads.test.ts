/** Nodes of a cluster whose buyers are answered by threads of their own: calls cross two threads and two nodes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeOf, shardOf } from '#cluster/directory/placement.ts';
import { clientOf, HOLDS, newSession, type Json } from '../fixtures/client.ts';
import { openCluster } from '../fixtures/cluster.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { nats } from '../fixtures/nats.ts';
import { connectRaw } from '../fixtures/raw-socket.ts';
import { until } from '../fixtures/until.ts';

const CLOSING = { connection: 'close' };
const HOLDS_COUNTED =
  /^http_request_duration_seconds_count\{method="POST",route="\/api\/checkout\/holds",status="2xx"\} (\d+)$/m;

describe('Nodes with HTTP_THREADS=2', { skip: nats.missing }, () => {
  it('sell events that other nodes own, tell what changed live, and show their threads', async (t) => {
    const cluster = await openCluster({ environment: { HTTP_THREADS: '2' } });
    t.after(() => cluster.close());
    await cluster.define(clubNight());
    const states = () => cluster.services.map(({ engine }) => engine.state().cluster!);
    const shard = shardOf('evt_club', states()[0]!.shards.length);
    const names = states().map(({ nodeName }) => nodeName);
    const owner = placeOf(shard, names);
    await until(() => states().every(({ shards }) => shards[shard]!.owner === owner));
    const index = names.findIndex((name) => name !== owner);
    const service = cluster.services[index]!;
    const publicUrl = cluster.publicUrls[index]!;
    const node = clientOf([publicUrl], [service.adminUrl], service.adminToken);
    const forwarded = (): number => service.engine.state().cluster!.forwarded;
    const before = forwarded();

    // The id of a message counts at every thread of every node.
    const live = connectRaw(publicUrl);
    t.after(() => live.socket.destroy());
    const LIVE = 'GET /api/events/public/club-night/live HTTP/1.1\r\nHost: x\r\n';
    live.write(`${LIVE}\r\n`);
    const [, id] = /^id: (.*)$/m.exec(await live.receives('event: snapshot'))!;

    const threads = new Set<string>();
    const holds: { readonly id: string; readonly sessionKey: string }[] = [];
    while (holds.length < 12 || threads.size < 2) {
      const sessionKey = newSession();
      const body = { event_id: 'evt_club', session_key: sessionKey, items: [floor(1)] };
      const { status, headers, body: hold } = await node.post<Json>(HOLDS, body, CLOSING);
      assert.equal(status, 201);
      threads.add(headers.get('x-request-id')!.split('-')[0]!);
      holds.push({ id: String(hold['id']), sessionKey });
    }
    assert.ok(forwarded() - before >= holds.length, 'this node does not own the event');
    for (const { id: holdId, sessionKey } of holds) {
      const { body } = await cluster.call<Json>('GET', `${HOLDS}/${holdId}`, { sessionKey, headers: CLOSING });
      assert.equal(body['status'], 'ACTIVE');
    }

    for (const url of cluster.publicUrls) {
      const resumed = connectRaw(url);
      t.after(() => resumed.socket.destroy());
      resumed.write(`${LIVE}Last-Event-ID: ${id}\r\n\r\n`);
      assert.match(await resumed.receives(`"reserved":${holds.length}`), /event: change/, url);
    }

    const metric = async (line: RegExp): Promise<number> =>
      Number(line.exec((await node.admin.get<string>('/metrics')).body)?.[1]);
    await until(async () => (await metric(HOLDS_COUNTED)) === holds.length);
    assert.equal(await metric(/^holdfast_http_threads (\d+)$/m), 2);
    await service.threads!.kill(0);
    await until(() => service.threads!.running === 1);
    const ready = await node.operate<Json>('GET', '/health/ready');
    assert.deepEqual([ready.status, ready.body['degraded']], [200, ['thread:0']]);
    await until(() => service.threads!.running === 2);
    assert.deepEqual((await node.get<Json>('/health/ready', CLOSING)).body, { status: 'ok', node: names[index] });
  });
});
