/**
 * A full disk: changes are answered 503 with Retry-After, reads go on, /health/ready says so, it goes on by itself, and
 * nothing that was answered is lost. Once with an injected fault, once on a small file system where one may be mounted.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { startSpaceGuard } from '#engine/space-guard.ts';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { QueueEntryBody } from '#http/buyers/queue.ts';
import {
  checkoutBody,
  newCustomer,
  sendWebhook,
  start,
  START_CHECKOUT,
  statusOf,
  type Started,
} from '../fixtures/checkout.ts';
import { as, HOLDS, newSession, type Caller, type Json } from '../fixtures/client.ts';
import { clubNight, gala, item } from '../fixtures/events.ts';
import { MINUTE, openService, openServiceFor, spawnService } from '../fixtures/service.ts';
import { serving } from '../cli/holdfast.ts';
import { assertOverloaded, bigClub, isReady, place, readHold, verifies } from './calls.ts';
import { makeFolder, removeFolder } from '../fixtures/folders.ts';
import { until } from '../fixtures/until.ts';

const MEGABYTE = 2 ** 20;

describe('A full disk', () => {
  for (const outcome of ['LOST', 'KEPT'] as const) {
    it(`refuses changes, serves reads and recovers, with the failed batch ${outcome.toLowerCase()}`, async (t) => {
      const hasRoom = new Int32Array(new SharedArrayBuffer(4));
      const injectFault = { kind: 'FULL', afterCommits: 3, outcome, fullProbes: 0, hasRoom } as const;
      const service = await openService({ journal: { injectFault, probeEveryMs: 20 } });
      t.after(() => service.close());
      await service.define(bigClub);
      const [one, two, three] = [newSession(), newSession(), newSession()];
      const placed = await place(service, one);
      assert.equal(placed.status, 201);
      assert.equal((await place(service, two)).status, 201);
      assertOverloaded(await place(service, three));

      const unready = await service.call('GET', '/health/ready');
      assert.equal(unready.status, 503);
      assert.match(String(unready.body['reason']), /the disk is full/);
      assert.equal((await service.call('GET', '/health/live')).status, 200);
      assert.deepEqual((await readHold(service, placed.body, one)).body, placed.body, 'reads go on');
      assert.equal((await service.call('GET', '/api/events/public/club-night')).status, 200);
      assertOverloaded(await place(service, three));
      assertOverloaded(await service.call('DELETE', `${HOLDS}/${placed.body.id}`, { sessionKey: one }));

      Atomics.store(hasRoom, 0, 1);
      await until(() => isReady(service), 'the service is ready again');
      assert.deepEqual((await readHold(service, placed.body, one)).body, placed.body);
      assert.equal((await place(service, three)).status, 201);
      const { body } = await service.operate<{ performances: { held: number }[] }>('GET', '/admin/events/evt_club');
      assert.equal(body.performances[0]!.held, 3, 'a hold in doubt is there whole, and replaced, or not at all');
    });
  }
});

/** After so many commits no room is found, and no probe finds any. */
const fullAfter = (afterCommits: number) =>
  ({ kind: 'FULL', afterCommits, outcome: 'LOST', fullProbes: Number.MAX_SAFE_INTEGER }) as const;

