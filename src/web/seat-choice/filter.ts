/**
 * Which seats a buyer looks for: those of a price category, of a kind, or both. All others step back: they are drawn
 * fainter on the plan.
 */
import type { TicketType } from '#client/bodies.ts';
import type { SeatPlan } from '../seat-map/plan.ts';

export interface SeatFilter {
  /** The index of a price category. */
  readonly zone: number | null;
  /** `ACCESSIBLE`, `RESTRICTED`, or the id of a ticket type. */
  readonly kind: string | null;
}

export const ALL_SEATS: SeatFilter = { zone: null, kind: null };
export const ACCESSIBLE = 'ACCESSIBLE';
export const RESTRICTED = 'RESTRICTED';

type TypesBySeat = readonly (readonly TicketType[])[];

/** For each seat, whether it steps back; null where all are looked for. */
export function isBackOf(
  plan: SeatPlan,
  typesBySeat: TypesBySeat,
  { zone, kind }: SeatFilter,
): readonly boolean[] | null {
  if (zone === null && kind === null) return null;
  return plan.seats.map(({ accessible, restricted_view: restricted }, seat) => {
    if (zone !== null && plan.zoneOf[seat] !== zone) return true;
    if (kind === null) return false;
    if (kind === ACCESSIBLE) return !accessible;
    return kind === RESTRICTED ? !restricted : !typesBySeat[seat]!.some(({ id }) => id === kind);
  });
}

/**
 * The ticket types that are worth looking for: those of several price categories, but not of all. Categories lead to
 * the others.
 */
export function typesToFind(plan: SeatPlan, typesBySeat: TypesBySeat): readonly TicketType[] {
  const zonesOf = new Map<TicketType, Set<number>>();
  for (const [seat, types] of typesBySeat.entries()) {
    for (const type of types) {
      if (!zonesOf.has(type)) zonesOf.set(type, new Set());
      zonesOf.get(type)!.add(plan.zoneOf[seat]!);
    }
  }
  return [...zonesOf].flatMap(([type, { size }]) =>
    !type.accessible && size > 1 && size < plan.zones.length ? [type] : [],
  );
}
