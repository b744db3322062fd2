/**
 * A process of its own that appends numbered units under load and prints what became durable: the victim of the crash
 * tests, run by plain node. Arguments: the data folder and the number of units to append, 0 for "until killed".
 *
 * Each fact's data says its own number and that of its unit's last fact, so that whoever reads the journal afterwards
 * can tell that every unit is whole. Lines are written with one synchronous write each: `ready`, then numbers.
 */

import { writeSync } from 'node:fs';
import { openSqliteJournal } from '#persistence/sqlite-journal.ts';

const [folder = '', limit = '0'] = process.argv.slice(2);
const unitsMax = Number(limit) || Number.MAX_SAFE_INTEGER;
/** Facts in doubt at a time. */
const PENDING_MAX = 400;

const journal = await openSqliteJournal({ folder, witnessEveryMs: 5, probeEveryMs: 20, checkpointPages: 50 });
journal.onStatus((status, fault) => {
  writeSync(1, `${status}\n`);
  if (fault?.kind === 'BROKEN') process.exit(4);
  if (status === 'OPEN') appendMore();
});
writeSync(1, 'ready\n');
let units = 0;
appendMore();

function appendMore(): void {
  while (journal.status === 'OPEN' && units < unitsMax && journal.appendedSeq - journal.durableSeq < PENDING_MAX) {
    const seq = appendUnit(1 + ((units * 7) % 5));
    units += 1;
    journal.whenDurable(seq, (fault) => {
      if (fault !== null) return;
      writeSync(1, `${seq}\n`);
      if (units < unitsMax) appendMore();
      else if (seq === journal.appendedSeq) void journal.close();
    });
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
