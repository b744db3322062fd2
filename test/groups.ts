/**
 * The groups of the suite: the test files of one group run one after another in one process.
 *
 * 1. A process for each file costs a start and runs cold code for most of its time: grouped, the suite takes less than
 *    half of the processor time. `npm test` runs the files of `test/groups`, one process each and several at once. So a
 *    test must leave its process as it found it; a single file runs alone with `npm run test:only -- FILE`.
 * 2. People run `npm test` before each commit, so it must end in four minutes on two cores. `.ci/run` adds the groups
 *    of `test/groups/ci`: tests that take long, and those that test again in another form what another group tests.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { disableRunnerHooks } from './runner-hooks.ts';
import './at-end.ts';
import './threads/kept-workers.ts';

/**
 * Folders and single files, below `test`; `.` is the files beside this one. A file that is named belongs to that group
 * alone, also where its folder belongs to another. Groups start in the order of their names: the last ones are short,
 * and wait for little, so that both cores are in use until the end.
 */
export const groups = {
  'all-modules': [
    'actors',
    'brand',
    'catalogue',
    'client',
    'domain',
    'engine',
    'gate',
    'http',
    'machines',
    'money',
    'notifications',
    'payments',
    'privacy',
    'threads',
    'tickets',
  ],
  api: ['api'],
  'browser-pages': [
    'web/console',
    'web/door',
    'docs',
    'web/storefront/storefront.test.ts',
    'web/storefront/way.test.ts',
  ],
  'browser-shop': ['packages', 'web/storefront', 'web/texts'],
  'ci/audits': [
    'web/console/everybody.test.ts',
    'web/storefront/brand.test.ts',
    'web/storefront/everybody.test.ts',
    'web/storefront/strips/strips.test.ts',
  ],
  'ci/cluster-api': ['cluster/api.test.ts'],
  'ci/drills': [
    'cluster/failures.test.ts',
    'faults/key-kills.test.ts',
    'faults/refund-kills.test.ts',
    'operations/run-cluster.test.ts',
    'soak',
  ],
  // What the first measures is the heap of its process.
  'ci/heaps': ['domain/retained-bytes.test.ts', 'api/heap.test.ts'],
  'ci/threads': ['threads/api.test.ts'],
  cluster: ['cluster'],
  commands: ['cli', 'offline', 'operations', 'rehearsal'],
  crashes: ['bench', 'faults', 'fuzz', 'linearizability', 'simulation'],
  'journal-and-service': ['.', 'golden', 'persistence', 'service'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type GroupName = keyof typeof groups;

const root = fileURLToPath(new URL('.', import.meta.url));
const SUFFIX = '.test.ts';
const named: ReadonlySet<string> = new Set(Object.values(groups).flat());

/** The test files of a group, below `test`, in the order in which they run. */
export function filesOf(name: GroupName): readonly string[] {
  return groups[name].flatMap((place) => {
    if (place.endsWith(SUFFIX)) return [place];
    const entries = readdirSync(path.join(root, place), { recursive: place !== '.', encoding: 'utf8' });
    const files = entries.filter((entry) => entry.endsWith(SUFFIX)).map((entry) => path.join(place, entry));
    return files.filter((file) => !named.has(file)).toSorted();
  });
}

/** Registers the tests of a group. */
export function importGroup(name: GroupName): void {
  void importFiles(filesOf(name));
}

/**
 * Registers the tests of `api` for a process whose services are opened in another way, but for some files: their names,
 * and why.
 */
export function importApiTests(leftOut: Readonly<Record<string, string>>): Promise<void> {
  const files = new Set(filesOf('api'));
  for (const [file, why] of Object.entries(leftOut)) {
    if (!files.delete(`api/${file}`)) throw new Error(`${file}, left out for ${why}, is no file of api`);
  }
  return importFiles([...files]);
}

/**
 * Registers the tests of files, whose paths are below `test`; each file is a suite, which keeps its hooks to itself.
 * Resolves when all are registered, which a test file that imports others must wait for.
 */
export function importFiles(files: readonly string[]): Promise<void> {
  const registered = files.map((file) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    describe(file, async () => {
      await import(path.join(root, file)).finally(resolve);
    });
    return promise;
  });
  return Promise.all(registered).then(disableRunnerHooks);
}
