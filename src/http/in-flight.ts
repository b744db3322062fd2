/**
 * How many changes are taken on at once; the others are answered 503 OVERLOADED before any work is done, their bodies unread.
 *
 * Two things are bounded. Changes under way in the whole process: whoever waits for a slow disk. And changes taken on in one
 * pass of the event loop over its sockets: when the processor is what there is too little of, people wait in front of the
 * door, where nobody counts them, for as long as a pass takes. Called by `server.ts`, before the routes are added.
 *
 *  1. Changes are counted around their handlers: a client that sends its body slowly is not under way yet (the receive timeout
 *     bounds it), and reads are answered in the turn of the loop in which they come.
 *  2. A no costs a fourth of a hold (measured), so a house that is asked ten times too much could spend all its time on
 *     saying no. In a long pass no more are turned away than were taken on: at least four fifths of the time is for those.
 *  3. A pass counts as long only with many changes in it, so that one slow turn or a machine that stood still turns nobody away.
 *  4. A long pass turns away new claims alone. What gives something back, and word of payments, is always taken on in it.
 *  5. The seconds after which to come back differ, so that not all who were turned away together come back together.
 */
import type { FastifyInstance, onRequestHookHandler, RouteHandlerMethod, RouteOptions } from 'fastify';
import { Overloaded } from '#actors/overloaded.ts';
import type { HealthPort } from './ports.ts';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);
const CLAIMING_ADDRESSES = /^\/api\/(checkout|events)\//;
const RETRY_AFTER_SECONDS = 1;
const RETRY_AFTER_SECONDS_MAX = 3;

export interface InFlightBounds {
  /** Changes under way in the whole process. */
  readonly inFlightRequestsMax: number;
  /** How long one pass of the loop takes on new claims before it turns some away (2). */
  readonly loopPassMsMax: number;
  /** A pass with fewer changes is never called long (3). */
  readonly loopPassChangesMin: number;
}

/** Whether a route of these methods only reads. */
export function isReading(method: string | readonly string[]): boolean {
  return [method].flat().every((each) => READING.has(each));
}

/** Bounds the routes that are added to the app from here on. */
export function boundInFlight(app: FastifyInstance, bounds: InFlightBounds, health: HealthPort): void {
  let underWay = 0;
  let turnedAway = 0;
  const pass = watchPasses(bounds);
  const refuseEarly =
    (isClaim: boolean): onRequestHookHandler =>
    (_request, reply, done) => {
      const isTooMuch = health.draining || underWay >= bounds.inFlightRequestsMax;
      if (!isTooMuch && pass.takesOn(isClaim)) return done();
      turnedAway += 1;
      reply.header('retry-after', 1 + (turnedAway % RETRY_AFTER_SECONDS_MAX)).fail('OVERLOADED');
    };
  app.addHook('onRoute', (route) => {
    if (isReading(route.method)) return;
    const handle = route.handler;
    const bounded: RouteHandlerMethod = async function (request, reply) {
      if (health.draining) throw new Overloaded('the service is stopping', RETRY_AFTER_SECONDS);
      if (underWay >= bounds.inFlightRequestsMax) {
        throw new Overloaded('too many requests are under way', RETRY_AFTER_SECONDS);
      }
      underWay += 1;
      try {
        return await handle.call(this, request, reply);
      } finally {
        underWay -= 1;
      }
    };
    route.handler = bounded;
    route.onRequest = [...[route.onRequest ?? []].flat(), refuseEarly(isClaiming(route))];
  });
}

/** Whether a route asks for something that others may want, instead of giving back or telling of money. */
function isClaiming({ method, url }: RouteOptions): boolean {
  return CLAIMING_ADDRESSES.test(url) && ![method].flat().includes('DELETE');
}

/** Judges, request by request, what the loop's pass under way may still take on. */
function watchPasses({ loopPassMsMax, loopPassChangesMin }: InFlightBounds): { takesOn(isClaim: boolean): boolean } {
  let begunAt: number | null = null;
  let taken = 0;
  let turnedAway = 0;
  const end = (): void => {
    begunAt = null;
    taken = 0;
    turnedAway = 0;
  };
  const isLong = (): boolean => taken >= loopPassChangesMin && stopwatchMs() - begunAt! > loopPassMsMax;
  return {
    takesOn(isClaim) {
      if (begunAt === null) {
        begunAt = stopwatchMs();
        // Immediates run when the loop has read all sockets that were ready.
        setImmediate(end);
      }
      if (isClaim && turnedAway < taken && isLong()) {
        turnedAway += 1;
        return false;
      }
      taken += 1;
      return true;
    },
  };
}

function stopwatchMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
