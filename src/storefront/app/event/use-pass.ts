/** The buyer's pass of an event's waiting room, as this browser remembers it and the service knows it. */
import { useEffect, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, QueueEntry } from '#client/bodies.ts';
import { keep, recall } from '../kept.ts';
import { useServiceNow } from '../service-clock.ts';
import { client } from '../shop.ts';

export interface Pass {
  readonly entry: QueueEntry | null;
  readonly isAdmitted: boolean;
  readonly forget: () => void;
}

export function usePass(event: EventPayload): Pass {
  const [entry, setEntry] = useState<QueueEntry | null>(null);
  const now = useServiceNow();
  useEffect(() => {
    const { passId } = recall(event.id);
    if (!event.waiting_room || passId === undefined) return;
    const abort = new AbortController();
    client.getQueueEntry(passId, { signal: abort.signal }).then(setEntry, (error: unknown) => {
      if (isApiError(error, 'QUEUE_ENTRY_NOT_FOUND')) keep(event.id, { passId: undefined });
    });
    return () => abort.abort();
  }, [event.id]);
  const isCurrent = entry?.pass_expires_at == null || Date.parse(entry.pass_expires_at) > now;
  return { entry, isAdmitted: entry?.status === 'ADMITTED' && isCurrent, forget: () => setEntry(null) };
}
