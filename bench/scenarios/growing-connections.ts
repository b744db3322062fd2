import { grow } from '../http/growth.ts';
import { auditFolder } from '../http/audit.ts';
import { startHoldfast } from '../http/server.ts';
import { hotEvent } from '../events.ts';
import type { Figure, Scenario } from '../scenario.ts';

const SIZES = [1, 8, 64, 256, 1_024];
/** A thousand connections are opened before the first answer. */
const SECONDS_MIN = 2;

export const growingConnections: Scenario = {
  name: 'growing-connections',
  about: 'POST hold of a hot ticket type over 1 to 1,024 connections',
  async run(asked) {
    const [seconds, warmUpSeconds] = [asked.seconds, asked.warmUpSeconds].map((each) =>
      Math.max(SECONDS_MIN, each),
    ) as [number, number];
    const settings = { ...asked, seconds, warmUpSeconds };
    const service = await startHoldfast([hotEvent]);
    const sizes = settings.quick ? [1, 64, 1_024] : SIZES;
    const targets = sizes.map((connections) => ({
      name: `${connections.toLocaleString('en-GB')} connection${connections === 1 ? '' : 's'}`,
      server: service,
      traffic: { recipe: 'hot-hold' } as const,
      connections,
      status: 201,
      mayShed: true as const,
    }));
    try {
      const findings = await grow({ of: 'connections', request: 'hold', sizes, targets }, settings);
      await service.stop();
      const figures = [oneByOne(findings.figures), ...findings.figures];
      return { ...findings, figures: [...figures, ...(await auditFolder(service.folder, 0))] };
    } finally {
      await service.stop();
      service.removeFolder();
    }
  },
};

/** What a hold costs when nothing can be shared with others: neither a commit nor a pass of the event loop. */
function oneByOne(figures: readonly Figure[]): Figure {
  const microsOver = (connections: string): number =>
    figures.find(({ name }) => name === `${connections}: processor time of an answer`)!.value;
  return {
    name: 'processor time of an answer: 1 connection ÷ 64 connections',
    unit: '×',
    value: microsOver('1 connection') / microsOver('64 connections'),
    budget: { atMost: 4.5 },
  };
}
