/**
 * What ten thousand people who watch a date cost those who buy: holds at a fixed rate, without listeners and with them. By hand:
 *
 *     node bench/live-listeners.ts [LISTENERS] [HOLDS_PER_SECOND] [SECONDS] [hot | hall]
 *
 * `hot` is a floor where a frame tells one row; in `hall`, of 20,000 seats, every hold is of the best two, which frames name. The
 * service, the listeners and the buyers are processes of their own. Told are the holds' latency, from the moment at which
 * each was meant to be sent, the server's processor time as a share of one core, and how old a frame is when a listener has it.
 *
 * Each process needs as many open files as there are listeners, and some: `ulimit -n 20000` where that is less. Listeners
 * come from 127.0.0.1 to 127.0.0.8, so that the ports of one address are not the bound.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { hallEvent, hotEvent } from './events.ts';
import { newHistogram, packHistogram, percentileMillis, recordMillis } from './histogram.ts';
import { startHoldfast } from './http/server.ts';
import { openWire, type Wire } from './http/wire.ts';

interface Crowd {
  readonly role: 'listen';
  readonly url: string;
  readonly slug: string;
  readonly listeners: number;
}

interface Buyers {
  readonly role: 'buy';
  readonly url: string;
  readonly eventId: string;
  readonly ticketTypeId: string;
  readonly quantity: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** Each hold is of a new session; runs do not repeat one another. */
  readonly firstNumber: number;
}

interface Heard {
  readonly frames: number;
  readonly fewest: number;
  readonly megabytes: number;
  readonly gone: number;
  /** Of every fiftieth listener's frames. */
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
else process.once('message', (job) => void work(job as Crowd | Buyers));

async function work(job: Crowd | Buyers): Promise<void> {
  if (job.role === 'listen') await listen(job);
  else process.send!(await buy(job));
}

// ── the listeners ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Connects everybody and says so; at every word from the parent tells what was heard since the last one. */
async function listen({ url, slug, listeners }: Crowd): Promise<void> {
  const { hostname, port } = new URL(url);
  const request = `GET /api/events/public/${slug}/live HTTP/1.1\r\nHost: ${hostname}\r\nAccept: text/event-stream\r\n\r\n`;
  let heard = new Uint32Array(listeners);
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
        heard[n]! += 1;
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
    const frames = heard.reduce((sum, each) => sum + each, 0);
    const fewest = heard.reduce((least, each) => Math.min(least, each), Infinity);
    process.send!({ frames, fewest, megabytes: bytes / 1e6, gone, ages: packHistogram(ages) } satisfies Heard);
    heard = new Uint32Array(listeners);
    ages = newHistogram();
    bytes = 0;
  });
  process.send!('all are here');
}

// ── the buyers ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Holds at a fixed rate over idle connections; one that must wait for a connection counts its wait. */
async function buy({ url, eventId, ticketTypeId, quantity, perSecond, seconds, firstNumber }: Buyers): Promise<Bought> {
  const idle = await Promise.all(Array.from({ length: BUYER_CONNECTIONS }, () => openWire(url)));
  const wires = [...idle];
  const latencies = newHistogram();
  const total = perSecond * seconds;
  let [next, held, refused] = [0, 0, 0];
  const begin = performance.now();
  const dueMs = (n: number): number => begin + (n * 1000) / perSecond;
  const hold = async (wire: Wire, n: number): Promise<void> => {
    const items = [{ ticket_type_id: ticketTypeId, selling_stage_id: 'general', quantity }];
    const body = JSON.stringify({ event_id: eventId, session_key: `session-${firstNumber + n}`, items });
    const { status } = await wire.ask({ method: 'POST', path: '/api/checkout/holds', body });
    recordMillis(latencies, performance.now() - dueMs(n));
    if (status === 201) held += 1;
    else refused += 1;
    idle.push(wire);
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
  for (const wire of wires) wire.close();
  return { held, refused, latencies: packHistogram(latencies) };
}

// ── the measurement ──────────────────────────────────────────────────────────────────────────────────────────────────

async function measure(): Promise<void> {
  const [listeners, perSecond, seconds] = [10_000, 200, 20].map((usual, n) => Number(process.argv[2 + n] ?? usual));
  const isHall = process.argv[5] === 'hall';
  const event = isHall ? hallEvent(20_000) : hotEvent;
  const server = await startHoldfast([event]);
  const sale = { eventId: event.id, ticketTypeId: isHall ? 'seat' : 'single', quantity: 2, perSecond: perSecond! };
  const trade = { role: 'buy', url: server.url, ...sale } as const;
  await run<Bought>({ ...trade, seconds: WARM_UP_SECONDS, firstNumber: 0 });
  let firstNumber = perSecond! * WARM_UP_SECONDS;
  console.log(`${perSecond} holds a second, ${seconds} s each, ${isHall ? 'two seats each' : 'a floor'}`);
  console.log(
    'listeners | hold p50 ms | p99 ms | max ms | server, share of a core | loop delay p99 ms | frame age p50, p99 ms',
  );
  for (const count of [0, listeners!]) {
    const crowd =
      count === 0
        ? null
        : await gather({ role: 'listen', url: server.url, slug: String(event['slug']), listeners: count });
    await pause(1_000);
    await crowd?.heard();
    await server.beginMeter();
    const begin = performance.now();
    const bought = await run<Bought>({ ...trade, seconds: seconds!, firstNumber });
    firstNumber += perSecond! * seconds!;
    const elapsedMs = performance.now() - begin;
    const { cpuMicros, loopDelayP99Ms } = await server.readMeter();
    const heard = await crowd?.heard();
    const latency = [50, 99, 100].map((percentile) => percentileMillis(bought.latencies, percentile).toFixed(1));
    const share = `${((cpuMicros / 1000 / elapsedMs) * 100).toFixed(0)} %`;
    const ages =
      heard === undefined ? '' : [50, 99].map((each) => percentileMillis(heard.ages, each).toFixed(0)).join(', ');
    console.log([count, ...latency, share, loopDelayP99Ms.toFixed(1), ages].join(' | '));
    if (bought.refused > 0) console.log(`${bought.refused} holds were refused`);
    if (heard !== undefined) {
      const { frames, fewest, megabytes, gone } = heard;
      console.log(`frames: ${frames}, at least ${fewest} each, ${megabytes.toFixed(0)} MB; sent away: ${gone}`);
    }
    crowd?.leave();
  }
  await server.stop();
  server.removeFolder();
}

/** Has one job done by a process of its own. */
async function run<Result>(job: Buyers): Promise<Result> {
  const child = fork(fileURLToPath(import.meta.url));
  child.send(job);
  const [result] = await once(child, 'message');
  child.disconnect();
  child.kill();
  return result as Result;
}

async function gather(job: Crowd): Promise<{ heard(): Promise<Heard>; leave(): void }> {
  const child = fork(fileURLToPath(import.meta.url));
  child.send(job);
  await once(child, 'message');
  return {
    async heard() {
      const told = once(child, 'message');
      child.send('what did you hear?');
      return (await told)[0] as Heard;
    },
    leave: () => void child.kill(),
  };
}
