/** `holdfast verify`: is everything there, is it what was written, and do the books add up? Reads only. */
import { verifyFolder } from '#actors/verification.ts';
import { DATA_OPTION, type Command } from './command.ts';
import { counted } from './output.ts';
import { dataFolder } from './settings.ts';
import { followVerification, isGood, problemLines, reportJson, summaryLines } from './summary.ts';

export const verifyCommand: Command = {
  usage: 'verify [--data DIR]',
  description: [
    'Reads journal, archive, watermark and snapshots without writing, also beside a serving process. Checks that no fact is missing, that ' +
      'every batch has the checksum it was written with, that the chain goes on from archive file to archive file into the journal, ' +
      'that the journal reaches as far as its watermark says; then replays ' +
      'every event, compares it with its snapshots, and counts its stock anew from its holds and orders: capacity = available + ' +
      'held + sold + blocked on every date and locality, a seat in at most one claim, one active hold a session.',
    'Ends with a summary. Two folders with the same state have the same state fingerprint. Exit code 1 when anything is ' +
      'wrong; every problem says where it is and what can be done.',
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
