/**
 * The tests of `test/api` once more, with three nodes in place of one machine (`fixtures/cluster.ts`): what buyers and operators are
 * promised does not depend on it.
 *
 * Two processes have half of the files each, because a process that opens clusters again and again is soon fast: one for each file took
 * three times the processor time.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newSession } from '../fixtures/client.ts';
import { openCluster } from '../fixtures/cluster.ts';
import { clubNight } from '../fixtures/events.ts';
import { nats } from '../fixtures/nats.ts';

/** Files that are about one machine, and why; single tests say so with `ofOneMachine`. */
const ofOneMachine: Readonly<Record<string, string>> = {
  'connections.test.ts': 'the connections and the admission queue of one process, and what a stalled disk does to them',
  'crash.test.ts': 'one process is killed and started on its folder; failures.test.ts kills nodes',
  'heap.test.ts': 'the heaps of the threads of one process are looked at',
  'serving.test.ts': 'the process, its exit codes, its folder and the secrets that it keeps there',
  'stopping.test.ts': 'one process is ended and started on its folder; failures.test.ts ends nodes',
  'walkthrough.test.ts': 'the README starts one machine',
};

/** On a machine that is busy with other things; a test that waits for ever is named. */
const TEST_MS_MAX = 240_000;
const PROCESSES = 2;

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = path.join('test', 'api');
const files = readdirSync(path.join(root, folder)).filter((file) => file.endsWith('.test.ts'));

describe('Three nodes, requests in turn,', { skip: nats.missing, concurrency: 2 }, () => {
  it('all answer, and forward what they do not own', async () => {
    const cluster = await openCluster();
    try {
      await cluster.define(clubNight());
      const served = new Set<string | null>();
      for (let n = 0; n < 6; n += 1) {
        await cluster.hold({ session_key: newSession() });
        served.add((await cluster.get('/health/ready')).headers.get('x-served-by'));
      }
      assert.deepEqual([...served].toSorted(), ['node-0', 'node-1', 'node-2']);
      const forwarded = cluster.services.map(({ engine }) => engine.figures.forwarded ?? 0);
      // Two of three requests come to a node that does not own the event.
      assert.ok(forwarded.reduce((sum, count) => sum + count, 0) >= 4, forwarded.join(', '));
    } finally {
      await cluster.close();
    }
  });

  const ofAny = files.filter((file) => ofOneMachine[file] === undefined);
  for (let part = 0; part < PROCESSES; part += 1) {
    const own = ofAny.filter((_, index) => index % PROCESSES === part);
    it(`pass ${own.join(', ')}`, async () => {
      const { code, text } = await run(own.map((file) => path.join(folder, file)));
      assert.equal(code, 0, text);
      const passed = Number(/^ℹ pass (\d+)$/m.exec(text)?.[1]);
      assert.ok(passed > own.length, text);
    });
  }

  it('leave out files that exist', () => {
    for (const file of Object.keys(ofOneMachine)) assert.ok(files.includes(file), file);
  });
});

async function run(testFiles: readonly string[]): Promise<{ readonly code: number | null; readonly text: string }> {
  // The runner would take this process for one of its own.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  // A start that failed leaves nodes open, which would keep the process.
  const runner = ['--test', '--test-isolation=none', '--test-force-exit', `--test-timeout=${TEST_MS_MAX}`];
  const options = [...runner, '--test-reporter=spec'];
  const child = spawn(process.execPath, ['--import', 'tsx', ...options, ...testFiles], {
    cwd: root,
    env: { ...environment, TEST_CLUSTER: 'on' },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text };
}
