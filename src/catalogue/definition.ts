/**
 * Checks the file form of an event: returns the complete definition, or every problem.
 *
 * The schema is checked first. The cross-references are checked on the parts that the schema accepted, so that one answer lists
 * problems of both kinds.
 *
 * 1. The result depends on the JSON and on the plans that it names alone, not on a clock, chance or an earlier definition.
 * 2. A definition is complete: every default is filled in and every seat is listed.
 * 3. Every JSON value has a result; nothing is thrown.
 */
import type {
  EventDefinition,
  LegalDefinition,
  LocalityDefinition,
  PerformanceDefinition,
  PromoCodeDefinition,
  SellingStageDefinition,
  TicketTypeDefinition,
  VenueDefinition,
} from '#domain/catalogue/definition.ts';
import { invariant } from '#domain/invariant.ts';
import { holdMaxMinutesOf } from '#domain/catalogue/sale-plan.ts';
import { collectProblems, pointer, type CatalogueProblem } from './problem.ts';
import { createSeatRegister } from './hall-checks.ts';
import { checkReferences, defaultHoldMinutes, defaultPaymentMinutes, type Seatings } from './references.ts';
import type {
  EventFile,
  LocalityFile,
  PerformanceFile,
  PromoCodeFile,
  SellingStageFile,
  TicketTypeFile,
  VenueFile,
} from './schema.ts';
import { isNumbered, readSeating, type Seating, type SeatingPlanReader } from './seating.ts';
import { checkEventShape } from './shape.ts';

export interface CheckOptions {
  /** Reads a plan that is named by its path; without it, a plan must be given inline. */
  readonly seatingPlan?: SeatingPlanReader;
}

export type CheckedDefinition =
  { readonly definition: EventDefinition } | { readonly problems: readonly CatalogueProblem[] };

/** The problems of the schema come first. */
export function checkDefinition(json: unknown, options: CheckOptions = {}): CheckedDefinition {
  const shape = checkEventShape<EventFile>(json);
  const { problems, report } = collectProblems(shape.problems);
  const event = shape.accepted;
  if (event === undefined) return { problems };

  const seats = createSeatRegister(report);
  const seatings = (event.localities ?? []).map(
    (locality, index) =>
      locality && readSeating(locality, pointer('/localities', index), options.seatingPlan, seats, report),
  );
  checkReferences(event, seatings, report);
  return problems.length > 0 ? { problems } : { definition: complete(json as EventFile, seatings) };
}

function complete(event: EventFile, seatings: Seatings): EventDefinition {
  const holdMinutes = event.hold_minutes ?? defaultHoldMinutes;
  return {
    id: event.id,
    slug: event.slug,
    name: event.name,
    description: event.description ?? '',
    ...(event.picture != null && { picture: event.picture }),
    ...(event.venue != null && { venue: completeVenue(event.venue) }),
    ...(event.lineup != null && { lineup: event.lineup.map(({ name, time = null }) => ({ name, time })) }),
    status: event.status ?? 'PUBLISHED',
    currency: event.currency,
    timezone: event.timezone ?? 'UTC',
    paymentProvider: event.payment_provider ?? 'provider_a',
    maxInstallments: event.max_installments ?? 1,
    holdMinutes,
    holdMaxMinutes: holdMaxMinutesOf({ holdMinutes, holdMaxMinutes: event.hold_max_minutes ?? null }),
    limitsAtHold: event.limits_at_hold ?? true,
    paymentMinutes: event.payment_minutes ?? defaultPaymentMinutes(holdMinutes),
    waitingRoom: event.waiting_room ?? false,
    waitingRoomOpensAt: instantOf(event.waiting_room_opens_at),
    waitingRoomRate: event.waiting_room_rate ?? 100,
    waitingRoomMinutes: event.waiting_room_minutes ?? 10,
    waitingRoomInactivitySeconds: event.waiting_room_inactivity_seconds ?? 120,
    waitingRoomPauseWhenSoldOut: event.waiting_room_pause_when_sold_out ?? false,
    waitingRoomMaxAdmitted: event.waiting_room_max_admitted ?? null,
    maxTicketsPerOrder: event.max_tickets_per_order ?? null,
    maxTicketsPerEmail: event.max_tickets_per_email ?? null,
    requireIndividualData: event.require_individual_data ?? false,
    retentionDays: event.retention_days ?? null,
    ...(event.legal != null && { legal: completeLegal(event.legal) }),
    performances: event.performances.map((performance, index) => completePerformance(performance, index, event)),
    localities: event.localities.map((locality, index) => completeLocality(locality, seatings[index])),
    ticketTypes: event.ticketTypes.map((ticketType) => completeTicketType(ticketType, event.localities)),
    sellingStages: event.sellingStages.map(completeSellingStage),
    promoCodes: (event.promoCodes ?? []).map(completePromoCode),
  };
}

