import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { LiveFeeds, type Listener } from '#http/live/feeds.ts';
import { newUseCount } from '#http/metrics/request-metrics.ts';
import { Overloaded } from '#actors/admission.ts';
import type { Json } from '../fixtures/client.ts';
import { sample } from '../fixtures/events.ts';
import { openService, type TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

interface Message {
  readonly id: string;
  readonly event: string;
  readonly data: Json & {
    readonly ticketAvailability: readonly Json[];
    readonly seats: { readonly held: readonly string[] } & readonly Json[];
  };
}

interface Stream {
  readonly status: number;
  readonly headers: Headers;
  /** The next message; rejects when the stream ends or nothing comes in time. */
  next(): Promise<Message>;
  /** Everything that was read so far. */
  text(): string;
  close(): void;
}

const WAIT_MS_MAX = 120_000;
/** The service writes to a stream at most so often. */
const MESSAGE_EVERY_MS = 250;

/** On a connection of its own, which ends with it: `fetch` opens another one for requests to come. */
async function open(service: TestService, path: string, headers: Record<string, string> = {}): Promise<Stream> {
  const request = get(service.publicUrl + path, { headers, agent: false }).on('error', () => {});
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks = response.setEncoding('utf8')[Symbol.asyncIterator]() as AsyncIterator<string>;
  let rest = '';
  let all = '';
  const ready: Message[] = [];
  const pull = async (): Promise<void> => {
    const { done, value } = await chunks.next();
    if (done === true) throw new Error('the stream has ended');
    all += value;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop()!;
    for (const part of parts) {
      const fields = new Map(part.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]));
      if (!fields.has('data')) continue;
      const data = JSON.parse(fields.get('data')!) as Message['data'];
      ready.push({ id: fields.get('id')!, event: fields.get('event')!, data });
    }
  };
  return {
    status: response.statusCode!,
    headers: new Headers(response.headers as Record<string, string>),
    text: () => all,
    async next() {
      const late = AbortSignal.timeout(WAIT_MS_MAX);
      while (ready.length === 0) {
        await pull();
        late.throwIfAborted();
      }
      return ready.shift()!;
    },
    close: () => void request.destroy(),
  };
}

const THEATRE = '/api/events/public/the-glass-orchard/live?performance_id=premiere';
const CLUB = '/api/events/public/night-shift/live';

