/**
 * The buyer's hold on an event: placing, changing and releasing it, and noticing its end.
 *
 * Owns the hold that this browser stores, and whether a request becomes a new hold or a change of the one that stands.
 *
 *  1. The service decides: after every doubt the hold is read again and shown as the service has it.
 *  2. A hold that has ended is removed from the browser; `ended` says why, once.
 */
import { useEffect, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { Hold, HoldItemRequest } from '#client/bodies.ts';
import { keep, recall } from '../kept.ts';
import { client, serviceNow, useServiceNow } from '../service.ts';
import { itemKey } from './selection.ts';

export interface HoldKeeper {
  /** The ACTIVE hold; null when there is none. */
  readonly hold: Hold | null;
  /** Whether the stored hold has been read from the service. */
  readonly isKnown: boolean;
  readonly isBusy: boolean;
  /** How the last hold ended, when the buyer did not end it. */
  readonly ended: 'EXPIRED' | null;
  /** The order that was made of the hold. */
  readonly orderId: string | null;
  /** Makes these the items of the hold; an empty list releases it. Throws ApiError. */
  readonly request: (items: readonly HoldItemRequest[]) => Promise<Hold | null>;
  readonly release: () => Promise<void>;
}

/** The hold is read again this long after its end, when the service's clock is surely past it. */
const GRACE_MS = 300;

export function useHold(eventId: string | null, onPlaced: (hold: Hold) => void = () => {}): HoldKeeper {
  const [hold, setHold] = useState<Hold | null>(null);
  const [isKnown, setKnown] = useState(false);
  const [ended, setEnded] = useState<'EXPIRED' | null>(null);
  const [orderId, setOrderId] = useState<string | null>(null);
  const [isBusy, whileBusy] = useBusy();
  const now = useServiceNow();

  const show = (next: Hold): void => {
    const isActive = next.status === 'ACTIVE';
    setHold(isActive ? next : null);
    if (eventId === null) return;
    if (next.status === 'EXPIRED') setEnded('EXPIRED');
    if (next.order_id !== null) setOrderId(next.order_id);
    const hasEnded = next.status === 'EXPIRED' || next.status === 'RELEASED' || next.status === 'CONSUMED';
    keep(eventId, { holdId: hasEnded ? undefined : next.id, ...(isActive && { startKey: undefined }) });
  };
  const forget = (): void => {
    setHold(null);
    if (eventId !== null) keep(eventId, { holdId: undefined });
  };
  const read = (id: string): Promise<void> =>
    client.getHold(id).then(show, (error: unknown) => {
      if (isApiError(error, 'HOLD_NOT_FOUND')) forget();
    });

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

  const request = async (items: readonly HoldItemRequest[]): Promise<Hold | null> => {
    setEnded(null);
    if (items.length === 0) {
      if (hold !== null) await client.releaseHold(hold.id);
      forget();
      return null;
    }
    const standing = hold !== null && serviceNow() < Date.parse(hold.expires_at) ? hold : null;
    const next = standing === null ? await place(eventId!, items) : await change(standing, items, eventId!);
    if (next.id !== standing?.id) onPlaced(next);
    show(next);
    return next;
  };
  const release = async (): Promise<void> => {
    if (hold === null) return;
    await client.releaseHold(hold.id).catch((error: unknown) => {
      if (!isApiError(error, 'HOLD_NOT_ACTIVE') && !isApiError(error, 'HOLD_NOT_FOUND')) throw error;
    });
    forget();
  };

  return {
    hold: isOver ? null : hold,
    isKnown,
    isBusy,
    ended,
    orderId,
    request: (items) => whileBusy(() => request(items)),
    release: () => whileBusy(release),
  };
}

/** Whether some work is going on, and what runs it. */
function useBusy(): [isBusy: boolean, whileBusy: <Result>(work: () => Promise<Result>) => Promise<Result>] {
  const [isBusy, setBusy] = useState(false);
  return [
    isBusy,
    async (work) => {
      setBusy(true);
      try {
        return await work();
      } finally {
        setBusy(false);
      }
    },
  ];
}

function place(eventId: string, items: readonly HoldItemRequest[]): Promise<Hold> {
  return client.createHold({ event_id: eventId, items, queue_pass: recall(eventId).passId ?? null });
}

/** Sets every item as requested and drops the others; a hold that has ended is placed again. */
async function change(hold: Hold, items: readonly HoldItemRequest[], eventId: string): Promise<Hold> {
  const requested = new Set(items.map(itemKey));
  const dropped = hold.items
    .filter((item) => !requested.has(itemKey(item)))
    .map(({ ticket_type_id, selling_stage_id, performance_id }) => ({
      ticket_type_id,
      selling_stage_id,
      performance_id,
      quantity: 0,
    }));
  try {
    return await client.changeHold(hold.id, [...items, ...dropped]);
  } catch (error) {
    const hasEnded = isApiError(error) && ['HOLD_EXPIRED', 'HOLD_NOT_ACTIVE', 'HOLD_NOT_FOUND'].includes(error.code);
    if (!hasEnded) throw error;
    return place(eventId, items);
  }
}
