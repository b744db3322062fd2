/** `holdfast subject`: what is kept about a person, as a file for programs and a page for the person. Only reads. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_MODE, makePrivateFolder } from '#persistence/files.ts';
import { CommandFailure, DATA_OPTION, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { dataFolder, withFolderArgument, withKeys, withView } from '../folder/data-folder.ts';
import { counted } from '../terminal/output.ts';
import { drawSubject } from './subject-page.ts';
import { readSubject } from './subject-report.ts';
import type { SubjectReport } from '#service/subject.ts';

const FILES = { json: 'subject.json', page: 'subject.html' } as const;

export const command: CliCommand = {
  usage: 'subject [FOLDER] --email ADDRESS --out DIR',
  description: [
    'Writes what is kept about a person to DIR/subject.json and, readable without further explanation, to DIR/subject.html: the ' +
      'orders that were placed with the address, with tickets, entries and exits, money, tracking texts, notes and everything that happened to them; ' +
      'and tickets and names with the address on orders of others, without who bought them. Reads journal, archive and keys of the data ' +
      'folder, also while a service runs on it. Both files are readable by their owner only.',
    "Two addresses are one person's when purchase limits take them for one buyer's: capital letters and a +tag make no " +
      'difference. An erased order is not found by any address.',
    'On a cluster, ask a node: GET /admin/subject. Exit code 1 when an event could not be read.',
  ],
  options: [
    { name: 'email', value: 'ADDRESS', help: 'the e-mail address of the person' },
    { name: 'out', value: 'DIR', help: 'the folder for both files; made where it is missing' },
    DATA_OPTION,
  ],
  positionals: { min: 0, max: 1 },
  examples: [
    {
      line: 'holdfast subject --email ada@example.org --out ada',
      does: 'writes ada/subject.json and ada/subject.html',
    },
  ],
  async run(call) {
    const { output } = call;
    const email = emailOf(call);
    const out = call.text('out');
    if (out === null) throw new WrongUse('--out is missing: name the folder for the files');
    const folder = dataFolder(withFolderArgument(call), 'GET /admin/subject?email=ADDRESS');
    refuseExisting(out);
    const onProgress = (done: number, total: number): void => output.progress('reading events', done, total);
    const subject = await withView(folder, (view) =>
      withKeys(folder, (keys) => readSubject({ folder, view, keys }, email, onProgress)),
    );
    writeFiles(out, subject);
    const { orders, attendances, unread_events: unreadEvents } = subject;
    const ok = unreadEvents.length === 0;
    output.json({ ok, out, orders: orders.length, attended: attendances.length, unreadEvents });
    output.text(
      `${counted(orders.length, 'order')} placed with ${email}, ` +
        `${counted(attendances.length, 'order')} of others that name it.`,
      `Written to ${join(out, FILES.page)} and ${join(out, FILES.json)}.`,
    );
    if (!ok) output.trouble(`These events cannot be read, and what they have is missing: ${unreadEvents.join(', ')}`);
    return ok ? 0 : 1;
  },
};

/** The address to look for. Throws WrongUse. */
export function emailOf(call: CliCall): string {
  const email = call.text('email')?.trim() ?? '';
  if (email === '') throw new WrongUse('--email is missing: the e-mail address of the person');
  if (!email.includes('@')) throw new WrongUse(`--email is "${email}": it must be an e-mail address`);
  return email;
}

function refuseExisting(out: string): void {
  const existing = Object.values(FILES).find((name) => existsSync(join(out, name)));
  if (existing === undefined) return;
  throw new CommandFailure(`${join(out, existing)} exists already`, 'Name another folder, or remove the files there.');
}

function writeFiles(out: string, subject: SubjectReport): void {
  makePrivateFolder(out);
  writeFileSync(join(out, FILES.json), `${JSON.stringify(subject, null, 2)}\n`, { mode: FILE_MODE });
  writeFileSync(join(out, FILES.page), drawSubject(subject), { mode: FILE_MODE });
}
