/**
 * The waiting room: the buyer's position, an estimate, and the way to the tickets once the entry is admitted.
 *
 * The client polls at the pace that the service names; this page shows each answer. Whoever leaves the page keeps the
 * position, on return before the event drops it as inactive.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, QueueEntry } from '#client/bodies.ts';
import { dayAndHour, inWords, number, seatWords, texts } from '../app/language.ts';
import { recall, storePurchase } from '../app/storage.ts';
import { useLoaded } from '../../hooks.ts';
import { Countdown, Loading, withLink } from '../parts/controls.tsx';
import { Notice } from '../../notice.tsx';
import { Dock, useNarrow, type DockProps } from '../parts/dock.tsx';
import { BackLink, Frame, PageHeading, Unloaded } from '../parts/frame.tsx';
import { useRetry } from '../parts/offline.tsx';
import { SteeringNotice } from '../../seat-choice/steering.tsx';
import { announceTurn, TurnNotice } from '../parts/turn-notice.tsx';
import { eventPath, go, Link } from '../app/router.tsx';
import { client } from '../app/service.ts';

const words = texts.queue;

export function QueuePage({ slug }: { readonly slug: string }) {
  const loaded = useLoaded(slug, (signal) => client.getEvent(slug, { signal }));
  if (loaded.value === null) return <Unloaded error={loaded.error} title={words.title} loading={words.loading} />;
  return <WaitingRoom event={loaded.value} />;
}

/** Joins the waiting room, or continues in it, and leads to the tickets when it is the buyer's turn. */
function useLine(event: EventPayload) {
  const [entry, setEntry] = useState<QueueEntry | null>(null);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [round, setRound] = useState(0);

  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onEntry = (next: QueueEntry): void => {
      const { passId, firstPlace } = recall(event.id);
      const first = passId === next.id ? firstPlace : undefined;
      storePurchase(event.id, { passId: next.id, firstPlace: first ?? next.position ?? undefined });
      setEntry(next);
    };
    client.waitForAdmission(event.id, { signal: abort.signal, onEntry }).then(
      (last) => {
        if (last.status !== 'ADMITTED') return;
        announceTurn(event);
        go(eventPath(event.slug), { replace: true });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        if (isApiError(error, 'QUEUE_NOT_ENABLED')) go(eventPath(event.slug), { replace: true });
        else setTrouble(error);
        if (isApiError(error, 'SALE_PAUSED')) timer = setTimeout(retry, (error.retryAfter ?? 0) * 1000);
      },
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [event.id, round]);

  const retry = (): void => (setTrouble(null), setRound((n) => n + 1));
  useRetry(trouble, retry);
  return { entry, trouble, retry };
}

function WaitingRoom({ event }: { readonly event: EventPayload }) {
  const { entry, trouble, retry } = useLine(event);
  useQuestionBeforeClosing(entry?.status === 'WAITING');
  const isNarrow = useNarrow();

  const leave = async (): Promise<void> => {
    if (entry !== null) await client.leaveQueue(entry.id).catch(() => {});
    storePurchase(event.id, { passId: undefined, firstPlace: undefined });
    go(eventPath(event.slug));
  };
  const title = entry?.position == null ? words.title : words.titleOf(entry.position);

  return (
    <Frame title={`${title}, ${event.name}`} of={event}>
      <div class="narrow queue">
        <BackLink event={event} />
        <PageHeading>{words.title}</PageHeading>
        {trouble !== null && (
          <Notice tone="bad">
            {inWords(trouble)} {!isNarrow && <TryAgain onPress={retry} />}
          </Notice>
        )}
        {entry !== null && <SteeringNotice words={seatWords} steering={entry.steering ?? null} />}
        {entry === null && trouble === null && <Loading what={words.finding} />}
        {entry !== null && <Position entry={entry} event={event} />}
        {entry?.status === 'WAITING' && (
          <>
            <TurnNotice />
            <Leaving place={entry.position} onLeave={() => void leave()} />
          </>
        )}
        {event.waiting_room_opens_at !== null && (
          <p class="small quiet">
            {withLink(words.fair, (link) => (
              <Link to={eventPath(event.slug, 'draw')}>{link}</Link>
            ))}
          </p>
        )}
      </div>
      {isNarrow && (
        <Dock {...inShort(entry)}>
          {trouble !== null && <TryAgain onPress={retry} />}
          {trouble === null && entry?.status === 'ADMITTED' && (
            <Link to={eventPath(event.slug)} class="button primary wide">
              {texts.nothingHeld.choose}
            </Link>
          )}
        </Dock>
      )}
    </Frame>
  );
}

/** The entry in the bar at the foot. */
function inShort(entry: QueueEntry | null): Pick<DockProps, 'text' | 'more' | 'until'> {
  if (entry?.status === 'ADMITTED') return { text: words.yourTurn, until: entry.pass_expires_at };
  if (entry?.status !== 'WAITING') return { text: words.title };
  if (entry.position === null) return { text: words.inTime, until: entry.opens_at };
  return { text: words.titleOf(entry.position), more: estimate(entry.estimated_minutes) };
}

function TryAgain({ onPress }: { readonly onPress: () => void }) {
  return (
    <button type="button" class="button" onClick={onPress}>
      {words.tryAgain}
    </button>
  );
}

/** The button that leaves the waiting room. It asks first: a place that was given up is gone. */
function Leaving({ place, onLeave }: { readonly place: number | null; readonly onLeave: () => void }) {
  const [isAsked, ask] = useState(false);
  const stay = useRef<HTMLButtonElement>(null);
  const leave = useRef<HTMLButtonElement>(null);
  const wasAsked = useRef(false);
  useLayoutEffect(() => {
    if (isAsked !== wasAsked.current) (isAsked ? stay : leave).current?.focus({ preventScroll: true });
    wasAsked.current = isAsked;
  }, [isAsked]);
  if (!isAsked) {
    return (
      <p>
        <button ref={leave} type="button" class="button plain" onClick={() => ask(true)}>
          {words.leave}
        </button>
      </p>
    );
  }
  const question = words.leaveQuestion(place);
  return (
    <div
      class="queue-question"
      role="group"
      aria-label={question}
      onKeyDown={(press) => press.key === 'Escape' && ask(false)}
    >
      <p>{question}</p>
      <p class="actions">
        <button ref={stay} type="button" class="button primary" onClick={() => ask(false)}>
          {words.stay}
        </button>
        <button type="button" class="button plain" onClick={onLeave}>
          {words.leave}
        </button>
      </p>
    </div>
  );
}

/** Has the browser ask before it closes or leaves the page. */
function useQuestionBeforeClosing(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const ask = (unload: BeforeUnloadEvent): void => unload.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isOn]);
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
  const first = Math.max(recall(event.id).firstPlace ?? 0, entry.position);
  return (
    <section class="queue-position" aria-live="polite">
      <p class="queue-position-label">{words.yourPlace}</p>
      <p class="queue-position-number">{number(entry.position)}</p>
      <progress aria-label={words.wayGone} max={first} value={first - entry.position} />
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
