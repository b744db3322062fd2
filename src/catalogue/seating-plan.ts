/**
 * Imports a hall in pretix's open seating-plan format.
 *
 * The plan's zones become sections and its categories become zones (`zone_key` is the category's name). A zone without
 * seats becomes no section; only its shapes are kept. Positions are nested: a seat's is the sum of zone, row and seat.
 *
 * 1. Rows and seats keep the order of the plan.
 * 2. Labels are the plain numbers; `row_label` and `seat_label` ("Reihe %s") are texts for pages in one language.
 * 3. A gap of over 1.5 times the row's usual spacing is an aisle.
 */
import { pointer } from '#domain/schema-problems.ts';
import { Type, type Static } from 'typebox';
import type { Point, SeatRowDefinition, SectionDefinition } from '#domain/catalogue/definition.ts';
import { checkOutlines, type SeatRegister } from './hall-checks.ts';
import { rowSeatsMax, shapesMax, type ZoneFile } from './hall-fields.ts';
import { checkShape, type Report } from './shape.ts';
import { colorOrNull, id, label, name, offset, printable, seatId } from './values.ts';

const aisleGapRatio = 1.5;

/** Plan editors write an empty text for a missing name. */
const labelOrEmpty = Type.String({
  maxLength: 100,
  pattern: printable,
  description: 'a text of at most 100 characters without control characters',
});

/** As all of a plan it may have further fields, because the format is not ours. */
const position = Type.Object({ x: offset.schema, y: offset.schema });

const planSeat = Type.Object({
  seat_guid: seatId.schema,
  seat_number: Type.Optional(label.schema),
  position,
  category: name.schema,
  wheelchair: Type.Optional(Type.Boolean()),
});

const planRow = Type.Object({
  row_number: Type.Optional(labelOrEmpty),
  position: Type.Optional(position),
  seats: Type.Array(planSeat, { maxItems: rowSeatsMax }),
});

const planArea = Type.Unsafe<{ position?: Point } & Record<string, unknown>>({
  type: 'object',
  properties: { position },
});

const planZone = Type.Object({
  zone_id: Type.Optional(id.schema),
  name: Type.Optional(labelOrEmpty),
  position,
  rows: Type.Optional(Type.Array(planRow, { maxItems: 2_000 })),
  areas: Type.Optional(Type.Array(planArea, { maxItems: shapesMax })),
});

/** A plan in pretix's open seating-plan format: the parts that a sale needs. */
export const seatingPlanSchema = Type.Object({
  categories: Type.Array(Type.Object({ name: name.schema, color: Type.Optional(colorOrNull.schema) }), {
    maxItems: 1_000,
  }),
  zones: Type.Array(planZone, { minItems: 1, maxItems: 5_000 }),
});

type SeatingPlanFile = Static<typeof seatingPlanSchema>;
type PlanZoneFile = Static<typeof planZone>;
type PlanRowFile = Static<typeof planRow>;

interface ImportedPlan {
  /** The plan's categories, in the file form of zones. */
  readonly zones: readonly ZoneFile[];
  readonly sections: readonly SectionDefinition[];
  /** The plan's areas, with absolute positions. */
  readonly shapes: readonly Record<string, unknown>[];
}

/** Whether a JSON value is a seating plan rather than an event: it has `zones` and `categories`. */
export function isSeatingPlan(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'zones' in json && 'categories' in json;
}

/** Reports the plan's problems (below `path`); undefined when the schema refuses the plan. */
export function importSeatingPlan(
  plan: unknown,
  path: string,
  seats: SeatRegister,
  report: Report,
): ImportedPlan | undefined {
  const { problems } = checkShape<SeatingPlanFile>(seatingPlanSchema, plan);
  for (const problem of problems) report(path + problem.path, problem.message);
  if (problems.length > 0) return undefined;

  const { categories, zones } = plan as SeatingPlanFile;
  registerSeats(zones, new Set(categories.map((category) => category.name)), path, seats, report);
  for (const [index, zone] of zones.entries()) {
    checkOutlines(zone.areas ?? [], pointer(path, 'zones', index, 'areas'), report);
  }
  const sections = zones.map(sectionOf);
  checkSectionIds(sections, path, report);
  return {
    zones: categories.map(({ name, color }) => (color === undefined ? { zone_key: name } : { zone_key: name, color })),
    sections: sections.filter((section) => section.rows.length > 0),
    shapes: zones.flatMap(shapesOf),
  };
}

function registerSeats(
  zones: readonly PlanZoneFile[],
  categories: ReadonlySet<string>,
  path: string,
  seats: SeatRegister,
  report: Report,
): void {
  for (const [zoneIndex, zone] of zones.entries()) {
    for (const [rowIndex, row] of (zone.rows ?? []).entries()) {
      const rowPath = pointer(path, 'zones', zoneIndex, 'rows', rowIndex);
      if (!seats.addSeats(row.seats.length, rowPath)) return;
      for (const [index, seat] of row.seats.entries()) {
        seats.addId(seat.seat_guid, pointer(rowPath, 'seats', index, 'seat_guid'));
        if (!categories.has(seat.category)) {
          report(pointer(rowPath, 'seats', index, 'category'), `"${seat.category}" is not among the plan's categories`);
        }
      }
    }
  }
}

function checkSectionIds(sections: readonly SectionDefinition[], path: string, report: Report): void {
  const seen = new Set<string>();
  for (const [index, section] of sections.entries()) {
    if (seen.has(section.id)) {
      report(pointer(path, 'zones', index, 'zone_id'), `"${section.id}" is used by another zone of the plan`);
    }
    seen.add(section.id);
  }
}

function sectionOf(zone: PlanZoneFile, index: number): SectionDefinition {
  const id = zone.zone_id ?? (zone.name || `zone-${index + 1}`);
  const rows = (zone.rows ?? []).map((row, place) => rowOf(row, place, zone.position));
  return { id, name: zone.name || id, rows: rows.filter((row) => row.seats.length > 0) };
}

function rowOf(row: PlanRowFile, place: number, zonePosition: Point): SeatRowDefinition {
  const origin = sum(zonePosition, row.position);
  const seats = row.seats.map((seat, index) => ({
    id: seat.seat_guid,
    label: seat.seat_number ?? String(index + 1),
    ...sum(origin, seat.position),
    zoneKey: seat.category,
    accessible: seat.wheelchair ?? false,
    restrictedView: false,
  }));
  return { label: row.row_number || String(place + 1), seats, aisleAfter: aislesBetween(seats) };
}

/** The numbers of seats before each aisle (rule 3). The usual spacing is the median, the lower one of two. */
function aislesBetween(seats: readonly Point[]): number[] {
  const gaps = seats.slice(1).map((seat, index) => distance(seats[index] ?? seat, seat));
  const usualGap = gaps.toSorted((a, b) => a - b)[Math.floor((gaps.length - 1) / 2)] ?? 0;
  return gaps.flatMap((gap, index) => (gap > aisleGapRatio * usualGap ? [index + 1] : []));
}

function shapesOf(zone: PlanZoneFile): Record<string, unknown>[] {
  return (zone.areas ?? []).map((area) => ({ ...area, position: sum(zone.position, area.position) }));
}

function sum(a: Point, b: Point | undefined): Point {
  return { x: a.x + (b?.x ?? 0), y: a.y + (b?.y ?? 0) };
}

function distance(a: Point, b: Point): number {
  return Math.hypot(b.x - a.x, b.y - a.y);
}
