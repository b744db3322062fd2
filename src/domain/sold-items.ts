/** What facts say of tickets that are held, sold and changed: a part of the storage format, as `fact.ts` is. */
import type { Attendee } from './personal.ts';

/**
 * One line of a hold: units of one ticket type, in one stage, for one performance, at the price of its first placing.
 */
export interface HoldLine {
  readonly performanceId: string;
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly quantity: number;
  /** quantity × group_size. */
  readonly ticketCount: number;
  readonly unitPriceCents: number;
  /** As many as tickets on numbered seating, empty elsewhere. */
  readonly seatIds: readonly string[];
}

/** Units of a bar perk on an item of an order, at the price of its placing. */
export interface OrderedPerk {
  readonly barPerkId: string;
  readonly quantity: number;
  readonly unitPriceCents: number;
}

/** One item of an order. Items of the same type, stage and performance share one line of the hold, and its seats. */
export interface OrderItem extends HoldLine {
  /** In the order of the item's tickets; null where nobody was named, and where they are sealed. */
  readonly attendees: readonly Attendee[] | null;
  /** The item's attendees are among the sealed data of its order. */
  readonly isNamed?: true;
  /** As the catalogue spells it. */
  readonly discountCode: string | null;
  /** What the item's own code takes off, and then what the order's promo code takes off this item. */
  readonly discountCents: number;
  readonly promoDiscountCents: number;
  readonly barPerks: readonly OrderedPerk[];
  /** In an amended order: the units that the item was priced with. */
  readonly priced?: PricedItem;
}

/** Units that were priced together, as they were then. Items of a changed order may be parts of the same. */
export interface PricedItem extends Pick<OrderItem, 'quantity' | 'discountCents' | 'promoDiscountCents'> {
  /** Counts what was priced for an order, from 0: the items of its purchase, then those of its changes. */
  readonly number: number;
  /** The order's code takes nothing off these units, whatever they become: one of their types was not for it. */
  readonly withoutPromo?: true;
}

/** What an amendment does to a ticket. */
export type AmendmentAction = 'CANCEL' | 'CHANGE' | 'REISSUE' | 'RENAME';

export interface AmendedTicket {
  readonly ticketId: string;
  readonly action: AmendmentAction;
  /** The one that is issued in its place. */
  readonly newTicketId?: string;
  /** It is of another type from now on: the perks that were bought with it are given up. */
  readonly withoutPerks?: true;
  /** The part of its unit's price that is not charged, on the unit's first ticket. */
  readonly goodwillCents?: number;
  /** Its place among the people that the amendment names. */
  readonly person?: number;
}

/** What a sale at a counter says besides its order. */
export interface CounterSale {
  readonly orderId: string;
  /** The limits of the event were not asked. */
  readonly exceedsLimits?: true;
  /** An operator's note, sealed. */
  readonly sealedNote?: string;
}
