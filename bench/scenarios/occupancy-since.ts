/** Polls of a seat map: what changed since a page last asked, in a stadium whose seats are partly taken. */
import { compare } from '../http/comparison.ts';
import { startHoldfast, type MeasuredServer } from '../http/server.ts';
import { requestOf, STADIUM_RUSH } from '../http/traffic.ts';
import { openConnection } from '#rehearsal/player/connection.ts';
import { stadiumEvent } from '../events.ts';
import type { Scenario } from '../scenario.ts';

const PATH = '/api/events/public/stadium/seating/occupancy';
const HOLDS = 4_000;
/** How many versions pages are behind at most. */
const BEHIND_MAX = 32;

export const occupancySince: Scenario = {
  name: 'occupancy-since',
  about:
    'GET of the seats that changed since a version, in a stadium of 60,000, against a plain route of the same bytes',
  async run(settings) {
    const service = await startHoldfast([stadiumEvent]);
    try {
      const version = await fillSeats(service);
      const paths = Array.from(
        { length: BEHIND_MAX },
        (_, i) => `${PATH}?since=${version - ((BEHIND_MAX / 2 + i) % BEHIND_MAX)}`,
      );
      const traffic = { recipe: 'gets', paths } as const;
      const { figures, latencies = [] } = await compare({ service, traffic, connections: 64, status: 200 }, settings);
      return { figures, latencies };
    } finally {
      await service.stop();
      service.removeFolder();
    }
  },
};

/** Holds some thousand parties' seats; resolves to the version of the seats then. */
async function fillSeats({ url }: MeasuredServer): Promise<number> {
  const connections = await Promise.all(Array.from({ length: 32 }, () => openConnection(url)));
  let next = 0;
  await Promise.all(
    connections.map(async (connection) => {
      for (let n = next++; n < HOLDS; n = next++) {
        const { status, body } = await connection.send(requestOf(STADIUM_RUSH, n));
        if (status !== 201) throw new Error(body);
      }
    }),
  );
  const { body } = await connections[0]!.send({ method: 'GET', path: PATH });
  for (const connection of connections) connection.close();
  return (JSON.parse(body) as { readonly version: number }).version;
}
