/**
 * The closed loop of `load.ts` with the connections of the rehearsal's players, in a process of its own too.
 *
 * Autocannon needs twice as much processor time for a request, some 20 µs more. Where the threads of a service use both
 * cores of a small machine, its answers would be those for which autocannon leaves room.
 */
import { openConnection, type PlayerConnection } from '#rehearsal/player/connection.ts';
import { newHistogram, packHistogram, recordMillis } from '../histogram.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { requestOf } from './traffic.ts';

process.on('message', (job) => {
  void drive(job as LoadJob).then((result) => process.send!(result));
});

async function drive(job: LoadJob): Promise<LoadResult> {
  const { url, traffic, seconds, answers = Infinity, status: good, firstNumber } = job;
  const connections = await Promise.all(Array.from({ length: job.connections }, () => openConnection(url)));
  const histogram = newHistogram();
  const statuses: Record<string, number> = {};
  let number = firstNumber;
  let errors = 0;
  const begin = performance.now();
  let end = begin;
  const loop = async (connection: PlayerConnection): Promise<void> => {
    while (end - begin < seconds * 1000 && number - firstNumber < answers) {
      const sentAt = performance.now();
      const { status } = await connection.send(requestOf(traffic, number++));
      end = performance.now();
      if (status === good) recordMillis(histogram, end - sentAt);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(connections.map((connection) => loop(connection).catch(() => (errors += 1))));
  for (const connection of connections) connection.close();
  return {
    requests: histogram.totalCount,
    perSecond: histogram.totalCount / ((end - begin) / 1000),
    histogram: packHistogram(histogram),
    statuses,
    errors,
    nextNumber: number,
  };
}
