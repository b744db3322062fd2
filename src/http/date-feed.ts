/**
 * What is left of one date, as a stream of frames for everybody who watches it: a snapshot, then what changed.
 *
 * Owns the reading of the date and the frames that may be resumed from; connections belong to `live-listeners.ts`, the
 * pace to `live-feeds.ts`. The figures are the public, advisory ones.
 *
 *  1. A frame is encoded once, whoever and however many are sent it.
 *  2. Frames are numbered without gaps; their ids begin with a tag of this feed, so that an id of another feed, or of
 *     the time before a restart, is never taken for one of these.
 *  3. A snapshot may be newer than the frame that it is numbered by: the next change repeats what it shows already.
 *  4. After a change of the event's definition, or of the box office's memory, everybody gets a snapshot.
 */
import { eventRevision, eventView, type AvailabilityRow, type EventView } from '#domain/catalogue/view.ts';
import { occupancyView } from '#domain/inventory/view.ts';
import { isPublished, type EventState } from '#domain/event-state.ts';
import { inventoryOf } from '#domain/inventory/performance.ts';
import { isRefusal, refuse, type Refusal } from '#domain/refusal.ts';
import { printAvailability } from './bodies.ts';
import { printTime } from './printing.ts';
import type { LiveChangeBody, LiveSnapshotBody } from './schemas/live.ts';

/** What the last frame told. */
interface Told {
  /** The living state that it was read from; after a lost turn there is another one. */
  readonly state: EventState;
  readonly revision: string;
  readonly definitionVersion: number;
  readonly status: string;
  readonly rows: readonly AvailabilityRow[];
  /** The occupancy's version; null where the event has no numbered seats. */
  readonly seatVersion: number | null;
}

interface Frame {
  readonly number: number;
  readonly bytes: Buffer;
}

/** Frames to resume from: about a quarter of a minute in a rush, and much longer otherwise. */
const FRAMES_MAX = 64;
const SNAPSHOT_KEPT_MS = 1_000;

export class PerformanceFeed {
  readonly performanceId: string;
  readonly #tag: string;
  #number = 0;
  #told: Told;
  #frames: Frame[] = [];
  #snapshot: Buffer | null = null;
  #snapshotAt = 0;

  /** Begins with what is left now; `tag` must differ between any two feeds of a date. */
  constructor(state: EventState, performanceId: string, tag: string, now: number) {
    this.performanceId = performanceId;
    this.#tag = tag;
    this.#told = this.#tell(state, viewOf(state, performanceId, now) as EventView, now);
  }

  /** The next frame when something changed since the last one, else null; a refusal when the date is to be seen no more. */
  next(state: EventState, now: number): Buffer | Refusal | null {
    const told = this.#told;
    const isSame = told.state === state && told.definitionVersion === state.definitionVersion;
    if (isSame && told.revision === eventRevision(state, now)) return null;
    const view = viewOf(state, this.performanceId, now);
    if (isRefusal(view)) return view;
    this.#told = this.#tell(state, view, now);
    const seats = isSame ? this.#seatChanges(state, told.seatVersion) : null;
    if (seats === null) return this.#takeUp('snapshot', this.#snapshotOf(state, view, now));
    const rows = changedRows(told.rows, this.#told.rows);
    if (rows.length === 0 && seats.length === 0 && told.status === this.#told.status) return null;
    return this.#takeUp('change', {
      now: printTime(now),
      status: this.#told.status,
      ticketAvailability: rows.map(printAvailability),
      seats,
    });
  }

  /** What a listener must be sent first: what it missed since `lastId` where that is remembered, else a snapshot. */
  opening(state: EventState, now: number, lastId: string | null): Buffer {
    const missed = lastId === null ? null : this.#framesAfter(lastId);
    if (missed !== null) return missed;
    // Its time is what pages set their clocks by, so that one that is made already is given out for a moment only.
    if (this.#snapshot === null || now - this.#snapshotAt >= SNAPSHOT_KEPT_MS) {
      this.#snapshotAt = now;
      const view = viewOf(state, this.performanceId, now) as EventView;
      this.#snapshot = this.#encode('snapshot', this.#snapshotOf(state, view, now));
    }
    return this.#snapshot;
  }

