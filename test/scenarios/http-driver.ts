/** Runs scenarios on a whole service over HTTP: one machine, or three nodes (`fixtures/service.ts`). */
import assert from 'node:assert/strict';
import { codesOf } from '#http/protocol/documented-answers.ts';
import { ERRORS } from '#http/protocol/errors.ts';
import { assertRefused, audit } from '../fixtures/checks.ts';
import { sendWebhook } from '../fixtures/checkout.ts';
import type { Answer } from '../fixtures/client.ts';
import type { TestService } from '../fixtures/service.ts';
import type { ApiRequest, Bodies, Operation } from './requests.ts';
import { HOUR, type Driver, type Sale } from './scenario.ts';

interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `:id` is the request's; the others are the event's. */
  readonly path: string;
  /** Statuses of what is accepted. */
  readonly statuses: readonly number[];
  readonly isOperators?: true;
  /** Its body names the event. */
  readonly namesEvent?: true;
}

const route = (method: Route['method'], path: string, status = 200, more: Partial<Route> = {}): Route => ({
  method,
  path,
  statuses: [status],
  ...more,
});

const ofEvent = { namesEvent: true } as const;
const operators = { isOperators: true } as const;
const PUBLIC = '/api/events/public/:slug';

const routes: Readonly<Record<Exclude<Operation, 'receiveWebhook'>, Route>> = {
  createHold: route('POST', '/api/checkout/holds', 201, ofEvent),
  getHold: route('GET', '/api/checkout/holds/:id'),
  changeHold: route('PATCH', '/api/checkout/holds/:id'),
  releaseHold: route('DELETE', '/api/checkout/holds/:id'),
  getEvent: route('GET', PUBLIC),
  getOccupancy: route('GET', `${PUBLIC}/seating/occupancy`),
  suggestSeats: route('POST', `${PUBLIC}/seating/best-available`),
  joinQueue: route('POST', '/api/checkout/queue', 201, { ...ofEvent, statuses: [200, 201] }),
  pollQueue: route('GET', '/api/checkout/queue/:id'),
  leaveQueue: route('DELETE', '/api/checkout/queue/:id'),
  getDraw: route('GET', `${PUBLIC}/draw`),
  startCheckout: route('POST', '/api/checkout/start', 201, ofEvent),
  quoteCheckout: route('POST', '/api/checkout/quote', 200, ofEvent),
  openPayment: route('POST', '/api/checkout/orders/:id/payments', 201),
  getOrderStatus: route('GET', '/api/checkout/status/:id'),
  defineEvent: route('PUT', '/admin/events/:event', 200, operators),
  cancelPerformance: route('POST', '/admin/events/:event/performances/:id/cancel', 200, operators),
  changeSeats: route('POST', '/admin/events/:event/performances/:id/seats', 200, operators),
  steerSale: route('PUT', '/admin/events/:event/steering', 200, operators),
  sellAtCounter: route('POST', '/admin/events/:event/orders', 201, operators),
  getOrder: route('GET', '/admin/orders/:id', 200, operators),
  listOrders: route('GET', '/admin/events/:event/orders', 200, operators),
  getTicket: route('GET', '/admin/tickets/:id', 200, operators),
  cancelOrder: route('POST', '/admin/orders/:id/cancel', 200, operators),
  recordRefund: route('POST', '/admin/orders/:id/refunds', 200, operators),
  eraseOrder: route('POST', '/admin/orders/:id/erase', 200, operators),
};

const OF_FORM = ['VALIDATION_ERROR', 'IDEMPOTENCY_KEY_REUSED'];

let events = 0;

/** A driver over a service that is open already; every scenario has an event of its own on it. */
export function httpDriver(service: () => TestService): Driver {
  return {
    async open(given) {
      // An hour later every limit on requests has room again.
      service().wait(HOUR);
      events += 1;
      const names = { id: `evt_rule_${events}`, slug: `rule-${events}` };
      await service().define({ ...(typeof given === 'function' ? given(service().now()) : given), ...names });
      const { ask: answerTo, statusesOf } = callerOf(service(), names);
      const ask = async <Name extends Operation>(request: ApiRequest<Name>) => {
        const answer = await answerTo(request);
        assert.ok(statusesOf(request).includes(answer.status), `${request.operation}: ${JSON.stringify(answer.body)}`);
        return answer;
      };
      const sale: Sale = {
        ask: async (request) => (await ask(request)).body,
        changesNothing: async (request) => (await ask(request)).body,
        async repeats(request) {
          const { body, headers } = await ask(request);
          const isRepeat =
            headers.get('idempotent-replayed') ?? String((body as { result?: string }).result === 'repeated');
          assert.equal(isRepeat, 'true', `${request.operation} was not answered as before`);
          return body;
        },
        async refuses(request, code, detail) {
          const found = assertRefused(await answerTo(request), ERRORS[code].status, code);
          const { operation } = request;
          const codes = codesOf(operation === 'receiveWebhook' ? 'receivePaymentWebhook' : operation);
          assert.ok([...codes, ...OF_FORM].includes(code), `the document has no ${code} at ${operation}`);
          if (detail !== undefined) assert.deepEqual(found, detail);
          return found;
        },
        wait: (ms) => service().wait(ms),
        now: () => service().now(),
        async stock(performanceId) {
          const performances = await audit(service(), names.id);
          return performances.get(performanceId ?? [...performances.keys()][0]!)!;
        },
      };
      return { ...sale, close: async () => void (await audit(service(), names.id)) };
    },
  };
}

function callerOf(service: TestService, { id: eventId, slug }: { readonly id: string; readonly slug: string }) {
  const ask = <Name extends Operation>(request: ApiRequest<Name>): Promise<Answer<Bodies[Name]>> => {
    const { operation, id = '', query = {}, sessionKey, idempotencyKey } = request;
    if (operation === 'receiveWebhook') {
      return sendWebhook(service, request.body as unknown as Parameters<typeof sendWebhook>[1]) as never;
    }
    const { method, path, isOperators, namesEvent } = routes[operation as keyof typeof routes];
    const address = path.replace(':id', id).replace(':event', eventId).replace(':slug', slug);
    const parameters = new URLSearchParams(query).toString();
    const added = namesEvent ? { event_id: eventId } : operation === 'defineEvent' ? { id: eventId, slug } : {};
    const call = isOperators ? service.operate : service.call;
    return call(method, parameters === '' ? address : `${address}?${parameters}`, {
      ...(request.body !== undefined && { body: { ...request.body, ...added } }),
      ...(sessionKey !== undefined && { sessionKey }),
      ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
    });
  };
  const statusesOf = ({ operation }: ApiRequest): readonly number[] =>
    operation === 'receiveWebhook' ? [200] : routes[operation].statuses;
  return { ask, statusesOf };
}
