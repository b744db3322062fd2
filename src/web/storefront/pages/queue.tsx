/**
 * The waiting room: the buyer's position, an estimate, and the way to the tickets once the entry is admitted.
 *
 * The client polls at the pace that the service names; this page shows each answer. Whoever leaves the page keeps the
 * position, on return before the event drops it as inactive.
 */
import { useEffect, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, QueueEntry } from '#client/bodies.ts';
import { dayAndHour, number } from '../app/format.ts';
import { storePurchase } from '../app/storage.ts';
import { texts } from '../app/language.ts';
import { useLoaded } from '../../hooks.ts';
import { inWords } from '../app/messages.ts';
import { Countdown, Loading, Notice, withLink } from '../parts/controls.tsx';
import { Frame, PageHeading, Unloaded } from '../parts/frame.tsx';
import { BackIcon } from '../../buttons.tsx';
import { eventPath, go, Link } from '../app/router.tsx';
import { client } from '../app/service.ts';

const words = texts.queue;

export function QueuePage({ slug }: { readonly slug: string }) {
  const loaded = useLoaded(slug, (signal) => client.getEvent(slug, { signal }));
  if (loaded.value === null) return <Unloaded error={loaded.error} title={words.title} loading={words.loading} />;
  return <WaitingRoom event={loaded.value} />;
}

function WaitingRoom({ event }: { readonly event: EventPayload }) {
  const [entry, setEntry] = useState<QueueEntry | null>(null);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [round, setRound] = useState(0);

  useEffect(() => {
    const abort = new AbortController();
    const onEntry = (next: QueueEntry): void => {
      storePurchase(event.id, { passId: next.id });
      setEntry(next);
    };
    client.waitForAdmission(event.id, { signal: abort.signal, onEntry }).then(
      (last) => last.status === 'ADMITTED' && go(eventPath(event.slug), { replace: true }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        if (isApiError(error, 'QUEUE_NOT_ENABLED')) go(eventPath(event.slug), { replace: true });
        else setTrouble(error);
      },
    );
    return () => abort.abort();
  }, [event.id, round]);

  const leave = async (): Promise<void> => {
    if (entry !== null) await client.leaveQueue(entry.id).catch(() => {});
    storePurchase(event.id, { passId: undefined });
    go(eventPath(event.slug));
  };
  const title = entry?.position == null ? words.title : words.titleOf(entry.position);

  return (
    <Frame title={`${title}, ${event.name}`}>
      <div class="narrow queue">
        <p class="back">
          <Link to={eventPath(event.slug)}>
            <BackIcon /> {event.name}
          </Link>
        </p>
        <PageHeading>{words.title}</PageHeading>
        {trouble !== null && (
          <Notice tone="bad">
            {inWords(trouble)}{' '}
            <button type="button" class="button" onClick={() => (setTrouble(null), setRound((n) => n + 1))}>
              {words.tryAgain}
            </button>
          </Notice>
        )}
        {entry === null && trouble === null && <Loading what={words.finding} />}
        {entry !== null && <Position entry={entry} event={event} />}
        {entry?.status === 'WAITING' && (
          <p>
            <button type="button" class="button plain" onClick={() => void leave()}>
              {words.leave}
            </button>
          </p>
        )}
        {event.waiting_room_opens_at !== null && (
          <p class="small quiet">
            {withLink(words.fair, (link) => (
              <Link to={eventPath(event.slug, 'draw')}>{link}</Link>
            ))}
          </p>
        )}
      </div>
    </Frame>
  );
}

function Position({ entry, event }: { readonly entry: QueueEntry; readonly event: EventPayload }) {
  if (entry.status === 'ADMITTED') return <Notice tone="good">{words.yourTurn}</Notice>;
  if (entry.status !== 'WAITING') return <Notice tone="warn">{words.rejoining}</Notice>;
  if (entry.position === null) {
    return (
      <section class="queue-position" aria-live="polite">
        <p class="queue-position-label">{words.inTime}</p>
        {entry.opens_at !== null && (
          <>
            <Countdown until={entry.opens_at} label={words.opensIn} />
            <p class="quiet">{words.early(dayAndHour(entry.opens_at, event.timezone))}</p>
          </>
        )}
      </section>
    );
  }
  return (
    <section class="queue-position" aria-live="polite">
      <p class="queue-position-label">{words.yourPlace}</p>
      <p class="queue-position-number">{number(entry.position)}</p>
      <p>
        <b>{estimate(entry.estimated_minutes)}</b>
        {entry.waiting_ahead > 0 ? words.ahead(entry.waiting_ahead) : words.next}
      </p>
      <p class="quiet">{words.pace(entry.rate)}</p>
    </section>
  );
}

function estimate(minutes: number): string {
  if (minutes <= 1) return words.lessThanMinute;
  if (minutes < 90) return words.minutes(minutes);
  return words.hours(Math.round(minutes / 6) / 10);
}