describe('A service that cannot write', () => {
  it('shows expired holds as ended and their tickets as available', async (t) => {
    const service = await openService({ journal: { injectFault: fullAfter(7) } });
    t.after(() => service.close());
    await service.define(gala({ hold_minutes: 5, payment_minutes: 6 }));
    await service.define(
      clubNight({ waiting_room: true, waiting_room_rate: 1, waiting_room_minutes: 3, hold_minutes: 5 }) as Json,
    );
    const [holder, admitted, patient] = [newSession(), newSession(), newSession()];
    const wanted = { event_id: 'evt_gala', session_key: holder, items: [item('seat', 2)] };
    const { body: hold } = await service.post<HoldBody>(HOLDS, wanted);
    const { body: order } = await service.post<Started>(
      START_CHECKOUT,
      checkoutBody({ customer: newCustomer(), items: [item('single', 2)] }),
    );
    const [pass, place1] = [await joinAt(service, admitted), await joinAt(service, patient)];
    assert.deepEqual([hold.status, pass.status, place1.status], ['ACTIVE', 'ADMITTED', 'WAITING']);
    assertOverloaded(await service.post(HOLDS, { ...wanted, session_key: newSession() }));
    assert.equal(service.internals.engine.journal.status, 'FULL', 'the fault fired');

    const seenHold = async () => (await service.get<HoldBody>(`${HOLDS}/${hold.id}`, as(holder))).body.status;
    const seenOrder = async () =>
      (await service.get<{ status: string }>(`/api/checkout/status/${order.order_id}`)).body.status;
    const seenEntry = async ({ id }: QueueEntryBody, session: string) => {
      const { status, body } = await service.get<QueueEntryBody>(`/api/checkout/queue/${id}`, as(session));
      assert.equal(status, 200, 'reads go on');
      return body.status;
    };
    const seatsHeld = async () =>
      (await service.get<{ held: string[] }>('/api/events/public/gala/seating/occupancy')).body.held.length;
    const factsBefore = service.internals.engine.journal.durableSeq;
    const wait = async (ms: number): Promise<void> => {
      // A poll keeps the entry alive, also while nothing can be written.
      for (let waited = 0; waited < ms; waited += MINUTE) {
        service.wait(Math.min(MINUTE, ms - waited));
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
    assertOverloaded(await service.delete(`${HOLDS}/${hold.id}`, as(holder)));
    assert.equal(service.internals.engine.journal.status, 'FULL');
    assert.equal(service.internals.engine.journal.appendedSeq, factsBefore, 'nothing was written');
  });

  it('writes each expiry once when there is room again', async (t) => {
    const injectFault = { ...fullAfter(2), fullProbes: 8 };
    const service = await openService({ journal: { injectFault, probeEveryMs: 50 } });
    t.after(() => service.close());
    await service.define(bigClub);
    const session = newSession();
    const { body: hold } = await place(service, session);
    assertOverloaded(await place(service, newSession()));
    service.wait(600 * MINUTE);
    for (let reads = 0; reads < 3; reads += 1) {
      assert.equal((await readHold(service, hold, session)).body.status, 'EXPIRED');
    }
    await until(() => isReady(service), 'the service is ready again');
    assert.equal((await readHold(service, hold, session)).body.status, 'EXPIRED');
    assert.equal((await place(service, session)).status, 201);
    const types = [...service.internals.engine.journal.read()].map(({ type }) => type);
    assert.deepEqual(types, ['EventDefined', 'HoldPlaced', 'HoldExpired', 'HoldPlaced']);
  });

  it('holds no draw: a waiting room whose opening time came is shown as not open', async (t) => {
    const service = await openService({ journal: { injectFault: fullAfter(2) } });
    t.after(() => service.close());
    const opensAt = new Date(service.now() + MINUTE).toISOString();
    await service.define(clubNight({ waiting_room: true, waiting_room_opens_at: opensAt }));
    const session = newSession();
    const entry = await joinAt(service, session);
    assertOverloaded(await service.post('/api/checkout/queue', { event_id: 'evt_club', session_key: newSession() }));
    service.wait(MINUTE + 1);
    const { body } = await service.get<QueueEntryBody>(`/api/checkout/queue/${entry.id}`, as(session));
    assert.deepEqual([body.status, body.open, body.position], ['WAITING', false, null]);
    const draw = await service.get<{ status: string; seed: string | null }>('/api/events/public/club-night/draw');
    assert.deepEqual([draw.body.status, draw.body.seed], ['pending', null]);
  });
});

/** Joins the waiting room of the club night; must be answered 201. */
async function joinAt(service: Caller, session: string): Promise<QueueEntryBody> {
  const joined = await service.post<QueueEntryBody>('/api/checkout/queue', {
    event_id: 'evt_club',
    session_key: session,
  });
  assert.equal(joined.status, 201, JSON.stringify(joined.body));
  return joined.body;
}

describe('A disk that is nearly full', () => {
  it('refuses new holds, checkouts and queue entries, and accepts changes, releases and payments', async (t) => {
    const environment: Record<string, string> = {};
    const service = await openServiceFor(t, [gala()], environment);
    const [one, two] = [newSession(), newSession()];
    const holdOf = (session_key: string) => ({ event_id: 'evt_gala', session_key, items: [item('single', 2)] });
    const { body: kept } = await service.post<HoldBody>(HOLDS, holdOf(one));
    const { body: released } = await service.post<HoldBody>(HOLDS, holdOf(two));
    const started = await start(service, { customer: newCustomer() });

    environment['FREE_SPACE_MIN_MB'] = '1000000000';
    await service.restart();
    assertOverloaded(await service.post(HOLDS, holdOf(newSession())));
    assertOverloaded(
      await service.post(START_CHECKOUT, checkoutBody({ hold_id: kept.id, session_key: one, items: undefined })),
    );
    const state = await service.internals.engine.events.byEventId('evt_gala');
    await assert.rejects(state!.execute({ type: 'JoinQueue', sessionKey: two }), { name: 'Overloaded' });
    const { status, body } = await service.get('/health/ready');
    assert.equal(status, 503);
    assert.match(String(body['reason']), /the disk is nearly full: \d+ MB are free, .* need 1000000000 MB/);

    const back = await service.delete<HoldBody>(`${HOLDS}/${released.id}`, as(two));
    assert.deepEqual([back.status, back.body.status], [200, 'RELEASED']);
    assert.equal((await sendWebhook(service, { session: started.checkout_session_id })).status, 200);
    assert.equal((await statusOf(service, started)).status, 'CONFIRMED');
    service.wait(11 * 60_000);
    assert.equal((await service.get<HoldBody>(`${HOLDS}/${kept.id}`, as(one))).body.status, 'EXPIRED');

    delete environment['FREE_SPACE_MIN_MB'];
    await service.restart();
    assert.equal((await service.post(HOLDS, holdOf(one))).status, 201);
  });

  it('ends a little above the limit at which it began, and its reason says how much room is missing', async (t) => {
    const space = { freeBytes: 300 * MEGABYTE, sizeBytes: 100 * 1024 * MEGABYTE };
    const guard = await startSpaceGuard({ folder: '.', freeBytesMin: null, spaceOf: async () => ({ ...space }) });
    t.after(() => guard.stop());
    const isLowAt = async (megabytes: number): Promise<boolean> => {
      space.freeBytes = megabytes * MEGABYTE;
      await guard.check();
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

  it('is not assumed when the free space cannot be read', async (t) => {
    const spaceOf = () => Promise.reject(new Error('it is gone'));
    const guard = await startSpaceGuard({ folder: '.', freeBytesMin: 1, spaceOf });
    t.after(() => guard.stop());
    assert.equal(guard.isLow, false);
  });
});

/** Mounts a small file system of its own for the test; null, and the test skipped, where that is not permitted. */
function mountSmall(t: TestContext, megabytes: number): string | null {
  const folder = makeFolder();
  const wanted = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder];
  const mounted = spawnSync('mount', wanted, { encoding: 'utf8' });
  if (mounted.status !== 0) {
    removeFolder(folder);
    t.skip(`no file system may be mounted here: ${mounted.error?.message ?? mounted.stderr.trim()}`);
    return null;
  }
  t.after(() => {
    // Lazily: a test that failed may leave a process in it, which is ended after this.
    spawnSync('umount', ['--lazy', folder]);
    removeFolder(folder);
  });
  return folder;
}

it(
  'A file system of 24 MB fills up under load, and every sale that was answered is kept',
  { timeout: 400_000 },
  async (t) => {
    const mountPoint = mountSmall(t, 24);
    if (mountPoint === null) return;
    const folder = path.join(mountPoint, 'data');
    mkdirSync(folder);
    // Without the free-space guard, which would stop the sale before the last page is full.
    const service = await spawnService({ folder, environment: { FREE_SPACE_MIN_MB: '0' } });
    t.after(() => service.end('SIGKILL'));
    await service.define(bigClub);
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
        const answer = await place(service, session);
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
    const { body: unready } = await service.call('GET', '/health/ready');
    assert.match(String(unready['reason']), /the disk is full/);
    for (const [session, hold] of [...ledger].slice(-3)) {
      assert.deepEqual((await readHold(service, hold, session)).body, hold, 'reads go on');
    }
    assert.match(service.printed(), /the disk of the journal is full/, 'it was really full');

    rmSync(ballast);
    await until(() => isReady(service), 'the service is ready again');
    const last = newSession();
    const placed = await place(service, last);
    assert.equal(placed.status, 201);
    ledger.set(last, placed.body);
    await service.end('SIGKILL');
    const next = await serving(t, folder);
    for (const [session, hold] of ledger) assert.deepEqual((await readHold(next.client, hold, session)).body, hold);
    await next.stop();
    await verifies(folder);
    t.diagnostic(`${ledger.size} holds were answered, ${refused} refused`);
  },
);
