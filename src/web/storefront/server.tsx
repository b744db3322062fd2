/**
 * The shop's pages as the service sends them: drawn by the components that draw them in the browser, so that nothing
 * moves when the script takes over.
 *
 * The service bundles this file and runs it once for each language (`http/pages/bundle.ts`).
 */
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { ApiError } from '#client/api-error.ts';
import type { EventPayload, Performance } from '#client/bodies.ts';
import type { ShopViews } from '../shop-views.ts';
import { brands, type PageBrand } from './app/brand.ts';
import { dayAndHour, price, texts } from './app/language.ts';
import { EventHeading } from './event/heading.tsx';
import { Cards, ListHeading } from './parts/cards.tsx';
import { Frame, Missing } from './parts/frame.tsx';

const NOT_FOUND = new ApiError({ status: 404, code: 'EVENT_NOT_FOUND', message: '', detail: {}, retryAfter: null });

export const views: ShopViews = {
  list: ({ events, next_cursor: next }, filter, { now, cardsMax, brand }) =>
    drawn(
      brand,
      <Frame title={texts.frame.shop} of={null}>
        <ListHeading />
        <Cards {...{ events, filter, now, cardsMax }} isWhole={next === null} />
      </Frame>,
    ),
  event: (event, performanceId) =>
    drawn(
      event.brand,
      <Frame title={event.name} of={event}>
        <EventHeading event={event} performanceId={performanceId} />
        <DatesAndPrices event={event} />
      </Frame>,
    ),
  missing: (brand) => drawn(brand, <Missing error={NOT_FOUND} />),
};

/** The HTML of a page of this brand, which stands for that of the shop too: a page shows one. */
function drawn(brand: PageBrand, page: VNode): string {
  Object.assign(brands, { shop: brand, shown: brand });
  return renderToString(page);
}

/** For readers without scripts; the page's script draws the choice of them in this place. */
function DatesAndPrices({ event }: { readonly event: EventPayload }) {
  return (
    <section class="first-facts">
      <h2>{texts.show.dates}</h2>
      <ul>
        {event.performances.map((performance) => (
          <li>{dateOf(performance, event.timezone)}</li>
        ))}
      </ul>
      <h2>{texts.show.prices}</h2>
      <ul>
        {event.ticketTypes.map(({ id, name }) => {
          const rows = event.ticketAvailability.filter((row) => row.ticket_type_id === id);
          const open = rows.filter((row) => row.on_sale);
          const lowest = Math.min(...(open.length > 0 ? open : rows).map((row) => row.price));
          return rows.length > 0 && <li>{`${name}: ${price(lowest, event.currency)}`}</li>;
        })}
      </ul>
    </section>
  );
}

function dateOf({ name, starts_at: starts, status }: Performance, timezone: string): string {
  const when = starts === null ? texts.list.noDates : dayAndHour(starts, timezone);
  const note = { ON_SALE: '', SOLD_OUT: ` (${texts.show.soldOut})`, CANCELLED: ` (${texts.show.cancelled})` }[status];
  return `${name}: ${when}${note}`;
}
