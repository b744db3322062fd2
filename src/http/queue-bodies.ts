/** The waiting room's views in the API's names. */
import type { DrawView, QueueEntryView, WaitingRoomFigures } from '#domain/views.ts';
import { formatMoment } from './formats.ts';
import type { DrawBody, QueueEntryBody } from './schemas/queue.ts';

export function toQueueEntryBody(entry: QueueEntryView): QueueEntryBody {
  return {
    id: entry.id,
    event_id: entry.eventId,
    status: entry.status,
    position: entry.position,
    waiting_ahead: entry.waitingAhead,
    estimated_minutes: entry.estimatedMinutes,
    open: entry.open,
    opens_at: formatMoment(entry.opensAt),
    admitted_at: formatMoment(entry.admittedAt),
    pass_expires_at: formatMoment(entry.passExpiresAt),
    rate: entry.rate,
    draw_commitment: entry.drawCommitment,
    ...(entry.soldOut !== null && { sold_out: entry.soldOut }),
  };
}

export function toDrawBody(draw: DrawView): DrawBody {
  return {
    event_id: draw.eventId,
    status: draw.status,
    draw_commitment: draw.drawCommitment,
    seed: draw.seed,
    opening: draw.opening,
    drawn_at: formatMoment(draw.drawnAt),
    count: draw.count,
    entries_digest: draw.entriesDigest,
    entries: [...draw.entries],
  };
}

/** The waiting room for operators. */
export function toWaitingRoomBody(figures: WaitingRoomFigures) {
  return {
    status: figures.status,
    opens_at: formatMoment(figures.opensAt),
    waiting: figures.waiting,
    admitted: figures.admitted,
    admitted_last_minute: figures.admittedLastMinute,
    joined: figures.joined,
    draw_commitment: figures.drawCommitment,
  };
}
