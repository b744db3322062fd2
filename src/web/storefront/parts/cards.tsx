/** The list of events: its heading, the search, and a card for each event. */
import type { EventListEntry } from '#client/bodies.ts';
import { isEmpty, narrowed, SEARCHED_FROM, type Filter } from '#client/event-filter.ts';
import { eventLinesOf } from '#texts/event-lines.ts';
import { dayParts, language, texts } from '../app/language.ts';
import { eventPath, Link } from '../app/router.tsx';
import { PageHeading } from './frame.tsx';
import { ListFilter, NoneFits } from './list-filter.tsx';
import { EventArt } from './poster.tsx';

/** Pictures that a phone or a desktop shows at once; the others are loaded when they are scrolled to. */
const FIRST_CARDS = 3;

export function ListHeading() {
  return (
    <div class="list-head">
      <PageHeading>{texts.list.title}</PageHeading>
      <p class="lead">{texts.list.lead}</p>
    </div>
  );
}

interface CardsProps {
  /** All events that were read so far. */
  readonly events: readonly EventListEntry[];
  readonly filter: Filter;
  /** Whether there are no more events than these. */
  readonly isWhole: boolean;
  readonly now: number;
  /** Cards that are drawn; all where it is not given. */
  readonly cardsMax?: number;
}

/** The search where there is much to search, and a card for each event that fits. */
export function Cards({ events, filter, isWhole, now, cardsMax }: CardsProps) {
  const isNarrowed = !isEmpty(filter);
  const found = isNarrowed ? narrowed(events, filter) : events;
  return (
    <>
      {(isNarrowed || !isWhole || events.length >= SEARCHED_FROM) && (
        <ListFilter events={events} filter={filter} found={isNarrowed && isWhole ? found.length : null} />
      )}
      {isNarrowed && isWhole && found.length === 0 && events.length > 0 && <NoneFits />}
      {found.length > 0 && (
        <ul class="cards">
          {found.slice(0, cardsMax).map((event, index) => (
            <li key={event.id}>
              <Card event={event} isFirst={index < FIRST_CARDS} now={now} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const { datesOf, fromPrice, goneNote, saleNote, venueOf } = eventLinesOf(language);

interface CardProps {
  readonly event: EventListEntry;
  readonly isFirst: boolean;
  readonly now: number;
}

function Card({ event, isFirst, now }: CardProps) {
  const sheet = event.starts_at === null ? null : dayParts(event.starts_at, event.timezone);
  const venue = venueOf(event);
  const gone = goneNote(event, now);
  const sale = saleNote(event);
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
        {venue !== null && <p class="quiet">{venue}</p>}
        <p class="card-foot">
          {gone === null ? <b>{fromPrice(event)}</b> : <span>{gone}</span>}
          {gone === null && sale !== null && <span>{sale}</span>}
          {event.waiting_room && <span class="chip">{texts.list.waitingRoom}</span>}
        </p>
      </div>
    </article>
  );
}
