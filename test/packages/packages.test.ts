/** The packages for storefronts: what is in them, how large they are, and that their guides' examples work. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openService, type TestService } from '../fixtures/service.ts';
import { codeIn, installPackages, run, type InstalledPackages } from './installed.ts';

const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

let service: TestService;
let installed: InstalledPackages;

before(async () => {
  service = await openService({ demo: true, clock: 'running' });
  installed = await installPackages();
});

after(() => service.close());

const manifestOf = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path.join(installed.folder, 'node_modules', name, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;

describe('The packages', () => {
  it('keep their budgets of bytes', () => {
    for (const { name, gzipBytes, gzipBytesMax } of installed.packed) {
      assert.ok(gzipBytes <= gzipBytesMax, `${name} has ${gzipBytes} bytes`);
    }
  });

  it('depend on nothing and have module, types, guide and licence', () => {
    for (const { name, version } of installed.packed) {
      const { dependencies, exports, ...fields } = manifestOf(name);
      assert.equal(dependencies, undefined);
      assert.equal(fields['version'], version);
      const { types, default: module } = (exports as Record<string, Record<string, string>>)['.']!;
      for (const file of [types!, module!, 'README.md', 'LICENSE']) {
        assert.ok(existsSync(path.join(installed.folder, 'node_modules', name, file)), file);
      }
      const code = readFileSync(path.join(installed.folder, 'node_modules', name, module!), 'utf8');
      assert.doesNotMatch(code, /^import\b|\bfrom\s*["'][.#@\w]/m);
    }
  });

  it('have the same bytes when they are packed again', async () => {
    const again = path.join(installed.folder, 'again');
    const args = [fileURLToPath(new URL('../../src/packages/main.ts', import.meta.url)), '--json', '--out', again];
    const { stdout } = await run(process.execPath, args);
    const packed = JSON.parse(stdout) as typeof installed.packed;
    assert.deepEqual(
      packed.map(({ file }) => readFileSync(file).toString('base64')),
      installed.packed.map(({ file }) => readFileSync(file).toString('base64')),
    );
  });

  it('are refused parameters that the command does not know', async () => {
    const main = fileURLToPath(new URL('../../src/packages/main.ts', import.meta.url));
    await assert.rejects(run(process.execPath, [main, '--folder']), { code: 2, stderr: /--folder/ });
  });

  it('compile in a storefront with the strictest settings', async () => {
    const [sale, errors] = codeIn('client', 'ts', service.publicUrl);
    installed.write('sale.ts', sale!);
    installed.write('errors.ts', errors!);
    installed.write(
      'wrong.ts',
      `import { createClient } from '@holdfast/client';
      // @ts-expect-error a hold needs its event
      void createClient().createHold({ items: [] });`,
    );
    for (const resolution of [
      ['--module', 'nodenext'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ]) {
      const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
      const files = ['sale.ts', 'errors.ts', 'wrong.ts'];
      const args = [compiler, ...strict, '--target', 'es2024', '--lib', 'es2024,dom', '--types', '', ...resolution];
      await run(process.execPath, [...args, ...files], { cwd: installed.folder });
    }
  });

  it('sell two tickets in Node as the guide of the client does', async () => {
    const [sale, errors] = codeIn('client', 'ts', service.publicUrl);
    const sold = await run(process.execPath, [installed.write('sale.ts', sale!)]);
    assert.equal(sold.stdout, 'CONFIRMED 2\n');
    const refused = await run(process.execPath, [installed.write('errors.ts', errors!)]);
    assert.equal(refused.stdout, '404 EVENT_NOT_FOUND\n');
  });
});
