/**
 * Every operation of the public API by the client's name for it.
 *
 * `repeat` says whether a request that got no answer may be sent again: it reads, it sets a value, or it carries an
 * Idempotency-Key (`key`). Two public operations are missing, because no storefront calls them: webhooks of providers
 * and the simulated outage.
 */

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly repeat: boolean;
  /** Sent with an Idempotency-Key, so that a repeat gets the first answer. */
  readonly key?: true;
}

// prettier-ignore
export const OPERATIONS = {
  listEvents:     { method: 'GET',    path: '/api/events/public',                               repeat: true },
  getEvent:       { method: 'GET',    path: '/api/events/public/{slug}',                        repeat: true },
  getSeating:     { method: 'GET',    path: '/api/events/public/{slug}/seating',                repeat: true },
  getOccupancy:   { method: 'GET',    path: '/api/events/public/{slug}/seating/occupancy',      repeat: true },
  suggestSeats:   { method: 'POST',   path: '/api/events/public/{slug}/seating/best-available', repeat: true },
  watchDate:      { method: 'GET',    path: '/api/events/public/{slug}/live',                   repeat: true },
  getDraw:        { method: 'GET',    path: '/api/events/public/{slug}/draw',                   repeat: true },
  createHold:     { method: 'POST',   path: '/api/checkout/holds',                              repeat: true, key: true },
  getHold:        { method: 'GET',    path: '/api/checkout/holds/{id}',                         repeat: true },
  changeHold:     { method: 'PATCH',  path: '/api/checkout/holds/{id}',                         repeat: true },
  releaseHold:    { method: 'DELETE', path: '/api/checkout/holds/{id}',                         repeat: true },
  joinQueue:      { method: 'POST',   path: '/api/checkout/queue',                              repeat: true },
  getQueueEntry:  { method: 'GET',    path: '/api/checkout/queue/{id}',                         repeat: true },
  leaveQueue:     { method: 'DELETE', path: '/api/checkout/queue/{id}',                         repeat: true },
  quoteCheckout:  { method: 'POST',   path: '/api/checkout/quote',                              repeat: true },
  startCheckout:  { method: 'POST',   path: '/api/checkout/start',                              repeat: true, key: true },
  getOrder:       { method: 'GET',    path: '/api/checkout/status/{orderId}',                   repeat: true },
  payOrder:       { method: 'POST',   path: '/api/checkout/orders/{order_id}/payments',         repeat: true, key: true },
  quoteAmendment: { method: 'POST',   path: '/api/checkout/orders/{order_id}/amendments/quote', repeat: true },
  amendOrder:     { method: 'POST',   path: '/api/checkout/orders/{order_id}/amendments',       repeat: true, key: true },
  getAmendment:   { method: 'GET',    path: '/api/checkout/orders/{order_id}/amendments/{id}',  repeat: true },
  cancelAmendment: { method: 'DELETE', path: '/api/checkout/orders/{order_id}/amendments/{id}', repeat: true },
  getTicketKeys:  { method: 'GET',    path: '/api/tickets/key',                                 repeat: true },
  getVoidTickets: { method: 'GET',    path: '/api/tickets/revoked',                             repeat: true },
  settleSandbox:  { method: 'POST',   path: '/sandbox/payments/{checkout_session_id}',          repeat: false },
  advanceClock:   { method: 'POST',   path: '/sandbox/clock',                                   repeat: false },
  isLive:         { method: 'GET',    path: '/health/live',                                     repeat: true },
  isReady:        { method: 'GET',    path: '/health/ready',                                    repeat: true },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof OPERATIONS;

/** A path with its parameters filled in, in order. */
export function fillPath(path: string, parameters: readonly string[]): string {
  let next = 0;
  return path.replace(/\{\w+\}/g, () => encodeURIComponent(parameters[next++] ?? ''));
}

/** Parts of a path, escaped and joined. */
export function pathOf(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/');
}
