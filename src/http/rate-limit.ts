/** The optional limit of changes for each client address and minute; reads are never counted. */
import { clientAddresses } from './client-address.ts';
import { isReading } from './in-flight.ts';
import { createRateWindow } from './rate-window.ts';
import type { HttpApp } from './app.ts';
import type { ClockPort, HttpSettings } from './ports.ts';
import type { onRequestHookHandler } from 'fastify';

/** Limits the routes that are added from here on, before their requests wait for anything. */
export function limitChanges(app: HttpApp, settings: HttpSettings, clock: ClockPort): void {
  const { rateLimitPerMinute: perMinuteMax, trustProxy, limits } = settings;
  if (perMinuteMax === 0) return;
  const addressOf = clientAddresses(trustProxy);
  const changes = createRateWindow({ perMinuteMax, keysMax: limits.rateLimitedAddressesMax }, clock);
  const limit: onRequestHookHandler = (request, reply, done) => {
    const { isOver, left, secondsLeft } = changes.count(addressOf(request));
    reply.headers({
      'x-ratelimit-limit': perMinuteMax,
      'x-ratelimit-remaining': left,
      'x-ratelimit-reset': secondsLeft,
    });
    if (!isOver) return done();
    reply.header('retry-after', secondsLeft).fail('RATE_LIMITED');
  };
  app.addHook('onRoute', (route) => {
    if (!isReading(route.method)) route.onRequest = [limit, ...[route.onRequest ?? []].flat()];
  });
}
