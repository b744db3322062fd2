/** Journals for tests of persistence: opened, filled, and left behind by a crash. */

import { spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import type { Journal, JournalFault, Unit } from '#persistence/journal.ts';
import { openSqliteJournal, type SqliteJournal, type SqliteJournalOptions } from '#persistence/sqlite/journal.ts';

/** Opens a journal that is closed at the end of the test at the latest, also when the test fails. */
export async function openJournal(
  t: Pick<TestContext, 'after'>,
  options: SqliteJournalOptions,
): Promise<SqliteJournal> {
  const journal = await openSqliteJournal(options);
  t.after(() => journal.close());
  return journal;
}

/** Resolves when everything that was appended is durable; rejects with the journal's fault. */
export function durable(journal: Journal): Promise<void> {
  return journal.durable(journal.appendedSeq);
}

/** Resolves with null when the fact is durable, and with the journal's fault otherwise. */
export function outcome(journal: Journal, seq: number): Promise<JournalFault | null> {
  return journal.durable(seq).then(
    () => null,
    (fault: JournalFault) => fault,
  );
}

/** A unit of numbered facts of a stream. */
export function unitOf(eventId: string, count = 1, at = 1_000): Unit {
  const facts = Array.from({ length: count }, (_, index) => ({ type: 'HoldPlaced', data: JSON.stringify({ index }) }));
  return { eventId, at, facts };
}

/** Appends units one after the other, in many batches, and waits for the last. */
export async function appendAll(journal: Journal, units: readonly Unit[], unitsABatch = 3): Promise<void> {
  for (const [index, unit] of units.entries()) {
    journal.append(unit);
    if (index % unitsABatch === unitsABatch - 1) await durable(journal);
  }
  if (journal.appendedSeq > 0) await durable(journal);
}

/**
 * Makes a data folder as a crash leaves it: a process appends 180 facts to the log, writes the watermark and is killed.
 */
export function leaveInLog(folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = `const { openSqliteJournal } = await import('#persistence/sqlite/journal.ts');
      const journal = await openSqliteJournal({ folder: process.argv[1], watermarkEveryMs: 0, checkpointIdleMs: 60_000 });
      for (let unit = 0; unit < 60; unit++) {
        const facts = [1, 2, 3].map((part) => ({ type: 'HoldPlaced', data: JSON.stringify({ unit, part }) }));
        const seq = journal.append({ eventId: 'evt_' + (unit % 3), at: unit, facts });
        if (unit % 4 === 0) await journal.durable(seq);
      }
      await journal.durable(journal.appendedSeq);
      await journal.watermark();
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script, folder], { stdio: 'inherit' });
    child.on('close', (_, signal) => (signal === 'SIGKILL' ? resolve() : reject(new Error('it ended by itself'))));
  });
}
