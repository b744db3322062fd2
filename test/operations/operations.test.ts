/** The files in `src/operations`: they name only metrics that the service prints, and only files that exist. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { Registry } from '@platformatic/prom-client';
import Database from 'better-sqlite3';
import { addThreadGauges } from '#http/metrics/process-gauges.ts';
import { openService, type TestService } from '../fixtures/service.ts';
import { holdfast, samples, serving, servingProcess, succeeded } from '../cli/holdfast.ts';
import { newFolder } from '../fixtures/folders.ts';
import { clusterOfTwo, openApps } from '../http/apps.ts';

const root = new URL('../../', import.meta.url);

function textOf(name: string): string {
  return readFileSync(new URL(`src/operations/${name}`, root), 'utf8');
}

/** The names of metrics in an expression or a whole file. */
function metricsIn(text: string): Set<string> {
  return new Set(text.match(/\b(?:holdfast|http|process|nodejs)_[a-z0-9_]+/g) ?? []);
}

/** What rclone would copy of a folder with the filters of the unit. */
function shippedFiles(folder: string): string[] {
  const filters = [...textOf('holdfast-files.service').matchAll(/--filter "- ([^"]+)"/g)].map(([, filter]) => filter!);
  assert.ok(filters.length > 3);
  const patterns = filters.map((filter) => {
    const text = filter
      .replace(/^\//, '')
      .replaceAll('.', '\\.')
      .replaceAll(/\*+/g, (stars) => (stars === '**' ? '.*' : '[^/]*'));
    return new RegExp(filter.startsWith('/') ? `^${text}$` : `(^|/)${text}$`);
  });
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((name) => !patterns.some((pattern) => pattern.test(name)))
    .sort();
}

describe('The files for operators', () => {
  let service: TestService;
  /** The metrics of a service. */
  let text: string;
  /** Every name that a sample can have. */
  const printed = new Set<string>();

  before(async () => {
    service = await openService();
    text = await (await fetch(`${service.adminUrl}/metrics`)).text();
    const node = await openApps({}, [], { cluster: clusterOfTwo() });
    const ofNode = (await node.admin.inject('/metrics')).body;
    await node.close();
    const threads = new Registry();
    addThreadGauges([threads], { running: 2, restarts: 0, delays: () => [] });
    for (const [, name, type] of [text, ofNode, await threads.metrics()]
      .join('\n')
      .matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
      const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      for (const suffix of suffixes) printed.add(`${name!}${suffix}`);
    }
  });
  after(() => service.close());

  it('show every metric of the service in the dashboard, and none that /metrics does not print', () => {
    interface Dashboard {
      readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
    }
    const { panels } = JSON.parse(textOf('grafana-dashboard.json')) as Dashboard;
    const asked = metricsIn(panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n'));
    assert.ok(asked.size > 15);
    assert.deepEqual([...asked].filter((name) => !printed.has(name)).sort(), []);
    const families = (names: Iterable<string>) =>
      new Set(
        [...names]
          .filter((name) => name.startsWith('holdfast_'))
          .map((name) => name.replace(/_(bucket|sum|count)$/, '')),
      );
    assert.deepEqual([...families(printed)].filter((name) => !families(asked).has(name)).sort(), []);
  });

  it('have alerts on printed metrics only', () => {
    const asked = metricsIn(textOf('prometheus-alerts.yaml').replace(/^ *(summary|action|- alert):.*$/gm, ''));
    assert.ok(asked.size > 5);
    assert.deepEqual([...asked].filter((name) => !printed.has(name)).sort(), []);
  });

  const promtool = (args: readonly string[], input = '') =>
    spawnSync('promtool', args, { input, encoding: 'utf8', cwd: fileURLToPath(new URL('src/operations/', root)) });
  const hasPromtool = promtool(['--version']).error === undefined;

  it('have alerts that fire on what they are for', { skip: !hasPromtool && 'promtool is not installed' }, () => {
    for (const [what, file] of [
      ['check', 'prometheus-alerts.yaml'],
      ['test', 'prometheus-alerts-test.yaml'],
    ] as const) {
      const { status, stdout, stderr } = promtool([what, 'rules', file]);
      assert.equal(status, 0, stdout + stderr);
    }
    const tested = textOf('prometheus-alerts-test.yaml');
    for (const [, alert] of textOf('prometheus-alerts.yaml').matchAll(/- alert: (\w+)/g))
      assert.ok(tested.includes(`alertname="${alert!}"`), `${alert} is tested`);
  });

  it('have metrics with which promtool finds no fault', { skip: !hasPromtool && 'promtool is not installed' }, () => {
    const { status, stdout, stderr } = promtool(['check', 'metrics'], text);
    assert.deepEqual([status, stdout, stderr], [0, '', '']);
  });

  it('have a Litestream configuration that says its version, in the names of that version', () => {
    const text = textOf('litestream.yaml');
    assert.match(text, /^# For Litestream 0\.5\./m);
    assert.match(text, /^    replica:\n      type: s3$/m);
    assert.match(text, /^snapshot:\n  interval: \w+\n  retention: \w+$/m);
  });

  it('have a systemd unit that starts an existing file and follows the exit codes', () => {
    const unit = textOf('holdfast.service');
    const [, program, ...words] = /^ExecStart=(\S+) (\S+) (\S+)$/m.exec(unit) ?? [];
    assert.deepEqual([program, words[1]], ['/usr/bin/node', 'serve']);
    assert.ok(existsSync(new URL(words[0]!, root)), `${words[0]} exists`);
    assert.match(unit, /^RestartPreventExitStatus=2 3 5$/m);
    const folder = /^StateDirectory=(\S+)$/m.exec(unit)?.[1];
    assert.match(unit, new RegExp(`^Environment=DATA_DIR=/var/lib/${folder}$`, 'm'));
    assert.match(textOf('litestream.yaml'), new RegExp(`path: /var/lib/${folder}/journal\\.db$`, 'm'));
    assert.match(textOf('holdfast-files.service'), new RegExp(`rclone copy /var/lib/${folder} `));
    assert.match(textOf('holdfast-files.service'), /^Environment=RCLONE_CONFIG=\/etc\/holdfast\/rclone\.conf$/m);
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    assert.ok(Number(seconds) > 10, 'longer than the service takes at most');
  });

  it('ship with Litestream and holdfast-files what a restore needs, also after a pruning during a sale', async (t) => {
    const parent = newFolder(t);
    const data = path.join(parent, 'data');
    const shipped = path.join(parent, 'shipped');
    const run = (...args: string[]) => holdfast(args, { DATA_DIR: data });
    succeeded(await run('load', '--offline', samples));
    const service = await servingProcess(t, data);
    const twoInErfurt = {
      event_id: 'evt_erfurt',
      items: [{ ticket_type_id: 'kat1', selling_stage_id: 'general', performance_id: 'derby', quantity: 2 }],
    };
    await service.client.hold({ session_key: 'session-a', ...twoInErfurt });
    for (const prune of [[], ['--prune']]) {
      succeeded(await holdfast(['snapshot', ...prune], service.environment));
    }
    await service.client.hold({ session_key: 'session-b', ...twoInErfurt });
    const before = (await run('verify', '--json')).json<{
      head_seq: number;
      base_seq: number;
      state_fingerprint: string;
    }>();
    assert.ok(before.base_seq > 0);

    // Litestream gives back the database as of a moment; it reads it as any other reader does.
    mkdirSync(shipped, { mode: 0o700 });
    const journal = new Database(path.join(data, 'journal.db'), { readonly: true });
    await journal.backup(path.join(shipped, 'journal.db'));
    journal.close();
    // The unit ships a copy that SQLite made, and not the file itself.
    assert.match(textOf('holdfast-files.service'), /sqlite3 \S+\/keys\.db "\.backup (\S+)"\nExecStart=\S+ copyto \1 /);
    const keys = new Database(path.join(data, 'keys.db'), { readonly: true });
    await keys.backup(path.join(shipped, 'keys.db'));
    keys.close();
    // The data folder is the home of the service's user.
    mkdirSync(path.join(data, '.config', 'rclone'), { recursive: true });
    for (const name of ['.config/rclone/rclone.conf', '.netrc'])
      copyFileSync(path.join(data, 'admin-token'), path.join(data, name));
    const names = shippedFiles(data);
    for (const kind of [/^archive\//, /^snapshots\//, /^ticket-key$/, /^admin-token$/])
      assert.ok(
        names.some((name) => kind.test(name)),
        `${kind} is shipped`,
      );
    assert.deepEqual(
      names.filter((name) => /^\.|journal|keys|witness|lock|pid/.test(name)),
      [],
    );
    for (const name of names) {
      mkdirSync(path.dirname(path.join(shipped, name)), { recursive: true });
      copyFileSync(path.join(data, name), path.join(shipped, name));
    }
    await service.kill();

    const verified = await run('verify', '--data', shipped);
    assert.equal(verified.code, 1);
    const [, seq] = /head\.witness is missing[^]*?--seq (\d+)/.exec(verified.stdout) ?? [];
    assert.equal(Number(seq), before.head_seq, verified.stdout);
    const restored = path.join(parent, 'restored');
    const made = succeeded(await run('restore', '--data', shipped, '--to', restored, '--seq', seq!, '--json'));
    assert.equal(made.json<{ state_fingerprint: string }>().state_fingerprint, before.state_fingerprint);
    const again = await serving(t, restored);
    assert.equal((await fetch(`${again.publicUrl}/api/events/public/erfurt-volley`)).status, 200);
    await again.stop();
  });
});
