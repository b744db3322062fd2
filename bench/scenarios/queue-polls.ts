/**
 * Polls of the waiting room with lines of different lengths, each in a service of its own, and a plain route beside them.
 *
 * All of them are up during the whole run and are polled in turns. Lines are filled in process (`line.ts`); every service comes
 * alive from its folder, so an entry weighs what it weighs after a restart.
 */
import { auditFolder } from '../http/audit.ts';
import { cpuOf, openGun, type Gun, type Shot } from '../http/gun.ts';
import type { LoadJob, LoadResult } from '../http/load.ts';
import type { Weight } from '../http/meter.ts';
import { makeFolder, startHoldfast, startPlain, type MeasuredServer } from '../http/server.ts';
import { openBareDesk } from '../desk.ts';
import { definitionOf, lineEvent } from '../events.ts';
import { fillLine } from '../line.ts';
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

interface Polled {
  readonly name: string;
  readonly shots: readonly Shot<LoadResult>[];
}

export const queuePolls: Scenario = {
  name: 'queue-polls',
  about: 'polls of a place in line, 64 connections, with lines from a hundred to a million, and a plain route',
  async run(settings) {
    const lengths = [100, 100_000, settings.quick ? 300_000 : 1_000_000];
    const inProcess = bytesOfEntry(lengths.at(-1)!);
    const lines: Line[] = [];
    try {
      for (const waiting of lengths) lines.push(await openLine(waiting));
      const polled = await pollInTurns(lines, settings);
      const longest = lines.at(-1)!;
      await longest.server.stop();
      return [
        ...figuresOfPolls(polled),
        ...figuresOfMemory(lines[0]!, longest, inProcess),
        ...(await auditFolder(longest.server.folder, 0)),
      ];
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

/** Polls the plain route and every line in turns; the first round warms up. */
async function pollInTurns(lines: readonly Line[], settings: Settings): Promise<readonly Polled[]> {
  const [{ server, paths }] = lines as [Line, ...Line[]];
  const sample = await fetch(server.url + paths[0]);
  const plain = await startPlain({
    method: 'GET',
    path: '/api/checkout/queue/:id',
    status: sample.status,
    body: await sample.text(),
  });
  const gun = openGun<LoadJob, LoadResult>(new URL('../http/load.ts', import.meta.url));
  const targets = [
    { name: 'plain', server: plain, paths, shots: [] as Shot<LoadResult>[] },
    ...lines.map((line) => ({ ...line, name: nameOf(line.waiting), shots: [] as Shot<LoadResult>[] })),
  ];
  try {
    for (let round = 0; round <= (settings.quick ? 3 : 7); round += 1) {
      for (const target of targets) {
        const shot = await poll(gun, target.server, target.paths, settings.quick ? 2 : 5);
        if (round > 0) target.shots.push(shot);
      }
    }
    return targets;
  } finally {
    gun.close();
    await plain.stop();
  }
}

async function poll(
  gun: Gun<LoadJob, LoadResult>,
  server: MeasuredServer,
  paths: readonly string[],
  seconds: number,
): Promise<Shot<LoadResult>> {
  const traffic = { method: 'GET', path: '/', paths } as const;
  const shot = await gun.shoot(server, { url: server.url, traffic, connections: CONNECTIONS, seconds, firstNumber: 0 });
  const { load } = shot;
  if (load.errors > 0 || load.requests === 0 || load.statuses['200'] !== load.requests) {
    throw new Error(JSON.stringify(load));
  }
  return shot;
}

function nameOf(waiting: number): string {
  return `${waiting.toLocaleString('en-GB')} waiting`;
}

function figuresOfPolls(polled: readonly Polled[]): Figure[] {
  const [plain, shortest, ...longer] = polled as [Polled, Polled, ...Polled[]];
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
    ...polled.flatMap(figuresOfLine),
    figureOf(
      `${longest.name}: event-loop delay p99`,
      'ms',
      longest.shots.map(({ meter }) => meter.loopDelayP99Ms),
      { atMost: 10 },
    ),
  ];
}

function ratioOf(
  name: string,
  ours: Polled,
  theirs: Polled,
  value: (shot: Shot<LoadResult>) => number,
  budget?: Figure['budget'],
): Figure {
  const ratios = ours.shots.map((shot, round) => value(shot) / value(theirs.shots[round]!));
  return figureOf(name, '×', ratios, budget);
}

function rateOf({ load }: Shot<LoadResult>): number {
  return load.perSecond;
}

function figuresOfLine({ name, shots }: Polled): Figure[] {
  return [
    figureOf(`${name}: answers`, 'per s', shots.map(rateOf)),
    figureOf(
      `${name}: latency p99`,
      'ms',
      shots.map(({ load }) => load.p99Micros / 1000),
    ),
    figureOf(`${name}: processor time of an answer`, 'µs', shots.map(cpuOf)),
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
  if (desk.office.waitingRoom?.entries.waitingCount !== waiting) throw new Error('everybody must be waiting');
  return used / waiting;
}
