/**
 * A full disk: changes are answered 503 with Retry-After, reads go on, /health/ready says so, it goes on by itself, and
 * nothing that was answered is lost. Once with the journal's lever, once on a small file system where one may be mounted.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { startSpaceGuard } from '#actors/space-guard.ts';
import type { HoldBody } from '#http/schemas/holds.ts';
import type { QueueEntryBody } from '#http/schemas/queue.ts';
import { newFolder, openHouse, spawnHouse, type Json } from '../api/harness.ts';
import { as, callerOf, clubNight, HOLDS, MINUTE, newSession, openShop, type Caller } from '../api/shop.ts';
import { gala, item, sendWebhook, somebody, start, START, statusOf, wish, type Started } from '../api/till.ts';
import { assertOverloaded, bigClub, isReady, place, readHold, until, verifies } from './process.ts';

const MEGABYTE = 2 ** 20;

describe('A full disk', () => {
  for (const outcome of ['LOST', 'KEPT'] as const) {
    it(`refuses changes, reads on and comes back, the failed batch being ${outcome.toLowerCase()}`, async (t) => {
      const injectFault = { kind: 'FULL', afterCommits: 3, outcome, fullProbes: 4 } as const;
      const house = await openHouse({ journal: { injectFault, probeEveryMs: 100 } });
      t.after(() => house.close());
      await house.define(bigClub);
      const [one, two, three] = [newSession(), newSession(), newSession()];
      const placed = await place(house, one);
      assert.equal(placed.status, 201);
      assert.equal((await place(house, two)).status, 201);
      assertOverloaded(await place(house, three));

      const unready = await house.call('GET', '/health/ready');
      assert.equal(unready.status, 503);
      assert.match(String(unready.body['reason']), /the disk is full/);
      assert.equal((await house.call('GET', '/health/live')).status, 200);
      assert.deepEqual((await readHold(house, placed.body, one)).body, placed.body, 'reads go on');
      assert.equal((await house.call('GET', '/api/events/public/club-night')).status, 200);
      assertOverloaded(await place(house, three));
      assertOverloaded(await house.call('DELETE', `${HOLDS}/${placed.body.id}`, { sessionKey: one }));

      await until('ready again', () => isReady(house));
      assert.deepEqual((await readHold(house, placed.body, one)).body, placed.body);
      assert.equal((await place(house, three)).status, 201);
      const { body } = await house.operate<{ performances: { held: number }[] }>('GET', '/admin/events/evt_club');
      assert.equal(body.performances[0]!.held, 3, 'a hold in doubt is there whole, and replaced, or not at all');
    });
  }
});

/** After so many commits no room is found, and no probe finds any. */
const fullAfter = (afterCommits: number) =>
  ({ kind: 'FULL', afterCommits, outcome: 'LOST', fullProbes: Number.MAX_SAFE_INTEGER }) as const;

