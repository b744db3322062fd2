/**
 * What `@holdfast/client` exports, and all that it promises to keep between minor versions: the client, its errors, the
 * bodies of the API, what a live stream says, and how amounts are written.
 */
export { ApiError, isApiError } from './api-error.ts';
export type * from './bodies.ts';
export { createClient, type Client, type ClientOptions, type SessionStore } from './client.ts';
export { firstPerformance } from './first-performance.ts';
export { rowKey, type LiveState, type SeatStates, type Watch } from './live.ts';
export { decimalOf, decimalPlaces, moneyText } from './money.ts';
export type { EstimatedClock } from './service-clock.ts';
