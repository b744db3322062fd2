/**
 * Measures the start of a service on a data folder with five million sales of the past. Run by hand:
 *
 *     node bench/past-sales.ts [--sales N] [--events N] [--folder FOLDER] [--keep]
 *
 * Makes the folder in process, or takes one of an earlier run; then starts the service on it and reports the time to
 * ready, the memory then and later, and the duration of the first answers.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeFolder, startHoldfast, type MeasuredServer } from './http/server.ts';
import { makePastSales } from './sold-out-events.ts';

const HELP = `node bench/past-sales.ts [options]

Makes a data folder of past sales, starts the service on it and measures time and memory.

  --sales N        past orders of two tickets each (default 5000000)
  --events N       events that they are spread over (default 500)
  --folder FOLDER  a folder with such sales, or an empty one in which they are made
  --keep           keep the folder for another run
  --help           this text`;

const START_SECONDS_MAX = 10;
const RESIDENT_MEGABYTES_MAX = 500;
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const SETTLING_MS = 20_000;
/** A file beside those of the service, with the order ids that a later run needs. */
const MADE_FILE = 'past-sales.json';

const { values } = parseArgs({
  options: {
    sales: { type: 'string', default: '5000000' },
    events: { type: 'string', default: '500' },
    folder: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(HELP);
else await run(Number(values.sales), Number(values.events), values.folder ?? makeFolder());

async function run(sales: number, events: number, folder: string): Promise<void> {
  try {
    const orderIds = await salesIn(folder, sales, events);
    const begin = performance.now();
    const server = await startHoldfast([], folder);
    const startSeconds = (performance.now() - begin) / 1000;
    try {
      const resident = [await residentMegabytes(server)];
      await firstAnswers(server, orderIds);
      await pause(SETTLING_MS);
      resident.push(await residentMegabytes(server));
      report('start to ready', startSeconds.toFixed(2), 's', startSeconds <= START_SECONDS_MAX);
      report('resident at ready', resident[0]!.toFixed(0), 'MB', resident[0]! <= RESIDENT_MEGABYTES_MAX);
      report('resident later', resident[1]!.toFixed(0), 'MB', resident[1]! <= RESIDENT_MEGABYTES_MAX);
    } finally {
      await server.stop();
    }
  } finally {
    if (!values.keep && values.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Ids of the folder's orders, which are made first when there are none. */
async function salesIn(folder: string, sales: number, events: number): Promise<readonly string[]> {
  const kept = path.join(folder, MADE_FILE);
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8')) as string[];
  mkdirSync(folder, { recursive: true });
  const begin = performance.now();
  const soldAt = Date.now() - YEAR_MS;
  const onEvent = (done: number): void => {
    if (done % Math.ceil(events / 20) !== 0) return;
    console.log(`${done} of ${events} events after ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  };
  const { orderIds } = await makePastSales(folder, { sales, events, soldAt, onEvent });
  writeFileSync(kept, JSON.stringify(orderIds));
  return orderIds;
}

async function firstAnswers(server: MeasuredServer, orderIds: readonly string[]): Promise<void> {
  const request = async (what: string, address: string, init: RequestInit = {}): Promise<void> => {
    const begin = performance.now();
    const answer = await fetch(`${server.url}${address}`, init);
    await answer.arrayBuffer();
    const took = performance.now() - begin;
    report(what, took.toFixed(1), `ms (${answer.status})`, answer.ok);
  };
  await request('the list of events', '/api/events/public');
  await request('the list of events again', '/api/events/public');
  await request('an event of the past', '/api/events/public/past-1');
  await request('an order of the past', `/api/checkout/status/${orderIds.at(-1)!}`);
  await request('the same order again', `/api/checkout/status/${orderIds.at(-1)!}`);
}

async function residentMegabytes(server: MeasuredServer): Promise<number> {
  return (await server.weigh()).rssBytes / 2 ** 20;
}

function report(what: string, value: string, unit: string, isGood: boolean): void {
  console.log(`${isGood ? ' ' : '!'} ${what.padEnd(30)} ${value.padStart(10)} ${unit}`);
}