describe('While nothing can be written', () => {
  it('what runs out reads as ended, and what it kept reads as free', async (t) => {
    const house = await openHouse({ journal: { injectFault: fullAfter(7) } });
    t.after(() => house.close());
    const call = callerOf((...args) => house.call(...args));
    await house.define(gala({ hold_minutes: 5, payment_minutes: 6 }) as Json);
    await house.define(
      clubNight({ waiting_room: true, waiting_room_rate: 1, waiting_room_minutes: 3, hold_minutes: 5 }) as Json,
    );
    const [holder, admitted, patient] = [newSession(), newSession(), newSession()];
    const wanted = { event_id: 'evt_gala', session_key: holder, items: [item('seat', 2)] };
    const { body: hold } = await call.post<HoldBody>(HOLDS, wanted);
    const { body: order } = await call.post<Started>(START, wish({ customer: somebody(), items: [item('single', 2)] }));
    const [pass, place1] = [await joinAt(call, admitted), await joinAt(call, patient)];
    assert.deepEqual([hold.status, pass.status, place1.status], ['ACTIVE', 'ADMITTED', 'WAITING']);
    assertOverloaded(await call.post(HOLDS, { ...wanted, session_key: newSession() }));
    assert.equal(house.service.engine.journal.status, 'FULL', 'the fault fired');

    const seenHold = async () => (await call.get<HoldBody>(`${HOLDS}/${hold.id}`, as(holder))).body.status;
    const seenOrder = async () =>
      (await call.get<{ status: string }>(`/api/checkout/status/${order.order_id}`)).body.status;
    const seenEntry = async ({ id }: QueueEntryBody, session: string) => {
      const { status, body } = await call.get<QueueEntryBody>(`/api/checkout/queue/${id}`, as(session));
      assert.equal(status, 200, 'reads go on');
      return body.status;
    };
    const seatsHeld = async () =>
      (await call.get<{ held: string[] }>('/api/events/public/gala/seating/occupancy')).body.held.length;
    const factsBefore = house.service.engine.journal.durableSeq;
    const wait = async (ms: number): Promise<void> => {
      // Whoever waits is still there: a poll is no change.
      for (let waited = 0; waited < ms; waited += MINUTE) {
        house.wait(Math.min(MINUTE, ms - waited));
        assert.equal(await seenEntry(place1, patient), 'WAITING');
      }
    };
    assert.deepEqual([await seenHold(), await seatsHeld(), await seenOrder()], ['ACTIVE', 2, 'PENDING']);
    await wait(3 * MINUTE);
    assert.equal(await seenEntry(pass, admitted), 'EXPIRED');
    await wait(2 * MINUTE - 1);
    assert.deepEqual([await seenHold(), await seatsHeld()], ['ACTIVE', 2]);
    await wait(1);
    assert.deepEqual([await seenHold(), await seatsHeld(), await seenOrder()], ['EXPIRED', 0, 'PENDING']);
    await wait(MINUTE);
    assert.equal(await seenOrder(), 'EXPIRED');
    assertOverloaded(await call.delete(`${HOLDS}/${hold.id}`, as(holder)));
    assert.equal(house.service.engine.journal.status, 'FULL');
    assert.equal(house.service.engine.journal.appendedSeq, factsBefore, 'nothing was written');
  });

  it('what ran out and was read is written, once, when there is room again', async (t) => {
    const injectFault = { ...fullAfter(2), fullProbes: 8 };
    const house = await openHouse({ journal: { injectFault, probeEveryMs: 50 } });
    t.after(() => house.close());
    await house.define(bigClub);
    const session = newSession();
    const { body: hold } = await place(house, session);
    assertOverloaded(await place(house, newSession()));
    house.wait(600 * MINUTE);
    for (let reads = 0; reads < 3; reads += 1) {
      assert.equal((await readHold(house, hold, session)).body.status, 'EXPIRED');
    }
    await until('ready again', () => isReady(house));
    assert.equal((await readHold(house, hold, session)).body.status, 'EXPIRED');
    assert.equal((await place(house, session)).status, 201);
    const types = [...house.service.engine.journal.read()].map(({ type }) => type);
    assert.deepEqual(types, ['EventDefined', 'HoldPlaced', 'HoldExpired', 'HoldPlaced']);
  });

  it('no draw is held: a waiting room whose opening came reads as not open', async (t) => {
    const house = await openHouse({ journal: { injectFault: fullAfter(2) } });
    t.after(() => house.close());
    const call = callerOf((...args) => house.call(...args));
    const opensAt = new Date(house.now() + MINUTE).toISOString();
    await house.define(clubNight({ waiting_room: true, waiting_room_opens_at: opensAt }) as Json);
    const session = newSession();
    const entry = await joinAt(call, session);
    assertOverloaded(await call.post('/api/checkout/queue', { event_id: 'evt_club', session_key: newSession() }));
    house.wait(MINUTE + 1);
    const { body } = await call.get<QueueEntryBody>(`/api/checkout/queue/${entry.id}`, as(session));
    assert.deepEqual([body.status, body.open, body.position], ['WAITING', false, null]);
    const draw = await call.get<{ status: string; seed: string | null }>('/api/events/public/club-night/draw');
    assert.deepEqual([draw.body.status, draw.body.seed], ['pending', null]);
  });
});

/** Joins the waiting room of the club night; must be answered 201. */
async function joinAt(call: Caller, session: string): Promise<QueueEntryBody> {
  const joined = await call.post<QueueEntryBody>('/api/checkout/queue', { event_id: 'evt_club', session_key: session });
  assert.equal(joined.status, 201, JSON.stringify(joined.body));
  return joined.body;
}

