/** What is shown of a scan beside its verdict. */
import { compareScans, mergeScans } from '#client/doors/merging.ts';
import type { Given } from '#client/doors/scan.ts';
import type { Reentry } from '#client/doors/verdict.ts';
import { doorsOf, reentryOf } from '../catalogue/definition.ts';
import { placeNames } from '../catalogue/sale-plan.ts';
import { happenedOf, type DoorState } from './state.ts';
import type { IssuedTicket } from './issued-tickets.ts';
import type { FedTicket } from './fed-tickets.ts';
import type { ScannedTicketView, ScanResult, ScanView } from '../view.ts';
import type { Admission } from '../recorded-scan.ts';
import type { TicketScan } from './scanned-tickets.ts';

/** `earlier`: the scans of the ticket that were known when the verdict was found. */
export function resultDetails(
  state: DoorState,
  scan: { readonly verdict: Given; readonly performanceId: string },
  { issued, fed }: { readonly issued: IssuedTicket | null; readonly fed?: FedTicket },
  earlier: readonly TicketScan[],
): Omit<ScanResult, 'id' | 'verdict' | 'repeated'> {
  if (issued === null) return {};
  const ticket = fed === undefined ? viewTicket(state, issued) : viewFedTicket(state, issued);
  const { definition, performanceById } = state.plan;
  switch (scan.verdict) {
    case 'ALREADY_ADMITTED': {
      const admission = admissionOf(happenedOf(earlier), reentryOf(definition));
      if (admission === null && fed !== undefined) return { ticket, admitted: viewFedEntry(state, fed) };
      return { ticket, admitted: admission && viewScan(state, admission) };
    }
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

/** The entry that the verdict named, also where it was undone since: it was the last that happened. */
function admissionOf(scans: readonly TicketScan[], reentry: Reentry): TicketScan | null {
  const { isInside, admission } = mergeScans(scans, reentry);
  const isNamed = isInside || (reentry === 'NEVER' && admission !== null);
  const undone = scans.filter(({ kind, isUndone }) => kind === 'ENTRY' && isUndone);
  return isNamed ? admission : (undone.sort(compareScans).at(-1) ?? admission);
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
