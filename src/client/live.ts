/**
 * What is left of a performance, kept up to date by a live stream, or by polling where no stream can be had.
 *
 * Owns the stream (server-sent events read with `fetch`, so that it works in browsers and in Node) and how its messages
 * change the state.
 *
 *  1. `onState` gets the whole state each time; what did not change keeps its identity.
 *  2. A broken stream resumes after its last message. After `FAILURES_MAX` failures in a row the performance is polled.
 */
import { apiErrorOf, isApiError } from './api-error.ts';
import type {
  EventPayload,
  FullOccupancy,
  LiveChange,
  LiveSnapshot,
  SaleSteering,
  SeatChange,
  SeatState,
  TicketAvailability,
} from './bodies.ts';
import { OPERATIONS } from './operations.ts';
import { addressOf, type Pause, type Request } from './transport.ts';

/** What is left of a performance at a moment. */
export interface LiveState {
  /** The service's time, in milliseconds; null when only polling was possible. */
  readonly now: number | null;
  /** Differs when the event itself was changed and must be read again; null while polling. */
  readonly definitionVersion: number | null;
  readonly status: string | null;
  /** What the organizer set; null while that is nothing. */
  readonly steering: SaleSteering | null;
  readonly rows: readonly TicketAvailability[];
  /** The seats that are not free; null where there are no numbered seats. */
  readonly seats: SeatStates | null;
}

export interface Watch {
  readonly slug: string;
  readonly performanceId: string;
  readonly signal: AbortSignal;
  onState(state: LiveState): void;
}

interface LiveSource {
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
  readonly pause: Pause;
  /** Records the service's time, which each message says. */
  noteTime(ms: number): void;
  getEvent(slug: string, performanceId: string, signal: AbortSignal): Promise<EventPayload>;
  getOccupancy(slug: string, performanceId: string, signal: AbortSignal): Promise<FullOccupancy>;
}

const FAILURES_MAX = 3;
const POLL_MS = 5_000;
const RECONNECT_MS = 1_500;
/** The service sends something at least every 15 s; silence for this long means a dead connection. */
const SILENCE_MS_MAX = 40_000;

/** Follows a performance until the signal is aborted; resolves then. */
export async function followPerformance(source: LiveSource, watch: Watch): Promise<void> {
  const stream: Stream = { lastId: null, state: null };
  let failures = 0;
  while (!watch.signal.aborted) {
    const before = stream.state;
    try {
      await readStream(source, watch, stream);
    } catch (error) {
      if (watch.signal.aborted) return;
      if (isApiError(error) && error.status === 404) throw error;
    }
    failures = stream.state === before ? failures + 1 : 0;
    const polls = failures >= FAILURES_MAX;
    if (polls) await pollOnce(source, watch).catch(() => {});
    await source.pause(polls ? POLL_MS : RECONNECT_MS * (1 + Math.random()), watch.signal).catch(() => {});
  }
}

// ── the stream ───────────────────────────────────────────────────────────────────────────────────────────────────────

interface Stream {
  lastId: string | null;
  state: LiveState | null;
}

async function readStream(source: LiveSource, watch: Watch, stream: Stream): Promise<void> {
  const silence = new AbortController();
  const request: Request = { path: [watch.slug], query: { performance_id: watch.performanceId } };
  const response = await source.fetch(addressOf(source.baseUrl, OPERATIONS.watchDate, request), {
    headers: { accept: 'text/event-stream', ...(stream.lastId !== null && { 'last-event-id': stream.lastId }) },
    signal: AbortSignal.any([watch.signal, silence.signal]),
    cache: 'no-store',
  });
  if (!response.ok || response.body === null) throw apiErrorOf(response.status, null, null);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
      const messages = (rest + value).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) apply(message, stream, watch, source.noteTime);
    }
  } finally {
    clearTimeout(timer);
    // Also where a message could not be applied: the answer would stay open.
    silence.abort();
  }
}

/** Applies one message, whose fields stand on a line each, as the standard of server-sent events defines. */
function apply(message: string, stream: Stream, watch: Watch, noteTime: LiveSource['noteTime']): void {
  const fields = new Map(message.split('\n').map((line) => cutAt(line, line.indexOf(':'))));
  const data = fields.get('data');
  if (data === undefined) return;
  const state = nextState(stream.state, fields.get('event') ?? '', JSON.parse(data) as unknown);
  if (state === null) return;
  stream.lastId = fields.get('id') ?? stream.lastId;
  stream.state = state;
  if (state.now !== null) noteTime(state.now);
  watch.onState(state);
}

function cutAt(line: string, colon: number): [string, string] {
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
}

/** The state after a message; null for a message that changes nothing. */
export function nextState(state: LiveState | null, event: string, data: unknown): LiveState | null {
  if (event === 'snapshot') return stateOf(data as LiveSnapshot);
  if (event !== 'change' || state === null) return null;
  const { now, status, steering = null, ticketAvailability, seats } = data as LiveChange;
  const changed = new Map(ticketAvailability.map((row) => [rowKey(row), row]));
  return {
    ...state,
    now: Date.parse(now),
    status,
    steering,
    rows: changed.size === 0 ? state.rows : state.rows.map((row) => changed.get(rowKey(row)) ?? row),
    seats: seats.length === 0 || state.seats === null ? state.seats : withSeatChanges(state.seats, seats),
  };
}

function stateOf(snapshot: LiveSnapshot): LiveState {
  return {
    now: Date.parse(snapshot.now),
    definitionVersion: snapshot.definition_version,
    status: snapshot.status,
    steering: snapshot.steering ?? null,
    rows: snapshot.ticketAvailability,
    seats: snapshot.seats && seatStates(snapshot.seats),
  };
}

/** What identifies a row of an event's availability within one performance. */
export function rowKey(row: Pick<TicketAvailability, 'ticket_type_id' | 'selling_stage_id'>): string {
  return `${row.ticket_type_id} ${row.selling_stage_id}`;
}

// ── seats ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The seats that are not AVAILABLE, by id. */
export type SeatStates = ReadonlyMap<string, SeatState>;

export function seatStates(seats: Pick<FullOccupancy, 'held' | 'sold' | 'blocked'>): SeatStates {
  const states = new Map<string, SeatState>();
  for (const id of seats.held) states.set(id, 'HELD');
  for (const id of seats.sold) states.set(id, 'SOLD');
  for (const id of seats.blocked) states.set(id, 'BLOCKED');
  return states;
}

export function withSeatChanges(seats: SeatStates, changes: readonly SeatChange[]): SeatStates {
  const next = new Map(seats);
  for (const { id, state } of changes) {
    if (state === 'AVAILABLE') next.delete(id);
    else next.set(id, state);
  }
  return next;
}

// ── polling ──────────────────────────────────────────────────────────────────────────────────────────────────────────

async function pollOnce(source: LiveSource, { slug, performanceId, signal, onState }: Watch): Promise<void> {
  const event = await source.getEvent(slug, performanceId, signal);
  const seated = event.localities.some(({ seating }) => seating === 'NUMBERED');
  const seats = seated ? seatStates(await source.getOccupancy(slug, performanceId, signal)) : null;
  const status = event.performances.find(({ id }) => id === performanceId)?.status ?? null;
  onState({
    now: null,
    definitionVersion: null,
    status,
    steering: event.steering ?? null,
    rows: event.ticketAvailability,
    seats,
  });
}
