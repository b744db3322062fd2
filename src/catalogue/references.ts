/**
 * Checks what a schema cannot express: ids that must be unique or exist, times and windows that must fit each other.
 *
 * The input has only the parts that the schema accepted: every field may be missing and every list item may be a hole.
 * A missing part has its own problem already and is skipped.
 */
import { pointer, suggestion } from '#domain/schema-problems.ts';
import {
  defaultHoldMinutes,
  defaultPaymentMinutes,
  type EventFile,
  type PromoCodeFile,
  type SellingStageFile,
  type TicketTypeFile,
} from './event-fields.ts';
import type { Accepted, Report } from './shape.ts';
import { isNumbered, type Seating, type Seatings } from './seating.ts';

export function checkReferences(event: Accepted<EventFile>, seatings: Seatings, report: Report): void {
  checkWindows(event, report);
  checkTimezone(event.timezone, report);
  checkInstant(event.waiting_room_opens_at, '/waiting_room_opens_at', report);
  checkPerformances(event, report);
  checkLocalities(event, report);
  checkTicketTypes(event, seatings, report);
  checkSellingStages(event, report);
  checkPromoCodes(event, report);
  checkBuyerChanges(event, report);
  checkDoors(event, report);
  checkProduct(event, report);
}

/** Rows of availability in an event: each is a figure that a read of the event computes in one pass. */
const rowsMax = 200_000;

function checkProduct(
  { performances = [], ticketTypes = [], sellingStages = [] }: Accepted<EventFile>,
  report: Report,
): void {
  const rows = performances.length * ticketTypes.length * sellingStages.length;
  if (rows <= rowsMax) return;
  const product = `${performances.length} dates × ${ticketTypes.length} ticket types × ${sellingStages.length} stages`;
  report('/performances', `are too many: ${product} are ${rows}, at most ${rowsMax} are allowed`);
}

function checkWindows(event: Accepted<EventFile>, report: Report): void {
  const holdMinutes = event.hold_minutes ?? defaultHoldMinutes;
  const holdMaxMinutes = event.hold_max_minutes ?? 0;
  if (holdMaxMinutes !== 0 && holdMaxMinutes < holdMinutes) {
    report('/hold_max_minutes', `must be at least hold_minutes (${holdMinutes}), or 0 for no ceiling`);
  }
  const paymentMinutes = event.payment_minutes ?? defaultPaymentMinutes(holdMinutes);
  if (paymentMinutes <= holdMinutes) report('/payment_minutes', `must be more than hold_minutes (${holdMinutes})`);
}

function checkTimezone(timezone: string | undefined, report: Report): void {
  if (timezone === undefined) return;
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    const near = suggestion(timezone, Intl.supportedValuesOf('timeZone'));
    report('/timezone', `must be a time zone of the IANA list${near || ', such as Europe/Berlin'}`);
  }
}

function checkPerformances({ performances = [] }: Accepted<EventFile>, report: Report): void {
  checkUnique(performances, '/performances', 'id', report);
  for (const [index, performance] of performances.entries()) {
    const path = pointer('/performances', index);
    checkSpan(performance, path, report);
    const doorsAt = checkInstant(performance?.doors_at, pointer(path, 'doors_at'), report);
    const startsAt = performance?.starts_at == null ? null : Date.parse(performance.starts_at);
    if (doorsAt !== null && startsAt !== null && doorsAt > startsAt) {
      report(pointer(path, 'doors_at'), 'must not be later than starts_at');
    }
  }
}

function checkLocalities({ localities = [] }: Accepted<EventFile>, report: Report): void {
  checkUnique(localities, '/localities', 'id', report);
  for (const [index, locality] of localities.entries()) {
    const path = pointer('/localities', index);
    checkUnique(locality?.sections ?? [], pointer(path, 'sections'), 'id', report);
    checkUnique(locality?.zones ?? [], pointer(path, 'zones'), 'zone_key', report);
  }
}

function checkTicketTypes(event: Accepted<EventFile>, seatings: Seatings, report: Report): void {
  const { ticketTypes = [] } = event;
  checkUnique(ticketTypes, '/ticketTypes', 'id', report);
  for (const [index, ticketType] of ticketTypes.entries()) {
    if (ticketType === undefined) continue;
    const path = pointer('/ticketTypes', index);
    checkLocalityOf(ticketType, path, event, seatings, report);
    checkUnique(ticketType.barPerks ?? [], pointer(path, 'barPerks'), 'id', report);
  }
}

function checkLocalityOf(
  ticketType: Accepted<TicketTypeFile>,
  path: string,
  { localities }: Accepted<EventFile>,
  seatings: Seatings,
  report: Report,
): void {
  if (localities === undefined) return;
  const { locality_id: localityId } = ticketType;
  if (localityId === undefined && localities.length !== 1) {
    report(pointer(path, 'locality_id'), 'is required where the event has several localities');
    return;
  }
  const index = localityId === undefined ? 0 : localities.findIndex((locality) => locality?.id === localityId);
  if (index < 0) {
    report(
      pointer(path, 'locality_id'),
      `"${localityId}" is not a locality of the event${near(localityId, localities)}`,
    );
    return;
  }
  const locality = localities[index];
  if (locality !== undefined && !isNumbered(locality)) {
    if (ticketType.zone_keys)
      report(pointer(path, 'zone_keys'), `must be absent: "${locality.id}" has no numbered seats`);
    return;
  }
  const seating = seatings[index];
  if (seating !== undefined) checkSeatsOf(ticketType, path, seating, report);
}

