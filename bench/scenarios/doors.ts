/**
 * Scans at the doors: the processor time of one beside that of a hold, alone and in batches; latencies at the pace of a
 * large hall; what a poll without news costs on the wire, and what a scanned ticket costs in memory.
 *
 * Runs of holds and scans alternate on one service. Every scan is the first entry of a ticket of its own.
 */
import { cpuOf, startLoadGenerator, type LoadGenerator, type LoadRun } from '../http/load-generator.ts';
import type { LoadJob, LoadResult } from '../http/load.ts';
import type { OpenLoopJob, OpenLoopResult } from '../http/open-loop.ts';
import { requireAnswers } from '../http/alternating-runs.ts';
import { ADMIN_TOKEN, startHoldfast, type MeasuredServer } from '../http/server.ts';
import type { Traffic } from '../http/traffic.ts';
import { hotEvent } from '../events.ts';
import { percentileMillis } from '../histogram.ts';
import { figureOf, type Figure, type Scenario, type Settings } from '../scenario.ts';

const STATIONS = 50;
const CONNECTIONS = 64;
const BATCH = 100;
const SCANS_A_ROUND = 6_000;
const SCANS_A_SECOND = 10_000 / 60;
const TICKETS_OF_ORDER = 4;
const BUYERS = 16;

/** Doors are open now, and tickets cost nothing, so that one request buys them. */
const doorsEvent = {
  ...hotEvent,
  id: 'evt_doors',
  slug: 'doors',
  name: 'Everybody comes at once',
  sellingStages: [{ id: 'general', name: 'General sale', prices: { single: 0 } }],
};

type Kind = 'hold' | 'scan' | 'batch';

export const doors: Scenario = {
  name: 'doors',
  about: 'scans at the doors, alone and 100 in a request, beside holds; 10,000 a minute from 50 stations',
  async run(settings) {
    const service = await startHoldfast([hotEvent, doorsEvent]);
    try {
      const perRound = settings.quick ? SCANS_A_ROUND / 10 : SCANS_A_ROUND;
      const paceSeconds = settings.quick ? 3 : 60;
      const paced = Math.ceil(SCANS_A_SECOND * paceSeconds);
      const tokens = await makeStations(service);
      settings.report('tickets are bought');
      const codes = await buyCodes(service, 2 * perRound * (settings.rounds + 1) + paced);
      const runs = await alternate(service, { tokens, codes: codes.slice(paced) }, perRound, settings);
      settings.report(`${paced} scans at the pace of a hall`);
      const before = await service.weigh();
      const open = await atPace(service, { tokens, codes: codes.slice(0, paced) }, paceSeconds);
      const after = await service.weigh();
      const idleBytes = await bytesOfIdleSync(service, tokens[0]!);
      return {
        figures: [
          ...figuresOf(runs),
          figureOf('10,000 a minute from 50 stations: latency p50', 'ms', [percentileMillis(open.load.histogram, 50)]),
          figureOf('10,000 a minute from 50 stations: latency p99', 'ms', [percentileMillis(open.load.histogram, 99)], {
            atMost: 50,
          }),
          figureOf('a sync with nothing new, on the wire', 'B', [idleBytes], { atMost: 400 }),
          figureOf('memory of a scanned ticket', 'B', [(after.usedBytes - before.usedBytes) / paced], { atMost: 200 }),
        ],
        latencies: [{ name: '10,000 scans a minute', histogram: open.load.histogram }],
      };
    } finally {
      await service.stop();
      service.removeFolder();
    }
  },
};

interface Scanning {
  readonly tokens: readonly string[];
  readonly codes: readonly string[];
}

type Runs = Readonly<Record<Kind, readonly LoadRun<LoadResult>[]>>;

/** Holds, scans alone and scans in batches alternately; the first run of each warms up and does not count. */
async function alternate(
  service: MeasuredServer,
  { tokens, codes }: Scanning,
  perRound: number,
  { rounds, seconds, report }: Settings,
): Promise<Runs> {
  const generator = startLoadGenerator<LoadJob, LoadResult>(new URL('../http/load.ts', import.meta.url));
  const half = codes.length / 2;
  const traffics: Readonly<Record<Kind, Traffic>> = {
    hold: { recipe: 'hot-hold' },
    scan: { recipe: 'scans', tokens, codes: codes.slice(0, half), batch: 1 },
    batch: { recipe: 'scans', tokens, codes: codes.slice(half), batch: BATCH },
  };
  const answers: Readonly<Record<Kind, number>> = { hold: perRound, scan: perRound, batch: perRound / BATCH };
  const all: Record<Kind, LoadRun<LoadResult>[]> = { hold: [], scan: [], batch: [] };
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const kind of ['hold', 'scan', 'batch'] as const) {
        report(round === 0 ? `${kind}: warm-up` : `${kind}: round ${round} of ${rounds}`);
        const run = await generator.run(service, {
          url: service.url,
          traffic: traffics[kind],
          connections: kind === 'batch' ? Math.min(CONNECTIONS, answers.batch) : CONNECTIONS,
          seconds,
          answers: answers[kind],
          status: kind === 'hold' ? 201 : 200,
          firstNumber: round * answers[kind],
        });
        requireAnswers(kind, run.load);
        if (round > 0) all[kind].push(run);
      }
    }
    return all;
  } finally {
    generator.close();
  }
}

