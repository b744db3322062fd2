/** The page of an event before its script: what search engines and messengers read of it, and its first HTML. */
import type { EventPayload, Performance } from '#client/bodies.ts';
import { eventLinesOf } from '#texts/event-lines.ts';
import type { Language } from '#texts/locale/language.ts';
import { TEXTS } from '#texts/texts.ts';
import { wordingOf } from '#texts/locale/wording.ts';
import { html } from '../pages/html.ts';
import { dataBlock, headOf, type PageParts, type ShopPage } from './document.ts';
import { lowestPrice, structuredData } from './structured-data.ts';

/** A description is cut where search engines and messengers cut it. */
const DESCRIPTION_LENGTH = 200;

/** A longer payload would delay the first paint: the page's script asks for it. */
const DATA_LENGTH_MAX = 24 * 1024;

/** `performanceId` is the performance whose stock the payload has. */
export function eventPage(
  event: EventPayload,
  performanceId: string | null,
  language: Language,
  { views, baseUrl, now, brand }: PageParts,
): ShopPage {
  const url = `${baseUrl}/e/${encodeURIComponent(event.slug)}`;
  const performance = event.performances.find(({ id }) => id === performanceId);
  const image = event.picture === undefined ? null : baseUrl + event.picture;
  const description = descriptionOf(event, performance, language);
  const head = html`${headOf({ title: event.name, description, url, image, language, brand })}
  ${dataBlock('application/ld+json', 'about', structuredData(event, { url, image, now }))}`;
  const data = { event, performance_id: performanceId };
  const isSmall = JSON.stringify(event).length <= DATA_LENGTH_MAX;
  return { head, app: views.event(event, performanceId), data: isSmall ? data : null };
}

function descriptionOf(event: EventPayload, performance: Performance | undefined, language: Language): string {
  const { show, list } = TEXTS[language];
  const lines = eventLinesOf(language);
  const starts = performance?.starts_at ?? null;
  const when = starts === null ? list.noDates : wordingOf(language).dayAndHour(starts, event.timezone);
  const where = event.venue === undefined ? null : lines.addressOf(event.venue);
  const lowest = lowestPrice(event);
  const cost = lowest === 0 ? show.freeTickets : show.ticketsFrom(lines.price(lowest, event.currency));
  const text = `${show.about(when, where)}. ${cost} ${event.description}`.replaceAll(/\s+/g, ' ').trim();
  return text.length <= DESCRIPTION_LENGTH ? text : `${text.slice(0, DESCRIPTION_LENGTH - 1).trimEnd()}…`;
}
