/** `holdfast notify`: tells the receiver again what it was told, or should have been. */
import { readConfig } from '#src/config.ts';
import { readEventState } from '#actors/reading.ts';
import { createPoster, isNotifiable, messagesOf } from '#notifications/messages.ts';
import type { EventState } from '#domain/event-state.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { JournalView } from '#persistence/sqlite/view.ts';
import { CommandFailure, DATA_OPTION, WrongUse, type Call, type Command } from './command.ts';
import { withView } from './event-reading.ts';
import { dataFolder } from './settings.ts';

/** Box offices read into memory at once. */
const OFFICES_MAX = 64;

export const notifyCommand: Command = {
  usage: 'notify --from SEQ [--to SEQ] [--data DIR]',
  description: [
    'Posts the notifications of the facts from SEQ on to NOTIFY_URL again, signed with NOTIFY_SECRET, in the order of the ' +
      'journal and one at a time. Each has the id that it had before, so that a receiver that remembers ids loses nothing and ' +
      'counts nothing twice. Reads the journal beside a serving process, whose own notifications go on.',
    'Stops at the first that is not taken and says where, so that it can be gone on with from there.',
  ],
  options: [
    { name: 'from', value: 'SEQ', help: 'the first fact to tell about' },
    { name: 'to', value: 'SEQ', help: 'the last fact to tell about (default: the newest)' },
    DATA_OPTION,
  ],
  positionals: { min: 0, max: 0 },
  examples: [
    { line: 'holdfast notify --from 41873', does: 'tells about fact 41873 and everything after it' },
    { line: 'holdfast notify --from 1 --to 500', does: 'tells about the first 500 facts' },
  ],
  async run(call) {
    const from = call.count('from');
    if (from === null) throw new WrongUse('--from is missing: the sequence number of the first fact to tell about');
    const to = call.count('to') ?? Number.MAX_SAFE_INTEGER;
    const target = targetOf(call);
    const folder = dataFolder(call);
    const posted = await withView(folder, async (view) => {
      return tellAll(call, target, { folder, view, from, to: Math.min(to, view.headSeq) });
    });
    call.output.text(`${posted} notifications were taken.`);
    call.output.json({ ok: true, posted });
    return 0;
  },
};

function targetOf({ environment }: Call): { readonly url: string; readonly secret: string } {
  const { NOTIFY_URL, NOTIFY_SECRET } = environment;
  const reading = readConfig({ NOTIFY_URL, NOTIFY_SECRET });
  if ('problems' in reading) throw new WrongUse(reading.problems.join('\n'));
  const { notify } = reading.config;
  if (notify === null) throw new WrongUse('NOTIFY_URL and NOTIFY_SECRET are not set: they say whom to tell');
  return notify;
}

interface Stretch {
  readonly folder: string;
  readonly view: JournalView;
  readonly from: number;
  readonly to: number;
}

/** Posts what a stretch of the journal has to tell; returns how many messages were taken. */
async function tellAll(
  { output }: Call,
  target: { readonly url: string; readonly secret: string },
  { folder, view, from, to }: Stretch,
): Promise<number> {
  const post = createPoster(target, Date.now);
  const states = new Map<string, EventState | null>();
  const officeOf = async (eventId: string): Promise<EventState | null> => {
    if (states.size >= OFFICES_MAX) states.clear();
    if (!states.has(eventId)) states.set(eventId, await readEventState(folder, view, eventId));
    return states.get(eventId) ?? null;
  };
  let posted = 0;
  for await (const row of view.facts(from - 1)) {
    if (row.seq > to) break;
    output.progress('facts', row.seq - from, to - from + 1);
    if (!isNotifiable(row.type)) continue;
    const state = await officeOf(row.eventId);
    for (const message of state === null ? [] : messagesOf(row, state)) {
      await post(message).catch((error: unknown) => stopAt(row, posted, error));
      posted += 1;
    }
  }
  return posted;
}

function stopAt({ seq }: FactRow, posted: number, error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new CommandFailure(
    `fact ${seq} could not be told: ${reason}; ${posted} notifications were taken before it`,
    `When the receiver is back, go on with --from ${seq}.`,
    error,
  );
}