async function atPace(service: MeasuredServer, scanning: Scanning, seconds: number): Promise<LoadRun<OpenLoopResult>> {
  const generator: LoadGenerator<OpenLoopJob, OpenLoopResult> = startLoadGenerator(
    new URL('../http/open-loop.ts', import.meta.url),
  );
  try {
    const traffic: Traffic = { recipe: 'scans', ...scanning, batch: 1 };
    const job = { traffic, status: 200, connections: STATIONS, seconds, perSecond: SCANS_A_SECOND, firstNumber: 0 };
    const run = await generator.run(service, { ...job, url: service.url });
    requireAnswers('10,000 scans a minute', run.load);
    return run;
  } finally {
    generator.close();
  }
}

function figuresOf({ hold, scan, batch }: Runs): Figure[] {
  const ratios = (runs: readonly LoadRun<LoadResult>[], scans: number): readonly number[] =>
    runs.map((run, round) => cpuOf(run) / scans / cpuOf(hold[round]!));
  const micros = (name: string, runs: readonly LoadRun<LoadResult>[], scans = 1): Figure =>
    figureOf(
      `processor time of ${name}`,
      'µs',
      runs.map((run) => cpuOf(run) / scans),
    );
  return [
    figureOf('processor time: a scan ÷ a hold', '×', ratios(scan, 1), { atMost: 1.5 }),
    figureOf('processor time: a scan of a batch of 100 ÷ a hold', '×', ratios(batch, BATCH), { atMost: 0.6 }),
    micros('a hold', hold),
    micros('a scan', scan),
    micros('a scan of a batch of 100', batch, BATCH),
    figureOf(
      'scans, 64 connections',
      'per s',
      scan.map(({ load }) => load.perSecond),
    ),
  ];
}

// ── what is scanned ──────────────────────────────────────────────────────────────────────────────────────────────────

async function makeStations({ adminUrl }: MeasuredServer): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  const tokens: string[] = [];
  for (let n = 1; n <= STATIONS; n += 1) {
    const body = JSON.stringify({ name: `Phone ${n}` });
    const answer = await fetch(`${adminUrl}/admin/events/evt_doors/stations`, { method: 'POST', headers, body });
    tokens.push(((await answer.json()) as { readonly token: string }).token);
  }
  return tokens;
}

/** The codes of so many tickets and some more. */
async function buyCodes({ url }: MeasuredServer, count: number): Promise<readonly string[]> {
  const codes: string[] = [];
  let order = 0;
  const buy = async (): Promise<void> => {
    while (TICKETS_OF_ORDER * order < count) {
      order += 1;
      codes.push(...(await codesOfOrder(url, order)));
    }
  };
  await Promise.all(Array.from({ length: BUYERS }, buy));
  return codes;
}

async function codesOfOrder(url: string, number: number): Promise<readonly string[]> {
  const started = await fetch(`${url}/api/checkout/start`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      event_id: 'evt_doors',
      items: [{ ticket_type_id: 'single', selling_stage_id: 'general', quantity: TICKETS_OF_ORDER }],
      customer: { name: `Buyer ${number}`, email: `buyer-${number}@example.com` },
      accept_terms: true,
    }),
  });
  if (started.status !== 201) throw new Error(`tickets: ${started.status} ${await started.text()}`);
  const { order_id: orderId } = (await started.json()) as { readonly order_id: string };
  const status = await fetch(`${url}/api/checkout/status/${orderId}`);
  const { ticket_objects: tickets } = (await status.json()) as {
    readonly ticket_objects: readonly { readonly code: string }[];
  };
  return tickets.map(({ code }) => code);
}

/** The length of the body that a station is sent which has everything. */
async function bytesOfIdleSync({ url }: MeasuredServer, token: string): Promise<number> {
  let after = '';
  for (;;) {
    const query = after === '' ? '' : `?after=${encodeURIComponent(after)}`;
    const answer = await fetch(`${url}/api/doors/sync${query}`, { headers: { authorization: `Bearer ${token}` } });
    const text = await answer.text();
    const { cursor, more, changes } = JSON.parse(text) as {
      readonly cursor: string;
      readonly more: boolean;
      readonly changes: readonly unknown[];
    };
    if (!more && changes.length === 0) return Buffer.byteLength(text);
    after = cursor;
  }
}
