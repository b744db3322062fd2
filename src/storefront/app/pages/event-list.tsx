/** All events, by first date. */
import { useState } from 'preact/hooks';
import type { EventListEntry } from '#client/bodies.ts';
import { day, dayParts, days, price } from '../format.ts';
import { useLoaded } from '#client/browser/hooks.ts';
import { inWords } from '../messages.ts';
import { Frame, PageHeading } from '../parts/frame.tsx';
import { Loading, Notice } from '../parts/controls.tsx';
import { Poster } from '../parts/poster.tsx';
import { eventPath, Link } from '../router.tsx';
import { client } from '../service.ts';

const PAGE = 24;

export function EventListPage() {
  const [more, setMore] = useState<readonly EventListEntry[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const first = useLoaded('events', (signal) => client.listEvents({ limit: PAGE, signal }));
  const events = [...(first.value?.events ?? []), ...more];
  const next = cursor === undefined ? (first.value?.next_cursor ?? null) : cursor;

  const showMore = async (): Promise<void> => {
    if (next === null) return;
    const page = await client.listEvents({ limit: PAGE, cursor: next });
    setMore((old) => [...old, ...page.events]);
    setCursor(page.next_cursor);
  };

  return (
    <Frame title="Tickets">
      <div class="list-head">
        <PageHeading>What’s on</PageHeading>
        <p class="lead">Choose an event. Tickets you pick are held for you while you decide.</p>
      </div>
      {first.value === null && first.error === null && <Loading what="Looking for events …" />}
      {first.error !== null && <Notice tone="bad">{inWords(first.error)}</Notice>}
      {first.value !== null && events.length === 0 && <Notice tone="info">Nothing is on sale yet.</Notice>}
      <ul class="cards">
        {events.map((event) => (
          <li key={event.id}>
            <Card event={event} />
          </li>
        ))}
      </ul>
      {next !== null && (
        <p class="centred">
          <button type="button" class="button" onClick={() => void showMore()}>
            Show more events
          </button>
        </p>
      )}
    </Frame>
  );
}

function Card({ event }: { readonly event: EventListEntry }) {
  const sheet = event.starts_at === null ? null : dayParts(event.starts_at);
  return (
    <article class={`card${event.sold_out ? ' over' : ''}`}>
      <div class="card-art">
        <Poster name={event.slug} />
        {sheet !== null && (
          <p class="card-sheet" aria-hidden="true">
            <b>{sheet.day}</b>
            <span>{sheet.month}</span>
          </p>
        )}
      </div>
      <div class="card-text">
        <h2>
          <Link to={eventPath(event.slug)} class="card-link">
            {event.name}
          </Link>
        </h2>
        <p class="quiet">{datesOf(event)}</p>
        <p class="card-foot">
          {event.sold_out ? <span>Sold out</span> : <b>{fromPrice(event)}</b>}
          {event.waiting_room && <span class="chip">Waiting room</span>}
        </p>
      </div>
    </article>
  );
}

function datesOf({ starts_at: start, ends_at: end }: EventListEntry): string {
  if (start === null) return 'Dates to be announced';
  const isLong = end !== null && Date.parse(end) - Date.parse(start) > 36 * 3_600_000;
  return isLong ? days(start, end) : day(start);
}

function fromPrice(event: EventListEntry): string {
  return event.from_price === 0 ? 'Free' : `from ${price(event.from_price, event.currency)}`;
}
