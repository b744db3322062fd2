/**
 * `holdfast restore`: a new data folder as of a fact or a moment. The source is only read.
 *
 * Also the way to accept a loss: a folder that `serve` refuses as damaged is restored up to its last good fact.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyUpTo, type CopyReport } from '#persistence/backup.ts';
import { verifyFolder, type FolderReport } from '#actors/verification.ts';
import { CommandFailure, DATA_OPTION, WrongUse, type Call, type Command } from './command.ts';
import { keptFiles } from './kept-files.ts';
import { grouped, printMoment } from './output.ts';
import { dataFolder } from './settings.ts';
import { followVerification, isGood, leftLines, problemLines, reportJson, summaryLines } from './summary.ts';

interface Restored {
  readonly copy: CopyReport;
  readonly report: FolderReport;
}

export const restoreCommand: Command = {
  usage: 'restore --to OUT_DIR [--seq N | --time T] [--dry-run] [--data DIR]',
  description: [
    'Makes OUT_DIR a new data folder with everything that happened up to fact N, or up to the moment T, or everything; never half ' +
      'of what happened together. Facts that were pruned come back from the archive: archive and journal together hold every fact, whatever became of the ' +
      'snapshots. The source is not touched, and a ' +
      'service may run on it. Keys and token come along, readable by their owner only.',
    'What happened after that point is not in the new folder: buyers who were told about it hold tickets that OUT_DIR does not ' +
      'know. holdfast journal --since N+1 lists it. Serve from the new folder with DATA_DIR=OUT_DIR.',
    'When serve says that a journal is damaged, restoring up to its last good fact accepts the loss of the rest.',
  ],
  options: [
    { name: 'to', value: 'OUT_DIR', help: 'the new folder; must not exist yet, or be empty' },
    { name: 'seq', value: 'N', help: 'the last fact to keep' },
    { name: 'time', value: 'T', help: 'the last moment to keep, such as 2027-05-07T18:00:00Z' },
    { name: 'dry-run', help: 'tell what the new folder would have, and leave none' },
    { ...DATA_OPTION, help: 'the folder to restore from (default: DATA_DIR, or ./data)' },
  ],
  positionals: { min: 0, max: 0 },
  examples: [
    { line: 'holdfast restore --to data-new --seq 41872', does: 'everything up to fact 41872' },
    {
      line: 'holdfast restore --to data-new --time 2027-05-07T17:59:59Z --dry-run',
      does: 'tells what was there a second before six',
    },
    { line: 'holdfast restore --data backups/monday --to data', does: 'brings a backup back' },
  ],
  async run(call) {
    const { output } = call;
    const folder = dataFolder(call);
    const out = call.text('to');
    if (out === null) throw new WrongUse('--to is missing: name the new folder');
    if (call.has('seq') && call.has('time')) throw new WrongUse('--seq and --time exclude each other');
    const isDry = call.has('dry-run');
    const { copy, report } = await (isDry ? tryOut(call, folder, out) : restore(call, folder, out));
    output.text(...summaryLines(report), '');
    const { cut, snapshotsLeft } = copy;
    output.json({ ...reportJson(report), from: folder, to: out, dryRun: isDry, cut, snapshotsLeft });
    output.text(...leftLines(snapshotsLeft));
    if (!isGood(report)) {
      output.text(`What was restored is not sound:`, ...problemLines(report));
      return 1;
    }
    output.text(`${out} ${isDry ? 'would have' : 'has'} everything up to ${endOf(report)}.`, lossOf(copy, folder));
    return 0;
  },
};

async function restore(call: Call, folder: string, out: string): Promise<Restored> {
  const { output } = call;
  const files = keptFiles(folder);
  const limit = { seq: call.count('seq') ?? undefined, at: call.moment('time') ?? undefined };
  const copy = await copyUpTo(folder, out, limit, {
    files,
    onProgress: ({ seq, headSeq }) => output.progress('copying', seq, headSeq),
  });
  return { copy, report: await verifyFolder(out, followVerification(output)) };
}

/** Restores into a folder that goes away again: a dry run that proves all that the real one would. */
async function tryOut(call: Call, folder: string, out: string): Promise<Restored> {
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new CommandFailure(`${out} is not empty`, 'Name a folder that does not exist yet.');
  }
  const draft = mkdtempSync(join(tmpdir(), 'holdfast-restore-'));
  try {
    return await restore(call, folder, draft);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function endOf({ headSeq, lastAt }: FolderReport): string {
  if (headSeq === 0) return 'fact 0: nothing had happened by then';
  return `fact ${grouped(headSeq)}${lastAt === null ? '' : `, of ${printMoment(lastAt)}`}`;
}

function lossOf({ cut, headSeq }: CopyReport, folder: string): string {
  if (!cut) return `Nothing that ${folder} has is missing.`;
  return `What happened after it is not there; holdfast journal --data ${folder} --since ${headSeq + 1} lists it.`;
}
