/**
 * Measures holds at a fixed rate without and with ten thousand listeners of live streams. Run by hand:
 *
 *     node bench/live-listeners.ts [LISTENERS] [HOLDS_PER_SECOND] [SECONDS] [hot | hall]
 *
 * With `hot`, a floor, a frame has one row; with `hall`, of 20,000 seats, every hold is of the best two seats, which a
 * frame names. Service, listeners and buyers are processes of their own. Reported are the holds' latency from the
 * intended moment of sending, the server's processor time as a share of one core, and the age of a frame when a
 * listener receives it.
 *
 * Each process needs as many open files as there are listeners, and some more: `ulimit -n 20000` when the limit is
 * lower. Listeners come from 127.0.0.1 to 127.0.0.8, because the ports of one address are not enough.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { hallEvent, hotEvent } from './events.ts';
import { newHistogram, packHistogram, percentileMillis, recordMillis } from './histogram.ts';
import { startHoldfast } from './http/server.ts';
import { openConnection, type PlayerConnection } from '#rehearsal/player/connection.ts';

interface ListenJob {
  readonly role: 'listen';
  readonly url: string;
  readonly slug: string;
  readonly listeners: number;
}

interface BuyJob {
  readonly role: 'buy';
  readonly url: string;
  readonly eventId: string;
  readonly ticketTypeId: string;
  readonly quantity: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** Each hold has a new session, also in the next run. */
  readonly firstNumber: number;
}

interface Received {
  readonly frames: number;
  readonly fewest: number;
  readonly megabytes: number;
  readonly gone: number;
  /** Ages of frames, of every fiftieth listener. */
  readonly ages: string;
}

interface Bought {
  readonly held: number;
  readonly refused: number;
  readonly latencies: string;
}

const SOURCES = 8;
const CONNECTING_MAX = 100;
const BUYER_CONNECTIONS = 64;
const SAMPLED_EVERY = 50;
const WARM_UP_SECONDS = 3;

if (process.send === undefined) await measure();
else process.once('message', (job) => void work(job as ListenJob | BuyJob));

async function work(job: ListenJob | BuyJob): Promise<void> {
  if (job.role === 'listen') await listen(job);
  else process.send!(await buy(job));
}

// ── the listeners ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Connects all listeners and reports that; then answers each message with what was received since the one before. */
async function listen({ url, slug, listeners }: ListenJob): Promise<void> {
  const { hostname, port } = new URL(url);
  const request = `GET /api/events/public/${slug}/live HTTP/1.1\r\nHost: ${hostname}\r\nAccept: text/event-stream\r\n\r\n`;
  let received = new Uint32Array(listeners);
  let ages = newHistogram();
  let bytes = 0;
  let gone = 0;
  const join = (n: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), localAddress: `127.0.0.${1 + (n % SOURCES)}` });
      const isSampled = n % SAMPLED_EVERY === 0;
      socket.once('connect', () => socket.write(request));
      socket.once('data', (head) =>
        head.includes(' 200 OK') ? resolve() : reject(new Error(head.toString('latin1'))),
      );
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        if (!chunk.includes('event: change')) return;
        received[n]! += 1;
        const at = isSampled ? /"now":"([^"]+)"/.exec(chunk.toString('latin1')) : null;
        if (at !== null) recordMillis(ages, Math.max(0, Date.now() - Date.parse(at[1]!)));
      });
      socket.once('error', reject);
      socket.once('close', () => (gone += 1));
    });
  for (let n = 0; n < listeners; n += CONNECTING_MAX) {
    const some = Math.min(CONNECTING_MAX, listeners - n);
    await Promise.all(Array.from({ length: some }, (_, i) => join(n + i)));
  }
  process.on('message', () => {
    const frames = received.reduce((sum, each) => sum + each, 0);
    const fewest = received.reduce((least, each) => Math.min(least, each), Infinity);
    process.send!({ frames, fewest, megabytes: bytes / 1e6, gone, ages: packHistogram(ages) } satisfies Received);
    received = new Uint32Array(listeners);
    ages = newHistogram();
    bytes = 0;
  });
  process.send!('connected');
}

