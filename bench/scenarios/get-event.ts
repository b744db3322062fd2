import { compare } from '../http/comparison.ts';
import { startHoldfast } from '../http/server.ts';
import { hallEvent } from '../events.ts';
import type { Scenario } from '../scenario.ts';

export const getEvent: Scenario = {
  name: 'get-event',
  about: 'GET of the public event payload, 64 connections, against a plain route that sends the same bytes',
  async run(settings) {
    const service = await startHoldfast([hallEvent(2_000)]);
    try {
      const traffic = { recipe: 'gets', paths: ['/api/events/public/hall'] } as const;
      const budgets = { plainRatio: { atLeast: 0.9 }, plainCpuRatio: { atMost: 1.2 } };
      const comparison = { service, traffic, connections: 64, status: 200, ...budgets };
      const { figures, latencies = [] } = await compare(comparison, settings);
      return { figures, latencies };
    } finally {
      await service.stop();
      service.removeFolder();
    }
  },
};
