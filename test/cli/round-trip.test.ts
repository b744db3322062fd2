import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { buy } from '../fixtures/checkout.ts';
import { holdfast, holdfastProcess, samples, serving, servingProcess, succeeded } from './holdfast.ts';
import { newFolder } from '../fixtures/folders.ts';

interface Report {
  readonly ok: boolean;
  readonly head_seq: number;
  readonly base_seq: number;
  readonly events: number;
  readonly figures: { readonly holds: { readonly active: number }; readonly tickets: { readonly held: number } };
  readonly state_fingerprint: string;
  readonly chain?: string;
  readonly head_hash: string;
  readonly problems: readonly { readonly what: string; readonly where: string; readonly hint: string }[];
}

const twoInErfurt = {
  event_id: 'evt_erfurt',
  items: [{ ticket_type_id: 'kat1', selling_stage_id: 'general', performance_id: 'derby', quantity: 2 }],
};

test('a folder can be loaded, inspected, copied and verified while a service runs on it', async (t) => {
  const parent = newFolder(t);
  const data = path.join(parent, 'data');
  const service = await serving(t, data);
  const { environment } = service;
  const run = (...args: string[]) => holdfast(args, environment);

  const loaded = succeeded(await run('load', samples));
  assert.match(loaded.stdout, /evt_erfurt  created, version 1\n/);
  assert.match(loaded.stdout, /7 events loaded\.\n$/);
  const [again, taken, offline] = await Promise.all([
    run('load', samples, '--json'),
    holdfastProcess(['serve'], environment),
    run('load', '--offline', samples),
  ]);
  assert.ok(again.json<{ events: { version: number }[] }>().events.every(({ version }) => version === 1));
  assert.equal(taken.code, 3);
  assert.match(taken.stderr, /is in use by process \d+\n/);
  assert.equal(offline.code, 1);
  assert.match(offline.stderr, /is in use by process \d+\nStop that process first/);

  await service.client.hold({ session_key: 'session-a', ...twoInErfurt });
  await service.client.hold({ session_key: 'session-b', ...twoInErfurt });
  const followed = holdfast(['journal', '--type', 'HoldPlaced', '--json'], environment);
  const [verified, facts, revealed, inspected, date] = await Promise.all([
    run('verify', '--json'),
    followed,
    run('journal', '--type', 'HoldPlaced', '--reveal', '--since', '11'),
    run('inspect', 'erfurt-volley', '--json'),
    run('inspect', 'evt_erfurt', '--performance', 'derby'),
  ]);
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  const report = verified.json<Report>();
  assert.equal(report.events, 7);
  assert.equal(report.figures.holds.active, 2);
  assert.equal(report.figures.tickets.held, 4);
  const lines = facts.stdout.trimEnd().split('\n');
  assert.equal(lines.length, 2);
  const placed = JSON.parse(lines[0]!) as { event_id: string; data: { sessionKey: string } };
  assert.deepEqual([placed.event_id, placed.data.sessionKey], ['evt_erfurt', '***']);
  assert.match(revealed.stdout, /^11 .*"sessionKey":"session-b".*\n$/);
  assert.equal(inspected.json<{ holds: { active: number } }>().holds.active, 2);
  assert.match(date.stdout, /^kat1 +general .* 4 +0$/m);

  const out = path.join(parent, 'copy');
  const backup = succeeded(await run('backup', out, '--json'));
  assert.equal(backup.json<Report>().state_fingerprint, report.state_fingerprint);
  assert.equal(backup.json<Report>().head_hash, report.head_hash);
  for (const name of readdirSync(out).filter((each) => !/\.db|witness|snapshots/.test(each))) {
    assert.equal(statSync(path.join(out, name)).mode & 0o777, 0o600, name);
    assert.equal(readFileSync(path.join(out, name), 'utf8'), readFileSync(path.join(data, name), 'utf8'));
  }
  assert.ok(existsSync(path.join(out, 'admin-token')));
  const onto = await run('backup', out);
  assert.equal(onto.code, 1);
  assert.match(onto.stderr, /is not empty/);

  await service.stop();
});