describe('The live stream of a performance', () => {
  let service: TestService;
  const streams: Stream[] = [];

  before(async () => {
    service = await openService();
    await service.define(sample('theatre-run'));
    await service.define(sample('club-night'));
    await service.define(sample('open-studios', { id: 'evt_draft', slug: 'draft', status: 'DRAFT' }));
  });

  after(async () => {
    for (const stream of streams) stream.close();
    await service.close();
  });

  const watch = async (path: string, headers?: Record<string, string>): Promise<Stream> => {
    const stream = await open(service, path, headers);
    streams.push(stream);
    return stream;
  };

  const hold = (sessionKey: string, item: Json, eventId = 'evt_theatre') =>
    service.call<Json>('POST', '/api/checkout/holds', {
      body: { event_id: eventId, session_key: sessionKey, items: [item] },
    });

  const seats = (...ids: string[]): Json => ({
    ticket_type_id: 'stalls',
    selling_stage_id: 'general',
    performance_id: 'premiere',
    quantity: ids.length,
    seat_ids: ids,
  });

  it('begins with a snapshot that equals the payload and the occupancy', async () => {
    await hold('session-first', seats('stalls-F-7', 'stalls-F-8'));
    const stream = await watch(THEATRE);
    assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(stream.headers.get('access-control-allow-origin'), '*');
    const { event, data } = await stream.next();
    const payload = await service.call('GET', '/api/events/public/the-glass-orchard?performance_id=premiere');
    const occupancy = await service.call(
      'GET',
      '/api/events/public/the-glass-orchard/seating/occupancy?performance_id=premiere',
    );
    assert.equal(event, 'snapshot');
    assert.deepEqual(data.ticketAvailability, payload.body['ticketAvailability']);
    assert.deepEqual(data.seats, { held: occupancy.body['held'], sold: [], blocked: [] });
  });

  it('is open 200 times for one client at most; each gives its place back, also one that is refused', async () => {
    const few = await openService({ environment: { TRUST_PROXY: '1' }, limits: { clientStreamsMax: 2 } });
    await few.define(sample('club-night'));
    const forwarded = { 'x-forwarded-for': '192.0.2.1' };
    const openOne = async (path = CLUB, headers: Record<string, string> = forwarded): Promise<Stream> => {
      const stream = await open(few, path, headers);
      streams.push(stream);
      return stream;
    };
    for (let n = 0; n < 3; n += 1) {
      assert.equal((await openOne('/api/events/public/none/live')).status, 404);
    }
    const first = await openOne();
    assert.deepEqual([first.status, (await openOne()).status], [200, 200]);
    const third = await openOne();
    assert.deepEqual([third.status, third.headers.get('retry-after')], [429, '5']);
    assert.equal((await openOne(CLUB, { 'x-forwarded-for': '192.0.2.2' })).status, 200);
    for (let n = 0; n < 3; n += 1) assert.equal((await openOne(CLUB, {})).status, 200, 'the loopback is not counted');
    first.close();
    await until(async () => (await openOne()).status === 200);
    for (const stream of streams.splice(0)) stream.close();
    await few.close();
  });

  it('then sends only what changed: the rows and seats in their new state', async () => {
    const stream = await watch(THEATRE);
    await stream.next();
    await hold('session-second', seats('stalls-G-7'));
    const { event, data } = await stream.next();
    assert.equal(event, 'change');
    assert.deepEqual(data.seats, [{ id: 'stalls-G-7', state: 'HELD' }]);
    assert.ok(
      data.ticketAvailability.length > 0 && data.ticketAvailability.length < 5,
      'only rows that share the seat',
    );
  });

  it('sends many changes of one moment in one message', async () => {
    const stream = await watch(CLUB);
    await stream.next();
    const item = { ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 1 };
    const beganMs = performance.now();
    await Promise.all(Array.from({ length: 20 }, (_, n) => hold(`session-many-${n}`, item, 'evt_club')));
    let messages = 0;
    for (let reserved: unknown = 0; reserved !== 20; messages += 1) {
      reserved = (await stream.next()).data.ticketAvailability[0]!['reserved'];
    }
    // On a machine that is busy with other things the holds themselves are spread over a longer time.
    const messagesMax = 2 + Math.ceil((performance.now() - beganMs) / MESSAGE_EVERY_MS);
    assert.ok(messages <= messagesMax, `20 holds came in ${messages} messages`);
  });

  it('sends a change when a hold expires, without any request', async () => {
    const stream = await watch(CLUB);
    await stream.next();
    service.wait(11 * 60_000);
    const { data } = await stream.next();
    assert.equal(data.ticketAvailability[0]!['reserved'], 0);
    assert.equal(Date.parse(String(data['now'])), service.now());
  });

  it('resumes after the last message that came, and sends a snapshot where that is too old', async () => {
    const first = await watch(THEATRE);
    const snapshot = await first.next();
    first.close();
    await hold('session-third', seats('stalls-H-7'));
    const live = await watch(THEATRE);
    await live.next();
    await hold('session-fourth', seats('stalls-H-9'));
    await live.next();
    const resume = (id: string): Promise<Stream> => watch(THEATRE, { 'last-event-id': id });
    // With several threads these come to different ones.
    for (const resumed of await Promise.all(Array.from({ length: 6 }, () => resume(snapshot.id)))) {
      const missed = [await resumed.next()];
      while (!JSON.stringify(missed).includes('stalls-H-9')) missed.push(await resumed.next());
      assert.ok(missed.every(({ event }) => event === 'change'));
      assert.deepEqual(
        missed.flatMap(({ data }) => data.seats.map((seat) => seat['id'])),
        ['stalls-H-7', 'stalls-H-9'],
      );
    }
    for (const unknown of ['long-ago-7', 'x', `${snapshot.id}999`]) {
      assert.equal((await (await resume(unknown)).next()).event, 'snapshot');
    }
  });

  it('sends a snapshot to everybody when the definition changes', async () => {
    const stream = await watch(CLUB);
    const before = (await stream.next()).data['definition_version'] as number;
    await service.define(sample('club-night', { description: 'Another night.' }));
    const { event, data } = await stream.next();
    assert.equal(event, 'snapshot');
    assert.equal(data['definition_version'], before + 1);
  });

  it('ends when the event is taken off sale', async () => {
    await service.define(sample('open-studios'));
    const stream = await watch('/api/events/public/open-studios/live');
    await stream.next();
    await service.define(sample('open-studios', { status: 'DRAFT' }));
    await assert.rejects(stream.next(), /has ended/);
  });

  it('is refused with the error body without a known event and performance', async () => {
    const refusals: [string, number, string][] = [
      ['/api/events/public/nowhere/live', 404, 'EVENT_NOT_FOUND'],
      ['/api/events/public/draft/live', 404, 'EVENT_NOT_FOUND'],
      ['/api/events/public/the-glass-orchard/live', 400, 'PERFORMANCE_REQUIRED'],
      ['/api/events/public/the-glass-orchard/live?performance_id=never', 400, 'PERFORMANCE_NOT_FOUND'],
    ];
    for (const [path, status, code] of refusals) {
      const answer = await service.call('GET', path);
      assert.deepEqual([answer.status, answer.body['code']], [status, code], path);
    }
    assert.equal((await fetch(service.publicUrl + CLUB, { method: 'HEAD' })).status, 405);
  });

  it('ends when the service restarts, and begins again with a snapshot', async () => {
    const stream = await watch(CLUB);
    const { id } = await stream.next();
    await service.restart();
    await assert.rejects(stream.next());
    const again = await watch(CLUB, { 'last-event-id': id });
    assert.equal((await again.next()).event, 'snapshot');
  });
});

