/**
 * Scans by operators, without a station: of a ticket that they have looked up, at its own date, now.
 *
 * The checks are those of stations. Each scan has its own id and is one fact, which names the order: the note is sealed
 * for that order. An operator may undo any scan of the ticket, however old.
 */
import { hasHappened } from '#client/doors/scan.ts';
import { verdictOfUndo } from '#client/doors/verdict.ts';
import { doorsOf } from '../catalogue/definition.ts';
import { valuesReply, type Decision } from '../decision.ts';
import { fact } from '../fact.ts';
import { sealMark } from '../orders/erasure.ts';
import { refuse, refuseProblems, type Refusal } from '../refusal.ts';
import { issuedTicket, scansOf, type DoorState, type IssuedTicket } from './state.ts';
import { resultDetails } from './results.ts';
import { ScanBatch } from './scans.ts';
import type { CommandOf } from '../command.ts';
import type { OrderTurn } from '../orders/state.ts';
import type { RecordedScan } from '../recorded-scan.ts';
import type { ScanResult } from '../view.ts';

interface CheckedScan {
  readonly scan: RecordedScan;
  readonly result: ScanResult;
}

/** NOT_FOUND for a ticket that no order has; VALIDATION_ERROR for a door that the event has not. */
export function decideScanByHand(
  state: DoorState,
  command: CommandOf<'ScanByHand'>,
  turn: OrderTurn,
): Decision | Refusal {
  const { ticketId, kind, doorId } = command;
  const issued = issuedTicket(state, ticketId);
  if (issued === null) return refuse('NOT_FOUND', {});
  if (doorId !== null && !doorsOf(state.plan.definition).some(({ id }) => id === doorId)) {
    return refuseProblems([{ path: ['door_id'], message: `"${doorId}" is not a door of the event` }]);
  }
  const check = kind === 'UNDO' ? checkUndo : checkScan;
  const { scan, result } = check(state, command, issued, turn);
  const { orderId } = issued;
  const mark = sealMark(orderId, 'TicketScannedByHand', command, turn);
  return {
    facts: [fact('TicketScannedByHand', { orderId, scan, ...mark })],
    reply: valuesReply<'ScanByHand'>({ result }),
  };
}

function checkScan(
  state: DoorState,
  { ticketId, kind, doorId }: CommandOf<'ScanByHand'>,
  { performanceId }: IssuedTicket,
  { now, newId }: OrderTurn,
): CheckedScan {
  const batch = new ScanBatch(state, null, now);
  const result = batch.check({
    id: newId('scn'),
    kind,
    found: { ticketId },
    // Nothing was read.
    digest: 0,
    undoes: null,
    performanceId,
    doorId: doorId!,
    at: now,
    given: null,
    isOfGate: false,
    stationId: null,
  });
  return { scan: batch.recorded[0]!, result };
}

function checkUndo(
  state: DoorState,
  { ticketId, kind, undoes }: CommandOf<'ScanByHand'>,
  issued: IssuedTicket,
  { now, newId }: OrderTurn,
): CheckedScan {
  const undone = scansOf(state, ticketId).find(({ id }) => id === undoes);
  const mayBeUndone = undone !== undefined && hasHappened(undone) ? undone : null;
  const verdict = verdictOfUndo({ at: now, stationId: null }, mayBeUndone);
  const { performanceId, doorId } = undone ?? {
    ...issued,
    doorId: doorsOf(state.plan.definition)[0]!.id,
  };
  const id = newId('scn');
  const details = resultDetails(state, { verdict, performanceId, repeated: false }, { issued }, []);
  return {
    scan: { id, kind, performanceId, doorId, verdict, digest: 0, undoes: undoes! },
    result: { id, verdict, repeated: false, ...details },
  };
}