  #tell(state: EventState, view: EventView, now: number): Told {
    return {
      state,
      revision: eventRevision(state, now),
      definitionVersion: state.definitionVersion,
      status: statusOf(view, this.performanceId),
      rows: view.ticketAvailability,
      seatVersion: isSeated(view) ? inventoryOf(state, this.performanceId).version : null,
    };
  }

  /** The seats that changed since a version; null when that is too old to say. */
  #seatChanges(state: EventState, since: number | null): LiveChangeBody['seats'] | null {
    if (since === null) return [];
    const occupancy = occupancyView(state, { performanceId: this.performanceId, since });
    return isRefusal(occupancy) || occupancy.form === 'FULL' ? null : [...occupancy.changes];
  }

  #snapshotOf(state: EventState, view: EventView, now: number): LiveSnapshotBody {
    return {
      event_id: state.eventId,
      performance_id: this.performanceId,
      now: printTime(now),
      definition_version: state.definitionVersion,
      status: statusOf(view, this.performanceId),
      ticketAvailability: view.ticketAvailability.map(printAvailability),
      seats: isSeated(view) ? seatsOf(state, this.performanceId) : null,
    };
  }

  #takeUp(event: 'snapshot' | 'change', body: LiveSnapshotBody | LiveChangeBody): Buffer {
    this.#number += 1;
    const bytes = this.#encode(event, body);
    this.#snapshot = null;
    if (event === 'snapshot') this.#frames = [];
    else this.#frames.push({ number: this.#number, bytes });
    if (this.#frames.length > FRAMES_MAX) this.#frames.shift();
    return bytes;
  }

  #encode(event: string, body: object): Buffer {
    return Buffer.from(`id: ${this.#tag}-${this.#number}\nevent: ${event}\ndata: ${JSON.stringify(body)}\n\n`);
  }

  /** The frames after one, in one piece; null when they are not all remembered. */
  #framesAfter(lastId: string): Buffer | null {
    const [tag, digits] = lastId.split('-');
    const seen = Number(digits);
    if (tag !== this.#tag || !Number.isSafeInteger(seen) || seen > this.#number) return null;
    const missed = this.#frames.filter(({ number }) => number > seen);
    return missed.length === this.#number - seen ? Buffer.concat(missed.map(({ bytes }) => bytes)) : null;
  }
}

/** The payload of a date that buyers can see. Refuses with EVENT_NOT_FOUND, PERFORMANCE_*. */
function viewOf(state: EventState, performanceId: string, now: number): EventView | Refusal {
  if (!isPublished(state)) return refuse('EVENT_NOT_FOUND', {});
  return eventView(state, { performanceId, sessionKey: null }, now);
}

function isSeated(view: EventView): boolean {
  return view.localities.some(({ definition }) => definition.seating === 'NUMBERED');
}

function statusOf(view: EventView, performanceId: string): string {
  return view.performances.find(({ id }) => id === performanceId)?.status ?? 'CANCELLED';
}

function seatsOf(state: EventState, performanceId: string): LiveSnapshotBody['seats'] {
  const occupancy = occupancyView(state, { performanceId, since: null });
  if (isRefusal(occupancy) || occupancy.form !== 'FULL') return null;
  return { held: [...occupancy.held], sold: [...occupancy.sold], blocked: [...occupancy.blocked] };
}

/** The rows that differ; both lists are in the order of the sale plan. */
function changedRows(before: readonly AvailabilityRow[], after: readonly AvailabilityRow[]): AvailabilityRow[] {
  return after.filter((row, index) => {
    const old = before[index];
    return old?.available !== row.available || old.reserved !== row.reserved || old.onSale !== row.onSale;
  });
}
