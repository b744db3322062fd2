/** A data folder has names, addresses and keys, so only its owner may read it or a copy of it. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { holdfast, samples, serving, servingProcess, succeeded } from './holdfast.ts';
import { newFolder } from '../fixtures/folders.ts';

const oneInErfurt = {
  event_id: 'evt_erfurt',
  items: [{ ticket_type_id: 'kat1', selling_stage_id: 'general', performance_id: 'derby', quantity: 1 }],
};

/** Every file and folder, the given one included, with its rights. */
function rightsIn(folder: string): Map<string, string> {
  const found = new Map<string, string>([['.', rightsOf(folder)]]);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    found.set(path.relative(folder, file), rightsOf(file));
  }
  return found;
}

function rightsOf(file: string): string {
  const stat = statSync(file);
  return `${stat.isDirectory() ? 'folder' : 'file'} ${(stat.mode & 0o777).toString(8)}`;
}

function assertPrivate(folder: string, expected: readonly RegExp[]): void {
  const rights = rightsIn(folder);
  for (const [name, found] of rights) assert.match(found, /^(folder 700|file 600)$/, `${folder}/${name}`);
  for (const name of expected)
    assert.ok(
      [...rights.keys()].some((each) => name.test(each)),
      `${name} is there`,
    );
}

const WHILE_SERVING = [
  /^journal\.db$/,
  /^journal\.db-wal$/,
  /^journal\.db-shm$/,
  /^lock\.db/,
  /^holdfast\.pid$/,
  /^head\.witness$/,
  /^admin-token$/,
  /^ticket-key$/,
  /^webhook-secret-a$/,
  /^snapshots\/.+\.snapshot$/,
  /^archive\/.+\.db$/,
];

// A umask that takes away more rights leaves others no more.
test('with umask 000 a service, a backup and a restore make files that only their owner reads', async (t) => {
  const parent = newFolder(t);
  const data = path.join(parent, 'deep', 'data');
  const own = process.umask('000');
  t.after(() => void process.umask(own));
  const run = (...args: string[]) => holdfast(args, { DATA_DIR: data });
  succeeded(await run('load', '--offline', samples));
  const service = await servingProcess(t, data, '000');
  await service.client.hold({ session_key: 'session-a', ...oneInErfurt });
  for (const prune of [[], ['--prune']]) {
    succeeded(await holdfast(['snapshot', ...prune], service.environment));
  }
  assertPrivate(data, WHILE_SERVING);
  const [backup, restored] = await Promise.all([
    run('backup', path.join(parent, 'copies', 'backup')),
    run('restore', '--to', path.join(parent, 'restored'), '--seq', '3'),
  ]);
  assert.deepEqual([backup.code, restored.code], [0, 0], backup.stderr + restored.stderr);
  await service.stop();
  assertPrivate(data, [/^journal\.db$/]);
  assertPrivate(path.join(parent, 'copies', 'backup'), [/^admin-token$/, /^archive\/.+\.db$/]);
  assertPrivate(path.join(parent, 'restored'), [/^journal\.db$/]);
});

test('the next start makes a folder of an earlier version private to its owner', async (t: TestContext) => {
  const parent = newFolder(t);
  const data = path.join(parent, 'data');
  const run = (...args: string[]) => holdfast(args, { DATA_DIR: data });
  succeeded(await run('load', '--offline', samples));
  for (const prune of [[], ['--prune']]) succeeded(await run('snapshot', ...prune));
  for (const [name, rights] of rightsIn(data)) {
    chmodSync(path.join(data, name), rights.startsWith('folder') ? 0o755 : 0o644);
  }
  const service = await serving(t, data);
  assertPrivate(data, [/^journal\.db-shm$/, /^archive\/.+\.db$/, /^snapshots\/.+\.snapshot$/]);
  await service.stop();
});

test('holdfast.pid has the id of the serving process; a start ignores one that a crash left', async (t) => {
  const parent = newFolder(t);
  const data = path.join(parent, 'data');
  const file = path.join(data, 'holdfast.pid');
  const first = await servingProcess(t, data);
  const pid = Number(readFileSync(file, 'utf8'));
  assert.doesNotThrow(() => process.kill(pid, 0));
  await first.kill();
  assert.equal(Number(readFileSync(file, 'utf8')), pid, 'a crash leaves it');
  // The id may be that of any process by now: of the parent, say.
  writeFileSync(file, `${process.ppid}\n`);
  const second = await serving(t, data);
  assert.equal(Number(readFileSync(file, 'utf8')), process.pid);
  await second.stop();
  assert.equal(existsSync(file), false);
});