function completeVenue({ name, address = null, city = null, country = null }: VenueFile): VenueDefinition {
  return { name, address, city, country };
}

function completeLegal(legal: NonNullable<EventFile['legal']>): LegalDefinition {
  return {
    termsUrl: legal.terms_url ?? null,
    imprintUrl: legal.imprint_url ?? null,
    privacyUrl: legal.privacy_url ?? null,
    vatPercent: legal.vat_percent ?? null,
    orderButton: legal.order_button ?? null,
  };
}

function completePerformance(performance: PerformanceFile, index: number, event: EventFile): PerformanceDefinition {
  const startsAt = instantOf(performance.starts_at);
  const doorsAt = doorsOf(performance, startsAt, event.doors_minutes ?? null);
  return {
    id: performance.id,
    name: performance.name ?? event.name,
    startsAt,
    endsAt: instantOf(performance.ends_at),
    ...(doorsAt !== null && { doorsAt }),
    status: performance.status ?? 'ON_SALE',
    sortOrder: performance.sort_order ?? index,
  };
}

/** A time of its own, else the event's minutes before the start. */
function doorsOf({ doors_at: own }: PerformanceFile, startsAt: number | null, minutes: number | null): number | null {
  if (own != null) return instantOf(own);
  return startsAt === null || minutes === null ? null : Math.max(0, startsAt - minutes * 60_000);
}

function completeLocality(locality: LocalityFile, seating: Seating | undefined): LocalityDefinition {
  const { id, name = id, capacity, focal_point: focalPoint = null } = locality;
  if (!isNumbered(locality)) {
    invariant(capacity !== undefined, 'a GENERAL locality of a valid event has a capacity');
    return { id, name, seating: 'GENERAL', capacity };
  }
  invariant(seating !== undefined, 'a NUMBERED locality of a valid event has seats');
  return {
    id,
    name,
    seating: 'NUMBERED',
    focalPoint: focalPoint && { x: focalPoint.x, y: focalPoint.y },
    zones: seating.zones,
    sections: seating.sections,
    shapes: seating.shapes,
  };
}

function completeTicketType(ticketType: TicketTypeFile, localities: readonly LocalityFile[]): TicketTypeDefinition {
  return {
    id: ticketType.id,
    name: ticketType.name ?? ticketType.id,
    description: ticketType.description ?? '',
    localityId: ticketType.locality_id ?? localities[0]?.id ?? '',
    zoneKeys: ticketType.zone_keys ?? null,
    groupSize: ticketType.group_size ?? 1,
    maxPerOrder: ticketType.max_per_order ?? null,
    quota: ticketType.quota ?? null,
    accessible: ticketType.accessible ?? false,
    entryCutoff: ticketType.entry_cutoff ?? null,
    lateFee: ticketType.late_fee ?? null,
    minConsumption: ticketType.min_consumption ?? null,
    barPerks: (ticketType.barPerks ?? []).map((perk) => ({
      id: perk.id,
      name: perk.name ?? perk.id,
      price: perk.price,
      stock: perk.stock ?? null,
      maxPerTicket: perk.max_per_ticket ?? null,
    })),
  };
}

function completeSellingStage(stage: SellingStageFile, index: number): SellingStageDefinition {
  const quotas = Object.entries(stage.quotas ?? {}).filter((entry): entry is [string, number] => entry[1] !== null);
  return {
    id: stage.id,
    name: stage.name ?? stage.id,
    startsAt: instantOf(stage.starts_at),
    endsAt: instantOf(stage.ends_at),
    sortOrder: stage.sort_order ?? index,
    prices: { ...stage.prices },
    quotas: Object.fromEntries(quotas),
  };
}

function completePromoCode(promo: PromoCodeFile): PromoCodeDefinition {
  return {
    code: promo.code,
    percentOff: promo.percent_off ?? null,
    amountOff: promo.amount_off ?? null,
    maxUses: promo.max_uses ?? null,
    ticketTypeIds: promo.ticket_type_ids ?? null,
    startsAt: instantOf(promo.starts_at),
    endsAt: instantOf(promo.ends_at),
  };
}

function instantOf(text: string | null | undefined): number | null {
  return text === undefined || text === null ? null : Date.parse(text);
}
