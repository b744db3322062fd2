/** `src/setup.mjs`, which runs before `npm start` and `npm test`: it installs what is missing, and nothing else. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newFolder } from '../fixtures/folders.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Whether the setup of a checkout calls npm, which is another program here. */
function installs(checkout: string): boolean {
  const called = path.join(checkout, 'called');
  const npm = path.join(checkout, 'npm.mjs');
  writeFileSync(npm, `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(called)}, '');`);
  const environment = { ...process.env, npm_execpath: npm };
  const { status } = spawnSync(process.execPath, [path.join(checkout, 'src/setup.mjs')], { env: environment });
  assert.equal(status, 0);
  return existsSync(called);
}

function newCheckout(t: TestContext): string {
  const checkout = newFolder(t);
  for (const name of ['src/setup.mjs', 'package-lock.json']) cpSync(path.join(root, name), path.join(checkout, name));
  return checkout;
}

type Package = Readonly<Record<string, unknown>>;

/** A checkout that asks for one package and has one. */
function checkoutOf(t: TestContext, wanted: Package, installed: Package | null): string {
  const checkout = newCheckout(t);
  const lockOf = (own: Package | null) => JSON.stringify({ packages: own === null ? {} : { 'node_modules/one': own } });
  writeFileSync(path.join(checkout, 'package-lock.json'), lockOf(wanted));
  mkdirSync(path.join(checkout, 'node_modules/one'), { recursive: true });
  writeFileSync(path.join(checkout, 'node_modules/.package-lock.json'), lockOf(installed));
  return checkout;
}

describe('The setup', () => {
  it('installs nothing after an ordinary npm ci', (t) => {
    const checkout = newCheckout(t);
    symlinkSync(path.join(root, 'node_modules'), path.join(checkout, 'node_modules'));
    assert.ok(readFileSync(path.join(checkout, 'node_modules/.package-lock.json')).length > 0);
    assert.ok(!installs(checkout));
  });

  it('installs on a clean checkout', (t) => assert.ok(installs(newCheckout(t))));

  const one = { version: '1.0.0', integrity: 'sha512-a' };
  const elsewhere = { ...one, optional: true, os: ['aix'] };
  const cases: readonly (readonly [title: string, wanted: Package, installed: Package | null, expected: boolean])[] = [
    ['has what is asked for', one, one, false],
    ['has another version', one, { ...one, version: '0.9.0' }, true],
    ['has other bytes', one, { ...one, integrity: 'sha512-b' }, true],
    ['lacks a package', one, null, true],
    ['lacks an optional package of this machine', { ...one, optional: true }, null, true],
    ['lacks an optional package of another system', elsewhere, null, false],
    [
      'lacks an optional package that is not for this system',
      { ...elsewhere, os: [`!${process.platform}`] },
      null,
      false,
    ],
    ['lacks an optional package of another processor', { ...one, devOptional: true, cpu: ['s390'] }, null, false],
    ['lacks a package of another system that is needed', { ...one, os: ['aix'] }, null, true],
  ];
  for (const [title, wanted, installed, expected] of cases) {
    it(`${expected ? 'installs' : 'installs nothing'} where a checkout ${title}`, (t) => {
      assert.equal(installs(checkoutOf(t, wanted, installed)), expected);
    });
  }
});
