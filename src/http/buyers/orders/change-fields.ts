/**
 * The forms of the pages on which buyers change an order: their fields as a body of the API, and back.
 *
 * 1. A form may have any fields; unknown ones are ignored, and the body is checked like a body of the API.
 * 2. A quote is of certain seats: the best ones are looked up before it, and come back with the button.
 * 3. A person whose name does not change keeps the fields that no form shows.
 */
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { SeatFacts } from '#domain/catalogue/seating-plan.ts';
import { offerOf, unitsOf, type OfferedOrder } from '../../pages/change-offers.ts';
import {
  EMAIL_FIELD,
  NAME_FIELD,
  SEAT_FIELD,
  UNIT_FIELD,
  type ChangeContent,
  type FormFields,
} from '../../pages/changes.ts';
import { invalid, type Refused } from '../../protocol/errors.ts';
import { compileValidator, problemsOf as problemsOfSchema } from '../../protocol/validation.ts';
import { problemsOf, RequestFields, type RequestBody } from './amendments.ts';

type Content = Omit<ChangeContent, 'texts'>;

/** What the fields of a form ask for, as a body of the API says it. */
export function bodyOf({ kind, fields, order, opened }: Content): RequestBody {
  const chosen = chosenIn(fields);
  switch (kind) {
    case 'withdrawal':
    case 'cancel':
      return { cancel: chosen };
    case 'reissue':
      return { reissue: chosen };
    case 'change': {
      const to = {
        ...(isGiven(fields['performance_id']) && { performance_id: fields['performance_id'] }),
        ...(isGiven(fields['ticket_type_id']) && { ticket_type_id: fields['ticket_type_id'] }),
      };
      const { seated = [], others = [] } = Object.groupBy(chosen, (id) =>
        `${SEAT_FIELD}${id}` in fields ? 'seated' : 'others',
      );
      return {
        change: [
          ...(seated.length > 0
            ? [{ ticket_ids: seated, ...to, seat_ids: seated.map((id) => fields[`${SEAT_FIELD}${id}`]!) }]
            : []),
          ...(others.length > 0 ? [{ ticket_ids: others, ...to }] : []),
        ],
      };
    }
    case 'attendees': {
      const ticketOf = new Map(order.tickets.map((ticket) => [ticket.id, ticket]));
      const attendees = Object.entries(fields).flatMap(([field, name]) => {
        if (!field.startsWith(NAME_FIELD)) return [];
        const id = field.slice(NAME_FIELD.length);
        const ticket = ticketOf.get(id);
        const before = ticket === undefined ? undefined : opened.attendees[ticket.itemIndex]?.[ticket.offset];
        const email = fields[`${EMAIL_FIELD}${id}`]?.trim() ?? '';
        const isSame = before?.name === name.trim();
        const isUnchanged = (isSame && (before?.email ?? '') === email) || (before === undefined && name.trim() === '');
        if (isUnchanged && fields['quote'] === undefined) return [];
        const { documentNumber = null, phone = null } = isSame ? before : {};
        const kept = {
          ...(email !== '' && { email }),
          ...(documentNumber !== null && { document_number: documentNumber }),
          ...(phone !== null && { phone }),
        };
        return [{ ticket_id: id, attendee: { name: name.trim(), ...kept } }];
      });
      return { attendees };
    }
  }
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== '';

function chosenIn(fields: FormFields): readonly string[] & string[] {
  return Object.entries(fields).flatMap(([name, ids]) => (name.startsWith(UNIT_FIELD) ? ids.split(' ') : []));
}

/** The fields that stand for a body; the form with the button has them. */
export function fieldsOf(
  { cancel = [], reissue = [], change = [], attendees = [] }: RequestBody,
  { fields }: Content,
): FormFields {
  const chosen = [...cancel, ...reissue, ...change.flatMap(({ ticket_ids: ids }) => ids)];
  const seats = change.flatMap(({ ticket_ids: ids, seat_ids: seatIds }) =>
    (seatIds ?? []).map((seatId, index) => [`${SEAT_FIELD}${ids[index]!}`, seatId] as const),
  );
  const people = attendees.flatMap(({ ticket_id: id, attendee: { name, email } }) => [
    [`${NAME_FIELD}${id}`, name] as const,
    [`${EMAIL_FIELD}${id}`, email ?? ''] as const,
  ]);
  const to = ['performance_id', 'ticket_type_id'].flatMap((name) => {
    const value = fields[name];
    return change.length > 0 && isGiven(value) ? [[name, value] as const] : [];
  });
  const units = chosen.map((id, index) => [`${UNIT_FIELD}${index}`, id] as const);
  return Object.fromEntries([...units, ...seats, ...people, ...to]);
}

/** The fields of a form in which every ticket is chosen. */
export function fieldsOfAll(content: Omit<OfferedOrder, 'texts'> & Pick<Content, 'kind'>): FormFields {
  const units = unitsOf(content.order, offerOf(content.kind, content)?.tickets ?? []);
  return Object.fromEntries(units.map((unit, index) => [`${UNIT_FIELD}${index}`, unit.map(({ id }) => id).join(' ')]));
}

interface Wanted {
  readonly ticketTypeId: string;
  readonly count: number;
  readonly performanceId: string;
  readonly sessionKey: null;
}

type Suggest = (wanted: Wanted) => Promise<readonly SeatFacts[] | Refusal>;

/**
 * The best seats without `others`, which tickets of another type get. Where both would get the same seats, one block is
 * requested for both.
 */
async function bestBeside(
  others: ReadonlySet<string>,
  wanted: Wanted,
  suggest: Suggest,
): Promise<readonly SeatFacts[] | Refusal> {
  for (const count of new Set([wanted.count, wanted.count + others.size])) {
    const seats = await suggest({ ...wanted, count });
    if (isRefusal(seats)) return seats;
    const left = seats.filter(({ id }) => !others.has(id));
    if (left.length >= wanted.count) return left;
  }
  return [];
}

/** The fields with the best seats named, where a form asks for those (rule 2). */
export async function bestSeats(content: Content, suggest: Suggest): Promise<FormFields | Refusal> {
  const { fields, order, definition } = content;
  if (content.kind !== 'change' || fields['seats'] !== 'best') return fields;
  const chosen = new Set(chosenIn(fields));
  const groups = Map.groupBy(
    order.tickets.filter(({ id }) => chosen.has(id)),
    (ticket) =>
      JSON.stringify([
        fields['ticket_type_id'] || ticket.ticketTypeId,
        fields['performance_id'] || ticket.performanceId,
      ]),
  );
  const numbered = new Set(definition.localities.flatMap(({ id, seating }) => (seating === 'NUMBERED' ? [id] : [])));
  const found: [string, string][] = [];
  const foundOn = new Map<string, Set<string>>();
  for (const [key, tickets] of groups) {
    const [ticketTypeId, performanceId] = JSON.parse(key) as [string, string];
    const type = definition.ticketTypes.find(({ id }) => id === ticketTypeId);
    if (type === undefined || !numbered.has(type.localityId)) continue;
    const others = foundOn.get(performanceId) ?? new Set();
    const wanted = { ticketTypeId, performanceId, count: tickets.length, sessionKey: null };
    const seats = await bestBeside(others, wanted, suggest);
    if (isRefusal(seats)) return seats;
    // There is no such block: the quote says why not.
    if (seats.length < tickets.length) continue;
    found.push(...tickets.map(({ id }, index): [string, string] => [`${SEAT_FIELD}${id}`, seats[index]!.id]));
    foundOn.set(performanceId, new Set([...others, ...seats.slice(0, tickets.length).map(({ id }) => id)]));
  }
  return { ...fields, ...Object.fromEntries(found) };
}

const check = compileValidator({ schema: RequestFields } as Parameters<typeof compileValidator>[0]);

/** What is wrong with a request as the API would say it; null where nothing is (rule 1). */
export function refusalOf(body: RequestBody): Refused | null {
  const isValid = check(body) === true;
  const problems = isValid ? problemsOf(body) : problemsOfSchema(check.errors ?? []);
  return problems.length === 0 ? null : invalid(problems);
}
