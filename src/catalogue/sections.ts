/**
 * The short form of a hall for people who type: sections of rows, a row as a number of seats or a list of them.
 *
 * `definition.ts` calls it for a locality with `sections`; halls drawn in an editor come through `seating-plan.ts`.
 * What the typist leaves out is filled in:
 *
 *  1. A seat is labelled by its place in the row ("1", "2", …) and has the id `section-row-label`.
 *  2. A seat belongs to its section's zone, which is the section's id unless a `zone_key` says otherwise.
 *  3. Seats stand `seatSpacing` apart, and an aisle widens the gap to twice that, so that the picture shows it and an
 *     import of the picture (gaps over 1.5 times the usual) would find it again.
 *  4. Sections are laid out one behind the other, clear of every seat before them, unless they have a `position`.
 */
import type { SeatDefinition, SeatRowDefinition, SectionDefinition, ZoneDefinition } from '#domain/catalogue.ts';
import { pointer, type Report } from './problem.ts';
import { coordinateMax, type SeatFile, type SeatRowFile, type SectionFile, type ZoneFile } from './schema.ts';
import type { SeatRegister } from './seat-register.ts';
import type { Judged } from './shape.ts';

const seatSpacing = 25;
const aisleWidth = 25;
const rowSpacing = 40;
const sectionSpacing = 80;

/** Okabe and Ito's colours, which people with any colour vision can tell apart; black is left to the picture's lines. */
const palette = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#F0E442'];

/** What a row needs to know of the section around it. */
interface Surroundings {
  readonly sectionId: string;
  readonly zoneKey: string;
  readonly left: number;
  readonly y: number;
}

/** Lays out sections as listed; parts that the schema refused are passed over. `path` leads to the list. */
export function layOutSections(
  sections: Judged<SectionFile[]>,
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
    const surroundings = { sectionId: section.id, zoneKey: section.zone_key ?? section.id, left };
    const rows = (section.rows ?? []).map((row, place) =>
      layOutRow(
        row ?? {},
        place,
        { ...surroundings, y: front + place * rowSpacing },
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
  row: Judged<SeatRowFile>,
  place: number,
  around: Surroundings,
  path: string,
  seats: SeatRegister,
  report: Report,
): SeatRowDefinition {
  const label = row.label ?? String(place + 1);
  const seatCount = typeof row.seats === 'number' ? row.seats : (row.seats?.length ?? 0);
  if (!seats.admit(seatCount, pointer(path, 'seats'))) return { label, seats: [], aisleAfter: [] };

  checkPlaces(row, seatCount, path, report);
  if (around.y > coordinateMax) report(path, 'would stand beyond the edge of the picture');

  const listed: readonly (Judged<SeatFile> | undefined)[] =
    typeof row.seats === 'number' ? new Array(seatCount).fill(undefined) : (row.seats ?? []);
  const aisles = new Set(row.aisle_after);
  const accessible = new Set(row.accessible);
  const restricted = new Set(row.restricted_view);
  let x = around.left;
  const laidOut = listed.map((seat, index): SeatDefinition => {
    if (index > 0) x += aisles.has(index) ? seatSpacing + aisleWidth : seatSpacing;
    const seatLabel = seat?.label ?? String(index + 1);
    const id = seat?.id ?? `${around.sectionId}-${label}-${seatLabel}`;
    seats.claim(id, typeof row.seats === 'number' ? pointer(path, 'seats') : pointer(path, 'seats', index, 'id'));
    return {
      id,
      label: seatLabel,
      x: seat?.x ?? x,
      y: seat?.y ?? around.y,
      zoneKey: seat?.zone_key ?? around.zoneKey,
      accessible: (seat?.accessible ?? false) || accessible.has(index + 1),
      restrictedView: (seat?.restricted_view ?? false) || restricted.has(index + 1),
    };
  });
  return { label, seats: laidOut, aisleAfter: [...aisles].filter(isNumber).sort((a, b) => a - b) };
}

function checkPlaces(row: Judged<SeatRowFile>, seatCount: number, path: string, report: Report): void {
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

/** The zones of a hall: those listed, then those only seats name, in order of appearance. Zones without a colour get one. */
export function completeZones(
  listed: readonly (Judged<ZoneFile> | undefined)[],
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
