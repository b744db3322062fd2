/**
 * The fields of a locality: a number of places, or a hall of sections, rows and seats.
 *
 * A hall is written by these tables and read by `seating.ts`, because where a seat stands depends on the seats before
 * it.
 */
import { Type } from 'typebox';
import { flag, list, nullable, onlyInFile, plain, present, record, required, widened, type FileOf } from './codec.ts';
import { colorOrNull, coordinate, count, id, label, name, oneOf, origin, point, seatId } from './values.ts';

export const rowSeatsMax = 2_000;
export const shapesMax = 5_000;

const seat = record({
  id: present(seatId, 'names the seat; section, row and label where left out'),
  label: present(label, 'the number on the seat; its place in the row where left out'),
  x: present(coordinate, 'where it stands in the plan; beside the seat before where left out'),
  y: present(coordinate, 'the same from top to bottom'),
  zone_key: present(name, 'its zone, where that is not the section’s'),
  accessible: flag('a place for a wheelchair'),
  restricted_view: flag('the view is restricted'),
});

const seatList = list(seat, { minItems: 1, maxItems: rowSeatsMax });

/** Places in a row, counted from 1 as listed. */
const places = plain(Type.Array(count(1, rowSeatsMax).schema, { maxItems: rowSeatsMax }));

const row = record({
  label: present(label, 'what the row is called; its number where left out'),
  seats: required(
    widened<SeatFile[], unknown, number>(seatList, () => ({
      type: ['integer', 'array'],
      minimum: 1,
      maximum: rowSeatsMax,
    })),
    'how many seats it has, or each of them',
  ),
  aisle_after: present(places, 'after which places an aisle is: seats beside it are no neighbours', []),
  accessible: onlyInFile(places, 'which places are for wheelchairs', []),
  restricted_view: onlyInFile(places, 'which places have a restricted view', []),
});

const section = record({
  id: required(id, 'names the section within its locality'),
  name: present(name, 'what buyers see; the id where left out'),
  zone_key: onlyInFile(name, 'the zone of its seats; the section’s id where left out'),
  position: onlyInFile(origin, 'where its first seat stands in the plan; behind the seats before where left out'),
  rows: required(list(row, { minItems: 1, maxItems: 2_000 }), 'its rows, from the first to the last'),
});

const zone = record({
  zone_key: required(name, 'names the zone in seats and ticket types'),
  name: present(name, 'what buyers see; the key where left out'),
  color: present(colorOrNull, 'its colour in the plan; one of a set where null', null),
});

export const locality = record({
  id: required(id, 'names the part of the venue in ticket types; it cannot change once something is held or sold'),
  name: present(name, 'what buyers see; the id where left out'),
  seating: present(
    oneOf('GENERAL', 'NUMBERED'),
    'NUMBERED has seats, GENERAL a number of places; where left out, NUMBERED if it has sections or a seating_plan',
  ),
  capacity: present(count(0), 'places of GENERAL seating, for each date'),
  seating_plan: onlyInFile(
    plain(Type.Unsafe<string | Record<string, unknown>>({ type: ['string', 'object'] })),
    'seats from a plan in pretix’s format: the plan, or its file beside the catalogue; in place of sections',
  ),
  focal_point: present(
    nullable(point),
    'what people look at: rows near it are the best. Rows are best as listed where null',
    null,
  ),
  zones: present(
    list(zone, { maxItems: 1_000 }),
    'names and colours of zones; those that only seats name need not be listed',
  ),
  sections: present(list(section, { minItems: 1, maxItems: 5_000 }), 'seats of NUMBERED seating by section and row'),
  shapes: present(
    plain(Type.Array(Type.Unsafe<unknown>({ type: 'object' }), { maxItems: shapesMax })),
    'what is drawn beside the seats; shown, not sold',
  ),
});

export type LocalityFile = FileOf<typeof locality>;
export type ZoneFile = FileOf<typeof zone>;
export type SectionFile = FileOf<typeof section>;
export type SeatRowFile = FileOf<typeof row>;
export type SeatFile = FileOf<typeof seat>;
