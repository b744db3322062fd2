/** The buyer's waiting-room pass for an event: the one that this browser stores, and the bar that shows its state. */
import { useEffect, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, QueueEntry } from '#client/bodies.ts';
import { dayAndHour } from '../format.ts';
import { keep, recall } from '../kept.ts';
import { Countdown } from '../parts/controls.tsx';
import { ArrowIcon } from '../parts/icons.tsx';
import { eventPath, Link } from '../router.tsx';
import { client, serviceNow, useServiceNow } from '../service.ts';

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

interface PassBarProps {
  readonly event: EventPayload;
  readonly pass: Pass;
  readonly hasHold: boolean;
}

export function PassBar({ event, pass, hasHold }: PassBarProps) {
  if (!event.waiting_room || hasHold) return null;
  if (pass.isAdmitted) {
    return (
      <div class="pass-bar admitted">
        <p>
          <b>It is your turn.</b> Choose your tickets and hold them.
        </p>
        {pass.entry?.pass_expires_at && <Countdown until={pass.entry.pass_expires_at} label="Your turn lasts" />}
      </div>
    );
  }
  const opensAt = event.waiting_room_opens_at;
  const isAhead = opensAt !== null && Date.parse(opensAt) > serviceNow();
  return (
    <div class="pass-bar">
      <p>
        <b>This event has a waiting room.</b>{' '}
        {isAhead
          ? `It opens on ${dayAndHour(opensAt, event.timezone)}; whoever is there by then is drawn in a fair random order.`
          : 'Everybody is admitted at the same steady pace, in order.'}
      </p>
      <Link to={eventPath(event.slug, 'queue')} class="button primary">
        {pass.entry?.status === 'WAITING' ? 'Back to my place in line' : 'Join the waiting room'} <ArrowIcon />
      </Link>
    </div>
  );
}
