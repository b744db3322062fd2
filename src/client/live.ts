/**
 * What is left of a date, kept up to date: a live stream where that can be had, polling where not.
 *
 * Owns the stream (server-sent events read by `fetch`, so that it works in browsers and in Node) and the folding of its
 * messages into one picture. Called through `client.watchDate`.
 *
 *  1. `onPicture` gets a whole picture each time; what did not change keeps its identity.
 *  2. A broken stream resumes after its last message; after `failuresMax` in a row the date is polled instead.
 */
import { apiErrorOf, isApiError } from './api-error.ts';
import type { EventPayload, FullOccupancy, LiveChange, LiveSnapshot, SeatState, TicketAvailability } from './bodies.ts';
import { OPERATIONS } from './operations.ts';
import { addressOf, type Pause, type Request } from './transport.ts';

/** What is left of a date at a moment. */
export interface DatePicture {
  /** The service's time, in milliseconds; null when only polling was possible. */
  readonly now: number | null;
  /** Differs when the event itself was changed and must be read again; null while polling. */
  readonly definitionVersion: number | null;
  readonly status: string | null;
  readonly rows: readonly TicketAvailability[];
  /** The seats that are not free; null where there are no numbered seats. */
  readonly seats: ReadonlyMap<string, SeatState> | null;
}

export interface Watch {
  readonly slug: string;
  readonly performanceId: string;
  readonly signal: AbortSignal;
  onPicture(picture: DatePicture): void;
}

export interface LiveSource {
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
  readonly pause: Pause;
  getEvent(slug: string, performanceId: string, signal: AbortSignal): Promise<EventPayload>;
  getOccupancy(slug: string, performanceId: string, signal: AbortSignal): Promise<FullOccupancy>;
}

const FAILURES_MAX = 3;
const POLL_MS = 5_000;
const RECONNECT_MS = 1_500;
/** The service sends something at least every 15 s; silence for this long means a dead connection. */
const SILENCE_MS_MAX = 40_000;

/** Follows a date until the signal is aborted; resolves then. */
export async function followDate(source: LiveSource, watch: Watch): Promise<void> {
  const stream: Stream = { lastId: null, picture: null };
  let failures = 0;
  while (!watch.signal.aborted) {
    const before = stream.picture;
    try {
      await readStream(source, watch, stream);
    } catch (error) {
      if (watch.signal.aborted) return;
      if (isApiError(error) && error.status === 404) throw error;
    }
    failures = stream.picture === before ? failures + 1 : 0;
    const polls = failures >= FAILURES_MAX;
    if (polls) await pollOnce(source, watch).catch(() => {});
    await source.pause(polls ? POLL_MS : RECONNECT_MS * (1 + Math.random()), watch.signal).catch(() => {});
  }
}

// ── the stream ───────────────────────────────────────────────────────────────────────────────────────────────────────

interface Stream {
  lastId: string | null;
  picture: DatePicture | null;
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
      for (const message of messages) take(message, stream, watch);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** One message: its fields one a line, as the server-sent events standard has them. */
function take(message: string, stream: Stream, watch: Watch): void {
  const fields = new Map(message.split('\n').map((line) => cutAt(line, line.indexOf(':'))));
  const data = fields.get('data');
  if (data === undefined) return;
  const picture = fold(stream.picture, fields.get('event') ?? '', JSON.parse(data) as unknown);
  if (picture === null) return;
  stream.lastId = fields.get('id') ?? stream.lastId;
  stream.picture = picture;
  watch.onPicture(picture);
}

function cutAt(line: string, colon: number): [string, string] {
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
}

/** The picture after a message; null for a message that says nothing about the date. */
export function fold(picture: DatePicture | null, event: string, data: unknown): DatePicture | null {
  if (event === 'snapshot') return pictureOf(data as LiveSnapshot);
  if (event !== 'change' || picture === null) return null;
  const { now, status, ticketAvailability, seats } = data as LiveChange;
  const changed = new Map(ticketAvailability.map((row) => [keyOf(row), row]));
  return {
    ...picture,
    now: Date.parse(now),
    status,
    rows: changed.size === 0 ? picture.rows : picture.rows.map((row) => changed.get(keyOf(row)) ?? row),
    seats: seats.length === 0 || picture.seats === null ? picture.seats : withChanges(picture.seats, seats),
  };
}

function pictureOf(snapshot: LiveSnapshot): DatePicture {
  return {
    now: Date.parse(snapshot.now),
    definitionVersion: snapshot.definition_version,
    status: snapshot.status,
    rows: snapshot.ticketAvailability,
    seats: snapshot.seats && seatStates(snapshot.seats),
  };
}

function withChanges(seats: ReadonlyMap<string, SeatState>, changes: LiveChange['seats']): Map<string, SeatState> {
  const next = new Map(seats);
  for (const { id, state } of changes) {
    if (state === 'AVAILABLE') next.delete(id);
    else next.set(id, state);
  }
  return next;
}

/** Seats that are not free, by id. */
export function seatStates(seats: Pick<FullOccupancy, 'held' | 'sold' | 'blocked'>): Map<string, SeatState> {
  const states = new Map<string, SeatState>();
  for (const id of seats.held) states.set(id, 'HELD');
  for (const id of seats.sold) states.set(id, 'SOLD');
  for (const id of seats.blocked) states.set(id, 'BLOCKED');
  return states;
}

function keyOf(row: TicketAvailability): string {
  return `${row.ticket_type_id} ${row.selling_stage_id}`;
}

// ── polling ──────────────────────────────────────────────────────────────────────────────────────────────────────────

async function pollOnce(source: LiveSource, { slug, performanceId, signal, onPicture }: Watch): Promise<void> {
  const event = await source.getEvent(slug, performanceId, signal);
  const seated = event.localities.some(({ seating }) => seating === 'NUMBERED');
  const seats = seated ? seatStates(await source.getOccupancy(slug, performanceId, signal)) : null;
  const status = event.performances.find(({ id }) => id === performanceId)?.status ?? null;
  onPicture({ now: null, definitionVersion: null, status, rows: event.ticketAvailability, seats });
}
