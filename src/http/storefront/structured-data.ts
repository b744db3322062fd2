/**
 * An event in the words of schema.org, for search engines: one Event for each performance that is still to come.
 *
 * Prices are in the currency's main unit, as schema.org wants them. A performance without a time has no Event, because
 * `startDate` is required.
 */
import type { EventPayload, Performance } from '#client/bodies.ts';
import { decimalOf } from '#client/money.ts';

/** Search engines read no more; an event with a performance on each day of a year stays a small page. */
const PERFORMANCES_MAX = 50;

interface Where {
  readonly url: string;
  readonly image: string | null;
  readonly now: number;
}

export function structuredData(event: EventPayload, { url, image, now }: Where): object {
  const coming = event.performances.filter(({ starts_at: start, ends_at: end }) => {
    return start !== null && Date.parse(end ?? start) > now;
  });
  const events = coming.slice(0, PERFORMANCES_MAX).map((performance) => ({
    '@type': 'Event',
    name: event.name,
    ...(event.description !== '' && { description: event.description }),
    startDate: performance.starts_at,
    ...(performance.ends_at !== null && { endDate: performance.ends_at }),
    ...(performance.doors_at !== undefined && { doorTime: performance.doors_at }),
    eventStatus: `https://schema.org/${performance.status === 'CANCELLED' ? 'EventCancelled' : 'EventScheduled'}`,
    eventAttendanceMode: 'https://schema.org/OfflineEventAttendanceMode',
    location: locationOf(event),
    url,
    ...(image !== null && { image: [image] }),
    ...(event.lineup !== undefined && {
      performer: event.lineup.map(({ name }) => ({ '@type': 'PerformingGroup', name })),
    }),
    offers: offersOf(event, performance, url),
  }));
  return { '@context': 'https://schema.org', '@graph': events };
}

/** The venue, or the first of the localities, whose name a ticket bears too. */
function locationOf({ venue, localities }: EventPayload): object {
  if (venue === undefined) return { '@type': 'Place', name: localities[0]?.name ?? '' };
  const { name, address, city, country } = venue;
  return {
    '@type': 'Place',
    name,
    address: {
      '@type': 'PostalAddress',
      ...(address !== null && { streetAddress: address }),
      ...(city !== null && { addressLocality: city }),
      ...(country !== null && { addressCountry: country }),
    },
  };
}

function offersOf(event: EventPayload, performance: Performance, url: string): object {
  const isGone = performance.status !== 'ON_SALE' || performance.sold_out === true;
  const next = event.sellingStages.find(({ on_sale: onSale, starts_at: start }) => !onSale && start !== null);
  const isLater = !event.sellingStages.some(({ on_sale: onSale }) => onSale) && next !== undefined;
  const amount = performance.from_price ?? lowestPrice(event);
  return {
    '@type': 'AggregateOffer',
    lowPrice: decimalOf(isGone ? lowestPrice(event) : amount, event.currency),
    priceCurrency: event.currency,
    availability: `https://schema.org/${isGone ? 'SoldOut' : isLater ? 'PreOrder' : 'InStock'}`,
    ...(isLater && { validFrom: next.starts_at }),
    url,
  };
}

/**
 * The lowest price on sale that does not need an accessible place; of everything that has a price where nothing is on
 * sale.
 */
export function lowestPrice({ ticketAvailability, ticketTypes }: EventPayload): number {
  const accessible = new Set(ticketTypes.filter((type) => type.accessible).map(({ id }) => id));
  const forAll = ticketAvailability.filter((row) => !accessible.has(row.ticket_type_id));
  const rows = forAll.length > 0 ? forAll : ticketAvailability;
  const onSale = rows.filter((row) => row.on_sale && row.available > 0);
  return Math.min(...(onSale.length > 0 ? onSale : rows).map(({ price }) => price));
}
