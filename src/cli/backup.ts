/** `holdfast backup`: a consistent, verified copy of the data folder, also while a service runs on it. */
import { copyUpTo } from '#persistence/backup.ts';
import { verifyFolder } from '#actors/verification.ts';
import { DATA_OPTION, type Command } from './command.ts';
import { dataFolder, keptFiles } from './data-folder.ts';
import { followVerification, isGood, leftLines, problemLines, reportJson, summaryLines } from './summary.ts';

export const backupCommand: Command = {
  usage: 'backup OUT [--data DIR]',
  description: [
    'Copies everything that was on disk when the command started to the new data folder OUT: journal, archive, snapshots, keys and ' +
      'token (readable by their owner only; keep OUT as safe as the data folder). A service may run on the data folder meanwhile. ' +
      'The copy is verified as by holdfast verify, the archive included. Serve from it with DATA_DIR=OUT. Damaged snapshots are ' +
      'not copied; archive and journal have their facts. Exit code 1 when a fact is missing.',
  ],
  options: [DATA_OPTION],
  positionals: { min: 1, max: 1 },
  examples: [
    { line: 'holdfast backup backups/monday', does: 'copies ./data, or DATA_DIR, to backups/monday' },
    { line: 'holdfast verify --data backups/monday', does: 'verifies the copy again' },
  ],
  async run(call) {
    const { output } = call;
    const folder = dataFolder(call);
    const out = call.positionals[0]!;
    const files = keptFiles(folder);
    const onProgress = ({ seq, headSeq }: { seq: number; headSeq: number }) => output.progress('copying', seq, headSeq);
    const { snapshotsLeft } = await copyUpTo(folder, out, {}, { files, onProgress });
    const report = await verifyFolder(out, followVerification(output));
    output.text(...summaryLines(report), '');
    output.json({ ...reportJson(report), from: folder, to: out, snapshotsLeft });
    output.text(...leftLines(snapshotsLeft));
    if (!isGood(report)) {
      output.text(`${out} has the same problems as ${folder}:`, ...problemLines(report));
      return 1;
    }
    output.text(`${out} has everything that was answered before the command started.`);
    return 0;
  },
};
