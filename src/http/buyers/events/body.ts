/** Views of events in the API's names; typed by the schemas, so that body, validation and document agree. */
import {
  doorsOf,
  reentryOf,
  type BarPerkDefinition,
  type BrandDefinition,
  type BrandedEvent,
  type BuyerChanges,
  type ChangeRule,
  type DoorDefinition,
  type EventDefinition,
  type TicketTypeDefinition,
} from '#domain/catalogue/definition.ts';
import type { ShownSteering } from '#domain/catalogue/state.ts';
import type { EventSummary, EventView, PerformanceView, TicketAvailability } from '#domain/event/public-view.ts';
import { brandOf, type Brand } from '#brand/brand.ts';
import { perkKey } from '#domain/orders/pricing.ts';
import { formatMoment, formatTime } from '../../protocol/formats.ts';
import { PICTURES_PATH } from '../../protocol/fields.ts';
import type { EventBody, EventListEntryBody } from './schema.ts';

export function toEventSummaryBody(event: EventSummary): EventListEntryBody {
  return {
    id: event.id,
    slug: event.slug,
    name: event.name,
    starts_at: formatMoment(event.startsAt),
    ends_at: formatMoment(event.endsAt),
    currency: event.currency,
    from_price: event.fromPrice,
    sold_out: event.soldOut,
    waiting_room: event.waitingRoom,
    ...(event.saleStartsAt !== undefined && { sale_starts_at: formatTime(event.saleStartsAt) }),
    ...(event.timezone !== undefined && { timezone: event.timezone }),
    ...(event.picture !== undefined && { picture: pictureAddress(event.picture) }),
    ...(event.venue !== undefined && { venue: { name: event.venue.name, city: event.venue.city } }),
  };
}

/** Where this service serves a picture; a name of the catalogue needs no escape. */
const pictureAddress = (picture: string): string => `${PICTURES_PATH}${picture}`;

/** `shop` is the brand of the service. */
export function toEventBody(view: EventView, shop: BrandDefinition | null): EventBody {
  const { definition } = view;
  return {
    id: definition.id,
    slug: definition.slug,
    name: definition.name,
    description: definition.description,
    ...toShowBody(definition),
    currency: definition.currency,
    timezone: definition.timezone,
    hold_minutes: definition.holdMinutes,
    waiting_room: definition.waitingRoom,
    waiting_room_opens_at: formatMoment(definition.waitingRoomOpensAt),
    waiting_room_rate: view.waitingRoomRate,
    waiting_room_minutes: definition.waitingRoomMinutes,
    max_tickets_per_order: definition.maxTicketsPerOrder,
    max_tickets_per_email: definition.maxTicketsPerEmail,
    require_individual_data: definition.requireIndividualData,
    max_installments: definition.maxInstallments,
    ...steeringPart(view.steering),
    buyer_changes: toChangesBody(definition.buyerChanges),
    doors: doorsOf(definition).map(toDoorBody),
    reentry: reentryOf(definition),
    legal: toLegalBody(definition.legal),
    ...brandPart(shop, definition),
    performances: view.performances.map(toPerformanceBody),
    localities: view.localities.map(({ definition: { id, name, seating }, capacity }) => ({
      id,
      name,
      seating,
      capacity,
    })),
    ticketTypes: definition.ticketTypes.map((type) => toTicketTypeBody(type, view.perksLeft)),
    sellingStages: view.sellingStages.map(({ definition: stage, onSale }) => ({
      id: stage.id,
      name: stage.name,
      starts_at: formatMoment(stage.startsAt),
      ends_at: formatMoment(stage.endsAt),
      sort_order: stage.sortOrder,
      on_sale: onSale,
    })),
    ticketAvailability: view.ticketAvailability.map(toAvailabilityBody),
  };
}

/** The brand of an event's pages as a part of a body; nothing where neither the service nor the event has one. */
export function brandPart(shop: BrandDefinition | null, event: BrandedEvent | null): Pick<EventBody, 'brand'> {
  if (shop === null && event?.brand === undefined) return {};
  return { brand: toBrandBody(brandOf(shop, event)) };
}

