/** An event in the first HTML: its heading as `pages/event-page.tsx` draws it, and dates and prices for who reads without scripts. */
import type { EventPayload, Performance } from '#client/bodies.ts';
import { eventLinesOf } from '#texts/event-lines.ts';
import type { Language } from '#texts/language.ts';
import { TEXTS } from '#texts/texts.ts';
import { wordingOf } from '#texts/wording.ts';
import { html, type Html } from './html.ts';
import { artOf, dataBlock, frameOf, headOf, type ShopPage } from './shop-frame.ts';
import { lowestPrice, structuredData } from './structured-data.ts';

/** A description is cut where search engines and messengers cut it. */
const DESCRIPTION_LENGTH = 200;

/** Beyond it the page's script asks for the payload itself: it would delay the first paint. */
const DATA_LENGTH_MAX = 24 * 1024;

/** `performanceId` is the performance whose figures the payload has. */
export function eventPage(
  event: EventPayload,
  performanceId: string | null,
  language: Language,
  { baseUrl, now }: { readonly baseUrl: string; readonly now: number },
): ShopPage {
  const url = `${baseUrl}/e/${encodeURIComponent(event.slug)}`;
  const performance = event.performances.find(({ id }) => id === performanceId);
  const image = event.picture === undefined ? null : baseUrl + event.picture;
  const description = descriptionOf(event, performance, language);
  const head = html`${headOf({ title: event.name, description, url, image, language })}
  ${dataBlock('application/ld+json', 'about', structuredData(event, { url, image, now }))}`;
  const main = html`${headingOf(event, performance, language)} ${factsOf(event, language)}`;
  const data = { event, performance_id: performanceId };
  const isSmall = JSON.stringify(event).length <= DATA_LENGTH_MAX;
  return { head, app: frameOf(language, event.legal, main), data: isSmall ? data : null };
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

function headingOf(event: EventPayload, performance: Performance | undefined, language: Language): Html {
  const { show } = TEXTS[language];
  const lines = eventLinesOf(language);
  const { starts_at: starts = null } = performance ?? {};
  const entrance = performance === undefined ? null : lines.entranceOf(performance, event);
  const lineup = event.lineup ?? [];
  return html`<header class="event-head">
    <div class="event-art">${artOf(event.slug, event.picture, true)}</div>
    <div>
      <h1 tabindex="-1">${event.name}</h1>
      ${starts === null ? null : html`<p class="when">${wordingOf(language).dayAndHour(starts, event.timezone)}</p>`}
      ${event.venue === undefined ? null : html`<p class="where">${lines.addressOf(event.venue)}</p>`}
      ${entrance === null ? null : html`<p class="quiet">${entrance}</p>`}
      ${event.description === '' ? null : html`<p class="lead">${event.description}</p>`}
      ${
        lineup.length === 0
          ? null
          : html`<p class="lineup">
              <b>${show.lineup}</b> ${wordingOf(language).listing(lineup.map(lines.performerOf))}
            </p>`
      }
    </div>
  </header>`;
}

/** Dates and prices; the page's script draws the choice of them in this place. */
function factsOf(event: EventPayload, language: Language): Html {
  const { show } = TEXTS[language];
  const { price } = eventLinesOf(language);
  const dates = event.performances.map((performance) => html`<li>${dateOf(performance, event, language)}</li>`);
  const prices = event.ticketTypes.flatMap(({ id, name }) => {
    const rows = event.ticketAvailability.filter((row) => row.ticket_type_id === id);
    const open = rows.filter((row) => row.on_sale);
    if (rows.length === 0) return [];
    const amount = Math.min(...(open.length > 0 ? open : rows).map((row) => row.price));
    return [html`<li>${name}: ${price(amount, event.currency)}</li>`];
  });
  return html`<section class="first-facts">
    <h2>${show.dates}</h2>
    <ul>
      ${dates}
    </ul>
    <h2>${show.prices}</h2>
    <ul>
      ${prices}
    </ul>
  </section>`;
}

function dateOf(performance: Performance, { timezone }: EventPayload, language: Language): string {
  const { show, list } = TEXTS[language];
  const { name, starts_at: starts, status } = performance;
  const when = starts === null ? list.noDates : wordingOf(language).dayAndHour(starts, timezone);
  const note = { ON_SALE: '', SOLD_OUT: ` (${show.soldOut})`, CANCELLED: ` (${show.cancelled})` }[status];
  return `${name}: ${when}${note}`;
}
