import { startPostgresBaseline, startRedisBaseline } from '../baselines/baselines.ts';
import { auditFolder } from '../http/audit.ts';
import { compare } from '../http/comparison.ts';
import { startHoldfast } from '../http/server.ts';
import { hotEvent } from '../events.ts';
import type { Scenario } from '../scenario.ts';

export const postHold: Scenario = {
  name: 'post-hold',
  about: 'POST hold of one hot ticket type, durable, 64 connections, against a plain route, Redis and PostgreSQL',
  async run(settings) {
    const service = await startHoldfast([hotEvent]);
    const redis = await startRedisBaseline();
    const postgres = await startPostgresBaseline();
    try {
      const { answered, ...findings } = await compare(
        {
          service,
          traffic: { recipe: 'hot-hold' },
          connections: 64,
          status: 201,
          plainRatio: { atLeast: 1.2 },
          baselines: [
            { baseline: redis, ratio: { atLeast: 2 } },
            { baseline: postgres, ratio: { atLeast: 10 } },
          ],
        },
        settings,
      );
      await service.stop();
      return { ...findings, figures: [...findings.figures, ...(await auditFolder(service.folder, answered))] };
    } finally {
      await Promise.all([service.stop(), redis.server?.stop(), postgres.server?.stop()]);
      service.removeFolder();
    }
  },
};
