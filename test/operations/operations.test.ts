/** What operators copy from `src/operations`: it names only metrics that are printed, and only files that exist. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { openHouse, type House } from '../api/harness.ts';

const root = new URL('../../', import.meta.url);

function textOf(name: string): string {
  return readFileSync(new URL(`src/operations/${name}`, root), 'utf8');
}

/** The names of metrics in an expression or a whole file. */
function metricsIn(text: string): Set<string> {
  return new Set(text.match(/\b(?:holdfast|http|process|nodejs)_[a-z0-9_]+/g) ?? []);
}

describe('What is there for operators', () => {
  let house: House;
  /** Every name that a sample can have. */
  const printed = new Set<string>();

  before(async () => {
    house = await openHouse();
    const text = await (await fetch(`${house.adminUrl}/metrics`)).text();
    for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
      const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      for (const suffix of suffixes) printed.add(`${name!}${suffix}`);
    }
  });
  after(() => house.close());

  it('asks in the dashboard only for metrics that /metrics prints, and for each of the service’s own', () => {
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

  it('alerts only on metrics that are printed', () => {
    const asked = metricsIn(textOf('prometheus-alerts.yaml').replace(/^ *(summary|action|- alert):.*$/gm, ''));
    assert.ok(asked.size > 5);
    assert.deepEqual([...asked].filter((name) => !printed.has(name)).sort(), []);
  });

  it('starts with systemd what is there, as the exit codes ask for', () => {
    const unit = textOf('holdfast.service');
    const [, program, ...words] = /^ExecStart=(\S+) (\S+) (\S+)$/m.exec(unit) ?? [];
    assert.deepEqual([program, words[1]], ['/usr/bin/node', 'serve']);
    assert.ok(existsSync(new URL(words[0]!, root)), `${words[0]} exists`);
    assert.match(unit, /^RestartPreventExitStatus=2 3 5$/m);
    const folder = /^StateDirectory=(\S+)$/m.exec(unit)?.[1];
    assert.match(unit, new RegExp(`^Environment=DATA_DIR=/var/lib/${folder}$`, 'm'));
    assert.match(textOf('litestream.yaml'), new RegExp(`path: /var/lib/${folder}/journal\\.db$`, 'm'));
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    assert.ok(Number(seconds) > 10, 'longer than the service takes at most');
  });
});
