/** `holdfast verify`: checks that a data folder is complete, unchanged and consistent. Only reads. */
import { verifyFolder } from '#offline/verification.ts';
import { damagedSecrets } from '#service/secrets.ts';
import { DATA_OPTION, type CliCommand } from '../terminal/command.ts';
import { counted } from '../terminal/output.ts';
import { dataFolder, keysOption, noJournal, withFolderArgument } from './data-folder.ts';
import { followVerification, isGood, problemLines, reportJson, summaryLines } from './summary.ts';

export const command: CliCommand = {
  usage: 'verify [FOLDER] [--keys FILE | --without-keys]',
  description: [
    'Reads journal, archive, watermark and snapshots, also while a service runs on the folder. Checks that no fact is missing, that ' +
      'every batch has its checksum, that the chain continues through all archive files into the journal, and that the journal ' +
      'reaches its watermark. Then replays every event, compares it with its snapshots, and counts its stock again from holds and ' +
      'orders: capacity = available + held + sold + blocked on every performance and locality, a seat in at most one claim, one ' +
      'active hold for each session. Counts the sealed texts of personal data: each must have its key, unless it was erased. ' +
      'Checks that the secrets kept in the folder are such as a start takes.',
    'Ends with a summary. Two folders with the same state have the same state fingerprint. Exit code 1 when there is a problem; ' +
      'every problem says where it is and what to do.',
  ],
  options: [
    DATA_OPTION,
    { name: 'keys', value: 'FILE', help: 'the keys of personal data (default: keys.db of the folder)' },
    { name: 'without-keys', help: 'leave keys out, of a copy that has none' },
  ],
  positionals: { min: 0, max: 1 },
  examples: [
    { line: 'holdfast verify', does: 'verifies ./data, or DATA_DIR' },
    { line: 'holdfast verify backups/monday --json', does: 'verifies a backup and prints the report as JSON' },
  ],
  async run(call) {
    const { output } = call;
    const folder = dataFolder(withFolderArgument(call));
    const verified = await verifyFolder(folder, followVerification(output), { keys: keysOption(call) });
    const secrets = damagedSecrets(folder).map(({ message, hint }) => ({ where: 'secrets', what: message, hint }));
    const report = { ...verified, problems: [...verified.problems, ...secrets] };
    if (report.journalId === null && isGood(report)) throw noJournal(folder);
    output.text(...summaryLines(report));
    output.json(reportJson(report));
    if (isGood(report)) {
      output.text('', 'Nothing is wrong, nothing is missing.');
      return 0;
    }
    output.text('', `${counted(report.problems.length + report.moreProblems, 'problem')}:`, ...problemLines(report));
    return 1;
  },
};
