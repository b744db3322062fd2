/**
 * `holdfast restore`: makes a new data folder as of a fact or a time. The source folder is only read.
 *
 * A folder that `serve` refuses as damaged is restored up to its last good fact, which accepts the loss of the rest.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyUpTo, type CopyReport, type Loss } from '#persistence/folder/backup.ts';
import { verifyFolder, type FolderReport } from '#offline/verification.ts';
import { CommandFailure, DATA_OPTION, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { dataFolder, keptFiles, keysOption, withFolderArgument } from './data-folder.ts';
import { counted, grouped, formatMoment } from '../terminal/output.ts';
import { followVerification, isGood, leftLines, problemLines, reportJson, summaryLines } from './summary.ts';

interface Restored {
  readonly copy: CopyReport;
  readonly report: FolderReport;
}

export const command: CliCommand = {
  usage: 'restore [FOLDER] --to OUT_DIR [--seq N | --time T] [--keys FILE | --without-keys] [--dry-run]',
  description: [
    'Makes OUT_DIR a new data folder with all facts up to fact N, or up to the time T, or all facts; facts of one batch are kept or ' +
      'left out together. Pruned facts are read from the archive: archive and journal together have every fact. The source folder ' +
      'is not changed, and a service may run on it. Secrets and token are copied too, readable by their owner only.',
    'The keys of personal data are those that the source folder has now, or those of FILE, so that what was erased since stays erased: ' +
      'name the newest keys there are. Without keys all personal data reads as erased, and the service starts on the folder only with ' +
      'KEYS_LOST=accept.',
    'Later facts are not in the new folder: buyers may have tickets that OUT_DIR does not know. holdfast journal --since N+1 lists ' +
      'them. Serve from the new folder with DATA_DIR=OUT_DIR.',
    'When serve reports that a journal is damaged, restore it up to its last good fact; the rest is lost.',
  ],
  options: [
    { name: 'to', value: 'OUT_DIR', help: 'the new folder, which must not exist or must be empty' },
    { name: 'seq', value: 'N', help: 'the last fact to keep' },
    { name: 'time', value: 'T', help: 'the last time to keep, such as 2027-05-07T18:00:00Z' },
    { name: 'keys', value: 'FILE', help: 'the keys of personal data to take (default: keys.db of the source folder)' },
    { name: 'without-keys', help: 'take no keys of personal data' },
    { name: 'dry-run', help: 'print what the new folder would have, and leave none' },
    { ...DATA_OPTION, help: 'the folder to restore from (default: DATA_DIR, or ./data)' },
  ],
  positionals: { min: 0, max: 1 },
  examples: [
    { line: 'holdfast restore --to data-new --seq 41872', does: 'restores everything up to fact 41872' },
    {
      line: 'holdfast restore --to data-new --time 2027-05-07T17:59:59Z --dry-run',
      does: 'prints what was there a second before 18:00',
    },
    {
      line: 'holdfast restore backups/monday --keys data/keys.db --to data-new',
      does: "restores a backup with today's keys",
    },
  ],
  async run(call) {
    const { output } = call;
    const folder = dataFolder(withFolderArgument(call));
    const out = call.text('to');
    if (out === null) throw new WrongUse('--to is missing: name the new folder');
    if (call.has('seq') && call.has('time')) throw new WrongUse('--seq and --time exclude each other');
    const isDry = call.has('dry-run');
    const { copy, report } = await (isDry ? tryOut(call, folder, out) : restore(call, folder, out));
    output.text(...summaryLines(report), '');
    const { lost, snapshotsLeft } = copy;
    output.json({ ...reportJson(report), from: folder, to: out, dryRun: isDry, lost, snapshotsLeft });
    output.text(...leftLines(snapshotsLeft));
    const has = `${out} ${isDry ? 'would have' : 'has'}`;
    if (isGood(report)) {
      output.text(
        `${has} everything up to ${endOf(report)}.`,
        lossOf(lost, `Nothing that ${folder} has is missing.`, folder),
      );
      return 0;
    }
    output.text(
      `${has} the same problems as ${folder}:`,
      ...problemLines(report),
      lossOf(lost, 'Nothing else is missing.', folder),
    );
    return 1;
  },
};

async function restore(call: CliCall, folder: string, out: string): Promise<Restored> {
  const { output } = call;
  const files = keptFiles(folder);
  const limit = { seq: call.count('seq') ?? undefined, at: call.moment('time') ?? undefined };
  const from = keysOption(call);
  const copy = await copyUpTo(folder, out, limit, {
    files,
    keys: from === null ? null : { from },
    onProgress: ({ seq, headSeq }) => output.progress('copying', seq, headSeq),
  });
  const keys = from === null ? null : undefined;
  return { copy, report: await verifyFolder(out, followVerification(output), { keys }) };
}

/** Restores into a folder that is removed again, so that a dry run checks everything that a real one does. */
async function tryOut(call: CliCall, folder: string, out: string): Promise<Restored> {
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new CommandFailure(`${out} is not empty`, 'Name a folder that does not exist yet.');
  }
  const draft = mkdtempSync(join(tmpdir(), 'holdfast-restore-'));
  try {
    const { copy, report } = await restore(call, folder, draft);
    const problems = report.problems.map(({ where, ...rest }) => ({ ...rest, where: where.replace(draft, out) }));
    return { copy, report: { ...report, problems } };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function endOf({ headSeq, lastAt }: FolderReport): string {
  if (headSeq === 0) return 'fact 0: there was no fact by then';
  return `fact ${grouped(headSeq)}${lastAt === null ? '' : `, of ${formatMoment(lastAt)}`}`;
}

/** What was answered and is not in the new folder. */
function lossOf(lost: Loss | null, nothing: string, folder: string): string {
  if (lost === null) return nothing;
  if ('unknown' in lost) return `Whether later facts are missing is unknown: in ${folder} ${lost.unknown}.`;
  const { fromSeq, toSeq } = lost;
  const range = fromSeq === toSeq ? `fact ${grouped(fromSeq)}` : `facts ${grouped(fromSeq)} to ${grouped(toSeq)}`;
  const isMissing = `${counted(toSeq - fromSeq + 1, 'answered fact')} ${fromSeq === toSeq ? 'is' : 'are'} missing`;
  return `${isMissing}: ${range}. holdfast journal ${folder} --since ${fromSeq} lists those that can be read.`;
}
