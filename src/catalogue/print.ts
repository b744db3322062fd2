/** Prints a checked definition in the file form: the way back from `definition.ts`, so that checking what is printed gives the same. */
import type {
  EventDefinition,
  LocalityDefinition,
  NumberedLocality,
  PerformanceDefinition,
  PromoCodeDefinition,
  SeatDefinition,
  SellingStageDefinition,
  TicketTypeDefinition,
} from '#domain/catalogue.ts';
import { holdMaxMinutesOf } from '#domain/sale-plan.ts';
import type {
  EventFile,
  LocalityFile,
  PerformanceFile,
  PromoCodeFile,
  SeatFile,
  SectionFile,
  SellingStageFile,
  TicketTypeFile,
} from './schema.ts';

/** Prints every field, with each seat, zone and shape spelled out; a plan comes back as the sections it was read into. */
export function printDefinition(definition: EventDefinition): EventFile {
  return {
    id: definition.id,
    slug: definition.slug,
    name: definition.name,
    description: definition.description,
    status: definition.status,
    currency: definition.currency,
    timezone: definition.timezone,
    payment_provider: definition.paymentProvider,
    max_installments: definition.maxInstallments,
    hold_minutes: definition.holdMinutes,
    hold_max_minutes: holdMaxMinutesOf(definition),
    limits_at_hold: definition.limitsAtHold ?? true,
    payment_minutes: definition.paymentMinutes,
    waiting_room: definition.waitingRoom,
    waiting_room_opens_at: printInstant(definition.waitingRoomOpensAt),
    waiting_room_rate: definition.waitingRoomRate,
    waiting_room_minutes: definition.waitingRoomMinutes,
    waiting_room_inactivity_seconds: definition.waitingRoomInactivitySeconds,
    waiting_room_pause_when_sold_out: definition.waitingRoomPauseWhenSoldOut,
    waiting_room_max_admitted: definition.waitingRoomMaxAdmitted,
    max_tickets_per_order: definition.maxTicketsPerOrder,
    max_tickets_per_email: definition.maxTicketsPerEmail,
    require_individual_data: definition.requireIndividualData,
    performances: definition.performances.map(printPerformance),
    localities: definition.localities.map(printLocality),
    ticketTypes: definition.ticketTypes.map(printTicketType),
    sellingStages: definition.sellingStages.map(printSellingStage),
    promoCodes: definition.promoCodes.map(printPromoCode),
  };
}

function printPerformance(performance: PerformanceDefinition): PerformanceFile {
  return {
    id: performance.id,
    name: performance.name,
    starts_at: printInstant(performance.startsAt),
    ends_at: printInstant(performance.endsAt),
    status: performance.status,
    sort_order: performance.sortOrder,
  };
}

function printLocality(locality: LocalityDefinition): LocalityFile {
  const { id, name, seating } = locality;
  if (seating === 'GENERAL') return { id, name, seating, capacity: locality.capacity };
  return {
    id,
    name,
    seating,
    focal_point: locality.focalPoint && { ...locality.focalPoint },
    zones: locality.zones.map((zone) => ({ zone_key: zone.zoneKey, name: zone.name, color: zone.color })),
    sections: locality.sections.map(printSection),
    shapes: locality.shapes.map((shape) => shape as Record<string, unknown>),
  };
}

function printSection(section: NumberedLocality['sections'][number]): SectionFile {
  return {
    id: section.id,
    name: section.name,
    rows: section.rows.map((row) => ({
      label: row.label,
      seats: row.seats.map(printSeat),
      aisle_after: [...row.aisleAfter],
    })),
  };
}

function printSeat(seat: SeatDefinition): SeatFile {
  return {
    id: seat.id,
    label: seat.label,
    x: seat.x,
    y: seat.y,
    zone_key: seat.zoneKey,
    ...(seat.accessible ? { accessible: true } : {}),
    ...(seat.restrictedView ? { restricted_view: true } : {}),
  };
}

function printTicketType(ticketType: TicketTypeDefinition): TicketTypeFile {
  return {
    id: ticketType.id,
    name: ticketType.name,
    description: ticketType.description,
    locality_id: ticketType.localityId,
    zone_keys: ticketType.zoneKeys && [...ticketType.zoneKeys],
    group_size: ticketType.groupSize,
    max_per_order: ticketType.maxPerOrder,
    quota: ticketType.quota,
    accessible: ticketType.accessible,
    entry_cutoff: ticketType.entryCutoff,
    late_fee: ticketType.lateFee,
    min_consumption: ticketType.minConsumption,
    barPerks: ticketType.barPerks.map((perk) => ({
      id: perk.id,
      name: perk.name,
      price: perk.price,
      stock: perk.stock,
      max_per_ticket: perk.maxPerTicket,
    })),
  };
}

function printSellingStage(stage: SellingStageDefinition): SellingStageFile {
  return {
    id: stage.id,
    name: stage.name,
    starts_at: printInstant(stage.startsAt),
    ends_at: printInstant(stage.endsAt),
    sort_order: stage.sortOrder,
    prices: { ...stage.prices },
    quotas: { ...stage.quotas },
  };
}

function printPromoCode(promo: PromoCodeDefinition): PromoCodeFile {
  return {
    code: promo.code,
    percent_off: promo.percentOff,
    amount_off: promo.amountOff,
    max_uses: promo.maxUses,
    ticket_type_ids: promo.ticketTypeIds && [...promo.ticketTypeIds],
    starts_at: printInstant(promo.startsAt),
    ends_at: printInstant(promo.endsAt),
  };
}

function printInstant(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
