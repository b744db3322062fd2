/** The keys of personal data move with a shop: into a cluster, and back into a folder of a single machine. */
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { startEngine, type Engine } from '#engine/engine.ts';
import { searchSubject, SEARCH_BEGIN } from '#privacy/subject-search.ts';
import { verifyFolder } from '#offline/verification.ts';
import { ImportRefused } from '#cluster/moving/import.ts';
import { keyIdOf } from '#domain/personal.ts';
import { isRefusal } from '#domain/refusal.ts';
import { CopyRefused } from '#persistence/folder/backup.ts';
import { readKeysIdentity } from '#persistence/nats/keys/copy.ts';
import { openKeyStream } from '#persistence/nats/keys/keys.ts';
import { KeyFile, KeyReader, keysPath } from '#persistence/sqlite/key-file.ts';
import type { OrderView } from '#domain/view.ts';
import { concert } from '../fixtures/actors.ts';
import { start, visitor } from '../fixtures/commands.ts';
import { newFolder } from '../fixtures/folders.ts';
import { backUp, good, importInto, memoryCluster, SOLD_AT, soldFolder } from './moving.ts';

const MARIA = 'maria@example.com';
const BERND = 'bernd@example.com';

/** Two free tickets for an address at most. */
const limited = concert({
  id: 'evt_limited',
  slug: 'limited',
  max_tickets_per_email: 2,
  sellingStages: [{ id: 'now', name: 'Now', prices: { stand: 0 } }],
});

const item = { ticketTypeId: 'stand', sellingStageId: 'now', quantity: 1, performanceId: null, seatIds: null };

async function buy(engine: Engine, email: string): Promise<OrderView | string> {
  const actor = (await engine.events.byEventId('evt_limited'))!;
  const items = [{ ...item, discountCode: null, attendees: [visitor(`Guest of ${email}`)], barPerks: [] }];
  const customer = { email, name: email.split('@')[0]!, documentNumber: null, phone: null };
  const reply = await actor.execute(start({ items, customer }));
  return isRefusal(reply) ? reply.code : reply.order;
}

async function bought(engine: Engine, email: string): Promise<OrderView> {
  const order = await buy(engine, email);
  if (typeof order === 'string') assert.fail(order);
  return order;
}

async function erase(engine: Engine, { id: orderId }: OrderView): Promise<void> {
  const actor = (await engine.events.byEventId('evt_limited'))!;
  assert.ok(!isRefusal(await actor.execute({ type: 'EraseOrder', orderId, operator: 'olga', note: null })));
}

interface Sold {
  readonly folder: string;
  /** A copy of the keys from before the erasure. */
  readonly oldKeys: string;
  readonly kept: OrderView;
  readonly erased: OrderView;
}

/** A folder in which two orders were placed and one of them erased. */
async function sell(t: TestContext): Promise<Sold> {
  const oldKeys = path.join(newFolder(t), 'old-keys.db');
  const orders: OrderView[] = [];
  const folder = await soldFolder(t, async (engine) => {
    assert.ok(!isRefusal(await engine.events.define(limited, { operator: null, note: null })));
    orders.push(await bought(engine, MARIA), await bought(engine, BERND));
    const reader = new KeyReader(keysPath(engine.folder));
    await reader.copyTo(oldKeys);
    reader.close();
    await erase(engine, orders[1]!);
  });
  return { folder, oldKeys, kept: orders[0]!, erased: orders[1]! };
}

async function open(t: TestContext, folder: string, keysLost = false): Promise<Engine> {
  const engine = await startEngine({
    folder,
    liveEventsMax: 100,
    waitingRepliesMax: 100,
    clockSource: () => SOLD_AT,
    keysLost,
    onFatal: (fault) => assert.fail(fault),
  });
  t.after(() => engine.stop());
  return engine;
}

/** What an engine says of an order's buyer. */
async function buyerOf(engine: Engine, { id: orderId }: OrderView): Promise<string> {
  const actor = (await engine.events.byEventId('evt_limited'))!;
  const found = await actor.read({ type: 'FindOrder', orderId });
  if (found === null || isRefusal(found)) assert.fail(`order ${orderId} is gone`);
  const { state, customer } = await engine.personalData.open(found.order);
  return customer?.email ?? state;
}

function putKeys(from: string, folder: string): void {
  for (const name of ['keys.db', 'keys.db-wal', 'keys.db-shm']) rmSync(path.join(folder, name), { force: true });
  copyFileSync(from, keysPath(folder));
}

