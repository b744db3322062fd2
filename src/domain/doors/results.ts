/** What is shown of a scan beside its verdict. */
import { compareScans, mergeScans } from '#client/doors/merging.ts';
import type { Given } from '#client/doors/scan.ts';
import { doorsOf, reentryOf } from '../catalogue/definition.ts';
import { placeNames } from '../catalogue/sale-plan.ts';
import { happenedOf, type DoorState, type IssuedTicket } from './state.ts';
import type { FedTicket } from './fed-tickets.ts';
import type { ScannedTicketView, ScanResult, ScanView } from '../view.ts';
import type { Admission } from '../recorded-scan.ts';
import type { TicketScan } from './scanned-tickets.ts';

/** `earlier`: the scans of the ticket that were known when the verdict was found. */
export function resultDetails(
  state: DoorState,
  scan: { readonly verdict: Given; readonly performanceId: string; readonly repeated: boolean },
  { issued, fed }: { readonly issued: IssuedTicket | null; readonly fed?: FedTicket },
  earlier: readonly TicketScan[],
): Omit<ScanResult, 'id' | 'verdict' | 'repeated'> {
  if (issued === null) return {};
  const ticket = fed === undefined ? viewTicket(state, issued) : viewFedTicket(state, issued);
  const { definition, performanceById } = state.plan;
  switch (scan.verdict) {
    case 'ALREADY_ADMITTED':
      return { ticket, admitted: viewAdmission(state, happenedOf(earlier), fed, scan.repeated) };
    case 'VOID':
      return { ticket, ...(issued.voided !== null && { voidReason: issued.voided.reason }) };
    case 'WRONG_PERFORMANCE': {
      const of = performanceById.get(issued.performanceId);
      return { ticket, ...(of !== undefined && { performance: { id: of.id, name: of.name, startsAt: of.startsAt } }) };
    }
    case 'WRONG_DOOR': {
      const taking = doorsOf(definition).filter(
        ({ ticketTypeIds }) => ticketTypeIds?.includes(issued.ticketTypeId) ?? true,
      );
      return { ticket, doorIds: taking.map(({ id }) => id) };
    }
    case 'NOT_YET':
    case 'OVER':
      return { ticket, opensAt: performanceById.get(scan.performanceId)?.doorsAt ?? null };
    default:
      return { ticket };
  }
}

export function viewTicket(
  { plan }: DoorState,
  { ticketTypeId, seatId }: Pick<IssuedTicket, 'ticketTypeId' | 'seatId'>,
): ScannedTicketView {
  const ticketTypeName = plan.ticketTypeById.get(ticketTypeId)?.definition.name ?? ticketTypeId;
  return { ticketTypeId, ticketTypeName, ...placeNames(plan, ticketTypeId, seatId) };
}

/**
 * The entry because of which a ticket is ALREADY_ADMITTED. Where that entry was undone since, a repeat names the entry
 * that was its double; at a gate, an entry made elsewhere by which the ticket is inside now; otherwise the undone one.
 */
function viewAdmission(
  state: DoorState,
  scans: readonly TicketScan[],
  fed: FedTicket | undefined,
  repeated: boolean,
): Admission | null {
  const reentry = reentryOf(state.plan.definition);
  const { isInside, admission } = mergeScans(scans, reentry);
  const isNamed = admission !== null && (isInside || reentry === 'NEVER');
  const isFedInside = fed?.presence === 'INSIDE';
  if (isNamed && (repeated || !isFedInside || fed.at === admission.at)) return viewScan(state, admission);
  if (isFedInside) return viewFedEntry(state, fed);
  const undone = repeated ? scans.filter(({ kind, isUndone }) => kind === 'ENTRY' && isUndone) : [];
  const last = undone.toSorted(compareScans).at(-1) ?? admission;
  if (last !== null) return viewScan(state, last);
  return fed === undefined ? null : viewFedEntry(state, fed);
}

/** A gate does not know where a seat is. */
function viewFedTicket(state: DoorState, issued: IssuedTicket): ScannedTicketView {
  return { ...viewTicket(state, { ...issued, seatId: null }), seatId: issued.seatId };
}

/** The entry of which a gate knows by its service's feed alone. */
function viewFedEntry({ plan }: DoorState, { at, doorId }: FedTicket): Admission | null {
  if (doorId === null) return null;
  return { at, doorId, doorName: doorNameOf(plan.definition, doorId), stationName: null, offline: false };
}

function doorNameOf(definition: Parameters<typeof doorsOf>[0], doorId: string): string {
  return doorsOf(definition).find(({ id }) => id === doorId)?.name ?? doorId;
}

/** An entry or exit with the names of its door and station. */
export function viewScan({ doors, plan }: DoorState, scan: TicketScan): ScanView {
  const { id: scanId, at, receivedAt, doorId, stationId, given, isOfGate } = scan;
  return {
    scanId,
    at,
    receivedAt,
    doorId,
    doorName: doorNameOf(plan.definition, doorId),
    stationId,
    stationName: stationId === null ? null : (doors?.stations.get(stationId)?.name ?? null),
    offline: given !== null && !isOfGate,
  };
}
