/** `holdfast seal`: makes a data folder with the personal data of orders sealed from one of an earlier version. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { sealFolder } from '#offline/sealed-folder.ts';
import { verifyFolder } from '#offline/verification.ts';
import { readServingPid } from '#persistence/sqlite/lock.ts';
import { CommandFailure, WrongUse, type CliCommand } from '../terminal/command.ts';
import { keptFiles } from '../folder/data-folder.ts';
import { counted, grouped } from '../terminal/output.ts';
import { followVerification, isGood, problemLines, reportJson, summaryLines } from '../folder/summary.ts';

export const command: CliCommand = {
  usage: 'seal FROM TO',
  description: [
    'Makes the new data folder TO with all facts of FROM, archive included, in which the personal data of orders is sealed: names, ' +
      'addresses, telephone and document numbers, attendees, tracking texts and notes. The keys are in TO/keys.db. Everything else ' +
      'is as in FROM: numbers and times of the facts, money, seats, how far notifications were delivered, tickets and their codes, ' +
      'the admin token. Facts that are sealed already are taken over with their keys.',
    'The facts have another text, so TO has a chain of its own. It begins with a hash over the id of the journal of FROM, its last ' +
      'fact and the hash of it; holdfast verify proves that and prints it. Keep FROM, or only that line, to show what TO came from.',
    'FROM is proved first and is not changed; no service may run on it. At the end every event of TO is replayed, every order is ' +
      'opened with its key and compared with FROM, and TO is verified as by holdfast verify. Snapshots are not taken over: holdfast ' +
      'snapshot, or the next start, takes new ones. FROM still has everything in the open: destroy it, and every backup of it, ' +
      'when TO serves. Needs about the space of FROM.',
  ],
  options: [],
  positionals: { min: 2, max: 2 },
  examples: [
    { line: 'holdfast seal data data-sealed', does: 'seals ./data into data-sealed; serve with DATA_DIR=data-sealed' },
    { line: 'holdfast pii data-sealed', does: 'shows that nothing personal is readable in it' },
  ],
  async run(call) {
    const { output } = call;
    const [from = '', to = ''] = call.positionals;
    refuseFolders(from, to);
    const files = keptFiles(from);
    const sealed = await sealFolder(from, to, { files, onProgress: output.progress });
    const report = await verifyFolder(to, followVerification(output));
    const ok = isGood(report);
    const { sealedFacts, sealedOrders, comparedOrders, events, origin } = sealed;
    output.json({ ...reportJson(report), ok, from, to, sealedFacts, sealedOrders, comparedOrders, events, origin });
    output.text(...summaryLines(report), '');
    output.text(
      `${counted(sealedFacts, 'fact')} sealed, of ${counted(sealedOrders, 'order')}; ${grouped(comparedOrders)} orders of ` +
        `${counted(events, 'event')} were opened and are equal to those of ${from}.`,
    );
    if (!ok) {
      output.text(`${to} has problems:`, ...problemLines(report));
      return 1;
    }
    output.text(
      `${to} has everything that ${from} has. Keep ${to}/keys.db apart from copies of the journal: who has both can read everything.`,
      `${from} and its backups still have the personal data in the open: destroy them when ${to} serves.`,
    );
    return 0;
  },
};

function refuseFolders(from: string, to: string): void {
  if (statSync(from, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new WrongUse(`there is no folder ${from}: name the data folder to seal`);
  if (existsSync(to) && resolve(from) === resolve(to)) throw new WrongUse('FROM and TO are the same folder');
  const pid = readServingPid(from);
  if (pid === null) return;
  throw new CommandFailure(
    `a service runs on ${from} (process ${pid})`,
    'Stop it first: what it sells meanwhile would not be in the sealed folder.',
  );
}
