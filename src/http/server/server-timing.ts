/**
 * The header `Server-Timing`: where the time of an answer went, in milliseconds, for browsers' tools and load
 * generators.
 *
 * `admission` is the wait in the admission queue, `turn` the turns and queries of the event's actor, `disk` the wait
 * until what the answer shows is durable, `handover` the way to the thread of the event and back, `total` all of it,
 * from the request's headers to the answer's.
 *
 * 1. These hooks are there, and the steps of actors have a listener, only with SERVER_TIMING=on.
 * 2. A step that did not happen here is left out: a refused body has no turn, and neither has an event that another
 *    node owns.
 * 3. Steps find their request by its asynchronous context, so that nothing between here and the actor has to carry it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { StepMessage } from '#actors/channels.ts';
import { isReading } from '../limits/admission-queue.ts';

interface Times {
  /** When the request joined the admission queue, and how long it waited there; null before. */
  joinedMs: number | null;
  admissionMs: number | null;
  turnMs: number | null;
  diskMs: number | null;
  handoverMs: number | null;
}

const STEP_CHANNEL = 'holdfast:step';

/** Has the answers of the routes that are added from here on say their times; call it before admission is installed. */
export function showServerTiming(app: FastifyInstance): void {
  const current = new AsyncLocalStorage<Times>();
  const timesOf = new WeakMap<FastifyRequest, Times>();
  const timesIn = (request: FastifyRequest): Times => {
    let times = timesOf.get(request);
    if (times === undefined) {
      timesOf.set(
        request,
        (times = { joinedMs: null, admissionMs: null, turnMs: null, diskMs: null, handoverMs: null }),
      );
    }
    return times;
  };
  app.addHook('onRoute', (route) => {
    const handle = route.handler;
    const timed: RouteHandlerMethod = function (request, reply) {
      return current.run(timesIn(request), () => handle.call(this, request, reply)) as unknown;
    };
    route.handler = timed;
    if (isReading(route.method)) return;
    // Admission adds its own hook behind this one, and what is admitted goes on to the hooks before the body.
    const join = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      timesIn(request).joinedMs = reply.elapsedTime;
      done();
    };
    const admitted = (request: FastifyRequest, reply: FastifyReply, _body: unknown, done: () => void): void => {
      const times = timesIn(request);
      times.admissionMs = reply.elapsedTime - (times.joinedMs ?? 0);
      done();
    };
    route.onRequest = [...[route.onRequest ?? []].flat(), join];
    route.preParsing = [admitted, ...[route.preParsing ?? []].flat()];
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header('server-timing', headerOf(timesOf.get(request), reply.elapsedTime));
    done(null, payload);
  });
  const onStep = (message: unknown): void => {
    const times = current.getStore();
    if (times === undefined) return;
    const { step, ms } = message as StepMessage;
    const name = `${step}Ms` as const;
    times[name] = (times[name] ?? 0) + ms;
  };
  subscribe(STEP_CHANNEL, onStep);
  app.addHook('onClose', async () => void unsubscribe(STEP_CHANNEL, onStep));
}

function headerOf(times: Times | undefined, totalMs: number): string {
  let text = '';
  if (times !== undefined) {
    const { joinedMs, turnMs, diskMs, handoverMs } = times;
    // What was shed while it waited was never admitted.
    const admissionMs = times.admissionMs ?? (joinedMs === null ? null : totalMs - joinedMs);
    if (admissionMs !== null) text += metric('admission', admissionMs);
    if (turnMs !== null) text += metric('turn', turnMs);
    if (diskMs !== null) text += metric('disk', diskMs);
    if (handoverMs !== null) text += metric('handover', handoverMs);
  }
  return `${text}total;dur=${totalMs.toFixed(3)}`;
}

function metric(name: string, ms: number): string {
  return `${name};dur=${ms.toFixed(3)}, `;
}
