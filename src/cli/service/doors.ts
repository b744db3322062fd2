/** `holdfast doors`: who came to an event and who is inside, asked of a running service. */
import { setTimeout as pause } from 'node:timers/promises';
import type { DateCounts, Station } from '#client/doors/wire.ts';
import { CommandFailure, type CliCall, type CliCommand } from '../terminal/command.ts';
import { byStatus, counted, table } from '../terminal/output.ts';
import { adminAccess, callService, errorOf, type AdminAccess } from './access.ts';

/** Between two looks with --watch. */
const LOOK_EVERY_MS = 2_000;

interface Doors {
  readonly performances: readonly DateCounts[];
  readonly stations: readonly Station[];
}

export const command: CliCommand = {
  usage: 'doors EVENT [--performance ID] [--watch]',
  description: [
    'Prints for each date of an event (by id or slug), or for one, how many are expected, came and are inside, the entries of the ' +
      'last minute, and entries and exits by door; and the stations that are LIVE, when each was last seen and how many scans wait ' +
      'on it. Asks the running service, also a node of a cluster.',
    '--watch looks every two seconds, and prints anew what has changed, until Ctrl-C; with --json an object on each change.',
  ],
  options: [
    { name: 'performance', value: 'ID', help: 'only this date' },
    { name: 'watch', help: 'go on, and print what has changed' },
    { name: 'data', value: 'DIR', help: 'the data folder with the token of the admin API, without ADMIN_TOKEN' },
  ],
  positionals: { min: 1, max: 1 },
  examples: [
    { line: 'holdfast doors evt_gala', does: 'counts every date of the gala' },
    { line: 'holdfast doors gala --performance eve --watch', does: 'shows one evening as it goes on' },
  ],
  async run(call) {
    const access = adminAccess(call);
    const eventId = await idOf(access, call.positionals[0]!);
    if (call.has('watch')) {
      process.once('SIGINT', () => call.exit(0));
      process.once('SIGTERM', () => call.exit(0));
    }
    for (let shown = ''; ;) {
      const doors = await readDoors(access, eventId, call.text('performance'));
      const text = JSON.stringify(doors);
      if (text !== shown) print(call, doors);
      if (!call.has('watch')) return 0;
      shown = text;
      await pause(LOOK_EVERY_MS);
    }
  },
};

/** The id of an event that is named by id or slug. */
async function idOf(access: AdminAccess, name: string): Promise<string> {
  const found = await callService(access, 'GET', `/admin/events/${encodeURIComponent(name)}`);
  if (found.status === 200) return name;
  for (let cursor = ''; ;) {
    const { body } = await callService(access, 'GET', `/admin/events?limit=100${cursor}`);
    const { events, next_cursor: next } = body as unknown as EventPage;
    const named = events.find(({ definition }) => definition.slug === name);
    if (named !== undefined) return named.definition.id;
    if (next === null) throw failed(errorOf(found).message);
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}

interface EventPage {
  readonly events: readonly { readonly definition: { readonly id: string; readonly slug: string } }[];
  readonly next_cursor: string | null;
}

async function readDoors(access: AdminAccess, eventId: string, performanceId: string | null): Promise<Doors> {
  const event = `/admin/events/${encodeURIComponent(eventId)}`;
  const query = performanceId === null ? '' : `?performance_id=${encodeURIComponent(performanceId)}`;
  const { performances } = (await ask(access, `${event}/doors${query}`)) as unknown as Doors;
  const { stations } = (await ask(access, `${event}/stations`)) as unknown as Doors;
  return { performances, stations };
}

async function ask(access: AdminAccess, path: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await callService(access, 'GET', path);
  if (answer.status !== 200) throw failed(errorOf(answer).message);
  return answer.body;
}

const failed = (message: string): CommandFailure =>
  new CommandFailure(message, 'holdfast inspect lists the events of a folder, and the dates of one.');

function print({ output }: CliCall, { performances, stations }: Doors): void {
  const live = stations.filter(({ status }) => status === 'LIVE');
  output.json({ performances, stations });
  output.text(
    new Date().toISOString(),
    ...table([
      ['date', 'expected', 'came', 'inside', 'last minute', 'entries', 'exits', 'conflicts'],
      ...performances.map((date) => [
        date.id,
        date.expected,
        date.admitted,
        date.inside,
        date.minutes.at(-1)?.entries ?? 0,
        date.entries,
        date.exits,
        date.conflicts,
      ]),
    ]),
    '',
    ...table([
      ['date', 'door', 'entries', 'exits'],
      ...performances.flatMap(({ id, doors }) => doors.map((door) => [id, door.id, door.entries, door.exits])),
    ]),
    '',
    ...performances.map(({ id, refused }) => `refused at ${id}: ${byStatus(refused)}`),
    counted(live.length, 'live station'),
    ...live.map(stationLine),
    '',
  );
}

function stationLine({ name, kind, last_seen_at: seenAt, queued, gate_url: gateUrl }: Station): string {
  const gate = kind === 'GATE' ? 'gate ' : '';
  const at = gateUrl === null ? '' : ` at ${gateUrl}`;
  const seen = seenAt === null ? 'not seen yet' : `seen ${seenAt}`;
  return `${gate}${name}${at}: ${seen}${queued === null ? '' : `, ${counted(queued, 'scan')} waiting`}`;
}
