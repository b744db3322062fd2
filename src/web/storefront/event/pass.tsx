/** The buyer's waiting-room pass for an event: the one that this browser stores, and the bar that shows its state. */
import { useEffect, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, QueueEntry } from '#client/bodies.ts';
import { dayAndHour, texts } from '../app/language.ts';
import { storePurchase, recall } from '../app/storage.ts';
import { Countdown } from '../parts/controls.tsx';
import { ArrowIcon } from '../../buttons.tsx';
import { eventPath, Link } from '../app/router.tsx';
import { client, serviceNow, useIsPast } from '../app/service.ts';

const words = texts.queue;

export interface Pass {
  readonly entry: QueueEntry | null;
  readonly isAdmitted: boolean;
  readonly forget: () => void;
}

export function usePass(event: EventPayload): Pass {
  const [entry, setEntry] = useState<QueueEntry | null>(null);
  useEffect(() => {
    const { passId } = recall(event.id);
    if (!event.waiting_room || passId === undefined) return;
    const abort = new AbortController();
    client.getQueueEntry(passId, { signal: abort.signal }).then(setEntry, (error: unknown) => {
      if (isApiError(error, 'QUEUE_ENTRY_NOT_FOUND')) storePurchase(event.id, { passId: undefined });
    });
    return () => abort.abort();
  }, [event.id]);
  const isOver = useIsPast(entry?.pass_expires_at == null ? null : Date.parse(entry.pass_expires_at));
  return { entry, isAdmitted: entry?.status === 'ADMITTED' && !isOver, forget: () => setEntry(null) };
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
          <b>{words.yourTurn}</b> {words.chooseNow}
        </p>
        {pass.entry?.pass_expires_at && <Countdown until={pass.entry.pass_expires_at} label={words.turnLasts} />}
      </div>
    );
  }
  const opensAt = event.waiting_room_opens_at;
  const isAhead = opensAt !== null && Date.parse(opensAt) > serviceNow();
  return (
    <div class="pass-bar">
      <p>
        <b>{words.hasRoom}</b> {isAhead ? words.opensOn(dayAndHour(opensAt, event.timezone)) : words.steady}
      </p>
      <Link to={eventPath(event.slug, 'queue')} class="button primary">
        {pass.entry?.status === 'WAITING' ? words.backToPlace : texts.basket.joinWaitingRoom} <ArrowIcon />
      </Link>
    </div>
  );
}
