/**
 * A line of people in a data folder, made in process: over HTTP a million joins would take longer than all that is measured.
 *
 * They join through the engine, by the same commands and into the same journal as over HTTP; a service then starts from the folder.
 */
import { startEngine } from '#actors/engine.ts';
import { isRefusal } from '#domain/refusal.ts';
import { definitionOf, lineEvent } from './events.ts';

/** Joins under way at once. */
const WAVE = 4_000;
/** Enough that neither the entries nor their surroundings stay in the processor's caches. */
const POLLERS_MAX = 20_000;

/** Lets people wait for `lineEvent`. Returns paths that poll places all over the line, in no order of it. */
export async function fillLine(folder: string, waiting: number): Promise<readonly string[]> {
  const engine = await startEngine({
    folder,
    liveEventsMax: 1,
    mailboxCommandsMax: WAVE,
    onFatal(fault) {
      throw fault;
    },
  });
  await engine.directory.define(definitionOf(lineEvent), { operator: null, note: null });
  const office = (await engine.directory.byEventId(lineEvent.id))!;
  const stride = Math.ceil(waiting / POLLERS_MAX);
  const paths: string[] = [];
  // The first to come is let in at once.
  for (let from = 0; from <= waiting; from += WAVE) {
    const wave = Array.from({ length: Math.min(WAVE, waiting + 1 - from) }, async (_, i) => {
      const sessionKey = `session-${from + i}`;
      const joined = await office.ask({ type: 'JoinQueue', sessionKey });
      if (isRefusal(joined)) throw new Error(`a join was refused: ${joined.code}`);
      const { id, status } = joined.entry;
      if (status !== 'WAITING' || (from + i) % stride !== 0) return;
      paths.push(`/api/checkout/queue/${id}?session_key=${sessionKey}`);
    });
    await Promise.all(wave);
  }
  await engine.stop();
  // Ids are random, so their order is none of the line's.
  return paths.toSorted();
}