function checkSeatsOf(ticketType: Accepted<TicketTypeFile>, path: string, seating: Seating, report: Report): void {
  const known = new Set(seating.zones.map((zone) => zone.zoneKey));
  for (const [place, zoneKey] of (ticketType.zone_keys ?? []).entries()) {
    if (zoneKey !== undefined && !known.has(zoneKey)) {
      report(
        pointer(path, 'zone_keys', place),
        `"${zoneKey}" is not a zone of the locality${suggestion(zoneKey, known)}`,
      );
    }
  }
}

function checkSellingStages({ sellingStages = [], ticketTypes }: Accepted<EventFile>, report: Report): void {
  checkUnique(sellingStages, '/sellingStages', 'id', report);
  for (const [index, stage] of sellingStages.entries()) {
    const path = pointer('/sellingStages', index);
    checkSpan(stage, path, report);
    checkTypeIds(Object.keys(stage?.prices ?? {}), (id) => pointer(path, 'prices', id), ticketTypes, report);
    checkTypeIds(Object.keys(stage?.quotas ?? {}), (id) => pointer(path, 'quotas', id), ticketTypes, report);
  }
  if (sellingStages.length > 0 && !sellingStages.some(hasPrice)) {
    report('/sellingStages', 'must have a price for at least one ticket type');
  }
}

function hasPrice(stage: Accepted<SellingStageFile> | undefined): boolean {
  return Object.keys(stage?.prices ?? {}).length > 0;
}

function checkPromoCodes({ promoCodes = [], ticketTypes }: Accepted<EventFile>, report: Report): void {
  const codes = new Set<string>();
  for (const [index, promo] of promoCodes.entries()) {
    if (promo === undefined) continue;
    const path = pointer('/promoCodes', index);
    const code = promo.code?.toLowerCase();
    if (code !== undefined && codes.has(code))
      report(pointer(path, 'code'), `"${promo.code}" is used by another promo code`);
    if (code !== undefined) codes.add(code);
    checkDiscount(promo, path, report);
    checkSpan(promo, path, report);
    const typeIds = promo.ticket_type_ids ?? [];
    checkTypeIds(typeIds, (_, place) => pointer(path, 'ticket_type_ids', place), ticketTypes, report);
  }
}

function checkBuyerChanges({ buyer_changes: changes, ticketTypes }: Accepted<EventFile>, report: Report): void {
  for (const kind of ['cancel', 'change', 'attendees'] as const) {
    const typeIds = changes?.[kind]?.ticket_type_ids ?? [];
    const pathOf = (_: string, place: number): string => pointer('/buyer_changes', kind, 'ticket_type_ids', place);
    checkTypeIds(typeIds, pathOf, ticketTypes, report);
  }
}

function checkDoors({ doors, ticketTypes }: Accepted<EventFile>, report: Report): void {
  checkUnique(doors ?? [], '/doors', 'id', report);
  for (const [index, door] of (doors ?? []).entries()) {
    const pathOf = (_: string, place: number): string => pointer('/doors', index, 'ticket_type_ids', place);
    checkTypeIds(door?.ticket_type_ids ?? [], pathOf, ticketTypes, report);
  }
}

function checkDiscount(promo: Accepted<PromoCodeFile>, path: string, report: Report): void {
  const hasPercent = (promo.percent_off ?? null) !== null;
  const hasAmount = (promo.amount_off ?? null) !== null;
  if (hasPercent && hasAmount) report(pointer(path, 'amount_off'), 'must be null where percent_off is given');
  if (!hasPercent && !hasAmount) report(pointer(path, 'percent_off'), 'is required, unless there is an amount_off');
}

function checkTypeIds(
  ids: readonly (string | undefined)[],
  pathOf: (id: string, place: number) => string,
  ticketTypes: Accepted<TicketTypeFile[]> | undefined,
  report: Report,
): void {
  if (ticketTypes === undefined) return;
  for (const [place, id] of ids.entries()) {
    if (id !== undefined && !ticketTypes.some((ticketType) => ticketType?.id === id)) {
      report(pathOf(id, place), `"${id}" is not a ticket type of the event${near(id, ticketTypes)}`);
    }
  }
}

/** The id among those of the items that was perhaps meant. */
function near(typed: string | undefined, items: readonly ({ readonly id?: string | undefined } | undefined)[]): string {
  return suggestion(
    typed ?? '',
    items.flatMap((item) => item?.id ?? []),
  );
}

/**
 * Ids are keys of plain objects in the journal and in replies, so the names that every object inherits are reserved.
 */
function isReserved(id: string): boolean {
  return id in {};
}

function checkUnique<Key extends 'id' | 'zone_key'>(
  items: readonly ({ readonly [K in Key]?: string | undefined } | undefined)[],
  path: string,
  key: Key,
  report: Report,
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const value = item?.[key];
    if (value === undefined) continue;
    if (seen.has(value)) report(pointer(path, index, key), `"${value}" is used more than once`);
    if (isReserved(value)) report(pointer(path, index, key), `"${value}" is a reserved word`);
    seen.add(value);
  }
}

interface Span {
  readonly starts_at?: string | null | undefined;
  readonly ends_at?: string | null | undefined;
}

function checkSpan(span: Span | undefined, path: string, report: Report): void {
  const startsAt = checkInstant(span?.starts_at, pointer(path, 'starts_at'), report);
  const endsAt = checkInstant(span?.ends_at, pointer(path, 'ends_at'), report);
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt) {
    report(pointer(path, 'ends_at'), 'must be later than starts_at');
  }
}

const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** The time in milliseconds; null when there is none, or when RFC 3339 cannot express it. */
function checkInstant(text: string | null | undefined, path: string, report: Report): number | null {
  if (text === undefined || text === null) return null;
  const instant = Date.parse(text);
  if (instant >= 0 && instant <= lastInstant) return instant;
  report(path, 'must be a time between 1970 and 9999, without leap seconds');
  return null;
}