describe('A disk that is nearly full', () => {
  it('takes no new holds, checkouts and places in line; changes, releases and payments go on', async (t) => {
    const environment: Record<string, string> = {};
    const shop = await openShop([gala()], environment);
    t.after(() => shop.close());
    const [one, two] = [newSession(), newSession()];
    const holdOf = (session_key: string) => ({ event_id: 'evt_gala', session_key, items: [item('single', 2)] });
    const { body: kept } = await shop.post<HoldBody>(HOLDS, holdOf(one));
    const { body: released } = await shop.post<HoldBody>(HOLDS, holdOf(two));
    const started = await start(shop, { customer: somebody() });

    environment['FREE_SPACE_MIN_MB'] = '1000000000';
    await shop.restart();
    assertOverloaded(await shop.post(HOLDS, holdOf(newSession())));
    assertOverloaded(await shop.post(START, wish({ hold_id: kept.id, session_key: one, items: undefined })));
    const office = await shop.house.service.engine.directory.byEventId('evt_gala');
    await assert.rejects(office!.ask({ type: 'JoinQueue', sessionKey: two }), { name: 'Overloaded' });
    const { status, body } = await shop.get('/health/ready');
    assert.equal(status, 503);
    assert.match(String(body['reason']), /the disk is nearly full: \d+ MB are free, .* need 1000000000 MB/);

    const back = await shop.delete<HoldBody>(`${HOLDS}/${released.id}`, as(two));
    assert.deepEqual([back.status, back.body.status], [200, 'RELEASED']);
    assert.equal((await sendWebhook(shop, { session: started.checkout_session_id })).status, 200);
    assert.equal((await statusOf(shop, started)).status, 'CONFIRMED');
    shop.wait(11 * 60_000);
    assert.equal((await shop.get<HoldBody>(`${HOLDS}/${kept.id}`, as(one))).body.status, 'EXPIRED');

    delete environment['FREE_SPACE_MIN_MB'];
    await shop.restart();
    assert.equal((await shop.post(HOLDS, holdOf(one))).status, 201);
  });

  it('is left a little above the mark where it was entered, and the reason tells what is missing', async (t) => {
    const space = { freeBytes: 300 * MEGABYTE, sizeBytes: 100 * 1024 * MEGABYTE };
    const guard = await startSpaceGuard({ folder: '.', freeBytesMin: null, spaceOf: async () => ({ ...space }) });
    t.after(() => guard.stop());
    const isLowAt = async (megabytes: number): Promise<boolean> => {
      space.freeBytes = megabytes * MEGABYTE;
      await guard.look();
      return guard.isLow;
    };
    assert.deepEqual([guard.isLow, guard.trouble], [false, null]);
    assert.equal(await isLowAt(257), false);
    assert.equal(await isLowAt(255), true);
    assert.match(guard.trouble!, /nearly full: 255 MB are free, .* need 256 MB/);
    assert.equal(await isLowAt(260), true, 'it does not flap');
    assert.equal(await isLowAt(290), false);
    space.sizeBytes = 64 * MEGABYTE;
    assert.equal(await isLowAt(4), false, 'of a small disk a twentieth is enough');
    assert.equal(await isLowAt(3), true);
  });

  it('is never one that cannot be looked at', async (t) => {
    const spaceOf = () => Promise.reject(new Error('it is gone'));
    const guard = await startSpaceGuard({ folder: '.', freeBytesMin: 1, spaceOf });
    t.after(() => guard.stop());
    assert.equal(guard.isLow, false);
  });
});

/** Mounts a small file system of its own for the test; null, and the test skipped, where that is not permitted. */
function mountSmall(t: TestContext, megabytes: number): string | null {
  const folder = newFolder();
  const wanted = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder];
  const mounted = spawnSync('mount', wanted, { encoding: 'utf8' });
  if (mounted.status !== 0) {
    rmSync(folder, { recursive: true });
    t.skip(`no file system may be mounted here: ${mounted.error?.message ?? mounted.stderr.trim()}`);
    return null;
  }
  t.after(() => {
    // Lazily: a test that failed may leave a process in it, which is ended after this.
    spawnSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

it('A file system of 24 MB may fill up under load, and what was sold is sold', { timeout: 60_000 }, async (t) => {
  const mountPoint = mountSmall(t, 24);
  if (mountPoint === null) return;
  const folder = path.join(mountPoint, 'data');
  mkdirSync(folder);
  // Without the free-space guard, which would stop the sale before the last page is full.
  const house = await spawnHouse({ folder, environment: { FREE_SPACE_MIN_MB: '0' } });
  t.after(() => house.end('SIGKILL'));
  await house.define(bigClub);
  const ballast = path.join(mountPoint, 'ballast');
  const leaveFree = (bytes: number): void => {
    const { bavail, bsize } = statfsSync(mountPoint);
    writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
  };
  const ledger = new Map<string, HoldBody>();
  let refused = 0;
  const sellUntilRefused = async (timesMax: number): Promise<void> => {
    for (let times = 0; times < timesMax;) {
      const session = newSession();
      const answer = await place(house, session);
      if (answer.status === 201) ledger.set(session, answer.body);
      else {
        assertOverloaded(answer);
        refused += 1;
        times += 1;
      }
    }
  };

  leaveFree(300 * 1024);
  await Promise.all(Array.from({ length: 16 }, () => sellUntilRefused(4)));
  const { body: unready } = await house.call('GET', '/health/ready');
  assert.match(String(unready['reason']), /the disk is full/);
  for (const [session, hold] of [...ledger].slice(-3)) {
    assert.deepEqual((await readHold(house, hold, session)).body, hold, 'reads go on');
  }
  assert.match(house.printed(), /the disk of the journal is full/, 'it was really full');

  rmSync(ballast);
  await until('ready again', () => isReady(house));
  const last = newSession();
  const placed = await place(house, last);
  assert.equal(placed.status, 201);
  ledger.set(last, placed.body);
  await house.end('SIGKILL');
  const next = await spawnHouse({ folder });
  t.after(() => next.end('SIGKILL'));
  for (const [session, hold] of ledger) assert.deepEqual((await readHold(next, hold, session)).body, hold);
  assert.equal(await next.end('SIGTERM'), 0);
  await verifies(folder);
  t.diagnostic(`${ledger.size} holds were answered, ${refused} refused`);
});
