/**
 * kill -9 at any moment: afterwards every answered change is present, nothing is present twice, and the counters add
 * up.
 *
 * The clients record the answers that they got. A request in progress at the kill may have happened or not, but never
 * half of it. `depth.ts` sets the number of rounds.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { HoldBody } from '#http/buyers/holds.ts';
import { changeHold, placeHold, releaseHold } from '#rehearsal/player/buyer-requests.ts';
import type { PlayerRequest } from '#rehearsal/player/connection.ts';
import { journalPath } from '#persistence/sqlite/schema.ts';
import { holdfast, succeeded } from '../cli/holdfast.ts';
import { deep } from '../depth.ts';
import { start } from '../fixtures/checkout.ts';
import { audit } from '../fixtures/checks.ts';
import { HOLDS, newSession, type Answer } from '../fixtures/client.ts';
import { clubNight, floor, gala, item, largeHall, seat, smallGallery, theatreRun } from '../fixtures/events.ts';
import { type ServiceProcess, spawnService, spawnServiceFor } from '../fixtures/service.ts';
import { makeFolder, newFolder } from '../fixtures/folders.ts';
import { withoutStrace } from '../fixtures/strace.ts';
import { until } from '../fixtures/until.ts';

const ROUNDS = deep(1);
const CLIENTS = 24;
/** Over fifty turns of a cancellation. */
const CANCELLED_ORDERS = 24 * CLIENTS;
/** `holdfast verify` is slow, so the suite runs it at every fourth kill. */
const VERIFIED_EVERY = Math.min(ROUNDS, 4);

const hours = { hold_minutes: 600, payment_minutes: 700 };

/** 3,000 seats in the stalls, and a floor for 100,000. */
const hall = theatreRun({
  ...hours,
  localities: [
    largeHall(60, { seats: 50, accessible: [1, 2] }, smallGallery),
    { id: 'yard', name: 'Yard', seating: 'GENERAL', capacity: 100_000 },
  ],
});
const club = clubNight({
  ...hours,
  localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 100_000 }],
});

/** Rounds that share two events; later rounds sell the next two, so that there are always tickets left. */
const ROUNDS_OF_A_SEASON = 8;

/** What one session knows of its hold. */
interface Entry {
  readonly session: string;
  readonly eventId: string;
  /** As last answered; null before the first answer. */
  hold: HoldBody | null;
  /** A change that was sent and not answered when the process was killed. */
  underWay: 'place' | 'change' | 'release' | null;
}

/** The ids of the two events on sale. */
interface Season {
  readonly club: string;
  readonly hall: string;
}

async function openSeason(service: ServiceProcess, n: number): Promise<Season> {
  const season = { club: `evt_club_${n}`, hall: `evt_play_${n}` };
  await service.define({ ...club, id: season.club, slug: `club-${n}` });
  await service.define({ ...hall, id: season.hall, slug: `play-${n}` });
  return season;
}

/** Changes holds until the process has ended, and records every answer. */
async function shopUntilGone(service: ServiceProcess, n: number, season: Season, ledger: Entry[]): Promise<void> {
  const eventId = n % 3 === 0 ? season.club : season.hall;
  const items = (quantity: number) =>
    eventId === season.club ? [floor(quantity)] : [seat('stalls', n % 2 === 0 ? 'fri' : 'sat', quantity)];
  for (let step = n; ; step += 1) {
    const entry: Entry = { session: newSession(), eventId, hold: null, underWay: null };
    ledger.push(entry);
    const send = async (kind: 'place' | 'change' | 'release', request: PlayerRequest) => {
      entry.underWay = kind;
      const { method, path: address, headers = {}, body } = request;
      const answer: Answer<HoldBody> = await service.call<HoldBody>(method, address, { headers, body });
      entry.underWay = null;
      if (answer.status < 300) entry.hold = answer.body;
      return answer;
    };
    try {
      const { session } = entry;
      const placed = await send('place', placeHold(eventId, session, items(1 + (step % 4))));
      if (placed.status !== 201) continue;
      const { id } = placed.body;
      if (step % 3 > 0) await send('change', changeHold(session, id, items(1 + ((step + 1) % 4))));
      if (step % 3 > 1) await send('release', releaseHold(session, id));
    } catch {
      return;
    }
  }
}

/** Compares the state of the service with the answers that the clients got. */
async function compare(service: ServiceProcess, ledger: readonly Entry[]): Promise<void> {
  await Promise.all(
    ledger.map(async ({ session, hold, underWay }) => {
      if (hold === null) return;
      const { status, body } = await service.call<HoldBody>('GET', `${HOLDS}/${hold.id}`, { sessionKey: session });
      assert.equal(status, 200, `an answered hold is gone: ${JSON.stringify({ hold, underWay, body })}`);
      if (underWay === null) assert.deepEqual(body, hold);
      else if (underWay === 'release') assert.deepEqual({ ...body, status: '' }, { ...hold, status: '' });
      else assert.equal(body.status, 'ACTIVE');
    }),
  );
}

