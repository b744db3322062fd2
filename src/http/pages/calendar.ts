/**
 * The dates of an order as a calendar file (RFC 5545), with the place and the event's page. It says nothing about
 * people and not the order's address: calendars are shared.
 */
import { createHash } from 'node:crypto';
import type { Brand } from '#brand/brand.ts';
import type { OrderView } from '#domain/view.ts';
import type { ShownVenue } from './place.ts';

/** The longest line of the format, in bytes. */
const LINE_BYTES_MAX = 75;

/** The performances of an order that have a time; those that were cancelled are marked as such. */
export function calendarOf(
  { id, placedAt, event }: Pick<OrderView, 'id' | 'placedAt' | 'event'>,
  shown: {
    readonly place: Pick<ShownVenue, 'inALine'> | null;
    readonly brand: Pick<Brand, 'name'>;
    readonly baseUrl: string;
  },
): string {
  const { place, brand, baseUrl } = shown;
  const location = place?.inALine ?? '';
  const { name: venue } = brand;
  const entries = event.performances.flatMap(({ id: performanceId, name, startsAt, endsAt, status }) => {
    if (startsAt === null) return [];
    const uid = createHash('sha256').update(`${id} ${performanceId}`).digest('hex').slice(0, 32);
    return [
      'BEGIN:VEVENT',
      `UID:${uid}@tickets`,
      `DTSTAMP:${stampOf(placedAt)}`,
      `DTSTART:${stampOf(startsAt)}`,
      ...(endsAt === null ? [] : [`DTEND:${stampOf(endsAt)}`]),
      `SUMMARY:${escaped(name === event.name ? name : `${event.name}: ${name}`)}`,
      ...(location === '' ? [] : [`LOCATION:${escaped(location)}`]),
      `URL:${baseUrl}/e/${encodeURIComponent(event.slug)}`,
      ...(status === 'CANCELLED' ? ['STATUS:CANCELLED'] : []),
      'END:VEVENT',
    ];
  });
  const maker = `PRODID:-//${escaped(venue ?? 'Tickets')}//Tickets//EN`;
  const lines = ['BEGIN:VCALENDAR', 'VERSION:2.0', maker, ...entries, 'END:VCALENDAR'];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

/** A moment as 20280923T210000Z. */
function stampOf(moment: number): string {
  return `${new Date(moment).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}

function escaped(text: string): string {
  return text
    .replace(/[\\;,]/g, (character) => `\\${character}`)
    .replace(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/g, '\\n')
    .replace(/\p{Cc}/gu, '');
}

/** Breaks a long line; the next part begins with a space. */
function folded(line: string): string {
  let bytes = 0;
  let text = '';
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LINE_BYTES_MAX) {
      text += '\r\n ';
      bytes = 1;
    }
    text += character;
    bytes += size;
  }
  return text;
}