test('an order can be inspected and exported, and survives kill -9, a replay and a copy', async (t) => {
  const parent = newFolder(t);
  const data = path.join(parent, 'data');
  const run = (...args: string[]) => holdfast(args, { DATA_DIR: data });
  succeeded(await run('load', '--offline', path.join(samples, 'club-night.json')));
  const service = await servingProcess(t, data);
  const items = [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 2 }];
  const hold = await service.client.hold({ session_key: 'session-a', items });
  const customer = { email: 'anna@example.org', name: '=Anna, "the" first' };
  const bought = { event_id: 'evt_club', session_key: 'session-a', hold_id: hold.id, items: undefined, customer };
  await buy(service.client, bought);
  await service.kill();

  const [inspected, csv, json, verified] = await Promise.all([
    run('inspect', 'night-shift'),
    run('export', 'orders', 'night-shift', '--format', 'csv'),
    run('export', 'orders', 'evt_club', '--format', 'json'),
    run('verify', '--json'),
  ]);
  assert.match(inspected.stdout, /^orders +1 CONFIRMED$/m);
  assert.match(inspected.stdout, /^holds +1 CONSUMED$/m);
  assert.match(
    csv.stdout,
    /^"order_id","status",.*\r\n"ord_[\w-]+","CONFIRMED","COMPLETED",.*,"'=Anna, ""the"" first","anna@example\.org",/,
  );
  const [order] = json.json<{ id: string; status: string; tickets: unknown[] }[]>();
  assert.deepEqual([order?.status, order?.tickets.length], ['CONFIRMED', 2]);
  const report = verified.json<Report>();
  assert.deepEqual([verified.code, report.problems], [0, []]);
  const copied = await run('backup', path.join(parent, 'copy'), '--json');
  assert.equal(copied.json<Report>().state_fingerprint, report.state_fingerprint);
});

test('the journal is pruned up to the previous snapshot, and any earlier time can still be restored', async (t) => {
  const parent = newFolder(t);
  const data = path.join(parent, 'data');
  const environment = { DATA_DIR: data };
  const run = (...args: string[]) => holdfast(args, environment);
  succeeded(await run('load', '--offline', samples));
  const before = (await run('verify', '--json')).json<Report>();

  const first = await serving(t, data);
  await first.client.hold({ session_key: 'session-a', ...twoInErfurt });
  succeeded(await holdfast(['snapshot', '--json'], first.environment));
  await first.client.hold({ session_key: 'session-b', ...twoInErfurt });
  const withBoth = (await run('verify', '--json')).json<Report>();
  const pruned = await holdfast(['snapshot', '--prune', '--json'], first.environment);
  const { archived } = pruned.json<{ archived: { from_seq: number; to_seq: number } }>();
  const firstHoldSeq = before.head_seq + 1;
  assert.deepEqual(archived, { from_seq: 1, to_seq: firstHoldSeq });
  await first.stop();

  const after = succeeded(await run('verify', '--json'));
  assert.equal(after.json<Report>().base_seq, firstHoldSeq);
  assert.equal(after.json<Report>().state_fingerprint, withBoth.state_fingerprint);
  const second = await serving(t, data);
  assert.equal((await fetch(`${second.publicUrl}/api/events/public/erfurt-volley`)).status, 200);
  await second.stop();

  const restored = path.join(parent, 'restored');
  const dry = succeeded(
    await run('restore', '--to', restored, '--seq', String(before.head_seq), '--dry-run', '--json'),
  );
  assert.ok(!existsSync(restored));
  assert.equal(dry.json<Report>().state_fingerprint, before.state_fingerprint);
  const real = succeeded(await run('restore', '--to', restored, '--seq', String(before.head_seq)));
  const [upTo, missing, since] =
    /has everything up to fact (\d+), of .+Z\.\n(\d+) answered facts are missing: .* --since (\d+) lists those .*\.\n$/
      .exec(real.stdout)!
      .slice(1)
      .map(Number);
  assert.deepEqual([upTo, missing, since], [before.head_seq, withBoth.head_seq - before.head_seq, firstHoldSeq]);
  const proved = (await run('verify', '--data', restored, '--json')).json<Report>();
  assert.equal(proved.state_fingerprint, before.state_fingerprint);
});

test('after a prune no fact depends on a snapshot, and a missing archive file is reported with exit code 1', async (t) => {
  const parent = newFolder(t);
  const data = path.join(parent, 'data');
  const run = (...args: string[]) => holdfast(args, { DATA_DIR: data });
  succeeded(await run('load', '--offline', samples));
  const { head_seq } = (await run('verify', '--json')).json<Report>();
  const service = await serving(t, data);
  await service.client.hold({ session_key: 'session-a', ...twoInErfurt });
  succeeded(await holdfast(['snapshot'], service.environment));
  const pruned = await holdfast(['snapshot', '--prune', '--json'], service.environment);
  assert.deepEqual(pruned.json<{ archived: object }>().archived, { from_seq: 1, to_seq: head_seq + 1 });
  await service.client.hold({ session_key: 'session-b', ...twoInErfurt });
  await service.stop();
  const whole = (await run('verify', '--json')).json<Report>();
  assert.deepEqual(whole.problems, []);
  const files = path.join(data, 'snapshots');
  for (const name of readdirSync(files)) writeFileSync(path.join(files, name), 'damaged');

  const restored = path.join(parent, 'restored');
  const [verified, inspected, facts, copied] = await Promise.all([
    run('verify', '--json'),
    run('inspect', 'erfurt-volley', '--json'),
    run('journal', '--since', '1', '--json'),
    run('restore', '--to', restored, '--json'),
  ]);
  assert.equal(verified.code, 1, 'the damaged snapshots are named');
  assert.equal(verified.json<Report>().state_fingerprint, whole.state_fingerprint);
  assert.equal(inspected.json<{ holds: { active: number } }>().holds.active, 2);
  assert.equal(facts.stdout.trimEnd().split('\n').length, whole.head_seq);
  assert.equal(copied.code, 0, copied.stderr + copied.stdout);
  assert.deepEqual(copied.json<Report>().problems, []);
  assert.equal(copied.json<Report>().state_fingerprint, whole.state_fingerprint);

  const again = await serving(t, data);
  const payload = await fetch(`${again.publicUrl}/api/events/public/erfurt-volley`);
  assert.equal(payload.status, 200, await payload.text());
  succeeded(await holdfast(['snapshot'], again.environment));
  await again.stop();
  const mended = await run('verify', '--json');
  assert.equal(mended.json<Report>().state_fingerprint, whole.state_fingerprint);

  rmSync(path.join(data, 'archive'), { recursive: true });
  const [short, backup] = await Promise.all([run('verify'), run('backup', path.join(parent, 'short'))]);
  const pruning = await run('snapshot', '--prune');
  assert.match(pruning.stderr, /facts 1 to \d+ were moved to the archive, and no good file of it has them/);
  for (const ended of [short, backup, pruning]) assert.equal(ended.code, 1);
  for (const ended of [short, backup]) {
    assert.match(ended.stdout, /facts 1 to \d+ were moved to the archive, and no good file of it has them/);
  }
});

