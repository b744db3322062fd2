/**
 * Polls of the waiting room with lines of different lengths, each in a service of its own, and a plain route beside them.
 *
 * All of them are up during the whole run and are polled in turns. Lines are filled in process (`line.ts`); every service comes
 * alive from its folder, so an entry weighs what it weighs after a restart.
 */
import { auditFolder } from '../http/audit.ts';
import { startPlainLike } from '../http/duel.ts';
import { cpuOf } from '../http/gun.ts';
import { growthOfTurns } from '../http/growth.ts';
import type { Weight } from '../http/meter.ts';
import { makeFolder, startHoldfast } from '../http/server.ts';
import type { Traffic } from '../http/traffic.ts';
import { figuresOfTurns, latencyOf, loopDelayFigures, rateOf, ratioOf, takeTurns, type Turns } from '../http/turns.ts';
import { openBareDesk } from '../desk.ts';
import { definitionOf, lineEvent } from '../events.ts';
import { fillLine } from '../folders.ts';
import { figureOf, usedBytes, type Figure, type Scenario, type Settings } from '../scenario.ts';

const CONNECTIONS = 64;
/** Some 50,000 people, each polling every four to five seconds. */
const CROWD_POLLS_PER_SECOND = 11_000;

interface Line {
  readonly waiting: number;
  readonly server: Awaited<ReturnType<typeof startHoldfast>>;
  readonly paths: readonly string[];
  readonly weight: Weight;
}

export const queuePolls: Scenario = {
  name: 'queue-polls',
  about: 'polls of a place in line, 64 connections, with lines from a hundred to a million, and a plain route',
  async run(settings) {
    const lengths = settings.quick ? [100, 20_000] : [100, 100_000, 1_000_000];
    const inProcess = bytesOfEntry(lengths.at(-1)!);
    const lines: Line[] = [];
    try {
      for (const waiting of lengths) {
        settings.tell(`a line of ${waiting}`);
        lines.push(await openLine(waiting));
      }
      const polled = await pollInTurns(lines, settings);
      const longest = lines.at(-1)!;
      await longest.server.stop();
      return {
        figures: [
          ...figuresOfPolls(polled),
          ...figuresOfMemory(lines[0]!, longest, inProcess),
          ...(await auditFolder(longest.server.folder, 0)),
        ],
        latencies: polled.map(latencyOf),
        growth: growthOfTurns('people waiting', 'poll', lengths, polled.slice(1)),
      };
    } finally {
      await Promise.all(lines.map(({ server }) => server.stop()));
      for (const { server } of lines) server.removeFolder();
    }
  },
};

/** Fills a line and starts the service on it; the first poll wakes the event, so it is not measured. */
async function openLine(waiting: number): Promise<Line> {
  const folder = makeFolder();
  const paths = await fillLine(folder, waiting);
  const server = await startHoldfast([], folder);
  const answer = await fetch(server.url + paths[0]);
  if (!answer.ok) throw new Error(`somebody in line must be known: ${await answer.text()}`);
  return { waiting, server, paths, weight: await server.weigh() };
}

/** Polls the plain route and every line in turns. */
async function pollInTurns(lines: readonly Line[], settings: Settings): Promise<readonly Turns[]> {
  const [{ server, paths }] = lines as [Line, ...Line[]];
  const plain = await startPlainLike(server, pollsOf(paths), 200, '/api/checkout/queue/:id');
  const all = [{ name: 'plain', server: plain, paths }, ...lines.map((line) => ({ ...line, name: nameOf(line) }))];
  const targets = all.map(({ name, server, paths }) => ({ name, server, traffic: pollsOf(paths) }));
  try {
    return await takeTurns(
      targets.map((target) => ({ ...target, connections: CONNECTIONS, status: 200 })),
      settings,
    );
  } finally {
    await plain.stop();
  }
}

function pollsOf(paths: readonly string[]): Traffic {
  return { recipe: 'gets', paths };
}

function nameOf({ waiting }: Line): string {
  return `${waiting.toLocaleString('en-GB')} waiting`;
}

function figuresOfPolls(polled: readonly Turns[]): Figure[] {
  const [plain, shortest, ...longer] = polled as [Turns, Turns, ...Turns[]];
  const longest = longer.at(-1)!;
  const coreShares = longest.shots.map((shot) => (cpuOf(shot) * CROWD_POLLS_PER_SECOND) / 10_000);
  return [
    ...longer.map((line) =>
      ratioOf(`polls per second: ${line.name} ÷ ${shortest.name}`, line, shortest, rateOf, { atLeast: 0.8 }),
    ),
    ...longer.map((line) =>
      ratioOf(`processor time of a poll: ${line.name} ÷ ${shortest.name}`, line, shortest, cpuOf),
    ),
    ratioOf(`polls per second: ${longest.name} ÷ plain route`, longest, plain, rateOf),
    ratioOf(`processor time: a poll, ${longest.name} ÷ a plain answer`, longest, plain, cpuOf),
    figureOf(`${longest.name}: share of a core at 11,000 polls a second`, '%', coreShares),
    ...polled.flatMap(figuresOfTurns),
    ...loopDelayFigures(longest, { atMost: 10 }),
  ];
}

function figuresOfMemory(shortest: Line, longest: Line, inProcess: number): Figure[] {
  const each = (bytes: (weight: Weight) => number): number =>
    (bytes(longest.weight) - bytes(shortest.weight)) / (longest.waiting - shortest.waiting);
  return [
    { name: 'memory of a waiting entry: service, heap after collection', value: each((w) => w.usedBytes), unit: 'B' },
    { name: 'memory of a waiting entry: service, resident', value: each((w) => w.rssBytes), unit: 'B' },
    { name: 'memory of a waiting entry: domain alone, in process', value: inProcess, unit: 'B' },
    { name: 'people in the longest line', value: longest.waiting, unit: '' },
  ];
}

/** What an entry adds to the heap of the domain alone, with its id and session key. */
function bytesOfEntry(waiting: number): number {
  const desk = openBareDesk(definitionOf(lineEvent));
  desk.do({ type: 'JoinQueue', sessionKey: 'session-0' });
  const before = usedBytes();
  for (let n = 1; n <= waiting; n += 1) desk.do({ type: 'JoinQueue', sessionKey: `session-${n}` });
  const used = usedBytes() - before;
  if (desk.state.waitingRoom?.entries.waitingCount !== waiting) throw new Error('everybody must be waiting');
  return used / waiting;
}