// ── the buyers ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Places holds at a fixed rate; a latency includes the wait for a free connection. */
async function buy({ url, eventId, ticketTypeId, quantity, perSecond, seconds, firstNumber }: BuyJob): Promise<Bought> {
  const idle = await Promise.all(Array.from({ length: BUYER_CONNECTIONS }, () => openConnection(url)));
  const connections = [...idle];
  const latencies = newHistogram();
  const total = perSecond * seconds;
  let [next, held, refused] = [0, 0, 0];
  const begin = performance.now();
  const dueMs = (n: number): number => begin + (n * 1000) / perSecond;
  const hold = async (connection: PlayerConnection, n: number): Promise<void> => {
    const items = [{ ticket_type_id: ticketTypeId, selling_stage_id: 'general', quantity }];
    const body = JSON.stringify({ event_id: eventId, session_key: `session-${firstNumber + n}`, items });
    const { status } = await connection.send({ method: 'POST', path: '/api/checkout/holds', body });
    recordMillis(latencies, performance.now() - dueMs(n));
    if (status === 201) held += 1;
    else refused += 1;
    idle.push(connection);
  };
  const under = new Set<Promise<void>>();
  while (next < total) {
    while (next < total && dueMs(next) <= performance.now() && idle.length > 0) {
      const one: Promise<void> = hold(idle.pop()!, next++).finally(() => under.delete(one));
      under.add(one);
    }
    await pause(1);
  }
  await Promise.all(under);
  for (const connection of connections) connection.close();
  return { held, refused, latencies: packHistogram(latencies) };
}

// ── the measurement ──────────────────────────────────────────────────────────────────────────────────────────────────

async function measure(): Promise<void> {
  const [listeners, perSecond, seconds] = [10_000, 200, 20].map((usual, n) => Number(process.argv[2 + n] ?? usual));
  const isHall = process.argv[5] === 'hall';
  const event = isHall ? hallEvent(20_000) : hotEvent;
  const server = await startHoldfast([event]);
  const sale = { eventId: event.id, ticketTypeId: isHall ? 'seat' : 'single', quantity: 2, perSecond: perSecond! };
  const job = { role: 'buy', url: server.url, ...sale } as const;
  await run<Bought>({ ...job, seconds: WARM_UP_SECONDS, firstNumber: 0 });
  let firstNumber = perSecond! * WARM_UP_SECONDS;
  console.log(`${perSecond} holds a second, ${seconds} s each, ${isHall ? 'two seats each' : 'a floor'}`);
  console.log(
    'listeners | hold p50 ms | p99 ms | max ms | server, share of a core | loop delay p99 ms | frame age p50, p99 ms',
  );
  for (const count of [0, listeners!]) {
    const audience =
      count === 0
        ? null
        : await openAudience({ role: 'listen', url: server.url, slug: String(event['slug']), listeners: count });
    await pause(1_000);
    await audience?.received();
    await server.beginMeter();
    const begin = performance.now();
    const bought = await run<Bought>({ ...job, seconds: seconds!, firstNumber });
    firstNumber += perSecond! * seconds!;
    const elapsedMs = performance.now() - begin;
    const { cpuMicros, loopDelayP99Ms } = await server.readMeter();
    const received = await audience?.received();
    const latency = [50, 99, 100].map((percentile) => percentileMillis(bought.latencies, percentile).toFixed(1));
    const share = `${((cpuMicros / 1000 / elapsedMs) * 100).toFixed(0)} %`;
    const ages =
      received === undefined ? '' : [50, 99].map((each) => percentileMillis(received.ages, each).toFixed(0)).join(', ');
    console.log([count, ...latency, share, loopDelayP99Ms.toFixed(1), ages].join(' | '));
    if (bought.refused > 0) console.log(`${bought.refused} holds were refused`);
    if (received !== undefined) {
      const { frames, fewest, megabytes, gone } = received;
      console.log(`frames: ${frames}, at least ${fewest} each, ${megabytes.toFixed(0)} MB; closed: ${gone}`);
    }
    audience?.close();
  }
  await server.stop();
  server.removeFolder();
}

/** Runs one job in a process of its own. */
async function run<Result>(job: BuyJob): Promise<Result> {
  const child = fork(fileURLToPath(import.meta.url));
  child.send(job);
  const [result] = await once(child, 'message');
  child.disconnect();
  child.kill();
  return result as Result;
}

async function openAudience(job: ListenJob): Promise<{ received(): Promise<Received>; close(): void }> {
  const child = fork(fileURLToPath(import.meta.url));
  child.send(job);
  await once(child, 'message');
  return {
    async received() {
      const reply = once(child, 'message');
      child.send('report');
      return (await reply)[0] as Received;
    },
    close: () => void child.kill(),
  };
}