describe('The clients of live streams', () => {
  const listenerOf = (writableLength = 0) => {
    const written: Buffer[] = [];
    const listener = {
      written,
      writableLength,
      gone: '',
      write: (bytes: Buffer) => written.push(bytes),
      destroy: () => (listener.gone = 'destroyed'),
      end: () => (listener.gone = 'ended'),
    };
    return listener satisfies Listener;
  };

  it('are limited in number, and one that does not read is disconnected while the others get the same bytes', async () => {
    const service = await openService();
    await service.define(sample('club-night'));
    const { events, clock } = service.internals.engine;
    const feeds = new LiveFeeds({ events, clock, listenersMax: 3, count: newUseCount() });
    const [slow, quick, other] = [listenerOf(10 * 1024 * 1024), listenerOf(), listenerOf()];
    for (const listener of [slow, quick, other]) {
      assert.equal(await feeds.watch('night-shift', null, null, () => listener), null);
    }
    await assert.rejects(
      feeds.watch('night-shift', null, null, () => listenerOf()),
      Overloaded,
    );
    await service.call('POST', '/api/checkout/holds', {
      body: {
        event_id: 'evt_club',
        session_key: 'session-one',
        items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 1 }],
      },
    });
    while (quick.written.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(slow.gone, 'destroyed');
    assert.equal(quick.written[0], other.written[0], 'one buffer for all');
    assert.equal(feeds.listeners, 2);
    feeds.leave(quick);
    assert.equal(feeds.listeners, 1);
    feeds.close();
    assert.equal(other.gone, 'ended');
    await service.close();
  });

  it('resume at other feeds of the same events, and begin anew where they come with too many different ids', async (t) => {
    const service = await openService();
    t.after(() => service.close());
    await service.define(sample('theatre-run'));
    const { events, clock } = service.internals.engine;
    const openFeeds = () => new LiveFeeds({ events, clock, listenersMax: 1_000, count: newUseCount() });
    const [feeds, others] = [openFeeds(), openFeeds()];
    const openingOf = async (from: LiveFeeds, lastId: string | null): Promise<string> => {
      let opening = Buffer.alloc(0);
      await from.watch('the-glass-orchard', 'premiere', lastId, (bytes) => {
        opening = bytes as typeof opening;
        return listenerOf();
      });
      return opening.toString();
    };
    const idOf = (message: string): string => /^id: (.*)$/m.exec(message)![1]!;
    const began = idOf(await openingOf(feeds, null));
    for (let version = 1_000; version < 1_080; version += 1) {
      assert.match(await openingOf(others, began.replace(/\d+$/, String(version))), /event: snapshot/);
    }
    assert.match(await openingOf(others, began), /event: snapshot/);
    service.wait(1_000);
    assert.equal(await openingOf(others, began), '', 'nothing was missed');
    const item = { ticket_type_id: 'stalls', selling_stage_id: 'general', performance_id: 'premiere', quantity: 1 };
    const hold = {
      event_id: 'evt_theatre',
      session_key: 'session-one',
      items: [{ ...item, seat_ids: ['stalls-H-7'] }],
    };
    assert.equal((await service.call('POST', '/api/checkout/holds', { body: hold })).status, 201);
    service.wait(1_000);
    const missed = await openingOf(others, began);
    assert.match(missed, /event: change\n.*"seats":\[\{"id":"stalls-H-7","state":"HELD"\}\]/);
    assert.equal(await openingOf(feeds, idOf(missed)), '', 'it has what the other sent');
    for (const each of [feeds, others]) each.close();
  });
});
