/**
 * A process that takes keys from a folder's `keys.db` and destroys some of them, and prints both. Tests run it with
 * plain node and kill it.
 *
 * Arguments: the folder, and how many keys to take, 0 for "until killed". It prints `ready`, `took ID HEX` for each
 * key, `destroying ID…` before keys are destroyed and `destroyed ID…` once that was answered; one synchronous write per
 * line.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { makePrivateFolder } from '#persistence/files.ts';
import { openSqliteKeys } from '#persistence/sqlite/keys.ts';
import { printLine } from '../fixtures/print-line.ts';

const [folder = '', limit = '0'] = process.argv.slice(2);
const keysMax = Number(limit) || Number.MAX_SAFE_INTEGER;

makePrivateFolder(folder);
const keys = await openSqliteKeys({ folder, poolSize: 8 });
printLine('ready');
let kept: string[] = [];
for (let taken = 0; taken < keysMax;) {
  const key = keys.take();
  if (key === null) {
    await nextRound();
    continue;
  }
  taken += 1;
  kept.push(key.id);
  printLine(`took ${key.id} ${key.key.toString('hex')}`);
  if (taken % 5 !== 0) continue;
  const destroyed = kept.filter((_, at) => at % 2 === 0).slice(0, 3);
  kept = kept.filter((id) => !destroyed.includes(id));
  printLine(`destroying ${destroyed.join(' ')}`);
  await keys.destroy(destroyed);
  printLine(`destroyed ${destroyed.join(' ')}`);
}
await keys.close();
