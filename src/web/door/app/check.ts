/**
 * What a station decides by itself while the service does not answer: the rule of `client/doors`, applied to what it
 * synced and scanned.
 *
 * It reports what it cannot decide: a key that it does not know, a code that does not say its event, date or, at a door
 * for some types, its type, and everything before its first whole sync.
 */
import { verifyAsync } from '@noble/ed25519';
import { bytesOfBase64url, readCode } from '#client/doors/code.ts';
import { ticketDigest } from '#client/doors/digest.ts';
import type { Given } from '#client/doors/scan.ts';
import { verdictOfEntry, verdictOfExit, type Entrance, type ScanFinding } from '#client/doors/verdict.ts';
import type { ScanResult, StationHead } from '#client/doors/wire.ts';
import type { Feed, TicketState } from './feed.ts';

/** Where a station stands. */
export interface DoorChoice {
  readonly performanceId: string;
  readonly doorId: string;
}

/** What a station knows. */
interface Knowledge {
  readonly head: StationHead;
  readonly feed: Feed;
  /** Whether the feed has come as a whole once. */
  readonly isWhole: boolean;
  readonly checkSignature: CheckSignature;
}

interface ReadScan {
  readonly kind: 'ENTRY' | 'EXIT';
  readonly code: string;
  readonly choice: DoorChoice;
  /** By the service's clock. */
  readonly at: number;
}

type ScanDetails = Omit<ScanResult, 'id' | 'verdict' | 'repeated'>;

export interface OwnVerdict extends ScanDetails {
  readonly verdict: Given;
}

export async function checkAlone(scan: ReadScan, knowledge: Knowledge): Promise<OwnVerdict> {
  const { head, feed, isWhole } = knowledge;
  const code = readCode(scan.code);
  if (code === null) return { verdict: 'UNKNOWN' };
  const isGenuine = await isSigned(code, knowledge);
  if (isGenuine === null) return { verdict: 'CANNOT_TELL' };
  if (!isGenuine) return { verdict: 'FORGED' };
  const { eventId, performanceId, ticketTypeId, seatId } = code;
  if (eventId === null) return { verdict: 'CANNOT_TELL' };
  if (eventId !== head.event.id) return { verdict: 'WRONG_EVENT' };
  const type = head.ticket_types.find(({ id }) => id === ticketTypeId);
  const ticket = {
    ticket_type_id: ticketTypeId ?? '',
    ticket_type_name: type?.name ?? ticketTypeId ?? '',
    ...{ section: null, row_label: null, seat_label: null, seat_id: seatId },
  };
  const entrance = entranceOf(head, scan.choice);
  if (performanceId === null || !isWhole || entrance === null) return { verdict: 'CANNOT_TELL', ticket };
  const state = feed.stateOf(ticketDigest(code.ticketId));
  const finding: ScanFinding = { performanceId, ticketTypeId, isVoid: state.isVoid };
  const verdict =
    scan.kind === 'ENTRY'
      ? verdictOfEntry(finding, entrance, scan.at, state, head.reentry)
      : verdictOfExit(finding, state);
  return { verdict, ticket, ...detailsOf(verdict, finding, entrance, state, head) };
}

/** Null where no known key can decide it. */
async function isSigned(
  code: NonNullable<ReturnType<typeof readCode>>,
  { head, checkSignature }: Knowledge,
): Promise<boolean | null> {
  const keys = head.keys.filter(({ kid }) => code.keyId === null || kid === code.keyId);
  const answers = await Promise.all(keys.map(({ x }) => checkSignature(code, x)));
  if (answers.includes(true)) return true;
  return answers.length === 0 || answers.includes(null) ? null : false;
}

function entranceOf(head: StationHead, { performanceId, doorId }: DoorChoice): Entrance | null {
  const date = head.performances.find(({ id }) => id === performanceId);
  const door = head.doors.find(({ id }) => id === doorId);
  if (date === undefined || door === undefined) return null;
  const [doorsAt, endsAt] = [date.doors_at, date.ends_at].map((at) => (at === null ? null : Date.parse(at)));
  return { performanceId, doorsAt: doorsAt!, endsAt: endsAt!, ticketTypeIds: door.ticket_type_ids };
}

function detailsOf(
  verdict: Given,
  { performanceId, ticketTypeId }: Exclude<ScanFinding, string>,
  entrance: Entrance,
  { admitted }: TicketState,
  { performances, doors }: StationHead,
): ScanDetails {
  switch (verdict) {
    case 'ALREADY_ADMITTED': {
      if (admitted === null) return {};
      const door = doors.find(({ id }) => id === admitted.doorId);
      const named = { door_id: admitted.doorId ?? '', door_name: door?.name ?? '', station_name: null };
      return { admitted: { at: new Date(admitted.at).toISOString(), ...named, offline: false } };
    }
    case 'WRONG_PERFORMANCE': {
      const date = performances.find(({ id }) => id === performanceId);
      return date === undefined ? {} : { performance: { id: date.id, name: date.name, starts_at: date.starts_at } };
    }
    case 'WRONG_DOOR': {
      const taking = doors.filter(({ ticket_type_ids: ids }) => ids?.includes(ticketTypeId!) ?? true);
      return { door_ids: taking.map(({ id }) => id) };
    }
    case 'NOT_YET':
    case 'OVER':
      return { opens_at: entrance.doorsAt === null ? null : new Date(entrance.doorsAt).toISOString() };
    default:
      return {};
  }
}

/** Both base64url. */
interface Signed {
  readonly payload: string;
  readonly signature: string;
}

/** By the public key, base64url; null where this browser cannot check it here. */
export type CheckSignature = (signed: Signed, key: string) => Promise<boolean | null>;

/**
 * Whether a code was signed by a key: Ed25519 by WebCrypto, where it knows the curve, else by a package that needs of
 * WebCrypto only SHA-512. Both need a secure context; `subtle` is undefined outside of one.
 */
export function signatureCheck(subtle: typeof crypto.subtle | undefined): CheckSignature {
  let isKnown = true;
  return async (signed, key) => {
    if (subtle === undefined) return null;
    const payload = bytesOfBase64url(signed.payload);
    const bytes = bytesOfBase64url(signed.signature);
    const keyBytes = bytesOfBase64url(key);
    if (isKnown) {
      try {
        const imported = await subtle.importKey('raw', keyBytes, 'Ed25519', false, ['verify']);
        return await subtle.verify('Ed25519', imported, bytes, payload);
      } catch (error) {
        if ((error as Error).name !== 'NotSupportedError') return false;
        isKnown = false;
      }
    }
    return verifyAsync(bytes, payload, keyBytes).catch(() => false);
  };
}
