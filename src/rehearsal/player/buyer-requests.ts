/**
 * What a buyer sends over HTTP, as data that any client sends: the rehearsal's, and those of tests and benches that
 * buy. Items and the fields of a checkout are the API's bodies; an idempotency key makes a request one that may be
 * repeated.
 */
import type { PlayerRequest } from './connection.ts';

/** A request with the pattern of its route, by which answers are counted. */
export interface RoutedRequest extends PlayerRequest {
  readonly route: string;
}

/** A key of the request's own, by which it may be repeated; without one where it is undefined. */
type IdempotencyKey = string | undefined;

const HOLDS = '/api/checkout/holds';
const QUEUE = '/api/checkout/queue';

export function get(route: string, path = route): RoutedRequest {
  return { route: `GET ${route}`, method: 'GET', path };
}

function send(method: 'POST' | 'PATCH', route: string, body: object, path = route, key?: IdempotencyKey) {
  const keyed = key === undefined ? {} : { headers: { 'idempotency-key': key } };
  return { route: `${method} ${route}`, method, path, body: JSON.stringify(body), ...keyed };
}

/** A request for what belongs to a session. */
function own(method: 'GET' | 'DELETE', route: string, id: string, sessionKey: string): RoutedRequest {
  const headers = { 'x-session-key': sessionKey };
  return { route: `${method} ${route}/:id`, method, path: `${route}/${id}`, headers };
}

export function joinQueue(eventId: string, sessionKey: string): RoutedRequest {
  return send('POST', QUEUE, { event_id: eventId, session_key: sessionKey });
}

export const pollQueue = (sessionKey: string, entryId: string) => own('GET', QUEUE, entryId, sessionKey);
export const leaveQueue = (sessionKey: string, entryId: string) => own('DELETE', QUEUE, entryId, sessionKey);

/** `more` has the pass, where the event needs one. */
export function placeHold(
  eventId: string,
  sessionKey: string,
  items: readonly object[],
  more: object = {},
  key?: IdempotencyKey,
): RoutedRequest {
  return send('POST', HOLDS, { event_id: eventId, session_key: sessionKey, items, ...more }, HOLDS, key);
}

export const readHold = (sessionKey: string, holdId: string) => own('GET', HOLDS, holdId, sessionKey);
export const releaseHold = (sessionKey: string, holdId: string) => own('DELETE', HOLDS, holdId, sessionKey);

export function changeHold(
  sessionKey: string,
  holdId: string,
  items: readonly object[],
  key?: IdempotencyKey,
): RoutedRequest {
  const { headers, ...request } = send('PATCH', `${HOLDS}/:id`, { items }, `${HOLDS}/${holdId}`, key);
  return { ...request, headers: { ...headers, 'x-session-key': sessionKey } };
}

/** `purchase` says what is bought, a hold or items, and by whom. */
export function startCheckout(eventId: string, purchase: object, key?: IdempotencyKey): RoutedRequest {
  const route = '/api/checkout/start';
  return send('POST', route, { event_id: eventId, accept_terms: true, ...purchase }, route, key);
}

export function openPayment(orderId: string): RoutedRequest {
  return send('POST', '/api/checkout/orders/:order_id/payments', {}, `/api/checkout/orders/${orderId}/payments`);
}

/** Reports a payment in the sandbox. */
export function settlePayment(checkoutSessionId: string | null, outcome: string): RoutedRequest {
  return send('POST', '/sandbox/payments/:checkout_session_id', { outcome }, `/sandbox/payments/${checkoutSessionId}`);
}

export function readOrder(orderId: string): RoutedRequest {
  return get('/api/checkout/status/:order_id', `/api/checkout/status/${orderId}`);
}
