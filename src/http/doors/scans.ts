/** What stations send: the codes that they read, one at once or many after a time without a network. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import { readCode } from '#client/doors/code.ts';
import { fitsKind, GIVEN, SCAN_KINDS } from '#client/doors/scan.ts';
import type { ScanRequest } from '#domain/command.ts';
import { eventNumberOf } from '#domain/ids.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { Admission as Admitted, ScannedTicketView, ScanResult as ScanResultView } from '#domain/recorded-scan.ts';
import { createRateWindow } from '../limits/rate-limits.ts';
import type { PublicPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { fail, NOT_NAMED } from '../protocol/errors.ts';
import { bearer, Id, Nullable, Time } from '../protocol/fields.ts';
import { formatMoment, formatTime, type ListedProblem } from '../protocol/formats.ts';
import { addRoute } from '../protocol/route.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const SCANS_MAX = 500;
/** A body may be so many times as long as on other routes: 2 MiB instead of 256 KiB. */
const BODIES_OF_OTHERS = 8;
const SCANS_PER_MINUTE_MAX = 20_000;
/** Stations that scan in one minute. */
const STATIONS_MAX = 10_000;

export const ScanId = Type.String({ minLength: 16, maxLength: 64, pattern: '^[A-Za-z0-9_-]*$' });
/** As long as a moment can be written. */
const MOMENT_LENGTH_MAX = 40;

export const Scan = Type.Object({
  id: { ...ScanId, description: 'Made by the station, new for each scan; a repeat has the same.' },
  kind: Type.Unsafe<(typeof SCAN_KINDS)[number]>({ type: 'string', enum: [...SCAN_KINDS] }),
  code: Type.Optional(
    Nullable(
      Type.String({ minLength: 1, maxLength: 2_048, description: 'What was read, as it was read; not with UNDO.' }),
    ),
  ),
  undoes: Type.Optional(Nullable({ ...ScanId, description: 'With UNDO alone: the scan that did not happen.' })),
  performance_id: { ...Id, description: 'The date at which the station stands.' },
  door_id: { ...Id, description: 'The door at which it stands.' },
  at: {
    ...Time,
    maxLength: MOMENT_LENGTH_MAX,
    description: 'When, by the clock of the service; over a minute ahead counts as now.',
  },
  given: Type.Optional(
    Type.Unsafe<(typeof GIVEN)[number] | null>({
      type: ['string', 'null'],
      enum: [...GIVEN, null],
      description: 'What the station has shown by itself; null while it waits for this answer.',
    }),
  ),
  station_id: Type.Optional(Nullable({ ...Id, description: 'From a GATE alone: the station that scanned.' })),
  judged: Type.Optional(
    Type.Boolean({ description: 'From a GATE alone: its own check decided, so that the scan is not offline.' }),
  ),
});

const ScanBatch = Type.Object({ scans: Type.Array(Scan, { minItems: 1, maxItems: SCANS_MAX }) });

const Text = Type.String();

export const Admission = Type.Object({
  at: Time,
  door_id: Text,
  door_name: Text,
  station_name: Nullable({ ...Text, description: 'Null of an entry by hand, and where a gate does not know it.' }),
  offline: Type.Boolean({ description: 'The station itself decided.' }),
});

export const ScannedTicket = Type.Object({
  ticket_type_id: Text,
  ticket_type_name: Text,
  section: Nullable(Text),
  row_label: Nullable(Text),
  seat_label: Nullable(Text),
  seat_id: Type.Optional(
    Nullable({ ...Text, description: 'From a gate alone, which does not know where the seat is.' }),
  ),
});

