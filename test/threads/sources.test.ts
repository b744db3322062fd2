/**
 * Each thread of the product starts from its source with plain Node, as it is installed: the other tests of a group
 * have threads that were built, in which cycles of imports, CommonJS packages and files beside a module count less.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { newDataFolder } from '../fixtures/folders.ts';
import { readTree } from '../source-tree.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * In a process of its own, without a preload: prints why each of the threads did not start, or null. One that says
 * itself what it misses has started.
 */
const program = `
  import { once } from 'node:events';
  import { Worker } from 'node:worker_threads';
  const thread = \`
    const { parentPort, workerData } = require('node:worker_threads');
    const say = (notStarted) => parentPort.postMessage({ notStarted });
    import(workerData.file).then(() => say(null), (error) => say(error.stack));
  \`;
  const [folder, ...files] = process.argv.slice(1);
  for (const file of files) {
    const load = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(thread, { eval: true, execArgv: [], workerData: { file, load, folder } });
    const [{ notStarted = null }] = await once(worker, 'message');
    console.log(JSON.stringify(notStarted));
    await worker.terminate();
  }
`;

/** One that has loaded everything misses what it is given: it is told apart by where it fails. */
const loaded: Readonly<Record<string, RegExp>> = { 'src/service/http-thread.ts': /at answerBuyers / };

it('starts each thread from its source with plain Node', { timeout: 60_000 }, (t) => {
  const { production } = readTree(root);
  const started = new Set(
    production.flatMap(({ imports }) => imports.flatMap((each) => (each.isStart ? each.file! : []))),
  );
  // Others are started as processes.
  const files = production
    .filter(({ file, code }) => started.has(file) && /\bparentPort\b/.test(code))
    .map(({ file }) => file);
  assert.ok(files.length >= 6, files.join());
  const urls = files.map((file) => pathToFileURL(path.join(root, file)).href);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program, '--', newDataFolder(t), ...urls],
    { cwd: root, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
  );
  assert.equal(status, 0, stderr);
  const failures = stdout.trim().split('\n');
  for (const [index, file] of files.entries()) {
    const failure = JSON.parse(failures[index]!) as string | null;
    if (loaded[file] === undefined) assert.equal(failure, null, `${file}: ${failure}`);
    else assert.match(failure ?? '', loaded[file], file);
  }
});
