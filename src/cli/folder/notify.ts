/** `holdfast notify`: posts the notifications of earlier facts to the receiver again. */
import { readConfig } from '#service/config.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { openEventOnDisk, type EventOnDisk } from '#offline/events.ts';
import { createPoster, isNotifiable, messagesOf, openSource } from '#notifications/messages.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { JournalView } from '#persistence/sqlite/view.ts';
import { CommandFailure, DATA_OPTION, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { dataFolder, withFolderArgument, withKeys, withView } from './data-folder.ts';

/** Events in memory at once. */
const EVENTS_MAX = 64;

export const command: CliCommand = {
  usage: 'notify [FOLDER] --from SEQ [--to SEQ]',
  description: [
    'Posts the notifications of fact SEQ and later facts to NOTIFY_URL again, signed with NOTIFY_SECRET, one at a time and in the ' +
      'order of the journal. Each has the same id as before, so that a receiver can recognize repeats; from a backup of a cluster ' +
      'the ids are new, because its facts have other numbers. A service may run on the folder meanwhile; its own notifications ' +
      'continue.',
    'Stops at the first notification that is not accepted and prints from which fact to continue.',
  ],
  options: [
    { name: 'from', value: 'SEQ', help: 'the first fact' },
    { name: 'to', value: 'SEQ', help: 'the last fact (default: the newest)' },
    DATA_OPTION,
  ],
  positionals: { min: 0, max: 1 },
  examples: [
    { line: 'holdfast notify --from 41873', does: 'posts the notifications of fact 41873 and all later ones' },
    { line: 'holdfast notify --from 1 --to 500', does: 'posts the notifications of the first 500 facts' },
  ],
  async run(call) {
    const from = call.count('from');
    if (from === null) throw new WrongUse('--from is missing: the number of the first fact');
    const to = call.count('to') ?? Number.MAX_SAFE_INTEGER;
    if (from > to) throw new WrongUse(`--to ${to} comes before --from ${from}`);
    const target = targetOf(call);
    const folder = dataFolder(withFolderArgument(call));
    const posted = await withView(folder, (view) =>
      withKeys(folder, (keys) => {
        const personalData = new PersonalDataReader(keys);
        // From the next one on there is nothing yet.
        if (from > view.headSeq + 1)
          throw new WrongUse(`there is no fact ${from}: the last one is fact ${view.headSeq}`);
        return postAll(call, target, { folder, view, personalData, from, to: Math.min(to, view.headSeq) });
      }),
    );
    call.output.text(`${posted} notifications were accepted.`);
    call.output.json({ ok: true, posted });
    return 0;
  },
};

function targetOf({ environment }: CliCall): { readonly url: string; readonly secret: string } {
  const { NOTIFY_URL, NOTIFY_SECRET } = environment;
  const reading = readConfig({ NOTIFY_URL, NOTIFY_SECRET });
  if ('problems' in reading) throw new WrongUse(reading.problems.join('; '));
  const { notify } = reading.config;
  if (notify === null) throw new WrongUse('NOTIFY_URL and NOTIFY_SECRET are not set: they name the receiver');
  return notify;
}

interface Range {
  readonly folder: string;
  readonly view: JournalView;
  readonly personalData: PersonalDataReader;
  readonly from: number;
  readonly to: number;
}

/** Returns the number of messages that were accepted. */
async function postAll(
  { output }: CliCall,
  target: { readonly url: string; readonly secret: string },
  { folder, view, personalData, from, to }: Range,
): Promise<number> {
  const post = createPoster(target, Date.now);
  const events = new Map<string, EventOnDisk | null>();
  const eventOf = async (eventId: string): Promise<EventOnDisk | null> => {
    if (events.size >= EVENTS_MAX) events.clear();
    if (!events.has(eventId)) events.set(eventId, await openEventOnDisk(folder, view, eventId));
    return events.get(eventId) ?? null;
  };
  let posted = 0;
  for await (const row of view.facts(from - 1)) {
    if (row.seq > to) break;
    output.progress('facts', row.seq - from, to - from + 1);
    if (!isNotifiable(row.type)) continue;
    const event = await eventOf(row.eventId);
    const source = event && (await openSource(await event.read({ type: 'ReadFact', stored: row }), personalData));
    const messages = source === null ? [] : messagesOf(row, source);
    for (const message of messages) {
      await post(message).catch((error: unknown) => stopAt(row, posted, error));
      posted += 1;
    }
  }
  return posted;
}

function stopAt({ seq }: FactRow, posted: number, error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new CommandFailure(
    `a notification of fact ${seq} was not accepted: ${reason}; ${posted} were accepted before it`,
    `When the receiver is back, continue with --from ${seq}.`,
    error,
  );
}
