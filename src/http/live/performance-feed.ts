/**
 * What is left of one performance, as a stream of frames: a snapshot, then what changed.
 *
 * Owns the last view and the frames that a listener may resume from. `feeds.ts` reads the views and sends the frames.
 *
 * 1. A frame is encoded once for all listeners.
 * 2. Frames are numbered without gaps. Their ids begin with a tag of the feed, so that an id of another feed, or of the
 *    time before a restart, is not accepted.
 * 3. A snapshot may be newer than the frame whose number it has: the next change repeats what it shows.
 * 4. When the definition has changed or the event was activated again, the next frame is a snapshot.
 */
import type { LiveRevision, LiveView } from '#domain/event/revisioned-views.ts';
import type { TicketAvailability } from '#domain/event/public-view.ts';
import { toAvailabilityBody } from '../buyers/events/body.ts';
import { formatTime } from '../protocol/formats.ts';
import type { LiveChangeBody, LiveSnapshotBody } from './schema.ts';

interface Frame {
  readonly number: number;
  readonly bytes: Buffer;
}

/** Frames to resume from: about 15 seconds in a rush, and much longer otherwise. */
const FRAMES_MAX = 64;
const SNAPSHOT_KEPT_MS = 1_000;

export class PerformanceFeed {
  readonly performanceId: string;
  readonly #tag: string;
  #number = 0;
  #last: LiveView;
  #frames: Frame[] = [];
  #snapshot: Buffer | null = null;
  #snapshotAt = 0;

  /** Begins with a view of everything; `tag` must differ between any two feeds of a performance. */
  constructor(view: LiveView, tag: string) {
    this.performanceId = view.performanceId;
    this.#tag = tag;
    this.#last = view;
  }

  /** The number of the newest frame. */
  get number(): number {
    return this.#number;
  }

  /** Names the last view, so that the next one can say what changed since. */
  get mark(): LiveRevision {
    return this.#last.mark;
  }

  /** The frame of the next view; null when the view shows nothing new. */
  next(view: LiveView): Buffer | null {
    const last = this.#last;
    this.#last = view;
    const { now, status, seats } = view;
    const isSnapshot = view.mark.definition !== last.mark.definition || seats?.form === 'FULL';
    if (isSnapshot) return this.#add('snapshot', toSnapshotBody(view));
    const rows = changedRows(last.ticketAvailability, view.ticketAvailability);
    const changes = seats === null ? [] : [...seats.changes];
    if (rows.length === 0 && changes.length === 0 && status === last.status) return null;
    const ticketAvailability = rows.map(toAvailabilityBody);
    return this.#add('change', { now: formatTime(now), status, ticketAvailability, seats: changes });
  }

  /**
   * What a listener is sent first: what it missed since `lastId` where that is remembered, else a recent snapshot. Null
   * when a snapshot has to be taken first.
   */
  opening(lastId: string | null, now: number): Buffer | null {
    const missed = lastId === null ? null : this.#framesAfter(lastId);
    if (missed !== null) return missed;
    // Pages set their clocks by the time in a snapshot, so that one is given out for a moment only.
    return now - this.#snapshotAt < SNAPSHOT_KEPT_MS ? this.#snapshot : null;
  }

  /** Keeps a view of everything, read since the newest frame, as the snapshot for new listeners. */
  keepSnapshot(view: LiveView): void {
    this.#snapshotAt = view.now;
    this.#snapshot = this.#encode('snapshot', toSnapshotBody(view));
  }

  #add(event: 'snapshot' | 'change', body: LiveSnapshotBody | LiveChangeBody): Buffer {
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

  /** All frames after the one with this id, joined; null where some of them are no longer remembered. */
  #framesAfter(lastId: string): Buffer | null {
    const [tag, digits] = lastId.split('-');
    const seen = Number(digits);
    if (tag !== this.#tag || !Number.isSafeInteger(seen) || seen > this.#number) return null;
    const missed = this.#frames.filter(({ number }) => number > seen);
    return missed.length === this.#number - seen ? Buffer.concat(missed.map(({ bytes }) => bytes)) : null;
  }
}

function toSnapshotBody(view: LiveView): LiveSnapshotBody {
  const { seats } = view;
  return {
    event_id: view.eventId,
    performance_id: view.performanceId,
    now: formatTime(view.now),
    definition_version: view.definitionVersion,
    status: view.status,
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
