/**
 * Data folders that are full before a service starts from them, made in process: over HTTP a million joins or holds would
 * take longer than all that is measured.
 *
 * Everybody comes through the engine, by the same commands and into the same journal as over HTTP.
 */
import { startEngine } from '#actors/engine.ts';
import { isRefusal } from '#domain/refusal.ts';
import { definitionOf, hotEvent, lineEvent } from './events.ts';
import { placeHold } from './desk.ts';

/** Commands under way at once. */
const WAVE = 4_000;
/** Enough that neither the entries nor their surroundings stay in the processor's caches. */
const POLLERS_MAX = 20_000;

type Engine = Awaited<ReturnType<typeof startEngine>>;
type Office = NonNullable<Awaited<ReturnType<Engine['directory']['byEventId']>>>;

/** Lets people wait for `lineEvent`. Returns paths that poll places all over the line, in no order of it. */
export async function fillLine(folder: string, waiting: number): Promise<readonly string[]> {
  const stride = Math.ceil(waiting / POLLERS_MAX);
  const paths: string[] = [];
  await withOffice(folder, lineEvent, (actor) =>
    // The first to come is let in at once.
    inWaves(waiting + 1, async (n) => {
      const sessionKey = `session-${n}`;
      const joined = await actor.execute({ type: 'JoinQueue', sessionKey });
      if (isRefusal(joined)) throw new Error(`a join was refused: ${joined.code}`);
      const { id, status } = joined.entry;
      if (status === 'WAITING' && n % stride === 0) paths.push(`/api/checkout/queue/${id}?session_key=${sessionKey}`);
    }),
  );
  // Ids are random, so their order is none of the line's.
  return paths.toSorted();
}

/** Places live holds of one ticket each on `hotEvent`. */
export async function fillHolds(folder: string, holds: number): Promise<void> {
  await withOffice(folder, hotEvent, (actor) =>
    inWaves(holds, async (n) => {
      const placed = await actor.execute({ ...placeHold(n, 'single', 1), sessionKey: `long-before-${n}` });
      if (isRefusal(placed)) throw new Error(`a hold was refused: ${placed.code}`);
    }),
  );
}

/** Puts events on sale. */
export async function fillEvents(folder: string, events: readonly object[]): Promise<void> {
  await withEngine(folder, async ({ directory }) => {
    for (const event of events) await directory.define(definitionOf(event), { operator: null, note: null });
  });
}

async function withOffice(folder: string, event: { readonly id: string }, fill: (actor: Office) => Promise<void>) {
  await withEngine(folder, async ({ directory }) => {
    await directory.define(definitionOf(event), { operator: null, note: null });
    await fill((await directory.byEventId(event.id))!);
  });
}

async function withEngine(folder: string, fill: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = await startEngine({
    folder,
    liveEventsMax: 500,
    mailboxCommandsMax: WAVE,
    onFatal(fault) {
      throw fault;
    },
  });
  await fill(engine);
  await engine.stop();
}

async function inWaves(count: number, each: (n: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += WAVE) {
    await Promise.all(Array.from({ length: Math.min(WAVE, count - from) }, (_, i) => each(from + i)));
  }
}
