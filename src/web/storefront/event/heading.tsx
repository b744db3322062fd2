/** The heading of an event's page: picture, name, when and where. */
import type { EventPayload } from '#client/bodies.ts';
import { eventLinesOf } from '#texts/event-lines.ts';
import { dayAndHour, language, listing, texts, type zoneNote } from '../app/language.ts';
import { PageHeading } from '../parts/frame.tsx';
import { EventArt } from '../parts/poster.tsx';

interface EventHeadingProps {
  readonly event: EventPayload;
  readonly performanceId: string | null;
  /** The name of the event's time zone where the reader's clock shows another time. */
  readonly zoneOf?: typeof zoneNote;
}

const { addressOf, entranceOf, performerOf } = eventLinesOf(language);

export function EventHeading({ event, performanceId, zoneOf }: EventHeadingProps) {
  const performance = event.performances.find(({ id }) => id === performanceId);
  const startsAt = performance?.starts_at ?? null;
  const zone = startsAt === null ? null : (zoneOf?.(startsAt, event.timezone) ?? null);
  const entrance = performance === undefined ? null : entranceOf(performance, event);
  const lineup = event.lineup ?? [];
  return (
    <header class="event-head">
      <div class="event-art">
        <EventArt name={event.slug} picture={event.picture} isFirst />
      </div>
      <div>
        <PageHeading>{event.name}</PageHeading>
        {startsAt !== null && (
          <p class="when">
            {dayAndHour(startsAt, event.timezone)} {zone !== null && <span class="quiet">{zone}</span>}
          </p>
        )}
        {event.venue !== undefined && <p class="where">{addressOf(event.venue)}</p>}
        {entrance !== null && <p class="quiet">{entrance}</p>}
        {event.description !== '' && <p class="lead">{event.description}</p>}
        {lineup.length > 0 && (
          <p class="lineup">
            <b>{texts.show.lineup}</b> {listing(lineup.map(performerOf))}
          </p>
        )}
      </div>
    </header>
  );
}
