/** One ticket for operators: read with its scans, and let in or out by hand. */
import { type Static, Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import { SCAN_KINDS } from '#client/doors/scan.ts';
import { problemOfUndo, ScanId, ScanResult, toResultBody } from '../../doors/scans.ts';
import type { AdminPorts } from '../../ports.ts';
import type { HttpApp } from '../../protocol/app.ts';
import { NOT_FOUND, NOT_NAMED } from '../../protocol/errors.ts';
import { bearer, Id, Note, Nullable, OperatorHeaders, ref } from '../../protocol/fields.ts';
import type { ListedProblem } from '../../protocol/formats.ts';
import { addRoute } from '../../protocol/route.ts';
import { toAdminTicketBody } from './body.ts';
import { AdminTicket } from './schema.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const described = { tags: ['Tickets'], security: bearer, params: Type.Object({ id: Type.String() }) };

const getTicketSchema = {
  ...described,
  operationId: 'getTicket',
  summary: 'Read one ticket, whether it is valid, and its scans',
  description: 'A void ticket says why it is void.',
  response: { 200: ref(AdminTicket) },
};

const scanTicketSchema = {
  ...described,
  operationId: 'scanTicket',
  summary: 'Let a ticket in or out by hand, or undo a scan of it',
  description:
    'With the verdicts of stations, at the date of the ticket, now: look at `verdict`. Any scan of the ticket can be undone, however old. The note is sealed with the order and erased with it.',
  headers: OperatorHeaders,
  body: Type.Object({
    kind: Type.Unsafe<(typeof SCAN_KINDS)[number]>({ type: 'string', enum: [...SCAN_KINDS] }),
    door_id: Type.Optional(Nullable({ ...Id, description: 'The door; needed but with UNDO.' })),
    undoes: Type.Optional(Nullable({ ...ScanId, description: 'With UNDO alone: the scan that did not happen.' })),
    note: Note,
  }),
  response: { 201: ScanResult },
};

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export function adminTicketRoutes(
  app: HttpApp,
  { events, tickets, personalData }: Pick<AdminPorts, 'events' | 'tickets' | 'personalData'>,
): void {
  addRoute(app, 'GET /admin/tickets/:id', getTicketSchema, {
    answer: async ({ params: { id: ticketId } }) =>
      (await readAt(events.byId('tkt', ticketId), null, { type: 'FindTicket', ticketId }))?.issued ?? NOT_FOUND,
    body: async (issued) => toAdminTicketBody(issued, await personalData.open(issued), tickets),
  });

  addRoute(app, 'POST /admin/tickets/:id/scans', scanTicketSchema, {
    command: 'ScanByHand',
    isRepeatable: true,
    problems: ({ body }) => problemsOf(body),
    answer: ({ params: { id: ticketId }, body }, { execute, idempotency, by }) => {
      const { kind, door_id: doorId = null, undoes = null } = body;
      const command = { type: 'ScanByHand', ticketId, kind, doorId, undoes, idempotency, ...by } as const;
      return execute(events.byId('tkt', ticketId), NOT_NAMED, command);
    },
    status: 201,
    body: ({ result }) => toResultBody(result),
  });
}

function problemsOf({ kind, door_id: doorId, undoes }: Static<typeof scanTicketSchema.body>): readonly ListedProblem[] {
  const ofUndo = problemOfUndo(kind, undoes);
  return [
    ...(kind !== 'UNDO' && doorId == null ? [{ path: '/door_id', message: 'is missing' }] : []),
    ...(ofUndo === null ? [] : [{ path: '/undoes', message: ofUndo }]),
  ];
}
