/** Data folders for tests, removed when their test is over. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Journal, JournalFault, Unit } from '#persistence/journal.ts';

/** A path for a data folder that does not exist yet. */
export function newFolder(t: Pick<TestContext, 'after'>): string {
  const parent = mkdtempSync(join(tmpdir(), 'holdfast-journal-'));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, 'data');
}

/** Resolves when the fact is durable; rejects with the journal's fault. */
export function durable(journal: Journal, seq: number = journal.appendedSeq): Promise<void> {
  return new Promise((resolve, reject) =>
    journal.whenDurable(seq, (fault) => (fault === null ? resolve() : reject(fault))),
  );
}

/** Resolves with what `whenDurable` says. */
export function outcome(journal: Journal, seq: number): Promise<JournalFault | null> {
  return new Promise((resolve) => journal.whenDurable(seq, resolve));
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