export const ScanResult = Type.Object({
  id: Text,
  verdict: Type.Unsafe<(typeof GIVEN)[number]>({
    type: 'string',
    enum: [...GIVEN],
    description: 'CANNOT_TELL comes from a gate alone, of a code by an unknown key or without its ticket type.',
  }),
  repeated: Type.Boolean({ description: 'The id was known: it is answered as the first time, and counts nothing.' }),
  ticket: Type.Optional(ScannedTicket),
  admitted: Type.Optional(
    Type.Unsafe<Static<typeof Admission> | null>({
      ...(Admission as object),
      type: ['object', 'null'],
      description: 'With ALREADY_ADMITTED: the entry that let the ticket in.',
    }),
  ),
  void_reason: Type.Optional(Text),
  performance: Type.Optional(
    Type.Object(
      { id: Text, name: Text, starts_at: Nullable(Time) },
      { description: 'With WRONG_PERFORMANCE: the date of the ticket.' },
    ),
  ),
  door_ids: Type.Optional(Type.Array(Text, { description: 'With WRONG_DOOR: the doors that take the ticket.' })),
  opens_at: Type.Optional(Nullable({ ...Time, description: 'With NOT_YET and OVER.' })),
});

export const ScanResults = Type.Object({ results: Type.Array(ScanResult) }, { $id: 'ScanResults' });

// ── route ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const recordScansSchema = {
  operationId: 'recordScans',
  tags: ['Doors'],
  summary: 'Check what a station scanned, and record it',
  description:
    'A known id is answered as the first time and counts nothing, for as long as the event is kept: send again whatever had no answer. A scan with `given` ADMIT or EXIT happened and counts, whatever `verdict` says of it. Any other verdict than ADMIT, EXIT and UNDONE lets nobody in.',
  security: bearer,
  body: ScanBatch,
  response: { 200: ScanResults },
};

/** Checks codes. */
interface CodeCheck extends Pick<PublicPorts['tickets'], 'digestOf'> {
  /** Null: it cannot be checked, because the key is not known here. */
  isGenuine(code: Parameters<PublicPorts['tickets']['isGenuine']>[0]): boolean | null;
}

interface ScanPorts extends Pick<PublicPorts, 'events' | 'clock' | 'sharedLimits' | 'settings'> {
  readonly tickets: CodeCheck;
  /** Codes are all that a gate knows of tickets, and are sent to its service. */
  readonly isGate?: boolean;
}

export function scanRoutes(app: HttpApp, ports: ScanPorts): void {
  const { events, clock, sharedLimits, settings } = ports;
  const bodyBytesMax = BODIES_OF_OTHERS * settings.limits.bodyBytesMax;
  const pace = createRateWindow(
    { perMinuteMax: SCANS_PER_MINUTE_MAX, keysMax: STATIONS_MAX },
    clock,
    sharedLimits?.windows('scans'),
  );

  addRoute(app, 'POST /api/doors/scans', recordScansSchema, {
    command: 'RecordScans',
    config: { rateLimit: false, bodyBytesMax, isBare: true },
    problems: ({ body }) => body.scans.flatMap(problemsOf),
    answer: async (request, { execute }, reply) => {
      const { token, tokenSha256 } = request.stationToken!;
      const { scans } = request.body;
      const { isOver, secondsLeft } = pace.count(tokenSha256, scans.length);
      if (isOver) {
        reply.header('retry-after', secondsLeft);
        return fail('RATE_LIMITED');
      }
      const read: ScanRequest[] = [];
      for (const scan of scans) {
        read.push(toScanRequest(scan, token, ports));
        if (read.length % CODES_A_SLICE === 0) await nextRound();
      }
      const command = { type: 'RecordScans', tokenSha256, scans: read } as const;
      const recorded = await execute(events.byId('gtk', token), NOT_NAMED, command);
      return isRefusal(recorded) && recorded.code === NOT_NAMED.code ? fail('UNAUTHORIZED') : recorded;
    },
    body: ({ results }) => ({ results: results.map(toResultBody) }),
  });
}

/** Codes checked before other work runs: some 3 ms. */
const CODES_A_SLICE = 50;

function problemsOf(scan: Static<typeof Scan>, index: number): readonly ListedProblem[] {
  const { kind, code = null, undoes = null, given = null, at } = scan;
  const problems: ListedProblem[] = [];
  const report = (field: string, message: string) => problems.push({ path: `/scans/${index}/${field}`, message });
  const isUndo = kind === 'UNDO';
  if (isUndo && code !== null) report('code', 'must be left out with UNDO');
  if (!isUndo && code === null) report('code', 'is missing');
  const ofUndo = problemOfUndo(kind, undoes);
  if (ofUndo !== null) report('undoes', ofUndo);
  if (given !== null && !fitsKind(kind, given)) report('given', `cannot be what was decided about ${kind}`);
  if (!(Date.parse(at) >= 0)) report('at', 'must be a time since 1970, without leap seconds');
  return problems;
}

