/**
 * Verifies the archive: every fact that the journal no longer has lies in a file that is whole, and the chain continues
 * from file to file into the journal.
 *
 *  1. Every file is read from its first fact to its last, also a file that no fact needs.
 *  2. From the journal's anchor back, a good file must join each place in the chain; facts that no good file has are
 *     named.
 */

import { join } from 'node:path';
import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises';
import {
  ARCHIVE_FOLDER,
  attempt,
  journalAnchor,
  listArchives,
  meetPlace,
  openFile,
  proveFile,
  type ArchiveFile,
  type ChainPosition,
} from './archive.ts';
import type { Finding } from '../faults.ts';
import type { FactRow } from '../journal.ts';
import { stopwatchMs } from '../stopwatch.ts';
import { newestBatch } from './chain.ts';
import { factReader } from './reader.ts';

export interface ArchiveReport {
  /** Files of the archive. */
  readonly archives: number;
  /** Facts in the files that are whole. */
  readonly archivedFacts: number;
  /** When the last archived fact happened; null when no good file has one. */
  readonly lastArchivedFactAt: number | null;
}

export const NO_ARCHIVE: ArchiveReport = { archives: 0, archivedFacts: 0, lastArchivedFactAt: null };

type OnProblem = (finding: Finding) => void;

/** Facts of some types that are shown as well, each once. */
export interface ShownFacts {
  readonly types: readonly string[];
  readonly onRow: (row: FactRow) => void;
}

/** The problems of a folder's archive; beside a sale the check rests for as long as it reads. */
export async function archiveProblems(folder: string, isBesideSale = false): Promise<Finding[]> {
  const problems: Finding[] = [];
  let beganMs = stopwatchMs();
  const restAsLong = async (): Promise<void> => {
    await pause(stopwatchMs() - beganMs);
    beganMs = stopwatchMs();
  };
  const onProblem = (finding: Finding): void => void problems.push(finding);
  await verifyArchive(folder, journalAnchor(folder), onProblem, null, isBesideSale ? restAsLong : nextRound);
  return problems;
}

/** Verifies the archive files of a folder whose journal begins after `anchor`; `rest` is awaited after each file. */
export async function verifyArchive(
  folder: string,
  anchor: ChainPosition,
  onProblem: OnProblem,
  shown: ShownFacts | null = null,
  rest: () => Promise<unknown> = nextRound,
): Promise<ArchiveReport> {
  const files = listArchives(folder);
  const good: ArchiveFile[] = [];
  const bad: { readonly file: ArchiveFile; readonly trouble: string }[] = [];
  for (const file of files) {
    const proof = attempt(() => proveFile(file, anchor.journalId));
    if ('trouble' in proof) bad.push({ file, trouble: proof.trouble });
    else good.push(file);
    await rest();
  }
  const gaps = [...gapsBefore(anchor, good)];
  for (const { file, trouble } of bad) {
    const gap = gaps.find((each) => lieIn(each, file));
    const lost = gap === undefined ? '' : `; no other file has facts ${gap.fromSeq} to ${gap.toSeq}`;
    onProblem({ what: `${trouble}${lost}`, where: file.path, hint: hintFor(file, anchor, gap !== undefined) });
  }
  for (const gap of gaps) {
    // A damage is one problem: the file that should have these facts is named already.
    if (bad.some(({ file }) => lieIn(gap, file))) continue;
    const { fromSeq, toSeq, reason } = gap;
    const what = `facts ${fromSeq} to ${toSeq} were moved to the archive, and ${reason}`;
    onProblem({ what, where: join(folder, ARCHIVE_FOLDER), hint: PUT_BACK });
  }
  const last = good.reduce<ArchiveFile | null>((most, file) => (file.toSeq > (most?.toSeq ?? 0) ? file : most), null);
  if (shown !== null) await showFacts(good, anchor.seq, shown);
  const lastArchivedFactAt = last && openFile(last, (db) => newestBatch(db)?.at ?? null);
  return { archives: files.length, archivedFacts: factsIn(good), lastArchivedFactAt };
}

async function showFacts(files: readonly ArchiveFile[], upToSeq: number, { types, onRow }: ShownFacts): Promise<void> {
  let reached = 0;
  for (const file of files) {
    if (file.toSeq <= reached) continue;
    for (const type of types) {
      const rows = openFile(file, (db) => factReader(db).ofType(type, Math.min(file.toSeq, upToSeq)));
      for (const row of rows) if (row.seq > reached) onRow(row);
      await nextRound();
    }
    reached = file.toSeq;
  }
}

const PUT_BACK =
  'Put the archive file back from a backup: holdfast backup copies the archive too. Without it no moment up to there can be ' +
  'restored, and events whose facts lie there depend on their snapshots.';

function hintFor({ fromSeq }: ArchiveFile, { seq }: ChainPosition, isNeeded: boolean): string {
  if (fromSeq > seq) return 'The journal still has its facts: the next pruning removes it.';
  return isNeeded ? PUT_BACK : 'Other files have its facts: it may be deleted.';
}

function lieIn({ fromSeq, toSeq }: Range, file: ArchiveFile): boolean {
  return file.fromSeq <= fromSeq && toSeq <= file.toSeq;
}

interface Range {
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** The ranges of facts before the journal that no good file has, from the newest back. */
function* gapsBefore(
  anchor: ChainPosition,
  good: readonly ArchiveFile[],
): Generator<Range & { readonly reason: string }> {
  let place = anchor;
  while (place.seq > 0) {
    const { before, trouble } = stepBack(place, good);
    if (before !== null) {
      place = before;
      continue;
    }
    // The walk continues at the next good file further back.
    const next = good.filter(({ toSeq }) => toSeq < place.seq).sort((a, b) => b.toSeq - a.toSeq)[0];
    const fromSeq = (next?.toSeq ?? 0) + 1;
    yield { fromSeq, toSeq: place.seq, reason: trouble ?? 'no good file of it has them' };
    if (next === undefined) return;
    place = openFile(next, (db) => {
      const hash = db.prepare<[number], Buffer>('SELECT hash FROM batch WHERE last_seq = ?').pluck().get(next.toSeq);
      return { journalId: anchor.journalId, seq: next.toSeq, hash: hash ?? Buffer.alloc(0) };
    });
  }
}

/** The place in the chain before the good file that joins the given place and reaches back furthest. */
function stepBack(
  place: ChainPosition,
  good: readonly ArchiveFile[],
): { readonly before: ChainPosition | null; readonly trouble: string | null } {
  let trouble: string | null = null;
  for (const file of good) {
    if (file.fromSeq > place.seq || file.toSeq < place.seq) continue;
    const met = attempt(() => meetPlace(file, place));
    if ('result' in met) return { before: met.result, trouble: null };
    trouble = `${file.path} has others: ${met.trouble}`;
  }
  return { before: null, trouble };
}

/** The number of facts in the files; a fact in two files counts once. */
function factsIn(files: readonly ArchiveFile[]): number {
  let reached = 0;
  let facts = 0;
  for (const { fromSeq, toSeq } of files) {
    if (toSeq <= reached) continue;
    facts += toSeq - Math.max(reached, fromSeq - 1);
    reached = toSeq;
  }
  return facts;
}
