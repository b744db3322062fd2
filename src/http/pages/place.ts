/** Where an event is and when its doors open, for all that shows a ticket. A map is a link: nothing of it is loaded. */
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { Language } from '#texts/locale/language.ts';
import { wordingOf } from '#texts/locale/wording.ts';
import type { ServedTexts } from '#texts/served.ts';
import { html, type Html } from './html.ts';

export interface ShownVenue {
  readonly name: string;
  /** Street, city and country, as far as they are known; '' where nothing is. */
  readonly address: string;
  /** Both, in a line. */
  readonly inALine: string;
  readonly mapHref: string;
}

/** Null where the event names no place. */
export function placeOf(
  { venue }: Pick<EventDefinition, 'venue'>,
  { frame }: Pick<ServedTexts, 'frame'>,
): ShownVenue | null {
  if (venue === undefined) return null;
  const { name, address, city, country } = venue;
  const parts = [
    address,
    city,
    country === null ? null : wordingOf(frame.language as Language).country(country),
  ].filter((part) => part !== null);
  const sought = [...(address === null ? [name] : []), ...parts].join(', ');
  const mapHref = `https://www.openstreetmap.org/search?query=${encodeURIComponent(sought)}`;
  const written = parts.join(', ');
  return { name, address: written, inALine: [name, written].filter((part) => part !== '').join(', '), mapHref };
}

/** When the doors of a date open; null where that is not known. */
export function doorsAtOf(
  { performances }: Pick<EventDefinition, 'performances'>,
  performanceId: string,
): number | null {
  return performances.find(({ id }) => id === performanceId)?.doorsAt ?? null;
}

/** The place, its address and the way to a map. */
export function placeLine(definition: EventDefinition, texts: Pick<ServedTexts, 'frame' | 'order'>): Html | null {
  const place = placeOf(definition, texts);
  if (place === null) return null;
  const address = place.address === '' ? null : html`<br /><span class="quiet small">${place.address}</span>`;
  return html`<p class="place">
    ${place.name} <a class="screen small" rel="noreferrer" href="${place.mapHref}">${texts.order.map}</a>${address}
  </p>`;
}
