/** `holdfast journal`: prints the facts of archive and journal. Without --reveal it shows only fields that `shown-facts.ts` lists. */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { viewJournal } from '#persistence/sqlite/view.ts';
import { SERVICE_FACT_TYPES } from '#actors/service-facts.ts';
import { shownFact } from '#actors/shown-facts.ts';
import { FACT_TYPES } from '#domain/fact.ts';
import { CommandFailure, DATA_OPTION, suggestion, WrongUse, type Call, type Command } from './command.ts';
import { formatMoment } from './output.ts';
import { dataFolder } from './data-folder.ts';
import type { FactRow } from '#persistence/journal.ts';

/** Between two reads with --follow. */
const READ_EVERY_MS = 200;

export const journalCommand: Command = {
  usage: 'journal [--event ID] [--type T] [--since SEQ] [--follow] [--data DIR]',
  description: [
    'Prints facts in their order: number, time, event, type, data; with --json a JSON object on each line. Reads archive and ' +
      'journal, also while a service runs on the folder.',
    'Without --reveal *** replaces secrets: session keys, idempotency keys, seeds of draws and tracking fields. Ids of holds, queue ' +
      'entries and checkout sessions are shown as *** and the first 8 digits of their SHA-256, so that all facts of one can be found.',
  ],
  options: [
    { name: 'event', value: 'ID', help: 'only facts of this event' },
    { name: 'type', value: 'T', help: 'only facts of this type, such as HoldPlaced' },
    { name: 'since', value: 'SEQ', help: 'only fact SEQ and later ones' },
    { name: 'follow', help: 'continue with new facts, until Ctrl-C' },
    { name: 'reveal', help: 'print secrets too' },
    DATA_OPTION,
  ],
  positionals: { min: 0, max: 0 },
  examples: [
    { line: 'holdfast journal --since 41873', does: 'prints the facts after 41872' },
    { line: 'holdfast journal --event evt_gala --type OrderPlaced --json', does: 'prints every order of an event' },
    { line: 'holdfast journal --follow', does: 'prints facts as they are written' },
  ],
  async run(call) {
    const type = call.text('type');
    if (type !== null) refuseUnknownType(type);
    const folder = dataFolder(call);
    let seq = (call.count('since') ?? 1) - 1;
    if (call.has('follow')) {
      process.once('SIGINT', () => process.exit(0));
      process.once('SIGTERM', () => process.exit(0));
    }
    for (;;) {
      seq = await printFrom(call, folder, seq);
      if (!call.has('follow')) return 0;
      await pause(READ_EVERY_MS);
    }
  },
};

function refuseUnknownType(type: string): void {
  const known = [...Object.keys(FACT_TYPES), ...Object.keys(SERVICE_FACT_TYPES)];
  if (!known.includes(type)) throw new WrongUse(`there is no fact of the type ${type}${suggestion(type, known)}`);
}

/** Prints the facts after a sequence number; returns the number of the last one. */
async function printFrom(call: Call, folder: string, afterSeq: number): Promise<number> {
  const view = viewJournal(folder);
  if (view === null) {
    if (call.has('follow')) return afterSeq;
    throw new CommandFailure(`there is no journal in ${folder}`, 'Name the data folder with --data or DATA_DIR.');
  }
  try {
    const type = call.text('type');
    const eventId = call.text('event');
    const rows = eventId === null ? view.facts(afterSeq) : await view.factsOf(eventId, afterSeq);
    for await (const row of rows) {
      if (type !== null && row.type !== type) continue;
      if (!call.output.raw(lineOf(row, call))) await once(process.stdout, 'drain');
    }
    return Math.max(afterSeq, view.headSeq);
  } finally {
    view.close();
  }
}

function lineOf({ seq, at, eventId, type, data }: FactRow, { output, has }: Call): string {
  const shown = has('reveal') ? data : shownFact(type, data);
  const time = formatMoment(at);
  if (!output.isJson) return `${seq} ${time} ${eventId || '-'} ${type} ${shown}\n`;
  const [sequence, moment, event, kind] = [seq, time, eventId, type].map((value) => JSON.stringify(value));
  return `{"seq":${sequence},"at":${moment},"event_id":${event},"type":${kind},"data":${shown}}\n`;
}
