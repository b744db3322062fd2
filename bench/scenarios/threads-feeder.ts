/** A thread that asks the engine's as one that answers requests does, without HTTP: so many calls under way. */
import { parentPort, workerData } from 'node:worker_threads';
import { isRefusal } from '#domain/refusal.ts';
import { openCalls, type Rings } from '#threads/sides.ts';
import { placeHold } from '../in-process.ts';
import { secondsOf } from '../scenario.ts';

export interface FeederData {
  readonly rings: Rings;
  readonly engineBell: SharedArrayBuffer;
}

/** Who polls. Sent by itself, because to send it takes the engine's thread some time. */
export type Entries = readonly (readonly [id: string, session: string])[];

/** What is asked: holds of new sessions, polls of all entries in turn, or so many polls for each hold. */
export interface Feed {
  readonly holds: { readonly eventId: string; readonly from: number } | null;
  readonly polls: { readonly eventId: string } | null;
  readonly pollsAHold: number;
  readonly underWay: number;
  readonly count: number;
}

const { calls } = openCalls({
  ...(workerData as FeederData),
  definitions: () => 0,
  isTiming: false,
  sendLong: () => {
    throw new Error('no call is as long as that');
  },
});

let entries: Entries = [];

async function feed({ holds, polls, pollsAHold, underWay, count }: Feed): Promise<void> {
  const sale = holds === null ? null : await calls.events.byEventId(holds.eventId);
  const room = polls === null ? null : await calls.events.byEventId(polls.eventId);
  let next = 0;
  const ask = (n: number): Promise<object> => {
    if (room === null || (sale !== null && n % (pollsAHold + 1) === 0))
      return sale!.execute(placeHold(holds!.from + n, 'single', 1));
    const [entryId, sessionKey] = entries[(n * 7_919) % entries.length]!;
    return room.execute({ type: 'PollQueue', entryId, sessionKey });
  };
  const work = async (): Promise<void> => {
    while (next < count) {
      const answer = await ask(next++);
      if (isRefusal(answer)) throw new Error(JSON.stringify(answer));
    }
  };
  await Promise.all(Array.from({ length: underWay }, work));
}

parentPort!.on('message', async (asked: Feed | Entries) => {
  if ('count' in asked) parentPort!.postMessage(await secondsOf(() => feed(asked)));
  else entries = asked;
});
