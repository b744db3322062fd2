/**
 * Fills data folders before a service starts from them. Over HTTP a million joins or holds would take longer than the
 * measurements.
 *
 * The engine gets the same commands and writes the same journal as with HTTP.
 */
import { startEngine } from '#engine/engine.ts';
import { isRefusal } from '#domain/refusal.ts';
import { hotEvent, waitingRoomEvent } from './events.ts';
import { definitionOf } from '../test/fixtures/events.ts';
import { placeHold } from './in-process.ts';

/** Concurrent commands. */
const BATCH = 4_000;
/** So many that the entries do not fit into the processor's caches. */
const POLLERS_MAX = 20_000;

type Engine = Awaited<ReturnType<typeof startEngine>>;
type Actor = NonNullable<Awaited<ReturnType<Engine['events']['byEventId']>>>;

/**
 * Lets people join the waiting room of `waitingRoomEvent`. Returns paths that poll entries of the whole queue in random
 * order.
 */
export async function fillQueue(folder: string, waiting: number): Promise<readonly string[]> {
  const stride = Math.ceil(waiting / POLLERS_MAX);
  const paths: string[] = [];
  await withActor(folder, waitingRoomEvent, (actor) =>
    // The first one is admitted at once.
    inBatches(waiting + 1, async (n) => {
      const sessionKey = `session-${n}`;
      const joined = await actor.execute({ type: 'JoinQueue', sessionKey });
      if (isRefusal(joined)) throw new Error(`a join was refused: ${joined.code}`);
      const { id, status } = joined.entry;
      if (status === 'WAITING' && n % stride === 0) paths.push(`/api/checkout/queue/${id}?session_key=${sessionKey}`);
    }),
  );
  // Ids are random, so their order is not that of the queue.
  return paths.toSorted();
}

/** Places live holds of one ticket each on `hotEvent`. */
export async function fillHolds(folder: string, holds: number): Promise<void> {
  await withActor(folder, hotEvent, (actor) =>
    inBatches(holds, async (n) => {
      const placed = await actor.execute({ ...placeHold(n, 'single', 1), sessionKey: `long-before-${n}` });
      if (isRefusal(placed)) throw new Error(`a hold was refused: ${placed.code}`);
    }),
  );
}

/** Defines events. */
export async function fillEvents(folder: string, events: readonly object[]): Promise<void> {
  await withEngine(folder, async (engine) => {
    for (const event of events) await engine.events.define(definitionOf(event), { operator: null, note: null });
  });
}

async function withActor(folder: string, event: { readonly id: string }, fill: (actor: Actor) => Promise<void>) {
  await withEngine(folder, async ({ events }) => {
    await events.define(definitionOf(event), { operator: null, note: null });
    await fill((await events.byEventId(event.id))!);
  });
}

async function withEngine(folder: string, fill: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = await startEngine({
    folder,
    liveEventsMax: 500,
    waitingRepliesMax: BATCH,
    onFatal(fault) {
      throw fault;
    },
  });
  await fill(engine);
  await engine.stop();
}

async function inBatches(count: number, each: (n: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    await Promise.all(Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => each(from + i)));
  }
}
