/**
 * An event whose facts cannot be replayed is refused for itself alone: everything else is served, operators are told,
 * and no live stream of it ends the process.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import { HOLDS, newSession, type Json } from '../fixtures/client.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { openService, type TestService } from '../fixtures/service.ts';
import { assertOverloaded } from './calls.ts';
import { until } from '../fixtures/until.ts';

const nights = (count: number): Json[] =>
  Array.from({ length: count }, (_, n) => clubNight({ id: `evt_${n}`, slug: `night-${n}` }) as Json);

/** A fact that follows on nothing: no version of the code can replay it. */
const unreplayable = (eventId: string) => ({
  eventId,
  at: Date.UTC(2027, 4, 8, 12),
  facts: [{ type: 'HoldReleased', data: JSON.stringify({ holdId: 'hld_nobody' }) }],
});

async function openNights(
  t: TestContext,
  count: number,
  environment: Record<string, string> = {},
): Promise<TestService> {
  const service = await openService({ environment });
  t.after(() => service.close());
  for (const definition of nights(count)) await service.define(definition);
  return service;
}

async function holdAt(service: TestService, n: number): Promise<void> {
  const body = { event_id: `evt_${n}`, session_key: newSession(), items: [floor(1)] };
  assert.equal((await service.call('POST', HOLDS, { body })).status, 201);
}

async function slugsListed(service: TestService): Promise<string[]> {
  const { status, body } = await service.call<{ events: { slug: string }[] }>('GET', '/api/events/public');
  assert.equal(status, 200, JSON.stringify(body));
  return body.events.map(({ slug }) => slug).sort();
}

async function brokenCount(service: TestService): Promise<number> {
  const { body } = await service.operate<string>('GET', '/metrics');
  return Number(/^holdfast_events_broken (\d+)$/m.exec(String(body))?.[1]);
}

describe('An event that cannot be activated', () => {
  it('answers 503, is left out of lists and is shown to operators; other events are served', async (t) => {
    const service = await openNights(t, 3);
    const { folder, internals } = service;
    await internals.stop();
    const journal = await openSqliteJournal({ folder });
    journal.append(unreplayable('evt_1'));
    await journal.close();
    await service.restart();

    for (const path of [
      '/api/events/public/night-1',
      '/api/events/public/night-1/seating',
      '/api/events/public/night-1/live',
      '/api/events/public/night-1/seating/occupancy',
    ]) {
      const answer = await service.call<{ detail: Json }>('GET', path);
      assertOverloaded(answer);
      assert.deepEqual(answer.body.detail, { event_id: 'evt_1' }, path);
    }
    const body = { event_id: 'evt_1', session_key: newSession(), items: [floor(1)] };
    assertOverloaded(await service.call('POST', HOLDS, { body }));
    assertOverloaded(await service.operate('GET', '/admin/events/evt_1'));

    assert.deepEqual(await slugsListed(service), ['night-0', 'night-2']);
    const all = await service.operate<{ events: { definition: { id: string } }[] }>('GET', '/admin/events');
    assert.deepEqual(
      all.body.events.map(({ definition }) => definition.id),
      ['evt_0', 'evt_2'],
    );
    const ready = await service.call('GET', '/health/ready');
    assert.equal(ready.status, 200);
    assert.deepEqual(ready.body, { status: 'ok', degraded: ['event'] }, 'the public is told no name');
    const own = await service.operate('GET', '/health/ready');
    assert.deepEqual(own.body, { status: 'ok', degraded: ['event:evt_1'] });
    const overview = await service.operate<{ service: Json; events: { id: string }[] }>('GET', '/admin/overview');
    assert.deepEqual(overview.body.service['degraded'], ['event:evt_1']);
    assert.deepEqual(
      overview.body.events.map(({ id }) => id),
      ['evt_0', 'evt_2'],
    );
    assert.equal(await brokenCount(service), 1);
    for (const n of [0, 2]) await holdAt(service, n);
  });

  it('ends its live streams and nothing else', async (t) => {
    const service = await openNights(t, 2, { LIVE_EVENTS_MAX: '1' });
    const stream = await fetch(`${service.publicUrl}/api/events/public/night-1/live`);
    assert.equal(stream.status, 200);
    const ended = stream.text();
    const { journal, events } = service.internals.engine;
    journal.append(unreplayable('evt_1'));
    await until(async () => {
      await holdAt(service, 0);
      return !events.actors.active().some(({ eventId }) => eventId === 'evt_1');
    }, 'the event is evicted');
    assert.match(await ended, /event: snapshot/, 'the stream ends by itself');
    assertOverloaded(await service.call('GET', '/api/events/public/night-1/live'));
    assert.deepEqual(await slugsListed(service), ['night-0']);
    assert.equal(await brokenCount(service), 1);
  });

  it('is tried again after a pause, and is served once it can be activated', async (t) => {
    const service = await openNights(t, 2);
    const { events, journal } = service.internals.engine;
    events.actors.retireAll();
    const { factsOf } = journal;
    t.after(() => Object.assign(journal, { factsOf }));
    const badSector: typeof factsOf = (eventId, afterSeq) => {
      if (eventId === 'evt_1') throw new Error('a bad sector');
      return factsOf.call(journal, eventId, afterSeq);
    };
    Object.assign(journal, { factsOf: badSector });
    assertOverloaded(await service.call('GET', '/api/events/public/night-1'));
    Object.assign(journal, { factsOf });
    assertOverloaded(await service.call('GET', '/api/events/public/night-1'));
    service.wait(1_000);
    assert.equal((await service.call('GET', '/api/events/public/night-1')).status, 200);
    assert.deepEqual((await service.call('GET', '/health/ready')).body, { status: 'ok' });
    assert.equal(await brokenCount(service), 0);
  });
});

describe('Two events in memory, many in the folder, snapshots and a prune under way', () => {
  it('do not keep any event or the list from being served, and each snapshot is of its own event', async (t) => {
    const COUNT = 12;
    const service = await openNights(t, COUNT, { LIVE_EVENTS_MAX: '2' });
    const { engine } = service.internals;
    for (let round = 0; round < 2; round += 1) {
      for (let n = 0; n < COUNT; n += 1) for (let times = -1; times < n % 3; times += 1) await holdAt(service, n);
      const all = [...engine.journal.streams()].filter(({ eventId }) => eventId !== '');
      const [outcomes] = await Promise.all([
        Promise.all(all.map(({ eventId, lastSeq }) => engine.events.actors.snapshotAsOf(eventId, lastSeq))),
        ...Array.from({ length: COUNT }, (_, n) => service.call('GET', `/api/events/public/night-${n}`)),
      ]);
      assert.deepEqual(
        outcomes.map(({ eventId, seq, trouble }) => ({ eventId, lastSeq: seq, trouble })),
        all.map((each) => ({ ...each, trouble: null })),
      );
      const pruned = await service.operate('POST', '/admin/snapshot', { body: { prune: true } });
      assert.equal(pruned.status, 200, JSON.stringify(pruned.body));
      assert.equal((await slugsListed(service)).length, COUNT);
      for (let n = 0; n < COUNT; n += 1) {
        assert.equal((await service.call('GET', `/api/events/public/night-${n}`)).status, 200);
      }
    }
    assert.deepEqual((await service.call('GET', '/health/ready')).body, { status: 'ok' });
    await service.restart();
    assert.equal((await slugsListed(service)).length, COUNT);
  });
});
