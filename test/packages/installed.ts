/** The packages for storefronts, packed and installed as a shop does it: by npm, without a network, in a folder. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { atEnd } from '../at-end.ts';
import { packAll, type PackedFile } from '../../src/packages/pack.ts';

export const run = promisify(execFile);

export interface InstalledPackages {
  readonly folder: string;
  readonly packed: readonly PackedFile[];
  /** Writes a file into the folder; resolves to its path. */
  write(name: string, text: string): string;
}

let installed: Promise<InstalledPackages> | undefined;

/** Installs them once for the test files of a process. */
export function installPackages(): Promise<InstalledPackages> {
  return (installed ??= install());
}

async function install(): Promise<InstalledPackages> {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-packages-'));
  atEnd(() => rm(folder, { recursive: true }));
  const packed = await packAll(path.join(folder, 'packed'));
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'shop', private: true, type: 'module' }));
  const files = packed.map(({ file }) => file);
  await run('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', ...files], { cwd: folder });
  return {
    folder,
    packed,
    write(name, text) {
      const file = path.join(folder, name);
      writeFileSync(file, text);
      return file;
    },
  };
}

/** The code of a language in a guide, in its order, for a service at an address. */
export function codeIn(guide: string, language: string, origin: string): readonly string[] {
  const file = fileURLToPath(new URL(`../../src/docs/guides/${guide}.md`, import.meta.url));
  const blocks = readFileSync(file, 'utf8').matchAll(new RegExp(`^\`\`\`${language}\\n(?<code>[^]*?)^\`\`\`$`, 'gm'));
  return Array.from(blocks, ({ groups }) => groups!['code']!.replaceAll('http://127.0.0.1:8080', origin));
}
