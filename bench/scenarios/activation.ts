/**
 * Activation of an event from all its facts, a snapshot while buyers hold tickets, activation from a snapshot.
 *
 * The snapshot from which it is activated has the live holds and nothing else: what buyers replace beside a snapshot
 * would be kept in it for ten minutes, some 100,000 ended holds more. Times are elapsed times, as the first request
 * would wait; the event-loop delay is that of the serving thread.
 */
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { startEngine, type Engine } from '#engine/engine.ts';
import { isRefusal } from '#domain/refusal.ts';
import { SNAPSHOTS_FOLDER } from '#persistence/snapshots.ts';
import { placeHold } from '../in-process.ts';
import { hotEvent } from '../events.ts';
import { fillHolds } from '../folders.ts';
import { makeFolder } from '../http/server.ts';
import { watchLoop } from '#http/metrics/loop-delay.ts';
import { figureOf, LOOP_PERIOD_MS, type Figure, type Scenario } from '../scenario.ts';
import type { EventActor } from '#actors/event-actor.ts';

/** Buyers who place holds while the snapshot is taken. */
const BUYERS = 64;

interface Measured {
  readonly milliseconds: number;
  readonly delay: { readonly p99Ms: number; readonly maxMs: number };
}

export const activation: Scenario = {
  name: 'activation',
  about: 'activation of an event from all its facts and from a snapshot, and taking that snapshot beside buyers',
  async run({ quick, rounds, report }) {
    const holds = quick ? 10_000 : 200_000;
    const folder = makeFolder();
    const copies: string[] = [];
    const fromFacts: Measured[] = [];
    const fromSnapshot: Measured[] = [];
    const snapshots: Measured[] = [];
    const served: number[] = [];
    try {
      report(`${holds} live holds`);
      await fillHolds(folder, holds);
      rmSync(path.join(folder, SNAPSHOTS_FOLDER), { recursive: true, force: true });
      for (let round = 0; round <= rounds; round += 1) {
        report(`round ${round} of ${rounds}`);
        // Each round starts from the same facts, in copies of its own.
        const copied = (): string => {
          const copy = makeFolder();
          copies.push(copy);
          cpSync(folder, copy, { recursive: true });
          return copy;
        };
        const first = await withEngine(copied(), (engine) => activateAndSnapshot(engine, round));
        const quiet = copied();
        await withEngine(quiet, async (engine) => takeSnapshot(engine, await activate(engine)));
        const again = await withEngine(quiet, (engine) => measure(() => activate(engine)));
        // The first round warms up.
        if (round === 0) continue;
        fromFacts.push(first.activated);
        snapshots.push(first.taken);
        served.push(first.perSecond);
        fromSnapshot.push(again);
      }
    } finally {
      for (const each of [folder, ...copies]) rmSync(each, { recursive: true, force: true });
    }
    const of = (
      name: string,
      unit: string,
      runs: readonly Measured[],
      pick: (run: Measured) => number,
      budget?: Figure['budget'],
    ) => figureOf(name, unit, runs.map(pick), budget);
    return {
      figures: [
        { name: 'live holds', value: holds, unit: '' },
        of('activation from all facts', 'ms', fromFacts, ({ milliseconds }) => milliseconds),
        of('activation from a snapshot', 'ms', fromSnapshot, ({ milliseconds }) => milliseconds, { atMost: 500 }),
        of('activation from a snapshot: event-loop delay, longest', 'ms', fromSnapshot, ({ delay }) => delay.maxMs, {
          atMost: 10,
        }),
        of('snapshot, a replay on its own thread', 'ms', snapshots, ({ milliseconds }) => milliseconds),
        figureOf('holds served meanwhile, without HTTP', 'per s', served),
        of('snapshot beside buyers: event-loop delay p99', 'ms', snapshots, ({ delay }) => delay.p99Ms, { atMost: 10 }),
        of('snapshot beside buyers: event-loop delay, longest', 'ms', snapshots, ({ delay }) => delay.maxMs),
      ],
    };
  },
};

/** Activates the event from its facts, then takes a snapshot while buyers place holds. */
async function activateAndSnapshot(engine: Engine, round: number) {
  const activated = await measure(() => activate(engine));
  const actor = await activate(engine);
  let isTaken = false;
  const holdsBefore = engine.journal.durableSeq;
  const bought = buyersOf(actor, () => isTaken, round);
  const taken = await measure(() => takeSnapshot(engine, actor));
  isTaken = true;
  await bought;
  return {
    activated,
    taken,
    perSecond: ((engine.journal.durableSeq - holdsBefore) * 1_000) / taken.milliseconds,
  };
}

async function withEngine<Found>(folder: string, use: (engine: Engine) => Promise<Found>): Promise<Found> {
  const engine = await startEngine({
    folder,
    liveEventsMax: 10,
    waitingRepliesMax: 1_000,
    onFatal(fault) {
      throw fault;
    },
  });
  try {
    return await use(engine);
  } finally {
    await engine.stop({ snapshotMsMax: 0 });
  }
}

async function takeSnapshot({ events }: Engine, actor: EventActor): Promise<void> {
  const { trouble } = await events.actors.snapshot(actor);
  if (trouble !== null) throw new Error(trouble);
}

async function activate(engine: Engine): Promise<EventActor> {
  return (await engine.events.byEventId(hotEvent.id))!;
}

async function measure(work: () => Promise<unknown>): Promise<Measured> {
  // The garbage of an earlier engine is not part of the measurement.
  globalThis.gc!();
  const loop = watchLoop(LOOP_PERIOD_MS);
  const begin = performance.now();
  await work();
  const milliseconds = performance.now() - begin;
  loop.stop();
  return { milliseconds, delay: { p99Ms: loop.percentileMs(99), maxMs: loop.maxMs } };
}

/** Sessions that replace their holds, each when it has the answer before. */
async function buyersOf(actor: EventActor, isOver: () => boolean, round: number): Promise<void> {
  const buy = async (buyer: number): Promise<void> => {
    while (!isOver()) {
      const placed = await actor.execute({ ...placeHold(buyer, 'single', 1), sessionKey: `buyer-${round}-${buyer}` });
      if (isRefusal(placed)) throw new Error(`a hold was refused: ${placed.code}`);
    }
  };
  await Promise.all(Array.from({ length: BUYERS }, (_, buyer) => buy(buyer)));
}
