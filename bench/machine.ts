/** On what was measured: what matters about a machine, without its names. */
import Sqlite from 'better-sqlite3';
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, platform, release, totalmem } from 'node:os';
import path from 'node:path';
import { makeFolder } from './http/server.ts';
import { percentileMillis, newHistogram, packHistogram, recordMillis } from './histogram.ts';

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly architecture: string;
  readonly system: string;
  /** Milliseconds of an fsync after 4 KiB were appended to a file, in the temporary folder. */
  readonly fsyncP50Ms: number;
  readonly fsyncP99Ms: number;
  /** Of what takes part, by name. */
  readonly versions: Readonly<Record<string, string>>;
}

const FSYNCS = 400;
const PACKAGES = ['fastify', 'better-sqlite3', 'xstate', 'autocannon'] as const;

export function describeMachine(): Machine {
  return {
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    architecture: process.arch,
    system: `${platform()} ${/^\d+\.\d+/.exec(release())?.[0] ?? ''}`.trim(),
    ...measureFsync(),
    versions: { node: process.version.slice(1), sqlite: sqliteVersion(), ...packageVersions() },
  };
}

function measureFsync(): Pick<Machine, 'fsyncP50Ms' | 'fsyncP99Ms'> {
  const folder = makeFolder();
  const file = openSync(path.join(folder, 'fsync'), 'w');
  const page = Buffer.alloc(4_096, 1);
  const histogram = newHistogram();
  for (let n = 0; n < FSYNCS; n += 1) {
    writeSync(file, page);
    const begin = performance.now();
    fsyncSync(file);
    recordMillis(histogram, performance.now() - begin);
  }
  closeSync(file);
  rmSync(folder, { recursive: true });
  const packed = packHistogram(histogram);
  return { fsyncP50Ms: percentileMillis(packed, 50), fsyncP99Ms: percentileMillis(packed, 99) };
}

function sqliteVersion(): string {
  const database = new Sqlite(':memory:');
  const version = database.prepare('SELECT sqlite_version()').pluck().get();
  database.close();
  return String(version);
}

function packageVersions(): Record<string, string> {
  const root = new URL('../node_modules/', import.meta.url);
  return Object.fromEntries(
    PACKAGES.map((name) => {
      const { version } = JSON.parse(readFileSync(new URL(`${name}/package.json`, root), 'utf8')) as {
        version: string;
      };
      return [name, version];
    }),
  );
}
