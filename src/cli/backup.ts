/** `holdfast backup`: a consistent copy of the data folder, beside a serving process, proved before it counts. */
import { copyUpTo } from '#persistence/backup.ts';
import { verifyFolder } from '#actors/verification.ts';
import { DATA_OPTION, type Command } from './command.ts';
import { keptFiles } from './kept-files.ts';
import { dataFolder } from './settings.ts';
import { followVerification, isGood, leftLines, problemLines, reportJson, summaryLines } from './summary.ts';

export const backupCommand: Command = {
  usage: 'backup OUT [--data DIR]',
  description: [
    'OUT becomes a new data folder with everything that was on disk when the command began: journal, archive, snapshots, and the ' +
      'keys and the token (readable by their owner only: keep OUT as safe as the data folder). The service may run ' +
      'meanwhile. The copy is verified from its bytes to its books, archive included; serve from it with DATA_DIR=OUT. Damaged ' +
      'snapshots are not copied: their facts are in archive and journal. Exit code 1 when a fact is missing.',
  ],
  options: [DATA_OPTION],
  positionals: { min: 1, max: 1 },
  examples: [
    { line: 'holdfast backup backups/monday', does: 'copies ./data, or DATA_DIR, to backups/monday' },
    { line: 'holdfast verify --data backups/monday', does: 'verifies it again later' },
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
    output.text(`${out} has everything that was answered before the command began.`);
    return 0;
  },
};
