/**
 * A service with small events on sale, for the rules of the contract: short calls in the API's words, and the audit of I7.
 *
 * Stands on `harness.ts`; tests that use it speak HTTP and move the clock, nothing else.
 */
import assert from 'node:assert/strict';
import type { HoldBody } from '#http/schemas/holds.ts';
import type { OccupancyBody } from '#http/schemas/seating.ts';
import { openHouse, type Answer, type CallOptions, type House, type Json, type Window } from './harness.ts';

export { MINUTE } from './harness.ts';
export type { Answer, Json } from './harness.ts';

type Headed = Readonly<Record<string, string>>;

/** The calls of one listener. */
export interface Caller {
  get<Body = Json>(path: string, headers?: Headed): Promise<Answer<Body>>;
  post<Body = Json>(path: string, body?: unknown, headers?: Headed): Promise<Answer<Body>>;
  put<Body = Json>(path: string, body?: unknown, headers?: Headed): Promise<Answer<Body>>;
  patch<Body = Json>(path: string, body?: unknown, headers?: Headed): Promise<Answer<Body>>;
  delete<Body = Json>(path: string, headers?: Headed): Promise<Answer<Body>>;
}

export interface Shop extends Caller {
  readonly house: House;
  /** The operators' listener. */
  readonly admin: Caller;
  /** Places a hold that must be answered 201; of one single at the club night where the request leaves that out. */
  hold(request: HoldRequest): Promise<HoldBody>;
  now(): number;
  wait(ms: number): void;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface ItemRequest {
  readonly ticket_type_id?: string;
  readonly selling_stage_id?: string;
  readonly quantity?: number;
  readonly performance_id?: string;
  readonly seat_ids?: readonly string[];
}

export interface HoldRequest {
  readonly event_id?: string;
  readonly session_key: string;
  readonly items?: readonly ItemRequest[];
}

export const HOLDS = '/api/checkout/holds';

/** Opens a service with these events on sale, defined through the admin API as an operator would. */
export async function openShop(definitions: readonly object[], environment: Headed = {}): Promise<Shop> {
  const house = await openHouse({ environment });
  for (const definition of definitions) await house.define(definition as Json);
  const open = callerOf((...args) => house.call(...args));
  return {
    ...open,
    house,
    admin: callerOf((...args) => house.operate(...args)),
    async hold(request) {
      const answer = await open.post<HoldBody>(HOLDS, { event_id: 'evt_club', items: [floor(1)], ...request });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return answer.body;
    },
    now: () => house.now(),
    wait: (ms) => house.wait(ms),
    restart: () => house.restart(),
    close: () => house.close(),
  };
}

export function callerOf(call: Window['call']): Caller {
  const bodied =
    (method: string) =>
    <Body>(path: string, body?: unknown, headers: Headed = {}): Promise<Answer<Body>> =>
      call<Body>(method, path, { headers, ...(body !== undefined && { body }) } satisfies CallOptions);
  return {
    get: (path, headers = {}) => call('GET', path, { headers }),
    post: bodied('POST'),
    put: bodied('PUT'),
    patch: bodied('PATCH'),
    delete: (path, headers = {}) => call('DELETE', path, { headers }),
  };
}

/** The header by which a session owns its holds. */
export function as(sessionKey: string): Headed {
  return { 'x-session-key': sessionKey };
}

let sessions = 0;

/** A session key that nobody else has. */
export function newSession(): string {
  sessions += 1;
  return `session-${sessions}`;
}

// ── what is on sale ──────────────────────────────────────────────────────────────────────────────────────────────────

/** General admission on one date: singles, and crews of four with a quota of 40 tickets, on a floor for 100. */
export function clubNight(overrides: object = {}): object {
  return {
    id: 'evt_club',
    slug: 'club-night',
    name: 'Club night',
    currency: 'EUR',
    hold_minutes: 10,
    performances: [{ id: 'night', name: 'Night', starts_at: '2028-05-08T20:00:00Z', ends_at: '2028-05-09T04:00:00Z' }],
    localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 100 }],
    ticketTypes: [
      { id: 'single', name: 'Single', locality_id: 'floor' },
      { id: 'crew', name: 'Crew of four', locality_id: 'floor', group_size: 4, quota: 40 },
    ],
    sellingStages: [
      { id: 'regular', name: 'Regular', prices: { single: 1900, crew: 6800 } },
      { id: 'late', name: 'Late', starts_at: '2028-05-08T12:00:00Z', prices: { single: 2500 } },
    ],
    ...overrides,
  };
}

/** Units of the club night's singles. */
export function floor(quantity: number, overrides: object = {}): ItemRequest {
  return { ticket_type_id: 'single', selling_stage_id: 'regular', quantity, ...overrides };
}

/**
 * Two dates in one small house. Stalls: row A has ten seats, B ten with an aisle after the fourth, C four of which two are
 * wheelchair places. Gallery: six seats, the last two with a restricted view. A yard for twenty people besides.
 */
