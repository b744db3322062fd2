/**
 * The buyer's hold on an event: placing, changing, releasing, and noticing that it ran out.
 *
 * Owns the hold that this browser remembers. What is wanted comes as items; whether that is a new hold or a change of the
 * standing one is decided here.
 *
 *  1. The service decides: after every doubt the hold is read again, and shown as it is there.
 *  2. A hold that is over is forgotten; `ended` says why, once.
 */
import { useEffect, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { Hold, HoldItemRequest } from '#client/bodies.ts';
import { keep, recall } from '../kept.ts';
import { serviceNow, useServiceNow } from '../service-clock.ts';
import { client } from '../shop.ts';

export interface HoldKeeper {
  /** The ACTIVE hold; null when there is none. */
  readonly hold: Hold | null;
  /** Whether the remembered hold has been looked up. */
  readonly isKnown: boolean;
  readonly isBusy: boolean;
  /** How the last hold ended, when it was not by the buyer's own wish. */
  readonly ended: 'EXPIRED' | null;
  /** The order that took the hold over. */
  readonly orderId: string | null;
  /** Makes these the items of the hold; an empty list gives everything back. Throws ApiError. */
  readonly want: (items: readonly HoldItemRequest[]) => Promise<Hold | null>;
  readonly release: () => Promise<void>;
}

/** Looks a moment after the end, so that the service's clock is surely past it. */
const GRACE_MS = 300;

export function useHold(eventId: string | null, onPlaced: (hold: Hold) => void = () => {}): HoldKeeper {
  const [hold, setHold] = useState<Hold | null>(null);
  const [isKnown, setKnown] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [ended, setEnded] = useState<'EXPIRED' | null>(null);
  const [orderId, setOrderId] = useState<string | null>(null);
  const now = useServiceNow();

  const show = (next: Hold | null): void => {
    const isActive = next?.status === 'ACTIVE';
    setHold(isActive ? next : null);
    if (next === null || eventId === null) return;
    if (next.status === 'EXPIRED') setEnded('EXPIRED');
    if (next.order_id !== null) setOrderId(next.order_id);
    const isOver = next.status === 'EXPIRED' || next.status === 'RELEASED' || next.status === 'CONSUMED';
    keep(eventId, { holdId: isOver ? undefined : next.id, ...(isActive && { startKey: undefined }) });
  };

  const read = async (id: string): Promise<void> => {
    try {
      show(await client.getHold(id));
    } catch (error) {
      if (isApiError(error, 'HOLD_NOT_FOUND') && eventId !== null) {
        keep(eventId, { holdId: undefined });
        setHold(null);
      }
    }
  };

  useEffect(() => {
    if (eventId === null) return;
    const { holdId } = recall(eventId);
    if (holdId === undefined) setKnown(true);
    else void read(holdId).then(() => setKnown(true));
  }, [eventId]);

  const isOver = hold !== null && now >= Date.parse(hold.expires_at) + GRACE_MS;
  useEffect(() => {
    if (isOver) void read(hold.id);
  }, [isOver]);

  const busily = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    setBusy(true);
    try {
      return await work();
    } finally {
      setBusy(false);
    }
  };

  return {
    hold: isOver ? null : hold,
    isKnown,
    isBusy,
    ended,
    orderId,
    want: (items) =>
      busily(async () => {
        setEnded(null);
        if (items.length === 0) {
          if (hold !== null) await client.releaseHold(hold.id);
          show(null);
          if (eventId !== null) keep(eventId, { holdId: undefined });
          return null;
        }
        const standing = hold !== null && serviceNow() < Date.parse(hold.expires_at) ? hold : null;
        const next = standing === null ? await place(eventId!, items) : await change(standing, items, eventId!);
        if (next.id !== standing?.id) onPlaced(next);
        show(next);
        return next;
      }),
    release: () =>
      busily(async () => {
        if (hold === null || eventId === null) return;
        await client.releaseHold(hold.id).catch((error: unknown) => {
          if (!isApiError(error, 'HOLD_NOT_ACTIVE') && !isApiError(error, 'HOLD_NOT_FOUND')) throw error;
        });
        keep(eventId, { holdId: undefined });
        setHold(null);
      }),
  };
}

function place(eventId: string, items: readonly HoldItemRequest[]): Promise<Hold> {
  return client.createHold({ event_id: eventId, items, queue_pass: recall(eventId).passId ?? null });
}

/** Sets every line as wanted and drops the lines that are wanted no more; a hold that is over is placed anew. */
async function change(hold: Hold, items: readonly HoldItemRequest[], eventId: string): Promise<Hold> {
  const wanted = new Set(items.map(lineKey));
  const dropped = hold.items
    .filter((line) => !wanted.has(lineKey(line)))
    .map(({ ticket_type_id, selling_stage_id, performance_id }) => ({
      ticket_type_id,
      selling_stage_id,
      performance_id,
      quantity: 0,
    }));
  try {
    return await client.changeHold(hold.id, [...items, ...dropped]);
  } catch (error) {
    const isGone = isApiError(error) && ['HOLD_EXPIRED', 'HOLD_NOT_ACTIVE', 'HOLD_NOT_FOUND'].includes(error.code);
    if (!isGone) throw error;
    return place(eventId, items);
  }
}

/** What names a line of a hold. */
export function lineKey(line: Pick<HoldItemRequest, 'ticket_type_id' | 'selling_stage_id' | 'performance_id'>): string {
  return `${line.performance_id ?? ''} ${line.ticket_type_id} ${line.selling_stage_id}`;
}