/** No seat in two holds, and as many tickets held as the clients hold; unanswered requests may add to them. */
async function addUp(service: ServiceProcess, season: Season, ledger: readonly Entry[]): Promise<void> {
  const seats = new Set<string>();
  let certain = 0;
  let doubtful = 0;
  for (const { eventId, hold, underWay } of ledger) {
    if (eventId !== season.club && eventId !== season.hall) continue;
    if (underWay !== null) doubtful += 4;
    if (hold === null || hold.status !== 'ACTIVE') continue;
    for (const item of hold.items) {
      if (underWay === null) certain += item.ticket_count;
      if (underWay !== null) continue;
      for (const id of item.seat_ids) {
        const key = `${item.performance_id} ${id}`;
        assert.ok(!seats.has(key), `${key} is held twice`);
        seats.add(key);
      }
    }
  }
  const performances = [
    ...(await audit(service, season.club)).values(),
    ...(await audit(service, season.hall)).values(),
  ];
  const held = performances.reduce((sum, performance) => sum + performance.held, 0);
  assert.ok(held >= certain && held <= certain + doubtful, `${held} held, ${certain} certain, ${doubtful} in doubt`);
}

async function verify(folder: string): Promise<void> {
  succeeded(await holdfast(['verify', '--json'], { DATA_DIR: folder }));
}

it(`survives kill -9 under load, ${ROUNDS} times`, async (t) => {
  const folder = makeFolder();
  const ledger: Entry[] = [];
  let service = await spawnService({ folder });
  t.after(() => service.close());
  let season = await openSeason(service, 0);
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round > 0 && round % ROUNDS_OF_A_SEASON === 0) season = await openSeason(service, round / ROUNDS_OF_A_SEASON);
    const begin = ledger.length;
    const clients = Array.from({ length: CLIENTS }, (_, n) => shopUntilGone(service, n, season, ledger));
    while (ledger.length < begin + 3 * CLIENTS) await pause(2);
    await pause((round * 37) % 200);
    await service.end('SIGKILL');
    await Promise.all(clients);
    assert.ok(
      ledger.slice(begin).some(({ hold }) => hold !== null),
      'the load fault fired: something was answered',
    );
    if ((round + 1) % VERIFIED_EVERY === 0) await verify(folder);
    service = await spawnService({ folder });
    await compare(service, ledger.slice(begin));
    await addUp(service, season, ledger);
  }
  t.diagnostic(`${ledger.filter(({ hold }) => hold !== null).length} holds in the ledger`);
  assert.equal(await service.end('SIGTERM'), 0);
});

it('finishes a cancellation that kill -9 cut short, after the start and without a request', async (t) => {
  const folder = makeFolder();
  let service = await spawnService({ folder });
  t.after(() => service.close());
  const yard = { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: CANCELLED_ORDERS };
  const localities = (gala() as { localities: object[] }).localities.with(0, yard);
  await service.define(gala({ localities, max_tickets_per_email: null }));
  for (let orders = 0; orders < CANCELLED_ORDERS; orders += CLIENTS) {
    const guest = { items: [item('guest', 1)], accept_terms: true };
    await Promise.all(Array.from({ length: CLIENTS }, () => start(service, guest)));
  }
  const cancelled = service.admin.post('/admin/events/evt_gala/performances/eve/cancel').catch(() => null);
  while (cancelledOrders(folder) === 0) await pause(1);
  await service.end('SIGKILL');
  await cancelled;
  const before = cancelledOrders(folder);
  assert.ok(before < CANCELLED_ORDERS, 'the kill came after the end');
  t.diagnostic(`${before} of ${CANCELLED_ORDERS} orders were cancelled before the kill`);
  service = await spawnService({ folder });
  await until(() => cancelledOrders(folder) === CANCELLED_ORDERS, 'every order is cancelled');
  const { sold, held } = (await audit(service, 'evt_gala')).get('eve')!;
  assert.deepEqual([sold, held], [0, 0]);
  await service.end('SIGTERM');
  await verify(folder);
});

/** The facts of cancelled orders in a journal, of a process that may be running. */
function cancelledOrders(folder: string): number {
  const db = new Database(journalPath(folder), { readonly: true });
  try {
    return db.prepare("SELECT count(*) FROM journal WHERE type = 'OrderCancelled'").pluck().get() as number;
  } finally {
    db.close();
  }
}

it(
  'has the hold on disk before it answers: fsync returns before the 201 is written',
  { skip: withoutStrace },
  async (t) => {
    const folder = newFolder(t);
    const trace = path.join(newFolder(t), 'trace.txt');
    const rules = ['-D', '-f', '-s', '4200', '-e', 'trace=fsync,pwrite64,write,writev', '-o', trace];
    // From its sources, as it is installed.
    const service = await spawnServiceFor(t, {
      folder,
      environment: { NODE_OPTIONS: '' },
      under: ['strace', ...rules],
    });
    await service.define(club);
    const { id } = await service.hold({ session_key: newSession(), items: [floor(1)] });
    assert.equal(await service.end('SIGTERM'), 0);
    const isWhole = new RegExp(`^${service.pid} .*\\+\\+\\+ exited`, 'm');
    await until(() => isWhole.test(readFileSync(trace, 'utf8')), 'the trace is complete');
    const lines = readFileSync(trace, 'utf8').split('\n');
    const written = lines.findIndex((line) => /pwrite64\(/.test(line) && line.includes(id));
    const answered = lines.findIndex((line) => /HTTP\/1\.1 201/.test(line) && line.includes(id));
    assert.ok(written >= 0, 'the fact went to the disk');
    assert.ok(answered > written, 'the answer went out after it');
    const thread = lines[written]!.split(' ')[0];
    const synced = lines
      .slice(written, answered)
      .some((line) => line.startsWith(`${thread} `) && /fsync(?:\(| resumed).*= 0$/.test(line));
    assert.ok(synced, 'and between the two fsync returned, in the thread that wrote the fact');
  },
);
