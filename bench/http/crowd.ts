/**
 * A crowd that walks from answer to answer, each person over one connection, in a process of its own as `load.ts` is.
 *
 * What a person does is a walk, one of `walks`; people walk again and again until the time is over or their walk says that
 * there is nothing left. Autocannon cannot do this: here what is asked next depends on what was answered.
 */
import { newHistogram, packHistogram, recordMillis } from '../histogram.ts';
import { openWire } from './wire.ts';
import { WALKS, type WalkName } from './walks.ts';

export interface CrowdJob {
  readonly url: string;
  readonly walk: WalkName;
  readonly people: number;
  /** How long people come; a walk that has begun is walked to its end. */
  readonly seconds: number;
  /** Numbers in session keys and addresses begin here, so that runs do not repeat one another. */
  readonly firstNumber: number;
  /** With which the load signs payments, as a provider does. */
  readonly webhookSecret: string;
}

export interface CrowdResult {
  /** Answers of all kinds. */
  readonly requests: number;
  readonly walks: number;
  /** Tickets whose payment was recorded. */
  readonly bought: number;
  /** From the first request to the last answer. */
  readonly seconds: number;
  readonly perSecond: number;
  /** Answers by what was asked, and how often it was. */
  readonly latencies: readonly { readonly name: string; readonly histogram: string; readonly count: number }[];
  /** What went otherwise than it should, the first few of it. */
  readonly troubles: readonly string[];
  readonly nextNumber: number;
}

const TROUBLES_MAX = 5;

process.on('message', (job) => {
  void walkAll(job as CrowdJob).then((result) => process.send!(result));
});

async function walkAll(job: CrowdJob): Promise<CrowdResult> {
  const histograms = new Map<string, ReturnType<typeof newHistogram>>();
  const troubles: string[] = [];
  let number = job.firstNumber;
  let walks = 0;
  let bought = 0;
  const wires = await Promise.all(Array.from({ length: job.people }, () => openWire(job.url)));
  const begin = performance.now();
  const endMs = begin + job.seconds * 1000;
  const person = async (wire: (typeof wires)[number]): Promise<void> => {
    while (performance.now() < endMs && troubles.length < TROUBLES_MAX) {
      const goesOn = await WALKS[job.walk]({
        number: number++,
        webhookSecret: job.webhookSecret,
        async ask(name, request) {
          const asked = performance.now();
          const answer = await wire.ask(request);
          let histogram = histograms.get(name);
          if (histogram === undefined) histograms.set(name, (histogram = newHistogram()));
          recordMillis(histogram, performance.now() - asked);
          return answer;
        },
        bought: (tickets) => (bought += tickets),
        failed: (trouble) => troubles.push(trouble),
      });
      walks += 1;
      if (!goesOn) return;
    }
  };
  await Promise.all(wires.map(person)).catch((error: unknown) => troubles.push(String(error)));
  const seconds = (performance.now() - begin) / 1000;
  for (const wire of wires) wire.close();
  const latencies = [...histograms].map(([name, histogram]) => ({
    name,
    histogram: packHistogram(histogram),
    count: histogram.totalCount,
  }));
  const requests = latencies.reduce((sum, { count }) => sum + count, 0);
  return {
    requests,
    walks,
    bought,
    seconds,
    perSecond: requests / seconds,
    latencies,
    troubles: troubles.slice(0, TROUBLES_MAX),
    nextNumber: number,
  };
}
