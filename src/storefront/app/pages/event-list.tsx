/** All events, by first date. */
import { useEffect, useState } from 'preact/hooks';
import type { EventListEntry } from '#client/bodies.ts';
import { filterOf, fits, isEmpty, SEARCH_PAGE, SEARCHED_FROM } from '#client/event-filter.ts';
import { useLoaded } from '#client/browser/hooks.ts';
import { eventLinesOf } from '#texts/event-lines.ts';
import { takeFirstList } from '../first.ts';
import { dayParts } from '../format.ts';
import { language, texts } from '../language.ts';
import { inWords } from '../messages.ts';
import { Frame, PageHeading } from '../parts/frame.tsx';
import { Loading, Notice } from '../parts/controls.tsx';
import { ListFilter, NoneFits } from '../parts/list-filter.tsx';
import { EventArt } from '../parts/poster.tsx';
import { eventPath, Link } from '../router.tsx';
import { client, serviceNow } from '../service.ts';

const PAGE = 24;

/** Pictures that are seen without scrolling; the others are loaded when they are scrolled to. */
const FIRST_CARDS = 3;

/** Events that are read for a search; the list of a shop with more is cut there. */
const SEARCHED_MAX = 2_000;

/** `query` narrows the list. */
export function EventListPage({ query }: { readonly query: URLSearchParams }) {
  const [known] = useState(takeFirstList);
  const [more, setMore] = useState<readonly EventListEntry[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const first = useLoaded('events', (signal) => client.listEvents({ limit: PAGE, signal }), null, known);
  const events = [...(first.value?.events ?? []), ...more];
  const next = cursor === undefined ? (first.value?.next_cursor ?? null) : cursor;
  const filter = filterOf(query);
  const isNarrowed = !isEmpty(filter);
  const shown = isNarrowed ? events.filter((event) => fits(event, filter)) : events;
  const isSearched = isNarrowed || next !== null || events.length >= SEARCHED_FROM;

  const showMore = async (limit: number): Promise<void> => {
    if (next === null) return;
    const page = await client.listEvents({ limit, cursor: next });
    setMore((old) => [...old, ...page.events]);
    setCursor(page.next_cursor);
  };
  // A search is of all events, also of those that were not shown yet.
  useEffect(() => {
    if (next !== null && events.length < SEARCHED_MAX && isNarrowed) {
      showMore(SEARCH_PAGE).catch(() => setCursor(null));
    }
  }, [isNarrowed, next]);

  return (
    <Frame title={texts.frame.shop}>
      <div class="list-head">
        <PageHeading>{texts.list.title}</PageHeading>
        <p class="lead">{texts.list.lead}</p>
      </div>
      {first.value === null && first.error === null && <Loading what={texts.list.loading} />}
      {first.error !== null && <Notice tone="bad">{inWords(first.error)}</Notice>}
      {first.value !== null && events.length === 0 && <Notice tone="info">{texts.list.empty}</Notice>}
      {first.value !== null && isSearched && (
        <ListFilter events={events} filter={filter} found={isNarrowed && next === null ? shown.length : null} />
      )}
      {isNarrowed && next === null && shown.length === 0 && events.length > 0 && <NoneFits />}
      {shown.length > 0 && <Cards events={shown} />}
      {next !== null && !isNarrowed && (
        <p class="centred">
          <button type="button" class="button" onClick={() => void showMore(PAGE)}>
            {texts.list.more}
          </button>
        </p>
      )}
    </Frame>
  );
}

function Cards({ events }: { readonly events: readonly EventListEntry[] }) {
  return (
    <ul class="cards">
      {events.map((event, index) => (
        <li key={event.id}>
          <Card event={event} isFirst={index < FIRST_CARDS} />
        </li>
      ))}
    </ul>
  );
}

const { datesOf, fromPrice, goneNote, placeOf } = eventLinesOf(language);

function Card({ event, isFirst }: { readonly event: EventListEntry; readonly isFirst: boolean }) {
  const sheet = event.starts_at === null ? null : dayParts(event.starts_at, event.timezone);
  const place = placeOf(event);
  const gone = goneNote(event, serviceNow());
  return (
    <article class={gone === null ? 'card' : 'card over'}>
      <div class="card-art">
        <EventArt name={event.slug} picture={event.picture} isFirst={isFirst} />
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
        {place !== null && <p class="quiet">{place}</p>}
        <p class="card-foot">
          {gone === null ? <b>{fromPrice(event)}</b> : <span>{gone}</span>}
          {event.waiting_room && <span class="chip">{texts.list.waitingRoom}</span>}
        </p>
      </div>
    </article>
  );
}
