/**
 * A process that appends numbered units under load and prints what became durable. Tests run it with plain node and
 * kill it.
 *
 * Arguments: the data folder; the number of units to append, 0 for "until killed"; how many facts may be pending before
 * it waits, 1 for one unit at a time; and how many facts the journal keeps while it is pruned repeatedly, 0 for no
 * pruning.
 *
 * Each fact's data has its own number and that of its unit's last fact, so that a reader of the journal can check that
 * every unit is whole. It prints `ready` and then numbers, and `pruned` after each pruning of some; one synchronous
 * write per line.
 */

import { writeSync } from 'node:fs';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import { printLine } from '../fixtures/print-line.ts';

const [folder = '', limit = '0', pending = '400', kept = '0'] = process.argv.slice(2);
const unitsMax = Number(limit) || Number.MAX_SAFE_INTEGER;
const pendingMax = Number(pending);

const journal = await openSqliteJournal({ folder, watermarkEveryMs: 5, probeEveryMs: 20, checkpointPages: 50 });
journal.onStatus((status, fault) => {
  printLine(`${status}`);
  if (fault?.kind === 'BROKEN') {
    writeSync(2, `${fault.message}\n`);
    process.exit(4);
  }
  if (status === 'OPEN') appendMore();
});
printLine('ready');
let units = 0;
appendMore();
if (Number(kept) > 0) void pruneAgain();

/** Appends as much as may be in doubt; closes when there is nothing left to append or to wait for. */
function appendMore(): void {
  while (journal.status === 'OPEN' && units < unitsMax && journal.appendedSeq - journal.durableSeq < pendingMax) {
    const seq = appendUnit(1 + ((units * 7) % 5));
    units += 1;
    journal.durable(seq).then(
      () => {
        printLine(`${seq}`);
        appendMore();
      },
      () => {},
    );
  }
  if (units === unitsMax && journal.appendedSeq === journal.durableSeq) void journal.close();
}

async function pruneAgain(): Promise<void> {
  while (journal.status === 'OPEN') {
    const archived = await journal.prune(journal.durableSeq - Number(kept), units);
    if (archived !== null) printLine('pruned');
  }
}

function appendUnit(size: number): number {
  const first = journal.appendedSeq + 1;
  const unitEnd = journal.appendedSeq + size;
  const facts = Array.from({ length: size }, (_, index) => ({
    type: 'HoldPlaced',
    data: JSON.stringify({ number: first + index, unitEnd, ballast: 'x'.repeat((units * 31) % 300) }),
  }));
  return journal.append({ eventId: `evt_${units % 11}`, at: units, facts });
}
