/**
 * The credential of stations: the bearer token that was shown once when the station was made.
 *
 * 1. A request without a token is refused; one with a token of no station is counted by client address as well.
 * 2. A token that was good is remembered with its digest, so that a scan asks its event once and hashes nothing: the
 *    command finds the station again, and a revoked one is refused from the answer to its revocation on. A request that
 *    is refused before its command, for example for its body, asks the event again; where the event does not answer,
 *    the refusal stays.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { onRequestHookHandler, onSendHookHandler } from 'fastify';
import { readAt } from '#actors/event-port.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { HttpApp } from '../protocol/app.ts';
import { clientAddresses } from '../protocol/client-address.ts';
import { errorBody, NOT_NAMED } from '../protocol/errors.ts';
import { bearerToken, createTokenRefusal } from '../limits/bearer-tokens.ts';
import type { PublicPorts } from '../ports.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The token of a request that was let in, and as its event knows it. */
    stationToken?: StationToken;
  }
}

interface StationToken {
  readonly token: string;
  readonly tokenSha256: string;
}

/** Stations of some events; of others the event is asked again. */
const GOOD_TOKENS_MAX = 5_000;

/** How a request is refused before its command. */
const REFUSED_EARLY: readonly number[] = [400, 413, 415, 429];

const DOORS_PATH = '/api/doors/';

/** Lets a request of a station pass only with its token; it concerns the routes that are added from here on. */
export function requireStation(
  app: HttpApp,
  { events, settings, clock, sharedLimits }: Pick<PublicPorts, 'events' | 'settings' | 'clock' | 'sharedLimits'>,
): void {
  const addressOf = clientAddresses(settings.trustProxy);
  const refuse = createTokenRefusal({ addressOf, clock, limits: settings.limits, sharedLimits });
  const good = new LRUCache<string, StationToken>({ max: GOOD_TOKENS_MAX });
  const find = ({ token, tokenSha256 }: StationToken) =>
    readAt(events.byId('gtk', token), NOT_NAMED, { type: 'FindStation', tokenSha256 });
  const check: onRequestHookHandler = (request, reply, done) => {
    const token = bearerToken(request);
    if (token === undefined) return refuse(request, reply);
    const known = good.get(token);
    if (known !== undefined) {
      request.stationToken = known;
      return done();
    }
    const asked = { token, tokenSha256: sha256Of(token) };
    find(asked).then((found) => {
      if (isRefusal(found)) return found.code === NOT_NAMED.code ? refuse(request, reply) : void reply.refuse(found);
      good.set(token, (request.stationToken = asked));
      done();
    }, done);
  };
  const checkAgain: onSendHookHandler<unknown> = (request, reply, payload, done) => {
    const { stationToken } = request;
    if (stationToken === undefined || !REFUSED_EARLY.includes(reply.statusCode)) return done(null, payload);
    const leave = (): void => done(null, payload);
    find(stationToken).then((found) => {
      if (!isRefusal(found)) return leave();
      const body = errorBody(found.code, found.detail, clock.now());
      reply.code(body.statusCode).removeHeader('retry-after').removeHeader('content-length');
      done(null, JSON.stringify(body));
    }, leave);
  };
  app.decorateRequest('stationToken');
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith(DOORS_PATH)) return;
    route.onRequest = [check, ...[route.onRequest ?? []].flat()];
    route.onSend = [checkAgain, ...[route.onSend ?? []].flat()];
  });
}

export function sha256Of(token: string): string {
  return hash('sha256', token);
}
