/**
 * Virtual users, each with one connection, in a process of its own as `load.ts` is.
 *
 * A user repeats a journey of `journeys.ts` until the time is over or the journey reports that nothing is left.
 * Autocannon cannot do this, because a request depends on the answer before.
 */
import { newHistogram, packHistogram, recordMillis } from '../histogram.ts';
import { openConnection } from '#rehearsal/player/connection.ts';
import { JOURNEYS, type JourneyName } from './journeys.ts';

export interface VirtualUsersJob {
  readonly url: string;
  readonly journey: JourneyName;
  /** The stadium that is sold; the scenarios' own by default. */
  readonly event?: { readonly id: string; readonly slug: string };
  readonly users: number;
  /** Journeys start within this time; a started one is finished. */
  readonly seconds: number;
  /** The first number in session keys and addresses, so that runs differ. */
  readonly firstNumber: number;
  /** Signs payments as a provider does; null pays through the sandbox. */
  readonly webhookSecret: string | null;
}

export interface VirtualUsersResult {
  /** Answers of all kinds. */
  readonly requests: number;
  readonly journeys: number;
  /** Tickets whose payment was recorded. */
  readonly bought: number;
  /** From the first request to the last answer. */
  readonly seconds: number;
  readonly perSecond: number;
  /** Latencies and number of answers by kind of request. */
  readonly latencies: readonly { readonly name: string; readonly histogram: string; readonly count: number }[];
  /** The first unexpected answers. */
  readonly troubles: readonly string[];
  readonly nextNumber: number;
}

const TROUBLES_MAX = 5;

process.on('message', (job) => {
  void runJourneys(job as VirtualUsersJob).then((result) => process.send!(result));
});

async function runJourneys(job: VirtualUsersJob): Promise<VirtualUsersResult> {
  const histograms = new Map<string, ReturnType<typeof newHistogram>>();
  const troubles: string[] = [];
  const { event = { id: 'evt_stadium', slug: 'stadium' } } = job;
  let number = job.firstNumber;
  let journeys = 0;
  let bought = 0;
  const connections = await Promise.all(Array.from({ length: job.users }, () => openConnection(job.url)));
  const begin = performance.now();
  const endMs = begin + job.seconds * 1000;
  const user = async (connection: (typeof connections)[number]): Promise<void> => {
    while (performance.now() < endMs && troubles.length < TROUBLES_MAX) {
      const continues = await JOURNEYS[job.journey]({
        number: number++,
        eventId: event.id,
        slug: event.slug,
        webhookSecret: job.webhookSecret,
        async send(name, request) {
          const sentAt = performance.now();
          const answer = await connection.send(request);
          let histogram = histograms.get(name);
          if (histogram === undefined) histograms.set(name, (histogram = newHistogram()));
          recordMillis(histogram, performance.now() - sentAt);
          return answer;
        },
        bought: (tickets) => (bought += tickets),
        failed: (trouble) => troubles.push(trouble),
      });
      journeys += 1;
      if (!continues) return;
    }
  };
  await Promise.all(connections.map(user)).catch((error: unknown) => troubles.push(String(error)));
  const seconds = (performance.now() - begin) / 1000;
  for (const connection of connections) connection.close();
  const latencies = [...histograms].map(([name, histogram]) => ({
    name,
    histogram: packHistogram(histogram),
    count: histogram.totalCount,
  }));
  const requests = latencies.reduce((sum, { count }) => sum + count, 0);
  return {
    requests,
    journeys,
    bought,
    seconds,
    perSecond: requests / seconds,
    latencies,
    troubles: troubles.slice(0, TROUBLES_MAX),
    nextNumber: number,
  };
}
