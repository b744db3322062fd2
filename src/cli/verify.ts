/** `holdfast verify`: checks that a data folder is complete, unchanged and consistent. Only reads. */
import { verifyFolder } from '#actors/verification.ts';
import { DATA_OPTION, type Command } from './command.ts';
import { counted } from './output.ts';
import { dataFolder } from './data-folder.ts';
import { followVerification, isGood, problemLines, reportJson, summaryLines } from './summary.ts';

export const verifyCommand: Command = {
  usage: 'verify [--data DIR]',
  description: [
    'Reads journal, archive, watermark and snapshots, also while a service runs on the folder. Checks that no fact is missing, that ' +
      'every batch has its checksum, that the chain continues through all archive files into the journal, and that the journal ' +
      'reaches its watermark. Then replays every event, compares it with its snapshots, and counts its stock again from holds and ' +
      'orders: capacity = available + held + sold + blocked on every performance and locality, a seat in at most one claim, one ' +
      'active hold for each session.',
    'Ends with a summary. Two folders with the same state have the same state fingerprint. Exit code 1 when there is a problem; ' +
      'every problem says where it is and what to do.',
  ],
  options: [DATA_OPTION],
  positionals: { min: 0, max: 0 },
  examples: [
    { line: 'holdfast verify', does: 'verifies ./data, or DATA_DIR' },
    { line: 'holdfast verify --data backups/monday --json', does: 'verifies a backup and prints the report as JSON' },
  ],
  async run(call) {
    const { output } = call;
    const report = await verifyFolder(dataFolder(call), followVerification(output));
    output.text(...summaryLines(report));
    output.json(reportJson(report));
    if (isGood(report)) {
      output.text(
        '',
        report.journalId === null ? 'There is no journal here yet.' : 'Nothing is wrong, nothing is missing.',
      );
      return 0;
    }
    output.text('', `${counted(report.problems.length + report.moreProblems, 'problem')}:`, ...problemLines(report));
    return 1;
  },
};
