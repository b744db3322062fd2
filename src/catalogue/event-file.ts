/** Writes a definition in the file form. `checkDefinition` of the result gives the same definition again. */
import type {
  EventDefinition,
  LegalDefinition,
  LocalityDefinition,
  NumberedLocality,
  PerformanceDefinition,
  PromoCodeDefinition,
  SeatDefinition,
  SellingStageDefinition,
  TicketTypeDefinition,
} from '#domain/catalogue/definition.ts';
import { holdMaxMinutesOf } from '#domain/catalogue/sale-plan.ts';
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

/** Every field is present and every seat, zone and shape listed; a plan becomes the sections that were read from it. */
export function toEventFile(definition: EventDefinition): EventFile {
  return {
    id: definition.id,
    slug: definition.slug,
    name: definition.name,
    description: definition.description,
    ...(definition.picture !== undefined && { picture: definition.picture }),
    ...(definition.venue !== undefined && { venue: { ...definition.venue } }),
    ...(definition.lineup !== undefined && { lineup: definition.lineup.map((entry) => ({ ...entry })) }),
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
    waiting_room_opens_at: formatInstant(definition.waitingRoomOpensAt),
    waiting_room_rate: definition.waitingRoomRate,
    waiting_room_minutes: definition.waitingRoomMinutes,
    waiting_room_inactivity_seconds: definition.waitingRoomInactivitySeconds,
    waiting_room_pause_when_sold_out: definition.waitingRoomPauseWhenSoldOut,
    waiting_room_max_admitted: definition.waitingRoomMaxAdmitted,
    max_tickets_per_order: definition.maxTicketsPerOrder,
    max_tickets_per_email: definition.maxTicketsPerEmail,
    require_individual_data: definition.requireIndividualData,
    retention_days: definition.retentionDays ?? null,
    ...(definition.legal !== undefined && { legal: toLegalFile(definition.legal) }),
    performances: definition.performances.map(toPerformanceFile),
    localities: definition.localities.map(toLocalityFile),
    ticketTypes: definition.ticketTypes.map(toTicketTypeFile),
    sellingStages: definition.sellingStages.map(toSellingStageFile),
    promoCodes: definition.promoCodes.map(toPromoCodeFile),
  };
}

function toLegalFile(legal: LegalDefinition): NonNullable<EventFile['legal']> {
  return {
    terms_url: legal.termsUrl,
    imprint_url: legal.imprintUrl,
    privacy_url: legal.privacyUrl,
    vat_percent: legal.vatPercent,
    order_button: legal.orderButton,
  };
}

function toPerformanceFile(performance: PerformanceDefinition): PerformanceFile {
  return {
    id: performance.id,
    name: performance.name,
    starts_at: formatInstant(performance.startsAt),
    ends_at: formatInstant(performance.endsAt),
    ...(performance.doorsAt !== undefined && { doors_at: formatInstant(performance.doorsAt) }),
    status: performance.status,
    sort_order: performance.sortOrder,
  };
}

function toLocalityFile(locality: LocalityDefinition): LocalityFile {
  const { id, name, seating } = locality;
  if (seating === 'GENERAL') return { id, name, seating, capacity: locality.capacity };
  return {
    id,
    name,
    seating,
    focal_point: locality.focalPoint && { ...locality.focalPoint },
    zones: locality.zones.map((zone) => ({ zone_key: zone.zoneKey, name: zone.name, color: zone.color })),
    sections: locality.sections.map(toSectionFile),
    shapes: locality.shapes.map((shape) => shape as Record<string, unknown>),
  };
}

function toSectionFile(section: NumberedLocality['sections'][number]): SectionFile {
  return {
    id: section.id,
    name: section.name,
    rows: section.rows.map((row) => ({
      label: row.label,
      seats: row.seats.map(toSeatFile),
      aisle_after: [...row.aisleAfter],
    })),
  };
}

function toSeatFile(seat: SeatDefinition): SeatFile {
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

function toTicketTypeFile(ticketType: TicketTypeDefinition): TicketTypeFile {
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

function toSellingStageFile(stage: SellingStageDefinition): SellingStageFile {
  return {
    id: stage.id,
    name: stage.name,
    starts_at: formatInstant(stage.startsAt),
    ends_at: formatInstant(stage.endsAt),
    sort_order: stage.sortOrder,
    prices: { ...stage.prices },
    quotas: { ...stage.quotas },
  };
}

function toPromoCodeFile(promo: PromoCodeDefinition): PromoCodeFile {
  return {
    code: promo.code,
    percent_off: promo.percentOff,
    amount_off: promo.amountOff,
    max_uses: promo.maxUses,
    ticket_type_ids: promo.ticketTypeIds && [...promo.ticketTypeIds],
    starts_at: formatInstant(promo.startsAt),
    ends_at: formatInstant(promo.endsAt),
  };
}

function formatInstant(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
