/**
 * Puts each seeded bug into a copy of the tree and reports which test catches it.
 *
 *   node --import tsx test/simulation/run-seeded-bugs.ts             all of them
 *   node --import tsx test/simulation/run-seeded-bugs.ts expiry gate  those whose names contain one of the words
 *
 * Bugs of refunds, of the doors and of the cluster run in simulations of their own, the others in sales. The simulation
 * runs first because it is cheap; the test files that a bug names run only when the simulation passes. The exit code is
 * 1 when a bug was missed.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLUSTER_BUGS } from './cluster/seeded-bugs.ts';
import { DOOR_BUGS } from './doors/seeded-bugs.ts';
import { REFUND_BUGS } from './refunds/seeded-bugs.ts';
import { SEEDED_BUGS, type SeededBug } from './seeded-bugs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

const SALES = ['--seeds', '1..400', '--steps', '80'];

/** Copies what the tests need and links the packages of this tree. */
function copyTree(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-seeded-'));
  for (const name of ['src', 'machines', 'persistence', 'bench', 'test', 'package.json', 'tsconfig.json']) {
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  return folder;
}

/** Runs Node in the copy and resolves with whether it exited with code 0. Rejects when it takes too long. */
function passes(folder: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, timeout: 300_000 };
    execFile(process.execPath, ['--import', 'tsx', ...args], options, (error) => {
      if (error?.killed === true) reject(new Error('it took too long'));
      else resolve(error === null);
    });
  });
}

/** Returns the first test run that fails with the bug in place, or null when none fails. */
async function findCatcher(folder: string, seeded: SeededBug): Promise<string | null> {
  const { file, find, put, tests, simulation = SALES } = seeded;
  const target = path.join(folder, file);
  const text = readFileSync(target, 'utf8');
  if (text.split(find).length !== 2) throw new Error(`${file} must contain this text exactly once: ${find}`);
  writeFileSync(
    target,
    text.replace(find, () => put),
  );
  try {
    if (!(await passes(folder, ['test/simulation/main.ts', '--no-shrink', ...simulation]))) return 'the simulation';
    for (const test of tests) if (!(await passes(folder, ['--test', '--test-force-exit', test]))) return test;
    return null;
  } finally {
    writeFileSync(target, text);
  }
}

const words = process.argv.slice(2);
const all = [...SEEDED_BUGS, ...REFUND_BUGS, ...DOOR_BUGS, ...CLUSTER_BUGS];
const chosen = all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
const folder = copyTree();
let missed = 0;
try {
  for (const seeded of chosen) {
    const catcher = await findCatcher(folder, seeded).catch((error: unknown) => `not seeded: ${String(error)}`);
    if (catcher === null || catcher.startsWith('not seeded')) missed += 1;
    console.log(`${seeded.name.padEnd(44)} ${catcher ?? 'MISSED'}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${chosen.length - missed} of ${chosen.length} caught`);
process.exitCode = missed === 0 ? 0 : 1;