function toBrandBody({ accentDark, links, ...brand }: Brand): NonNullable<EventBody['brand']> {
  return {
    ...brand,
    accent_dark: accentDark,
    links: links.map(({ label, url }) => ({ label: { ...label }, url })),
  };
}

/** The steering of a sale as a part of a body; nothing while there is nothing to show. */
export function steeringPart(steering: ShownSteering | null): Pick<EventBody, 'steering'> {
  return steering === null ? {} : { steering };
}

/** What an event may say about itself beside its sale; fields that it does not set are absent. */
function toShowBody({ picture, venue, lineup }: EventDefinition): Pick<EventBody, 'picture' | 'venue' | 'lineup'> {
  return {
    ...(picture !== undefined && { picture: pictureAddress(picture) }),
    ...(venue !== undefined && { venue: { ...venue } }),
    ...(lineup !== undefined && { lineup: lineup.map(({ name, time }) => ({ name, time })) }),
  };
}

function toChangesBody(changes: BuyerChanges | undefined): EventBody['buyer_changes'] {
  if (changes === undefined) return null;
  const toRule = (rule: ChangeRule | null) =>
    rule && {
      until_minutes: rule.untilMinutes,
      fee: rule.fee,
      fee_percent: rule.feePercent,
      ticket_type_ids: rule.ticketTypeIds && [...rule.ticketTypeIds],
    };
  const { cancel, change, attendees, withdrawalDays } = changes;
  return {
    cancel: toRule(cancel),
    change: toRule(change),
    attendees: toRule(attendees),
    withdrawal_days: withdrawalDays,
  };
}

/** A door as all bodies have it. */
function toDoorBody({ id, name, ticketTypeIds }: DoorDefinition): EventBody['doors'][number] {
  return { id, name, ticket_type_ids: ticketTypeIds && [...ticketTypeIds] };
}

function toLegalBody(legal: EventDefinition['legal']): EventBody['legal'] {
  if (legal === undefined) return null;
  return {
    terms_url: legal.termsUrl,
    imprint_url: legal.imprintUrl,
    privacy_url: legal.privacyUrl,
    vat_percent: legal.vatPercent,
    order_button: legal.orderButton,
  };
}

function toPerformanceBody(performance: PerformanceView): EventBody['performances'][number] {
  const { several } = performance;
  const whole = several && {
    total_available: several.totalAvailable,
    from_price: several.fromPrice,
    sold_out: several.soldOut,
  };
  return {
    id: performance.id,
    name: performance.name,
    starts_at: formatMoment(performance.startsAt),
    ends_at: formatMoment(performance.endsAt),
    ...(performance.doorsAt !== null && { doors_at: formatTime(performance.doorsAt) }),
    status: performance.status,
    sort_order: performance.sortOrder,
    on_sale: performance.onSale,
    ...whole,
  };
}

function toTicketTypeBody(
  type: TicketTypeDefinition,
  perksLeft: EventView['perksLeft'],
): EventBody['ticketTypes'][number] {
  return {
    id: type.id,
    name: type.name,
    description: type.description,
    locality_id: type.localityId,
    group_size: type.groupSize,
    max_per_order: type.maxPerOrder,
    accessible: type.accessible,
    zone_keys: type.zoneKeys as string[] | null,
    entry_cutoff: type.entryCutoff,
    late_fee: type.lateFee,
    min_consumption: type.minConsumption,
    barPerks: type.barPerks.map((perk) => toBarPerkBody(perk, perksLeft[perkKey(type.id, perk.id)] ?? null)),
  };
}

function toBarPerkBody(perk: BarPerkDefinition, available: number | null) {
  return { id: perk.id, name: perk.name, price: perk.price, max_per_ticket: perk.maxPerTicket, available };
}

export function toAvailabilityBody(row: TicketAvailability): EventBody['ticketAvailability'][number] {
  return {
    ticket_type_id: row.ticketTypeId,
    selling_stage_id: row.sellingStageId,
    performance_id: row.performanceId,
    price: row.price,
    on_sale: row.onSale,
    available: row.available,
    reserved: row.reserved,
  };
}
