/**
 * Measures times and memory with ten thousand events, of which two hundred are busy. Run by hand:
 *
 *     node bench/many-events.ts [EVENTS] [BUSY]
 *
 * Elapsed times depend on the machine; the point is that nothing grows with the number of evicted events.
 */
import { placeHold } from '#rehearsal/player/buyer-requests.ts';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder, startHoldfast, type MeasuredServer } from './http/server.ts';

const [events = 10_000, busy = 200] = process.argv.slice(2).map(Number);
const HOLDS_PER_EVENT = 10;
const CLIENTS = 32;
const COLD_EVENTS = 200;
const root = fileURLToPath(new URL('../', import.meta.url));

/** A club with two performances, a floor and a small stand of numbered seats. */
function definitionOf(n: number): object {
  const rows = Array.from({ length: 10 }, (_, row) => ({ label: String(row + 1), seats: 20 }));
  return {
    id: `evt_${n}`,
    slug: `club-${n}`,
    name: `Club ${n}`,
    currency: 'EUR',
    hold_minutes: 600,
    payment_minutes: 700,
    performances: [{ id: 'fri' }, { id: 'sat' }],
    localities: [
      { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 500 },
      {
        id: 'stand',
        name: 'Stand',
        seating: 'NUMBERED',
        sections: [{ id: 'W', name: 'West', zone_key: 'west', rows }],
      },
    ],
    ticketTypes: [
      { id: 'single', name: 'Single', locality_id: 'floor' },
      { id: 'seat', name: 'Seat', locality_id: 'stand' },
    ],
    sellingStages: [{ id: 'now', name: 'Now', prices: { single: 1500, seat: 3000 } }],
  };
}

async function timed<Value>(what: string, work: () => Promise<Value> | Value): Promise<Value> {
  const begin = performance.now();
  const value = await work();
  console.log(`${what.padEnd(52)} ${((performance.now() - begin) / 1000).toFixed(2).padStart(9)} s`);
  return value;
}

async function weigh(server: MeasuredServer, when: string): Promise<void> {
  const { usedBytes, rssBytes } = await server.weigh();
  const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`;
  console.log(
    `${`memory ${when}`.padEnd(52)} ${megabytes(usedBytes).padStart(11)} in use, ${megabytes(rssBytes)} resident`,
  );
}

function percentile(sorted: readonly number[], share: number): string {
  return `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)} ms`;
}

/** Sends requests one after the other and prints their latencies. */
async function request(what: string, urls: readonly string[]): Promise<void> {
  const times: number[] = [];
  for (const url of urls) {
    const begin = performance.now();
    const answer = await fetch(url);
    await answer.text();
    if (answer.status !== 200) throw new Error(`${url}: ${answer.status}`);
    times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  console.log(`${what.padEnd(52)} ${percentile(times, 0.5).padStart(11)} median, ${percentile(times, 0.99)} p99`);
}

/** Places holds on the busy events, each in turn, from several clients. */
async function sell({ url }: MeasuredServer): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let n = next++; n < busy * HOLDS_PER_EVENT; n = next++) {
        const item = {
          ticket_type_id: n % 2 === 0 ? 'single' : 'seat',
          selling_stage_id: 'now',
          performance_id: 'fri',
          quantity: 2,
        };
        const { method, path: address, body } = placeHold(`evt_${n % busy}`, `session-${n}`, [item]);
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(url + address, { method, headers, body: body! });
        if (answer.status !== 201) throw new Error(await answer.text());
        await answer.arrayBuffer();
      }
    }),
  );
}

const folder = makeFolder();
const catalogue = path.join(folder, 'catalogue.json');
try {
  writeFileSync(catalogue, JSON.stringify(Array.from({ length: events }, (_, n) => definitionOf(n))));
  const environment = { PATH: process.env['PATH'], DATA_DIR: path.join(folder, 'data') };
  const load = ['src/cli/holdfast.ts', 'load', '--offline', catalogue];
  await timed(`load ${events} events offline`, () => {
    execFileSync(process.execPath, load, { cwd: root, env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  });
  await timed('load the same again: nothing changes', () => {
    execFileSync(process.execPath, load, { cwd: root, env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  });
  for (const start of ['first', 'second']) {
    const server = await timed(`${start} start, to the line "ready"`, () => startHoldfast([], environment.DATA_DIR));
    await weigh(server, 'after the start');
    const cold = Array.from(
      { length: COLD_EVENTS },
      (_, n) => `${server.url}/api/events/public/club-${events - 1 - n}`,
    );
    await request('first request for an evicted event', cold);
    await request('the same again, in memory', cold);
    if (start === 'first') {
      await timed(`${busy * HOLDS_PER_EVENT} holds at ${busy} events, ${CLIENTS} clients`, () => sell(server));
      await weigh(server, 'when they are sold');
      await request(
        'an evicted event, during the holds',
        cold.map((_, n) => `${server.url}/api/events/public/club-${busy + n}`),
      );
      await request('the list of events, 500', [`${server.url}/api/events/public?limit=500`]);
      await request('the list of events, 500, again', [`${server.url}/api/events/public?limit=500`]);
      await request('metrics', [`${server.adminUrl}/metrics`]);
    }
    await timed('stop', () => server.stop());
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
