/** `holdfast snapshot`: takes snapshots through the service that runs on the folder, or without one. */
import { archiveProblems } from '#persistence/sqlite/archive-check.ts';
import { readServingPid } from '#persistence/sqlite/lock.ts';
import { adminAccess, callService, errorOf, openOffline } from './access.ts';
import { CommandFailure, DATA_OPTION, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { counted, grouped } from '../terminal/output.ts';
import { dataFolder, withFolderArgument } from '../folder/data-folder.ts';

interface Taken {
  readonly seq: number;
  readonly taken: number;
  readonly failed: number;
  readonly archived: { readonly fromSeq: number; readonly toSeq: number } | null;
}

export const command: CliCommand = {
  usage: 'snapshot [FOLDER] [--prune [--unnotified]]',
  description: [
    'Writes a snapshot of every event that changed since its last one. When a service runs on the folder, the command calls its ' +
      'admin API (ADMIN_HOST, ADMIN_PORT, the token); otherwise it opens the folder itself.',
    'With --prune the facts that are older than the previous snapshot of every event are moved from the journal to an archive file ' +
      'under archive/. They are deleted from the journal only after that file was written and read back. Nothing is lost: ' +
      'restore reads the archive too. Then the whole archive is read: exit code 1 when a file of it is damaged or missing.',
  ],
  options: [
    { name: 'prune', help: 'move facts older than the previous snapshot to the archive' },
    {
      name: 'unnotified',
      help: 'also those of which notifications or mails are not delivered: nobody gets them any more',
    },
    DATA_OPTION,
  ],
  positionals: { min: 0, max: 1 },
  examples: [
    { line: 'holdfast snapshot', does: 'the next start replays only later facts' },
    { line: 'holdfast snapshot --prune', does: 'shortens the journal; a second run prunes up to the first one' },
  ],
  async run(given) {
    const call = withFolderArgument(given);
    const folder = dataFolder(call, 'POST /admin/snapshot');
    const isServed = readServingPid(folder) !== null;
    if (call.has('unnotified') && (isServed || !call.has('prune')))
      throw new WrongUse('--unnotified goes with --prune, and only where no service runs on the folder');
    const outcome = await (isServed ? takeOnline(call) : takeOffline(call));
    const { seq, taken, failed, archived } = outcome;
    const { output } = call;
    if (taken === 0 && failed === 0) output.text(`Every event has a snapshot already, up to fact ${grouped(seq)}.`);
    else output.text(`${counted(taken, 'snapshot')} taken, up to fact ${grouped(seq)}.`);
    if (call.has('prune')) {
      const moved =
        archived && `Facts ${grouped(archived.fromSeq)} to ${grouped(archived.toSeq)} moved to the archive.`;
      output.text(
        moved ??
          'Nothing to prune: every fact that is older than the previous snapshot of every event is in the archive, or waits for the receiver of notifications.',
      );
    }
    if (failed > 0) output.trouble(`${counted(failed, 'snapshot')} could not be taken; the log says why.`);
    const problems = call.has('prune') ? await archiveProblems(folder) : [];
    for (const { where, what, hint } of problems) output.trouble(`${where}: ${what}`, `    ${hint}`);
    const ok = failed === 0 && problems.length === 0;
    output.json({ ok, ...outcome, problems });
    return ok ? 0 : 1;
  },
};

async function takeOnline(call: CliCall): Promise<Taken> {
  const answer = await callService(adminAccess(call), 'POST', '/admin/snapshot', { prune: call.has('prune') });
  if (answer.status !== 200) {
    const { code, message } = errorOf(answer);
    throw new CommandFailure(`the service took no snapshot: ${code}: ${message}`, 'Its log says more.');
  }
  const { seq, taken, failed, archived } = answer.body as unknown as Omit<Taken, 'archived'> & {
    readonly archived: { readonly from_seq: number; readonly to_seq: number } | null;
  };
  return { seq, taken, failed, archived: archived && { fromSeq: archived.from_seq, toSeq: archived.to_seq } };
}

async function takeOffline(call: CliCall): Promise<Taken> {
  const engine = await openOffline(call, call.has('unnotified') ? { keepsUndelivered: [] } : {});
  try {
    const { seq, outcomes, archived } = await engine.snapshots.takeRound({ prune: call.has('prune') });
    for (const { trouble, eventId } of outcomes) {
      if (trouble !== null) call.output.trouble(`no snapshot of ${eventId || 'the service'}: ${trouble}`);
    }
    const failed = outcomes.filter(({ trouble }) => trouble !== null).length;
    return { seq, taken: outcomes.length - failed, failed, archived };
  } finally {
    await engine.stop();
  }
}
