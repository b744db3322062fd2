/** The list of events in the first HTML, as `pages/event-list.tsx` draws it. */
import type { EventList, EventListEntry } from '#client/bodies.ts';
import { eventLinesOf } from '#texts/event-lines.ts';
import type { Language } from '#texts/language.ts';
import { TEXTS } from '#texts/texts.ts';
import { wordingOf } from '#texts/wording.ts';
import { html, type Html } from './html.ts';
import { artOf, frameOf, headOf, type ShopPage } from './shop-frame.ts';

/** Pictures of cards that a phone or a desktop shows at once; the others come when they are scrolled to. */
export const FIRST_CARDS = 3;

/** `isNarrowed` where the address narrows the list, which the page's script does. */
export function listPage(list: EventList, language: Language, baseUrl: string, isNarrowed: boolean): ShopPage {
  const texts = TEXTS[language];
  const { shop, description } = texts.frame;
  const head = headOf({ title: shop, description, url: `${baseUrl}/`, image: null, language });
  const cards = list.events.map((event, index) => html`<li>${cardOf(event, language, index < FIRST_CARDS)}</li>`);
  const main = html`<div class="list-head">
      <h1 tabindex="-1">${texts.list.title}</h1>
      <p class="lead">${texts.list.lead}</p>
    </div>
    ${
      list.events.length === 0 || isNarrowed
        ? null
        : html`<ul class="cards">
            ${cards}
          </ul>`
    }`;
  return { head, app: frameOf(language, null, main), data: { list } };
}

function cardOf(event: EventListEntry, language: Language, isFirst: boolean): Html {
  const { list } = TEXTS[language];
  const lines = eventLinesOf(language);
  const sheet = event.starts_at === null ? null : wordingOf(language).dayParts(event.starts_at, event.timezone);
  const place = lines.placeOf(event);
  return html`<article class="${event.sold_out ? 'card over' : 'card'}">
    <div class="card-art">
      ${artOf(event.slug, event.picture, isFirst)}
      ${
        sheet === null
          ? null
          : html`<p class="card-sheet" aria-hidden="true"><b>${sheet.day}</b><span>${sheet.month}</span></p>`
      }
    </div>
    <div class="card-text">
      <h2><a href="/e/${encodeURIComponent(event.slug)}" class="card-link">${event.name}</a></h2>
      <p class="quiet">${lines.datesOf(event)}</p>
      ${place === null ? null : html`<p class="quiet">${place}</p>`}
      <p class="card-foot">
        ${event.sold_out ? html`<span>${list.soldOut}</span>` : html`<b>${lines.fromPrice(event)}</b>`}
        ${event.waiting_room ? html`<span class="chip">${list.waitingRoom}</span>` : null}
      </p>
    </div>
  </article>`;
}
