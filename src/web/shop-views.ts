/** The shop's components as the service uses them, in one language: what stands in the first HTML. */
import type { EventBrand, EventList, EventPayload } from '#client/bodies.ts';
import type { Filter } from '#client/event-filter.ts';

export interface ShopViews {
  /** At most `cardsMax` events of those that the filter leaves. */
  list(list: EventList, filter: Filter, at: ListView): string;
  /** `performanceId` is the performance whose stock the payload has. */
  event(event: EventPayload, performanceId: string | null): string;
  /** The page in place of an event that does not exist. */
  missing(brand: EventBrand | undefined): string;
}

interface ListView {
  readonly now: number;
  readonly cardsMax: number;
  /** The brand of the page; undefined where it has none. */
  readonly brand: EventBrand | undefined;
}
