/** The report of `verify`, `backup` and `restore` on a folder: counts, head, hashes, and every problem. */
import type { FolderReport, VerificationListener } from '#offline/verification.ts';
import type { EventCounts } from '#domain/event/operator-view.ts';
import { byStatus, counted, formatMoment, grouped, type Output } from '../terminal/output.ts';

export function isGood({ problems }: FolderReport): boolean {
  return problems.length === 0;
}

/** The report in lines for people. */
export function summaryLines(report: FolderReport): string[] {
  const { facts, batches, headSeq, provedSeq, headHash, lastAt, baseSeq, streams } = report;
  const archived = baseSeq === 0 ? '' : `, those up to fact ${grouped(baseSeq)} in the archive`;
  const { archives, archivedFacts } = report;
  const at = lastAt === null ? '' : `, the last one at ${formatMoment(lastAt)}`;
  const { origin } = report;
  const proved = report.snapshots.filter(({ fingerprint }) => fingerprint !== null).length;
  return [
    `journal    ${counted(facts, 'fact')} in ${counted(batches, 'batch', 'batches')} of ${counted(streams, 'stream')}${archived}`,
    ...(provedSeq < headSeq
      ? [
          `head       fact ${grouped(headSeq)}`,
          `proved     up to fact ${grouped(provedSeq)}${at}; all below is as of it`,
        ]
      : [`head       fact ${grouped(headSeq)}${at}`]),
    `chain      ${headHash ?? 'none'}`,
    ...(origin === null
      ? []
      : [
          `origin     rewritten from the journal ${origin.journalId}, fact ${grouped(origin.headSeq)}, ${origin.headHash}`,
        ]),
    ...(archives === 0 && baseSeq === 0
      ? []
      : [`archive    ${counted(archivedFacts, 'good fact')} in ${counted(archives, 'file')}`]),
    `snapshots  ${counted(proved, 'good one')}, ${grouped(report.snapshotsReplayed)} compared with a replay`,
    ...(headHash === null && !isGood(report) ? [] : stateLines(report)),
  ];
}

function stateLines({ events, leftOut, figures, keys, stateFingerprint }: FolderReport): string[] {
  const without = leftOut === 0 ? '' : `, without ${grouped(leftOut)} that cannot be replayed`;
  return [
    `events     ${grouped(events)}${without}`,
    ...figureLines(figures),
    ...keyLines(keys),
    `state      ${stateFingerprint ?? 'could not be replayed as a whole'}`,
  ];
}

function keyLines({ file, sealedTexts, openable, destroyed, erasedOrders }: FolderReport['keys']): string[] {
  if (sealedTexts === 0 && erasedOrders === 0) return [];
  const erased = `${counted(erasedOrders, 'erased order')}`;
  if (file === null) return [`personal   ${counted(sealedTexts, 'sealed text')}, their keys left out; ${erased}`];
  return [
    `personal   ${counted(sealedTexts, 'sealed text')}: ${grouped(openable)} with their key, ${grouped(destroyed)} erased; ${erased}`,
  ];
}

function figureLines({ tickets, holds, orders, queue }: EventCounts): string[] {
  const { capacity, available, held, sold, blocked } = tickets;
  return [
    `seats      ${grouped(capacity)} = ${grouped(available)} available + ${grouped(held)} held + ` +
      `${grouped(sold)} sold + ${grouped(blocked)} blocked`,
    `holds      ${byStatus(holds)}`,
    `orders     ${byStatus(orders)}`,
    `queue      ${grouped(queue.waiting)} waiting, ${grouped(queue.admitted)} admitted`,
  ];
}

/** The problems in lines for people, each with its hint. */
export function problemLines({ problems, moreProblems }: FolderReport): string[] {
  const listed = problems.flatMap(({ what, where, hint }) => [`  ${where}: ${what}`, `      ${hint}`]);
  const more = moreProblems === 0 ? [] : [`  and ${counted(moreProblems, 'problem')} more`];
  return [...listed, ...more];
}

/** The snapshots that were not copied, in lines for people. */
export function leftLines(snapshotsLeft: readonly string[]): string[] {
  return snapshotsLeft.map((path) => `${path} is damaged and was not copied; archive and journal have its facts.`);
}

/** Says where a copy of the keys of personal data is. */
export function keysLine(file: string): string {
  return `The keys of personal data are in ${file}: who has both can read everything.`;
}

/** The report for programs. */
export function reportJson(report: FolderReport): object {
  const { lastAt, lastArchivedFactAt: _, ...rest } = report;
  // The watermark's key in JSON is its file's name, which scripts of operators may read.
  const entries = Object.entries(rest).map(([key, value]) => [key === 'watermarkSeq' ? 'witnessSeq' : key, value]);
  return { ok: isGood(report), ...Object.fromEntries(entries), lastAt: lastAt === null ? null : formatMoment(lastAt) };
}

/** Shows the progress of a verification on the terminal. */
export function followVerification(output: Output): VerificationListener {
  const names = { chain: 'reading the journal', replay: 'replaying events' };
  return { onProgress: (of, done, total) => output.progress(names[of], done, total) };
}