/** What is wrong with the scan that is named as undone; null where nothing is. */
export function problemOfUndo(kind: ScanRequest['kind'], undoes: string | null | undefined): string | null {
  if ((kind === 'UNDO') === (undoes != null)) return null;
  return kind === 'UNDO' ? 'is missing' : 'must be left out but with UNDO';
}

function toScanRequest(
  scan: Static<typeof Scan>,
  token: string,
  { tickets, isGate = false }: Pick<ScanPorts, 'tickets' | 'isGate'>,
): ScanRequest {
  const { id, kind, code = null, undoes = null, performance_id: performanceId, door_id: doorId, given = null } = scan;
  const found = code === null ? null : findTicket(code, token, tickets, isGate);
  const request = {
    id,
    kind,
    found,
    digest: tickets.digestOf([kind, performanceId, doorId, code ?? undoes].join('\n')),
    undoes,
    performanceId,
    doorId,
    at: Date.parse(scan.at),
    given,
    isOfGate: scan.judged === true,
    stationId: scan.station_id ?? null,
  };
  return isGate && code !== null ? { ...request, code: keptCode(code, found, tickets) } : request;
}

/**
 * What a gate keeps and sends of a code: a digest where it is no ticket's code, because it may be from anybody's card.
 */
function keptCode(code: string, found: ScanRequest['found'], tickets: Pick<CodeCheck, 'digestOf'>): string {
  const isKept = found === 'CANNOT_TELL' || (typeof found === 'object' && found !== null);
  return isKept ? code : `digest-${tickets.digestOf(code).toString(36)}`;
}

/** The ticket that a code names, or why there is none. */
function findTicket(
  text: string,
  token: string,
  tickets: Pick<CodeCheck, 'isGenuine'>,
  isGate: boolean,
): ScanRequest['found'] {
  const code = readCode(text);
  if (code === null) return 'UNKNOWN';
  const isGenuine = tickets.isGenuine(code);
  if (isGenuine === null) return 'CANNOT_TELL';
  if (!isGenuine) return 'FORGED';
  const { ticketId, performanceId, ticketTypeId, seatId } = code;
  const ofEvent = eventNumberOf('tkt', ticketId);
  if (ofEvent === null) return 'UNKNOWN';
  if (ofEvent !== eventNumberOf('gtk', token)) return 'WRONG_EVENT';
  return isGate ? { ticketId, claims: { performanceId, ticketTypeId, seatId } } : { ticketId };
}

export function toResultBody(result: ScanResultView): Static<typeof ScanResult> {
  const { id, verdict, repeated, ticket, admitted, voidReason, performance, doorIds, opensAt } = result;
  return {
    id,
    verdict,
    repeated,
    ...(ticket !== undefined && { ticket: toTicketBody(ticket) }),
    ...(admitted !== undefined && { admitted: admitted && toAdmissionBody(admitted) }),
    ...(voidReason !== undefined && { void_reason: voidReason }),
    ...(performance !== undefined && {
      performance: { id: performance.id, name: performance.name, starts_at: formatMoment(performance.startsAt) },
    }),
    ...(doorIds !== undefined && { door_ids: [...doorIds] }),
    ...(opensAt !== undefined && { opens_at: formatMoment(opensAt) }),
  };
}

export function toTicketBody(ticket: ScannedTicketView): Static<typeof ScannedTicket> {
  const { ticketTypeId, ticketTypeName, section, rowLabel, seatLabel, seatId } = ticket;
  return {
    ticket_type_id: ticketTypeId,
    ticket_type_name: ticketTypeName,
    section,
    row_label: rowLabel,
    seat_label: seatLabel,
    ...(seatId !== undefined && { seat_id: seatId }),
  };
}

export function toAdmissionBody({ at, doorId, doorName, stationName, offline }: Admitted): Static<typeof Admission> {
  return { at: formatTime(at), door_id: doorId, door_name: doorName, station_name: stationName, offline };
}
