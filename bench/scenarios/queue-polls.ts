/**
 * Polls of waiting rooms with queues of different lengths, each in a service of its own, compared with a plain route.
 *
 * All services run during the whole scenario and are polled alternately. Queues are filled in process (`folders.ts`);
 * every service starts from its folder, so the memory of an entry is that after a restart.
 */
import { auditFolder } from '../http/audit.ts';
import { startPlainLike } from '../http/comparison.ts';
import { cpuOf } from '../http/load-generator.ts';
import { growthOfRuns } from '../http/growth.ts';
import type { Weight } from '#rehearsal/server/meter.ts';
import { makeFolder, startHoldfast } from '../http/server.ts';
import type { Traffic } from '../http/traffic.ts';
import {
  figuresOfRuns,
  latencyOf,
  loopDelayFigures,
  rateOf,
  ratioOf,
  alternateRuns,
  type TargetRuns,
} from '../http/alternating-runs.ts';
import { openDomain } from '../in-process.ts';
import { waitingRoomEvent } from '../events.ts';
import { definitionOf } from '../../test/fixtures/events.ts';
import { fillQueue } from '../folders.ts';
import { dataBytes } from '#rehearsal/server/memory.ts';
import { figureOf, type Figure, type Scenario, type Settings } from '../scenario.ts';

const CONNECTIONS = 64;
/** Some 50,000 people, each polling every four to five seconds. */
const POLLS_PER_SECOND = 11_000;

interface Queue {
  readonly waiting: number;
  readonly server: Awaited<ReturnType<typeof startHoldfast>>;
  readonly paths: readonly string[];
  readonly weight: Weight;
}

export const queuePolls: Scenario = {
  name: 'queue-polls',
  about: 'polls of a queue entry, 64 connections, with queues from a hundred to a million, and a plain route',
  async run(settings) {
    const lengths = settings.quick ? [100, 20_000] : [100, 100_000, 1_000_000];
    const inProcess = bytesOfEntry(lengths.at(-1)!);
    const queues: Queue[] = [];
    try {
      for (const waiting of lengths) {
        settings.report(`a queue of ${waiting}`);
        queues.push(await openQueue(waiting));
      }
      const polled = await pollAlternately(queues, settings);
      const longest = queues.at(-1)!;
      await longest.server.stop();
      return {
        figures: [
          ...figuresOfPolls(polled),
          ...figuresOfMemory(queues[0]!, longest, inProcess),
          ...(await auditFolder(longest.server.folder, 0)),
        ],
        latencies: polled.map(latencyOf),
        growth: growthOfRuns('people waiting', 'poll', lengths, polled.slice(1)),
      };
    } finally {
      await Promise.all(queues.map(({ server }) => server.stop()));
      for (const { server } of queues) server.removeFolder();
    }
  },
};

/** Fills a queue and starts the service on it; the first poll activates the event and is not measured. */
async function openQueue(waiting: number): Promise<Queue> {
  const folder = makeFolder();
  const paths = await fillQueue(folder, waiting);
  const server = await startHoldfast([], folder);
  const answer = await fetch(server.url + paths[0]);
  if (!answer.ok) throw new Error(`the entry must be known: ${await answer.text()}`);
  return { waiting, server, paths, weight: await server.weigh() };
}

/** Polls the plain route and every queue alternately. */
async function pollAlternately(queues: readonly Queue[], settings: Settings): Promise<readonly TargetRuns[]> {
  const [{ server, paths }] = queues as [Queue, ...Queue[]];
  const plain = await startPlainLike(server, pollsOf(paths), 200, '/api/checkout/queue/:id');
  const all = [{ name: 'plain', server: plain, paths }, ...queues.map((queue) => ({ ...queue, name: nameOf(queue) }))];
  const targets = all.map(({ name, server, paths }) => ({ name, server, traffic: pollsOf(paths) }));
  try {
    return await alternateRuns(
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

function nameOf({ waiting }: Queue): string {
  return `${waiting.toLocaleString('en-GB')} waiting`;
}

function figuresOfPolls(polled: readonly TargetRuns[]): Figure[] {
  const [plain, shortest, ...longer] = polled as [TargetRuns, TargetRuns, ...TargetRuns[]];
  const longest = longer.at(-1)!;
  const coreShares = longest.runs.map((run) => (cpuOf(run) * POLLS_PER_SECOND) / 10_000);
  return [
    ...longer.map((queue) =>
      ratioOf(`polls per second: ${queue.name} ÷ ${shortest.name}`, queue, shortest, rateOf, { atLeast: 0.95 }),
    ),
    ...longer.map((queue) =>
      ratioOf(`processor time of a poll: ${queue.name} ÷ ${shortest.name}`, queue, shortest, cpuOf),
    ),
    ratioOf(`polls per second: ${longest.name} ÷ plain route`, longest, plain, rateOf),
    ratioOf(`processor time: a poll, ${longest.name} ÷ a plain answer`, longest, plain, cpuOf),
    figureOf(`${longest.name}: share of a core at 11,000 polls a second`, '%', coreShares),
    ...polled.flatMap(figuresOfRuns),
    ...loopDelayFigures(longest, { atMost: 10 }),
  ];
}

function figuresOfMemory(shortest: Queue, longest: Queue, inProcess: number): Figure[] {
  const each = (bytes: (weight: Weight) => number): number =>
    (bytes(longest.weight) - bytes(shortest.weight)) / (longest.waiting - shortest.waiting);
  return [
    {
      name: 'memory of a waiting entry: service, heap after collection',
      value: each((w) => w.usedBytes),
      unit: 'B',
      budget: { atMost: 300 },
    },
    { name: 'memory of a waiting entry: service, resident', value: each((w) => w.rssBytes), unit: 'B' },
    { name: 'memory of a waiting entry: domain alone, in process', value: inProcess, unit: 'B' },
    { name: 'people in the longest queue', value: longest.waiting, unit: '' },
  ];
}

/** Bytes that an entry adds to the heap of the domain alone, with its id and session key. */
function bytesOfEntry(waiting: number): number {
  const fixture = openDomain(definitionOf(waitingRoomEvent));
  fixture.do({ type: 'JoinQueue', sessionKey: 'session-0' });
  const before = dataBytes();
  for (let n = 1; n <= waiting; n += 1) fixture.do({ type: 'JoinQueue', sessionKey: `session-${n}` });
  const used = dataBytes() - before;
  if (fixture.state.waitingRoom?.entries.waitingCount !== waiting) throw new Error('everybody must be waiting');
  return used / waiting;
}
