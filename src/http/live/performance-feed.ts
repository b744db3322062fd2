/**
 * What is left of one performance, as a stream of frames: a snapshot, then what changed.
 *
 * Owns the last view and what listeners are sent first. `feeds.ts` reads the views and sends the frames.
 *
 * 1. A frame is encoded once for all listeners.
 * 2. The id of a message is the revision of its view. So a listener resumes wherever the event is read, at another
 *    thread or node too: what it missed is asked of the event, which answers with everything where it does not know.
 * 3. A frame may be new to some listeners and older than the snapshot that another one began with: that one is sent
 *    something again that it knows.
 */
import type { LiveView, Unchanged } from '#domain/event/revisioned-views.ts';
import type { TicketAvailability } from '#domain/event/public-view.ts';
import { toAvailabilityBody, steeringPart } from '../buyers/events/body.ts';
import { formatTime } from '../protocol/formats.ts';
import type { LiveChangeBody, LiveSnapshotBody } from './schema.ts';

/** Listeners that resume after so many different messages get what they missed; it is made once for each of these. */
const OPENINGS_MAX = 64;
const OPENINGS_KEPT_MS = 1_000;
const NOTHING_MISSED = Buffer.alloc(0);

export class PerformanceFeed {
  readonly performanceId: string;
  #number = 0;
  #last: LiveView;
  /** By the last id of a listener, '' for one without; they hold until the next frame. */
  readonly #openings = new Map<string, Buffer>();
  /** When the first of them was made. */
  #openingsAt = 0;

  /** Begins with a view of everything. */
  constructor(view: LiveView) {
    this.performanceId = view.performanceId;
    this.#last = view;
  }

  /** How many frames were made. */
  get number(): number {
    return this.#number;
  }

  /** Names the last view, so that the next one can say what changed since. */
  get revision(): string {
    return this.#last.revision;
  }

  /** The frame of the next view; null when the view shows nothing new. */
  next(view: LiveView): Buffer | null {
    const last = this.#last;
    this.#last = view;
    const rows = view.isWhole ? view.ticketAvailability : changedRows(last.ticketAvailability, view.ticketAvailability);
    const isSteered = JSON.stringify(view.steering) !== JSON.stringify(last.steering);
    const isMoved = rows.length > 0 || changedSeats(view).length > 0 || view.status !== last.status;
    const isNew = view.isWhole || isSteered || isMoved;
    if (!isNew) return null;
    this.#number += 1;
    this.#openings.clear();
    return encode(view, rows);
  }

  /** The id after which a listener is resumed: its last one, or none where too many different ones come at once. */
  resumedAfter(lastId: string | null, now: number): string | null {
    // Pages set their clocks by the time in a message, so a message is given out only for a moment.
    if (now - this.#openingsAt >= OPENINGS_KEPT_MS) this.#openings.clear();
    return this.#openings.size < OPENINGS_MAX || this.#openings.has(lastId ?? '') ? lastId : null;
  }

  /** What a listener with this last id is sent first; undefined when it has to be read first. */
  opening(lastId: string | null): Buffer | undefined {
    return this.#openings.get(lastId ?? '');
  }

  /** Keeps what a listener with this last id is sent first, made of a view that was read after the newest frame. */
  keepOpening(lastId: string | null, view: LiveView | Unchanged, now: number): Buffer {
    const bytes = 'outcome' in view ? NOTHING_MISSED : encode(view, view.ticketAvailability);
    if (this.#openings.size === 0) this.#openingsAt = now;
    this.#openings.set(lastId ?? '', bytes);
    return bytes;
  }
}

/** The message of a view, with these rows. */
function encode(view: LiveView, rows: LiveView['ticketAvailability']): Buffer {
  const { revision, isWhole, now, status } = view;
  const body: LiveSnapshotBody | LiveChangeBody = isWhole
    ? toSnapshotBody(view)
    : {
        now: formatTime(now),
        status,
        ...steeringPart(view.steering),
        ticketAvailability: rows.map(toAvailabilityBody),
        seats: changedSeats(view),
      };
  return Buffer.from(`id: ${revision}\nevent: ${isWhole ? 'snapshot' : 'change'}\ndata: ${JSON.stringify(body)}\n\n`);
}

function changedSeats({ seats }: LiveView): LiveChangeBody['seats'] {
  return seats?.form === 'CHANGES' ? [...seats.changes] : [];
}

function toSnapshotBody(view: LiveView): LiveSnapshotBody {
  const { seats } = view;
  return {
    event_id: view.eventId,
    performance_id: view.performanceId,
    now: formatTime(view.now),
    definition_version: view.definitionVersion,
    status: view.status,
    ...steeringPart(view.steering),
    ticketAvailability: view.ticketAvailability.map(toAvailabilityBody),
    seats:
      seats?.form === 'FULL' ? { held: [...seats.held], sold: [...seats.sold], blocked: [...seats.blocked] } : null,
  };
}

/** The rows that differ; both lists are in the order of the sale plan. */
function changedRows(
  before: readonly TicketAvailability[],
  after: readonly TicketAvailability[],
): TicketAvailability[] {
  return after.filter((row, index) => {
    const old = before[index];
    return old?.available !== row.available || old.reserved !== row.reserved || old.onSale !== row.onSale;
  });
}
