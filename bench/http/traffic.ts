/**
 * The requests of a load: a recipe makes the request of each number, and every generator knows the recipes by name.
 *
 * Numbers grow through a whole scenario. When there are fewer seats than requests, sessions repeat and replace their
 * holds, so that every request succeeds: no refusal is measured as an answer.
 */
import { placeHold } from '#rehearsal/player/buyer-requests.ts';
import type { PlayerRequest } from '#rehearsal/player/connection.ts';

/** Autocannon checks this often, in milliseconds, whether its time is over. */
export const AUTOCANNON_OPTIONS = { sampleInt: 100 } as const;

export type Traffic =
  /** Of the hot event, or of another one like it. */
  | { readonly recipe: 'hot-hold'; readonly eventId?: string; readonly performanceId?: string }
  | { readonly recipe: 'spread-hold'; readonly events: number; readonly types: number }
  | { readonly recipe: 'picked-seats' }
  /** Parties of one to `partyMax` people, in `sessions` sessions that repeat. */
  | { readonly recipe: 'best-seats'; readonly eventId: string; readonly sessions: number; readonly partyMax: number }
  /** Checkouts of one ticket, each of another customer. */
  | { readonly recipe: 'start'; readonly eventId: string }
  /** First entries of these tickets, so many in a request, of these stations in turn. */
  | {
      readonly recipe: 'scans';
      readonly tokens: readonly string[];
      readonly codes: readonly string[];
      readonly batch: number;
    }
  /** Requests these paths in turn. */
  | { readonly recipe: 'gets'; readonly paths: readonly string[] };

/** The best seats of the stadium; all sessions together hold more than half of it. */
export const STADIUM_RUSH: Traffic = { recipe: 'best-seats', eventId: 'evt_stadium', sessions: 10_000, partyMax: 6 };

/** Sessions that pick seats. */
const PICKERS = 10_000;
/** A multiple of the sessions, so that a pair of seats is requested by one session only. */
const PAIRS = 30_000;
const ROWS_OF_BLOCK = 25;
const PAIRS_OF_ROW = 25;

export function requestOf(traffic: Traffic, n: number): PlayerRequest {
  switch (traffic.recipe) {
    case 'hot-hold':
      return hold(traffic.eventId ?? 'evt_hot', n, {
        ticket_type_id: 'single',
        quantity: 1,
        ...(traffic.performanceId !== undefined && { performance_id: traffic.performanceId }),
      });
    case 'spread-hold': {
      const type = Math.floor(n / traffic.events) % traffic.types;
      return hold(`evt_${n % traffic.events}`, n, { ticket_type_id: `type-${type}`, quantity: 1 });
    }
    case 'picked-seats': {
      const seats = pairOf((n * 7) % PAIRS);
      return hold('evt_stadium', n % PICKERS, { ticket_type_id: 'seat', quantity: 2, seat_ids: seats });
    }
    case 'best-seats': {
      const { eventId, sessions, partyMax } = traffic;
      return hold(eventId, n % sessions, { ticket_type_id: 'seat', quantity: 1 + (n % partyMax) });
    }
    case 'start': {
      const items = [{ ticket_type_id: 'single', selling_stage_id: 'general', quantity: 1 }];
      const customer = { email: `buyer-${n}@example.com`, name: `Buyer ${n}` };
      const body = JSON.stringify({ event_id: traffic.eventId, items, customer, accept_terms: true });
      return { method: 'POST', path: '/api/checkout/start', body };
    }
    case 'scans': {
      const { tokens, codes, batch } = traffic;
      const at = new Date().toISOString();
      const common = { kind: 'ENTRY', performance_id: 'night', door_id: 'main', at, given: null };
      const scans = codes.slice(n * batch, (n + 1) * batch).map((code, i) => ({
        id: `scan-${batch}-${codes.length}-${String(n * batch + i).padStart(10, '0')}`,
        code,
        ...common,
      }));
      const headers = { authorization: `Bearer ${tokens[n % tokens.length]}` };
      return { method: 'POST', path: '/api/doors/scans', headers, body: JSON.stringify({ scans }) };
    }
    case 'gets':
      return { method: 'GET', path: traffic.paths[n % traffic.paths.length]! };
  }
}

function hold(eventId: string, session: number, item: object): PlayerRequest {
  return placeHold(eventId, `session-${session}`, [{ selling_stage_id: 'general', ...item }]);
}

/** Two neighbours in the stadium of `bench/events.ts`. */
function pairOf(pair: number): readonly string[] {
  const seat = 1 + 2 * (pair % PAIRS_OF_ROW);
  const row = Math.floor(pair / PAIRS_OF_ROW);
  const block = 1 + Math.floor(row / ROWS_OF_BLOCK);
  const label = 1 + (row % ROWS_OF_BLOCK);
  return [`B${block}-${label}-${seat}`, `B${block}-${label}-${seat + 1}`];
}
