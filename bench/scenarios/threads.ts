/**
 * What the engine's thread does for a hold and for a poll that another thread asked for, without HTTP: calls and
 * answers over rings, turns, and facts made durable on disk.
 *
 * Batches form by themselves, as in the service: what came while a commit was under way is taken together. The budgets
 * are for full batches.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { startEngine, type Engine } from '#engine/engine.ts';
import { isRefusal } from '#domain/refusal.ts';
import { makeObjectsYoung } from '#service/v8.ts';
import { createAnswers } from '#threads/calls.ts';
import { makeBell } from '#threads/doorbell.ts';
import { AnsweringSide, makeRings } from '#threads/sides.ts';
import { definitionOf } from '../../test/fixtures/events.ts';
import { hotEvent, waitingRoomEvent } from '../events.ts';
import { makeFolder } from '../http/server.ts';
import { EVENING, POLLS_A_HOLD } from './evening.ts';
import { quartilesOf, secondsOf, type Figure, type Findings, type Scenario, type Settings } from '../scenario.ts';
import type { Entries, Feed, FeederData } from './threads-feeder.ts';

const UNDER_WAY = [32, 128, 512];
/** A batch is full. */
const FULL = 512;
const JOINS_AT_ONCE = 4_000;

type Ask = Pick<Feed, 'underWay' | 'pollsAHold'> & { readonly holds?: true; readonly polls?: true };

export const threads: Scenario = {
  name: 'threads',
  about: 'processor time of a hold and a poll on the engine’s thread and on the one that asks, by calls under way',
  run: (settings) =>
    withSale(settings, settings.quick ? 10_000 : 100_000, async (measure) => {
      const figures: Figure[] = [];
      for (const underWay of UNDER_WAY) {
        const [holds, polls] = underWay === FULL ? [{ atMost: 9 }, { atMost: 2.5 }] : [];
        figures.push(
          ...(await measure(`hold, ${underWay} under way`, { holds: true, pollsAHold: 0, underWay }, holds)),
        );
        figures.push(
          ...(await measure(`poll, ${underWay} under way`, { polls: true, pollsAHold: 0, underWay }, polls)),
        );
      }
      return { figures };
    }),
};

export const threadsMillion: Scenario = {
  name: 'threads-million',
  about: 'the same with a million people in line who all poll, beside holds, as on the evening of a large sale',
  run: (settings) =>
    withSale(settings, settings.quick ? 20_000 : EVENING.waiting, async (measure) => {
      const name = `${POLLS_A_HOLD} polls a hold, ${FULL} under way, each`;
      const ask = { holds: true, polls: true, pollsAHold: POLLS_A_HOLD, underWay: FULL } as const;
      return { figures: await measure(name, ask, { atMost: 4 }) };
    }),
};

/** Measures calls of one kind or of both; answers the figures of both threads. */
type Measure = (name: string, ask: Ask, budget?: Figure['budget']) => Promise<Figure[]>;

/** Opens an engine with a sale and a waiting room, and a thread that asks it. */
async function withSale(
  { quick, rounds, report }: Settings,
  waiting: number,
  work: (measure: Measure) => Promise<Findings>,
): Promise<Findings> {
  makeObjectsYoung();
  const folder = makeFolder();
  const engine = await startEngine({
    folder,
    liveEventsMax: 10,
    waitingRepliesMax: JOINS_AT_ONCE,
    onFatal(fault) {
      throw fault;
    },
  });
  const feeder = openFeeder(engine);
  try {
    for (const event of [hotEvent, waitingRoomEvent])
      await engine.events.define(definitionOf(event), { operator: null, note: null });
    report(`a queue of ${waiting}`);
    feeder.know(await fillRoom(engine, waiting));
    const count = quick ? 5_000 : 50_000;
    let asked = 0;
    return await work(async (name, { holds, polls, ...ask }, budget) => {
      const runs: { readonly engine: number; readonly asking: number }[] = [];
      for (let round = 0; round <= rounds; round += 1) {
        report(`${name}, round ${round} of ${rounds}`);
        const run = await feeder.feed({
          ...ask,
          count,
          holds: holds ? { eventId: hotEvent.id, from: asked } : null,
          polls: polls ? { eventId: waitingRoomEvent.id } : null,
        });
        asked += count;
        // The first round warms up.
        if (round > 0) runs.push(run);
      }
      const figure = (side: 'engine' | 'asking', atMost?: Figure['budget']): Figure =>
        quartilesOf(
          `${name}: ${side}`,
          'µs',
          runs.map((run) => (run[side] * 1e6) / count),
          atMost,
        );
      return [figure('engine', budget), figure('asking')];
    });
  } finally {
    await feeder.close();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function openFeeder(engine: Engine) {
  const data: FeederData = { rings: makeRings(), engineBell: makeBell() };
  const answer = createAnswers({
    deployment: engine,
    payments: {} as Parameters<typeof createAnswers>[0]['payments'],
    readState: () => engine.state(),
    isTiming: false,
  });
  const side = new AnsweringSide(data.engineBell, (calls) => engine.clock.atOneMoment(calls));
  side.connect(data.rings, answer, () => {
    throw new Error('no answer is as long as that');
  });
  const worker = new Worker(new URL('./threads-feeder.ts', import.meta.url), { workerData: data });
  return {
    know: (entries: Entries) => worker.postMessage(entries),
    /** Processor seconds of both threads. */
    async feed(asked: Feed) {
      worker.postMessage(asked);
      let asking = 0;
      const seconds = await secondsOf(async () => ([asking] = (await once(worker, 'message')) as [number]));
      return { engine: seconds, asking };
    },
    async close() {
      side.stop();
      await worker.terminate();
    },
  };
}

/** Lets people join the waiting room; answers their entries. */
async function fillRoom({ events }: Engine, waiting: number): Promise<Entries> {
  const room = (await events.byEventId(waitingRoomEvent.id))!;
  const entries: (readonly [string, string])[] = [];
  for (let from = 0; from < waiting; from += JOINS_AT_ONCE) {
    const joins = Array.from({ length: Math.min(JOINS_AT_ONCE, waiting - from) }, async (_, n) => {
      const sessionKey = `session-${from + n}`;
      const joined = await room.execute({ type: 'JoinQueue', sessionKey });
      if (isRefusal(joined)) throw new Error(`a join was refused: ${joined.code}`);
      if (joined.entry.status === 'WAITING') entries.push([joined.entry.id, sessionKey]);
    });
    await Promise.all(joins);
  }
  return entries;
}
