/**
 * The journal alone: facts made durable by so many to a commit, against SQLite writing the same bytes without a chain,
 * a thread or a watermark.
 *
 * Both are on the same disk with `synchronous=FULL`, and wait for each commit before they begin the next one.
 */
import Database from 'better-sqlite3';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import { makeFolder } from '../http/server.ts';
import { figureOf, type Scenario } from '../scenario.ts';
import type { Journal } from '#persistence/journal.ts';

const FACTS_A_COMMIT = [1, 10, 100, 500];
/** Enough for hundreds of commits. */
const TURN_SECONDS_MAX = 1;
const EVENT_ID = 'evt_hot';
const TYPE = 'HoldPlaced';
/** As long as that of a hold of one ticket. */
const DATA = JSON.stringify({ text: 'x'.repeat(320) });

/** Makes so many facts durable. */
type Commit = (count: number) => Promise<void> | void;

export const journal: Scenario = {
  name: 'journal',
  about: 'facts made durable, by 1 to 500 to a commit, against plain SQLite writing the same bytes',
  async run({ rounds, seconds, warmUpSeconds, report }) {
    const folder = makeFolder();
    const ours = await openSqliteJournal({ folder });
    const plain = openPlain(path.join(folder, 'plain.db'));
    try {
      const figures = [];
      for (const count of FACTS_A_COMMIT) {
        const rates: number[] = [];
        const ratios: number[] = [];
        for (let round = 0; round <= rounds; round += 1) {
          report(`${count} a commit: round ${round} of ${rounds}`);
          const span = Math.min(TURN_SECONDS_MAX, round === 0 ? warmUpSeconds : seconds);
          const written = await rateOf((n) => commitFacts(ours, n), count, span);
          const baseline = await rateOf(plain.commit, count, span);
          // The first round warms up.
          if (round === 0) continue;
          rates.push(written);
          ratios.push(written / baseline);
        }
        figures.push(
          figureOf(`${count} a commit: facts`, 'per s', rates),
          figureOf(`${count} a commit: ÷ plain SQLite`, '×', ratios),
        );
      }
      return { figures };
    } finally {
      plain.close();
      await ours.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Facts a second, on the wall: the disk is what is waited for. */
async function rateOf(commit: Commit, count: number, seconds: number): Promise<number> {
  const begin = performance.now();
  let facts = 0;
  for (;;) {
    await commit(count);
    facts += count;
    const elapsedMs = performance.now() - begin;
    if (elapsedMs >= seconds * 1_000) return (facts * 1_000) / elapsedMs;
  }
}

function commitFacts(journal: Journal, count: number): Promise<void> {
  const at = Date.now();
  let seq = 0;
  for (let n = 0; n < count; n += 1)
    seq = journal.append({ eventId: EVENT_ID, at, facts: [{ type: TYPE, data: DATA }] });
  return journal.durable(seq);
}

function openPlain(file: string): { readonly commit: Commit; close(): void } {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE fact (seq INTEGER PRIMARY KEY, at INTEGER, event_id TEXT, type TEXT, data TEXT) STRICT');
  const insert = db.prepare('INSERT INTO fact (at, event_id, type, data) VALUES (?, ?, ?, ?)');
  const commit = db.transaction((count: number) => {
    for (let n = 0; n < count; n += 1) insert.run(Date.now(), EVENT_ID, TYPE, DATA);
  });
  return { commit, close: () => void db.close() };
}
