import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLUSTER_BUGS } from './cluster/seeded-bugs.ts';
import { DOOR_BUGS } from './doors/seeded-bugs.ts';
import { REFUND_BUGS } from './refunds/seeded-bugs.ts';
import { SEEDED_BUGS } from './seeded-bugs.ts';

const ALL = [...SEEDED_BUGS, ...REFUND_BUGS, ...DOOR_BUGS, ...CLUSTER_BUGS];

const root = fileURLToPath(new URL('../../', import.meta.url));

function countOccurrences(file: string, text: string): number {
  const target = path.join(root, file);
  return existsSync(target) ? readFileSync(target, 'utf8').split(text).length - 1 : 0;
}

describe('The list of seeded bugs', () => {
  it('names texts that each occur exactly once in their file', () => {
    const findings = ALL.map(({ name, file, find }) => ({ name, file, count: countOccurrences(file, find) }))
      .filter(({ count }) => count !== 1)
      .map(({ name, file, count }) => `"${name}": ${file} contains the text ${count} times`);
    assert.ok(findings.length === 0, `\n  ${findings.join('\n  ')}\n`);
  });

  it('names test files that exist, and no bug twice', () => {
    const missing = ALL.flatMap(({ tests }) => tests).filter((file) => !existsSync(path.join(root, file)));
    assert.deepEqual(missing, []);
    assert.equal(new Set(ALL.map(({ name }) => name)).size, ALL.length);
  });
});
