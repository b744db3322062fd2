/** The sandbox clock: moves the service's one clock forward, so that windows can be seen running out. Never for real sales. */
import { LATEST_MOMENT } from '#actors/clock.ts';
import { errorResponses } from '../openapi.ts';
import type { PublicPorts } from '../ports.ts';
import { printTime } from '../printing.ts';
import { AdvanceClock, ClockReading } from '../schemas/operators.ts';
import type { HttpApp } from '../app.ts';

export function sandboxClockRoutes(app: HttpApp, { advanceClock }: Pick<PublicPorts, 'advanceClock'>): void {
  app.post(
    '/sandbox/clock',
    {
      config: { rateLimit: false },
      schema: {
        operationId: 'advanceClock',
        tags: ['Sandbox'],
        summary: 'Move the clock of the service forward',
        body: AdvanceClock,
        response: { 200: ClockReading, ...errorResponses },
      },
    },
    async (request, reply) => {
      const now = await advanceClock(request.body.advance_seconds);
      if (now !== null) return reply.send({ now: printTime(now) });
      return reply.invalid([{ path: '/advance_seconds', message: `must not lead beyond ${printTime(LATEST_MOMENT)}` }]);
    },
  );
}
