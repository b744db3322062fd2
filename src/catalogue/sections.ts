/**
 * Lays out the short form of a hall: sections of rows, a row given as a number of seats or a list of them.
 *
 * 1. A seat without a label has its number in the row ("1", "2", …); without an id it has `section-row-label`.
 * 2. A seat belongs to its section's zone, which is the section's id unless `zone_key` names another.
 * 3. Seats are `seatSpacing` apart. An aisle doubles that gap, so that an import of the picture (gaps over 1.5 times
 *    the usual) finds it again.
 * 4. A section without a `position` is placed behind every seat before it.
 */
import { pointer } from '#domain/schema-problems.ts';
import type {
  SeatDefinition,
  SeatRowDefinition,
  SectionDefinition,
  ZoneDefinition,
} from '#domain/catalogue/definition.ts';
import type { Accepted, Report } from './shape.ts';
import type { SeatFile, SeatRowFile, SectionFile, ZoneFile } from './hall-fields.ts';
import type { SeatRegister } from './hall-checks.ts';
import { coordinateMax } from './values.ts';

const seatSpacing = 25;
const aisleWidth = 25;
const rowSpacing = 40;
const sectionSpacing = 80;

/** Okabe and Ito's colours, which people with any colour vision can distinguish; black is used for lines. */
const palette = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#F0E442'];

interface RowPosition {
  readonly sectionId: string;
  readonly zoneKey: string;
  readonly left: number;
  readonly y: number;
}

/** Lays out the sections in their order; parts that the schema refused are skipped. `path` is that of the list. */
export function layOutSections(
  sections: Accepted<SectionFile[]>,
  path: string,
  seats: SeatRegister,
  report: Report,
): SectionDefinition[] {
  const laidOut: SectionDefinition[] = [];
  let top = 0;
  for (const [index, section] of sections.entries()) {
    if (section?.id === undefined) continue;
    const left = section.position?.x ?? 0;
    const front = section.position?.y ?? top;
    const inSection = { sectionId: section.id, zoneKey: section.zone_key ?? section.id, left };
    const rows = (section.rows ?? []).map((row, place) =>
      layOutRow(
        row ?? {},
        place,
        { ...inSection, y: front + place * rowSpacing },
        pointer(path, index, 'rows', place),
        seats,
        report,
      ),
    );
    laidOut.push({ id: section.id, name: section.name ?? section.id, rows });
    for (const row of rows) for (const seat of row.seats) top = Math.max(top, seat.y + sectionSpacing);
  }
  return laidOut;
}

function layOutRow(
  row: Accepted<SeatRowFile>,
  place: number,
  at: RowPosition,
  path: string,
  seats: SeatRegister,
  report: Report,
): SeatRowDefinition {
  const label = row.label ?? String(place + 1);
  const seatCount = typeof row.seats === 'number' ? row.seats : (row.seats?.length ?? 0);
  if (!seats.addSeats(seatCount, pointer(path, 'seats'))) return { label, seats: [], aisleAfter: [] };

  checkPlaces(row, seatCount, path, report);
  if (at.y > coordinateMax) report(path, 'would stand beyond the edge of the picture');

  const listed: readonly (Accepted<SeatFile> | undefined)[] =
    typeof row.seats === 'number' ? new Array(seatCount).fill(undefined) : (row.seats ?? []);
  const aisles = new Set(row.aisle_after);
  const accessible = new Set(row.accessible);
  const restricted = new Set(row.restricted_view);
  let x = at.left;
  const laidOut = listed.map((seat, index): SeatDefinition => {
    if (index > 0) x += aisles.has(index) ? seatSpacing + aisleWidth : seatSpacing;
    const seatLabel = seat?.label ?? String(index + 1);
    const id = seat?.id ?? `${at.sectionId}-${label}-${seatLabel}`;
    seats.addId(id, typeof row.seats === 'number' ? pointer(path, 'seats') : pointer(path, 'seats', index, 'id'));
    return {
      id,
      label: seatLabel,
      x: seat?.x ?? x,
      y: seat?.y ?? at.y,
      zoneKey: seat?.zone_key ?? at.zoneKey,
      accessible: (seat?.accessible ?? false) || accessible.has(index + 1),
      restrictedView: (seat?.restricted_view ?? false) || restricted.has(index + 1),
    };
  });
  return { label, seats: laidOut, aisleAfter: [...aisles].filter(isNumber).sort((a, b) => a - b) };
}

function checkPlaces(row: Accepted<SeatRowFile>, seatCount: number, path: string, report: Report): void {
  const check = (field: 'aisle_after' | 'accessible' | 'restricted_view', last: number, rule: string): void => {
    for (const [index, place] of (row[field] ?? []).entries()) {
      if (place !== undefined && place > last) report(pointer(path, field, index), rule);
    }
  };
  check('aisle_after', seatCount - 1, 'must leave a seat behind the aisle');
  check('accessible', seatCount, 'must be the place of a seat in the row');
  check('restricted_view', seatCount, 'must be the place of a seat in the row');
}

function isNumber(value: number | undefined): value is number {
  return value !== undefined;
}

/**
 * The zones of a hall: those listed, then those that only seats name, in order of appearance. A zone without a colour
 * gets one.
 */
export function completeZones(
  listed: readonly (Accepted<ZoneFile> | undefined)[],
  sections: readonly SectionDefinition[],
): ZoneDefinition[] {
  const zones = new Map<string, ZoneDefinition>();
  const add = (zoneKey: string, name: string, color: string | null | undefined): void => {
    if (zones.has(zoneKey)) return;
    const ownColor = color === undefined ? (palette[zones.size % palette.length] ?? null) : color;
    zones.set(zoneKey, { zoneKey, name, color: ownColor });
  };
  for (const zone of listed) {
    if (zone?.zone_key !== undefined) add(zone.zone_key, zone.name ?? zone.zone_key, zone.color);
  }
  for (const section of sections) {
    for (const row of section.rows) for (const seat of row.seats) add(seat.zoneKey, seat.zoneKey, undefined);
  }
  return [...zones.values()];
}
