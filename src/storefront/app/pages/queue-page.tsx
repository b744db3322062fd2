/**
 * The waiting room: the buyer's position, an estimate, and the way to the tickets once the entry is admitted.
 *
 * The client polls at the pace that the service names; this page shows each answer. Whoever leaves the page keeps the
 * position, on return within two minutes.
 */
import { useEffect, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, QueueEntry } from '#client/bodies.ts';
import { count, dayAndHour } from '../format.ts';
import { keep } from '../kept.ts';
import { useLoaded } from '#client/browser/hooks.ts';
import { inWords } from '../messages.ts';
import { Countdown, Loading, Notice } from '../parts/controls.tsx';
import { Frame, Missing, PageHeading } from '../parts/frame.tsx';
import { BackIcon } from '../parts/icons.tsx';
import { eventPath, go, Link } from '../router.tsx';
import { client } from '../service.ts';

export function QueuePage({ slug }: { readonly slug: string }) {
  const loaded = useLoaded(slug, (signal) => client.getEvent(slug, { signal }));
  if (loaded.error !== null) return <Missing error={loaded.error} />;
  if (loaded.value === null) {
    return (
      <Frame title="Waiting room">
        <Loading what="Opening the waiting room …" />
      </Frame>
    );
  }
  return <WaitingRoom event={loaded.value} />;
}

function WaitingRoom({ event }: { readonly event: EventPayload }) {
  const [entry, setEntry] = useState<QueueEntry | null>(null);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [round, setRound] = useState(0);

  useEffect(() => {
    const abort = new AbortController();
    const onEntry = (next: QueueEntry): void => {
      keep(event.id, { passId: next.id });
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
    keep(event.id, { passId: undefined });
    go(eventPath(event.slug));
  };
  const title = entry?.position == null ? 'Waiting room' : `No. ${entry.position.toLocaleString('en-GB')} in line`;

  return (
    <Frame title={`${title}, ${event.name}`}>
      <div class="narrow queue">
        <p class="back">
          <Link to={eventPath(event.slug)}>
            <BackIcon /> {event.name}
          </Link>
        </p>
        <PageHeading>Waiting room</PageHeading>
        {trouble !== null && (
          <Notice tone="bad">
            {inWords(trouble)}{' '}
            <button type="button" class="button" onClick={() => (setTrouble(null), setRound((n) => n + 1))}>
              Try again
            </button>
          </Notice>
        )}
        {entry === null && trouble === null && <Loading what="Finding your place …" />}
        {entry !== null && <Position entry={entry} event={event} />}
        {entry?.status === 'WAITING' && (
          <p>
            <button type="button" class="button plain" onClick={() => void leave()}>
              Leave the line
            </button>
          </p>
        )}
        {event.waiting_room_opens_at !== null && (
          <p class="small quiet">
            The order is drawn at random when the waiting room opens, and anybody can check the draw:{' '}
            <Link to={eventPath(event.slug, 'draw')}>proof of the draw</Link>.
          </p>
        )}
      </div>
    </Frame>
  );
}

function Position({ entry, event }: { readonly entry: QueueEntry; readonly event: EventPayload }) {
  if (entry.status === 'ADMITTED') return <Notice tone="good">It is your turn.</Notice>;
  if (entry.status !== 'WAITING') return <Notice tone="warn">Your place was given up. You are joining again …</Notice>;
  if (entry.position === null) {
    return (
      <section class="place" aria-live="polite">
        <p class="place-label">You are here in time</p>
        {entry.opens_at !== null && (
          <>
            <Countdown until={entry.opens_at} label="The waiting room opens in" />
            <p class="quiet">
              {dayAndHour(entry.opens_at, event.timezone)}. Everybody who is here by then is drawn in a random order: it
              makes no difference when you came. Keep this page open.
            </p>
          </>
        )}
      </section>
    );
  }
  return (
    <section class="place" aria-live="polite">
      <p class="place-label">Your place in line</p>
      <p class="place-number">{entry.position.toLocaleString('en-GB')}</p>
      <p>
        <b>{estimate(entry.estimated_minutes)}</b>
        {entry.waiting_ahead > 0
          ? `, with ${count(entry.waiting_ahead, 'person', 'people')} ahead of you`
          : ', you are next'}
        .
      </p>
      <p class="quiet">
        {count(entry.rate, 'person is', 'people are')} admitted a minute. This page moves on by itself when it is your
        turn; keep it open. If you are away for more than two minutes your place goes to the next.
      </p>
    </section>
  );
}

function estimate(minutes: number): string {
  if (minutes <= 1) return 'Less than a minute to go';
  if (minutes < 90) return `About ${minutes} minutes to go`;
  return `About ${Math.round(minutes / 6) / 10} hours to go`;
}
