/**
 * Translates between the domain's names and the API's: bodies of requests to parts of commands, views to bodies of answers.
 *
 * Each function is typed by the schema of its body, so that body, validation and document agree.
 */
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { perkKey } from '#domain/catalogue/pricing.ts';
import type { TicketAvailability, EventSummary, EventView, PerformanceView } from '#domain/catalogue/view.ts';
import type { OccupancyView, SeatingView } from '#domain/inventory/view.ts';
import type {
  BarPerkDefinition,
  NumberedLocality,
  SeatDefinition,
  TicketTypeDefinition,
} from '#domain/catalogue/definition.ts';
import type { ItemRequest } from '#domain/command.ts';
import type { SeatFacts } from '#domain/catalogue/seating-plan.ts';
import type { HoldItemView, HoldView } from '#domain/views.ts';
import { formatMoment, formatTime } from './formats.ts';
import { PICTURES_PATH, type EventBody, type EventListEntryBody } from './schemas/events.ts';
import type { HoldBody, ItemBody } from './schemas/holds.ts';
import type { OccupancyBody, SeatBody, SeatingBody } from './schemas/seating.ts';

// ── holds ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export function readItem(item: ItemBody): ItemRequest {
  return {
    ticketTypeId: item.ticket_type_id,
    sellingStageId: item.selling_stage_id,
    quantity: item.quantity,
    performanceId: item.performance_id ?? null,
    seatIds: item.seat_ids ?? null,
  };
}

/** Seats that a request names in two of its items, for one performance: it contradicts itself, whatever the event. */
export function problemsOfSeats(
  items: readonly Pick<ItemBody, 'performance_id' | 'seat_ids'>[],
): readonly { readonly path: string; readonly message: string }[] {
  if (items.length < 2) return [];
  const named = new Set<string>();
  return items.flatMap(({ performance_id: performanceId = null, seat_ids: seatIds = [] }, index) =>
    seatIds.flatMap((seatId) => {
      const key = JSON.stringify([performanceId, seatId]);
      if (!named.has(key)) {
        named.add(key);
        return [];
      }
      return [{ path: `/items/${index}/seat_ids`, message: `seat ${seatId} is named twice` }];
    }),
  );
}

export function toHoldBody(hold: HoldView): HoldBody {
  return {
    id: hold.id,
    event_id: hold.eventId,
    status: hold.status,
    expires_at: formatTime(hold.expiresAt),
    order_id: hold.orderId,
    items: hold.items.map(toHoldItemBody),
  };
}

function toHoldItemBody(item: HoldItemView): HoldBody['items'][number] {
  return {
    ticket_type_id: item.ticketTypeId,
    selling_stage_id: item.sellingStageId,
    performance_id: item.performanceId,
    quantity: item.quantity,
    ticket_count: item.ticketCount,
    seat_ids: item.seatIds as string[],
    seat_labels: item.seatLabels as string[],
  };
}

// ── events ───────────────────────────────────────────────────────────────────────────────────────────────────────────

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
    ...(event.timezone !== undefined && { timezone: event.timezone }),
    ...(event.picture !== undefined && { picture: pictureAddress(event.picture) }),
    ...(event.venue !== undefined && { venue: { name: event.venue.name, city: event.venue.city } }),
  };
}

/** Where this service serves a picture; a name of the catalogue needs no escape. */
const pictureAddress = (picture: string): string => `${PICTURES_PATH}${picture}`;

export function toEventBody(view: EventView): EventBody {
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
    waiting_room_rate: definition.waitingRoomRate,
    waiting_room_minutes: definition.waitingRoomMinutes,
    max_tickets_per_order: definition.maxTicketsPerOrder,
    max_tickets_per_email: definition.maxTicketsPerEmail,
    require_individual_data: definition.requireIndividualData,
    max_installments: definition.maxInstallments,
    legal: toLegalBody(definition.legal),
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

/** What an event may say about itself beside its sale; fields that it does not set are absent. */
function toShowBody({ picture, venue, lineup }: EventDefinition): Pick<EventBody, 'picture' | 'venue' | 'lineup'> {
  return {
    ...(picture !== undefined && { picture: pictureAddress(picture) }),
    ...(venue !== undefined && { venue: { ...venue } }),
    ...(lineup !== undefined && { lineup: lineup.map(({ name, time }) => ({ name, time })) }),
  };
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
  const figures = several && {
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
    ...figures,
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

// ── seats ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export function toSeatingBody(view: SeatingView): SeatingBody {
  return { event_id: view.eventId, version: view.version, localities: view.localities.map(toLocalityBody) };
}

function toLocalityBody(locality: NumberedLocality): SeatingBody['localities'][number] {
  return {
    id: locality.id,
    name: locality.name,
    zones: locality.zones.map(({ zoneKey, name, color }) => ({ zone_key: zoneKey, name, color })),
    sections: locality.sections.map(({ id, name, rows }) => ({
      id,
      name,
      rows: rows.map(({ label, seats }) => ({ label, seats: seats.map(toSeatBody) })),
    })),
    shapes: locality.shapes as unknown[],
  };
}

function toSeatBody(seat: SeatDefinition) {
  return {
    id: seat.id,
    seat_label: seat.label,
    x: seat.x,
    y: seat.y,
    zone_key: seat.zoneKey,
    accessible: seat.accessible,
    restricted_view: seat.restrictedView,
  };
}

export function toOccupancyBody(view: OccupancyView): OccupancyBody {
  const which = { event_id: view.eventId, performance_id: view.performanceId };
  if (view.form === 'CHANGES') {
    return { ...which, since: view.since, version: view.version, changes: [...view.changes] };
  }
  const { version, available, held, sold, blocked } = view;
  return { ...which, version, available, held: [...held], sold: [...sold], blocked: [...blocked] };
}

/** A suggested seat; what is suggested is free at the moment of asking. */
export function toFreeSeatBody(seat: SeatFacts): SeatBody {
  return {
    id: seat.id,
    section_id: seat.sectionId,
    row_label: seat.rowLabel,
    seat_label: seat.seatLabel,
    x: seat.x,
    y: seat.y,
    zone_key: seat.zoneKey,
    accessible: seat.accessible,
    restricted_view: seat.restrictedView,
    state: 'AVAILABLE',
  };
}
