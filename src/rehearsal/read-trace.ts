/** Reads the trace of an event's sale from a data folder. */
import { startReplay } from '#actors/event-replay.ts';
import { eventNumberIn } from '#actors/reading.ts';
import type { JournalView } from '#persistence/sqlite/view.ts';
import type { Trace } from './trace.ts';
import { TraceBuilder, type Period } from './trace-builder.ts';

const PROGRESS_EVERY = 4_096;

/** The trace of a period, or null when no buyer did anything in it. Rejects with JournalDamaged and UnknownFact. */
export async function readTrace(
  view: JournalView,
  eventId: string,
  period: Period,
  onProgress: (seq: number, headSeq: number) => void = () => {},
): Promise<Trace | null> {
  const replay = startReplay(eventId, await eventNumberIn(view, eventId));
  const builder = new TraceBuilder(eventId, replay, period);
  const headSeq = view.heads.get(eventId) ?? 0;
  let count = 0;
  for (const row of await view.factsOf(eventId)) {
    if (!builder.see(replay.readFact(row), row.at)) break;
    count += 1;
    if (count % PROGRESS_EVERY === 0) onProgress(row.seq, headSeq);
  }
  return builder.finish();
}
