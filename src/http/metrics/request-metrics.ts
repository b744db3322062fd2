/**
 * What is counted of requests, on whichever thread they are answered.
 *
 * 1. Every other thread counts in memory that the main thread reads, so that a thread that does not run does not delay
 *    `/metrics`.
 */
import type { FastifyReply, onResponseHookHandler } from 'fastify';
import type { CountsNews, RequestMetrics, UseCount } from '../ports.ts';
import { codesOf } from '../protocol/documented-answers.ts';
import { isHttpCode } from '../protocol/errors.ts';
import { cellsOf, Series } from './tallied-histogram.ts';

export const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

const STATUS_CLASSES = ['', '1xx', '2xx', '3xx', '4xx', '5xx'];

/** A count that nobody shares. */
export function newUseCount(): UseCount {
  let own = 0;
  return {
    get own() {
      return own;
    },
    get total() {
      return own;
    },
    set(count) {
      own = count;
    },
  };
}

interface RequestCounts {
  seriesOf(labels: Series['labels']): Series;
  /** A command of the app may be answered with this code. */
  noteCode(command: string, code: string): void;
}

/** Makes the function that has the requests of an app observed. */
export function observeRequests({ seriesOf, noteCode }: RequestCounts): RequestMetrics['observe'] {
  /** A route keeps its series, because naming one for each request costs more than the observation. */
  const observerOf = (method: string, route: string) => {
    const byClass: Series[] = [];
    return ({ statusCode, elapsedTime }: FastifyReply): void => {
      const index = Math.floor(statusCode / 100);
      byClass[index] ??= seriesOf({ method, route, status: STATUS_CLASSES[index] ?? '' });
      byClass[index].observe(elapsedTime / 1_000);
    };
  };
  return (app) => {
    app.addHook('onRoute', (route) => {
      const { config: { command } = {}, schema: { operationId } = {} } = route;
      if (command !== undefined)
        for (const code of codesOf(operationId)) if (!isHttpCode(code)) noteCode(command, code);
      const observe = observerOf(String(route.method), route.url);
      const onResponse: onResponseHookHandler = (_request, reply, done) => {
        observe(reply);
        done();
      };
      route.onResponse = [...[route.onResponse ?? []].flat(), onResponse];
    });
    // What reaches no route.
    app.addHook('onResponse', (request, reply, done) => {
      if (request.is404) observerOf(request.method, 'none')(reply);
      done();
    });
  };
}

/** The metrics of a thread that answers requests; `report` tells the main thread where the counts are. */
export function createThreadMetrics(
  report: (news: CountsNews) => void,
  countInUse: RequestMetrics['countInUse'],
): RequestMetrics {
  const known = new Map<string, Series>();
  const seriesOf = (labels: Series['labels']): Series => {
    const key = JSON.stringify(labels);
    const series = known.get(key);
    if (series !== undefined) return series;
    const cells = new Float64Array(new SharedArrayBuffer(cellsOf(REQUEST_SECONDS) * Float64Array.BYTES_PER_ELEMENT));
    report({ kind: 'series', labels, cells });
    const made = new Series(labels, REQUEST_SECONDS, cells);
    known.set(key, made);
    return made;
  };
  const noteCode = (command: string, code: string): void => report({ kind: 'code', command, code });
  return { countInUse, observe: observeRequests({ seriesOf, noteCode }) };
}