export function theatreRun(overrides: object = {}): object {
  return {
    id: 'evt_play',
    slug: 'the-play',
    name: 'The play',
    currency: 'EUR',
    hold_minutes: 10,
    performances: [
      { id: 'fri', name: 'Friday', starts_at: '2028-05-12T18:00:00Z', ends_at: '2028-05-12T21:00:00Z', sort_order: 0 },
      {
        id: 'sat',
        name: 'Saturday',
        starts_at: '2028-05-13T18:00:00Z',
        ends_at: '2028-05-13T21:00:00Z',
        sort_order: 1,
      },
    ],
    localities: [
      {
        id: 'house',
        name: 'House',
        seating: 'NUMBERED',
        sections: [
          {
            id: 'S',
            name: 'Stalls',
            zone_key: 'stalls',
            rows: [
              { label: 'A', seats: 10 },
              { label: 'B', seats: 10, aisle_after: [4] },
              { label: 'C', seats: 4, accessible: [1, 2] },
            ],
          },
          {
            id: 'G',
            name: 'Gallery',
            zone_key: 'gallery',
            rows: [{ label: 'A', seats: 6, restricted_view: [5, 6] }],
          },
        ],
      },
      { id: 'yard', name: 'Yard', seating: 'GENERAL', capacity: 20 },
    ],
    ticketTypes: [
      { id: 'stalls', name: 'Stalls', locality_id: 'house', zone_keys: ['stalls'] },
      { id: 'gallery', name: 'Gallery', locality_id: 'house', zone_keys: ['gallery'] },
      { id: 'pair', name: 'Pair', locality_id: 'house', zone_keys: ['stalls'], group_size: 2 },
      { id: 'wheel', name: 'Wheelchair', locality_id: 'house', zone_keys: ['stalls'], accessible: true },
      { id: 'standing', name: 'Standing', locality_id: 'yard' },
    ],
    sellingStages: [
      {
        id: 'general',
        name: 'General sale',
        prices: { stalls: 4000, gallery: 2000, pair: 7000, wheel: 1500, standing: 900 },
      },
    ],
    ...overrides,
  };
}

/** An item of the theatre run. */
export function seat(
  ticketTypeId: string,
  performanceId: string,
  quantity: number,
  overrides: object = {},
): ItemRequest {
  const item = { ticket_type_id: ticketTypeId, selling_stage_id: 'general', performance_id: performanceId, quantity };
  return { ...item, ...overrides };
}

// ── what must always be so ───────────────────────────────────────────────────────────────────────────────────────────

/** One date's stock as operators see it. */
export interface StockLine {
  readonly id: string;
  readonly capacity: number;
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
}

interface AdminEvent {
  readonly definition: { readonly slug: string; readonly localities: readonly { readonly seating: string }[] };
  readonly performances: readonly StockLine[];
}

/** Capacity = available + held + sold + blocked on every date (I7), in the operators' figures and in the lists of seats. */
export async function audit(shop: Pick<Shop, 'admin' | 'get'>, eventId: string): Promise<Map<string, StockLine>> {
  const { body, status } = await shop.admin.get<AdminEvent>(`/admin/events/${eventId}`);
  assert.equal(status, 200, JSON.stringify(body));
  const { slug, localities } = body.definition;
  for (const date of body.performances) {
    const { capacity, available, held, sold, blocked } = date;
    for (const figure of [available, held, sold, blocked]) assert.ok(figure >= 0, JSON.stringify(date));
    assert.equal(available + held + sold + blocked, capacity, JSON.stringify(date));
    if (localities.some(({ seating }) => seating === 'NUMBERED')) await auditSeats(shop, slug, date, localities.length);
  }
  return new Map(body.performances.map((date) => [date.id, date]));
}

async function auditSeats(shop: Pick<Shop, 'get'>, slug: string, stock: StockLine, localities: number): Promise<void> {
  const path = `/api/events/public/${slug}/seating/occupancy?performance_id=${stock.id}`;
  const { status, body } = await shop.get<OccupancyBody>(path);
  if (status !== 200) return;
  const listed = [...body.held!, ...body.sold!, ...body.blocked!];
  assert.equal(new Set(listed).size, listed.length, 'a seat is in at most one live claim');
  if (localities > 1) return;
  assert.deepEqual(
    [body.available, body.held!.length, body.sold!.length, body.blocked!.length],
    [stock.available, stock.held, stock.sold, stock.blocked],
  );
}

interface ErrorBody {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly detail: Json;
  readonly timestamp: string;
}

/** Asserts that the answer is the error body with this status and code; returns its detail. */
export function assertRefused(answer: Answer<unknown>, status: number, code: string): Json {
  const body = answer.body as ErrorBody;
  assert.equal(body?.code, code, JSON.stringify(body));
  assert.equal(answer.status, status, JSON.stringify(body));
  assert.equal(body.statusCode, status);
  assert.deepEqual(Object.keys(body).sort(), ['code', 'detail', 'message', 'statusCode', 'timestamp']);
  assert.equal(typeof body.message, 'string');
  assert.ok(typeof body.detail === 'object' && body.detail !== null && !Array.isArray(body.detail));
  assert.match(body.timestamp, RFC_3339);
  return body.detail;
}

/** UTC with milliseconds and Z. */
export const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