test('a flipped byte is found and reported, and the folder can be restored up to the last good fact', async (t) => {
  const parent = newFolder(t);
  const data = path.join(parent, 'data');
  const run = (...args: string[]) => holdfast(args, { DATA_DIR: data });
  const others = path.join(parent, 'others');
  cpSync(samples, others, { recursive: true });
  rmSync(path.join(others, 'theatre-run.json'));
  succeeded(await run('load', '--offline', others));
  const { head_seq } = (await run('verify', '--json')).json<Report>();
  succeeded(await run('load', '--offline', samples));
  const journal = path.join(data, 'journal.db');
  const bytes = readFileSync(journal);
  const place = bytes.indexOf('The Glass Orchard');
  assert.ok(place > 0, 'the last event is in the journal');
  bytes[place] = bytes[place]! ^ 1;
  writeFileSync(journal, bytes);

  const [verified, served] = await Promise.all([
    run('verify', '--json'),
    holdfastProcess(['serve'], { DATA_DIR: data }),
  ]);
  assert.equal(verified.code, 1);
  const { problems, ok } = verified.json<Report>();
  assert.equal(ok, false);
  assert.equal(problems.length, 1);
  assert.match(problems[0]!.what, /the journal is damaged: .* fails its checksum; facts? .* lost or in doubt$/);
  assert.ok(problems[0]!.hint.includes(`holdfast restore ${data} --to NEW_DIR --seq ${head_seq}`), problems[0]!.hint);
  assert.equal(served.code, 5);
  assert.equal(served.stderr, `${problems[0]!.what}\n${problems[0]!.hint}\n`);

  const saved = path.join(parent, 'saved');
  const restored = succeeded(await run('restore', '--to', saved, '--seq', String(head_seq), '--json'));
  assert.equal(restored.json<Report>().events, 6);
});

test('a restore ends with what is missing against the watermark', async (t) => {
  const parent = newFolder(t);
  const data = path.join(parent, 'data');
  const run = (...args: string[]) => holdfast(args, { DATA_DIR: data });
  succeeded(await run('load', '--offline', path.join(samples, 'theatre-run.json')));
  succeeded(await run('load', '--offline', samples));
  const { head_seq } = (await run('verify', '--json')).json<Report>();
  const lastLine = async (...args: string[]): Promise<string> => {
    const { stdout } = await run('restore', '--to', path.join(parent, 'out'), '--dry-run', ...args);
    return stdout.trimEnd().split('\n').at(-1)!;
  };
  assert.equal(await lastLine(), `Nothing that ${data} has is missing.`);
  const db = new Database(path.join(data, 'journal.db'));
  db.exec('DELETE FROM batch WHERE last_seq = (SELECT max(last_seq) FROM batch)');
  db.exec('DELETE FROM journal WHERE seq > (SELECT max(last_seq) FROM batch)');
  const end = db.prepare<[], number>('SELECT max(seq) FROM journal').pluck().get()!;
  db.close();
  const missing = head_seq - end;
  assert.match(
    await lastLine('--seq', String(end)),
    new RegExp(
      `^${missing} answered facts? (is|are) missing: facts? ${end + 1}.* holdfast journal ${data} --since ${end + 1}`,
    ),
  );
  writeFileSync(path.join(data, 'head.witness'), 'damaged');
  assert.equal(
    await lastLine('--seq', String(end)),
    `Whether later facts are missing is unknown: in ${data} head.witness is damaged.`,
  );
});
