/**
 * `holdfast journal`: prints the facts of archive and journal. Without --reveal it shows only fields that
 * `shown-facts.ts` lists.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { suggestion } from '#domain/schema-problems.ts';
import { viewJournal } from '#persistence/sqlite/view.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { SERVICE_FACT_TYPES } from '#engine/service-facts.ts';
import { shownFact } from '#engine/shown-facts.ts';
import { FACT_TYPES } from '#domain/fact.ts';
import { DATA_OPTION, LINE_CHARS_MAX, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { formatMoment, grouped } from '../terminal/output.ts';
import { eventIdsIn } from '#offline/events.ts';
import { dataFolder, noEvent, noJournal, withFolderArgument, withKeys } from './data-folder.ts';
import type { FactRow } from '#persistence/journal.ts';

/** Between two reads with --follow. */
const READ_EVERY_MS = 200;

/** Facts that --last keeps in memory until the end is reached: some 10 MB. */
const LAST_MAX = 10_000;

export const command: CliCommand = {
  usage: 'journal [FOLDER] [--event ID] [--type T] [--since SEQ] [--last N] [--full] [--follow]',
  description: [
    'Prints facts in their order: number, time, event, type, data, each on a line of 80 characters; --full prints all data, and ' +
      '--json a JSON object on each line. Reads archive and journal, also while a service runs on the folder.',
    'Without --reveal *** replaces secrets: session keys, idempotency keys, seeds of draws and what is sealed about people. Ids of ' +
      'holds, queue entries and checkout sessions are shown as *** and the first 8 digits of their SHA-256, so that all facts of one ' +
      'can be found. With it, what the sealed text of a fact says stands beside it as "opened", and as ' +
      '"openedAttendees" the people whom an amendment names: null where the key is destroyed.',
  ],
  options: [
    { name: 'event', value: 'ID', help: 'only facts of this event' },
    { name: 'type', value: 'T', help: 'only facts of this type, such as HoldPlaced' },
    { name: 'since', value: 'SEQ', help: 'only fact SEQ and later ones' },
    { name: 'last', value: 'N', help: `only the last N facts that are chosen, at most ${grouped(LAST_MAX)}` },
    { name: 'full', help: 'print all data of a fact, however long; --reveal and --json do' },
    { name: 'follow', help: 'continue with new facts, until Ctrl-C' },
    { name: 'reveal', help: 'print secrets too, and open what is sealed' },
    DATA_OPTION,
  ],
  positionals: { min: 0, max: 1 },
  examples: [
    { line: 'holdfast journal --last 20', does: 'prints the last twenty facts' },
    { line: 'holdfast journal --since 41873', does: 'prints the facts after 41872' },
    { line: 'holdfast journal --event evt_gala --type OrderPlaced --json', does: 'prints every order of an event' },
    { line: 'holdfast journal --follow', does: 'prints facts as they are written' },
  ],
  async run(call) {
    const type = call.text('type');
    if (type !== null) refuseUnknownType(type);
    const last = call.count('last');
    if (last !== null && (last < 1 || last > LAST_MAX)) {
      throw new WrongUse(`--last must be from 1 to ${grouped(LAST_MAX)}`);
    }
    const folder = dataFolder(withFolderArgument(call), 'GET /admin/journal');
    let isFirst = true;
    let seq = (call.count('since') ?? 1) - 1;
    if (call.has('follow')) {
      process.once('SIGINT', () => call.exit(0));
      process.once('SIGTERM', () => call.exit(0));
    }
    for (;;) {
      // A journal that begins later may get its keys later.
      const lastAlone = isFirst ? last : null;
      seq = await withKeys(folder, (keys) => printFrom(call, folder, seq, new PersonalDataReader(keys), lastAlone));
      isFirst = false;
      if (!call.has('follow')) return 0;
      await pause(READ_EVERY_MS);
    }
  },
};

function refuseUnknownType(type: string): void {
  const known = [...Object.keys(FACT_TYPES), ...Object.keys(SERVICE_FACT_TYPES)];
  if (!known.includes(type)) throw new WrongUse(`there is no fact of the type ${type}${suggestion(type, known)}`);
}

/** Prints the facts after a sequence number, or the last ones of them; returns the number of the journal's last one. */
async function printFrom(
  call: CliCall,
  folder: string,
  afterSeq: number,
  personalData: PersonalDataReader,
  lastAlone: number | null,
): Promise<number> {
  const view = viewJournal(folder);
  if (view === null) {
    if (call.has('follow')) return afterSeq;
    throw noJournal(folder);
  }
  try {
    const type = call.text('type');
    const eventId = call.text('event');
    // With --follow, the event may come later.
    if (eventId !== null && !call.has('follow')) {
      const known = eventIdsIn(view);
      if (!known.includes(eventId)) throw noEvent(folder, eventId, known);
    }
    const rows = eventId === null ? view.facts(afterSeq) : await view.factsOf(eventId, afterSeq);
    const print = async (row: FactRow): Promise<void> => {
      const data = call.has('reveal') ? await personalData.openFact(row) : shownFact(row.type, row.data);
      await call.output.raw(lineOf(row, data, call));
    };
    const kept: FactRow[] = [];
    for await (const row of rows) {
      if (type !== null && row.type !== type) continue;
      if (lastAlone === null) await print(row);
      else if (kept.push(row) > 2 * lastAlone) kept.splice(0, lastAlone);
    }
    for (const row of lastAlone === null ? [] : kept.slice(-lastAlone)) await print(row);
    return Math.max(afterSeq, view.headSeq);
  } finally {
    view.close();
  }
}

function lineOf({ seq, at, eventId, type }: FactRow, shown: string, { output, has }: CliCall): string {
  const isFull = has('full') || has('reveal');
  const time = formatMoment(at);
  if (!output.isJson) {
    const line = `${seq} ${time} ${eventId || '-'} ${type} ${shown}`;
    return `${isFull || line.length <= LINE_CHARS_MAX ? line : `${line.slice(0, LINE_CHARS_MAX - 1)}…`}\n`;
  }
  const [sequence, moment, event, kind] = [seq, time, eventId, type].map((value) => JSON.stringify(value));
  return `{"seq":${sequence},"at":${moment},"event_id":${event},"type":${kind},"data":${shown}}\n`;
}
