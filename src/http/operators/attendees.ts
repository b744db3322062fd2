/** Who may come to an event, as a list for those who stand at its doors. */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { readAt, type EventPort } from '#actors/event-port.ts';
import type { AttendeePage } from '#domain/doors/attendees.ts';
import { isRefusal } from '#domain/refusal.ts';
import { ATTENDEE_CSV, attendeeRecords, type AttendeeRecord } from '#privacy/attendee-list.ts';
import type { AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { JSON_TYPE, type Envelope } from '../protocol/envelope.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { bearer, Id, Nullable, OperatorHeaders, Time } from '../protocol/fields.ts';
import { addRoute } from '../protocol/route.ts';

const Text = Type.String();

const Attendee = Type.Object({
  ticket_id: Text,
  number: { ...Text, description: 'As it stands on the ticket, to be told by phone.' },
  status: Type.String({ enum: ['VALID', 'VOID'] }),
  void_reason: Nullable(Text),
  name: Nullable({ ...Text, description: 'Of the person on the ticket; null where nobody is named, or was erased.' }),
  buyer_name: Nullable(Text),
  order_id: Text,
  performance_id: Text,
  performance_name: Text,
  ticket_type_id: Text,
  ticket_type_name: Text,
  section: Nullable(Text),
  row_label: Nullable(Text),
  seat_label: Nullable(Text),
  entered_at: Nullable({ ...Time, description: 'When it was let in.' }),
  inside: Type.Boolean(),
});

const listAttendeesSchema = {
  operationId: 'listAttendees',
  tags: ['Doors'],
  summary: 'Read who may come: every ticket with its name, seat and whether it entered',
  description:
    'All tickets of the event or of one date in one answer, in the order of their orders, void ones too. Names alone: no address and no number of a person; of an order that was erased there is none. A line in the log says who asked. An answer that breaks off was not whole.',
  security: bearer,
  params: Type.Object({ id: Type.String() }),
  headers: OperatorHeaders,
  querystring: Type.Object({
    performance_id: Type.Optional(Id),
    format: Type.Optional(
      Type.String({ enum: ['json', 'csv'], default: 'json', description: 'CSV opens in a spreadsheet.' }),
    ),
  }),
  response: {
    200: {
      description: 'The tickets.',
      content: {
        'application/json': { schema: Type.Object({ attendees: Type.Array(Attendee) }) },
        'text/csv': { schema: Type.String() },
      },
    },
  },
};

export function attendeeRoutes(
  app: HttpApp,
  { events, personalData, settings, log }: Pick<AdminPorts, 'events' | 'personalData' | 'settings' | 'log'>,
): void {
  addRoute(app, 'GET /admin/events/:id/attendees', listAttendeesSchema, {
    answer: async ({ params: { id }, query }, { by }) => {
      const { performance_id: performanceId = null, format = 'json' } = query;
      const event = await events.byEventId(id);
      if (event === null) return EVENT_NOT_FOUND;
      const page = await readAt(event, EVENT_NOT_FOUND, { type: 'ListAttendees', performanceId, after: null });
      if (isRefusal(page)) return page;
      log.info({ eventId: id, performanceId, operator: by.operator }, 'the list of who may come was read');
      const records = attendeeRecords(page, (after) => pageAfter(event, performanceId, after), personalData);
      return { records, isCsv: format === 'csv', fileName: fileNameOf(id, performanceId) };
    },
    send: ({ records, isCsv, fileName }, reply) => {
      reply.header('content-type', isCsv ? 'text/csv; charset=utf-8' : JSON_TYPE);
      reply.header('cache-control', 'no-store');
      reply.header('content-disposition', `attachment; filename="${fileName}.${isCsv ? 'csv' : 'json'}"`);
      const written = isCsv ? csvOf(records) : jsonOf(records, settings.responseEnvelope);
      return reply.send(Readable.from(written, { objectMode: false }));
    },
  });
}

/** Ids are any printable text; a header and a folder take less. */
function fileNameOf(eventId: string, performanceId: string | null): string {
  return [eventId, performanceId, 'attendees']
    .filter(Boolean)
    .join('-')
    .replace(/[^A-Za-z0-9._~-]/g, '_');
}

async function pageAfter(event: EventPort, performanceId: string | null, after: string): Promise<AttendeePage> {
  const page = await event.read({ type: 'ListAttendees', performanceId, after });
  // A new definition no longer has the date: the rest of the list is missing, and the answer breaks off.
  if (isRefusal(page)) throw new Error('the date is gone');
  return page;
}

async function* csvOf(records: AsyncIterable<AttendeeRecord>): AsyncGenerator<string> {
  yield ATTENDEE_CSV.heading;
  for await (const record of records) yield ATTENDEE_CSV.line(record);
}

async function* jsonOf(records: AsyncIterable<AttendeeRecord>, envelope: Envelope): AsyncGenerator<string> {
  const [begin, end] = envelope === 'data' ? ['{"data":', '}}'] : ['', '}'];
  let before = `${begin}{"attendees":[`;
  for await (const record of records) {
    yield before + JSON.stringify(record);
    before = ',';
  }
  yield `${before === ',' ? '' : before}]${end}`;
}
