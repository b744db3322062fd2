/**
 * The groups of the suite: the test files of one group run one after another in one process.
 *
 * A process for each file costs a start and runs cold code for most of its time: grouped, the suite takes less than half of the
 * processor time. `npm test` runs the files of `test/groups`, one process each and several at once. So a test must leave its process
 * as it found it; a single file runs alone with `npm run test:only -- FILE`.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe } from 'node:test';
import { fileURLToPath } from 'node:url';

/**
 * Folders and single files, below `test`; `.` is the files beside this one. A file that is named belongs to that group alone, also where
 * its folder belongs to another. Groups start in the order of their names, so that the long ones come first.
 */
export const groups = {
  api: ['api'],
  'browser-pages': ['console', 'docs', 'storefront/storefront.test.ts', 'storefront/way.test.ts'],
  'browser-shop': ['storefront'],
  'cluster-api': ['cluster/api.test.ts'],
  cluster: ['cluster'],
  commands: ['cli', 'operations', 'rehearsal'],
  crashes: ['bench', 'faults', 'fuzz', 'linearizability', 'simulation', 'soak'],
  engine: ['actors', 'catalogue', 'client', 'domain', 'http', 'machines', 'notifications', 'payments'],
  // What it measures is the heap of its process.
  memory: ['domain/retained-bytes.test.ts'],
  storage: ['.', 'golden', 'persistence'],
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

/** Registers the tests of a group; each file is a suite, which keeps its hooks to itself. */
export function importGroup(name: GroupName): void {
  for (const file of filesOf(name)) describe(file, async () => void (await import(path.join(root, file))));
}
