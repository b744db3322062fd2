/** The list of events in the first HTML, as `pages/event-list.tsx` draws it. */
import type { EventList, EventListEntry } from '#client/bodies.ts';
import { choicesOf, fits, isEmpty, SEARCHED_FROM, type Filter } from '#client/event-filter.ts';
import { eventLinesOf } from '#texts/event-lines.ts';
import type { Language } from '#texts/language.ts';
import { TEXTS } from '#texts/texts.ts';
import { wordingOf } from '#texts/wording.ts';
import { drawn, html, type Html } from './html.ts';
import { artOf, frameOf, headOf, type ShopPage } from './shop-frame.ts';

/** Pictures of cards that a phone or a desktop shows at once; the others come when they are scrolled to. */
export const FIRST_CARDS = 3;

/** The list, narrowed to what fits; `list` has all events then, as far as a search reads at once. */
export function listPage(
  list: EventList,
  language: Language,
  filter: Filter,
  { baseUrl, now }: { readonly baseUrl: string; readonly now: number },
): ShopPage {
  const texts = TEXTS[language];
  const { shop, description } = texts.frame;
  const head = headOf({ title: shop, description, url: `${baseUrl}/`, image: null, language });
  const isNarrowed = !isEmpty(filter);
  const isWhole = list.next_cursor === null;
  const shown = isNarrowed ? list.events.filter((event) => fits(event, filter)) : list.events;
  const cards = shown.map((event, index) => html`<li>${cardOf(event, language, index < FIRST_CARDS, now)}</li>`);
  const isSearched = isNarrowed || !isWhole || list.events.length >= SEARCHED_FROM;
  const found = isNarrowed && isWhole ? texts.list.found(shown.length) : '';
  const main = html`<div class="list-head">
      <h1 tabindex="-1">${texts.list.title}</h1>
      <p class="lead">${texts.list.lead}</p>
    </div>
    ${isSearched ? searchOf(list.events, filter, found, language) : null}
    ${isNarrowed && isWhole && shown.length === 0 && list.events.length > 0 ? noneFits(language) : null}
    ${
      shown.length === 0
        ? null
        : html`<ul class="cards">
            ${cards}
          </ul>`
    }`;
  return { head, app: frameOf(language, null, main), data: { list } };
}

const valueOf = (text: string): Html | null => (text === '' ? null : html`value="${text}"`);

/** The search, as `parts/list-filter.tsx` draws it. */
function searchOf(events: readonly EventListEntry[], filter: Filter, found: string, language: Language): Html {
  const { list } = TEXTS[language];
  const { cities, months, currency } = choicesOf(events);
  const monthText = (month: string): string => wordingOf(language).month(`${month}-15`, 'UTC');
  const price = (unit: string): Html =>
    html`<label
      >${list.priceUpTo(unit)}<input type="number" min="0" step="1" inputmode="numeric" ${valueOf(filter.price)}
    /></label>`;
  const city = { label: list.city, all: list.anyCity, values: cities, chosen: filter.city, textOf: String };
  const month = { label: list.month, all: list.anyMonth, values: months, chosen: filter.month, textOf: monthText };
  return html`<form class="list-filter" role="search">
    <label
      >${list.search}<input type="search" placeholder="${list.searchHint}" maxlength="100" ${valueOf(filter.q)}
    /></label>
    ${choiceOf(city)} ${choiceOf(month)} ${currency === null ? null : price(currency)}
    <p class="quiet" role="status">${found}</p>
  </form>`;
}

interface Choice {
  readonly label: string;
  readonly all: string;
  readonly values: readonly string[];
  readonly chosen: string;
  readonly textOf: (value: string) => string;
}

function choiceOf({ label, all, values, chosen, textOf }: Choice): Html | null {
  if (values.length < 2) return null;
  const options = values.map(
    (value) => html`<option value="${value}" ${value === chosen ? drawn('selected') : null}>${textOf(value)}</option>`,
  );
  return html`<label
    >${label}<select>
      <option value="">${all}</option>
      ${options}
    </select></label
  >`;
}

function noneFits(language: Language): Html {
  const { list } = TEXTS[language];
  return html`<div class="none-fits">
    <h2>${list.noneFits}</h2>
    <p>${list.noneFitsHint}</p>
    <p><a href="/" class="button primary">${list.showAll}</a></p>
  </div>`;
}

function cardOf(event: EventListEntry, language: Language, isFirst: boolean, now: number): Html {
  const { list } = TEXTS[language];
  const lines = eventLinesOf(language);
  const sheet = event.starts_at === null ? null : wordingOf(language).dayParts(event.starts_at, event.timezone);
  const place = lines.placeOf(event);
  const gone = lines.goneNote(event, now);
  return html`<article class="${gone === null ? 'card' : 'card over'}">
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
        ${gone === null ? html`<b>${lines.fromPrice(event)}</b>` : html`<span>${gone}</span>`}
        ${event.waiting_room ? html`<span class="chip">${list.waitingRoom}</span>` : null}
      </p>
    </div>
  </article>`;
}
