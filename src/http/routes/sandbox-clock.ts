/** The sandbox clock: moves the service's one clock forward, so that windows can be seen running out. Never for real sales. */
import { errorResponses } from '../openapi.ts';
import type { PublicPorts } from '../ports.ts';
import { printTime } from '../printing.ts';
import { AdvanceClock, ClockReading } from '../schemas/operators.ts';
import type { HttpApp } from '../app.ts';

/** Far enough for every sale, and near enough that the ends of its windows still have four digits in their year. */
const LATEST = Date.UTC(9000, 0, 1);

export function sandboxClockRoutes(
  app: HttpApp,
  { clock, advanceClock }: Pick<PublicPorts, 'clock' | 'advanceClock'>,
): void {
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
      const seconds = request.body.advance_seconds;
      if (clock.now() + seconds * 1000 > LATEST) {
        return reply.invalid([{ path: '/advance_seconds', message: `must not lead beyond ${printTime(LATEST)}` }]);
      }
      return reply.send({ now: printTime(await advanceClock(seconds)) });
    },
  );
}
