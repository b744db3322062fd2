/**
 * How many changes may be under way at once in the whole process; over it, and while the service stops, 503 OVERLOADED
 * before any work is done.
 *
 * Counted around the handlers of methods that change something: a client that sends its body slowly is not under way yet
 * (the receive timeout bounds it), and reads are answered in the turn of the loop in which they come.
 */
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { Overloaded } from '#actors/overloaded.ts';
import type { HealthPort } from './ports.ts';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);
const RETRY_AFTER_SECONDS = 1;

/** Whether a route of these methods only reads. */
export function isReading(method: string | readonly string[]): boolean {
  return [method].flat().every((each) => READING.has(each));
}

export function boundInFlight(app: FastifyInstance, requestsMax: number, health: HealthPort): void {
  let underWay = 0;
  app.addHook('onRoute', (route) => {
    if (isReading(route.method)) return;
    const handle = route.handler;
    const bounded: RouteHandlerMethod = async function (request, reply) {
      if (health.draining) throw new Overloaded('the service is stopping', RETRY_AFTER_SECONDS);
      if (underWay >= requestsMax) throw new Overloaded('too many requests are under way', RETRY_AFTER_SECONDS);
      underWay += 1;
      try {
        return await handle.call(this, request, reply);
      } finally {
        underWay -= 1;
      }
    };
    route.handler = bounded;
  });
}