describe('A shop with personal data', () => {
  it('moves into a cluster and back: all of it is readable, what was erased is erased, and limits of addresses hold', async (t) => {
    const { folder, kept, erased } = await sell(t);
    const before = await good(folder);
    const cluster = memoryCluster();
    const report = await importInto(cluster, folder);
    assert.deepEqual([report.openable, report.lost], [before.keys.openable, 0]);
    assert.ok(before.keys.openable > 0);
    const reader = new KeyReader(keysPath(folder));
    t.after(() => reader.close());
    assert.deepEqual(await readKeysIdentity(cluster.keys), reader.identity);
    assert.equal(cluster.notedKeysId, reader.identity.keysId);

    const out = path.join(newFolder(t), 'out');
    const copy = await backUp(cluster, out);
    assert.equal(copy.keys, keysPath(out));
    const after = await good(out);
    assert.deepEqual({ ...after.keys, file: null }, { ...before.keys, file: null });
    assert.equal(after.stateFingerprint, before.stateFingerprint);
    const engine = await open(t, out);
    assert.deepEqual([await buyerOf(engine, kept), await buyerOf(engine, erased)], [MARIA, 'ERASED']);
    const { purchases } = await searchSubject(engine, MARIA, { position: SEARCH_BEGIN, limit: 10 });
    assert.deepEqual(
      purchases.map(({ order }) => order.id),
      [kept.id],
    );
    await bought(engine, 'Maria+second@example.com');
    assert.equal(await buy(engine, MARIA), 'MAX_TICKETS_PER_EMAIL_EXCEEDED');
  });

  it('has keys in its cluster that nodes open, but none of erased orders, also where an old copy of the keys had them', async (t) => {
    const { folder, oldKeys, kept, erased } = await sell(t);
    putKeys(oldKeys, folder);
    assert.equal((await verifyFolder(folder)).keys.kept, 1);
    const cluster = memoryCluster();
    await importInto(cluster, folder);
    const keys = await openKeyStream({ log: cluster.keys, mayCreate: false, poolSize: 1 });
    t.after(() => keys.close());
    const [keptId, erasedId] = [kept, erased].map(({ personal }) => keyIdOf(personal.sealed!));
    assert.deepEqual([...(await keys.read([keptId!, erasedId!])).keys()], [keptId]);
    const out = path.join(newFolder(t), 'out');
    await backUp(cluster, out);
    assert.equal((await good(out)).keys.kept, 0);
  });

  it('is imported from an old backup with the keys of today, and what was erased since stays erased', async (t) => {
    const { folder, erased, kept, oldKeys } = await sell(t);
    const cluster = memoryCluster();
    await importInto(cluster, folder);
    // Backups from before and after another erasure at the single machine that the first one was restored on.
    const [monday, tuesday] = [path.join(newFolder(t), 'monday'), path.join(newFolder(t), 'tuesday')];
    await backUp(cluster, monday);
    cpSync(monday, tuesday, { recursive: true });
    const engine = await open(t, tuesday);
    await erase(engine, kept);
    await engine.stop();

    const again = memoryCluster();
    const report = await importInto(again, monday, { file: keysPath(tuesday) });
    assert.equal(report.lost, 0);
    const out = path.join(newFolder(t), 'out');
    await backUp(again, out);
    await good(out);
    const served = await open(t, out);
    assert.deepEqual([await buyerOf(served, kept), await buyerOf(served, erased)], ['ERASED', 'ERASED']);
    assert.ok(existsSync(oldKeys));
  });

  it('leaves its keys in a file of their own, or nowhere, when it is backed up so', async (t) => {
    const cluster = memoryCluster();
    const { folder, kept } = await sell(t);
    await importInto(cluster, folder);
    const [apart, without] = [path.join(newFolder(t), 'apart'), path.join(newFolder(t), 'without')];
    const file = path.join(newFolder(t), 'keys-of-monday.db');
    assert.equal((await backUp(cluster, apart, file)).keys, file);
    assert.equal((await backUp(cluster, without, null)).keys, null);
    for (const out of [apart, without]) {
      assert.deepEqual(
        readdirSync(out).filter((name) => name.startsWith('keys')),
        [],
      );
      assert.deepEqual((await verifyFolder(out, {}, { keys: file })).problems, []);
      assert.match((await verifyFolder(out)).problems[0]!.what, /it is missing, and \d+ sealed texts need it/);
    }
    const other = path.join(newFolder(t), 'other');
    await assert.rejects(backUp(cluster, other, file), CopyRefused);
    assert.equal(existsSync(other), false);
    copyFileSync(file, keysPath(without));
    assert.equal(await buyerOf(await open(t, without), kept), MARIA);
  });

  it('is not imported without its keys unless that is accepted, and nothing is written before', async (t) => {
    const { folder, kept } = await sell(t);
    const cluster = memoryCluster();
    const none = path.join(newFolder(t), 'none.db');
    await assert.rejects(
      importInto(cluster, folder, { file: none }),
      (error: unknown) =>
        error instanceof ImportRefused && /it is missing/.test(error.message) && /--keys/.test(error.hint),
    );
    const other = path.join(newFolder(t), 'other.db');
    new KeyFile(other).close();
    await assert.rejects(importInto(cluster, folder, { file: other }), /not the ones that the journal is sealed with/);
    assert.deepEqual(
      await Promise.all(cluster.logs.map((log) => log.lastSeq())),
      cluster.logs.map(() => 0),
    );
    assert.equal(cluster.keys.messages.length, 0);

    const accepted = await importInto(cluster, folder, { file: none, isLossAccepted: true });
    assert.equal(accepted.openable, 0);
    const out = path.join(newFolder(t), 'out');
    await backUp(cluster, out);
    assert.equal(await buyerOf(await open(t, out, true), kept), 'ERASED');
  });

  it('is not imported into a cluster that has keys', async (t) => {
    const { folder } = await sell(t);
    const cluster = memoryCluster();
    await (await openKeyStream({ log: cluster.keys, poolSize: 1 })).close();
    await assert.rejects(importInto(cluster, folder), /it has keys of personal data/);
  });
});
